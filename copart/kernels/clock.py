"""The time that compiling takes, apart from the work that it is done for, and a word about it where it lasts."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

logger = logging.getLogger("copart")

#: Seconds of compiling in one process after which it is said, once, that it goes on.
PATIENCE = 4.0


class Clock(event.Listener):  # type: ignore[misc]
    """Listens to numba; kernels compiled for others count once, in the time of those."""

    def __init__(self) -> None:
        #: Seconds spent on compiling in this process, and kernels compiled.
        self.seconds, self.kernels = 0.0, 0
        #: Called with the name of each kernel that is begun.
        self.tell: Callable[[str], None] | None = None
        #: Whether a user knows already that kernels are compiled; where not, one line is logged.
        self.said = False
        self._thread = threading.local()

    def on_start(self, event: Any) -> None:
        begun = self._thread.__dict__.setdefault("begun", [])
        begun.append(time.perf_counter())
        if self.tell is not None:
            self.tell(event.data["dispatcher"].__name__)
        if not self.said and self.seconds + begun[-1] - begun[0] > PATIENCE:
            self.said = True
            logger.warning("compiling kernels, which is done once and takes up to a minute; copart doctor --warm "
                           "does it ahead")

    def on_end(self, event: Any) -> None:
        begun = self._thread.__dict__.get("begun")
        if not begun:
            # an interrupt came before the start was noted; an error here would take its place
            return
        start = begun.pop()
        self.kernels += 1
        if not begun:
            # numba compiles in one thread at a time
            self.seconds += time.perf_counter() - start


CLOCK = Clock()
event.register("numba:compile", CLOCK)


class Stopwatch:
    """What `timed` has measured: seconds without compiling, and seconds of compiling."""

    def __init__(self) -> None:
        self.seconds = self.compiling = 0.0


@contextmanager
def timed() -> Iterator[Stopwatch]:
    """Measure the time that the work takes, and apart from it the time that compiling its kernels takes."""
    watch, begin, before = Stopwatch(), time.perf_counter(), CLOCK.seconds
    try:
        yield watch
    finally:
        watch.compiling = CLOCK.seconds - before
        watch.seconds = max(time.perf_counter() - begin - watch.compiling, 0.0)


__all__ = ["CLOCK", "Clock", "Stopwatch", "timed"]
