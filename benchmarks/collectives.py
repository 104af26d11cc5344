"""Who talks to whom in two usual collective operations, and how much."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from copart.arrays import VERTEX, whole
from copart.errors import MappingError
from copart.graph import Graph


class Pattern(NamedTuple):
    """The messages of a collective operation, phase by phase.

    target : (phases, nprocs) int32, whom each process sends to; volume : (phases,) int64, how much.
    """

    target: NDArray[np.int32]
    volume: NDArray[np.int64]

    def graph(self) -> Graph:
        """The process graph: data exchanged by each pair in all phases, both directions added."""
        phases, nprocs = self.target.shape
        u = np.tile(np.arange(nprocs), phases)
        v = self.target.ravel()
        other = u != v
        return Graph.from_edges(nprocs, u[other], v[other], np.repeat(self.volume, nprocs)[other])


def recursive_doubling(nprocs: int) -> Pattern:
    """Recursive doubling (allgather): in phase t process i exchanges 2^t blocks with i XOR 2^t.

    Parameters
    ----------
    nprocs : int
        A power of two.

    Examples
    --------
    >>> recursive_doubling(4).target.tolist()
    [[1, 0, 3, 2], [2, 3, 0, 1]]
    """
    n = whole("nprocs", nprocs, low=1)
    if n & (n - 1):
        raise MappingError(f"recursive doubling: needs a power of two of processes, got {n}")
    step = 2 ** np.arange(n.bit_length() - 1)
    target = np.arange(n)[None, :] ^ step[:, None]
    return Pattern(target.astype(VERTEX), step.astype(np.int64))


def ring(nprocs: int) -> Pattern:
    """Ring (allgather): in each of nprocs - 1 rounds process i sends one block to i + 1 and receives one from i - 1."""
    n = whole("nprocs", nprocs, low=1)
    target = np.tile((np.arange(n, dtype=VERTEX) + 1) % n, (n - 1, 1))
    return Pattern(target.astype(VERTEX), np.ones(n - 1, np.int64))


__all__ = ["Pattern", "recursive_doubling", "ring"]
