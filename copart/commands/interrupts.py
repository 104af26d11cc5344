"""Interrupts that Python drops: those that come in a callback, such as the ones in which LLVM hands kernels over."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: Seconds after which an interrupt that was dropped comes again: the callback is over then.
AGAIN = 0.05


@contextmanager
def heeded() -> Iterator[None]:
    """Let an interrupt that is dropped in a callback come again once that is over, at the latest at the end.

    Nobody is there to take an exception from a callback that is called from C, or from the end of an object: Python
    says that it was ignored and goes on.  The next interrupt may be dropped as well, and comes again, too.  Others are
    lost without a word, where C clears the exception or makes one of another kind of it: those count at the end.
    """
    if threading.current_thread() is not threading.main_thread():
        # interrupts go to another one, who did not ask for this
        yield
        return
    former, main = sys.unraisablehook, threading.get_ident()
    dropped: list[threading.Timer] = []
    handler, came = signal.getsignal(signal.SIGINT), False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        assert callable(handler)
        try:
            handler(number, frame)
        except KeyboardInterrupt:
            came = True
            raise

    def send() -> None:
        dropped.clear()
        # to the thread itself: it may be waiting for a lock
        signal.pthread_kill(main, signal.SIGINT)

    def hook(what: sys.UnraisableHookArgs) -> None:
        if not issubclass(what.exc_type, KeyboardInterrupt):
            former(what)
        elif not dropped:
            # not from here, where it would be dropped again
            dropped.append(threading.Timer(AGAIN, send))
            dropped[-1].daemon = True
            dropped[-1].start()

    sys.unraisablehook = hook
    if callable(handler):
        signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        sys.unraisablehook = former
        if callable(handler):
            signal.signal(signal.SIGINT, handler)
        for timer in list(dropped):
            timer.cancel()
            timer.join()
        # whatever else went wrong may come of it
        if dropped or came:
            raise KeyboardInterrupt


__all__ = ["heeded"]
