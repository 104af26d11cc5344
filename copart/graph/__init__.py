"""`Graph`: an undirected weighted graph in compressed rows, frozen and validated.

Normal form: both directions of every edge stored, rows strictly ascending, no
loops, no duplicate edges, equal weight in both directions.  Weights that are
all 1 may be left out (``None``), which saves their memory.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import arrays
from ..arrays import OFFSET, VERTEX, WEIGHT, Frozen, frozen, integers, own, places, vertex_weights, weights, whole
from ..errors import GraphError
from .rows import induced_rows, normal_form


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Frozen):
    """An undirected graph; one vertex per mesh cell, one edge per shared facet.

    Parameters
    ----------
    xadj : (nvtxs + 1,) array_like of int
        Offsets of the rows, kept as int64.
    adjncy : (2 * nedges,) array_like of int
        Neighbours, both directions, kept as int32.  Unsorted rows are sorted.
    ewgt : (2 * nedges,) array_like of int, optional
        Edge weights (communication), equal in both directions; ``None`` is all 1.
    vwgt : (nvtxs,) or (nvtxs, ncon) array_like of int, optional
        Vertex weights (load), not negative; ``None`` is all 1.  :func:`copart.part` takes several weights per
        vertex and balances each of them; most other functions take one.
    vsize : (nvtxs,) array_like of int, optional
        Data to move when a vertex migrates, and data it sends when coupled; ``None`` is all 1.
    coords : (nvtxs, d) array_like of float, optional
        One point per vertex (cell centres), d = 2 or 3.
    threads : int
        Threads that check the rows, four at most; the graph is the same on any number of them, and does not keep it.

    Raises
    ------
    GraphError
        The arrays do not describe such a graph; the message names the array,
        the rule and the first offender.
    ConfigError
        `threads` is below 1.

    Examples
    --------
    >>> g = Graph.from_edges(3, [0, 1], [1, 2])
    >>> g.nvtxs, g.nedges, g.degree(1)
    (3, 2, 2)
    """

    xadj: NDArray[np.int64]
    adjncy: NDArray[np.int32]
    ewgt: NDArray[np.int64] | None = None
    vwgt: NDArray[np.int64] | None = None
    vsize: NDArray[np.int64] | None = None
    coords: NDArray[np.float64] | None = None
    threads: InitVar[int] = 1

    def __post_init__(self, threads: int) -> None:
        threads = whole("threads", threads, low=1)
        xadj = own(integers("xadj", self.xadj, OFFSET, GraphError, low=0), self.xadj)
        if len(xadj) == 0:
            raise GraphError("xadj: needs at least one entry, the 0 of an empty graph")
        n = len(xadj) - 1
        if n >= 2**31:
            raise GraphError(f"xadj: {n} vertices, at most {2**31 - 1} are supported")
        if xadj[0] != 0:
            raise GraphError(f"xadj: must start with 0, starts with {xadj[0]}")
        down = xadj[1:] < xadj[:-1]
        if down.any():
            v = int(np.argmax(down))
            raise GraphError(f"xadj: offsets must not decrease, entry {v + 1} is {xadj[v + 1]} after {xadj[v]}")
        adjncy = own(integers("adjncy", self.adjncy, VERTEX, GraphError, low=0, high=max(n, 1) if n else 0),
                     self.adjncy)
        if len(adjncy) != xadj[-1]:
            raise GraphError(f"adjncy: has {len(adjncy)} entries, xadj ends with {xadj[-1]}")
        ewgt = self.ewgt
        if ewgt is not None:
            ewgt = own(weights("ewgt", ewgt, len(adjncy), GraphError), ewgt)
        adjncy, ewgt = normal_form(xadj, adjncy, ewgt, threads)
        put = object.__setattr__
        put(self, "xadj", xadj)
        put(self, "adjncy", frozen(adjncy))
        put(self, "ewgt", None if ewgt is None else frozen(ewgt))
        if self.vwgt is not None:
            put(self, "vwgt", own(vertex_weights("vwgt", self.vwgt, n, GraphError), self.vwgt))
        if self.vsize is not None:
            put(self, "vsize", own(weights("vsize", self.vsize, n, GraphError), self.vsize))
        if self.coords is not None:
            coords = arrays.reals("coords", self.coords, GraphError)
            if coords.ndim != 2 or coords.shape[0] != n or coords.shape[1] not in (1, 2, 3):
                raise GraphError(f"coords: needs shape ({n}, 2) or ({n}, 3), has {coords.shape}")
            finite = np.isfinite(coords)
            if not finite.all():
                bad = ~finite.all(axis=1)
                raise GraphError(f"coords: {int(bad.sum())} points are not finite, "
                                 f"first at index {int(np.argmax(bad))}")
            put(self, "coords", own(coords, self.coords))

    # ---- what a reader asks first
    @property
    def nvtxs(self) -> int:
        """Number of vertices."""
        return len(self.xadj) - 1

    @property
    def nedges(self) -> int:
        """Number of undirected edges."""
        return len(self.adjncy) // 2

    @property
    def ncon(self) -> int:
        """Number of weights per vertex: that of balance constraints."""
        return 1 if self.vwgt is None or self.vwgt.ndim == 1 else self.vwgt.shape[1]

    @cached_property
    def total_weight(self) -> int:
        """Sum of the vertex weights; GraphError where a vertex has several."""
        return self.nvtxs if self.vwgt is None else int(self.weights.sum())

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """(nvtxs,) int64 vertex weights, also where they are all 1; GraphError where a vertex has several."""
        if self.ncon > 1:
            raise GraphError(f"vwgt: the graph has {self.ncon} weights per vertex, one is needed here; choose one with "
                             f"graph.replace(vwgt=graph.vwgt[:, 0]), or balance all with copart.part")
        return frozen(np.ones(self.nvtxs, WEIGHT)) if self.vwgt is None else self.vwgt

    @property
    def weight_vectors(self) -> NDArray[np.int64]:
        """(nvtxs, ncon) int64 vertex weights, of however many constraints."""
        return self.vwgt if self.vwgt is not None and self.vwgt.ndim == 2 else self.weights[:, None]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(nvtxs,) int64 vertex sizes (data to move or send), 1 where not given."""
        return frozen(np.ones(self.nvtxs, WEIGHT)) if self.vsize is None else self.vsize

    @property
    def edge_weights(self) -> NDArray[np.int64]:
        """(2 * nedges,) int64 edge weights, also where they are all 1."""
        return np.ones(len(self.adjncy), WEIGHT) if self.ewgt is None else self.ewgt

    @cached_property
    def kernel_ewgt(self) -> NDArray[np.int32] | NDArray[np.int64]:
        """Edge weights as kernels take them: empty where all are 1, int32 where each fits."""
        from ..kernels.weights import EDGE_WEIGHT, narrowed

        return frozen(np.zeros(0, EDGE_WEIGHT) if self.ewgt is None else narrowed(self.ewgt))

    def degree(self, v: int) -> int:
        """Number of :meth:`neighbours` of vertex `v`.

        Parameters
        ----------
        v : int
            A vertex, from 0 on.
        """
        return len(self.neighbours(v))

    def neighbours(self, v: int) -> NDArray[np.int32]:
        """Neighbours of vertex `v`, ascending.

        Parameters
        ----------
        v : int
            A vertex, from 0 on.

        Raises
        ------
        IndexError
            There is no such vertex.
        """
        arrays.one_of("v", v, self.nvtxs, "vertices")
        return self.adjncy[self.xadj[v]:self.xadj[v + 1]]

    def __repr__(self) -> str:
        given = [(name, getattr(self, name)) for name in ("ewgt", "vwgt", "vsize")]
        extra = "".join(f", {name} {w.min()} to {w.max()}" for name, w in given if w is not None and len(w))
        coords = "" if self.coords is None else ", coords"
        return f"Graph({self.nvtxs} vertices, {self.nedges} edges{extra}{coords})"

    def replace(self, **changes: Any) -> Graph:
        """A copy with other weights, sizes or coordinates, checked as a new graph is.

        Parameters
        ----------
        **changes : array_like or None
            Fields of the graph by name, as in ``vwgt=[1, 2, 3]``.
        """
        unknown = set(changes) - {"ewgt", "vwgt", "vsize", "coords"}
        if unknown:
            raise GraphError(f"replace: cannot change {', '.join(sorted(unknown))}")
        fields = {f: changes.get(f, getattr(self, f)) for f in ("ewgt", "vwgt", "vsize", "coords")}
        return Graph(self.xadj, self.adjncy, **fields)

    # ---- conversions in
    @classmethod
    def from_edges(cls, nvtxs: int, u: ArrayLike, v: ArrayLike, ewgt: ArrayLike | None = None, **fields: Any) -> Graph:
        """From one entry an undirected edge; repeated edges are merged and their weights added.

        Parameters
        ----------
        nvtxs : int
            Number of vertices.
        u, v : (m,) array_like of int
            The two ends, in any order; loops are an error.
        ewgt : (m,) array_like of int, optional
        **fields
            `vwgt`, `vsize`, `coords` of the graph.
        """
        n = whole("nvtxs", nvtxs, low=0)
        a = places("u", u, VERTEX, GraphError, high=n)
        b = places("v", v, VERTEX, GraphError, high=n, size=len(a))
        loops = a == b
        if loops.any():
            raise GraphError(f"edges: {int(loops.sum())} loops, first at index {int(np.argmax(loops))}: "
                             f"vertex {a[loops][0]}")
        w = np.ones(len(a), WEIGHT) if ewgt is None else weights("ewgt", ewgt, len(a), GraphError)
        from scipy.sparse import coo_array

        rows, cols = np.concatenate([a, b]), np.concatenate([b, a])
        m = coo_array((np.concatenate([w, w]), (rows, cols)), shape=(n, n)).tocsr()
        m.sum_duplicates()
        unit = ewgt is None and m.nnz == len(rows)
        return cls(frozen(m.indptr), frozen(m.indices), None if unit else frozen(m.data), **fields)

    @classmethod
    def from_scipy(cls, matrix: Any, **fields: Any) -> Graph:
        """From a square, symmetric ``scipy.sparse`` matrix of whole non-negative weights.

        Loops (the diagonal) are dropped; explicit zeros stay as edges of weight 0.

        Parameters
        ----------
        matrix : scipy.sparse matrix or array, (nvtxs, nvtxs)
        **fields : array_like, optional
            Other fields of the graph by name: ``vwgt``, ``vsize``, ``coords``.
        """
        shape = getattr(matrix, "shape", None)
        if shape is None or not hasattr(matrix, "tocoo"):
            raise GraphError(f"matrix: needs a scipy.sparse matrix, got {type(matrix).__name__}")
        if len(shape) != 2 or shape[0] != shape[1]:
            raise GraphError(f"matrix: needs a square matrix, has shape {shape}")
        m = matrix.tocoo()
        keep = m.row != m.col
        from scipy.sparse import coo_array

        data = weights("matrix data", m.data[keep], int(keep.sum()), GraphError)
        m = coo_array((data, (m.row[keep], m.col[keep])), shape=shape).tocsr()
        m.sum_duplicates()
        unit = bool((m.data == 1).all())
        return cls(frozen(m.indptr), frozen(m.indices), None if unit else frozen(m.data), **fields)

    @classmethod
    def from_networkx(cls, graph: Any, weight: str = "weight", vertex_weight: str = "weight") -> Graph:
        """From an undirected networkx graph (or anything with its methods), nodes in its order.

        Parameters
        ----------
        graph : networkx.Graph
        weight : str
            Attribute of edges with their weights; 1 where one has none.
        vertex_weight : str
            Attribute of nodes with the weights of vertices; 1 where one has none.
        """
        if not hasattr(graph, "nodes") or not hasattr(graph, "edges"):
            raise GraphError(f"networkx graph: needs one, got {type(graph).__name__}")
        if getattr(graph, "is_directed", lambda: False)():
            raise GraphError("networkx graph: must be undirected; call to_undirected() first")
        order = {node: i for i, node in enumerate(graph.nodes())}
        edges = [(order[a], order[b], d.get(weight, 1)) for a, b, d in graph.edges(data=True) if a != b]
        u, v, w = (np.array(x) for x in zip(*edges, strict=True)) if edges else (np.zeros(0, int),) * 3
        vw = np.array([d.get(vertex_weight, 1) for _, d in graph.nodes(data=True)])
        return cls.from_edges(len(order), u, v, None if (w == 1).all() else w,
                              vwgt=None if (vw == 1).all() else vw)

    @classmethod
    def from_metis(cls, xadj: ArrayLike, adjncy: ArrayLike, vwgt: ArrayLike | None = None,
                   adjwgt: ArrayLike | None = None, vsize: ArrayLike | None = None) -> Graph:
        """From METIS' arrays, counted from 0.

        Parameters
        ----------
        xadj : (nvtxs + 1,) array_like of int
        adjncy : (2 nedges,) array_like of int
            Neighbours of vertex v are ``adjncy[xadj[v]:xadj[v + 1]]``.
        vwgt : (nvtxs,) array_like of int, optional
            Weights of vertices; 1 each where not given.
        adjwgt : (2 nedges,) array_like of int, optional
            Weights of edges, in the order of `adjncy`; 1 each where not given.
        vsize : (nvtxs,) array_like of int, optional
            Data that moves with each vertex; 1 each where not given.
        """
        return cls(xadj, adjncy, ewgt=adjwgt, vwgt=vwgt, vsize=vsize)  # type: ignore[arg-type]

    # ---- conversions out
    def to_scipy(self) -> Any:
        """The adjacency matrix as ``scipy.sparse.csr_array`` of int64 weights."""
        from scipy.sparse import csr_array

        return csr_array((self.edge_weights.copy(), self.adjncy.copy(), self.xadj.copy()), shape=(self.nvtxs,) * 2)

    def to_metis(self) -> dict[str, NDArray[np.int64] | NDArray[np.int32] | None]:
        """METIS' arrays by their METIS names: xadj, adjncy, vwgt, adjwgt, vsize."""
        return {"xadj": self.xadj, "adjncy": self.adjncy, "vwgt": self.vwgt, "adjwgt": self.ewgt, "vsize": self.vsize}

    def to_networkx(self) -> Any:
        """An undirected networkx graph with ``weight`` on nodes and edges."""
        import networkx

        out = networkx.Graph()
        out.add_nodes_from((v, {"weight": int(w)}) for v, w in enumerate(self.weights))
        u, v, w = self.edges()
        out.add_weighted_edges_from(zip(u.tolist(), v.tolist(), w.tolist(), strict=True))
        return out

    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """The undirected edges, each once with u < v: u (m,), v (m,), weight (m,)."""
        u = np.repeat(np.arange(self.nvtxs, dtype=VERTEX), np.diff(self.xadj))
        once = u < self.adjncy
        return u[once], self.adjncy[once], self.edge_weights[once]

    def subgraph(self, vertices: ArrayLike) -> Graph:
        """The subgraph induced by ascending `vertices`; vertex i of it is ``vertices[i]``.

        Parameters
        ----------
        vertices : (n,) array_like of int
            Ascending.
        """
        keep = places("vertices", vertices, VERTEX, GraphError, high=self.nvtxs)
        if len(keep) > 1 and not (np.diff(keep) > 0).all():
            raise GraphError("vertices: must be strictly ascending")
        xadj, adjncy, written = induced_rows(self.xadj, self.adjncy, self.kernel_ewgt, keep)
        ewgt = None if self.ewgt is None else frozen(written)
        pick: dict[str, Any] = {f: None if getattr(self, f) is None else frozen(getattr(self, f)[keep])
                                for f in ("vwgt", "vsize", "coords")}
        return Graph(frozen(xadj), frozen(adjncy), ewgt, **pick)

    def quotient(self, part: ArrayLike, nparts: int) -> Graph:
        """The quotient graph of a partition: one vertex per part, weights summed.

        Parameters
        ----------
        part : (nvtxs,) array_like of int
            Part of every vertex, ``0..nparts-1``.
        nparts : int
            Number of parts.
        """
        k = whole("nparts", nparts, low=1)
        p = arrays.part_array("part", part, self.nvtxs, k, GraphError)
        u, v, w = self.edges()
        a, b = p[u], p[v]
        between = a != b
        load = np.zeros((k, self.ncon), WEIGHT)
        np.add.at(load, p, self.weight_vectors)
        return Graph.from_edges(k, a[between], b[between], w[between], vwgt=load)


