"""Names that arguments take: the types hold what the package knows, and a type checker finds a wrong one."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import get_args

import numpy as np
import pytest

import copart
from copart import names
from copart.errors import ConfigError, CouplingError

from .helpers import ROOT, grid


def tables() -> list[tuple[object, object]]:
    """Each type, and where the package looks its names up."""
    from copart.formats.hwloc import UNITS
    from copart.formats.profiles import KINDS
    from copart.interface.counts import INTERFACES
    from copart.mapping import drb, fitting, kway, topology
    from copart.mapping.cartesian import dims, greedy, methods
    from copart.mapping.coupled.placements import PLACEMENTS
    from copart.mapping.one_to_one import placing
    from copart.mapping.ranks import bisection, communication, partitioners, reorder
    from copart.mesh.generated.cubes import DEFAULT_SIZE
    from copart.mesh.interfaces.interface import TOLERANCE
    from copart.mpi.halo import OPERATIONS
    from copart.mpi.reordering import EXCHANGES
    from copart.mpi.sides import MAPPINGS
    from copart.options import PRESETS
    from copart.partitioner.geometric import methods as by_coordinates
    from copart.partitioner.hypergraphs import clustering
    from copart.partitioner.umpa.objectives import OBJECTIVES
    from copart.plans.components import INTEREDGES
    from copart.repart import METHODS
    from copart.resources.distribution import COUPLINGS
    from copart.schemes.joint import DIRECTIONS, FIXES
    from copart.schemes.monolithic import BALANCES
    from copart.schemes.registry import SCHEMES

    return [(names.SchemeName, SCHEMES), (names.PresetName, PRESETS), (names.MappingPresetName, kway.PRESETS),
            (names.InteredgeKind, INTEREDGES), (names.InteredgeKind, TOLERANCE), (names.InterfaceRule, INTERFACES),
            (names.Balance, BALANCES), (names.Directions, DIRECTIONS), (names.Fix, FIXES),
            (names.PlacementName, PLACEMENTS), (names.CouplingOrder, COUPLINGS), (names.RepartMethod, METHODS),
            (names.CellShape, DEFAULT_SIZE), (names.PlacingMethod, ["best", *placing.METHODS]),
            (names.BipartitioningOrder, drb.POLICIES), (names.GridMethod, ["best", *methods.METHODS]),
            (names.GridObjective, methods.OBJECTIVES), (names.GridSizes, dims.RULES),
            (names.EdgeCounting, greedy.COUNTING), (names.RankMethod, partitioners.METHODS),
            (names.Bisector, bisection.BISECTORS), (names.Duplex, communication.DUPLEX), (names.ProfileKind, KINDS),
            (names.SlotUnit, UNITS), (names.Gathering, EXCHANGES), (names.FieldMapping, MAPPINGS),
            (names.Reduction, OPERATIONS), (names.GeometricMethod, by_coordinates.METHODS),
            (names.ExchangeObjective, OBJECTIVES), (names.RankObjective, reorder.OBJECTIVES),
            (names.ClusteringMethod, clustering.METHODS),
            (names.TaskMethod, ["auto", *topology.METHODS]), (names.Bound, topology.BOUNDS),
            (names.GeometricTaskMethod, topology.geometric.VARIANTS), (names.MappingMetric, fitting.METRICS)]


def test_types_hold_what_the_package_knows():
    for kind, known in tables():
        assert sorted(get_args(kind)) == sorted(known), known


def test_the_command_line_takes_the_same_names():
    from copart.cli import parser

    wanted = {"preset": [set(get_args(names.PresetName)), set(get_args(names.MappingPresetName))],
              "interface": [set(get_args(names.InterfaceRule))], "interedges": [set(get_args(names.InteredgeKind))],
              "balance": [set(get_args(names.Balance))], "directions": [set(get_args(names.Directions))],
              "fix": [set(get_args(names.Fix))], "coupling": [set(get_args(names.CouplingOrder))],
              "placement": [set(get_args(names.PlacementName))],
              "objective": [set(get_args(names.GridObjective)), {"cut", *get_args(names.ExchangeObjective)},
                            set(get_args(names.RankObjective)), set(get_args(names.ExchangeObjective))],
              "duplex": [set(get_args(names.Duplex))], "scheme": [set(get_args(names.SchemeName))]}
    seen = set()

    def look(some: argparse.ArgumentParser) -> None:
        for action in some._actions:
            if isinstance(action, argparse._SubParsersAction):
                for below in action.choices.values():
                    look(below)
            elif action.choices is not None and action.dest in wanted:
                assert set(action.choices) in wanted[action.dest], (some.prog, action.dest)
                seen.add(action.dest)

    look(parser())
    assert seen == set(wanted)


SOUND = """import copart
from copart.mesh import find_interedges, read_mesh
a, b = read_mesh("a.vtu"), read_mesh("b.vtu")
find_interedges(a, b, kind="touch")
copart.plan(a, b, parts=(2, 3), scheme="joint", interface="gather", preset="best", interedges="facet")
copart.Options(preset="strong").replace(preset="fast")
copart.Site(placement="disjoint")
copart.compare(a, b, parts=(2, 3), schemes=["naive", "auto"])
"""
WRONG = {'kind="touch"': 'kind="tuch"', 'scheme="joint"': 'scheme="join"', 'interface="gather"': 'interface="gathered"',
         'preset="best"': 'preset="better"', 'interedges="facet"': 'interedges="facets"',
         'preset="strong"': 'preset="stronger"', 'preset="fast"': 'preset="quick"',
         'placement="disjoint"': 'placement="apart"', '"naive", "auto"': '"naive", "automatic"'}


def test_a_type_checker_finds_a_wrong_name(tmp_path):
    pytest.importorskip("mypy")
    text = SOUND
    for good, bad in WRONG.items():
        text += next(line for line in SOUND.splitlines() if good in line).replace(good, bad) + "\n"
    (tmp_path / "mine.py").write_text(text)
    (tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = silent\nignore_missing_imports = True\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "mine.py"], cwd=tmp_path, capture_output=True,
                          text=True, check=False, env={**os.environ, "MYPYPATH": str(ROOT)})
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    sound = len(SOUND.splitlines())
    assert found == set(range(sound + 1, sound + len(WRONG) + 1)), done.stdout + done.stderr


def test_the_package_says_that_it_is_typed():
    import tomllib

    assert (ROOT / "copart" / "py.typed").exists()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert "py.typed" in settings["package-data"]["copart"]
    # an editable install is then a path, which type checkers follow, and no hook, which they do not
    assert settings["package-dir"] == {"": "."}


@pytest.mark.parametrize("call", [
    lambda g, p: copart.plan(g, g, parts=(2, 2), interedges="facets"),
    lambda g, p: copart.plan(g, g, parts=(2, 2), interface="gathered"),
    lambda g, p: copart.joint(p, 2, fix="soften"), lambda g, p: copart.monolithic(p, processes=2, balance="all"),
    lambda g, p: copart.part(g, 2, preset="stronk"), lambda g, p: copart.Site(placement="share")])
def test_a_wrong_name_lists_those_known_and_one_near(call):
    graph = grid(4, 4)
    problem = copart.CoupledProblem.of_two(graph, graph, copart.Interedges.from_pairs(16, 16, range(4), range(4)))
    with pytest.raises(ConfigError, match=r"is not known; choose one of .+"):
        call(graph, problem)


def test_unknown_components_list_those_known():
    graph = grid(4, 4)
    problem = copart.CoupledProblem.of_two(graph, graph, copart.Interedges.from_pairs(16, 16, range(4), range(4)),
                                           names=("fluid", "solid"))
    made = copart.naive(problem, 2)
    for call in (lambda: problem.coupled("fluit"), lambda: problem.coupled_load("fluit"),
                 lambda: problem.own_weights("fluit"), lambda: problem.facing("fluit", "solid"),
                 lambda: problem.facing("solid", "fluit"), lambda: made["fluit"], lambda: made.offset("fluit"),
                 lambda: copart.naive(problem, {"fluit": 2, "solid": 2}),
                 lambda: copart.CoupledProblem(problem.components, problem.pairs, {"fluit": np.ones(16, int)})):
        with pytest.raises((ConfigError, CouplingError), match="no component 'fluit'; known: fluid, solid; "
                                                               r"did you mean fluid\?"):
            call()


def test_meshes_without_a_name_are_a_and_b(tmp_path):
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0]], float)
    left, right = (points, [("quad", [[0, 1, 2, 3]])]), (points, [("quad", [[1, 4, 5, 2]])])
    assert copart.plan(left, right, parts=(1, 1)).problem.names == ("a", "b")
    meshes = [copart.Mesh(*left), copart.Mesh(*right)]
    assert copart.plan(*meshes, parts=(1, 1)).problem.names == ("a", "b")
    one = meshes[0].replace(name="fluid")
    assert copart.plan(one, meshes[1], parts=(1, 1)).problem.names == ("fluid", "b")
    assert copart.plan(one, meshes[1].replace(name="fluid"), parts=(1, 1)).problem.names == ("fluid-a", "fluid-b")
