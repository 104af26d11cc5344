"""Synchronous rounds on several threads.

`Team.run` cuts a range of vertices into one piece a thread and calls a kernel
on each piece.  Kernels release the interpreter lock, so plain Python threads
suffice: nothing extra is compiled, and no threading runtime is started.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

import numpy as np

#: Below this many vertices a piece, handing work to a thread costs more than it saves (about 50 us).
GRAIN = 4096


class Team:
    """Threads that share rounds.

    Parameters
    ----------
    threads : int
        Number of threads; 1 starts none.
    """

    def __init__(self, threads: int):
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def __enter__(self) -> Team:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def pieces(self, n: int) -> int:
        """In how many pieces a range of `n` vertices is cut."""
        return max(1, min(self.threads, n // GRAIN))

    def run(
        self,
        kernel: Callable[..., Any],
        n: int,
        *args: Any,
        scratch: Callable[[], tuple[Any, ...]] | None = None,
        bounds: np.ndarray[Any, Any] | None = None,
    ) -> list[Any]:
        """Call ``kernel(lo, hi, *args, *scratch())`` on every piece of ``0..n``; results in piece order.

        Parameters
        ----------
        bounds : (npieces + 1,) array of int, optional
            Where to cut; equal pieces where not given.
        """
        if bounds is None:
            count = self.pieces(n)
            bounds = np.arange(count + 1) * n // count
        cuts = [int(b) for b in bounds]

        def piece(i: int) -> Any:
            return kernel(cuts[i], cuts[i + 1], *args, *(scratch() if scratch else ()))

        rest = [self._pool.submit(piece, i) for i in range(1, len(cuts) - 1)] if self._pool else []
        first = piece(0)
        if self._pool is None:
            return [first, *(piece(i) for i in range(1, len(cuts) - 1))]
        return [first, *(f.result() for f in rest)]

    def map(self, work: Callable[[int], Any], count: int) -> list[Any]:
        """``[work(0), ..., work(count - 1)]``, shared out among the threads; `work` is independent of itself."""
        if self._pool is None or count < 2:
            return [work(i) for i in range(count)]
        return list(self._pool.map(work, range(count)))
