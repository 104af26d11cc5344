"""Hints for a preCICE configuration, as lines of XML with the reasons in comments.

preCICE asks for the participant with fewer ranks at the coupling interface as
``acceptor`` of an ``m2n`` channel, and recommends the two-level initialisation
for more than 5000 ranks; both depend on the partitions, which preCICE sees only
when it runs.  (preCICE 3, XML reference of ``m2n:sockets``.)
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition, CoupledProblem
from ..metrics.columns import spans
from ..metrics.pairs import coupling_matrix
from .output import attribute, write_text_atomic
from .text import PathLike

TWO_LEVEL_RANKS = 5000
"""Ranks of both participants above which preCICE recommends the two-level initialisation."""


class Channel(NamedTuple):
    """What the partitions say about the channel between two participants."""

    acceptor: str
    connector: str
    ranks: dict[str, int]
    """All ranks of each."""
    coupled: dict[str, list[int]]
    """The ranks of each that own coupled cells, ascending."""
    cells: dict[str, int]
    """Coupled cells of each."""
    messages: int
    """Pairs of ranks that exchange data."""
    busiest: dict[str, int]
    """Most partners of one rank of each."""
    two_level: bool


def channel(problem: CoupledProblem, copartition: CoPartition, a: str, b: str) -> Channel:
    """The figures of one coupled pair that a preCICE configuration depends on.

    The acceptor is the participant with fewer ranks at the interface; where both have as many, the one with
    fewer ranks in all, then the first.  Two-level initialisation pays where both are parallel and have more than
    :data:`TWO_LEVEL_RANKS` ranks together.
    """
    inter = problem.pairs[a, b]
    part = {a: copartition[a], b: copartition[b]}
    ranks = {a: copartition.nparts[a], b: copartition.nparts[b]}
    cells = {a: inter.coupled_a, b: inter.coupled_b}
    coupled = {name: np.unique(part[name][cells[name]]).tolist() for name in (a, b)}
    matrix = coupling_matrix(inter, part[a], part[b], ranks[a], ranks[b])
    acceptor = min((a, b), key=lambda name: (len(coupled[name]), ranks[name]))
    busiest = {a: _largest(np.diff(matrix.indptr)), b: _largest(np.bincount(matrix.indices, minlength=ranks[b]))}
    return Channel(acceptor, b if acceptor == a else a, ranks, coupled, {n: len(c) for n, c in cells.items()},
                   int(matrix.nnz), busiest, min(ranks.values()) > 1 and sum(ranks.values()) > TWO_LEVEL_RANKS)


def precice_hints(problem: CoupledProblem, copartition: CoPartition) -> str:
    """XML with one ``m2n`` line per coupled pair, and the reasons for its attributes as comments.

    Parameters
    ----------
    problem : CoupledProblem
    copartition : CoPartition
    """
    out = ['<?xml version="1.0" encoding="UTF-8"?>\n',
           _comment("What the partitions mean for preCICE 3: copy the m2n lines into precice-config.xml.",
                    "Set the names to those of your participants; on a cluster add network=\"ib0\" or the like."),
           "<precice-configuration>\n"]
    for a, b in problem.pairs:
        out.append(_channel_text(channel(problem, copartition, a, b)))
    return "".join(out) + "</precice-configuration>\n"


def write_precice(path: PathLike, problem: CoupledProblem, copartition: CoPartition) -> None:
    """Write :func:`precice_hints`, atomically.

    Parameters
    ----------
    path : path-like
    problem : CoupledProblem
    copartition : CoPartition
    """
    write_text_atomic(path, precice_hints(problem, copartition))


def _channel_text(c: Channel) -> str:
    """The line of one channel under its reasons."""
    one, two = c.acceptor, c.connector
    fewer = len(c.coupled[one]) < len(c.coupled[two])
    lines = [f"{name}: {c.ranks[name]} ranks, of them {len(c.coupled[name])} at the interface with "
             f"{c.cells[name]} coupled cells: {_ranks(c.coupled[name])}" for name in (one, two)]
    lines.append(f"acceptor is {one}: " + ("fewer of its ranks are at the interface" if fewer else
                                           "both have as many ranks at the interface" +
                                           (", and it has fewer in all" if c.ranks[one] < c.ranks[two] else "")))
    lines.append(f"data goes between {c.messages} pairs of ranks of {len(c.coupled[one]) * len(c.coupled[two])} "
                 f"at the interface; a rank of {one} has up to {c.busiest[one]} partners, one of {two} up to "
                 f"{c.busiest[two]}")
    total = sum(c.ranks.values())
    if c.two_level:
        why = f"on: {total} ranks, and preCICE recommends it for more than {TWO_LEVEL_RANKS}"
    elif min(c.ranks.values()) == 1:
        why = "off: it needs two parallel participants"
    else:
        why = f"off: {total} ranks; it pays for more than {TWO_LEVEL_RANKS}, where one rank would have to handle the " \
              f"whole coupling mesh"
    lines.append(f"two-level initialisation {why}")
    return _comment(*lines, indent="  ") + (
        f"  <m2n:sockets acceptor={attribute(one)} connector={attribute(two)} exchange-directory=\"..\" "
        f"use-two-level-initialization=\"{str(c.two_level).lower()}\"/>\n")


def _comment(*lines: str, indent: str = "") -> str:
    """An XML comment; two hyphens, which it may not hold, are set apart."""
    inner = re.sub("-(?=-)", "- ", "".join(f"{indent}     {line}\n" for line in lines)).lstrip()
    return f"{indent}<!-- {inner.rstrip()} -->\n"


def _ranks(numbers: list[int]) -> str:
    """Ascending numbers in words: ranks 0-2, 5."""
    return f"rank{'s' * (len(numbers) > 1)} {spans(numbers)}" if numbers else "none"


def _largest(counts: NDArray[np.int64]) -> int:
    return int(counts.max(initial=0))


__all__ = ["TWO_LEVEL_RANKS", "Channel", "channel", "precice_hints", "write_precice"]
