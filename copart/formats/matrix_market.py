"""Matrix Market files: a symmetric sparse matrix as a graph, any sparse matrix as a hypergraph."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np

from ..errors import FormatError, GraphError
from ..graph import Graph
from ..hypergraph import Hypergraph
from .text import PathLike, read_bytes


def read_matrix_market(path: PathLike) -> Graph:
    """Read a Matrix Market coordinate file (``.mtx``, ``.mm``, also with ``.gz``) as a graph.

    The values of an ``integer`` matrix are the edge weights; of a ``real``,
    ``complex`` or ``pattern`` matrix only the structure counts, every edge
    weighs 1.  The diagonal is dropped.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    FormatError
        The file is ill-formed, or its matrix is not square and symmetric.
    """
    from scipy.sparse import coo_array

    m, weighted = _matrix(path, square=True)
    if not weighted:
        keep = m.row != m.col
        m = coo_array((np.ones(int(keep.sum()), np.int64), (m.row[keep], m.col[keep])), shape=m.shape).tocsr()
        m.sum_duplicates()
        m.data[:] = 1
    try:
        return Graph.from_scipy(m)
    except GraphError as e:
        raise FormatError(path, f"the matrix is no undirected graph: {e}") from None


def read_matrix_hypergraph(path: PathLike, model: str = "column-net") -> Hypergraph:
    """Read the structure of a Matrix Market coordinate file (``.mtx``, ``.mm``, also with ``.gz``) as a hypergraph.

    Parameters
    ----------
    path : path-like
    model : str
        ``"column-net"``, ``"row-net"`` or ``"fine-grain"``, see :meth:`copart.hypergraph.Hypergraph.from_scipy`.

    Raises
    ------
    FormatError
        The file is ill-formed, or a row or column that should be a net has no entry.
    """
    matrix, _ = _matrix(path, square=False)
    try:
        return Hypergraph.from_scipy(matrix, model)
    except GraphError as e:
        raise FormatError(path, f"the matrix is no {model} hypergraph: {e}") from None


def _matrix(path: PathLike, square: bool) -> tuple[Any, bool]:
    """The matrix in coordinate form, and whether its values are weights."""
    from scipy.io import mmread
    from scipy.sparse import coo_array

    data = read_bytes(path)
    weighted = check_header(path, data, square)
    try:
        # the last line needs its end, too
        matrix = mmread(io.BytesIO(data + b"\n"))
    except (ValueError, OverflowError, TypeError, KeyError) as e:
        said = re.match(r"\s*line (\d+):\s*(.*)", str(e), re.IGNORECASE | re.DOTALL)
        line, rule = (int(said[1]), said[2]) if said else (None, str(e))
        raise FormatError(path, rule.strip().lower() or "is no Matrix Market file", line) from None
    return coo_array(matrix), weighted


def check_header(path: PathLike, data: bytes, square: bool = True) -> bool:
    """Check banner and sizes before anything is allocated by them; True where the values are weights."""
    control = re.search(rb"[\0-\x08\x0e-\x1f]", data)
    if control:
        # scipy's reader looks for the end of a line up to such a byte, and crashes
        raise FormatError(path, f"is no text, has the byte {control[0][0]}", data.count(b"\n", 0, control.start()) + 1)
    stream = io.BytesIO(data)
    banner = stream.readline(1024).decode("ascii", "replace").lower().split()
    if len(banner) != 5 or banner[0] != "%%matrixmarket" or banner[1] != "matrix":
        raise FormatError(path, "needs a first line '%%MatrixMarket matrix coordinate FIELD SYMMETRY'", 1)
    if banner[2] != "coordinate":
        raise FormatError(path, f"holds a matrix in {banner[2]} form, a graph needs coordinate form", 1)
    for number, raw in enumerate(stream, start=2):
        text = raw.decode("ascii", "replace").strip()
        if not text or text.startswith("%"):
            continue
        try:
            rows, columns, entries = (int(word) for word in text.split())
        except ValueError:
            raise FormatError(path, f"needs three whole numbers (rows, columns, entries), found {text[:40]!r}",
                              number) from None
        if square and rows != columns:
            raise FormatError(path, f"a graph needs a square matrix, this one is {rows} x {columns}", number)
        # an entry takes at least four bytes; a row may be empty, but hardly a hundred for every byte
        most = max(rows, columns)
        if min(rows, columns, entries) < 0 or entries > len(data) // 4 or most > 100 * len(data):
            raise FormatError(path, f"{most} rows and {entries} entries do not fit a file of {len(data)} bytes", number)
        return banner[3] in ("integer", "unsigned-integer")
    raise FormatError(path, "ends before the line with rows, columns and entries", 1)
