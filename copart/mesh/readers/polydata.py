"""Surfaces of VTK in XML (``.vtp``), written anew as the unstructured grids (``.vtu``) that meshio reads."""

from __future__ import annotations

import re
from pathlib import Path

from ...errors import FormatError

_COUNT = rb'NumberOf(Points|Verts|Lines|Strips|Polys)\s*=\s*"\s*(\d+)\s*"'
_POLYGON = b"7 "
_MOST_PER_BYTE = 10
"""Polygons for each byte of a file at most."""


def as_grid(path: Path, folder: Path) -> Path:
    """The file to read instead of a surface: a copy in `folder` whose polygons are the cells of a grid.

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
    # empty; where data are appended as bytes, meshio looks for the tag of each array: they become field data
    spare, raw = [], re.search(rb'<AppendedData\s+encoding="raw"', body) is not None
    for name in (b"Verts", b"Lines", b"Strips"):
        found = re.search(rb"<%b\s*(?:/>|>(.*?)</%b\s*>)" % (name, name), body, re.DOTALL)
        if found is not None:
            spare += [found[1] or b""] if raw else []
            body = body[:found.start()] + body[found.end():]
    types = b'<DataArray type="UInt8" Name="types" format="ascii">' + _POLYGON * polygons + b"</DataArray>"
    body = re.sub(rb"<Polys\s*>", b"<Cells>", body, count=1)
    body = re.sub(rb"</Polys\s*>", lambda _: types + b"</Cells>", body, count=1)
    head = head.replace(b'type="PolyData"', b'type="UnstructuredGrid"').replace(b"<PolyData", b"<UnstructuredGrid")
    body = body.replace(b"</PolyData", b"</UnstructuredGrid", 1)
    copy = folder / f"{path.stem}.vtu"
    copy.write_bytes(b'%b<FieldData>%b</FieldData><Piece NumberOfPoints="%d" NumberOfCells="%d">%b'
                     % (head, b"".join(spare), count.get(b"Points", 0), polygons, body))
    return copy


__all__ = ["as_grid"]
