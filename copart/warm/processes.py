"""Kernels compiled ahead by processes beside one another, those that others call first.

Which kernels there are, and for which types, is in a table beside this file, with the time each takes; which one calls
which is read from the kernels.  A kernel is compiled when all that it calls are in the cache, so nothing is compiled
twice, and the one with the most work above it goes first.  What a process makes of a kernel does not depend on which
one it is, nor on what it did before.
"""

from __future__ import annotations

import json
import logging
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

logger = logging.getLogger("copart")

#: Called with kernels done, kernels in all, and the seconds that are left, about; not a number while that is unknown.
Tell = Callable[[int, int, float], None]

#: More processes than this do not shorten the way from the innermost kernels to the outermost.
MOST = 8

#: What a process answers when it has compiled a kernel.
DONE = "done"

#: Share of the work before which the time that is left is not told.
EARLY = 0.15

#: Seconds of work below which starting a process is not worth its while.
WORTH = 4.0


@dataclass(frozen=True)
class Entry:
    """One kernel of the table.

    Attributes
    ----------
    types : tuple
        Its signatures, one but in rare cases, as in `copart.kernels.signatures`.
    seconds : float
        Seconds that compiling it takes, about, without the kernels that it calls.
    used : frozenset of str
        The commands that use it, as far as they were tried.
    """

    types: tuple[Any, ...]
    seconds: float
    used: frozenset[str]


@cache
def table() -> dict[str, Entry]:
    """Every kernel that is reached, by name."""
    path = Path(__file__).with_name("table.json")
    return {name: Entry(tuple(one["types"]), one["seconds"], frozenset(one["used"]))
            for name, one in json.loads(path.read_text(encoding="utf-8")).items()}


def missing(names: Iterable[str]) -> list[str]:
    """Those of the kernels that have signatures to be compiled still, in their order."""
    from ..kernels.cache import kept
    from ..kernels.signatures import decoded, kernels

    known = kernels()
    return [name for name in names if name in known and name in table()
            and not all(kept(known[name], tuple(map(decoded, types))) for types in table()[name].types)]


def needs(names: Iterable[str]) -> dict[str, set[str]]:
    """Of each kernel those among the given ones that it calls, however far down."""
    from ..kernels.signatures import callees, kernels

    wanted, out = set(names), {}
    for name in wanted:
        found: set[str] = set()
        ahead = callees(kernels()[name])
        while ahead:
            one = ahead.pop()
            if one not in found:
                found.add(one)
                ahead |= callees(kernels()[one])
        out[name] = found & wanted - {name}
    return out


def compile_ahead(command: str | None = None, tell: Tell | None = None, workers: int | None = None) -> bool:
    """Compile what is missing of the kernels of a command, or of all, into the cache.

    This process does it by itself where there is one processor or little to do, where nothing can be kept, or where
    no process can be started.

    Parameters
    ----------
    command : str, optional
        Such as ``"plan"``; all kernels where not given.
    tell : callable, optional
        Called with kernels done, kernels in all, and the seconds that are left, about; not a number while unknown.
    workers : int, optional
        Processors to use; those there are, up to eight, where not given.

    Returns
    -------
    bool
        Whether all of them have been compiled, now or before.
    """
    todo = missing(name for name, one in table().items() if command is None or command in one.used)
    if not todo:
        return True
    from ..doctor import kernel_cache, processors

    state = kernel_cache()
    work = sum(table()[name].seconds for name in todo)
    crew = _Crew(todo, tell)
    count = processors() if workers is None else workers
    if state.folder and state.writable:
        crew.run(min(count, MOST, int(work / WORTH)))
    if crew.left:
        crew.run_here()
    crew.say()
    return not crew.failed


