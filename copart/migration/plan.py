"""Who sends which cells to whom when a co-partition gives way to another.

The lists are what a code needs that moves its data; the cells that appear in none of
them stay.  Applied to the former parts they give the new ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import OFFSET, VERTEX, WEIGHT, frozen, integers, part_array, weights, whole
from ..coupling import CoPartition, CoupledProblem
from ..errors import CouplingError
from ..metrics.columns import plural


@dataclass(frozen=True, eq=False, repr=False)
class Moves:
    """The cells of one component that change their part, one message per pair of parts.

    Parameters
    ----------
    ncells : int
        Number of cells of the component.
    former_parts, nparts : int
        Number of parts before and after; equal part numbers are the same process.
    source, target : (nmessages,) array_like of int
        Former and new part, different, ascending by (source, target); kept as int32.
    indptr : (nmessages + 1,) array_like of int
        Where the cells of each message begin, kept as int64; no message is empty.
    cells : (indptr[-1],) array_like of int
        Cells, ascending in a message, each at most once; kept as int32.
    volume : (nmessages,) array_like of int, optional
        Data of each message: sum of the cells' sizes; their number where not given.

    Raises
    ------
    CouplingError
        The arrays break a rule.
    """

    ncells: int
    former_parts: int
    nparts: int
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    indptr: NDArray[np.int64]
    cells: NDArray[np.int32]
    volume: NDArray[np.int64] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        n, m, k = (whole(name, getattr(self, name), low=low) for name, low in
                   (("ncells", 0), ("former_parts", 1), ("nparts", 1)))
        source = part_array("source", self.source, np.size(self.source), m, CouplingError)
        target = part_array("target", self.target, len(source), k, CouplingError)
        indptr = integers("indptr", self.indptr, OFFSET, CouplingError, low=0, size=len(source) + 1)
        cells = integers("cells", self.cells, VERTEX, CouplingError, low=0, high=max(n, 1), size=int(indptr[-1]))
        key = source.astype(OFFSET) * k + target
        if (source == target).any():
            raise CouplingError(f"moves: message {int(np.argmax(source == target))} goes from a part to itself")
        if (np.diff(key) <= 0).any():
            raise CouplingError("moves: messages must ascend by former part, then by new part")
        if indptr[0] != 0 or (np.diff(indptr) <= 0).any():
            raise CouplingError("indptr: must start with 0 and rise, no message is empty")
        inside = np.ones(len(cells), bool)
        inside[indptr[:-1]] = False
        if (inside[1:] & (np.diff(cells) <= 0)).any():
            raise CouplingError("cells: must ascend in every message")
        once, count = np.unique(cells, return_counts=True)
        if count.max(initial=0) > 1:
            raise CouplingError(f"cells: cell {once[count.argmax()]} is sent {count.max()} times")
        size = np.diff(indptr) if self.volume is None else weights("volume", self.volume, len(source), CouplingError)
        for name, number in (("ncells", n), ("former_parts", m), ("nparts", k)):
            object.__setattr__(self, name, number)
        for name, value in (("source", source), ("target", target), ("indptr", indptr), ("cells", cells),
                            ("volume", size)):
            object.__setattr__(self, name, frozen(value))

    @classmethod
    def between(cls, old: ArrayLike, new: ArrayLike, m: int, n: int, sizes: ArrayLike | None = None) -> Moves:
        """What turns the parts `old` (``0..m-1``) into `new` (``0..n-1``).

        Parameters
        ----------
        old, new : (ncells,) array_like of int
        m, n : int
        sizes : (ncells,) array_like of int, optional
            Data that moves with each cell; 1 where not given.

        Examples
        --------
        >>> moves = Moves.between([0, 0, 1, 1], [0, 2, 1, 2], 2, 3)
        >>> list(zip(moves.source.tolist(), moves.target.tolist(), moves.lists()))
        [(0, 2, [1]), (1, 2, [3])]
        """
        m, n = whole("m", m, low=1), whole("n", n, low=1)
        was = part_array("old", old, np.size(old), m, CouplingError)
        now = part_array("new", new, len(was), n, CouplingError)
        cells = np.flatnonzero(was != now).astype(VERTEX)
        key = was[cells].astype(OFFSET) * n + now[cells]
        order = np.argsort(key, kind="stable")
        pairs, first = np.unique(key[order], return_index=True)
        cells, indptr = cells[order], np.append(first, len(cells)).astype(OFFSET)
        volume = None
        if sizes is not None:
            data = weights("sizes", sizes, len(was), CouplingError)[cells]
            volume = np.add.reduceat(data, indptr[:-1]) if len(pairs) else np.zeros(0, WEIGHT)
        return cls(len(was), m, n, (pairs // n).astype(VERTEX), (pairs % n).astype(VERTEX), indptr, cells,
                   volume)  # type: ignore[arg-type]

    def lists(self) -> list[list[int]]:
        """The cells of each message."""
        return [part.tolist() for part in np.split(self.cells, self.indptr[1:-1])] if len(self.source) else []

    def apply(self, old: ArrayLike) -> NDArray[np.int32]:
        """The new part of every cell, (ncells,) int32, from the former one.

        Raises
        ------
        CouplingError
            `old` has another length, or a cell is not in the part that is to send it, or would stay in a part
            that is no more.
        """
        part = part_array("former parts", old, self.ncells, self.former_parts, CouplingError).copy()
        sender = np.repeat(self.source, np.diff(self.indptr))
        wrong = part[self.cells] != sender
        if wrong.any():
            i = int(np.argmax(wrong))
            raise CouplingError(f"former parts: cell {self.cells[i]} is in part {part[self.cells[i]]}, the migration "
                                f"plan sends it from part {sender[i]} ({int(wrong.sum())} such cells)")
        part[self.cells] = np.repeat(self.target, np.diff(self.indptr))
        left = part >= self.nparts
        if left.any():
            raise CouplingError(f"former parts: {int(left.sum())} cells stay in parts that are no more, first cell "
                                f"{int(np.argmax(left))}; the migration plan is for other parts")
        return part

    def __repr__(self) -> str:
        count = len(self.source)
        return (f"{len(self.cells)} of {self.ncells} cells move in {count} {plural(count, 'message')}, volume "
                f"{int(self.volume.sum())}, from {self.former_parts} to {self.nparts} {plural(self.nparts, 'part')}")


@dataclass(frozen=True, eq=False, repr=False)
class MigrationPlan:
    """The moves of every component.

    Attributes
    ----------
    moves : mapping of str to Moves
        By component, in their order.
    """

    moves: Mapping[str, Moves]

    def __post_init__(self) -> None:
        object.__setattr__(self, "moves", MappingProxyType(dict(self.moves)))

    @classmethod
    def between(cls, old: CoPartition, new: CoPartition, problem: CoupledProblem | None = None) -> MigrationPlan:
        """What turns co-partition `old` into `new`; `problem` has the sizes of the cells, 1 where not given.

        Parameters
        ----------
        old, new : CoPartition
            Of the same components.
        problem : CoupledProblem, optional
            Has the data that moves with each cell.
        """
        if set(old.names) != set(new.names):
            raise CouplingError(f"co-partitions: are of {', '.join(old.names)} and of {', '.join(new.names)}")
        return cls({name: Moves.between(old[name], new[name], old.nparts[name], new.nparts[name],
                                        None if problem is None else problem.components[name].sizes)
                    for name in old.names})

    @property
    def volume(self) -> int:
        """Data that changes its process, of all components."""
        return sum(int(moves.volume.sum()) for moves in self.moves.values())

    @property
    def messages(self) -> int:
        """Pairs of processes with something to move, of all components."""
        return sum(len(moves.source) for moves in self.moves.values())

    def apply(self, old: CoPartition) -> dict[str, NDArray[np.int32]]:
        """The new parts of every component from the former co-partition; errors as of :meth:`Moves.apply`."""
        if set(old.names) != set(self.moves):
            raise CouplingError(f"former: is of {', '.join(old.names)}, the migration plan of {', '.join(self.moves)}")
        return {name: moves.apply(old[name]) for name, moves in self.moves.items()}

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {moves!r}" for name, moves in self.moves.items())


__all__ = ["MigrationPlan", "Moves"]
