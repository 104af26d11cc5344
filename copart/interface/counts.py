"""How many parts each component has, and how many of them may own coupled cells.

Counts come by component name, in the order of the components, or as one number for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import whole
from ..coupling import CoupledProblem
from ..errors import ConfigError, CouplingError
from ..metrics import copartition_limit
from ..options import Options

Counts = Mapping[str, int | None] | Sequence[int | None] | int

INTERFACE_SHARE = 3
"""By default at most one in so many cells of a coupled part is on the interface: thin walls need more coupled parts."""

MOST_CHOICES = 16
"""Values of N^cpl that are tried, at most."""

INTERFACES = ("spread", "gather", "uncut")
"""How an interface is laid on processes; see :func:`coupled_counts`."""


def part_counts(problem: CoupledProblem, nparts: Counts) -> dict[str, int]:
    """Number of parts of each component, by name.

    Raises
    ------
    ConfigError
        A component has no count, an unknown one has, or a count is below 1.
    """
    counts = {}
    for name, n in _by_name(problem, nparts, "nparts").items():
        if n is None:
            raise ConfigError(f"nparts of {name}: is missing")
        counts[name] = n
    return counts


def default_ncoupled(nparts: int) -> int:
    """``floor(N^(2/3))``: as many parts as touch one face of a cube cut into N cubes."""
    count = round(nparts ** (2 / 3))
    return int(count if count**3 <= nparts**2 else count - 1)


def coupled_counts(
    problem: CoupledProblem,
    nparts: Mapping[str, int],
    ncoupled: Counts | None,
    *,
    interface: str = "spread",
    eps: float = 0.05,
) -> dict[str, int]:
    """N^cpl of each component: as asked, else ``floor(N^(2/3))``, more where much of the load is on the interface.

    A part that owns a share 1/N^cpl of the coupled weight must not outweigh (1 + eps)/N of the
    whole; and no more parts can be coupled than there are coupled cells.

    Parameters
    ----------
    problem : CoupledProblem
    nparts : mapping of str to int
    ncoupled : mapping, sequence or int, optional
        Counts that are asked for; None for those that are not.
    interface : {"spread", "gather", "uncut"}
        Where no count is asked for: over ``floor(N^(2/3))`` parts, or (gather, uncut) over as few as can hold it.
    eps : float
        Imbalance allowed.

    Raises
    ------
    CouplingError
        No interface, or a count that was asked for is too small, too large or above N.
    """
    return {name: found[0] for name, found in coupled_choices(problem, nparts, ncoupled, interface=interface,
                                                              eps=eps).items()}


def coupled_choices(problem: CoupledProblem, nparts: Mapping[str, int], ncoupled: Counts | None, *,
                    interface: str = "spread", eps: float = 0.05) -> dict[str, list[int]]:
    """Values for N^cpl of each component, the best first; one where it was asked for.

    Whether cells of unequal weight can be shared out evenly is only known when it has been tried: where it fails with
    the first number, a scheme goes on to the next.

    Parameters and errors as in :func:`coupled_counts`.
    """
    if interface not in INTERFACES:
        raise ConfigError(f"interface: {interface!r} is not known; choose one of {', '.join(INTERFACES)}")
    asked: dict[str, int | None] = (
        dict.fromkeys(problem.names) if ncoupled is None else _by_name(problem, ncoupled, "ncoupled")
    )
    few = interface != "spread"
    return {name: _choices(problem, name, nparts[name], asked[name], eps, few) for name in problem.names}


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


def _choices(problem: CoupledProblem, name: str, n: int, asked: int | None, eps: float, few: bool) -> list[int]:
    graph, cells = problem.components[name], problem.coupled(name)
    if not len(cells):
        raise CouplingError(f"component {name}: no cell has an interedge, there is no interface to partition")
    weights = graph.weights[cells]
    load, heaviest = int(weights.sum()), int(weights.max())
    room = copartition_limit(graph.total_weight, n, eps)
    most = min(n, len(cells))
    inside = graph.nvtxs - len(cells)  # as many parts can do without coupled cells
    if heaviest > room:
        raise CouplingError(
            f"component {name}: coupled cell {cells[int(weights.argmax())]} weighs {heaviest}, more than a part "
            f"may ({room}); use fewer parts or raise eps"
        )
    least = max(1, -(-load // room)) if room else 1
    if asked is None:
        if least > most:
            raise CouplingError(
                f"component {name}: its coupled cells weigh {load} of {graph.total_weight}, more than {most} of "
                f"{n} parts can hold; ask for fewer parts or raise eps"
            )
        least = min(max(least, n - inside), most)
        safe = least
        # loads of unequal cells do not divide evenly: leave room for one cell more in the fullest part
        while safe < most and load % safe and heaviest > 1 and -(-load // safe) + heaviest > room:
            safe += 1
        share = -(-INTERFACE_SHARE * load * n // max(graph.total_weight, 1))
        first = safe if few else min(max(default_ncoupled(n), share, safe), most)
        return sorted(range(least, most + 1), key=lambda k: (abs(k - first), -k))[:MOST_CHOICES]
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


def _by_name(problem: CoupledProblem, counts: Counts, what: str) -> dict[str, int | None]:
    """Counts by component name, from a mapping, a sequence in order, or one number for all."""
    if isinstance(counts, Mapping):
        unknown = set(counts) - set(problem.names)
        if unknown:
            raise ConfigError(f"{what}: no component {sorted(unknown)[0]!r}; known: {', '.join(problem.names)}")
        given = {name: counts.get(name) for name in problem.names}
    elif isinstance(counts, Sequence) or np.ndim(counts) == 1:
        if len(counts) != len(problem.names):  # type: ignore[arg-type]
            raise ConfigError(f"{what}: needs {len(problem.names)} numbers, one per component, got {len(counts)}")  # type: ignore[arg-type]
        given = dict(zip(problem.names, counts, strict=True))  # type: ignore[arg-type]
    else:
        given = dict.fromkeys(problem.names, counts)
    return {name: None if c is None else whole(f"{what} of {name}", c, low=1) for name, c in given.items()}


__all__ = ["INTERFACES", "INTERFACE_SHARE", "Counts", "coupled_choices", "coupled_counts", "default_ncoupled",
           "part_counts", "within_parts"]