class _Crew:
    """The processes, what is still to be done and what is being done."""

    def __init__(self, todo: list[str], tell: Tell | None):
        self.told = tell is not None
        self.tell: Tell = tell or (lambda done, total, left: None)
        self.total = len(todo)
        self.needs = needs(todo)
        #: seconds of the longest way from the kernel to one that nothing calls: who has most goes first
        self.height = _heights(todo, self.needs)
        self.left = set(todo)
        self.failed: list[str] = []
        self.busy: dict[int, str] = {}
        self.news: SimpleQueue[tuple[int, str]] = SimpleQueue()
        self.begin = time.monotonic()
        self.work = sum(table()[name].seconds for name in todo)

    def run(self, count: int) -> None:
        """Let `count` processes work until nothing is left or all of them have ended; one alone is not worth it."""
        workers: dict[int, subprocess.Popen[str]] = {}
        try:
            for i in range(count if count > 1 else 0):
                with suppress(OSError):
                    workers[i] = _start()
                    threading.Thread(target=self._listen, args=(i, workers[i].stdout), daemon=True).start()
            free = set(workers)
            while self.left and workers:
                self.say()
                for i in sorted(free):
                    name = self._next()
                    if name is None:
                        break
                    self.busy[i] = name
                    free.discard(i)
                    _ask(workers[i], name)
                i, line = self.news.get()
                name = self.busy.pop(i, "")
                if line:
                    free.add(i)
                    self._done(name, line.strip() == DONE)
                else:
                    # it ended: what it was at is left to the others, or to this process
                    logger.debug("a process that compiles kernels ended at %s", name or "the start")
                    free.discard(i)
                    workers.pop(i).wait()
        finally:
            # nothing is being compiled, unless this was interrupted; a second interrupt must not leave one running
            for process in workers.values():
                process.terminate()
            for process in workers.values():
                process.wait()

    def run_here(self) -> None:
        """Compile what is left in this process."""
        from ..kernels.clock import CLOCK

        CLOCK.said = CLOCK.said or self.told
        while (name := self._next()) is not None:
            self.say()
            self._done(name, compile_kernel(name))

    def _done(self, name: str, well: bool) -> None:
        self.left.discard(name)
        if not well:
            self.failed.append(name)

    def _listen(self, number: int, lines: IO[str]) -> None:
        for line in lines:
            self.news.put((number, line))
        self.news.put((number, ""))

    def _next(self) -> str | None:
        """The kernel to be compiled next; None where all that are left wait for others."""
        busy = set(self.busy.values())
        ready = [name for name in self.left - busy if not self.needs[name] & self.left]
        return max(ready, key=lambda name: (self.height[name], name), default=None)

    def say(self) -> None:
        """Tell how far it is."""
        rest = sum(table()[name].seconds for name in self.left)
        passed = time.monotonic() - self.begin
        done = self.work - rest
        # the table is of another machine: its seconds say how kernels compare, after the start of the processes
        left = passed * rest / done if done > EARLY * self.work else math.nan
        self.tell(self.total - len(self.left), self.total, left if rest else 0.0)


def _heights(names: list[str], below: Mapping[str, set[str]]) -> dict[str, float]:
    out = dict.fromkeys(names, 0.0)
    # callers first: whatever calls more kernels cannot be called by one that calls fewer
    for name in sorted(names, key=lambda one: -len(below[one])):
        out[name] += table()[name].seconds
        for inner in below[name]:
            out[inner] = max(out[inner], out[name])
    return out


def compile_kernel(name: str) -> bool:
    """Compile a kernel for the types in the table, or load it; whether that was possible."""
    from ..kernels.signatures import decoded, kernels

    try:
        for types in table()[name].types:
            kernels()[name].compile(tuple(map(decoded, types)))
    except Exception as error:  # whatever is wrong with it is said where it is used
        logger.debug("%s is not compiled ahead: %s", name, error)
        return False
    return True


def _ask(process: subprocess.Popen[str], name: str) -> None:
    with suppress(OSError):  # that it has ended is heard
        assert process.stdin is not None
        process.stdin.write(f"{name}\n")
        process.stdin.flush()


def _start() -> subprocess.Popen[str]:
    """A process that compiles the kernels named on its standard input, with the same package and the same cache."""
    from ..kernels.cache import chosen_folder

    home = str(Path(__file__).parents[2])
    paths = [home, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}
    if chosen_folder():
        environment["NUMBA_CACHE_DIR"] = chosen_folder()
    return subprocess.Popen([sys.executable, "-m", "copart.warm.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, env=environment)


__all__ = ["DONE", "Entry", "Tell", "compile_ahead", "compile_kernel", "missing", "needs", "table"]
