"""The exceptions copart raises.

::

    CopartError (ValueError)
    ├── GraphError       a graph or its weights break a rule
    ├── CouplingError    interedges, components or co-partitions break a rule
    │   └── NotApplicableError  a scheme is not made for the problem
    ├── PartitionError   no partition with the requested properties exists
    ├── MappingError     a machine, a mapping onto it or a placement of ranks breaks a rule
    ├── MeshError        a mesh, or the interface between two meshes, is unusable
    │   └── NoInterfaceError    two meshes do not meet
    ├── FormatError      a file is unreadable or ill-formed (carries path and line)
    ├── ExchangeError    processes exchange different things, or one of them has left
    └── ConfigError      an argument or option is out of range

Messages name the parameter, the rule, the value found and the first place,
in lower case without a full stop.  All derive from ``ValueError`` so general
handlers work; the command line turns them into one line and exit status 2.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager


class CopartError(ValueError):
    """Base of every error copart raises on bad input or impossible requests."""


class GraphError(CopartError):
    """A graph or its weights break a rule."""


class CouplingError(CopartError):
    """Interedges, components or co-partitions break a rule."""


class NotApplicableError(CouplingError):
    """A scheme is not made for the problem, or for an option that goes with it."""


class PartitionError(CopartError):
    """No partition with the requested properties exists (or none was found).

    Parameters
    ----------
    rule : str
        What is wrong, in lower case; ``{vertex}`` stands for `vertex` where that is given.
    ways : sequence of str
        What helps, as in ``raise eps``.
    vertex : int, optional
        The vertex that it is about.
    best : bool
        Whether a caller who partitions one graph may take the best balance instead.
    """

    def __init__(self, rule: str, *, ways: Sequence[str] = (), vertex: int | None = None, best: bool = False):
        self.rule, self.ways, self.vertex, self.placed = rule, tuple(ways), vertex, False
        said = rule if vertex is None else rule.replace("{vertex}", f"vertex {vertex}")
        if best:
            said += "; " + ", ".join([*ways, f"or {_BEST}"])
        elif ways:
            said += "; " + " or ".join(ways)
        super().__init__(said)

    def within(self, place: str, called: Callable[[int], str] | None) -> PartitionError:
        """This error as one of a coupled problem, where the best balance of one graph cannot be taken.

        Parameters
        ----------
        place : str
            Which component it is about, or the pool.
        called : callable, optional
            What a vertex is called there, by its number.
        """
        if self.placed:
            return self
        rule = self.rule
        if self.vertex is not None:
            rule = rule.replace("{vertex}", f"vertex {self.vertex}" if called is None else called(self.vertex))
        error = PartitionError(f"{place}: {rule}", ways=self.ways)
        error.placed = True
        return error


class MappingError(CopartError):
    """A machine, a mapping onto it or a placement of ranks breaks a rule."""


class MeshError(CopartError):
    """A mesh, or the interface between two meshes, is unusable."""


class NoInterfaceError(MeshError):
    """Two meshes do not meet anywhere."""


class ExchangeError(CopartError):
    """Processes exchange different things, or one of them has left."""


class ConfigError(CopartError):
    """An argument or option is out of its range."""


#: The way out where one graph is partitioned, in Python and in a terminal.
_BEST = "take the best balance (strict=False; copart part --best-balance)"

#: Characters of what is wrong with a file that are told.
_LONGEST = 1500


class FormatError(CopartError):
    """A file is unreadable or ill-formed.

    Parameters
    ----------
    path : path-like
        The file.
    rule : str
        What is wrong, in lower case.
    line : int, optional
        Line number, counted from 1.
    """

    def __init__(self, path: str | os.PathLike[str], rule: str, line: int | None = None):
        if len(rule) > _LONGEST:
            # it quotes half of a damaged file
            rule = f"{rule[:_LONGEST - 200]} ... {rule[-190:]}"
        self.path, self.rule, self.line = os.fspath(path), rule, line
        place = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{place}: {rule}")

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, str, int | None]]:
        return type(self), (self.path, self.rule, self.line)


@contextmanager
def of_component(name: str, cells: Callable[[int], int] | None = None) -> Iterator[None]:
    """Let a `PartitionError` that comes from inside say which component it is about.

    Parameters
    ----------
    name : str
        Of the component.
    cells : callable, optional
        Which cell of the component a vertex inside is, by its number, where that is another.
    """
    with _within(f"component {name}", None if cells is None else lambda vertex: f"cell {cells(vertex)}"):
        yield


@contextmanager
def of_pool(cells: Callable[[int], str]) -> Iterator[None]:
    """Let a `PartitionError` that comes from inside say that it is about a pool that components share.

    Parameters
    ----------
    cells : callable
        What a vertex inside is called, by its number: ``cell 3 of fluid``.
    """
    with _within("pool", cells):
        yield


@contextmanager
def _within(place: str, called: Callable[[int], str] | None) -> Iterator[None]:
    try:
        yield
    except PartitionError as error:
        raise error.within(place, called) from None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``"; did you mean facet?"`` where one of the known words is near, else nothing: the end of a message.

    Examples
    --------
    >>> did_you_mean("facett", ["facet", "touch"])
    '; did you mean facet?'
    >>> did_you_mean("volume", ["facet", "touch"])
    ''
    """
    from difflib import get_close_matches

    near = get_close_matches(word, [*known], n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""
