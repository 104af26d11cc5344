"""Kratos entities by their names: which cell has so many nodes.

An element or condition is named after its physics, the space and the number of its nodes, as in
``SurfaceLoadCondition3D4N``; some leave out the number.  Geometries are named after their shape,
``Tetrahedra3D10``.  Words in a name such as *Shell* or *Line* tell that it is thinner than its space.
"""

from __future__ import annotations

import re

_SPACE = re.compile(r"([23])D(\d*)N?(?![a-zA-Z0-9])")
_CELLS = {
    0: {1: "vertex"},
    1: {2: "line", 3: "line3", 4: "line4", 5: "line5"},
    2: {3: "triangle", 4: "quad", 6: "triangle6", 8: "quad8", 9: "quad9", 10: "triangle10", 15: "triangle15"},
    3: {4: "tetra", 5: "pyramid", 6: "wedge", 8: "hexahedron", 10: "tetra10", 13: "pyramid13", 15: "wedge15",
        20: "hexahedron20", 27: "hexahedron27"},
}
_SHAPES = (("triangle", 2), ("quadrilateral", 2), ("tetrahedra", 3), ("hexahedra", 3), ("prism", 3), ("pyramid", 3),
           ("line", 1), ("point", 0), ("sphere", 0))
"""How names of geometries begin, and their dimension."""
_WORDS = (("SolidShell|Sprism", 3), ("Line|Beam|Truss|Cable|Spring|Edge", 1), ("Point|Particle", 0),
          ("Shell|Membrane|Plate|Face|Surface(?!Tension)", 2))
"""Words in names of elements and conditions, and the largest dimension that they may have; the first counts."""

# Kratos has the upright edges before those of the top
ORDER = {"hexahedron20": [*range(12), *range(16, 20), *range(12, 16)],
         "hexahedron27": [*range(12), *range(16, 20), *range(12, 16), 24, 22, 21, 23, 20, 25, 26],
         "wedge15": [*range(9), 12, 13, 14, 9, 10, 11]}
"""Kratos' place of each node in VTK's order, where they differ."""


def nodes_told(name: str) -> int | None:
    """The number of nodes that a name tells; None where it tells none."""
    found = _SPACE.search(name)
    return int(found[2]) if found is not None and found[2] else None


def cell_of(kind: str, name: str, nnodes: int) -> str | None:
    """meshio's type of the cells of an entity with `nnodes` nodes; None where its name does not tell.

    Parameters
    ----------
    kind : {"Elements", "Conditions", "Geometries"}
    name : str
        Such as ``Element2D3N``, ``WallCondition3D`` or ``Tetrahedra3D4``.
    nnodes : int

    Examples
    --------
    >>> cell_of("Elements", "Element3D4N", 4), cell_of("Conditions", "SurfaceCondition3D4N", 4)
    ('tetra', 'quad')
    >>> cell_of("Elements", "ShellThinElement3D3N", 3), cell_of("Elements", "CrBeamElement3D2N", 2)
    ('triangle', 'line')
    """
    for word, dimension in _SHAPES:
        if re.match(rf"{word}(interface)?[23]d", name, re.IGNORECASE):
            return _CELLS[dimension].get(nnodes)
    if nnodes == 1:
        return "vertex"
    found = _SPACE.search(name)
    if found is None:
        return None
    space = int(found[1])
    top = next((dimension for words, dimension in _WORDS if re.search(rf"(?:{words})(?![a-z])", name)), space)
    top = min(top, space - 1 if kind == "Conditions" else space)
    # an element may be thinner than its space though no word tells: the largest that has so many nodes
    return next((_CELLS[d][nnodes] for d in range(top, -1, -1) if nnodes in _CELLS[d]), None)
