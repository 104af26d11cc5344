"""What threads may do at the same time to one entry of an array: locks of one byte each, and counters.

Nobody waits for a lock.
"""

import sys
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


@intrinsic
def peek(typingctx, values, i):
    """Entry `i`, and from then on all that was written before it was published.

    values : (n,) int64, in
    i : int
    """
    def codegen(context, builder, signature, args):
        return builder.load_atomic(pointer_to(context, builder, signature, args), "acquire", 8)

    return values.dtype(values, i), codegen


@intrinsic
def publish(typingctx, values, i, value):
    """Write entry `i` after all that the caller wrote before.

    values : (n,) int64, in and out
    i, value : int
    """
    def codegen(context, builder, signature, args):
        place, new = _operands(context, builder, signature, args)
        builder.store_atomic(new, place, "release", 8)
        return context.get_dummy_value()

    return types.none(values, i, value), codegen


@intrinsic
def add(typingctx, values, i, more):
    """Add to entry `i`; returns what it was.

    values : (n,) int64, in and out
    i, more : int
    """
    def codegen(context, builder, signature, args):
        return builder.atomic_rmw("add", *_operands(context, builder, signature, args), "acq_rel")

    return values.dtype(values, i, more), codegen


@intrinsic
def exchange(typingctx, values, i, old, new):
    """Write `new` to entry `i` if it is `old`; whether it was.

    values : (n,) int64, in and out
    i, old, new : int
    """
    def codegen(context, builder, signature, args):
        made = builder.cmpxchg(*_operands(context, builder, signature, args), "acq_rel", "acquire")
        return builder.extract_value(made, 1)

    return types.boolean(values, i, old, new), codegen


def _operands(context, builder, signature, args):
    """Pointer to an entry, and the other arguments as numbers of its type: those of an intrinsic are the array, the
    place, and numbers.
    """
    kind = signature.args[0].dtype
    return (pointer_to(context, builder, types.none(*signature.args[:2]), args[:2]),
            *(context.cast(builder, one, of, kind) for one, of in zip(args[2:], signature.args[2:], strict=True)))


give_way = types.ExternalFunction("SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32())
"""Let another thread have the core for a while, if one waits for it."""


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

    def peek(values, i):  # type: ignore[misc]
        """Entry `i`."""
        return values[i]

    def publish(values, i, value):  # type: ignore[misc]
        """Write entry `i`."""
        values[i] = value

    def add(values, i, more):  # type: ignore[misc]
        """Add to entry `i`; returns what it was."""
        with _ONE:
            values[i] += more
            return values[i] - more

    def exchange(values, i, old, new):  # type: ignore[misc]
        """Write `new` to entry `i` if it is `old`; whether it was."""
        with _ONE:
            same = values[i] == old
            if same:
                values[i] = new
            return same
