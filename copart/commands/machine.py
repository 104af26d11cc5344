"""``copart machine info`` and ``copart machine fit``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .console import Console
from .effects import Effect, Effects
from .nodes import NODES, named_nodes
from .numbers import integer
from .paths import Paths, given, sources

if TYPE_CHECKING:
    from ..mapping.machine import Machine

EPILOG = """\
examples:
  copart machine info topology.conf --nodes $SLURM_JOB_NODELIST   the switches above the nodes of this job
  copart machine info topology.yaml --nodes hosts --host node.xml   and the cores inside of each
  copart machine info node.xml --unit pu                          lstopo --of xml, hardware threads as processors
  copart machine info "n[001-064]:4"                              hosts of four slots
  copart machine info --hierarchy 4:8:6 --distance 1:10:100       6 hosts of 8 packages of 4 cores
  copart machine info network.grf --vertices nodes.txt            any graph; the vertices that take processes
  copart machine info topology.conf --nodes hosts --tgt m.tgt     the same machine as a SCOTCH target file
"""
FIT_EPILOG = """\
examples:
  copart machine fit times.csv                    seconds,TH,WH,MC,...: measured times, and metrics by their names
  copart machine fit times.csv --metrics TH,MC    only these
  copart machine fit times.csv                    seconds,tasks,part,machine,mapping: files that copart computes them of

