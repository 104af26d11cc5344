"""Where ranks run: the node of each rank, one per line, by its number from 0 or by its name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX
from ..errors import FormatError
from ..mapping.machine import find_hosts
from .text import PathLike, read_bytes

#: Longer numbers are no node's.
_DIGITS = 18


def read_placement(path: PathLike, nranks: int, nodes: int | Sequence[str]) -> NDArray[np.int32]:
    """Read a file with the node of each rank, one per line; ``%`` and ``#`` begin lines that do not count.

    Parameters
    ----------
    path : path-like
    nranks : int
    nodes : int or sequence of str
        How many nodes there are, or their names, by which the file may list them: all of them, as
        ``srun hostname`` and ``SLURM_HOSTFILE`` do, or their numbers.

    Returns
    -------
    (nranks,) int32

    Raises
    ------
    FormatError
        There are too few or too many lines, or a node is not there.
    """
    text = read_bytes(path).decode("utf-8-sig", "replace")
    stripped = [(i, line.strip()) for i, line in enumerate(text.splitlines(), 1)]
    lines = [(i, word) for i, word in stripped if word and word[0] not in "%#"]
    if len(lines) != nranks:
        raise FormatError(path, f"needs the node of each of {nranks} ranks, one per line, has {len(lines)}",
                          lines[nranks][0] if len(lines) > nranks else None)
    words = [word for _, word in lines]
    by_name = not isinstance(nodes, int) and not all(word.isdecimal() for word in words)
    count = nodes if isinstance(nodes, int) else len(nodes)
    if by_name:
        found = find_hosts(nodes, words)  # type: ignore[arg-type]
    else:
        found = [int(word) if word.isdecimal() and len(word) <= _DIGITS else -1 for word in words]
    for (i, word), node in zip(lines, found, strict=True):
        if not 0 <= node < count:
            rule = f"none of the {count} of --nodes" if by_name else \
                f"outside 0..{count - 1}; nodes are numbered from 0, in the order of --nodes"
            raise FormatError(path, f"node {word[:40]!r} is {rule}", i)
    return np.array(found, VERTEX)


__all__ = ["read_placement"]
