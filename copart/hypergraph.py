"""`Hypergraph`: a directed weighted hypergraph in compressed rows both ways, frozen and validated.

A vertex is a task, a net is a datum that one vertex owns and others need.  Normal form: the first pin of a net is its
source, the vertex that sends; the others follow in ascending order, each vertex once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import (
    MAX_TOTAL,
    OFFSET,
    VERTEX,
    WEIGHT,
    Frozen,
    frozen,
    integers,
    one_of,
    own,
    vertex_weights,
    weights,
    whole,
)
from .errors import ConfigError, GraphError, did_you_mean
from .graph import Graph

#: What a matrix becomes: rows are vertices and columns nets, the other way round, or entries are vertices.
MODELS = ("column-net", "row-net", "fine-grain")


@dataclass(frozen=True, eq=False, repr=False)
class Hypergraph(Frozen):
    """A hypergraph with one source per net.

    Parameters
    ----------
    nvtxs : int
        Number of vertices.
    xpins : (nnets + 1,) array_like of int
        Offsets of the nets, kept as int64.
    pins : (npins,) array_like of int
        Vertices of the nets, kept as int32: the source first, the others are sorted.  A net has at least one pin and no
        vertex twice.
    cost : (nnets,) array_like of int, optional
        Data that a net carries to each other part, not negative; all 1 where not given.
    vwgt : (nvtxs,) or (nvtxs, ncon) array_like of int, optional
        Vertex weights (load), not negative; all 1 where not given.

    Raises
    ------
    GraphError
        The arrays do not describe such a hypergraph; the message names the array, the rule and the first offender.

    Examples
    --------
    >>> h = Hypergraph.from_nets(4, [[1, 3, 0], [2, 3]], cost=[5, 1])
    >>> h, h.net(0).tolist(), h.nets_of(3).tolist(), h.source.tolist()
    (Hypergraph(4 vertices, 2 nets, 5 pins, cost 1 to 5), [1, 0, 3], [0, 1], [1, 2])
    """

    nvtxs: int
    xpins: NDArray[np.int64]
    pins: NDArray[np.int32]
    cost: NDArray[np.int64] = None  # type: ignore[assignment]
    vwgt: NDArray[np.int64] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        n = whole("nvtxs", self.nvtxs, low=0, high=2**31 - 1)
        xpins = own(integers("xpins", self.xpins, OFFSET, GraphError, low=0), self.xpins)
        if len(xpins) == 0 or xpins[0] != 0:
            raise GraphError("xpins: must start with 0")
        nnets = len(xpins) - 1
        if nnets >= 2**31:
            raise GraphError(f"xpins: {nnets} nets, at most {2**31 - 1} are supported")
        empty = np.diff(xpins) <= 0
        if empty.any():
            e = int(np.argmax(empty))
            begin, end = xpins[e], xpins[e + 1]
            rule = "has no pin" if begin == end else f"ends at {end} before it begins at {begin}"
            raise GraphError(f"xpins: {int(empty.sum())} nets without pins, the first is net {e}, which {rule}")
        pins = own(integers("pins", self.pins, VERTEX, GraphError, low=0, high=max(n, 1) if n else 0), self.pins)
        if len(pins) != xpins[-1]:
            raise GraphError(f"pins: has {len(pins)} entries, xpins ends with {xpins[-1]}")
        cost = np.ones(nnets, WEIGHT) if self.cost is None else weights("cost", self.cost, nnets, GraphError)
        most = float((cost.astype(np.float64) * np.diff(xpins)).sum())
        if most >= MAX_TOTAL:
            raise GraphError(f"cost: with every pin in a part of its own the volume is about {most:.3g}; "
                             f"scale the costs so that it stays below 2^61")
        put = object.__setattr__
        put(self, "nvtxs", n)
        put(self, "xpins", xpins)
        put(self, "pins", frozen(_normal_form(xpins, pins, n)))
        put(self, "cost", own(cost, self.cost))
        vwgt = np.ones(n, WEIGHT) if self.vwgt is None else vertex_weights("vwgt", self.vwgt, n, GraphError)
        put(self, "vwgt", own(vwgt, self.vwgt))

    # ---- what a reader asks first
    @property
    def nnets(self) -> int:
        """Number of nets."""
        return len(self.xpins) - 1

    @property
    def npins(self) -> int:
        """Number of pins of all nets."""
        return len(self.pins)

    @property
    def ncon(self) -> int:
        """Number of weights per vertex: that of balance constraints."""
        return 1 if self.vwgt.ndim == 1 else self.vwgt.shape[1]

    @cached_property
    def total_weight(self) -> int:
        """Sum of the vertex weights; GraphError where a vertex has several."""
        return int(self.weights.sum())

    @property
    def weights(self) -> NDArray[np.int64]:
        """(nvtxs,) int64 vertex weights; GraphError where a vertex has several."""
        if self.ncon > 1:
            raise GraphError(f"vwgt: the hypergraph has {self.ncon} weights per vertex, one is needed here; choose one "
                             f"with hypergraph.replace(vwgt=hypergraph.vwgt[:, 0])")
        return self.vwgt

    @cached_property
    def source(self) -> NDArray[np.int32]:
        """(nnets,) int32 source of each net."""
        return frozen(self.pins[self.xpins[:-1]])

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(nnets,) int64 number of pins of each net."""
        return frozen(np.diff(self.xpins))

    @property
    def xnets(self) -> NDArray[np.int64]:
        """(nvtxs + 1,) int64 offsets of the vertices in `nets`."""
        return self._transposed[0]

    @property
    def nets(self) -> NDArray[np.int32]:
        """(npins,) int32 nets of the vertices, ascending in each: those of v are ``nets[xnets[v]:xnets[v + 1]]``."""
        return self._transposed[1]

    @cached_property
    def _transposed(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        from scipy.sparse import csr_array

        once = np.ones(self.npins, np.int8)
        m = csr_array((once, self.pins, self.xpins), shape=(self.nnets, self.nvtxs)).tocsc()
        return frozen(m.indptr.astype(OFFSET)), frozen(m.indices.astype(VERTEX, copy=False))

    def net(self, e: int) -> NDArray[np.int32]:
        """Pins of a net: its source, then the others, ascending.

        Parameters
        ----------
        e : int
            The net, from 0 on.

        Raises
        ------
        IndexError
            There is no such net.
        """
        one_of("e", e, self.nnets, "nets")
        return self.pins[self.xpins[e]:self.xpins[e + 1]]

    def nets_of(self, v: int) -> NDArray[np.int32]:
        """Nets of a vertex, ascending.

        Parameters
        ----------
        v : int
            The vertex, from 0 on.

        Raises
        ------
        IndexError
            There is no such vertex.
        """
        one_of("v", v, self.nvtxs, "vertices")
        return self.nets[self.xnets[v]:self.xnets[v + 1]]

    def __repr__(self) -> str:
        given = [(name, w) for name, w in (("cost", self.cost), ("vwgt", self.vwgt)) if len(w) and (w != 1).any()]
        extra = "".join(f", {name} {w.min()} to {w.max()}" for name, w in given)
        return f"Hypergraph({self.nvtxs} vertices, {self.nnets} nets, {self.npins} pins{extra})"

    def replace(self, **changes: Any) -> Hypergraph:
        """A copy with other costs or vertex weights, checked as a new hypergraph is.

        Parameters
        ----------
        **changes
            `cost` (nnets,) and `vwgt` (nvtxs,) or (nvtxs, ncon), as for a new one.

        Raises
        ------
        GraphError
            Anything else is to be changed, or the new values are unusable.
        """
        unknown = set(changes) - {"cost", "vwgt"}
        if unknown:
            raise GraphError(f"replace: cannot change {', '.join(sorted(unknown))}")
        fields = {f: changes.get(f, getattr(self, f)) for f in ("cost", "vwgt")}
        return Hypergraph(self.nvtxs, self.xpins, self.pins, **fields)

    # ---- conversions in
    @classmethod
    def column_net(cls, graph: Graph) -> Hypergraph:
        """The exchange of a graph's vertices: net j holds vertex j, its source, and all neighbours of j.

        A net costs the size of its vertex (`vsize`), vertex weights are the graph's; edge weights have no place in the
        model.  The connectivity-1 metric of a partition is then the volume of a halo exchange.

        Parameters
        ----------
        graph : Graph

        Examples
        --------
        >>> path = Graph.from_edges(3, [0, 1], [1, 2], vsize=[7, 1, 1])
        >>> h = Hypergraph.column_net(path)
        >>> [h.net(e).tolist() for e in range(3)], h.cost.tolist()
        ([[0, 1], [1, 0, 2], [2, 1]], [7, 1, 1])
        """
        n = graph.nvtxs
        xpins = graph.xadj + np.arange(n + 1)
        pins = np.empty(len(graph.adjncy) + n, VERTEX)
        rest = np.ones(len(pins), np.bool_)
        rest[xpins[:-1]] = False
        pins[rest] = graph.adjncy
        pins[xpins[:-1]] = np.arange(n, dtype=VERTEX)
        return cls(n, frozen(xpins), frozen(pins), graph.vsize, graph.vwgt)  # type: ignore[arg-type]

    @classmethod
    def from_nets(cls, nvtxs: int, nets: Sequence[ArrayLike], sources: ArrayLike | None = None,
                  cost: ArrayLike | None = None, vwgt: ArrayLike | None = None) -> Hypergraph:
        """From the pins of each net.

        Parameters
        ----------
        nvtxs : int
            Number of vertices.
        nets : sequence of array_like of int
            Pins of each net.
        sources : (nnets,) array_like of int, optional
            Source of each net, one of its pins; the first pin where not given.
        cost, vwgt : array_like of int, optional
            As for the class.

        Raises
        ------
        GraphError
            A source is no pin of its net, or the class refuses the nets.
        """
        lists = [integers(f"net {e}", one, VERTEX, GraphError) for e, one in enumerate(nets)]
        xpins = np.zeros(len(lists) + 1, OFFSET)
        np.cumsum([len(one) for one in lists], out=xpins[1:])
        pins = np.concatenate(lists) if lists else np.zeros(0, VERTEX)
        if sources is not None:
            pins = _source_first(xpins, pins, integers("sources", sources, VERTEX, GraphError, size=len(lists)))
        return cls(nvtxs, frozen(xpins), frozen(pins), cost, vwgt)  # type: ignore[arg-type]

    @classmethod
    def from_scipy(cls, matrix: Any, model: str = "column-net", cost: ArrayLike | None = None,
                   vwgt: ArrayLike | None = None) -> Hypergraph:
        """From the structure of a ``scipy.sparse`` matrix; values do not count, explicit zeros are entries.

        Parameters
        ----------
        matrix : sparse matrix or array
            Square where vectors are distributed as the matrix is: net j then holds vertex j as its source, also where
            the diagonal has no entry there.  Any other shape is fine; the first pin of a net is then its source.
        model : str
            ``"column-net"``: rows are vertices, columns nets, for ``y = A x`` by rows.  ``"row-net"``: the other way
            round; vertices send partial sums to the source, so that what it sends and receives change sides.
            ``"fine-grain"``: every entry is a vertex (row by row), rows and then columns are nets, and the source is
            the diagonal entry where there is one.
        cost : array_like of int, optional
            Of each column, of each row, or of rows and then columns.
        vwgt : array_like of int, optional
            Of each row, of each column, or of each entry in the order of rows.

        Raises
        ------
        ConfigError
            The model is unknown.
        GraphError
            A row or column that should be a net has no pin.
        """
        if model not in MODELS:
            raise ConfigError(f"model: needs one of {', '.join(MODELS)}, got {model!r:.40}"
                              + did_you_mean(str(model), MODELS))
        from scipy.sparse import csr_array

        if not hasattr(matrix, "tocoo") or len(matrix.shape) != 2:
            raise ConfigError(f"matrix: needs a scipy.sparse matrix of two dimensions, got {type(matrix).__name__}")
        m = matrix.tocoo()
        square = m.shape[0] == m.shape[1]
        row, col = m.row.astype(OFFSET), m.col.astype(OFFSET)
        if model == "row-net":
            row, col = col, row
        shape = (m.shape[1], m.shape[0]) if model == "row-net" else m.shape
        if model != "fine-grain" and square:
            row, col = (np.concatenate([x, np.arange(shape[0])]) for x in (row, col))
        # duplicates are merged; one row of `m` per net, or per row of the matrix
        pick = (row, col) if model == "fine-grain" else (col, row)
        m = csr_array((np.ones(len(row), np.int8), pick), shape=shape if model == "fine-grain" else shape[::-1])
        m.sum_duplicates()
        xpins, pins = m.indptr.astype(OFFSET), m.indices.astype(VERTEX, copy=False)
        if model != "fine-grain":
            if square:
                pins = _source_first(xpins, pins, np.arange(shape[0], dtype=VERTEX))
            return cls(shape[0], frozen(xpins), frozen(pins), cost, vwgt)  # type: ignore[arg-type]
        entry = np.arange(len(pins), dtype=VERTEX)
        by_column = csr_array((entry, pins, xpins), shape=shape).tocsc()
        both = np.concatenate([entry, by_column.data])
        xboth = np.concatenate([xpins, xpins[-1] + by_column.indptr[1:]])
        if square and np.diff(xboth).all():
            row_of = np.repeat(np.arange(shape[0]), np.diff(xpins))
            diagonal = np.full(shape[0], -1, VERTEX)
            diagonal[row_of[row_of == pins]] = entry[row_of == pins]
            source = np.concatenate([diagonal, diagonal])
            both = _source_first(xboth, both, np.where(source < 0, both[np.minimum(xboth[:-1], len(both) - 1)], source))
        return cls(len(entry), xboth, both, cost, vwgt)  # type: ignore[arg-type]


def _source_first(xpins: NDArray[np.int64], pins: NDArray[np.int32], source: NDArray[np.int32]) -> NDArray[np.int32]:
    """`pins` with the source of each net in front; GraphError where it is no pin."""
    at = np.flatnonzero(pins == np.repeat(source, np.diff(xpins)))
    net = np.searchsorted(xpins, at, side="right") - 1
    place = np.full(len(source), -1, OFFSET)
    place[net[::-1]] = at[::-1]  # the first of several counts
    lost = (place < 0) & (np.diff(xpins) > 0)
    if lost.any():
        e = int(np.argmax(lost))
        raise GraphError(f"sources: {int(lost.sum())} are no pins of their nets, "
                         f"the first is {source[e]} of net {e}")
    out = pins.copy()
    moved = place >= 0
    out[place[moved]] = pins[xpins[:-1][moved]]
    out[xpins[:-1][moved]] = source[moved]
    return out


def _normal_form(xpins: NDArray[np.int64], pins: NDArray[np.int32], nvtxs: int) -> NDArray[np.int32]:
    """Sort the pins behind each source where needed; GraphError where a net has a vertex twice."""
    if len(pins) == 0:
        return pins
    first = np.zeros(len(pins) + 1, np.bool_)
    first[xpins] = True
    loose = ~first[1:-1]
    loose[xpins[:-1][xpins[:-1] < len(loose)]] = False  # between the source and the next pin any order is right
    if (loose & (pins[1:] <= pins[:-1])).any():
        from scipy.sparse import csr_array

        # transposed twice the others are in order, in linear time
        rest, out = ~first[:-1], pins.copy()
        offsets = xpins - np.arange(len(xpins))
        m = csr_array((np.ones(len(pins) - len(xpins) + 1, np.int8), pins[rest], offsets),
                      shape=(len(xpins) - 1, nvtxs)).tocsc().tocsr()
        out[rest] = m.indices
        pins = out
    twice = np.zeros(len(pins), np.bool_)
    twice[1:] = ~first[1:-1] & (pins[1:] == pins[:-1])
    twice |= ~first[:-1] & (pins == np.repeat(pins[xpins[:-1]], np.diff(xpins)))
    if twice.any():
        i = int(np.argmax(twice))
        e = int(np.searchsorted(xpins, i, side="right")) - 1
        raise GraphError(f"pins: {int(twice.sum())} repeated pins, the first is vertex {pins[i]} in net {e}")
    return pins


__all__ = ["MODELS", "Hypergraph"]
