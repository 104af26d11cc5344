"""What kernels are made of: LLVM's instructions for statements of Python, without those that kernels have no use for.

numba writes thirty instructions for every entry of an array that is read, eighty for every loop over a range, and for
every variable those that count who refers to it.  Kernels index one-dimensional arrays of numbers by integers, nearly
everywhere; that is made here in three instructions.  Kernels never count from the end of an array, so there are none
for that: in loops over a graph, which does nearly nothing but look entries up, they took a quarter of the time.  Where
bounds are checked, so is this.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

from llvmlite.ir import Undefined

# numba says nothing of the types of these
cgutils, ir, lowering, types = (
    cast(Any, import_module(f"numba.core.{name}")) for name in ("cgutils", "ir", "lowering", "types"))

# What numba has to have for this.
NEEDED = (*((lowering, f"Lower.{name}") for name in (
    "lower_getitem", "lower_setitem", "lower_inst", "lower_expr", "lower_assign", "storevar", "delvar",
    "alloca_lltype")), (types, "RangeIteratorType"), (types, "Pair"))


class KernelLower(lowering.Lower):  # type: ignore[misc, name-defined]
    """Writes LLVM's instructions for a kernel."""

    def lower_inst(self, inst: Any) -> None:
        """As numba does it, which also writes down each instruction for those who look for mistakes in it."""
        if type(inst) is ir.Del:
            self.delvar(inst.value)
        elif type(inst) is ir.Assign and not isinstance(inst.value, ir.Arg):
            self.storevar(self.lower_assign(self.typeof(inst.target.name), inst), inst.target.name)
        else:
            super().lower_inst(inst)

    def _counted(self, name: str) -> bool:
        """Whether anything counts who refers to the variable."""
        return self.context.enable_nrt and not isinstance(self.typeof(name), types.Number | types.Boolean)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        if argidx is not None or name in self._singly_assigned_vars or self._counted(name):
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        if self._counted(name):
            super().delvar(name)

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        return cgutils.alloca_once(self.builder, lltype, name=name, zfill=False)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        builder = self.builder
        if expr.op == "getiter" and isinstance(resty, types.RangeIteratorType) and self._in_steps_of_one(expr.value):
            return self._range_begun(resty, self.loadvar(expr.value.name))
        if expr.op == "iternext" and isinstance(self.typeof(expr.value.name), types.RangeIteratorType):
            return self._range_next(resty, self.typeof(expr.value.name), self.loadvar(expr.value.name))
        if expr.op in ("pair_first", "pair_second"):
            fields = self.context.data_model_manager[self.typeof(expr.value.name)]
            value = builder.extract_value(self.loadvar(expr.value.name), fields.get_field_position(expr.op[5:]))
            self.incref(resty, value)
            return value
        return super().lower_expr(resty, expr)

    def _in_steps_of_one(self, name: Any) -> bool:
        """Whether the range of the name was made without a step."""
        made = self.func_ir._definitions[name.name]
        if len(made) != 1 or not isinstance(made[0], ir.Expr) or made[0].op != "call":
            return False
        call = made[0]
        return (getattr(self.typeof(call.func.name), "typing_key", None) is range
                and len(call.args) < 3 and call.vararg is None)

    def _range_begun(self, kind: Any, span: Any) -> Any:
        """An iterator of a range: where it is kept what comes next, the end, the step, and where how many are left."""
        builder, fields = self.builder, self.context.data_model_manager[kind]
        start, stop = builder.extract_value(span, 0), builder.extract_value(span, 1)
        following, left = cgutils.alloca_once(builder, start.type), cgutils.alloca_once(builder, start.type)
        builder.store(start, following)
        builder.store(builder.sub(stop, start), left)  # none where negative
        out = fields.get_value_type()(Undefined)
        for name, value in ("iter", following), ("stop", stop), ("step", start.type(1)), ("count", left):
            out = builder.insert_value(out, value, fields.get_field_position(name))
        return out

    def _range_next(self, pair: Any, kind: Any, place: Any) -> Any:
        """What comes next in a range, and whether there is any."""
        builder, fields = self.builder, self.context.data_model_manager[kind]
        following, step, left = (builder.extract_value(place, fields.get_field_position(name))
                                 for name in ("iter", "step", "count"))
        value, count = builder.load(following), builder.load(left)
        some = builder.icmp_signed(">", count, count.type(0))
        with builder.if_then(some):
            builder.store(builder.sub(count, count.type(1), flags=["nsw"]), left)
            builder.store(builder.add(value, step), following)
        out = self.context.data_model_manager[pair].get_value_type()(Undefined)
        return builder.insert_value(builder.insert_value(out, value, 0), some, 1)

    def _place(self, array: Any, index: Any) -> Any:
        """The address of an entry of a one-dimensional array of numbers; None of anything else.

        None as well where bounds are checked, which numba does; only indices from the end are refused here.
        """
        kind: Any = self.typeof(array.name)
        counts: Any = self.typeof(index.name)
        if not (isinstance(kind, types.Array) and kind.ndim == 1 and kind.layout == "C" and kind.aligned
                and isinstance(kind.dtype, types.Number | types.Boolean) and isinstance(counts, types.Integer)):
            return None
        builder, fields = self.builder, self.context.data_model_manager[kind]
        row, number = self.loadvar(array.name), self.loadvar(index.name)
        number = self.context.cast(builder, number, counts, types.intp if counts.signed else types.uintp)
        if self.context.enable_boundscheck:
            if counts.signed:
                with builder.if_then(builder.icmp_signed("<", number, number.type(0)), likely=False):
                    self.context.call_conv.return_user_exc(
                        builder, IndexError, ("kernels do not count from the end of an array",))
            return None
        return builder.gep(builder.extract_value(row, fields.get_field_position("data")), [number])

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        place = self._place(value, index)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        kind = self.typeof(value.name).dtype
        return self.context.cast(self.builder, self.context.unpack_value(self.builder, kind, place), kind, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        given = self.typeof(value_var.name)
        place = self._place(target_var, index_var) if isinstance(given, types.Number | types.Boolean) else None
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        kind = self.typeof(target_var.name).dtype
        value = self.context.cast(self.builder, self.loadvar(value_var.name), given, kind)
        self.context.pack_value(self.builder, kind, value, place)
        return None


__all__ = ["NEEDED", "KernelLower"]
