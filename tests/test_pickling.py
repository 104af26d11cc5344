"""Values through pickle: equal, and read-only, where they arrive; kernels compile nothing anew for them."""

import pickle

import numpy as np
import pytest

import copart
from copart.mesh import Mesh, cube
from copart.mesh.polyhedra import Polyhedra


@pytest.fixture(scope="module")
def plan():
    return copart.plan(cube("hexa", 5, name="a"), cube("tetra", 300, offset=(1, 0, 0), name="b"), parts=(3, 2))


def sent(value):
    return pickle.loads(pickle.dumps(value))


def test_a_problem_and_its_co_partition(plan):
    problem, made = sent((plan.problem, plan.copartition))
    assert problem.names == plan.problem.names
    for name, graph in plan.problem.components.items():
        other = problem.components[name]
        assert np.array_equal(graph.xadj, other.xadj)
        assert np.array_equal(graph.adjncy, other.adjncy)
        assert not other.xadj.flags.writeable
        assert not made[name].flags.writeable
        assert np.array_equal(plan.copartition[name], made[name])
    assert np.array_equal(problem.interedges.indptr, plan.problem.interedges.indptr)
    with pytest.raises(TypeError):
        made.parts["a"] = None
    assert copart.evaluate(problem, made).to_dict() == plan.metrics.to_dict()
    again = copart.joint(problem, (3, 2))
    assert all(np.array_equal(again[name], plan.copartition[name]) for name in problem.names)


def test_a_plan_with_its_meshes_and_figures(plan):
    other = sent(plan)
    assert other.to_dict() == plan.to_dict()
    mesh = other.meshes["b"]
    assert np.array_equal(mesh.points, plan.meshes["b"].points)
    assert not mesh.points.flags.writeable
    assert not mesh.blocks[0][1].flags.writeable
    assert np.array_equal(mesh.centres(), plan.meshes["b"].centres())


def test_polyhedra():
    cells = [[[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]]
    mesh = Mesh(np.eye(4, 3), polyhedra=Polyhedra.from_cells(cells))
    other = sent(mesh)
    assert np.array_equal(other.polyhedra.nodes, mesh.polyhedra.nodes)
    assert not other.polyhedra.nodes.flags.writeable
