"""``python -m copart.warm``: compile every kernel now, for images of containers and modules of clusters."""

from __future__ import annotations

import argparse
import logging
import signal
import time

from . import compile_all

logger = logging.getLogger("copart")


class _Steps:
    """Logs how far it is, every few seconds."""

    def __init__(self, every: float = 5.0):
        self.every, self.last = every, time.monotonic()

    def __call__(self, done: int, total: int, left: float) -> None:
        now = time.monotonic()
        if total and (done == total or now - self.last > self.every):
            self.last = now
            logger.info("%d of %d kernels%s", done, total, f", about {left:.0f} s left" if left > 0 else "")


def main() -> None:
    """Read the arguments and compile."""
    parser = argparse.ArgumentParser(prog="python -m copart.warm", description=__doc__)
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one per processor, up to 8)")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    args = parser.parse_args()
    logging.basicConfig(level=logging.WARNING if args.quiet else logging.INFO, format="%(message)s")
    if args.workers is not None and args.workers < 1:
        parser.error("--workers: must be at least 1")
    # an interrupt ends it without a word; the processes notice that nobody asks any more
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    compile_all(_Steps(), args.workers)


if __name__ == "__main__":
    main()
