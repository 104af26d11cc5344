"""How many parts each component has, and how many of them may own coupled cells.

Counts come by component name, in the order of the components, or as one number for all.  How many parts own coupled
cells (N^cpl) is chosen by one of :data:`COUPLED_RULES` where it is not given.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from ..arrays import whole
from ..coupling import CoupledProblem
from ..errors import ConfigError, CouplingError, PartitionError, did_you_mean
from ..metrics import copartition_limit
from ..metrics.natural import natural_count
from ..names import InterfaceRule, known_name
from ..options import Options, Settings
from .natural import shares_alone

logger = logging.getLogger(__name__)

Counts = Mapping[str, int | None] | Sequence[int | None] | int
CoupledCounts = Counts | Literal["paper"]
"""Numbers of parts that own coupled cells, or the word for the rule of the source."""

PAPER: Literal["paper"] = "paper"

INTERFACE_SHARE = 3
"""By "paper" at most one in so many cells of a coupled part is on the interface: thin walls need more coupled parts."""

MOST_CHOICES = 16
"""Values of N^cpl that are tried, at most."""

INTERFACES: tuple[InterfaceRule, ...] = get_args(InterfaceRule)
"""How an interface is laid on processes; see :func:`coupled_counts`."""

COUPLED_RULES = {
    "natural": "about as many parts as the interface meets where each component is partitioned alone",
    PAPER: "floor(N^(2/3)), as many parts as touch one face of a cube, more on thin walls",
    "gather": "as few parts as can hold the coupled cells",
    "uncut": "what faces one other component in one part, where it fits",
    "given": "as asked for",
    "advised": "of least cost in the model of the interface",
    "kept": "as many as before where N is the same and they can hold the coupled cells, else natural",
}
"""The ways to choose N^cpl, as ``metrics.json`` names them, and what they mean."""


def part_counts(problem: CoupledProblem, nparts: Counts, what: str = "nparts") -> dict[str, int]:
    """Number of parts of each component, by name.

    Parameters
    ----------
    problem : CoupledProblem
    nparts : mapping, sequence or int
        By name, in order, or one number for all.
    what : str
        What they are called in an error.

    Raises
    ------
    ConfigError
        A component has no count, an unknown one has, or a count is below 1.
    """
    counts = {}
    for name, n in _by_name(problem, nparts, what).items():
        if n is None:
            raise ConfigError(f"{what} of {name}: is missing")
        counts[name] = n
    return counts


def default_ncoupled(nparts: int) -> int:
    """``floor(N^(2/3))``: as many parts as touch one face of a cube cut into N cubes.

    (Predari & Esnard 2014, experiments.)

    Parameters
    ----------
    nparts : int
        N, at least 1.
    """
    count = round(nparts ** (2 / 3))
    return int(count if count**3 <= nparts**2 else count - 1)


def coupled_rule(ncoupled: CoupledCounts | None, interface: InterfaceRule = "spread", what: str = "ncoupled") -> str:
    """By which of :data:`COUPLED_RULES` N^cpl is chosen: "given", "paper", or "natural", "gather" or "uncut".

    Parameters
    ----------
    ncoupled : mapping, sequence, int or "paper", optional
    interface : {"spread", "gather", "uncut"}
        Decides where `ncoupled` is not given.
    what : str
        What `ncoupled` is called in an error.

    Raises
    ------
    ConfigError
        Another word, or another interface.

    Examples
    --------
    >>> coupled_rule(None), coupled_rule((2, 3)), coupled_rule("paper"), coupled_rule(None, "gather")
    ('natural', 'given', 'paper', 'gather')
    """
    known_name("interface", interface, INTERFACES)
    if isinstance(ncoupled, str):
        if ncoupled != PAPER:
            raise ConfigError(f"{what}: {ncoupled!r} is not known; give numbers or {PAPER!r}, or leave it out for "
                              f"natural counts")
        return PAPER
    if ncoupled is not None:
        return "given"
    return "natural" if interface == "spread" else interface


def coupled_counts(problem: CoupledProblem, nparts: Mapping[str, int], ncoupled: CoupledCounts | None,
                   options: Options | None = None, *, interface: InterfaceRule = "spread", **settings: Unpack[Settings]
                   ) -> dict[str, int]:
    """N^cpl of each component: as asked, else as many parts as its interface naturally meets.

    A part that owns a share 1/N^cpl of the coupled weight must not outweigh (1 + eps)/N of the
    whole; and no more parts can be coupled than there are coupled cells.

    Natural counts come from what NAIVE makes of the component, quickly: with x_k the coupled weight of
    part k, ``(sum x)^2 / sum x^2`` rounded (:func:`copart.metrics.natural.exposure`).  On a cube's face that is
    about ``floor(N^(2/3))``, the rule of the source (Predari & Esnard 2014), around a body about N.

    Parameters
    ----------
    problem : CoupledProblem
    nparts : mapping of str to int
    ncoupled : mapping, sequence, int or "paper", optional
        Counts that are asked for; None for those that are not.  "paper" is ``floor(N^(2/3))`` for all, more where much
        of the load is on the interface.
    options : Options, optional
        eps, seed and threads (:class:`copart.options.Options`); each also by its own name, as in ``eps=0.1``.
    interface : {"spread", "gather", "uncut"}
        Where no count is asked for: over natural counts of parts, or (gather, uncut) over as few as can hold it.

    Raises
    ------
    ConfigError
        `ncoupled` or `interface` is another word, or a count is none.
    CouplingError
        No interface, or a count that was asked for is too small, too large or above N.
    """
    run = Options.of(options, settings)
    return {name: found[0] for name, found in
            coupled_choices(problem, nparts, ncoupled, run, interface=interface).items()}


def coupled_choices(problem: CoupledProblem, nparts: Mapping[str, int], ncoupled: CoupledCounts | None,
                    options: Options, *, interface: InterfaceRule = "spread") -> dict[str, list[int]]:
    """Values for N^cpl of each component, the best first; one where it was asked for.

    Whether cells of unequal weight can be shared out evenly is only known when it has been tried: where it fails with
    the first number, a scheme goes on to the next.

    Parameters and errors as in :func:`coupled_counts`.
    """
    word = ncoupled if isinstance(ncoupled, str) else None
    rule = coupled_rule(word, interface)
    asked: dict[str, int | None] = (
        dict.fromkeys(problem.names) if ncoupled is None or isinstance(ncoupled, str)
        else _by_name(problem, ncoupled, "ncoupled")
    )
    return {name: choices_of(problem, name, nparts[name], asked[name], options, rule) for name in problem.names}


def choices_of(problem: CoupledProblem, name: str, n: int, asked: int | None, options: Options,
               rule: str = "natural") -> list[int]:
    """Values for N^cpl of one component of `n` parts, the best first; only `asked` where it is given.

    Parameters
    ----------
    problem : CoupledProblem
    name : str
    n : int
    asked : int, optional
    options : Options
    rule : {"natural", "paper", "gather", "uncut"}
        What the first is where none is asked for.

    Raises
    ------
    CouplingError
        As in :func:`coupled_counts`.
    """
    graph, cells = problem.components[name], problem.coupled(name)
    if not len(cells):
        raise CouplingError(f"component {name}: no cell has an interedge, there is no interface to partition; leave it "
                            f"out, or take naive, or joint without a number of coupled parts")
    weights = graph.weights[cells]
    load, heaviest = int(weights.sum()), int(weights.max())
    room = copartition_limit(graph.total_weight, n, options.eps)
    most = min(n, len(cells))
    inside = graph.nvtxs - len(cells)  # as many parts can do without coupled cells
    if heaviest > room:
        raise CouplingError(
            f"component {name}: coupled cell {cells[int(weights.argmax())]} weighs {heaviest}, more than a part "
            f"may ({room}); use fewer parts or raise eps"
        )
    least = max(1, -(-load // room)) if room else 1
    # room is a matter of the cells' weights; how evenly the work of a coupling phase can be shared out, of the coupled
    even = _evenly(problem.coupled_load(name), most, options.eps) if problem.own_weights(name) else range(1, most + 1)
    if asked is None:
        if least > most:
            raise CouplingError(
                f"component {name}: its coupled cells weigh {load} of {graph.total_weight}, more than {most} of "
                f"{n} parts can hold; ask for fewer parts or raise eps"
            )
        least = min(max(least, n - inside), most)
        if least == most:
            return [most]
        safe = least
        # loads of unequal cells do not divide evenly: leave room for one cell more in the fullest part
        while safe < most and load % safe and heaviest > 1 and -(-load // safe) + heaviest > room:
            safe += 1
        first = min(max(_wanted(problem, name, n, rule, options), safe), most)
        choices = [k for k in range(least, most + 1) if k in even] or [least]
        return sorted(choices, key=lambda k: (abs(k - first), -k))[:MOST_CHOICES]
    if asked > most:
        what = f"there are {len(cells)} coupled cells" if most < n else f"it has {n} parts"
        raise CouplingError(f"ncoupled of {name}: {asked} parts asked for, but {what}; ask for at most {most}")
    if room and asked * room < load:
        raise CouplingError(
            f"ncoupled of {name}: {asked} parts cannot hold the coupled cells, which weigh {load} where a part of "
            f"{n} may weigh {room}; ask for at least {least}"
        )
    if inside < n - asked and n <= graph.nvtxs:
        raise CouplingError(
            f"ncoupled of {name}: {n - asked} parts would own no coupled cell, but only {inside} cells are not "
            f"coupled; ask for at least {n - inside}"
        )
    return [asked]


def within_parts(options: Options, total: int, nparts: int, load: int, ncoupled: int) -> Options:
    """Options for a partition of the coupled cells none of whose parts outweighs a part of the whole.

    Parameters
    ----------
    options : Options
    total, nparts : int
        Weight of the component and number of its parts.
    load, ncoupled : int
        Weight of its coupled cells and number of the parts that own them.
    """
    room = ncoupled * copartition_limit(total, nparts, options.eps)
    return options if room >= (1 + options.eps) * load else options.replace(eps=max(0.0, room / load - 1))


def _evenly(work: NDArray[np.int64], most: int, eps: float) -> list[int]:
    """Among how many parts, of up to `most`, cells of these coupled weights may have even shares.

    The heaviest cell is in some part, and some part has as many cells as the mean, rounded up, or more.
    """
    some = work[work > 0]
    total, heaviest, lightest = int(some.sum()), int(some.max()), int(some.min())
    return [k for k in range(1, most + 1)
            if max(heaviest, -(-len(some) // k) * lightest) <= copartition_limit(total, k, eps)]


def _wanted(problem: CoupledProblem, name: str, n: int, rule: str, options: Options) -> int:
    """N^cpl of a component by a rule, whatever balance needs."""
    graph, cells = problem.components[name], problem.coupled(name)
    if rule == PAPER:
        load = int(graph.weights[cells].sum())
        return max(default_ncoupled(n), -(-INTERFACE_SHARE * load * n // max(graph.total_weight, 1)))
    if rule != "natural":
        return 1
    try:
        return natural_count(shares_alone(problem, name, n, options), len(cells), 0)
    except PartitionError as error:  # the scheme may still find a partition
        logger.info("%s; N^cpl of %s is floor(N^(2/3))", error, name)
        return default_ncoupled(n)


def _by_name(problem: CoupledProblem, counts: Counts, what: str) -> dict[str, int | None]:
    """Counts by component name, from a mapping, a sequence in order, or one number for all."""
    if not isinstance(problem, CoupledProblem):
        raise CouplingError(f"problem: needs a CoupledProblem, got {type(problem).__name__}")
    if isinstance(counts, Mapping):
        unknown = set(counts) - set(problem.names)
        if unknown:
            raise ConfigError(f"{what}: no component {sorted(unknown)[0]!r}; known: {', '.join(problem.names)}"
                              + did_you_mean(str(sorted(unknown)[0]), problem.names))
        given = {name: counts.get(name) for name in problem.names}
    elif isinstance(counts, Sequence) or np.ndim(counts) == 1:
        if len(counts) != len(problem.names):  # type: ignore[arg-type]
            raise ConfigError(f"{what}: needs {len(problem.names)} numbers, one per component, got {len(counts)}")  # type: ignore[arg-type]
        given = dict(zip(problem.names, counts, strict=True))  # type: ignore[arg-type]
    else:
        given = dict.fromkeys(problem.names, counts)
    return {name: None if c is None else whole(f"{what} of {name}", c, low=1) for name, c in given.items()}


__all__ = ["COUPLED_RULES", "INTERFACES", "INTERFACE_SHARE", "PAPER", "Counts", "CoupledCounts", "choices_of",
           "coupled_choices", "coupled_counts", "coupled_rule", "default_ncoupled", "part_counts", "within_parts"]
