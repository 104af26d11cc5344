"""Elements by the names of Abaqus and CalculiX: their shape, and which corners their numbered faces have."""

from __future__ import annotations

import re
from typing import NamedTuple

# family of the name, longest first: dimension of its elements
_SOLID = ("C3D", "DC3D", "F3D", "AC3D", "DCC3D", "COH3D", "EC3D", "FC3D", "Q3D", "CCL", "SC")
_PLANE = ("CPEG", "CPS", "CPE", "CAX", "CGAX", "DC2D", "DCAX", "AC2D", "ACAX", "DCC2D", "DCCAX")
_SHELL = ("S", "M3D", "STRI", "SFM3D", "DS", "R3D", "SAX", "WARP2D", "F2D")
_LINE = ("T3D", "T2D", "B3", "B2", "PIPE3", "PIPE2", "R2D", "RAX", "DC1D", "F1D", "FRAME3D", "FRAME2D")
_TYPES = {
    3: {4: "tetra", 5: "pyramid", 6: "wedge", 8: "hexahedron", 10: "tetra10", 13: "pyramid13", 15: "wedge15",
        20: "hexahedron20", 27: "hexahedron27"},
    2: {3: "triangle", 4: "quad", 6: "triangle6", 8: "quad8", 9: "quad9"},
    1: {2: "line", 3: "line3"},
}


class Element(NamedTuple):
    """What a type name says."""

    kind: str
    """meshio cell type."""
    nnodes: int
    shell: bool
    """Faces 1 and 2 are the two sides of the element itself, its edges come after."""


# corners of the faces 1, 2, ...
FACES: dict[str, tuple[tuple[int, ...], ...]] = {
    "tetra": ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)),
    "pyramid": ((0, 1, 2, 3), (0, 4, 1), (1, 4, 2), (2, 4, 3), (3, 4, 0)),
    "wedge": ((0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)),
    "hexahedron": ((0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)),
    "triangle": ((0, 1), (1, 2), (2, 0)),
    "quad": ((0, 1), (1, 2), (2, 3), (3, 0)),
    "line": ((0,), (1,)),
}


def element(name: str) -> Element | None:
    """Shape of an element type such as ``C3D20R`` or ``S4``; None where the name is not one of a cell."""
    label = name.strip().upper()
    for families, dimension in ((_SOLID, 3), (_PLANE, 2), (_LINE, 1), (_SHELL, 2)):
        for family in sorted(families, key=len, reverse=True):
            found = re.fullmatch(rf"{family}(\d+)[A-Z]*\d?[A-Z]*", label)
            if found is None:
                continue
            nnodes = int(found[1])
            if family in ("B2", "B3", "PIPE2", "PIPE3"):
                nnodes += 1  # the order: B31 has two nodes, B32 three
                if nnodes not in _TYPES[1] or len(found[1]) > 1:
                    continue
            if family == "STRI" and nnodes == 65:
                nnodes = 6
            if nnodes in _TYPES[dimension]:
                return Element(_TYPES[dimension][nnodes], nnodes, families is _SHELL)
    return None


def face(shape: str, label: str, shell: bool) -> tuple[int, ...] | None:
    """Local corners of a face of a cell, by its label; empty where the face is the cell, None where there is none.

    Parameters
    ----------
    shape : str
        Without the number of nodes, such as ``"tetra"``.
    label : str
        ``S1``, ``E2``, ``SPOS``, ...
    """
    name = label.strip().upper()
    if name in ("SPOS", "SNEG", "POS", "NEG", "SP", "SN", "P", "N"):
        return ()
    found = re.fullmatch(r"([SE]?)(\d)", name)
    if found is None:
        return None
    number = int(found[2])
    if shell and found[1] != "E":
        if number in (1, 2):
            return ()
        number -= 2
    faces = FACES[shape]
    return faces[number - 1] if 1 <= number <= len(faces) else None
