"""Synchronous rounds on several threads.

`Team.run` cuts a range of vertices into one piece per thread and calls a kernel
on each piece.  Kernels release the interpreter lock, so plain Python threads
suffice: nothing extra is compiled, and no threading runtime is started.  Rounds are
short, and futures would take as long as some of them: threads take calls from a queue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Any

import numpy as np

#: Below this many vertices per piece, handing work to a thread costs more than it saves (about 50 us).
GRAIN = 4096

#: So many times as many for kernels that take few nanoseconds per vertex.
_LIGHT = 8

#: Levels with so many vertices take tenths of a second.
_TOLD = 500_000

Progress = Callable[[str, int, int], None]
"""Called as ``progress(step, done, total)`` when a step begins; total is 0 where it is unknown."""


class _Helpers:
    """Threads that make the calls they are handed, until they are dismissed.

    Parameters
    ----------
    number : int
        How many; they are started when there is something to do.
    """

    def __init__(self, number: int):
        self._number = number
        self._threads: list[Thread] = []
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            try:
                call()
            except BaseException as error:
                self._ended.put(error)
            else:
                self._ended.put(None)

    def work(self, own: Callable[[], None], others: Sequence[Callable[[], None]]) -> None:
        """Make one call here while the helpers make others, at most one each; raises what one of them raised."""
        while len(self._threads) < min(self._number, len(others)):
            self._threads.append(Thread(target=self._work, daemon=True))
            self._threads[-1].start()
        for call in others:
            self._calls.put(call)
        errors: list[BaseException | None] = []
        try:
            own()
        finally:
            errors += [self._ended.get() for _ in others]
        for error in errors:
            if error is not None:
                raise error

    def dismiss(self) -> None:
        """End the threads."""
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()


class Team:
    """Threads that share rounds.

    Parameters
    ----------
    threads : int
        Number of threads; 1 starts none.
    progress : callable, optional
        Called as ``progress(step, done, total)`` where work on a large level begins.
    """

    def __init__(self, threads: int, progress: Progress | None = None):
        self.threads = threads
        self._progress = progress
        self._helpers = _Helpers(threads - 1)

    def __enter__(self) -> Team:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._helpers.dismiss()

    def tell(self, step: str, n: int) -> None:
        """Tell the caller that `step` begins on a level of `n` vertices, if it is one to wait for."""
        if self._progress is not None and n >= _TOLD:
            self._progress(f"{step} {n} vertices", 0, 0)

    def pieces(self, n: int, light: bool = False) -> int:
        """In how many pieces a range of `n` vertices is cut."""
        return 1 if self.threads == 1 else max(1, min(self.threads, n // (GRAIN * (_LIGHT if light else 1))))

    def cuts(self, n: int, light: bool = False) -> list[int]:
        """Where a range of `n` vertices is cut into equal pieces: from 0 to `n`."""
        equal = self.pieces(n, light)
        return [i * n // equal for i in range(equal + 1)]

    def run(
        self,
        kernel: Callable[..., Any],
        n: int,
        *args: Any,
        scratch: Callable[[], tuple[Any, ...]] | None = None,
        bounds: np.ndarray[Any, Any] | None = None,
        light: bool = False,
    ) -> list[Any]:
        """Call ``kernel(lo, hi, *args, *scratch())`` on every piece of ``0..n``; results in piece order.

        Parameters
        ----------
        bounds : (npieces + 1,) array of int, optional
            Where to cut; :meth:`cuts` where not given.
        light : bool
            The kernel takes few nanoseconds per vertex.
        """
        if bounds is None and self.pieces(n, light) == 1:
            return [kernel(0, n, *args, *(scratch() if scratch else ()))]
        cuts = self.cuts(n, light) if bounds is None else [int(b) for b in bounds]
        if len(cuts) == 2:
            return [kernel(*cuts, *args, *(scratch() if scratch else ()))]
        results: list[Any] = [None] * (len(cuts) - 1)

        def share() -> None:
            extra = scratch() if scratch else ()
            for i in pieces:
                if i >= len(results):
                    return
                results[i] = kernel(cuts[i], cuts[i + 1], *args, *extra)

        pieces = count()
        self._helpers.work(share, [share] * (min(self.threads, len(results)) - 1))
        return results

    def spread(self, work: Callable[[int, Any], Any], njobs: int, workspaces: list[Any]) -> list[Any]:
        """``[work(0, w), ..., work(njobs - 1, w)]``, jobs handed to the threads as they get free.

        `work` is independent of its other calls; `w` is a workspace that no other job has at the time.
        """
        results: list[Any] = [None] * njobs

        def share(workspace: Any) -> None:
            for i in jobs:
                if i >= njobs:
                    return
                results[i] = work(i, workspace)

        jobs = count()
        shares = [partial(share, w) for w in workspaces[: self.threads]]
        self._helpers.work(shares[0], shares[1:])
        return results
