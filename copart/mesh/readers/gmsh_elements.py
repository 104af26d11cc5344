"""Nodes, entities and elements of gmsh files of either version."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..polyhedra import Ints, spans
from .gmsh_sections import Cursor, Form, Section
from .numbers import NotANumberError, numbers, rows_of

Physical = list[tuple[int, Ints | None]]
Run = tuple[str, Ints, Ints, Physical, Ints | int, Ints | int]
"""Type, numbers, (n, k) node numbers, physical groups, first physical group and geometrical entity."""

# number of nodes is the number in the name, where there is one
_TYPES = {1: "line", 2: "triangle", 3: "quad", 4: "tetra", 5: "hexahedron", 6: "wedge", 7: "pyramid", 8: "line3",
          9: "triangle6", 10: "quad9", 11: "tetra10", 12: "hexahedron27", 13: "wedge18", 14: "pyramid14", 15: "vertex",
          16: "quad8", 17: "hexahedron20", 18: "wedge15", 19: "pyramid13", 21: "triangle10", 23: "triangle15",
          26: "line4", 27: "line5", 28: "line6", 29: "tetra20", 30: "tetra35", 31: "tetra56", 36: "quad16",
          37: "quad25", 38: "quad36", 90: "wedge40", 91: "wedge75", 92: "hexahedron64", 93: "hexahedron125"}
_LINEAR = {"vertex": 1, "line": 2, "triangle": 3, "quad": 4, "tetra": 4, "pyramid": 5, "wedge": 6, "hexahedron": 8}


def nodes_of(code: int) -> tuple[str, int] | None:
    """meshio's name and the number of nodes of a gmsh element type."""
    kind = _TYPES.get(code)
    if kind is None:
        return None
    digits = re.sub(r"^[a-z]+", "", kind)
    return kind, int(digits) if digits else _LINEAR[kind]


# ---- version 2
def _counted(section: Section) -> tuple[int, int]:
    """The number in the first line of a section, and where the next line begins."""
    head, _, _ = section.data.partition(b"\n")
    if not head.strip().isdigit() or len(head) > 20:
        section.fail(f"expected how many there are, found {head[:20].decode('latin-1').strip()!r}")
    return int(head), len(head) + 1


def nodes_2(section: Section, form: Form) -> tuple[Ints, NDArray[np.float64]]:
    """Numbers and (n, 3) coordinates."""
    count, start = _counted(section)
    if form.binary:
        if count > (len(section.data) - start) // 28:
            section.fail(f"{count} nodes announced, {(len(section.data) - start) // 28} fit")
        kind = np.dtype([("number", f"{form.order}i4"), ("x", f"{form.order}f8", (3,))])
        raw = np.frombuffer(section.data, kind, count, start)
        return raw["number"].astype(np.int64), raw["x"].astype(np.float64)
    if count > rows_of(section.data, 4):
        section.fail(f"{count} nodes announced, more than the section holds")
    cursor = Cursor(section, form, start)
    if cursor.end != 4 * count:
        section.fail(f"{count} nodes announced, {cursor.end // 4} found")
    table = cursor.flat.reshape(-1, 4)
    cursor.flat = np.ascontiguousarray(table[:, 0])
    return cursor.ints(count), table[:, 1:]


