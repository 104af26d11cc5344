"""A process that compiles the kernels named on its standard input, and answers each with a line."""

from __future__ import annotations

import gc
import sys

from .processes import DONE, SELDOM, compile_kernel

#: What numba tries to import before it compiles, for products of matrices: a sixth of a second for nothing.
_UNUSED = "scipy.linalg.cython_blas"


def main() -> None:
    """Until the input ends."""
    sys.modules[_UNUSED] = None  # type: ignore[assignment]  # as where it is not there
    gc.set_threshold(*SELDOM)
    for line in sys.stdin:
        sys.stdout.write(f"{DONE if compile_kernel(line.strip()) else 'left'}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
