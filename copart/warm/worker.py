"""A process that compiles the kernels named on its standard input, and answers each with a line."""

from __future__ import annotations

import gc
import sys

from .processes import DONE, compile_kernel


def main() -> None:
    """Until the input ends."""
    # compiling makes many objects and few that refer to themselves: looking for those is a fifteenth of the time
    gc.set_threshold(100_000, 50, 50)
    for line in sys.stdin:
        sys.stdout.write(f"{DONE if compile_kernel(line.strip()) else 'left'}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