def elements_2(section: Section, form: Form) -> list[Run]:
    """Runs of elements of one type, in the order of the file."""
    count, start = _counted(section)
    if form.binary:
        return _binary_2(section, form, count, start)
    try:
        flat = numbers(section.data[start:], np.int64)
    except NotANumberError as error:
        section.fail(f"not a whole number: {error.word!r}", start + error.at)
    values, at = flat.tolist(), 0
    first, codes, ntags = [], [], []
    while at + 2 < len(values):
        known = nodes_of(values[at + 1])
        if known is None:
            section.fail(f"element {values[at]} is of the unknown type {values[at + 1]}")
        if not 0 <= values[at + 2] <= len(values):
            section.fail(f"element {values[at]} cannot have {values[at + 2]} tags")
        first.append(at)
        codes.append(values[at + 1])
        ntags.append(values[at + 2])
        at += 3 + values[at + 2] + known[1]
    if at != len(values) or len(first) != count:
        section.fail(f"{count} elements announced, {len(first)} found" if len(first) != count
                     else f"the last element lacks {at - len(values)} numbers")
    begin, code, tags = np.array(first, np.int64), np.array(codes, np.int64), np.array(ntags, np.int64)
    out: list[Run] = []
    change = [0, *(np.flatnonzero(np.diff(code)) + 1).tolist(), count] if count else [0]
    for low, high in pairwise(change):
        kind, nnodes = nodes_of(int(code[low])) or ("", 0)
        rows, ahead = begin[low:high], tags[low:high]
        nodes = flat[spans(rows + 3 + ahead, np.full(len(rows), nnodes))].reshape(-1, nnodes)
        # a tag that is not there counts as 0, as gmsh says
        physical, entity = (np.where(ahead > i, flat[np.minimum(rows + 3 + i, len(flat) - 1)], 0) for i in (0, 1))
        out.append(_run_2(kind, flat[rows], nodes, physical, entity))
    return out


