"""Agreement of all ranks on how they go on: all with the same arguments, or all with the same error.

A rank that raises while the others enter a collective call leaves them waiting for ever.  So every rank looks at its
own arguments first and keeps what it finds; one small reduction then tells all of them whether any rank has an error,
and whether the arguments that must be the same are.  Only where something is wrong is more sent: the error, or the
two values.  What runs on some ranks only, later on, goes through the same door.  A wrong communicator alone stays an
error of its rank: there is nothing to tell the others with.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .. import errors
from ..errors import ConfigError
from .arguments import check_communicator, digest

T = TypeVar("T")
P = ParamSpec("P")

#: Most values that one step compares, the name of the step included; the same on all ranks whatever they call, so
#: that ranks which call different functions find out as well.
SLOTS = 12


def collective(function: Callable[P, T], *, at: int = 0, world: Callable[[Any], Any] = lambda comm: comm,
               ) -> Callable[P, T]:
    """Decorator of what all ranks call: arguments that do not fit the signature on one rank are an error of all.

    Python itself would raise on that rank alone.  The first parameter of `function`, or number `at` of a method, is the
    communicator, and the first thing it does is :func:`agree` on the `world` that it makes of it.
    """
    signature, name = inspect.signature(function), function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def entry(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            misfit = TypeError(f"{name}() {error}")

            def refused() -> Any:
                raise misfit

            agree(world(args[at] if len(args) > at else kwargs.get("comm")), name, refused)
        return function(*args, **kwargs)

    return entry


def agree(comm: Any, step: str, work: Callable[[], tuple[T, Mapping[str, Any]]]) -> T:
    """Do the work of this rank, then go on or raise as all others do.  Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    step : str
        What the ranks are about to do, the same on all of them.
    work : callable
        Gives a result and, by name, the values that must be the same on all ranks: None, strings, numbers, arrays,
        and sequences of these.  It must not communicate.

    Returns
    -------
    object
        The result of `work` on this rank.

    Raises
    ------
    Exception
        Of the first rank whose work raised one, alike on all ranks; ConfigError where the values differ.
    """
    check_communicator(comm)
    size, found, failure = comm.size, None, None
    shown: dict[str, Any] = {"collective call": step}
    # the lowest rank that failed; of every value the digest and its complement: their minima are the
    # smallest digest and the complement of the largest
    record = np.zeros(1 + 2 * SLOTS, np.uint64)
    record[0] = size
    try:
        found, same = work()
        shown.update(same)
        digests = np.zeros(SLOTS, np.uint64)
        digests[:len(shown)] = [digest(value) for value in shown.values()]
        record[1:] = np.concatenate([digests, ~digests])
    except Exception as caught:
        failure = caught
        record[0] = comm.rank
    least = np.empty_like(record)
    _reduce(comm, record, least)
    if least[0] < size:
        _raise_alike(comm, int(least[0]), failure)
    low, high = least[1:1 + SLOTS], ~least[1 + SLOTS:]
    if (low != high).any():
        slot = int(np.argmax(low != high))
        # the step comes first: where it is the same, so are the names
        name, value = list(shown.items())[slot]
        _raise_difference(comm, name, value, [record[1 + slot] == end for end in (low[slot], high[slot])])
    return found  # type: ignore[return-value]


def together(comm: Any, step: str, work: Callable[[], T]) -> T:
    """:func:`agree` for work on some ranks or in the middle of an algorithm, with nothing to compare."""
    return agree(comm, step, lambda: (work(), {}))


def _reduce(comm: Any, mine: Any, least: Any) -> None:
    """The least of every entry on all ranks."""
    from mpi4py import MPI

    comm.Allreduce(mine, least, MPI.MIN)


def _raise_alike(comm: Any, rank: int, failure: Exception | None) -> None:
    """Raise the error of one rank on all of them."""
    kind, text = comm.bcast(_as_told(failure) if failure is not None and comm.rank == rank else None, rank)
    known = getattr(errors, kind, None) or getattr(builtins, kind)
    raise _made(known, f"rank {rank}: ", text) from (failure if comm.rank == rank else None)


def _made(known: Any, before: str, told: str | tuple[Any, ...]) -> Exception:
    """An error of a known class with the rank in front of its message."""
    if isinstance(told, str):
        made: Exception = known(before + told)
    else:
        made = known(*told)
        made.args = (f"{before}{made}",)
    return made


def _as_told(failure: Exception) -> tuple[str, str | tuple[Any, ...]]:
    """Name of a class that every rank has, and what it is made of: the message, where that alone makes it."""
    text = str(failure) or type(failure).__name__
    if type(failure) is errors.FormatError:
        return "FormatError", (failure.path, failure.rule, failure.line)
    for kind in type(failure).__mro__:
        known = getattr(errors, kind.__name__, getattr(builtins, kind.__name__, None)) is kind
        if known and issubclass(kind, Exception) and kind is not Exception:
            try:
                if str(kind(text)) == text:
                    return kind.__name__, text if kind is type(failure) else f"{type(failure).__name__}: {text}"
            except TypeError:  # wants more than a message; what it derives from may not
                continue
    return "RuntimeError", f"{type(failure).__name__}: {text}"


def _raise_difference(comm: Any, name: str, value: Any, extreme: list[bool]) -> None:
    """Name two ranks that hold different values: the first with the smallest digest, the first with the largest."""
    first = np.empty(2, np.uint64)
    _reduce(comm, np.array([comm.rank if mine else comm.size for mine in extreme], np.uint64), first)
    one, other = sorted(first.tolist())
    mine = reprlib.repr(value.tolist() if isinstance(value, np.ndarray) else value)
    here, there = comm.bcast(mine, one), comm.bcast(mine, other)
    raise ConfigError(f"{name}: must be the same on all ranks, is {here} on rank {one} and {there} on rank {other}")


__all__ = ["SLOTS", "agree", "collective", "together"]
