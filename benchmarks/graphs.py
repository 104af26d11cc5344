"""The benchmark graphs: read from a folder of ``.npz`` files, or made into one.

Each file holds ``xadj`` (nvtxs + 1,) and ``adjncy`` (2 * nedges,) int32, both
directions of every edge, rows ascending, no weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[np.int32], NDArray[np.int32]]

SEED = 20240607
MESHES = ("cube-hexa-25", "cube-tetra-40k", "rgg2d-200k", "cube-hexa-70", "cube-tetra-487k", "delaunay-500k",
          "cube-hexa-100")
"""The graphs that means are taken over."""


@dataclass(frozen=True)
class BenchmarkGraph:
    """One graph as its file holds it."""

    name: str
    xadj: NDArray[np.int32]
    adjncy: NDArray[np.int32]
    metis_file: Path
    """The same graph as METIS' text, for the tools that only read files; see :func:`write_metis_file`."""

    @property
    def nvtxs(self) -> int:
        return len(self.xadj) - 1

    @property
    def nedges(self) -> int:
        return len(self.adjncy) // 2


def load(folder: Path, name: str) -> BenchmarkGraph:
    """The graph `name` of `folder`; its METIS text may be beside it or not."""
    with np.load(folder / f"{name}.npz") as file:
        return BenchmarkGraph(name, file["xadj"].astype(np.int32, copy=False),
                              file["adjncy"].astype(np.int32, copy=False), folder / f"{name}.graph")


def write_metis_file(graph: BenchmarkGraph) -> None:
    """Write ``graph.metis_file`` where it is not there yet."""
    if not graph.metis_file.exists():
        from copart.formats.metis import write_metis
        from copart.graph import Graph

        write_metis(graph.metis_file, Graph(graph.xadj, graph.adjncy))


def grid(side: int) -> Rows:
    """The dual graph of a cube of `side`**3 hexahedra, x fastest: no edge list, so that 10 million cells fit."""
    n = side**3
    v = np.arange(n, dtype=np.int32)
    # of the six neighbours in ascending order, those that are inside
    inside = np.empty((n, 6), np.bool_)
    near = np.empty((n, 6), np.int32)
    for j, (axis, step) in enumerate([(2, -1), (1, -1), (0, -1), (0, 1), (1, 1), (2, 1)]):
        coordinate = v // side**axis % side
        inside[:, j] = coordinate > 0 if step < 0 else coordinate < side - 1
        near[:, j] = v + step * side**axis
    xadj = np.zeros(n + 1, np.int32)
    np.cumsum(inside.sum(axis=1), out=xadj[1:])
    return xadj, near[inside]


def _rows(graph: Any) -> Rows:
    return graph.xadj.astype(np.int32), graph.adjncy


def _tetra(cells: int) -> Rows:
    from copart.mesh import cube, dual_graph

    return _rows(dual_graph(cube("tetra", cells)))


def _delaunay(triangles: int) -> Rows:
    """The dual of the Delaunay triangulation of random points in the unit square."""
    from scipy.spatial import Delaunay

    from copart.graph import Graph

    near = Delaunay(np.random.default_rng(SEED + 1).random((triangles // 2 + 15, 2))).neighbors
    u, v = np.repeat(np.arange(len(near)), 3), near.ravel()
    once = u < v
    return _rows(Graph.from_edges(len(near), u[once], v[once]))


def _geometric(points: int) -> Rows:
    """Random points in the unit square, joined where close; the largest connected piece."""
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    from copart.graph import Graph

    where = np.random.default_rng(SEED).random((points, 2))
    pairs = cKDTree(where).query_pairs(0.55 * np.sqrt(np.log(points) / points), output_type="ndarray")
    graph = Graph.from_edges(points, pairs[:, 0], pairs[:, 1])
    piece = connected_components(graph.to_scipy(), directed=False)[1]
    return _rows(graph.subgraph(np.flatnonzero(piece == np.bincount(piece).argmax())))


def _power_law(n: int, attach: int) -> Rows:
    """Barabási and Albert: every new vertex joins `attach` others, drawn by degree; numbered at random."""
    from copart.graph import Graph

    rng = np.random.default_rng(SEED + 2)
    ends = list(range(attach))  # every end of an edge once, so that a draw from it is one by degree
    edges = []
    for v in range(attach, n):
        chosen: set[int] = set()
        while len(chosen) < attach:
            chosen.add(ends[rng.integers(len(ends))] if v > attach else len(chosen))
        for w in sorted(chosen):
            edges.append((v, w))
            ends += (v, w)
    number = rng.permutation(n)
    u, v = number[np.array(edges)].T
    return _rows(Graph.from_edges(n, u, v))


MAKERS: dict[str, Callable[[], Rows]] = {
    "cube-hexa-25": lambda: grid(25),
    "cube-tetra-40k": lambda: _tetra(40_630),
    "ba-100k": lambda: _power_law(100_000, 4),
    "rgg2d-200k": lambda: _geometric(200_000),
    "cube-hexa-70": lambda: grid(70),
    "cube-tetra-487k": lambda: _tetra(486_719),
    "delaunay-500k": lambda: _delaunay(500_000),
    "cube-hexa-100": lambda: grid(100),
}


def make(folder: Path, names: list[str]) -> None:
    """Make those of the named graphs that are not in `folder` yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = folder / f"{name}.npz"
        if not path.exists():
            print(f"making {name}", flush=True)
            xadj, adjncy = MAKERS[name]()
            unfinished = path.with_suffix(".unfinished.npz")
            np.savez(unfinished, xadj=xadj, adjncy=adjncy)
            unfinished.rename(path)


def fixed_face(graph: BenchmarkGraph, kind: int) -> NDArray[np.int32]:
    """(nvtxs,) parts 0 to 7 on one face of a cube of hexahedra, -1 elsewhere.

    Kind 1 cuts the face into 4 x 2 rectangles, which 32 boxes would extend; kind 2
    is METIS' own partition of the face.
    """
    side = round(graph.nvtxs ** (1 / 3))
    if side**3 != graph.nvtxs:
        raise ValueError(f"{graph.name}: fixed vertices are for cubes of hexahedra")
    i = np.arange(side)
    if kind == 1:
        face = ((i * 2 // side)[:, None] * 4 + (i * 4 // side)[None, :]).ravel()
    else:
        import pymetis

        number = np.arange(side * side).reshape(side, side)
        near: list[list[int]] = [[] for _ in range(side * side)]
        for a, b in ((number[:, :-1], number[:, 1:]), (number[:-1], number[1:])):
            for u, v in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True):
                near[u].append(v)
                near[v].append(u)
        face = np.asarray(pymetis.part_graph(8, near, recursive=False,
                                             options=pymetis.Options(ufactor=50, seed=1))[1])
    fixed = np.full(graph.nvtxs, -1, np.int32)
    fixed[:side * side] = face
    return fixed
