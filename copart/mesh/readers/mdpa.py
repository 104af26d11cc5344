"""Kratos ``.mdpa`` files: say which shape the elements have.

An element is named after its physics and the number of its nodes, as in
``Element2D3N``.  meshio looks for the name of a shape, and where there is none
takes any cell of three nodes for a line.  So the headers are translated first.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from ...errors import FormatError

_HEADER = re.compile(r"^\s*Begin\s+(Elements|Conditions)\s+(\w+)")
_SIZE = re.compile(r"([23])D(\d+)N")
_SHAPES = {
    (0, 1): "Point3D",
    (1, 2): "Line3D2", (1, 3): "Line2D3",
    (2, 3): "Triangle3D3", (2, 6): "Triangle3D6",
    (2, 4): "Quadrilateral3D4", (2, 8): "Quadrilateral3D8", (2, 9): "Quadrilateral3D9",
    (3, 4): "Tetrahedra3D4", (3, 10): "Tetrahedra3D10", (3, 6): "Prism3D6",
    (3, 8): "Hexahedra3D8", (3, 20): "Hexahedra3D20", (3, 27): "Hexahedra3D27",
}
_THIN = ("shell", "membrane", "plate", "surface")
_KNOWN = ("Line", "Triangle", "Quadrilateral", "Tetrahedra", "Hexahedra", "Prism", "Point")


def named_shapes(path: str | os.PathLike[str]) -> str:
    """The text of the file with a shape in each header of elements and conditions.

    Raises
    ------
    FormatError
        The name of an element does not tell its shape.
    """
    lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    for i, line in enumerate(lines):
        found = _HEADER.match(line)
        if found:
            kind, entity = found.groups()
            lines[i] = f"Begin {kind} {_shape(path, kind, entity, i + 1)}\n"
    return "".join(lines)


def submodels(path: str | os.PathLike[str]) -> list[str]:
    """Names of the SubModelParts of the file, which meshio passes over."""
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    return re.findall(r"^[ \t]*Begin[ \t]+SubModelPart[ \t]+(\S+)", text, re.MULTILINE)


def _shape(path: str | os.PathLike[str], kind: str, entity: str, line: int) -> str:
    """meshio's name of the shape of an entity such as ``SurfaceCondition3D3N``."""
    size = _SIZE.search(entity)
    if size is None:
        if any(re.search(rf"{shape}[23]D\d*", entity) for shape in _KNOWN):
            return entity
        raise FormatError(path, f"the name {entity!r} does not tell the shape of the {kind.lower()}, "
                                f"such as Element2D3N does; convert the mesh to .vtu", line)
    space, nodes = int(size[1]), int(size[2])
    top = space - 1 if kind == "Conditions" or any(word in entity.lower() for word in _THIN) else space
    # beams and trusses have a dimension less than their space allows: the largest that fits the nodes
    for dimension in range(top, -1, -1):
        if (dimension, nodes) in _SHAPES:
            return _SHAPES[dimension, nodes]
    raise FormatError(path, f"{entity!r}: no shape of dimension {top} or less has {nodes} nodes", line)
