"""Small readers of the files that copart writes, from the formats' documents, with nothing of copart."""

from __future__ import annotations

import base64
import re
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

_NUMBERS = {"Int8": "i1", "UInt8": "u1", "Int16": "<i2", "UInt16": "<u2", "Int32": "<i4", "UInt32": "<u4",
            "Int64": "<i8", "UInt64": "<u8", "Float32": "<f4", "Float64": "<f8"}


# ---- VTK
def vtk_array(element: ElementTree.Element) -> np.ndarray:
    """A DataArray in zlib blocks: a header of 64-bit numbers, then the blocks, each part in base64 by itself."""
    text = (element.text or "").strip()
    count = int(np.frombuffer(base64.b64decode(text[:12])[:8], "<u8")[0])
    head_size = -(-(3 + count) * 8 // 3) * 4
    head = np.frombuffer(base64.b64decode(text[:head_size]), "<u8")
    packed = base64.b64decode(text[head_size:])
    at, data = 0, b""
    for i, size in enumerate(head[3:].tolist()):
        block = zlib.decompress(packed[at:at + size])
        assert len(block) == (head[1] if i + 1 < count or head[2] == 0 else head[2])
        data += block
        at += size
    assert at == len(packed)
    values = np.frombuffer(data, _NUMBERS[element.attrib["type"]])
    width = element.attrib.get("NumberOfComponents")
    return values if width is None else values.reshape(-1, int(width))


def read_vtu(path: Path) -> dict[str, Any]:
    """Points, cells (type, nodes), arrays and the attributes of the file."""
    root = ElementTree.parse(path).getroot()
    assert root.attrib["type"] == "UnstructuredGrid"
    assert root.attrib["byte_order"] == "LittleEndian"
    assert root.attrib["header_type"] == "UInt64"
    piece = root.find("UnstructuredGrid/Piece")
    assert piece is not None
    found: dict[str, Any] = {"ids": {}}
    for tag in ("PointData", "CellData"):
        part = piece.find(tag)
        found[tag] = {e.attrib["Name"]: vtk_array(e) for e in part}
        found["ids"][tag] = part.attrib.get("GlobalIds")
    found["FieldData"] = {e.attrib["Name"]: vtk_array(e) for e in root.findall("UnstructuredGrid/FieldData/DataArray")}
    found["points"] = vtk_array(piece.find("Points/DataArray"))
    cells = {e.attrib["Name"]: vtk_array(e) for e in piece.find("Cells")}
    ends = cells["offsets"].tolist()
    found["cells"] = [(int(t), cells["connectivity"][a:b].tolist())
                      for t, a, b in zip(cells["types"], [0, *ends], ends, strict=False)]
    if "faces" in cells:
        found["faces"] = _faces(cells["faces"].tolist(), cells["faceoffsets"].tolist())
    assert len(found["points"]) == int(piece.attrib["NumberOfPoints"])
    assert len(found["cells"]) == len(ends) == int(piece.attrib["NumberOfCells"])
    return found


def _faces(stream: list[int], ends: list[int]) -> list[list[list[int]]]:
    """The faces of each polyhedron from VTK's stream; none for other cells."""
    out, at = [], 0
    for end in ends:
        faces: list[list[int]] = []
        if end >= 0:
            count, at = stream[at], at + 1
            for _ in range(count):
                size = stream[at]
                faces.append(stream[at + 1:at + 1 + size])
                at += size + 1
            assert at == end
        out.append(faces)
    assert at == len(stream)
    return out


def read_pvtu(path: Path) -> tuple[list[dict[str, Any]], dict[str, dict[str, str]]]:
    """All pieces, and type by name of the arrays that the file promises on points and cells."""
    grid = ElementTree.parse(path).getroot().find("PUnstructuredGrid")
    assert grid is not None
    told = {tag: {e.attrib["Name"]: e.attrib["type"] for e in grid.find(f"P{tag}")}
            for tag in ("PointData", "CellData")}
    return [read_vtu(path.parent / e.attrib["Source"]) for e in grid.findall("Piece")], told


# ---- OpenFOAM
def read_foam(path: Path) -> tuple[dict[str, str], Any]:
    """Header entries, and the content: a list of whole numbers, or a dictionary."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(encoding="ascii"), flags=re.S)
    tokens = re.findall(r'"[^"]*"|[{}();]|[^\s{}();"]+', text)
    assert tokens[:2] == ["FoamFile", "{"]
    header, at = _dictionary(tokens, 2)
    if header["class"] == "labelList":
        count = int(tokens[at])
        assert tokens[at + 1] == "("
        assert tokens[-1] == ")"
        values = [int(t) for t in tokens[at + 2:-1]]
        assert len(values) == count
        return header, values
    return header, _dictionary(tokens, at)[0]


def _dictionary(tokens: list[str], at: int) -> tuple[dict[str, Any], int]:
    """Entries ``key value;`` and ``key { ... }`` up to the closing brace or the end."""
    out: dict[str, Any] = {}
    while at < len(tokens) and tokens[at] != "}":
        key = tokens[at]
        if tokens[at + 1] == "{":
            out[key], at = _dictionary(tokens, at + 2)
        else:
            end = tokens.index(";", at)
            assert end == at + 2, f"entry {key} has no single value"
            out[key] = tokens[at + 1].strip('"')
            at = end + 1
    return out, at + 1


# ---- gmsh
def read_msh2(path: Path) -> dict[str, Any]:
    """Names, nodes and elements (type, tags, nodes) of a gmsh file of format 2.2."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found: dict[str, Any] = {"names": {}}
    at = 0
    while at < len(lines):
        section = lines[at][1:]
        end = lines.index(f"$End{section}", at)
        body = lines[at + 1:end]
        if section == "MeshFormat":
            assert body == ["2.2 0 8"]
        else:
            assert int(body[0]) == len(body) - 1
        if section == "PhysicalNames":
            for line in body[1:]:
                dimension, number, name = line.split(" ", 2)
                found["names"][int(dimension), int(number)] = name.strip('"')
        elif section == "Nodes":
            rows = [line.split() for line in body[1:]]
            assert [int(r[0]) for r in rows] == list(range(1, len(rows) + 1))
            found["nodes"] = np.array([[float(x) for x in r[1:]] for r in rows])
        elif section == "Elements":
            rows = [[int(x) for x in line.split()] for line in body[1:]]
            assert [r[0] for r in rows] == list(range(1, len(rows) + 1))
            found["elements"] = [(r[1], r[3:3 + r[2]], r[3 + r[2]:]) for r in rows]
        at = end + 1
    return found
