"""The cases that partitions are measured on: their meshes are sound, and their bodies meet where they should."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from benchmarks.shape_cases import CASES, HELD_OUT, coupled, problem
from copart.mesh import Mesh, dual_graph, find_interface

CELLS = 3000
EVERY = {**CASES, **HELD_OUT}
# at each corner of a cell: the corner, and its neighbours in the order of a right hand
CORNERS = {
    "triangle": [(0, 1, 2)],
    "quad": [(0, 1, 3), (1, 2, 0), (2, 3, 1), (3, 0, 2)],
    "tetra": [(0, 1, 2, 3)],
    "wedge": [(0, 1, 2, 3), (1, 2, 0, 4), (2, 0, 1, 5), (3, 5, 4, 0), (4, 3, 5, 1), (5, 4, 3, 2)],
    "hexahedron": [(0, 1, 3, 4), (1, 2, 0, 5), (2, 3, 1, 6), (3, 0, 2, 7), (4, 7, 5, 0), (5, 4, 6, 1), (6, 5, 7, 2),
                   (7, 6, 4, 3)],
}


@cache
def meshes(name: str) -> dict[str, Mesh]:
    try:
        return EVERY[name].build(CELLS)
    except ImportError as error:
        pytest.skip(str(error))


def corner_volumes(mesh: Mesh) -> np.ndarray:
    """The smallest signed volume (area) at the corners of each cell, relative to the cube (square) of its size."""
    out = []
    for kind, cells in mesh.blocks:
        p = mesh.points[cells]
        size = np.linalg.norm(p.max(axis=1) - p.min(axis=1), axis=1)
        found = []
        for at, *to in CORNERS[kind]:
            edges = p[:, to] - p[:, [at]]
            edges = edges[:, :, :2] if len(to) == 2 else edges
            found.append(np.linalg.det(edges) / size**len(to))
        out.append(np.min(found, axis=0))
    return np.concatenate(out)


@pytest.mark.parametrize("name", EVERY)
def test_meshes_are_sound(name):
    made = meshes(name)
    assert CELLS / 2.5 < sum(mesh.ncells for mesh in made.values()) < 2.5 * CELLS
    for part, mesh in made.items():
        assert mesh.name == part
        assert corner_volumes(mesh).min() > 0
        used = np.unique(np.concatenate([cells.ravel() for _, cells in mesh.blocks]))
        assert len(used) == mesh.npoints
        assert len(np.unique(np.round(mesh.points, 9), axis=0)) == mesh.npoints
        graph = dual_graph(mesh)
        links = csr_array((np.ones(len(graph.adjncy)), graph.adjncy, graph.xadj), shape=(graph.nvtxs,) * 2)
        assert connected_components(links, directed=False)[0] == EVERY[name].pieces.get(part, 1)


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, case in EVERY.items() for kind in case.kinds])
def test_bodies_meet(name, kind):
    found = coupled(EVERY[name], meshes(name), kind)
    for part in found.names:
        assert len(found.coupled(part)) > 0
    assert found.names == tuple(meshes(name))


# common area, length or volume of the first two components, by geometry
AREAS = {"cubes-hexa": 1, "cubes-tetra-hexa": 1, "l-contact": 2, "t-contact": 4, "patch-on-box": 1, "sizes-1-200": 6,
         "ball-in-shell": 4 * np.pi, "ball-in-shell-tetra": 4 * np.pi, "rod-in-block": np.pi * (1.4 + 0.25),
         "tubes-7": 7 * 2 * np.pi * 0.3 * 3, "tubes-19": 19 * 2 * np.pi * 0.3 * 3, "plate-2d": 4.04, "plate-3d": 3.24,
         "plates-2d-mixed": 8.12, "flap-2d": 1.26, "flap-3d": 0.6 * 0.7 * 2 + 0.08 * 1.3,
         "hollow-solid": 1.4 * np.pi * 4, "pipe-halves": 3.6, "overlap-cubes": 0.4 * 0.89 * 0.93,
         "overlap-rod-cylinder": 2 * np.pi * 0.45**2, "torus-in-box": 4 * np.pi**2 * 1.2 * 0.45,
         "cap-on-wall": 2 * np.pi * 0.64, "ball-in-cube": 4 * np.pi * 0.36, "rod-bundle": 9 * 2 * np.pi * 0.32 * 3
         + 9 * (1 - np.pi * 0.32**2), "journal-bearing": 2 * np.pi * 1.5, "staircase": 3.6, "annular-gap-2d": 2 * np.pi,
         "disc-in-cylinder": 2 * np.pi * 0.7 * (0.7 + 0.04)}


@pytest.mark.parametrize("name", AREAS)
def test_bodies_meet_on_all_of_their_common_surface(name):
    case = EVERY[name]
    a, b = list(meshes(name).values())[:2]
    _, interface = find_interface(a, b, case.kinds[0], gap=case.gap, several=case.kinds[0] != "overlap")
    # chords are shorter than arcs, and those of two meshes cover one another a little more than once
    assert interface.overlap == pytest.approx(AREAS[name], rel=0.08)


def test_loads_of_a_hot_spot():
    made = problem(CASES["hot-spot"], CELLS, "facet")
    for graph in made.components.values():
        assert set(graph.weights.tolist()) == {1, 10}


def test_a_case_is_the_same_every_time():
    for name, case in EVERY.items():
        if case.unstructured:
            continue
        for mesh, again in zip(meshes(name).values(), case.build(CELLS).values(), strict=True):
            assert np.array_equal(mesh.points, again.points)
            assert all(np.array_equal(x, y) for (_, x), (_, y) in zip(mesh.blocks, again.blocks, strict=True))


def test_unstructured_cases_are_the_same_every_time():
    for name, case in EVERY.items():
        if case.unstructured:
            for mesh, again in zip(meshes(name).values(), case.build(CELLS).values(), strict=True):
                assert np.array_equal(mesh.points, again.points)
                assert np.array_equal(mesh.blocks[0][1], again.blocks[0][1])


def test_other_kinds_are_refused():
    with pytest.raises(ValueError, match="found by facet, touch"):
        problem(CASES["cubes-hexa"], CELLS, "overlap")


def test_more_cells_make_the_same_shape():
    for name in ("ball-in-shell", "tubes-7", "blade-2d", "comb"):
        small, large = meshes(name), EVERY[name].build(4 * CELLS)
        assert sum(m.ncells for m in large.values()) > 2 * sum(m.ncells for m in small.values())
        for part in small:
            assert np.allclose(small[part].bounds, large[part].bounds, atol=0.1)
