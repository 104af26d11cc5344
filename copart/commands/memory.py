"""Memory that a command has freed is kept for what it needs next."""

from __future__ import annotations

import ctypes
import os

#: Options of glibc (``malloc.h``), and what commands ask for: free memory at the top of the heap that goes back to the
#: system, by how much more it grows than it has to, and arrays with pages of their own, in bytes; heaps of threads.
#: By default arrays of more than 32 MB go back to the system at once, and each page of the next one is cleared again,
#: which took a third of the time of a plan of 7 million cells; and what one thread has freed no other one gets.
_OPTIONS = {-1: 1 << 30, -2: 1 << 26, -3: 1 << 28, -8: 1}

#: A user who has set any of these knows better.
_SET_BY_USERS = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_ARENA_MAX",
                 "GLIBC_TUNABLES")


def keep_freed() -> bool:
    """Let the C library keep freed memory, up to a gigabyte of it, for this process; whether it can be told to.

    For the program `copart`, whose process is ours; programs that use the package keep their own ways.
    """
    if any(name in os.environ for name in _SET_BY_USERS):
        return False
    try:
        tell = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):
        return False  # another C library
    accepted = [bool(tell(option, value)) for option, value in _OPTIONS.items()]
    return all(accepted)


__all__ = ["keep_freed"]
