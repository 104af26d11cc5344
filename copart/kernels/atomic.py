"""Locks of one byte each, for the few kernels whose threads change the same arrays; nobody waits for one."""

from threading import Lock

from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic


def pointer_to(context, builder, signature, args):
    """Pointer to an entry of an array, of the code of an intrinsic whose arguments are the array and the place."""
    kind, number = signature.args
    array = context.make_array(kind)(context, builder, args[0])
    at = context.cast(builder, args[1], number, types.intp)
    return cgutils.get_item_pointer(context, builder, kind, array, [at], wraparound=False)


@intrinsic
def taken(typingctx, locks, i):
    """Take lock `i` if it is free; whether it was.

    locks : (n,) uint8, in and out  0 is free
    i : int
    """
    def codegen(context, builder, signature, args):
        free, held = (context.get_constant(signature.args[0].dtype, x) for x in (0, 1))
        place = pointer_to(context, builder, signature, args)
        return builder.extract_value(builder.cmpxchg(place, free, held, "acq_rel", "acquire"), 1)

    return types.boolean(locks, i), codegen


@intrinsic
def release(typingctx, locks, i):
    """Free lock `i`, which the caller holds: what it wrote before is seen by the next holder.

    locks : (n,) uint8, in and out
    i : int
    """
    def codegen(context, builder, signature, args):
        free = context.get_constant(signature.args[0].dtype, 0)
        builder.store_atomic(free, pointer_to(context, builder, signature, args), "release", 1)
        return context.get_dummy_value()

    return types.none(locks, i), codegen


if config.DISABLE_JIT:  # type: ignore[attr-defined]
    _ONE = Lock()

    def taken(locks, i):  # type: ignore[misc]
        """Take lock `i` if it is free; whether it was."""
        with _ONE:
            free = locks[i] == 0
            locks[i] = 1
            return free

    def release(locks, i):  # type: ignore[misc]
        """Free lock `i`."""
        locks[i] = 0
