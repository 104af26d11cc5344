"""Nets and vertices of a hypergraph that say the same, or nearly the same, merged.

Identical nets become one with the sum of the costs: every partition has the volume it had.  Identical vertices become
one with the sum of the weights: every partition of the smaller hypergraph has the volume of what it stands for, but
fewer partitions can be balanced.  Similar nets are merged where orders of the vertices, drawn at random, have the same
vertex of both in front; that happens with probability J^t for nets of Jaccard similarity J and t orders, and volumes
are no longer exact.

Figures of single parts depend on the sources of the nets.  With ``directed`` (the default) only nets of the same source
are merged, and all figures stay exact; without it more nets are, and only the total volume is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import OFFSET, VERTEX, frozen, sums, whole
from ...hypergraph import Hypergraph
from ...kernels import sparsification as kernels
from ...names import known_name
from ..rounds import Team
from .classes import Classes, identical
from .reduction import Reduction, merged

KEEPS = ("largest", "important", "union")


def remove_identical_nets(hypergraph: Hypergraph, *, way: str = "hash", checksum: str = "cs2", directed: bool = True,
                          threads: int = 1) -> Reduction:
    """Merge nets with the same pins; lossless.

    Parameters
    ----------
    hypergraph : Hypergraph
    way, checksum : str
        How identical nets are found: ``"hash"`` or ``"sort"``; ``"cs1"``, ``"cs2"``, ``"cs3"`` or ``"murmur"``.  The
        result is the same.
    directed : bool
        Merge nets of the same source only.
    threads : int
        The result is the same for any number.

    Raises
    ------
    ConfigError
        A name is unknown.

    Examples
    --------
    >>> h = Hypergraph.from_nets(3, [[0, 1], [1, 0], [0, 1], [1, 2]], cost=[1, 2, 4, 8])
    >>> remove_identical_nets(h).hypergraph.cost.tolist()
    [5, 2, 8]
    >>> remove_identical_nets(h, directed=False).hypergraph.cost.tolist()
    [7, 8]
    """
    h = hypergraph
    pins = h.pins if directed else ascending(h)
    found = identical(h.xpins, pins, way, checksum, h.nvtxs if directed else -1, whole("threads", threads, low=1))
    return _with_nets(h, found.number, *rows(h.xpins, h.pins, found.first), found)


def remove_identical_vertices(hypergraph: Hypergraph, *, way: str = "hash", checksum: str = "cs2",
                              threads: int = 1) -> Reduction:
    """Merge vertices that are in the same nets, and leave out the nets that have one pin then.

    Vertices in no net stay as they are.  To be done before :func:`remove_identical_nets`: the sources of two nets may
    become one.

    Parameters
    ----------
    hypergraph : Hypergraph
    way, checksum, threads
        As for :func:`remove_identical_nets`.

    Raises
    ------
    ConfigError
        A name is unknown.

    Examples
    --------
    >>> h = Hypergraph.from_nets(4, [[0, 1, 2], [2, 1, 3]], vwgt=[1, 2, 4, 8])
    >>> small = remove_identical_vertices(h)
    >>> small.hypergraph.vwgt.tolist(), small.lift([0, 1, 0]).tolist()
    ([1, 6, 8], [0, 1, 1, 0])
    """
    h = hypergraph
    found = identical(h.xnets, h.nets, way, checksum, -1, whole("threads", threads, low=1))
    small = merged(h, found.number, len(found.first))
    return Reduction(small.hypergraph, small.of_vertex, small.of_net, *found[2:])


def remove_similar_nets(hypergraph: Hypergraph, *, permutations: int = 4, keep: str = "largest", least: int = 2,
                        directed: bool = True, checksum: str = "cs2", seed: int = 0, threads: int = 1) -> Reduction:
    """Merge nets with nearly the same pins; lossy.

    Parameters
    ----------
    hypergraph : Hypergraph
    permutations : int
        Orders of the vertices in which the first pins must agree: the more, the fewer nets are merged.
    keep : str
        Pins of a merged net: those of the ``"largest"`` net, of the most ``"important"`` one, whose pins are in the
        most costly nets of the class, or the ``"union"``.
    least : int
        Nets of fewer pins are left alone (4 in the published variant P4).
    directed : bool
        Merge nets of the same source only.
    checksum : str
    seed : int
        Of the orders.
    threads : int
        The result is the same for any number.

    Raises
    ------
    ConfigError
        A name is unknown, or a number out of range.
    """
    h, times = hypergraph, whole("permutations", permutations, low=1, high=64)
    known_name("keep", keep, KEEPS)
    chosen = frozen(np.flatnonzero(h.sizes >= whole("least", least, low=0)).astype(VERTEX))
    columns = times + directed
    marks = np.empty(len(chosen) * columns, VERTEX)
    # kernels take 32 bits of it
    salt = whole("seed", seed, low=0) * 64 % 2**32
    threads = whole("threads", threads, low=1)
    with Team(threads) as team:
        team.run(kernels.footprints, len(chosen), h.xpins, h.pins, chosen, times, salt, columns, marks)
    rows = frozen(np.arange(len(chosen) + 1, dtype=OFFSET) * columns)
    found = identical(rows, frozen(marks), "hash", checksum, -1, threads)
    rep = np.arange(h.nnets, dtype=VERTEX)
    rep[chosen] = chosen[found.first[found.number]]
    number = (np.cumsum(rep == np.arange(h.nnets)) - 1)[rep].astype(VERTEX)
    count = int(number.max()) + 1 if h.nnets else 0
    start = np.zeros(count + 1, OFFSET)
    np.cumsum(np.bincount(number, minlength=count), out=start[1:])
    members = np.argsort(number, kind="stable").astype(VERTEX)
    xpins, pins = np.empty(count + 1, OFFSET), np.empty(h.npins, VERTEX)
    total = kernels.represent_classes(h.xpins, h.pins, h.cost, start, members, keep == "union", keep == "important",
                                      np.zeros(h.nvtxs, OFFSET), xpins, pins)
    return _with_nets(h, number, xpins, pins[:total], found)


def sparsify(hypergraph: Hypergraph, *, permutations: int = 0, directed: bool = True, threads: int = 1,
             seed: int = 0) -> Reduction:
    """Merge identical vertices, then identical nets, and similar nets of at least 4 pins where asked for.

    Parameters
    ----------
    hypergraph : Hypergraph
    permutations : int
        As for :func:`remove_similar_nets`; 0 for none.
    directed, threads, seed
        As for :func:`remove_similar_nets`.

    Returns
    -------
    Reduction
        ``lift`` makes a partition of the original hypergraph of one of the smaller.
    """
    out = remove_identical_vertices(hypergraph, threads=threads)
    out = remove_identical_nets(out.hypergraph, directed=directed, threads=threads).after(out)
    if whole("permutations", permutations, low=0):
        out = remove_similar_nets(out.hypergraph, permutations=permutations, least=4, directed=directed, seed=seed,
                                  threads=threads).after(out)
    return out


def ascending(h: Hypergraph) -> NDArray[np.int32]:
    """(npins,) int32 the pins, those of each net ascending, the source among them."""
    from scipy.sparse import csc_array

    m = csc_array((np.ones(h.npins, np.int8), h.nets, h.xnets), shape=(h.nnets, h.nvtxs)).tocsr()
    return frozen(m.indices.astype(VERTEX, copy=False))


def rows(xids: NDArray[np.int64], ids: NDArray[np.int32],
          chosen: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The rows `chosen` of a compressed form."""
    size = np.diff(xids)[chosen]
    out = np.zeros(len(chosen) + 1, OFFSET)
    np.cumsum(size, out=out[1:])
    return out, ids[np.repeat(xids[chosen] - out[:-1], size) + np.arange(out[-1])]


def _with_nets(h: Hypergraph, of_net: NDArray[np.int32], xpins: NDArray[np.int64], pins: NDArray[np.int32],
               found: Classes) -> Reduction:
    """The reduction to these nets, with the costs summed."""
    small = Hypergraph(h.nvtxs, xpins, pins, sums(of_net, h.cost, len(xpins) - 1), h.vwgt)
    return Reduction(small, frozen(np.arange(h.nvtxs, dtype=VERTEX)), frozen(of_net), *found[2:])


__all__ = ["KEEPS", "ascending", "remove_identical_nets", "remove_identical_vertices", "remove_similar_nets",
           "rows", "sparsify"]
