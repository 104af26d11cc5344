"""Nothing is ignored in silence: an audit of every option of every command.

An option either means something whatever stands beside it (`ALWAYS`, with the reason where that may surprise), or there
are lines on which it would mean nothing (`IDLE`), and each of these is refused with what is missing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from copart.cli import main, parser

from .lines import line_of

#: Of every command.
EVERYWHERE = {"quiet": "less", "json": "another form", "help": "", "help_all": "", "safe": "a limit, reached or not"}
PARTITIONING = {"eps": "a limit", "seed": "", "threads": "time", "preset": ""}
MEETING = {"interedges": "", "tolerance": "a limit; beside --gap refused where meshes are read", "gap": "a limit",
           "scale": "unknown names are refused", "shift": "unknown names are refused",
           "periodic": "unknown names are refused", "max_interedges": "a limit"}
COMPONENTS = {**MEETING, "parts": "beside --total refused", "total": "beside --parts refused", "contiguous": "",
              "load": "arrays that no mesh has are refused", "coupled_weights": "so, too", "names": "",
              "only": "beside several files refused"}
ALWAYS = {
    "plan": {**PARTITIONING, **COMPONENTS, "scheme": "", "output": "", "write": "", "picture": "", "report": "",
             "source": "", "hierarchy": "", "iterations": "also the sub-steps of the priced step", "step_cost": "",
             "objective": "beside --contiguous and on a pool refused",
           "pool": "beside --parts, --total and other schemes refused", "into_case": "refused where there is none"},
    "compare": {"eps": "a limit", "threads": "time", "preset": "", **COMPONENTS, "schemes": "", "seeds": "",
                "objective": "beside --contiguous refused; a pool is left out",
                "picture": "", "report": "", "source": "", "hierarchy": "",
                "iterations": "also the sub-steps of the priced step", "step_cost": ""},
    "part": {"eps": "a limit", "threads": "time", "output": "", "tpwgts": "", "best_balance": "a permission",
             "method": "",
             "write": "kinds that need a mesh are refused for a graph"},
    "repart": {**PARTITIONING, "former": "", "method": "", "output": "", "report": ""},
    "replan": {**PARTITIONING, "output": "", "load": "unknown names are refused",
               "sources": "unknown names are refused", "source": "", "hierarchy": "",
               "iterations": "also the sub-steps of the priced step", "step_cost": "",
               "interedges": "unknown pairs are refused", "parts": "", "scheme": "", "alpha": "", "write": "",
               "picture": "", "report": "",
               "price": "every scheme weighs cut against migration by it"},
    "check": {"eps": ""},
    "map": {"source": "", "nodes": "the hosts, in this order", "distance": "", "hierarchy": "", "eval": "",
            "one_to_one": "", "output": "", "part": ""},
    "machine info": {"nodes": "", "distance": "", "hierarchy": "", "tgt": ""}, "machine fit": {"metrics": ""},
    "mesh info": {}, "mesh cases": {"output": ""}, "mesh cube": {"cells": "", "offset": "", "output": ""},
    "mesh tube": {"inner": "", "outer": "", "cells": "", "length": "", "offset": "", "output": ""},
    "mesh cylinder": {"radius": "", "cells": "", "length": "", "offset": "", "output": ""},
    "ranks": {"counts": "", "nranks": "", "nodes": "", "slots": "", "placement": "",
              "latency": "without --bandwidth refused", "bandwidth": "without --latency refused", "duplex": "",
              "method": "", "objective": "", "seed": "refinement draws from it whatever the method", "output": ""},
    "grid": {"dims": "", "procs": "checked where all sizes are given", "ndims": "beside --dims refused",
             "periodic": "", "stencil": "", "weights": "", "nodes": "beside --node-sizes refused",
             "node_sizes": "beside --nodes refused", "base": "", "method": "", "output": "", "picture": ""},
    "advise": {"total": "", "component": "beside a table refused", "coupling": "", "granularity": "", "max_cells": "",
               "min_cells": "", "cells": "goes before the table's", "coupled_cells": "", "picture": ""},
    "doctor": {"warm": ""},
}

TWO = "a.vtu b.vtu --parts 2 2"
NO_MACHINE = "without --machine or --hierarchy"
ONE, MANY = "--nparts --fixed=x --tpwgts=x", ("--parts --coupled --names --coupling=x --metrics=x --coupled-weights=x "
                                              "--interedges=touch --tolerance --gap --scale=a=2 --shift=a=1,0,0 "
                                              "--periodic=a=1,0,0 --several --max-interedges")


def each(line: str, options: str, why: str) -> list[tuple[str, str, str]]:
    """The line with each of the options; those that need a value and have none get a 2."""
    bare = ("--several", "--aligned", "--best-balance", "--serial", "--legend", "--no-compare", "--verbose",
            "--one-to-one", "--contiguous")
    return [(f"{line} {word if '=' in word or word in bare else word + '=2'}", word.partition("=")[0], why)
            for word in options.split()]


IDLE = [
    *(entry for command in ("plan", "compare") for line in [f"{command} {TWO}"] for entry in (
        *each(line, "--costs --serial", "without --total"),
        *each(f"{line} --interedges overlap", "--several", "with --interedges overlap"),
        *each(f"{line} --coupled 2 2", "--interface=gather", "beside --coupled"))),
    *(entry for line in (f"plan {TWO}", f"compare {TWO}", "replan plan") for entry in (
        *each(line, "--nodes --host --slots --unit=pu --distance --vertices=x --topology --placement=shared "
              "--method=ug --bound=latency", NO_MACHINE),
        *each(f"{line} --hierarchy 4 --placement linear", "--method=ug --bound=latency", "other than shared"),
        *each(f"{line} --hierarchy 4", "--bound=latency", "without --method auto"),
        *each(f"{line} --hierarchy 4", "--host --slots --unit=pu --vertices=x --topology", "with --hierarchy"))),
    *(entry for line in (f"plan {TWO}", "replan plan") for entry in each(line, "--machine-picture=m.png", NO_MACHINE)),
    *(entry for scheme in ("naive", "multiconstraint", "monolithic")
      for entry in each(f"plan {TWO} --scheme {scheme}", "--coupled --interface=gather", "with schemes that leave")),
    *each("plan a.vtu b.vtu --total 4 --scheme monolithic", "--costs --serial", "on a pool that all"),
    *each("compare a.vtu b.vtu --total 4 --schemes monolithic", "--costs --serial", "on a pool that all"),
    *each("plan a.vtu b.vtu --pool 2", "--coupled --interface=gather", "with schemes that leave"),
    *each(f"compare {TWO} --schemes naive", "--coupled --interface=gather", "with schemes that leave"),
    *each("replan plan --scheme naive", "--coupled", "with schemes that leave"),
    *each(f"compare {TWO} --quiet", "--legend", "with --quiet or --json"),
    *each(f"compare {TWO} --json", "--legend", "with --quiet or --json"),
    *(entry for option in ("--quiet", "-q") for command in (
        f"plan {TWO}", f"compare {TWO}", "part g.graph 2", "repart g.graph g.part.2 3", "replan plan", "check plan",
        "map g.graph --hierarchy 4", "machine info n1", "machine fit t.csv", "mesh info a.vtu", "mesh cube 3 -o o",
        "mesh tube -o o", "mesh cylinder -o o", "mesh cases -o o",
        "ranks p.txt --nodes 2 --slots 3", "grid --dims 4x3 --nodes 3",
        "advise t.csv --total 9", "doctor") for entry in each(f"{command} {option}", "--verbose", "with --quiet")),
    *each("part g.graph 2", "--time-limit", "without --preset best"),
    *each("part g.graph 2 --preset strong", "--time-limit", "without --preset best"),
    *each("part g.graph 2", "--load", "on g.graph, a graph"),
    *each("part g.graph 2", "--weights=t.csv", "on g.graph, which is no file of points"),
    *each("part p.txt 2 --method rcb", "--load", "on p.txt, points"),
    *(entry for method in ("multijagged", "rcb", "rib", "hsfc", "morton") for entry in each(
        f"part a.vtu 2 --method {method}", "--seed --preset=fast --fixed=x", "with a --method that goes by")),
    *each("part a.vtu 2 --method multijagged+refine", "--contiguous", "with --method, which"),
    *each("part a.vtu 2 --method multijagged+refine --preset best", "--time-limit", "with --method, which"),
    *each("part h.hgr 2", "--load", "on h.hgr, a hypergraph"),
    *each("part a.vtu 2 --method rcb", "--objective=volume", "with --method, which goes by coordinates"),
    *each("part g.graph 2 --objective volume --preset best", "--contiguous --time-limit", "other than cut"),
    *each("repart g.graph g.part.2 3", "--load", "on g.graph, a graph"),
    *(entry for method in ("diffusive", "scratch-remap") for entry in each(
        f"repart g.graph g.part.2 3 --method {method}", "--migration-cost", "with other methods than mxn")),
    *each("check plan", f"{ONE} {MANY} --load", "on the folder of a plan"),
    *each("check g.graph g.part.2", MANY, "on one partition"), *each("check g.graph g.part.2", "--load", "a graph"),
    *each("check a.vtu g.part.2 b.vtu g.part.2", ONE, "on coupled meshes"),
    *each("map g.graph --hierarchy 4", "--host --slots --unit=pu --vertices=x --topology", "with --hierarchy"),
    *each("map g.graph --hierarchy 4 --eval=x", "--one-to-one --fixed=x --from=x --migration-cost --best-balance "
          "--eps=0.1 --seed --preset=fast --output=o", "with --eval"),
    *each("map g.graph --hierarchy 4 --eval=x", "--method=ug --bound=latency", "with --eval"),
    *each("map g.graph --hierarchy 4:4:4 --method ug", "--fixed=x --from=x --migration-cost --best-balance --eps=0.1 "
          "--preset=fast --load --one-to-one", "with --method"),
    *each("map g.graph --hierarchy 4:4:4 --method ug", "--bound=latency", "without --method auto"),
    *each("map g.graph --hierarchy 4:4:4 --one-to-one", "--fixed=x --from=x --migration-cost --best-balance --eps=0.1 "
          "--preset=fast --load", "with --one-to-one"),
    *each("map g.graph --hierarchy 4", "--migration-cost", "without --from"),
    *each("map g.graph --hierarchy 4", "--load", "on g.graph, a graph"),
    *each("machine info --hierarchy 4", "--host --slots --unit=pu --vertices=x --topology", "with --hierarchy"),
    *each("machine info n[1-2]", "--topology --unit=pu", "on "),
    *each("machine info hcub.tgt", "--topology --unit=pu --slots --host", "on a target file or graph"),
    *each("mesh cube 3 -o o", "--seed --about", "without --cells tetra"),
    *each("ranks p.txt --nodes 2 --slots 3 --latency 1 --bandwidth 2", "--model", "beside --latency and --bandwidth"),
    *each("ranks p.mtx --nodes 2 --slots 3", "--kind=list", "on p.mtx, which says itself"),
    *each("grid --dims 4x3 --nodes 3", "--rule=balanced", "where all sizes are given"),
    *each("grid --dims 4x3 --nodes 3", "--hops", "without --stencil hops-first or hops-last"),
    *each("grid --dims 4x3 --nodes 3", "--seed", "without --base random"),
    *each("grid --dims 4x3 --nodes 3 --method cart", "--objective=max", "with a --method"),
    *each("grid --dims 4x3 --nodes 3 --quiet -o o", "--no-compare", "with --quiet"),
    *each("advise t.csv --total 9", "--latency --datum --aligned --coupled-cost=x=2", "without coupled cells"),
    *each("advise m.csv --total 9", "--iterations=x=2", "without coupled cells"),
]
#: Of single schemes: the registry says whose they are.
SCHEMES = [(f"{command} {TWO} {option} naive", own)
           for command, option in (("plan", "--scheme"), ("compare", "--schemes"))
           for own in ("--price 1 2 3", "--directions both", "--fix soft", "--balance each")]


@pytest.fixture
def place(planned):
    Path("t.csv").write_text("component,cells,cost\nx,100,1e-6\ny,200,1e-6\n")
    Path("m.csv").write_text("component,processes,seconds\nx,1,4\ny,1,2\n")
    Path("hcub.tgt").write_text("hcub 3\n")
    Path("h.hgr").write_text("2 3\n1 2\n2 3\n")
    Path("p.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 5\n2 3 5\n")
    return planned


@pytest.mark.parametrize(("line", "option", "why"), IDLE, ids=[line for line, *_ in IDLE])
def test_what_would_mean_nothing_is_refused(place, capsys, line, option, why):
    said = line_of(capsys, *line.split())
    assert option.strip("-") in said
    assert "no effect" in said
    assert why in said
    assert not Path("o").exists()


@pytest.mark.parametrize(("line", "own"), SCHEMES)
def test_options_of_other_schemes_are_refused(place, capsys, line, own):
    assert f"{own.split()[0].strip('-')!r} is no option of naive" in line_of(capsys, *line.split(), *own.split())


def test_several_are_named_together(folder, capsys):
    assert "--nodes, --slots, --placement: have no effect without --machine or --hierarchy" in line_of(
        capsys, "plan", *TWO.split(), "--nodes", "x", "--slots", 4, "--placement", "linear", "-o", "o")


def options() -> dict[str, dict[str, str]]:
    """Of every command, its options: the name under which they are kept, and the longest spelling."""
    def below(one: argparse.ArgumentParser, name: str) -> dict[str, dict[str, str]]:
        inner = [action for action in one._actions if isinstance(action, argparse._SubParsersAction)]
        if inner:
            return {key: value for word, sub in inner[0].choices.items()
                    for key, value in below(sub, f"{name} {word}".strip()).items()}
        return {name: {action.dest: max(action.option_strings, key=len) for action in one._actions
                       if action.option_strings}}
    return below(parser(), "")


def test_the_audit_is_of_every_option_of_every_command():
    known = options()
    assert set(ALWAYS) <= set(known)
    own = {own.split()[0] for _, own in SCHEMES}
    for command, names in known.items():
        if command.split()[0] in ("help", "completion"):
            continue
        idle = {option for line, option, _ in IDLE if line.startswith(f"{command} ")}
        if command in ("plan", "compare", "replan"):
            idle |= own
        for dest, spelled in names.items():
            sure = dest in EVERYWHERE or dest in ALWAYS[command]
            assert sure or spelled in idle, f"{command} {spelled}: can it be without effect? Say so here"
        stale = set(ALWAYS[command]) - set(names)
        assert not stale, f"{command} has no {stale}"


def test_given_at_its_default_is_given(folder, capsys):
    assert "--placement" in line_of(capsys, "plan", *TWO.split(), "--placement", "shared", "-o", "o")
    assert main(["plan", *TWO.split(), "-o", "o", "-q"]) == 0
