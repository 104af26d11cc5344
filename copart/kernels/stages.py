"""Where the time of a run goes: the seconds of each stage, and how many processors were at work in it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Spent(NamedTuple):
    """What one stage took."""

    seconds: float
    busy: float
    """Seconds of all processors together."""

    def plus(self, seconds: float, busy: float) -> Spent:
        """With more of both."""
        return Spent(self.seconds + seconds, self.busy + busy)


class Stages:
    """The stages of a run, in the order in which they first came; what is within another counts in the inner one.

    Attributes
    ----------
    spent : dict of str to Spent
    """

    def __init__(self) -> None:
        self.spent: dict[str, Spent] = {}
        self._open: list[str] = []
        self._since = (0.0, 0.0)

    def enter(self, name: str) -> None:
        """A stage begins; the one around it rests."""
        self._book()
        self._open.append(name)

    def leave(self) -> None:
        """The innermost stage ends."""
        self._book()
        self._open.pop()

    def _book(self) -> None:
        now = (time.perf_counter(), time.process_time())
        if self._open:
            name = self._open[-1]
            self.spent[name] = self.spent.get(name, Spent(0.0, 0.0)).plus(now[0] - self._since[0],
                                                                          now[1] - self._since[1])
        self._since = now

    def lines(self) -> list[str]:
        """One line per stage, the longest first: its seconds, its share of the whole, processors at work."""
        total = sum(one.seconds for one in self.spent.values())
        wide = max(map(len, self.spent), default=0)
        ordered = sorted(self.spent.items(), key=lambda item: -item[1].seconds)
        return [f"{name:{wide}} {one.seconds:8.3f} s {one.seconds / total if total else 0.0:5.0%} "
                f"{one.busy / one.seconds if one.seconds else 0.0:6.2f} processors" for name, one in ordered]


_watched: ContextVar[Stages | None] = ContextVar("watched", default=None)


@contextmanager
def watched() -> Iterator[Stages]:
    """Note the stages that this thread goes through; what other threads do for it is theirs that waits for them."""
    found = Stages()
    token = _watched.set(found)
    try:
        yield found
    finally:
        _watched.reset(token)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """One stage of a run; costs next to nothing where nobody watches.

    Parameters
    ----------
    name : str
        What is done, as a user would call it.
    """
    found = _watched.get()
    if found is None:
        yield
        return
    found.enter(name)
    try:
        yield
    finally:
        found.leave()


__all__ = ["Spent", "Stages", "stage", "watched"]
