"""Asking for memory before it is needed, where the processor cannot guess what comes next."""

from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import intrinsic

from .atomic import pointer_to

READ, KEEP, DATA = 0, 3, 1
"""What LLVM is told: it will be read, more than once, and is data."""


@intrinsic
def prefetch(typingctx, values, i):
    """Ask for entry `i` of an array, and for what is in the same line of the cache; it need not exist.

    values : (n,) array, in
    i : int
    """
    def codegen(context, builder, signature, args):
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        ask = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number]))
        place = builder.bitcast(pointer_to(context, builder, signature, args), byte)
        builder.call(ask, [place, *(ir.Constant(number, x) for x in (READ, KEEP, DATA))])
        return context.get_dummy_value()

    return types.none(values, i), codegen


def _ask_for_nothing(values, i):
    """What is left of it without machine code."""


if config.DISABLE_JIT:  # type: ignore[attr-defined]
    prefetch = _ask_for_nothing  # type: ignore[assignment]