A line per run; a column case tells which runs are of the same tasks on the same nodes. Metrics, as copart map tells
them: TH WH hops and data x hops; MMC AMC messages and MC AC data on the busiest link and a used one; ICM ICV what
leaves nodes; MNRM MNRV what a node receives at most; TM TV all messages and data; MSM MSV what a process sends at most.
"""
#: Hosts listed before the rest is only counted.
LISTED = 16
#: Pairs of processors that distances are counted over where there are too many for all.
PAIRS = 200_000

#: What the options of :func:`add_description` mean as paths.
DESCRIPTION = Paths(dict.fromkeys(("source", "nodes", "host", "vertices"), sources),
                    words=frozenset({"hierarchy", "distance", "topology"}))
#: What means nothing beside others among them; the rest depends on the file and is refused when it is read.
DESCRIPTION_EFFECTS: Effects = (
    Effect(("host", "slots", "unit", "vertices", "topology"), lambda args: args.hierarchy is None,
           "with --hierarchy, which says everything about the machine"),)
EFFECTS = DESCRIPTION_EFFECTS
PATHS = DESCRIPTION | Paths({"times": sources}, {"tgt": given("tgt")}, frozenset({"metrics"}))


def add_description(parser: argparse.ArgumentParser | argparse._ArgumentGroup, *, source: bool = True) -> None:
    """Declare what describes a machine; `source` tells whether the file is a positional argument."""
    if source:
        parser.add_argument("source", metavar="MACHINE", nargs="?",
                            help="hwloc XML, Slurm topology, hostfile or node list, SCOTCH .tgt, or a graph")
    else:
        parser.add_argument("--machine", dest="source", metavar="MACHINE",
                            help="hwloc XML, Slurm topology, hostfile or node list, SCOTCH .tgt, or graph")
    parser.add_argument("--nodes", metavar="HOSTS", help=NODES)
    parser.add_argument("--host", metavar="XML", help="hwloc XML of one host, all being alike")
    parser.add_argument("--slots", type=integer, metavar="N", help="processes a host takes where nothing else says it")
    parser.add_argument("--unit", choices=["core", "pu"], default="core",
                        help="what a slot in hwloc XML is: a core or a hardware thread (default core)")
    parser.add_argument("--hierarchy", metavar="A:B:C", help="sons at each level, innermost first, instead of a file")
    parser.add_argument("--distance", metavar="X:Y:Z", help="distances at each level, innermost first")
    parser.add_argument("--vertices", metavar="FILE",
                        help="vertices of a graph or target file that take processes, in processor order")
    parser.add_argument("--topology", metavar="NAME", help="which topology of a topology.yaml")


def described(args: argparse.Namespace) -> Machine:
    """The machine that the arguments describe."""
    from ..errors import FormatError, MappingError
    from ..formats.machines import read_machine
    from ..formats.text import read_numbers

    vertices = None if args.vertices is None else read_numbers(args.vertices).values.tolist()
    try:
        return read_machine(args.source, nodes=named_nodes(args.nodes), host=args.host, slots=args.slots,
                            unit=args.unit, hierarchy=args.hierarchy, distance=args.distance, vertices=vertices,
                            topology=args.topology)
    except MappingError as error:
        if vertices is None or not str(error).startswith("vertices:"):
            raise
        counted = vertices[:1] == [len(vertices) - 1]
        count = "; SCOTCH's lists begin with their length, which is left out here" if counted else ""
        raise FormatError(args.vertices, f"{str(error).removeprefix('vertices: ')}{count}") from None


def add_arguments(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Declare the arguments."""
    what = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    info = what.add_parser("info", help="what a description of a machine says: levels, hosts, slots, distances",
                           epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_description(info)
    info.add_argument("--tgt", metavar="FILE", help="also write the machine as a SCOTCH target file")
    fit = what.add_parser("fit", help="which metrics of mappings explain measured times, and what to map by then",
                          epilog=FIT_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    fit.add_argument("times", metavar="TIMES", help="CSV table with a line per run: seconds, and metrics or files")
    fit.add_argument("--metrics", metavar="NAMES", help="metrics that are to explain them, as in WH,MC (default: all)")
    return [info, fit]


def run(args: argparse.Namespace, console: Console) -> int:
    """Tell what a machine is, or what times on it follow."""
    return fitted(args, console) if args.what == "fit" else informed(args, console)


def fitted(args: argparse.Namespace, console: Console) -> int:
    """Tell which metrics explain the times of a table."""
    from ..plans.measured import fit_file

    with console.progress() as progress:
        progress(f"reading {args.times}")
        found = fit_file(args.times, None if args.metrics is None else args.metrics.upper().replace(",", " ").split())
    for line in found.text().split("\n"):
        console.say(line)
    console.result(found.to_dict())
    return 0


def informed(args: argparse.Namespace, console: Console) -> int:
    """Tell what a machine is."""
    from ..formats.scotch_target import write_target
    from ..metrics.columns import plural

    with console.progress() as progress:
        progress("reading the machine")
        machine = described(args)
        found = contents(machine)
        if args.tgt is not None:
            progress(f"writing {args.tgt}")
            write_target(args.tgt, machine.architecture)
    count, hosts = found["processors"], len(machine.hosts)
    on = f" on {hosts} {plural(hosts, 'host')}" if hosts else ""
    console.say(f"{count} {plural(count, 'processor')}{on}, {found['architecture']}")
    if found["levels"]:
        console.say("levels, outermost first")
        width = max(len(level["name"]) for level in found["levels"])
        for level in found["levels"]:
            console.say(f"  {level['name']:<{width}}  up to {level['sons']} each, distance {level['distance']:g}")
    if machine.hosts:
        console.say("hosts")
        width = max(len(name) for name in machine.hosts[:LISTED])
        for host in found["hosts"][:LISTED]:
            console.say(f"  {host['name']:<{width}}  {host['slots']} {plural(host['slots'], 'slot')}")
        if len(machine.hosts) > LISTED:
            console.say(f"  and {len(machine.hosts) - LISTED} more (--json lists all)")
    if found["distances"]:
        console.say("distances" if found["all_pairs"] else f"distances of {PAIRS} pairs")
        for row in found["distances"]:
            console.say(f"  {row['distance']:>8.6g}  {row['share']:6.1%} of the pairs")
    if args.tgt is not None:
        console.say(f"wrote {args.tgt}")
    console.result(found)
    return 0


def contents(machine: Machine) -> dict[str, Any]:
    """What a machine is, as plain JSON types."""
    from ..mapping.architectures.subset import Subset
    from ..mapping.architectures.tree import TreeLeaf

    bare = machine.architecture
    base = bare.base if isinstance(bare, Subset) else bare
    levels = []
    if isinstance(base, TreeLeaf):
        names = machine.levels or [f"level {d}" for d in range(len(base.arities), 0, -1)]
        levels = [{"name": name, "sons": arity, "distance": cost}
                  for name, arity, cost in zip(names, base.arities, base.costs, strict=True)]
    rows, complete = _distances(machine)
    return {"processors": machine.nprocs, "architecture": repr(bare), "kind": bare.name, "levels": levels,
            "hosts": [{"name": name, "slots": int(n)} for name, n in zip(machine.hosts, machine.slots, strict=False)],
            "distances": rows, "all_pairs": complete}


def _distances(machine: Machine) -> tuple[list[dict[str, float]], bool]:
    """How many pairs of processors are how far apart; and whether all were counted."""
    import numpy as np

    n = machine.nprocs
    if n * (n - 1) // 2 <= PAIRS:
        p, q = np.triu_indices(n, 1)
    else:
        rng = np.random.default_rng(1)
        p, q = rng.integers(0, n, PAIRS), rng.integers(0, n - 1, PAIRS)
        q = q + (q >= p)
    values = machine.architecture.distances(p, q)
    if not len(values):
        return [], True
    if len(np.unique(values)) > 40:
        values = np.ceil(values)
    found, count = np.unique(values, return_counts=True)
    return [{"distance": float(d), "share": float(c / len(values))} for d, c in zip(found, count, strict=True)], \
        len(values) == n * (n - 1) // 2
