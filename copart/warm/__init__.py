"""Compile kernels before they are needed, spread over processes.

Kernels are compiled when they are first called and kept for later runs; doing it here means that no later run, and no
measurement, has to wait for it.  ``python -m copart.warm`` does it for all of them.
"""

from __future__ import annotations

from .processes import Tell, compile_ahead
from .steps import schemes_once, steps


def compile_all(tell: Tell | None = None, workers: int | None = None) -> None:
    """Compile every kernel that is not in the cache, or is damaged there.

    Parameters
    ----------
    tell : callable, optional
        Called with kernels done, kernels in all, and the seconds that are left, about; not a number while unknown.
    workers : int, optional
        Processors to use; those there are, up to eight, where not given.
    """
    from .. import doctor

    if doctor.kernel_cache().damaged:
        doctor.forget_kernels()
    if not compile_ahead(None, tell, workers):
        # the table does not fit this numba: every stage is run for what it needs
        for _, step in steps():
            step()


__all__ = ["compile_ahead", "compile_all", "schemes_once", "steps"]