def _binary_2(section: Section, form: Form, count: int, start: int) -> list[Run]:
    """Binary elements: a head for some of one type, then their numbers."""
    raw = np.frombuffer(section.data, np.dtype(f"{form.order}i4"), (len(section.data) - start) // 4, start)
    out: list[Run] = []
    pending: list[Run] = []
    at = done = 0
    while done < count:
        if at + 3 > len(raw):
            section.fail(f"{count} elements announced, {done} found")
        code, some, ntags = (int(x) for x in raw[at:at + 3])
        known = nodes_of(code)
        if known is None or some < 1 or ntags < 0:
            section.fail(f"after {done} elements: {some} of the type {code} with {ntags} tags are not possible")
        width = 1 + ntags + known[1]
        if some * width > len(raw) - at - 3:
            section.fail(f"{some} elements announced, {(len(raw) - at - 3) // width} found")
        table = raw[at + 3:at + 3 + some * width].reshape(some, width).astype(np.int64)
        tag = [table[:, 1 + i] if ntags > i else np.zeros(some, np.int64) for i in (0, 1)]
        run = _run_2(known[0], table[:, 0], table[:, 1 + ntags:], tag[0], tag[1])
        if out and out[-1][0] == run[0]:  # gmsh writes each element with a head of its own
            pending.append(run)
        else:
            if out:
                out[-1] = _together(pending)
            pending = [run]
            out.append(run)
        at, done = at + 3 + some * width, done + some
    if out:
        out[-1] = _together(pending)
    return out


def _together(runs: list[Run]) -> Run:
    """Runs of one type as one."""
    if len(runs) == 1:
        return runs[0]
    numbers_, nodes, physical, entity = (np.concatenate([np.asarray(r[i]) for r in runs]) for i in (1, 2, 4, 5))
    return _run_2(runs[0][0], numbers_, nodes, physical, entity)


def _run_2(kind: str, number: Ints, nodes: Ints, physical: Ints, entity: Ints) -> Run:
    """One run, its physical groups told apart.  An element has a row for each of its groups, and is one."""
    kept, element = _rows_once(nodes, physical, entity)
    groups: Physical = [(int(p), np.unique(element[physical == p])) for p in np.unique(physical) if p > 0]
    return kind, number[kept], nodes[kept], groups, physical[kept], entity[kept]


def _rows_once(nodes: Ints, physical: Ints, entity: Ints) -> tuple[Ints, Ints]:
    """The first row of each element, ascending, and which of these each row is.

    Rows of other groups with the same nodes in the same order, and of the same entity, are of one element.
    """
    every = np.arange(len(nodes))
    if len(nodes) == 0 or physical.min() == physical.max():
        return every, every
    key = entity.astype(np.uint64)
    for column in nodes.T:
        key = key * np.uint64(6364136223846793005) + column.astype(np.uint64)
    order = np.argsort(key, kind="stable")
    one, other = order[:-1], order[1:]
    alike = key[one] == key[other]
    one, other = one[alike], other[alike]
    alike[alike] = (nodes[one] == nodes[other]).all(axis=1) & (entity[one] == entity[other]) & \
        (physical[one] != physical[other])
    begins = np.append(True, ~alike)
    kept, element = np.sort(order[begins]), np.empty(len(nodes), np.int64)
    element[order] = np.searchsorted(kept, order[begins])[np.cumsum(begins) - 1]
    return kept, element


# ---- version 4
def entities(cursor: Cursor, partitioned: bool, boxes: bool = False) -> dict[tuple[int, int], Ints]:
    """Physical groups of each entity, by dimension and tag; in version 4.0 (`boxes`) points have two corners, too."""
    out: dict[tuple[int, int], Ints] = {}
    if partitioned:
        cursor.sizes(1)
        ghosts = int(cursor.sizes(1)[0])
        cursor.ints(2 * ghosts)
    counts = cursor.sizes(4).tolist()
    for dimension, count in enumerate(counts):
        for _ in range(count):
            tag = int(cursor.ints(1)[0])
            if partitioned:
                cursor.ints(2)
                cursor.ints(int(cursor.sizes(1)[0]))
            cursor.doubles(3 if dimension == 0 and not boxes else 6)
            # the sign of a group is a direction
            out[dimension, tag] = np.abs(cursor.ints(int(cursor.sizes(1)[0])))
            if dimension > 0:
                cursor.ints(int(cursor.sizes(1)[0]))
    return out


def nodes_4(cursor: Cursor, rows: bool = False) -> tuple[Ints, NDArray[np.float64]]:
    """Numbers and (n, 3) coordinates; in version 4.0 (`rows`, texts only) each node has its number in its line."""
    nblocks, total = cursor.sizes(2 if rows else 4)[:2].tolist()
    found: list[Ints] = [np.zeros(0, np.int64)]
    points = [np.zeros((0, 3))]
    for _ in range(nblocks):
        dimension, tag, parametric = cursor.ints(3).tolist()
        dimension = tag if rows else dimension
        count = int(cursor.sizes(1)[0])
        if not 0 <= dimension <= 3 or parametric not in (0, 1):
            cursor.section.fail(f"an entity cannot have dimension {dimension} and parametric {parametric}")
        width = 3 + dimension * parametric
        if rows:
            table = cursor.doubles(count * (1 + width)).reshape(count, 1 + width)
            found.append(cursor.whole(table[:, 0]))
            points.append(table[:, 1:4])
            continue
        found.append(cursor.sizes(count))
        points.append(cursor.doubles(count * width).reshape(count, width)[:, :3])
    numbers_ = np.concatenate(found)
    if len(numbers_) != total:
        cursor.section.fail(f"{total} nodes announced, {len(numbers_)} found")
    return numbers_, np.concatenate(points)


def elements_4(cursor: Cursor, physical: dict[tuple[int, int], Ints], turned: bool = False) -> list[Run]:
    """Runs of elements of one type and entity; in version 4.0 (`turned`) the tag of the entity comes first."""
    nblocks, total = cursor.sizes(2 if turned else 4)[:2].tolist()
    out: list[Run] = []
    done = 0
    for _ in range(nblocks):
        dimension, entity, code = cursor.ints(3).tolist()
        dimension, entity = (entity, dimension) if turned else (dimension, entity)
        count = int(cursor.sizes(1)[0])
        known = nodes_of(code)
        if known is None:
            cursor.section.fail(f"elements of the unknown type {code}")
        table = cursor.sizes(count * (1 + known[1])).reshape(count, 1 + known[1])
        groups = np.unique(physical.get((dimension, entity), np.zeros(0, np.int64))).tolist()
        first = physical.get((dimension, entity), np.zeros(1, np.int64))
        out.append((known[0], table[:, 0], table[:, 1:], [(int(g), None) for g in groups],
                    int(first[0]) if len(first) else 0, entity))
        done += count
    if done != total:
        cursor.section.fail(f"{total} elements announced, {done} found")
    return out
