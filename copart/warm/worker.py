"""A process that compiles the kernels named on its standard input, and answers each with a line."""

from __future__ import annotations

import gc
import sys

from .processes import DONE, SELDOM, compile_kernel


def main() -> None:
    """Until the input ends."""
    gc.set_threshold(*SELDOM)
    for line in sys.stdin:
        sys.stdout.write(f"{DONE if compile_kernel(line.strip()) else 'left'}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
