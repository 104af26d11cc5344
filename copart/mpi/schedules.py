"""What the processes of a co-partition exchange, list by list: from the folder of a plan, or from the values."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..coupling import CoPartition, CoupledProblem
from ..errors import ConfigError, FormatError
from ..formats.exchange_files import (
    Lists,
    component_name,
    exchange_files,
    halo_lists,
    interedge_lists,
    owned_lists,
    pair_name,
    read_lists,
)
from ..formats.text import read_json
from ..metrics.pairs import check_fits
from .arguments import digest

Pair = tuple[str, str]


class Schedule(ABC):
    """Components, their numbers of parts, and lists of what each part exchanges."""

    nparts: Mapping[str, int]
    """By component."""
    shared: bool
    """Whether part k of every component is process k."""
    pairs: tuple[Pair, ...]
    """The components that meet."""
    mark: str
    """Says whether two processes have the same plan."""

    @abstractmethod
    def interedges(self, pair: Pair) -> Lists:
        """By part of the first and part of the second component."""

    @abstractmethod
    def halo(self, name: str) -> Lists:
        """By owner and part that holds a neighbour."""

    @abstractmethod
    def owned(self, name: str) -> Lists:
        """By part, twice."""

    @property
    def nprocs(self) -> int:
        """Processes of all components together."""
        return next(iter(self.nparts.values())) if self.shared else sum(self.nparts.values())

    def seats(self, rank: int) -> dict[str, int]:
        """The components that a process has a part of, and which, where processes are numbered as in the plan."""
        if self.shared:
            return dict.fromkeys(self.nparts, rank)
        for name, count in self.nparts.items():
            if rank < count:
                return {name: rank}
            rank -= count
        return {}

    def pair_of(self, pair: Pair | None) -> Pair:
        """The pair that is meant, in the order of the plan.

        Raises
        ------
        ConfigError
            There is no such pair, or several and none was named.
        """
        known = ", ".join(f"({a}, {b})" for a, b in self.pairs)
        if pair is None:
            if len(self.pairs) != 1:
                raise ConfigError(f"pair: the plan has {len(self.pairs)} pairs, name one of {known or 'none'}")
            return self.pairs[0]
        if not isinstance(pair, (tuple, list)) or tuple(pair) not in self.pairs:
            raise ConfigError(f"pair: must be one of {known}, in this order, got {pair!r:.60}")
        return pair[0], pair[1]


class FolderSchedule(Schedule):
    """The folder of a plan; of its lists only what a process asks for is read.

    Raises
    ------
    FormatError
        It is no folder of a plan, or of one without ``exchange/``.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self._folder = Path(folder)
        path = self._folder / "metrics.json"
        summary = read_json(path)
        try:
            settings, files = summary["settings"], summary["files"]
            self.nparts = dict(zip(settings["names"], settings["parts"], strict=True))
            self.shared = bool(settings.get("shared"))
            self.pairs = tuple((one["a"], one["b"]) for one in summary["metrics"]["pairs"])
            needed = exchange_files(self.nparts, self.pairs)
            self.mark = f"{digest([files[name] for name in needed]):016x}"
        except (KeyError, TypeError, ValueError) as e:
            raise FormatError(path, f"is of no plan with the files in exchange/, has no {e}; make the plan again "
                                    f"(copart plan)") from None

    def interedges(self, pair: Pair) -> Lists:
        return read_lists(self._folder, pair_name(*pair), (self.nparts[pair[0]], self.nparts[pair[1]]))

    def halo(self, name: str) -> Lists:
        return read_lists(self._folder, component_name(name, "halo"), (self.nparts[name],) * 2)

    def owned(self, name: str) -> Lists:
        return read_lists(self._folder, component_name(name, "owned"), (self.nparts[name],) * 2)


class ValueSchedule(Schedule):
    """A problem and its co-partition, on every process."""

    def __init__(self, problem: CoupledProblem, copartition: CoPartition):
        check_fits(problem, copartition)
        self._problem, self._made = problem, copartition
        self.nparts, self.shared = copartition.nparts, copartition.shared
        self.pairs = tuple(problem.pairs)
        met = [[*pair, *inter.pairs()] for pair, inter in problem.pairs.items()]
        self.mark = f"{digest([[[name, copartition[name]] for name in copartition.names], met]):016x}"

    def interedges(self, pair: Pair) -> Lists:
        a, b = pair
        return interedge_lists(self._problem.pairs[pair], self._made[a], self._made[b], self.nparts[b])

    def halo(self, name: str) -> Lists:
        return halo_lists(self._problem.components[name], self._made[name], self.nparts[name])

    def owned(self, name: str) -> Lists:
        return owned_lists(self._made[name], self.nparts[name])


def schedule_of(plan: Any) -> Schedule:
    """From the folder of a plan, a :class:`copart.Plan`, or a problem with its co-partition.

    Raises
    ------
    ConfigError, FormatError
        It is none of these, or unreadable.
    """
    if isinstance(plan, (str, os.PathLike)):
        return FolderSchedule(plan)
    both = plan if isinstance(plan, tuple) else (getattr(plan, "problem", None), getattr(plan, "copartition", None))
    if len(both) == 2 and isinstance(both[0], CoupledProblem) and isinstance(both[1], CoPartition):
        return ValueSchedule(*both)
    raise ConfigError(f"plan: needs the folder of a plan, a Plan, or (CoupledProblem, CoPartition), "
                      f"got {type(plan).__name__}")


__all__ = ["FolderSchedule", "Pair", "Schedule", "ValueSchedule", "schedule_of"]
