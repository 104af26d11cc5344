"""Interedges as Matrix Market files: one line per pair of cells, cells of A by cells of B, counted from 1."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from ..coupling import Interedges
from ..errors import CouplingError, FormatError
from .output import write_text_atomic
from .text import PathLike, read_bytes

_BANNER = "%%MatrixMarket matrix coordinate real general"
_EMPTY = 10_000_000
"""Cells of a component that may be without interedges in any case."""


def write_interedges(path: PathLike, interedges: Interedges) -> None:
    """Write interedges with their weights.

    Raises
    ------
    FormatError
        The file cannot be written.
    """
    u, v, w = interedges.pairs()
    lines = [_BANNER, f"{interedges.shape[0]} {interedges.shape[1]} {len(interedges)}"]
    lines += [f"{a} {b} {x!r}" for a, b, x in zip((u + 1).tolist(), (v + 1).tolist(), w.tolist(), strict=True)]
    write_text_atomic(Path(path), "\n".join(lines) + "\n")


def read_interedges(path: PathLike) -> Interedges:
    """Read what :func:`write_interedges` writes.

    Raises
    ------
    FormatError
        The file is missing, ill-formed, or breaks a rule of interedges; with the line.
    """
    lines = read_bytes(path).decode("ascii", "replace").splitlines()
    if not lines or lines[0].split() != _BANNER.split():
        raise FormatError(path, f"needs a first line {_BANNER!r}", 1)
    first = next((i for i, line in enumerate(lines) if i and line.strip() and not line.startswith("%")), None)
    if first is None:
        raise FormatError(path, "ends before the line with rows, columns and entries", len(lines))
    try:
        na, nb, count = (int(word) for word in lines[first].split())
    except ValueError:
        raise FormatError(path, "needs three whole numbers (rows, columns, entries)", first + 1) from None
    body = [line for line in lines[first + 1:] if line.strip()]
    if min(na, nb, count) < 0 or max(na, nb) >= 2**31 or len(body) != count:
        raise FormatError(path, f"announces {na} x {nb} with {count} entries, {len(body)} follow", first + 1)
    size = sum(map(len, lines))
    if max(na, nb) > _EMPTY + 100 * size:
        # most cells are not coupled, but hardly so many; there is memory for each of them
        raise FormatError(path, f"{na} x {nb} cells do not fit a file of {size} bytes", first + 1)
    try:
        table = np.loadtxt(io.StringIO("\n".join(body)), ndmin=2).reshape(count, 3) if count else np.zeros((0, 3))
    except ValueError as error:
        raise FormatError(path, f"needs two cells and a weight per line: {str(error).lower()}") from None
    try:
        return Interedges.from_pairs(na, nb, table[:, 0] - 1, table[:, 1] - 1, table[:, 2])
    except CouplingError as error:
        raise FormatError(path, str(error)) from None


__all__ = ["read_interedges", "write_interedges"]
