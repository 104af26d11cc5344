"""Kernels that only other kernels call: an entry for Python is compiled when Python calls one after all, as tests do.

Such an entry takes every array out of its named tuples, which is long in the making: a fifth of the time of a small
kernel of many arrays.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from numba import njit


def without_entry(kernel: Any) -> Any:
    """`kernel`, compiled without an entry for Python; where one is needed, it is compiled for the run alone."""
    if not hasattr(kernel, "_compile_for_args"):
        return kernel  # plain Python
    entries: list[Any] = []

    def add_overload(cres: Any) -> None:
        # numba would tell those who call from Python as well, and there is nothing for them
        kernel.overloads[tuple(cres.signature.args)] = cres

    def compile_for_args(*args: Any, **kwargs: Any) -> Any:
        if not entries:
            names = ", ".join(signature(kernel.py_func).parameters)
            entries.append(njit(nogil=True)(eval(f"lambda {names}: kernel({names})", {"kernel": kernel})))
        return entries[0]._compile_for_args(*args, **kwargs)
    kernel.add_overload, kernel._compile_for_args = add_overload, compile_for_args
    return kernel


__all__ = ["without_entry"]
