"""Which rows of a hypergraph are identical: by sorting their checksums, and by hashing them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import OFFSET, VERTEX, frozen
from ...kernels import sparsification as kernels
from ...names import known_name
from ..rounds import Team

#: Checksums by their names, and the exponent that the kernels know them by.
CHECKSUMS = {"cs1": 1, "cs2": 2, "cs3": 3, "murmur": 0}
WAYS = ("hash", "sort")


class Classes(NamedTuple):
    """Classes of identical rows.

    Attributes
    ----------
    number : (nrows,) int32
        Class of each row; classes are numbered by their first rows.
    first : (nclasses,) int32
        First row of each class, ascending.
    occupancy : float
        Classes per checksum, on average.
    false_positives, links : int
        As in :class:`copart.partitioner.hypergraphs.reduction.Reduction`.
    """

    number: NDArray[np.int32]
    first: NDArray[np.int32]
    occupancy: float
    false_positives: int
    links: int


def identical(xids: NDArray[np.int64], ids: NDArray[np.int32], way: str, checksum: str, behind: int,
              threads: int) -> Classes:
    """Classes of the rows that hold the same entries in the same order; the same for any way and number of threads.

    Rows without entries are in classes of their own.

    Parameters
    ----------
    xids, ids : arrays
        Rows in compressed form.
    way : str
        ``"hash"``: tables with chains (INRMEM).  ``"sort"``: runs of equal checksums (INRSRT).
    checksum : str
        ``"cs1"``, ``"cs2"``, ``"cs3"``: sums of the entries, their squares, their cubes; ``"murmur"``: MurmurHash3.
    behind : int
        The first entry of a row counts once more in the sums, that much later; -1 for not.
    threads : int

    Raises
    ------
    ConfigError
        A name is unknown.
    """
    for name, value, known in (("way", way, WAYS), ("checksum", checksum, tuple(CHECKSUMS))):
        known_name(name, value, known)
    n = len(xids) - 1
    key, rep = np.empty(n, OFFSET), np.empty(n, VERTEX)
    counted: list[NDArray[np.int64]] = []

    def counts() -> tuple[NDArray[np.int64]]:
        counted.append(np.zeros(3, OFFSET))
        return (counted[-1],)

    with Team(threads) as team:
        team.run(kernels.checksums, n, xids, ids, CHECKSUMS[checksum], behind, key)
        if way == "sort":
            order = _sorted(key, team)
            found = np.empty(n, VERTEX)
            team.run(kernels.identical_by_sorting, n, xids, ids, key, order, rep, found, scratch=counts,
                     bounds=_between_runs(key[order], team))
        else:
            first, after = np.full(prime_above(n), -1, VERTEX), np.full(n, -1, VERTEX)
            if team.pieces(len(first)) == 1:
                kernels.identical_by_hashing(xids, ids, key, first, after, rep, *counts())
            else:
                kernels.chain_all(key, first, after)
                team.run(kernels.thin_chains, len(first), xids, ids, key, first, after, rep, scratch=counts)
    number, mine = np.empty(n, VERTEX), np.empty(n, VERTEX)
    count = kernels.number_classes(xids, rep, number, mine)
    false_positives, links, sharing = (int(x) for x in np.sum(counted, axis=0)) if counted else (0, 0, 0)
    return Classes(frozen(number), frozen(mine[:count]), count / max(count - sharing, 1), false_positives, links)


def _sorted(key: NDArray[np.int64], team: Team) -> NDArray[np.int64]:
    """Rows by their checksums, those of a checksum ascending; pieces are sorted by the threads and then merged."""
    cuts = team.cuts(len(key))
    if len(cuts) == 2:
        return np.argsort(key, kind="stable")
    pieces: list[Any] = team.run(lambda lo, hi: lo + np.argsort(key[lo:hi], kind="stable"), len(key))
    joined = np.concatenate(pieces)
    # the sort merges what is sorted in pieces, and keeps the order of equals
    return np.asarray(joined[np.argsort(key[joined], kind="stable")])


def _between_runs(sorted_keys: NDArray[np.int64], team: Team) -> NDArray[np.int64]:
    """Where to cut sorted checksums so that none is on both sides."""
    cuts = np.asarray(team.cuts(len(sorted_keys)), OFFSET)
    cuts[1:-1] = np.searchsorted(sorted_keys, sorted_keys[cuts[1:-1]])
    return cuts


def prime_above(n: int) -> int:
    """The smallest prime above `n`.

    Examples
    --------
    >>> prime_above(6), prime_above(7), prime_above(0)
    (7, 11, 2)
    """
    q = max(n + 1, 2)
    while any(q % d == 0 for d in range(2, int(q**0.5) + 1)):
        q += 1
    return q


__all__ = ["CHECKSUMS", "WAYS", "Classes", "identical", "prime_above"]
