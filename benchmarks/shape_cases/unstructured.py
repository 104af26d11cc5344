"""Triangles, tetrahedra and quadrilaterals from gmsh, which is needed for the few cases that use it only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copart.mesh import Mesh

from .building import Points, cut

_KINDS = {2: "triangle", 4: "tetra"}
Bodies = Mapping[str, Sequence[int]]


@contextmanager
def _session() -> Iterator[Any]:
    """gmsh, silent and on one thread, so that the same geometry gives the same mesh."""
    try:
        import gmsh
    except (ImportError, OSError) as error:
        raise ImportError("this case needs gmsh: pip install gmsh") from error
    gmsh.initialize(["-nopopup"], readConfigFiles=False, interruptible=False)
    try:
        for option, value in (("General.Terminal", 0), ("General.NumThreads", 1), ("Mesh.Algorithm", 5),
                              ("Mesh.Algorithm3D", 10)):
            gmsh.option.setNumber(option, value)
        yield gmsh
    finally:
        gmsh.finalize()


def _nodes(gmsh: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The number of every node by its tag, and the coordinates (n, 3)."""
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    number = np.full(int(tags.max()) + 1, -1)
    number[tags.astype(np.int64)] = np.arange(len(tags))
    return number, coordinates.reshape(-1, 3)


def meshed(shapes: Callable[[Any], Bodies], size: float, dimension: int,
           refine: Callable[[Any], None] | None = None) -> dict[str, Mesh]:
    """Meshes of bodies that are described with gmsh's kernel; they share the nodes of the surfaces they share.

    Parameters
    ----------
    shapes : callable
        Given gmsh, makes the geometry and gives the entities of each body.
    size : float
        Of the cells.
    dimension : int
    refine : callable, optional
        Given gmsh, sets sizes of its own.
    """
    with _session() as gmsh:
        bodies = shapes(gmsh)
        gmsh.model.occ.synchronize()
        gmsh.option.setNumber("Mesh.MeshSizeMin", size if refine is None else 0.05 * size)
        gmsh.option.setNumber("Mesh.MeshSizeMax", size)
        if refine is not None:
            refine(gmsh)
        gmsh.model.mesh.generate(dimension)
        number, points = _nodes(gmsh)
        kind, width = (4, 4) if dimension == 3 else (2, 3)
        made = {}
        for name, entities in bodies.items():
            cells = [gmsh.model.mesh.getElementsByType(kind, entity)[1] for entity in entities]
            nodes = number[np.concatenate(cells).astype(np.int64)].reshape(-1, width)
            whole = Mesh(points, [(_KINDS[kind], nodes)], name=name)
            made[name] = cut(whole, np.ones(len(nodes), bool))
        return made


def quadrilaterals(name: str, size: float) -> Mesh:
    """A disc, a plate with holes or a sphere paved with quadrilaterals, and a few triangles.

    Parameters
    ----------
    name : {"disc", "plate with holes", "sphere"}
    size : float
        Of the cells; the disc and the sphere have radius 1, the plate is 3 long and 1 wide.
    """
    with _session() as gmsh:
        occ = gmsh.model.occ
        if name == "sphere":
            occ.addSphere(0, 0, 0, 1.0)
        elif name == "disc":
            occ.addDisk(0, 0, 0, 1, 1)
        else:
            circles = (0.7, 0.5, 0.2), (1.6, 0.3, 0.1), (2.3, 0.6, 0.25)
            holes = [(2, occ.addDisk(x, y, 0, r, r)) for x, y, r in circles]
            occ.cut([(2, occ.addRectangle(0, 0, 0, 3, 1))], holes)
        occ.synchronize()
        # frontal quadrilaterals need a boundary
        for option, value in (("Mesh.MeshSizeMin", size), ("Mesh.MeshSizeMax", size), ("Mesh.RecombineAll", 1),
                              ("Mesh.Algorithm", 6 if name == "sphere" else 8)):
            gmsh.option.setNumber(option, value)
        gmsh.model.mesh.generate(2)
        number, points = _nodes(gmsh)
        blocks = [(kind, number[gmsh.model.mesh.getElementsByType(code)[1].astype(np.int64)].reshape(-1, width))
                  for kind, code, width in (("quad", 3, 4), ("triangle", 2, 3))]
        return Mesh(points, blocks, name=name)


def polygon_with_holes(outside: Points, holes: Sequence[Points], size: float) -> Mesh:
    """Triangles between closed lines, whose edges are kept as they are: nothing is added on them.

    Parameters
    ----------
    outside : (n, 3) float64
        Points round the outline; edges of about `size` may be cut further if they are longer.
    holes : sequence of (m, 3) float64
        Points round each hole; these edges stay.
    size : float
    """
    with _session() as gmsh:
        geo = gmsh.model.geo
        loops = []
        for line in (outside, *holes):
            nodes = [geo.addPoint(*p, size) for p in line.tolist()]
            edges = [geo.addLine(a, b) for a, b in zip(nodes, nodes[1:] + nodes[:1], strict=True)]
            if line is not outside:
                for edge in edges:
                    geo.mesh.setTransfiniteCurve(edge, 2)
            loops.append(geo.addCurveLoop(edges))
        surface = geo.addPlaneSurface(loops)
        geo.synchronize()
        gmsh.model.mesh.generate(2)
        number, points = _nodes(gmsh)
        nodes = number[gmsh.model.mesh.getElementsByType(2, surface)[1].astype(np.int64)].reshape(-1, 3)
        return cut(Mesh(points, [("triangle", nodes)]), np.ones(len(nodes), bool))
