"""Communication patterns with known answers: pairs across two nodes, FLUPS' topology switches, 1D transport."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from copart.arrays import VERTEX, whole
from copart.graph import Graph
from copart.mapping.ranks.communication import Messages

#: Process grids (P_x, P_y, P_z) of FLUPS by number of nodes with 128 cores each.
FLUPS_GRIDS = {1: (4, 4, 8), 2: (4, 8, 8), 4: (8, 8, 8), 8: (8, 8, 16), 16: (8, 16, 16), 32: (16, 16, 16),
               64: (16, 16, 32), 128: (16, 32, 32)}


def paired_ranks(per_node: int, nbytes: float, count: int = 1) -> Messages:
    """Two nodes of `per_node` ranks; rank s and rank s + `per_node` send each other `count` messages of `nbytes`.

    (N. Tihon 2024, Section 6.2.2, proof of concept.)
    """
    n = whole("per_node", per_node, low=1)
    source = np.arange(2 * n, dtype=VERTEX)
    target = ((source + n) % (2 * n)).astype(VERTEX)
    return Messages(2 * n, source, target, np.full(2 * n, nbytes, float), np.full(2 * n, count))


def flups(shape: tuple[int, int, int], nbytes: float, growth: tuple[float, float, float] = (1, 2, 4)) -> Messages:
    """The three topology switches of FLUPS, a Fourier solver whose pencils turn from x to y to z.

    Rank (i, j, l) is i + P_x (j + P_y l).  Each switch is an all-to-all in groups: among ranks of the same j and l in
    P_x messages' worth of data, of the same l in P_x P_y, of the same i and j in P_z.

    Parameters
    ----------
    shape : (int, int, int)
        P_x, P_y, P_z; see :data:`FLUPS_GRIDS`.
    nbytes : float
        Data of a rank: 64^3 x 8 or 96^3 x 8 bytes.
    growth : (float, float, float)
        By how much the data has grown at each switch; the domain doubles at each one where it is unbounded.

    Notes
    -----
    N. Tihon 2024, Section 6.2.3.
    """
    px, py, pz = (whole("shape", p, low=1) for p in shape)
    ids = np.arange(px * py * pz).reshape(pz, py, px)
    groups = (ids.reshape(-1, px), ids.reshape(pz, px * py), ids.reshape(pz, -1).T)
    source, target, size = [], [], []
    for group, factor in zip(groups, growth, strict=True):
        members = group.shape[1]
        u = np.repeat(group, members, axis=1).ravel()
        v = np.tile(group, (1, members)).ravel()
        source.append(u[u != v])
        target.append(v[u != v])
        size.append(np.full(len(source[-1]), factor * nbytes / members))
    return Messages(ids.size, np.concatenate(source), np.concatenate(target), np.concatenate(size))


def flups_columns(shape: tuple[int, int, int], cores: int = 128) -> NDArray[np.int32]:
    """Node of each rank of :func:`flups` where nodes hold whole columns in z, row after row; (N,) int32."""
    px, py, pz = shape
    i, j, l = (np.arange(px * py * pz) // step % size for step, size in ((1, px), (px, py), (px * py, pz)))
    return ((l + pz * (i + px * j)) // cores).astype(VERTEX)


def transport(points: int = 20, ranks: int = 2, nbytes: float = 8) -> Messages:
    """One step of 1D transport, central differences: neighbouring ranks send each other one boundary value.

    (N. Tihon 2024, Section 2.2.)
    """
    p = whole("ranks", ranks, low=1, high=whole("points", points, low=1))
    left = np.arange(p - 1)
    source, target = np.concatenate([left, left + 1]), np.concatenate([left + 1, left])
    return Messages(p, source, target, np.full(2 * (p - 1), nbytes, float))


def halos(graph: Graph, part: NDArray[np.int32], nbytes: float = 40, count: int = 100) -> Messages:
    """What the parts of a mesh send: each cell goes once to every part that holds a neighbour, `count` times.

    Parameters
    ----------
    graph : Graph
    part : (nvtxs,) int32
        Rank of each cell.
    nbytes : float
        Of one cell.
    count : int
        Exchanges.
    """
    rows = np.repeat(np.arange(graph.nvtxs), np.diff(graph.xadj))
    to = part[graph.adjncy].astype(np.int64)
    cut = part[rows] != to
    k = int(part.max()) + 1
    # a cell and a part that needs it, once
    sent = np.unique(rows[cut] * k + to[cut])
    pair, cells = np.unique(part[sent // k].astype(np.int64) * k + sent % k, return_counts=True)
    return Messages(k, (pair // k).astype(VERTEX), (pair % k).astype(VERTEX), nbytes * cells, np.full(len(pair), count))


__all__ = ["FLUPS_GRIDS", "flups", "flups_columns", "halos", "paired_ranks", "transport"]