def as_graph(thing: Any, threads: int = 1) -> Graph:
    """A `Graph` from a `Graph`, a scipy.sparse matrix, a networkx graph or ``(xadj, adjncy)``.

    Parameters
    ----------
    thing : Graph, scipy.sparse matrix, networkx.Graph or (xadj, adjncy)
        Arrays of the latter are not copied where their types are those of `Graph`: leave them as they are as long as
        the graph is in use.
    threads : int
        Threads that check ``(xadj, adjncy)``.

    Raises
    ------
    GraphError
        `thing` is none of these, or not a valid graph.
    """
    if isinstance(thing, Graph):
        return thing
    if hasattr(thing, "tocoo") and hasattr(thing, "shape"):
        return Graph.from_scipy(thing)
    if hasattr(thing, "nodes") and hasattr(thing, "edges"):
        return Graph.from_networkx(thing)
    if isinstance(thing, (tuple, list)) and len(thing) == 2:
        # a graph as large as memory allows may be given in this way: no copy is made
        xadj, adjncy = (frozen(array) if type(array) is np.ndarray else array for array in thing)
        return Graph(xadj, adjncy, threads=threads)
    raise GraphError(f"graph: expected a Graph, a scipy.sparse matrix, a networkx graph or (xadj, adjncy), "
                     f"got {type(thing).__name__}")
