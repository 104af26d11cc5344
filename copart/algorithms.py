"""The published co-partitioning schemes, written in the five operators.

Read them beside Figures 10, 11 and 12 of Predari & Esnard 2014: NAIVE looks at
each component alone, AWARE partitions the coupled subgraphs first and extends,
PROJREPART makes the second coupled partition from a projection of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from .arrays import fraction, whole
from .coupling import CoPartition, CoupledProblem
from .errors import ConfigError, CouplingError
from .operators import ext, part, proj, repart, rest_joined

Counts = Mapping[str, int | None] | Sequence[int | None] | int


def naive(problem: CoupledProblem, nparts: Counts, ncoupled: Counts | None = None, **options: Any) -> CoPartition:
    """NAIVE: every component is partitioned alone; `ncoupled` plays no role."""
    count = _counts(problem, nparts)
    parts = {name: part(graph, count[name], **options) for name, graph in problem.components.items()}
    return CoPartition(parts, count)


def aware(problem: CoupledProblem, nparts: Counts, ncoupled: Counts | None = None, **options: Any) -> CoPartition:
    """AWARE: the coupled subgraphs are partitioned first, then extended to the components.

    Parameters
    ----------
    problem : CoupledProblem
        Two components (or more: each is treated by its own coupled subgraph).
    nparts : mapping, sequence or int
        Parts of each component, by name or in order.
    ncoupled : mapping, sequence or int, optional
        Parts of each component that may own coupled cells; see :func:`coupled_counts` where
        not given.
    **options
        eps, seed, threads, preset.

    Raises
    ------
    CouplingError
        No balanced extension exists with the `ncoupled` that was asked for.
    """
    count = _counts(problem, nparts)
    coupled = coupled_counts(problem, count, ncoupled, **options)
    parts = {}
    for name, graph in problem.components.items():
        graph_cpl, cells = rest_joined(graph, problem.coupled(name))
        part_cpl = part(graph_cpl, coupled[name], **options)
        parts[name] = ext(graph, cells, part_cpl, coupled[name], count[name], **options)
    return CoPartition(parts, count, coupled)


def projrepart(problem: CoupledProblem, nparts: Counts, ncoupled: Counts | None = None, **options: Any) -> CoPartition:
    """PROJREPART: B's coupled partition is A's, projected and repartitioned.

    Parameters and errors as in :func:`aware`; the problem has two components.
    """
    if len(problem.names) != 2:
        raise CouplingError(f"projrepart: needs two components, this problem has {len(problem.names)}")
    count = _counts(problem, nparts)
    coupled = coupled_counts(problem, count, ncoupled, **options)
    a, b = problem.names
    graph_a, cells_a = rest_joined(problem.a, problem.coupled(a))
    graph_b, cells_b = rest_joined(problem.b, problem.coupled(b))
    inter = problem.interedges.restricted(cells_a, cells_b)
    part_a = part(graph_a, coupled[a], **options)
    projected = proj(graph_a, graph_b, inter, part_a, coupled[a], **options)
    part_b = repart(graph_b, projected, coupled[a], coupled[b], **options)
    parts = {
        a: ext(problem.a, cells_a, part_a, coupled[a], count[a], **options),
        b: ext(problem.b, cells_b, part_b, coupled[b], count[b], **options),
    }
    return CoPartition(parts, count, coupled)


SCHEMES: dict[str, Callable[..., CoPartition]] = {"naive": naive, "aware": aware, "projrepart": projrepart}
"""The schemes by name."""


def scheme(name: str) -> Callable[..., CoPartition]:
    """The scheme called `name`; an unknown one lists those known."""
    if name not in SCHEMES:
        raise ConfigError(f"scheme: {name!r} is not known; choose one of {', '.join(SCHEMES)}")
    return SCHEMES[name]


# ---- how many parts
INTERFACE_SHARE = 3
"""By default at most one in so many cells of a coupled part is on the interface: thin walls need more coupled parts."""


def default_ncoupled(nparts: int) -> int:
    """``floor(N^(2/3))``: as many parts as touch one face of a cube cut into N cubes."""
    count = round(nparts ** (2 / 3))
    return int(count if count**3 <= nparts**2 else count - 1)


def coupled_counts(
    problem: CoupledProblem, nparts: Mapping[str, int], ncoupled: Counts | None, **options: Any
) -> dict[str, int]:
    """N^cpl of each component: as asked, else ``floor(N^(2/3))``, more where much of the load is on the interface.

    A part that owns a share 1/N^cpl of the coupled weight must not outweigh (1 + eps)/N of the
    whole; and no more parts can be coupled than there are coupled cells.

    Raises
    ------
    CouplingError
        No interface, or a count that was asked for is too small, too large or above N.
    """
    asked: dict[str, int | None] = (
        dict.fromkeys(problem.names) if ncoupled is None else _by_name(problem, ncoupled, "ncoupled")
    )
    eps = fraction("eps", options.get("eps", 0.05))
    return {name: _coupled_count(problem, name, nparts[name], asked[name], eps) for name in problem.names}


def _coupled_count(problem: CoupledProblem, name: str, n: int, asked: int | None, eps: float) -> int:
    graph, cells = problem.components[name], problem.coupled(name)
    if not len(cells):
        raise CouplingError(f"component {name}: no cell has an interedge, there is no interface to partition")
    weights = graph.weights[cells]
    load, heaviest = int(weights.sum()), int(weights.max())
    room = floor((1 + Fraction(repr(eps))) * graph.total_weight / n)
    most = min(n, len(cells))
    if heaviest > room:
        raise CouplingError(
            f"component {name}: coupled cell {cells[int(weights.argmax())]} weighs {heaviest}, more than a part "
            f"may ({room}); use fewer parts or raise eps"
        )
    least = max(1, -(-load // room)) if room else 1
    # loads of unequal cells do not divide evenly: leave room for one cell more in the fullest part
    while least <= n and load % least and heaviest > 1 and -(-load // least) + heaviest > room:
        least += 1
    if asked is None:
        if least > most:
            raise CouplingError(
                f"component {name}: its coupled cells weigh {load} of {graph.total_weight}, more than {most} of "
                f"{n} parts can hold; ask for fewer parts or raise eps"
            )
        share = -(-INTERFACE_SHARE * load * n // max(graph.total_weight, 1))
        return min(max(default_ncoupled(n), share, least), most)
    if asked > most:
        what = f"there are {len(cells)} coupled cells" if most < n else f"it has {n} parts"
        raise CouplingError(f"ncoupled of {name}: {asked} parts asked for, but {what}; ask for at most {most}")
    if room and asked * room < load:
        raise CouplingError(
            f"ncoupled of {name}: {asked} parts cannot hold the coupled cells, which weigh {load} where a part of "
            f"{n} may weigh {room}; ask for at least {least}"
        )
    return asked


def _counts(problem: CoupledProblem, nparts: Counts) -> dict[str, int]:
    counts = {}
    for name, n in _by_name(problem, nparts, "nparts").items():
        if n is None:
            raise ConfigError(f"nparts of {name}: is missing")
        counts[name] = n
    return counts


def _by_name(problem: CoupledProblem, counts: Counts, what: str) -> dict[str, int | None]:
    """Counts by component name, from a mapping, a sequence in order, or one number for all."""
    if isinstance(counts, Mapping):
        unknown = set(counts) - set(problem.names)
        if unknown:
            raise ConfigError(f"{what}: no component {sorted(unknown)[0]!r}; known: {', '.join(problem.names)}")
        given = {name: counts.get(name) for name in problem.names}
    elif isinstance(counts, Sequence) or np.ndim(counts) == 1:
        if len(counts) != len(problem.names):  # type: ignore[arg-type]
            raise ConfigError(f"{what}: needs {len(problem.names)} numbers, one a component, got {len(counts)}")  # type: ignore[arg-type]
        given = dict(zip(problem.names, counts, strict=True))  # type: ignore[arg-type]
    else:
        given = dict.fromkeys(problem.names, counts)
    return {name: None if c is None else whole(f"{what} of {name}", c, low=1) for name, c in given.items()}
