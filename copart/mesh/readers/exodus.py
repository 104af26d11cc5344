"""Exodus II files: element blocks, side sets and node sets as groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError
from ..cells import shape_of
from ..fields import Block
from ..polyhedra import Ints
from ..value import Mesh
from .assembling import Members, assembled
from .netcdf import Variables, variables_of

# how the type of a block begins, longest first; what a type is without its number of nodes
_TYPES = {"TRISHELL": "triangle", "TRI": "triangle", "SHELL": "quad", "QUAD": "quad", "TET": "tetra",
          "HEX": "hexahedron", "WEDGE": "wedge", "PYR": "pyramid", "BAR": "line", "BEAM": "line", "TRUSS": "line",
          "ROD": "line", "EDGE": "line", "SPHERE": "vertex", "CIRCLE": "vertex", "POINT": "vertex"}
_LINEAR = {"vertex": 1, "line": 2, "triangle": 3, "quad": 4, "tetra": 4, "pyramid": 5, "wedge": 6, "hexahedron": 8}
_SIDES: dict[str, tuple[tuple[int, ...], ...]] = {
    "hexahedron": ((0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 4, 7, 3), (0, 3, 2, 1), (4, 5, 6, 7)),
    "tetra": ((0, 1, 3), (1, 2, 3), (0, 3, 2), (0, 2, 1)),
    "wedge": ((0, 1, 4, 3), (1, 2, 5, 4), (0, 3, 5, 2), (0, 2, 1), (3, 4, 5)),
    "pyramid": ((0, 1, 4), (1, 2, 4), (2, 3, 4), (0, 4, 3), (0, 3, 2, 1)),
    "quad": ((0, 1), (1, 2), (2, 3), (3, 0)),
    "triangle": ((0, 1), (1, 2), (2, 0)),
    "line": ((0,), (1,)),
}
# Exodus numbers the nodes on vertical edges before those of the top
_ORDER = {"hexahedron20": [*range(12), *range(16, 20), *range(12, 16)],
          "hexahedron27": [*range(12), *range(16, 20), *range(12, 16), 23, 24, 25, 26, 21, 22, 20],
          "wedge15": [*range(9), 12, 13, 14, 9, 10, 11]}
_MOST_SETS = 100_000


def read_exodus(path: Path) -> Mesh:
    """Read an Exodus II file.

    Raises
    ------
    FormatError
        The package netCDF4 is missing, or the file is not a usable mesh.
    """
    with variables_of(path, "Exodus") as variables:
        return _Reader(variables).mesh()


class _Reader:
    """The variables of one file."""

    def __init__(self, variables: Variables) -> None:
        self.path, self.data = variables.path, variables.data
        self._values, self._integers = variables.values, variables.integers
        self.blocks: list[Block] = []
        self.thin: list[bool] = []
        self.sets: list[tuple[str, Members]] = []
        self.facets: dict[str, list[Any]] = {}
        self.remarks: list[str] = []

    def _size(self, name: str) -> int:
        size = len(self.data.dimensions[name]) if name in self.data.dimensions else 0
        if size > _MOST_SETS and name.endswith(("blk", "sets")):
            raise FormatError(self.path, f"dimension {name} is {size}, at most {_MOST_SETS} are supported")
        return size

    def _names(self, prefix: str, called: str, count: int) -> list[str]:
        """Names of blocks or sets; those without one after their number."""
        numbers: list[int] = list(range(1, count + 1))
        if f"{prefix}_prop1" in self.data.variables:
            numbers = self._integers(f"{prefix}_prop1").tolist()
        names = [""] * count
        if f"{prefix}_names" in self.data.variables:
            for i, row in enumerate(self._values(f"{prefix}_names")[:count]):
                letters = b"".join(bytes(c) for c in np.atleast_1d(row))
                names[i] = letters.split(b"\0")[0].decode("utf-8", "replace").strip()
        return [name or f"{called}_{numbers[i] if i < len(numbers) else i + 1}" for i, name in enumerate(names)]

    def mesh(self) -> Mesh:
        """The whole mesh."""
        points = self._points()
        names = self._names("eb", "block", self._size("num_el_blk"))
        for i, name in enumerate(names):
            self._block(i, name)
        self.first = np.concatenate([[0], np.cumsum([len(c) for _, c in self.blocks])])
        self.top = max((shape_of(t, c.shape[1]).dimension for t, c in self.blocks if len(c)), default=0)
        for i, name in enumerate(self._names("ss", "sideset", self._size("num_side_sets"))):
            if f"elem_ss{i + 1}" in self.data.variables:
                self._side_set(name, i + 1)
        nodes: dict[str, Ints] = {}
        for i, name in enumerate(self._names("ns", "nodeset", self._size("num_node_sets"))):
            if f"node_ns{i + 1}" in self.data.variables:
                nodes[name] = self._integers(f"node_ns{i + 1}").ravel() - 1
        lost = [k for k in ("num_nod_var", "num_elem_var") if self._size(k)]
        if lost:
            self.remarks.append("results on nodes and elements are left out")
        return assembled(points, self.blocks, self.path.stem, self.sets, facets=self.facets, nodes=nodes,
                         remarks=self.remarks)

    def _points(self) -> NDArray[np.float64]:
        """(npoints, d) coordinates; of dimensions left out there is no variable."""
        if "coord" in self.data.variables:
            return self._values("coord").astype(np.float64).T
        columns = [self._values(f"coord{k}").astype(np.float64) for k in "xyz" if f"coord{k}" in self.data.variables]
        if not columns:
            raise FormatError(self.path, "has no coordinates (coord, coordx)")
        return np.column_stack(columns)

    def _block(self, i: int, name: str) -> None:
        """One element block."""
        if f"connect{i + 1}" not in self.data.variables:
            self.blocks.append(("vertex", np.zeros((0, 1), np.int64)))  # an empty block
            self.thin.append(False)
            return
        nodes = self._integers(f"connect{i + 1}") - 1
        said = str(getattr(self.data.variables[f"connect{i + 1}"], "elem_type", "")).strip().upper()
        base = next((kind for key, kind in _TYPES.items() if said.startswith(key)), None)
        if base is None or nodes.ndim != 2:
            raise FormatError(self.path, f"block {name}: elements of type {said[:40]!r} are not supported")
        if base == "quad" and nodes.shape[1] in (3, 6, 7) and said.startswith("SHELL"):
            base = "triangle"
        kind = base if nodes.shape[1] == _LINEAR[base] else f"{base}{nodes.shape[1]}"
        self.sets.append((name, {i: np.arange(len(nodes))}))
        self.thin.append("SHELL" in said or (base in ("quad", "triangle") and self._size("num_dim") == 3))
        self.blocks.append((kind, nodes[:, _ORDER[kind]] if kind in _ORDER else nodes))

    def _side_set(self, name: str, number: int) -> None:
        """Sides of elements as facets; the two sides of a shell are the shell."""
        element = self._integers(f"elem_ss{number}").ravel() - 1
        side = self._integers(f"side_ss{number}").ravel() - 1
        if len(element) != len(side):
            raise FormatError(self.path, f"side set {name}: {len(element)} elements, {len(side)} sides")
        if len(element) and (int(element.min()) < 0 or int(element.max()) >= self.first[-1]):
            raise FormatError(self.path, f"side set {name}: an element is outside 1..{int(self.first[-1])}")
        block = np.searchsorted(self.first, element, side="right") - 1
        self.facets.setdefault(name, [])
        lost = 0
        for b, s in sorted(set(zip(block.tolist(), side.tolist(), strict=True))):
            kind, nodes = self.blocks[b]
            index = element[(block == b) & (side == s)] - self.first[b]
            sides = _SIDES.get(kind.rstrip("0123456789"), ())
            at = s - 2 if self.thin[b] else s
            if self.thin[b] and s in (0, 1):
                self.sets.append((name, {b: index}))
            elif not 0 <= at < len(sides):
                raise FormatError(self.path, f"side set {name}: a {kind} has no side {s + 1}")
            elif shape_of(kind, nodes.shape[1]).dimension == self.top:
                self.facets[name].append(nodes[index][:, list(sides[at])])
            else:
                lost += len(index)
        if not self.facets[name]:
            del self.facets[name]
        if lost:
            self.remarks.append(f"side set {name}: {lost} edges of shells are left out")
