"""Synchronous rounds on several threads.

`Team.run` cuts a range of vertices into one piece per thread and calls a kernel
on each piece.  Kernels release the interpreter lock, so plain Python threads
suffice: nothing extra is compiled, and no threading runtime is started.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from threading import Condition
from types import TracebackType
from typing import Any

import numpy as np

from ..parallel import IDLE

#: Below this many vertices per piece, handing work to a thread costs more than it saves (about 50 us).
GRAIN = 2048


#: Levels with so many vertices take tenths of a second.
_TOLD = 500_000

Progress = Callable[[str, int, int], None]
"""Called as ``progress(step, done, total)`` when a step begins; total is 0 where it is unknown."""


class Team:
    """Threads that share rounds.

    Parameters
    ----------
    threads : int
        Number of threads; 1 starts none.
    progress : callable, optional
        Called as ``progress(step, done, total)`` where work on a large level begins.
    small : bool
        The graph is small.  Then, and with several threads, memory of a stage is used in the next ones, too
        (:data:`copart.kernels.memory.reuse`); one thread alone does with less on large graphs, in 3 % more time.
    """

    def __init__(self, threads: int, progress: Progress | None = None, small: bool = False):
        self.threads = threads
        self._progress = progress
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._idle, self._taken = IDLE.get(), 0
        self._reuses = small or threads > 1
        self._memory: AbstractContextManager[None] = nullcontext()
        self._ahead: tuple[Any, Any] | None = None

    def __enter__(self) -> Team:
        if self._reuses:
            from ..kernels.memory import reuse

            self._memory = reuse
        self._memory.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()
        if self._idle is not None:
            self._idle.leave(self._taken)
        self._memory.__exit__(kind, value, trace)

    def grow(self) -> None:
        """Take the threads that other pieces of work have left (:func:`copart.parallel.side_by_side`).

        For use between levels: whoever has memory for each thread counts on so many until then.
        """
        more = self._idle.take() if self._idle is not None else 0
        if more:
            if self._pool is not None:
                self._pool.shutdown()
            self.threads, self._taken = self.threads + more, self._taken + more
            self._pool = ThreadPoolExecutor(self.threads - 1)

    def tell(self, step: str, n: int) -> None:
        """Tell the caller that `step` begins on a level of `n` vertices, if it is one to wait for."""
        if self._progress is not None and n >= _TOLD:
            self._progress(f"{step} {n} vertices", 0, 0)

    def keep(self, array: Any, made: Any) -> None:
        """Keep what was made ahead for a graph, which is known by one of its arrays, until :meth:`take`."""
        self._ahead = array, made

    def take(self, array: Any) -> Any:
        """What was made ahead for the graph of this array, kept no longer; None where nothing was."""
        if self._ahead is None or self._ahead[0] is not array:
            return None
        made, self._ahead = self._ahead[1], None
        return made

    def pieces(self, n: int) -> int:
        """In how many pieces a range of `n` vertices is cut."""
        return 1 if self.threads == 1 else max(1, min(self.threads, n // GRAIN))

    def cuts(self, n: int) -> list[int]:
        """Where a range of `n` vertices is cut into equal pieces: from 0 to `n`."""
        equal = self.pieces(n)
        return [i * n // equal for i in range(equal + 1)]

    def run(
        self,
        kernel: Callable[..., Any],
        n: int,
        *args: Any,
        scratch: Callable[[], tuple[Any, ...]] | None = None,
        bounds: Sequence[int] | np.ndarray[Any, Any] | None = None,
    ) -> list[Any]:
        """Call ``kernel(lo, hi, *args, *scratch())`` on every piece of ``0..n``; results in piece order.

        Parameters
        ----------
        bounds : (npieces + 1,) sequence of int, optional
            Where to cut; :meth:`cuts` where not given.
        """
        if bounds is None and self.pieces(n) == 1:
            return [kernel(0, n, *args, *(scratch() if scratch else ()))]
        cuts = self.cuts(n) if bounds is None else [int(b) for b in bounds]
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
        workers = min(self.threads, len(results))
        rest = [self._pool.submit(share) for _ in range(workers - 1)] if self._pool else []
        share()
        for f in rest:
            f.result()
        return results

    def crew_size(self, n: int) -> int:
        """How many threads are in a kernel together that works on `n` vertices."""
        from ..kernels.crew import COMPILED

        return self.pieces(n) if COMPILED else 1

    def together(self, kernel: Callable[..., Any], n: int, *args: Any) -> Any:
        """What ``kernel(0, crew, *args)`` returns, which work on `n` vertices; ``kernel(i, crew, *args)``, on the other
        threads, help meanwhile (:mod:`copart.kernels.crew`).
        """
        from ..kernels.crew import AT, LEFT, OVER, Crew

        crew = Crew(self.crew_size(n), np.zeros(AT, np.int64))
        others = [self._pool.submit(kernel, i, crew, *args) for i in range(1, crew.threads)] if self._pool else []
        try:
            return kernel(0, crew, *args)
        finally:
            crew.at[LEFT] = OVER
            for one in others:
                # who is late finds nothing to do
                one.cancel()

    def each(self, work: Callable[..., Any], arrays: Sequence[np.ndarray[Any, Any]]) -> list[Any]:
        """Call ``work(*pieces)`` on the first pieces of all the arrays, the second, ..., one per thread; the results.
        """
        count = max(self.pieces(len(a)) for a in arrays)

        def on_pieces(i: int, _: int) -> Any:
            return work(*(a[i * len(a) // count : (i + 1) * len(a) // count] for a in arrays))

        return self.run(on_pieces, count, bounds=np.arange(count + 1))

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
        rest = [self._pool.submit(share, w) for w in workspaces[1 : self.threads]] if self._pool else []
        share(workspaces[0])
        for f in rest:
            f.result()
        return results

    def unfold(self, work: Callable[[Any], list[Any]], jobs: list[Any]) -> None:
        """Do all jobs, and those that come of them: ``work(job)`` returns more, which wait behind the others.

        `work` is independent of its other calls; threads take the jobs as they get free.
        """
        waiting, at_work, change = deque(jobs), 0, Condition()

        def share() -> None:
            nonlocal at_work
            while True:
                with change:
                    while at_work and not waiting:
                        change.wait()
                    if not waiting:
                        return
                    job = waiting.popleft()
                    at_work += 1
                more: list[Any] = []
                try:
                    more = work(job)
                finally:
                    with change:
                        waiting.extend(more)
                        at_work -= 1
                        change.notify_all()

        rest = [self._pool.submit(share) for _ in range(self.threads - 1)] if self._pool else []
        share()
        for f in rest:
            f.result()
