"""Kernels compiled ahead by processes beside one another, those that others call first.

Which kernels there are, and for which types, is in a table beside this file, with the time each takes; which one calls
which is read from the kernels.  A kernel is compiled when all that it calls are in the cache, so nothing is compiled
twice, and the one with the most work above it goes first.  What a process makes of a kernel does not depend on which
one it is, nor on what it did before.
"""

from __future__ import annotations

import gc
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
from typing import Any

logger = logging.getLogger("copart")

#: Called with kernels done, kernels in all, and the seconds that are left, about; not a number while that is unknown.
Tell = Callable[[int, int, float], None]

#: More processes than this do not shorten the way from the innermost kernels to the outermost.
MOST = 8

#: What a process answers when it has compiled a kernel.
DONE = "done"

#: Share of the work before which the time that is left is not told.
EARLY = 0.15

#: Number of the process that asks, among those that compile.
HERE = 0

#: When to look for objects that refer to themselves: compiling makes few of those and many others, and looking for them
#: as often as usual is a fifteenth of the time.
SELDOM = (100_000, 50, 50)

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
    from ..kernels.signatures import decoded, named

    return [name for name in names if name in table() and (kernel := named(name)) is not None
            and not all(kept(kernel, tuple(map(decoded, types))) for types in table()[name].types)]


def needs(names: Iterable[str]) -> dict[str, set[str]]:
    """Of each kernel those among the given ones that it calls, however far down."""
    from ..kernels.signatures import callees, named

    wanted, out = set(names), {}
    for name in wanted:
        found: set[str] = set()
        ahead = callees(named(name))
        while ahead:
            one = ahead.pop()
            if one not in found:
                found.add(one)
                ahead |= callees(named(one))
        out[name] = found & wanted - {name}
    return out


def compile_ahead(command: str | None = None, tell: Tell | None = None, workers: int | None = None) -> bool:
    """Compile what is missing of the kernels of a command, or of all, into the cache.

    This process compiles as well, by itself where there is one processor or little to do, where nothing can be kept,
    or where no process can be started.

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
    crew.run(min(count, MOST, int(work / WORTH)) - 1 if state.folder and state.writable else 0)
    crew.say()
    return not crew.failed


class _Crew:
    """The processes, this one among them, what is still to be done and what is being done."""

    def __init__(self, todo: list[str], tell: Tell | None):
        self.told = tell is not None
        self.tell: Tell = tell or (lambda done, total, left: None)
        self.total = len(todo)
        self.needs = needs(todo)
        #: seconds of the longest way from the kernel to one that nothing calls: who has most goes first
        self.height = _heights(todo, self.needs)
        self.left = set(todo)
        self.failed: list[str] = []
        #: what each process is at, by its number
        self.busy: dict[int, str] = {}
        self.workers: dict[int, subprocess.Popen[str]] = {}
        #: held by whoever reads or changes the above
        self.change = threading.Condition()
        self.begin = time.monotonic()
        self.work = sum(table()[name].seconds for name in todo)

    def run(self, others: int) -> None:
        """Compile all, in this process and as many others.

        What is compiled here need not be loaded for the run, and no process has to be started for it.
        """
        from ..kernels.clock import CLOCK

        CLOCK.said = CLOCK.said or self.told
        started: list[subprocess.Popen[str]] = []
        often = gc.get_threshold()
        try:
            for i in range(1, others + 1):
                with suppress(OSError):
                    started.append(_start())
                    self.workers[i] = started[-1]
            for i, process in list(self.workers.items()):
                threading.Thread(target=self._listen, args=(i, process), daemon=True).start()
            with self.change:
                self._deal()
            gc.set_threshold(*SELDOM)
            while (name := self._mine()) is not None:
                self._done(HERE, compile_kernel(name))
        finally:
            gc.set_threshold(*often)
            # nothing is being compiled, unless this was interrupted; a second interrupt must not leave one running
            for process in started:
                process.terminate()
            for process in started:
                process.wait()

    def _mine(self) -> str | None:
        """The kernel to be compiled here next; None when nothing is left."""
        with self.change:
            while self.left:
                self.say()
                name = self._next()
                if name is not None:
                    self.busy[HERE] = name
                    return name
                self.change.wait()
        return None

    def _deal(self) -> None:
        """Give every other process that is free something to do, as far as there is."""
        for i, process in self.workers.items():
            if i not in self.busy and (name := self._next()) is not None:
                self.busy[i] = name
                _ask(process, name)

    def _done(self, number: int, well: bool) -> None:
        with self.change:
            name = self.busy.pop(number)
            self.left.discard(name)
            if not well:
                self.failed.append(name)
            self._deal()
            self.change.notify_all()

    def _listen(self, number: int, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._done(number, line.strip() == DONE)
        with self.change:
            # it ended: what it was at is left to the others, or to this process
            logger.debug("a process that compiles kernels ended at %s", self.busy.pop(number, "nothing"))
            self.workers.pop(number)
            self.change.notify_all()

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
    from ..kernels.signatures import decoded, named

    try:
        for types in table()[name].types:
            named(name).compile(tuple(map(decoded, types)))
    except Exception as error:  # whatever is wrong with it is said where it is used
        if _interrupted(error):
            raise KeyboardInterrupt from error
        logger.debug("%s is not compiled ahead: %s", name, error)
        return False
    return True


def _interrupted(error: BaseException | None) -> bool:
    """Whether the error came of an interrupt: Python makes others of one that comes in some of its own calls."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


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
