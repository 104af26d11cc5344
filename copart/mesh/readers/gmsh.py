"""gmsh files, versions 2 and 4, text and binary (4.0 text only), with the physical groups of every dimension.

An element may belong to several physical groups.  Groups without a name are
called by their number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import CopartError, FormatError
from ..fields import Block
from ..polyhedra import Ints
from ..value import Mesh
from .assembling import Members, assembled
from .foreign import PHYSICAL
from .gmsh_elements import elements_2, elements_4, entities, nodes_2, nodes_4
from .gmsh_sections import Cursor, Form, Section, form_of, sections

GEOMETRICAL = "gmsh:geometrical"
"""Cell array with the geometrical entity of each cell."""

# gmsh's place of each node in VTK's order, where they differ
_ORDER = {"tetra10": [0, 1, 2, 3, 4, 5, 6, 7, 9, 8], "pyramid13": [0, 1, 2, 3, 4, 5, 8, 10, 6, 7, 9, 11, 12],
          "hexahedron20": [*range(8), 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15],
          "hexahedron27": [*range(8), 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15, 22, 23, 21, 24, 20, 25, 26],
          "wedge15": [*range(6), 6, 9, 7, 12, 14, 13, 8, 10, 11]}


@dataclass
class _Elements:
    """Elements of one type that come together."""

    kind: str
    numbers: Ints
    nodes: Ints
    physical: list[tuple[int, Ints | None]]
    """Physical groups, each with the elements that have it; None for all."""
    first: Ints | int
    geometrical: Ints | int


@dataclass
class _File:
    """What the sections say."""

    node_numbers: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    points: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    elements: list[_Elements] = field(default_factory=list)
    names: dict[tuple[int, int], str] = field(default_factory=dict)
    """By dimension and number of the physical group."""
    data: list[tuple[str, Ints, NDArray[np.float64]]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def read_gmsh(path: Path) -> Mesh:
    """Read a gmsh file; physical groups are its groups.

    Raises
    ------
    FormatError
        With the section and line where it breaks the format.
    """
    found = sections(path)
    if not found:
        raise FormatError(path, "not a gmsh file: no $MeshFormat")
    form = form_of(next((s for s in found if s.name == "MeshFormat"), found[0]))
    first_of_4 = form.version in ("4", "4.0")
    if form.version not in ("2", "2.0", "2.1", "2.2", "4", "4.0", "4.1") or (first_of_4 and (
            form.binary or any(s.name == "PartitionedEntities" for s in found))):
        what = f"{form.version[:8]}{', binary or partitioned,' if first_of_4 else ''}"
        raise FormatError(path, f"gmsh format {what} is not supported; save the mesh as version 4.1 or 2.2: "
                                f"gmsh -save -format msh41 -o NEW.msh {path.name}")

    new = first_of_4 or form.version == "4.1"
    file = _File()
    physical: dict[tuple[int, int], Ints] = {}
    for section in found:
        if section.name == "PhysicalNames":
            _physical_names(section, file.names)
        elif section.name in ("Entities", "PartitionedEntities") and new:
            physical.update(entities(Cursor(section, form), section.name == "PartitionedEntities", first_of_4))
        elif section.name == "Nodes":
            file.node_numbers, file.points = \
                nodes_4(Cursor(section, form), first_of_4) if new else nodes_2(section, form)
        elif section.name == "Elements":
            runs = elements_4(Cursor(section, form), physical, first_of_4) if new else elements_2(section, form)
            file.elements = [_Elements(*run) for run in runs]
        elif section.name == "ElementData":
            _element_data(section, form, file)
        elif section.name in ("NodeData", "ElementNodeData"):
            file.lost.append(section.name)
    if not any(s.name == "Nodes" for s in found) or not any(s.name == "Elements" for s in found):
        raise FormatError(path, "has no $Nodes or no $Elements")
    try:
        return _mesh(path, file)
    except FormatError:
        raise
    except CopartError as error:
        raise FormatError(path, str(error)) from None


def _physical_names(section: Section, names: dict[tuple[int, int], str]) -> None:
    """Names of physical groups by dimension and number."""
    lines = [line for line in section.data.decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines or not lines[0].strip().isdecimal() or int(lines[0]) != len(lines) - 1:
        announced = lines[0].strip()[:20] if lines else "no number of"
        section.fail(f"{announced} names announced, {max(len(lines) - 1, 0)} found")
    for i, line in enumerate(lines[1:], start=1):
        found = re.fullmatch(r'\s*(\d)\s+(\d{1,9})\s+"(.*)"\s*', line)
        if found is None:
            raise FormatError(section.path, f"$PhysicalNames: expected dimension, number and \"name\", "
                                            f"found {line.strip()[:40]!r}", section.line + 1 + i)
        names[int(found[1]), int(found[2])] = found[3]


def _element_data(section: Section, form: Form, file: _File) -> None:
    """Values on elements: strings, reals and whole numbers that say what they are, then element and values."""
    lines = section.data.split(b"\n", 40)
    at, tags = 0, []
    for _ in range(3):
        ntags = lines[at].strip() if at < len(lines) else b""
        if not ntags.isdigit() or int(ntags) > 10 or at + 1 + int(ntags) >= len(lines):
            section.fail("expected the number of tags and the tags")
        tags.append([line.strip() for line in lines[at + 1:at + 1 + int(ntags)]])
        at += 1 + int(ntags)
    if len(tags[2]) < 3 or not all(t.isdigit() for t in tags[2]):
        section.fail("needs step, components and number of elements")
    width, count = int(tags[2][1]), int(tags[2][2])
    start = sum(len(line) + 1 for line in lines[:at])
    step = 4 + 8 * width if form.binary else 2 * (1 + width)
    if width < 1 or count > (len(section.data) - start + 1) // step:
        section.fail(f"{count} elements announced, more than the section holds")
    if form.binary:
        raw = np.frombuffer(section.data, np.dtype([("n", f"{form.order}i4"), ("v", f"{form.order}f8", (width,))]),
                            count, start)
        numbers, values = raw["n"].astype(np.int64), raw["v"].astype(np.float64)
    else:
        table = Cursor(section, form, start).doubles(count * (1 + width)).reshape(count, 1 + width)
        numbers, values = table[:, 0].astype(np.int64), table[:, 1:]
    name = tags[0][0].decode("utf-8", "replace").strip('"') if tags[0] else "data"
    file.data.append((name, numbers, values[:, 0] if width == 1 else values))


def _mesh(path: Path, file: _File) -> Mesh:
    """Nodes by number, physical groups by name."""
    order = np.argsort(file.node_numbers, kind="stable")
    known = file.node_numbers[order]
    if len(known) == 0:
        raise FormatError(path, "$Nodes: no nodes")
    if (known[1:] == known[:-1]).any():
        raise FormatError(path, f"$Nodes: node {int(known[1:][known[1:] == known[:-1]][0])} is given twice")
    blocks: list[Block] = []
    sets: list[tuple[str, Members]] = []
    from ..cells import shape_of

    for i, run in enumerate(file.elements):
        place = np.minimum(np.searchsorted(known, run.nodes), len(known) - 1)
        bad = known[place] != run.nodes
        if bad.any():
            row = int(np.argmax(bad.any(axis=1)))
            raise FormatError(path, f"$Elements: element {int(run.numbers[row])} has node "
                                    f"{int(run.nodes[row][bad[row]][0])}, which is not defined")
        nodes = order[place]
        blocks.append((run.kind, nodes[:, _ORDER[run.kind]] if run.kind in _ORDER else nodes))
        dimension = shape_of(run.kind, nodes.shape[1]).dimension
        for number, mine in run.physical:
            label = file.names.get((dimension, number), str(number))
            sets.append((label, {i: np.arange(len(nodes)) if mine is None else mine}))
    runs = file.elements
    sizes = [len(r.numbers) for r in runs]
    whole: dict[str, NDArray[np.int64]] = {}
    for name, values in ((PHYSICAL, [r.first for r in runs]), (GEOMETRICAL, [r.geometrical for r in runs])):
        parts = [np.broadcast_to(np.asarray(v, np.int64), (n,)) for v, n in zip(values, sizes, strict=True)]
        if any(p.any() for p in parts):
            whole[name] = np.concatenate(parts)
    remarks = [f"arrays on points are left out: {', '.join(file.lost)}"] if file.lost else []
    mesh = assembled(file.points, blocks, path.stem, sets, cell_data=whole, remarks=remarks)
    if not file.data:
        return mesh
    tops = [np.asarray(r.numbers) for r in runs if len(r.numbers)
            and shape_of(r.kind, r.nodes.shape[1]).dimension == mesh.dimension]
    return _with_data(mesh, np.concatenate(tops), file)


def _with_data(mesh: Mesh, numbers: Ints, file: _File) -> Mesh:
    """The mesh with the arrays that have a value for each cell."""
    data, remarks = dict(mesh.cell_data), list(mesh.remarks)
    for name, given, values in file.data:
        order = np.argsort(given, kind="stable")
        place = np.minimum(np.searchsorted(given[order], numbers), max(len(given) - 1, 0))
        if len(given) == 0 or (given[order][place] != numbers).any():
            remarks.append(f"the array {name} is left out: it does not cover all cells")
            continue
        data[name] = values[order][place]
    return mesh.replace(cell_data=data, remarks=remarks)
