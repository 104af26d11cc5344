"""pymetis' face on copart's partitioner: try it by changing one import.

``from copart import metis as pymetis`` leaves ``pymetis.part_graph(...)`` as it
was.  The graph, the arguments and the named tuple that comes back are those of
pymetis 2025.2; the partition is copart's.  What differs is told under
"Coming from METIS" in the documentation.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import OFFSET, VERTEX, integers, whole
from .errors import ConfigError, GraphError
from .graph import Graph
from .kgggp_ml import partition
from .metrics import edge_cut
from .options import Loose
from .partitioner.multiconstraint import partition_multiconstraint

_UNSET = -1


class GraphPartition(NamedTuple):
    """What :func:`part_graph` returns.

    Attributes
    ----------
    edge_cuts : int
        Weight of the edges between different parts, each counted once.
    vertex_part : sequence of int
        Part of every vertex, an ``array('q')``; ``numpy.asarray`` takes it without a copy.
    """

    edge_cuts: int
    vertex_part: Sequence[int]


@dataclass(frozen=True)
class CSRAdjacency:
    """A graph in compressed rows: the neighbours of vertex i are ``adjacent[adj_starts[i]:adj_starts[i + 1]]``."""

    adj_starts: ArrayLike
    adjacent: ArrayLike


class Options:
    """METIS' options by their METIS names; unset ones are -1.

    Those with a meaning here are ``seed``, ``ufactor`` (imbalance allowed, in thousandths), ``contig`` and
    ``numbering`` (0 only).  The others tune METIS' own stages; they are kept and have no effect.
    """

    NAMES = ("ncuts", "nseps", "numbering", "niter", "minconn", "no2hop", "seed", "contig", "compress", "ccorder",
             "pfactor", "ufactor")

    def __init__(self, **values: int):
        for name in self.NAMES:
            setattr(self, name, _UNSET)
        for name, value in values.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: int) -> None:
        if name not in self.NAMES:
            raise ConfigError(f"options: {name!r} is not known; choose from {', '.join(self.NAMES)}")
        if not isinstance(value, int):
            raise TypeError(f"options: {name} takes an integer, got {value!r}")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        given = ", ".join(f"{n}={getattr(self, n)}" for n in self.NAMES if getattr(self, n) != _UNSET)
        return f"Options({given})"


def part_graph(nparts: int, adjacency: Any = None, xadj: ArrayLike | None = None, adjncy: ArrayLike | None = None, *,
               vweights: ArrayLike | None = None, eweights: ArrayLike | None = None,
               tpwgts: Sequence[float] | None = None, recursive: bool | None = None, contiguous: bool | None = None,
               options: Any = None, warn_on_copies: bool = False) -> GraphPartition:
    """Partition a graph, called as ``pymetis.part_graph``.

    Parameters
    ----------
    nparts : int
        Number of parts.  More parts than vertices are accepted, as METIS does; some are empty then.
    adjacency : sequence of sequences of int, or CSRAdjacency, optional
        ``adjacency[i]`` lists the neighbours of vertex i, counted from 0; every edge at both its ends.
    xadj, adjncy : array_like of int, optional
        The same in compressed rows, instead of `adjacency`.
    vweights : (nvtxs,) or (nvtxs, ncon) array_like of int, optional
        Vertex weights; of several per vertex, each is balanced.
    eweights : (2 * nedges,) array_like of int, optional
        Weight of each entry of `adjncy`, equal in both directions.
    tpwgts : (nparts,) sequence of float, optional
        Share of the weight for each part; scaled to a sum of 1.
    recursive : bool, optional
        Chooses METIS' default imbalance only: 0.1 % where true, 3 % where false; by default true up to 8 parts.
        The method is the same.
    contiguous : bool, optional
        Every part in one piece, or as few pieces as the graph's own allow.
    options : Options or pymetis.Options, optional
    warn_on_copies : bool
        Accepted and ignored.

    Returns
    -------
    GraphPartition
        Named tuple ``(edge_cuts, vertex_part)``.

    Raises
    ------
    TypeError
        Both or neither of `adjacency` and `xadj`, `adjncy` are given.
    GraphError, ConfigError
        The graph or an argument breaks a rule.

    Examples
    --------
    >>> cut, part = part_graph(2, adjacency=[[1], [0, 2], [1, 3], [2]])
    >>> cut, part[0] == part[1] != part[2] == part[3]
    (1, True)
    """
    k = whole("nparts", nparts, low=1)
    graph = _graph(adjacency, xadj, adjncy, vweights, eweights)
    known = Options() if options is None else options
    in_one_piece = bool(contiguous) or int(getattr(known, "contig", _UNSET)) > 0
    if int(getattr(known, "numbering", _UNSET)) not in (_UNSET, 0):
        raise ConfigError("options: numbering must be 0, vertices are counted from 0")
    seed = int(getattr(known, "seed", _UNSET))
    eps = _imbalance(int(getattr(known, "ufactor", _UNSET)), k <= 8 if recursive is None else recursive)
    run = Loose(eps, 1 if seed < 0 else seed)
    shares = None if tpwgts is None or not len(tpwgts) else tpwgts
    if k >= graph.nvtxs:  # copart leaves no part empty; METIS does not mind
        part = np.arange(graph.nvtxs, dtype=VERTEX) if k > 1 else np.zeros(graph.nvtxs, VERTEX)
    elif graph.ncon > 1:
        if in_one_piece:
            raise ConfigError("contiguous: is not available with several weights per vertex")
        part = partition_multiconstraint(graph, k, options=run, tpwgts=shares, strict=False)
    else:
        part = partition(graph, k, run, tpwgts=shares, strict=False, contiguous=in_one_piece)
    return GraphPartition(edge_cut(graph, part), array("q", part.astype(np.int64).tobytes()))


def _graph(adjacency: Any, xadj: Any, adjncy: Any, vweights: Any, eweights: Any) -> Graph:
    """The graph from either kind of adjacency."""
    if adjacency is not None:
        if xadj is not None or adjncy is not None:
            raise TypeError("give adjacency, or xadj and adjncy, not both")
        if hasattr(adjacency, "adj_starts") and hasattr(adjacency, "adjacent"):
            xadj, adjncy = adjacency.adj_starts, adjacency.adjacent
        else:
            xadj, adjncy = _compressed(adjacency)
    elif xadj is None or adjncy is None:
        raise TypeError("needs the graph: adjacency, or xadj and adjncy")
    for name, values, size in (("vweights", vweights, np.size(xadj) - 1), ("eweights", eweights, np.size(adjncy))):
        if values is not None and len(np.asarray(values)) != size:
            several = "; several weights per vertex need shape (nvtxs, ncon)" if name == "vweights" else ""
            raise GraphError(f"{name}: needs {size} entries, has {np.size(values)}{several}")
    return Graph.from_metis(xadj, adjncy, vwgt=vweights, adjwgt=eweights)


def _compressed(adjacency: Sized) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lists of neighbours as xadj, adjncy."""
    if isinstance(adjacency, Mapping) and set(adjacency) != set(range(len(adjacency))):
        raise GraphError("adjacency: needs the neighbours of each vertex by its number, from 0 up")
    rows: list[NDArray[np.int64]] = []
    for i in range(len(adjacency)):
        row: Iterable[int] = adjacency[i]  # type: ignore[index]
        values = row if isinstance(row, np.ndarray) else list(row)
        rows.append(integers(f"adjacency[{i}]", values, OFFSET, GraphError))
    xadj = np.zeros(len(rows) + 1, OFFSET)
    np.cumsum([len(row) for row in rows], out=xadj[1:])
    return xadj, np.concatenate(rows) if rows else np.zeros(0, OFFSET)


def _imbalance(ufactor: int, recursive: bool) -> float:
    """METIS' allowance as a fraction; its defaults are 1 and 30 thousandths."""
    return (ufactor if ufactor > 0 else 1 if recursive else 30) / 1000


__all__ = ["CSRAdjacency", "GraphPartition", "Options", "part_graph"]
