"""Surfaces of VTK in XML (``.vtp``), written anew as unstructured grids (``.vtu``)."""

from __future__ import annotations

import re
from pathlib import Path

from ...errors import FormatError

_COUNT = rb'NumberOf(Points|Verts|Lines|Strips|Polys)\s*=\s*"\s*(\d+)\s*"'
_POLYGON = b"7 "
_MOST_PER_BYTE = 10
"""Polygons for each byte of a file at most."""


def as_grid(path: Path) -> bytes:
    """What to read instead of a surface: a copy of the file whose polygons are the cells of a grid.

    Raises
    ------
    FormatError
        It is no such surface, or has cells other than polygons.
    """
    data = path.read_bytes()
    piece = re.search(rb"<Piece\b[^>]*>", data)
    if piece is None or b"<PolyData" not in data[:piece.start()]:
        raise FormatError(path, "holds no piece of PolyData")
    head, body = data[:piece.start()], data[piece.end():]
    if re.search(rb"<Piece\b", body):
        raise FormatError(path, "has several pieces; save it as .vtu, as with ParaView")
    count = {key: int(number[:18]) for key, number in re.findall(_COUNT, piece[0])}
    other = [key.decode() for key in (b"Verts", b"Lines", b"Strips") if count.get(key, 0)]
    polygons = count.get(b"Polys", 0)
    if other or not polygons:
        raise FormatError(path, f"has {', '.join(other) or 'no polygons'}; of surfaces polygons alone are read")
    if polygons > _MOST_PER_BYTE * len(data):
        raise FormatError(path, f"announces {polygons} polygons, more than the file can hold")
    types = b'<DataArray type="UInt8" Name="types" format="ascii">' + _POLYGON * polygons + b"</DataArray>"
    body = re.sub(rb"<Polys\s*>", b"<Cells>", body, count=1)
    body = re.sub(rb"</Polys\s*>", lambda _: types + b"</Cells>", body, count=1)
    head = head.replace(b'type="PolyData"', b'type="UnstructuredGrid"').replace(b"<PolyData", b"<UnstructuredGrid")
    body = body.replace(b"</PolyData", b"</UnstructuredGrid", 1)
    return b'%b<Piece NumberOfPoints="%d" NumberOfCells="%d">%b' % (head, count.get(b"Points", 0), polygons, body)


__all__ = ["as_grid"]
