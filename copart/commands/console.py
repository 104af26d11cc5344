"""Where the commands print: results on stdout, progress and errors on stderr."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..report.tables import Table

#: Work shorter than this shows no progress.
PATIENCE = 2.0

#: Seconds between the lines about compiling where there is no terminal.
SELDOM = 5.0

#: The step in which kernels are compiled before they are used.
COMPILING = "compiling kernels"

#: Marks that a terminal takes for orders, or that break or turn round a line.
_ORDERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Text in one line; marks that a terminal takes for orders are shown like ``\x1b``: names may hold anything.

    Examples
    --------
    >>> print(visible("wall" + chr(27) + "[2J"))
    wall\x1b[2J
    """
    return _ORDERS.sub(lambda mark: mark[0].encode("unicode_escape").decode("ascii"), text)


def print_anything() -> None:
    """Let the output take marks that its encoding does not know: as numbers, where that is ASCII."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def complain(command: str, text: str) -> None:
    """One line on stderr, where that is open."""
    if sys.stderr is not None:
        print(f"{command}: {visible(' '.join(text.split()))}", file=sys.stderr)


def drop_output() -> None:
    """Forget what is still to be written to stdout, which nobody can take."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, AttributeError):
        # no file stands behind it, so nothing is left to fail
        return


class Console:
    """What a command says, and how loudly.

    Parameters
    ----------
    quiet : bool
        No text on stdout and no progress; errors remain.
    as_json : bool
        One JSON object on stdout instead of text.
    """

    def __init__(self, quiet: bool = False, as_json: bool = False):
        self.quiet, self.as_json = quiet, as_json

    def say(self, text: str = "") -> None:
        """A line for people."""
        if not (self.quiet or self.as_json):
            print(visible(text))

    def table(self, table: Table, *, result: bool = False) -> None:
        """A table for people: laid out for a terminal, as plain text elsewhere; as a `result` also where it is quiet.

        That is for commands that have nothing else to show for their work.
        """
        if self.as_json or (self.quiet and not result):
            return
        table = replace(table, header=[*map(visible, table.header)], title=visible(table.title),
                        rows=[[*map(visible, row)] for row in table.rows], notes=[*map(visible, table.notes)])
        if sys.stdout.isatty():
            from rich.console import Console as RichConsole

            from ..report.terminal import fitting

            rich = RichConsole()
            for i, piece in enumerate(fitting(table, rich.width)):
                if i:
                    print()
                rich.print(piece)
            for note in table.notes:
                print(note)
        else:
            print(table.text())

    def result(self, payload: Any) -> None:
        """The result for programs, printed where JSON was asked for."""
        if self.as_json:
            print(json.dumps(payload, indent=2))

    def progress(self) -> Progress:
        """A reporter of steps, to be used in a ``with`` statement."""
        return Progress(self.quiet)


class Progress:
    """Callable ``(step, done, total)``; shows nothing in the first two seconds.

    On a terminal a bar that goes away, elsewhere one line per step; both on stderr.
    """

    def __init__(self, quiet: bool = False):
        self.quiet = quiet
        #: What compiling took before the first step, to stand behind a time.
        self.remark = ""
        #: What is done before the first step: arguments are checked by then.
        self.before: Callable[[], None] | None = None
        self._told = 0.0
        self._lock = threading.Lock()
        self._state = ("starting", 0, 0)
        self._shown = ""
        self._visible = self._over = False
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        self._timer = threading.Timer(PATIENCE, self._begin)
        self._timer.daemon = True
        if not self.quiet:
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._bar is not None:
                self._bar.stop()

    def __call__(self, step: str, done: int = 0, total: int = 0) -> None:
        """Say that `step` begins or goes on: `done` of `total`, 0 where the total is unknown."""
        if self.before is not None:
            before, self.before = self.before, None
            before()
        with self._lock:
            self._state = (step, done, total)
            if self._visible and not self._over:
                self._show()

    def compiling(self, done: int, total: int, left: float) -> None:
        """Say how many of the kernels that are compiled before the first step are done, and how long it takes still."""
        if total == 0:
            return
        about = f", about {left:.0f} s left" if left > 0 else ""
        self(f"{COMPILING}, done once: {done} of {total}{about}", done, total)

    def _begin(self) -> None:
        with self._lock:
            if self._over or sys.stderr is None:
                return
            self._visible = True
            if sys.stderr.isatty():
                from rich.console import Console as RichConsole
                from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
                from rich.progress import Progress as Bar

                # what stands in brackets is part of a name, not markup
                step = TextColumn("{task.description}", markup=False)
                self._bar = Bar(SpinnerColumn(), step, BarColumn(bar_width=24), TimeElapsedColumn(),
                                console=RichConsole(stderr=True), transient=True)
                self._task = self._bar.add_task("", total=None)
                self._bar.start()
            self._show()

    def _show(self) -> None:
        step, done, total = self._state
        step = visible(step)
        if self._bar is not None:
            self._bar.update(self._task, description=step, completed=done, total=total or None)
        elif step.startswith(f"{COMPILING},"):
            if time.monotonic() - self._told > SELDOM:
                self._told = time.monotonic()
                print(f"{step} ...", file=sys.stderr, flush=True)
        elif step != self._shown:
            self._shown = step
            count = f"{done + 1} of {total}: " if total else ""
            print(f"{count}{step} ...", file=sys.stderr, flush=True)


def first_use(progress: Progress, command: str, sources: Iterable[str] = ()) -> None:
    """Before the first step, compile the kernels that the command uses and that are still to be compiled.

    All processors take part.

    Raises
    ------
    FormatError
        Then, one of the files `sources` is missing: better said before compiling than after.
    """
    def before() -> None:
        from ..errors import FormatError
        from ..plans.sources import split_region
        from ..warm import compile_ahead

        for path in (split_region(source)[0] for source in sources):
            if not os.path.exists(path):
                raise FormatError(path, "no such file")
        begin = time.monotonic()
        counts: set[int] = set()

        def tell(done: int, total: int, left: float) -> None:
            counts.add(total)
            progress.compiling(done, total, left)

        compile_ahead(command, tell)
        if any(counts):
            progress.remark = f", after {time.monotonic() - begin:.1f} s of compiling kernels, done once"

    progress.before = before
