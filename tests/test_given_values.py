"""Numbers, seeds and parts that are no such thing are refused by name, and usual spellings of numbers are taken."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from copart import CoPartition, CoupledProblem, Graph, Interedges, evaluate, operators
from copart.checks import check_connected, check_partition
from copart.errors import ConfigError, CopartError, CouplingError, FormatError, GraphError, MappingError, MeshError
from copart.formats import coupling_schedule, write_graph
from copart.mapping import dilation_cost, place_processes
from copart.mapping.architectures.regular import Grid as Mesh2d
from copart.mapping.cartesian import Grid, internode, stencil
from copart.mapping.ranks.partitioners import partition_exactly
from copart.mesh import cube, write_gmsh, write_pieces
from copart.metrics import bodies, coupling_matrix, migration_matrix
from copart.metrics.components import component_metrics
from copart.metrics.pairs import pair_metrics
from copart.metrics.step import StepCost, step_cost
from copart.metrics.traffic import halo_volumes
from copart.migration.plan import Moves

from .helpers import grid

PATH = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
HALVES = [0, 0, 1, 1]
PROBLEM = CoupledProblem.of_two(PATH, PATH, Interedges.from_pairs(4, 4, range(4), range(4)))
MADE = CoPartition({"a": HALVES, "b": HALVES}, {"a": 2, "b": 2})
OTHERS = CoPartition({"x": HALVES, "b": HALVES}, {"x": 2, "b": 2})


@pytest.mark.parametrize("place", [[0, 1, 2, 9], [0, 1, 2, -1], [0, 1, 2], [0.5] * 4])
def test_a_mapping_to_no_processor_costs_nothing_known(place):
    with pytest.raises(MappingError, match="mapping"):
        dilation_cost(PATH, Mesh2d((2, 2)), place)


@pytest.mark.parametrize("part", [[9] * 1000, [-1] * 1000, [0] * 7])
def test_files_of_parts_that_there_are_not(tmp_path, part):
    mesh = cube("hexa", 10)
    with pytest.raises(MeshError, match="part"):
        write_pieces(tmp_path / "m.pvtu", mesh, part, 3)
    if min(part) < 0 or len(part) < 1000:
        with pytest.raises(MeshError, match="part"):
            write_gmsh(str(tmp_path / "m.msh"), mesh, part)
    assert not list(tmp_path.iterdir())


def test_checks_say_what_is_no_partition():
    assert check_connected(PATH, [-1, 0, 0, 0], 2)[0].rule == "parts are 0..1"
    assert check_connected(PATH, [0, 0, 0], 2)
    assert check_connected(PATH, HALVES, 2) == []
    assert check_partition(PATH, HALVES, 2.0).ok


@pytest.mark.parametrize("seed", [2**31 - 1, np.int8(5), 5.0])
def test_seeds_as_they_may_be(seed):
    ring = grid(4, 4)
    assert sorted(place_processes(ring, Mesh2d((4, 4)), seed=seed)) == list(range(16))
    assert np.bincount(partition_exactly(ring, [8, 8], seed=seed)).tolist() == [8, 8]


@pytest.mark.parametrize("seed", [-1, "x", None, 2.5, 2**63])
def test_seeds_that_are_none(seed):
    with pytest.raises(ConfigError, match="seed"):
        partition_exactly(grid(4, 4), [8, 8], seed=seed)


@pytest.mark.parametrize("two", [2.0, np.uint8(2), np.uint64(2), np.int16(2)])
def test_numbers_of_parts_as_they_may_be(two):
    assert migration_matrix(HALVES, HALVES, two, two).shape == (2, 2)
    assert coupling_matrix(PROBLEM.pairs["a", "b"], HALVES, HALVES, two, two).nnz == 2
    assert bodies(PATH, HALVES, two).tolist() == [1, 1]
    assert operators.proj(PATH, PATH, PROBLEM.pairs["a", "b"], HALVES, two).tolist() == HALVES
    assert [x.dtype.kind for x in halo_volumes(PATH, HALVES, two)] == ["i"] * 3
    assert component_metrics("a", PATH, HALVES, two, np.arange(4, dtype=np.int32)).cut == 1
    moves = Moves.between(HALVES, [0, 1, 1, 1], two, two)
    assert (type(moves.nparts), moves.nparts) == (int, 2)
    assert internode(Grid((4,)), stencil("five-point", 1), HALVES, two).total == 2


def test_weights_whose_sums_overflow_are_refused_by_name():
    many = scipy.sparse.coo_array((np.full(64, 2**59), ([0] * 32 + [1] * 32, [1] * 32 + [0] * 32)), shape=(2, 2))
    with pytest.raises(GraphError, match="matrix data: the sum of the weights overflows"):
        Graph.from_scipy(many)


def test_weights_near_the_limit_are_taken_by_all_schemes():
    heavy = Graph.from_edges(16, range(0, 16, 2), range(1, 16, 2), np.full(8, 2**56))
    problem = CoupledProblem.of_two(heavy, heavy, Interedges.from_pairs(16, 16, range(16), range(16)))
    for scheme in ("aware", "projrepart", "joint"):
        from copart.schemes.registry import run_scheme

        assert evaluate(problem, run_scheme(scheme, problem, 2)).pair.totV_ab == 16


@pytest.mark.parametrize("call", [
    lambda: coupling_schedule(PROBLEM, OTHERS), lambda: step_cost(PROBLEM, OTHERS),
    lambda: pair_metrics("a", "b", PROBLEM, OTHERS), lambda: pair_metrics("b", "a", PROBLEM, MADE),
    lambda: CoPartition({"a": HALVES}, {"a": 2}, {"zz": 2})])
def test_what_does_not_fit_together(call):
    with pytest.raises(CouplingError):
        call()


def test_constants_are_numbers():
    with pytest.raises(ConfigError, match="step cost: alpha: needs a number"):
        StepCost(alpha="2")
    with pytest.raises(ConfigError, match="cost: needs a StepCost, got dict"):
        evaluate(PROBLEM, MADE, {"t": 2})


def test_more_parts_than_vertices_are_refused_at_once():
    with pytest.raises(CopartError, match="2147483646 parts of 4 vertices"):
        operators.part(PATH.replace(vwgt=np.ones((4, 2), int)), 2**31 - 2)
    with pytest.raises(CopartError, match="2147483646 parts of 4 vertices"):
        operators.ext(PATH, [0], [0], 1, 2**31 - 2)


def test_matrix_market_is_not_written(tmp_path):
    with pytest.raises(FormatError, match="read, not written"):
        write_graph(tmp_path / "a.mtx", PATH)
    assert not list(tmp_path.iterdir())
