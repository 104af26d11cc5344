"""What kernels are made of: LLVM's instructions for statements of Python, without those that kernels have no use for.

numba writes thirty instructions for every entry of an array that is read, a hundred for every piece of one, eighty for
every loop over a range, loads all of a tuple of 23 arrays for one of them, and prepares every variable for those that
count who refers to it.  Kernels index arrays of numbers of one or two dimensions by integers, nearly everywhere; that
is made here in three to eight instructions.  Kernels never count from the end of an array, so there are none for that:
in loops over a graph, which does nearly nothing but look entries up, they took a quarter of the time.  Where bounds
are checked, so is this.
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
        if expr.op == "call":
            if self._calls(expr, len) and isinstance(self.typeof(expr.args[0].name), types.Array):
                return self._length(expr.args[0].name)
        elif expr.op == "getattr":
            if isinstance(kind := self.typeof(expr.value.name), types.BaseNamedTuple):
                return self._referred_to(resty, self._field(expr.value.name, kind.fields.index(expr.attr)))
        elif expr.op in ("pair_first", "pair_second"):
            return self._referred_to(resty, self._field(expr.value.name, int(expr.op == "pair_second")))
        elif expr.op == "getiter":
            if isinstance(resty, types.RangeIteratorType) and self._in_steps_of_one(expr.value):
                return self._range_begun(resty, self.loadvar(expr.value.name))
        elif expr.op == "iternext" and isinstance(kind := self.typeof(expr.value.name), types.RangeIteratorType):
            return self._range_next(resty, kind, self.loadvar(expr.value.name))
        return super().lower_expr(resty, expr)

    def _referred_to(self, kind: Any, value: Any) -> Any:
        """The value, counted where that is done."""
        self.incref(kind, value)
        return value

    def _field(self, name: str, place: int) -> Any:
        """A field of an array, a tuple or a pair, of which nothing else is loaded."""
        if name in self._blk_local_varmap:
            return self.builder.extract_value(self.loadvar(name), place)
        return self.builder.load(cgutils.gep_inbounds(self.builder, self.getvar(name), 0, place))

    def _calls(self, expr: Any, what: Any) -> bool:
        """Whether a built-in function of Python is called, with single arguments."""
        return getattr(self.typeof(expr.func.name), "typing_key", None) is what and expr.vararg is None

    def _in_steps_of_one(self, name: Any) -> bool:
        """Whether the range of the name was made without a step."""
        made = self.func_ir._definitions[name.name]
        return (len(made) == 1 and isinstance(made[0], ir.Expr) and made[0].op == "call"
                and self._calls(made[0], range) and len(made[0].args) < 3)

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

    def _data(self, array: str, name: str) -> Any:
        """A field of an array."""
        return self._field(array, self.context.data_model_manager[self.typeof(array)].get_field_position(name))

    def _length(self, array: str, dimension: int = 0) -> Any:
        return self.builder.extract_value(self._data(array, "shape"), dimension)

    def _plain(self, array: str, most: int) -> bool:
        """Whether it is an array of numbers, one row after the other, of at most so many dimensions."""
        kind = self.typeof(array)
        return (isinstance(kind, types.Array) and 0 < kind.ndim <= most and kind.layout == "C" and kind.aligned
                and isinstance(kind.dtype, types.Number | types.Boolean))

    def _numbers(self, index: str) -> list[Any]:
        """The integers of an index; none where it is anything else."""
        kind, value = self.typeof(index), self.loadvar(index)
        kinds = kind.types if isinstance(kind, types.BaseTuple) else [kind]
        if not all(isinstance(one, types.Integer) for one in kinds):
            return []
        values = cgutils.unpack_tuple(self.builder, value) if isinstance(kind, types.BaseTuple) else [value]
        cast = self.context.cast
        return [cast(self.builder, one, its, types.intp if its.signed else types.uintp)
                for one, its in zip(values, kinds, strict=True)]

    def _check(self, numbers: list[Any]) -> None:
        """Refuse indices from the end, where bounds are checked."""
        for one in numbers:
            with self.builder.if_then(self.builder.icmp_signed("<", one, one.type(0)), likely=False):
                self.context.call_conv.return_user_exc(
                    self.builder, IndexError, ("kernels do not count from the end of an array",))

    def _place(self, array: Any, index: Any) -> Any:
        """The address of an entry of an array of numbers, or of the first one of a row; None of anything else.

        None as well where bounds are checked, which numba does; only indices from the end are refused here.
        """
        numbers = self._numbers(index.name) if self._plain(array.name, 2) else []
        if not numbers:
            return None
        if self.context.enable_boundscheck:
            self._check(numbers)
            return None
        builder, at = self.builder, numbers[0]
        if self.typeof(array.name).ndim > 1:
            at = builder.mul(at, self._length(array.name, 1))
        if len(numbers) > 1:
            at = builder.add(at, numbers[1])
        return builder.gep(self._data(array.name, "data"), [at])

    def _row(self, kind: Any, array: str, first: Any, count: Any) -> Any:
        """A row of an array, or a piece of one: so many entries from this address on."""
        fields, size = self.context.data_model_manager[kind], self._data(array, "itemsize")
        out = fields.get_value_type()(Undefined)
        for name, value in (("meminfo", self._data(array, "meminfo")), ("parent", self._data(array, "parent")),
                            ("nitems", count), ("itemsize", size), ("data", first)):
            out = self.builder.insert_value(out, value, fields.get_field_position(name))
        for name, value in ("shape", count), ("strides", size):
            out = self.builder.insert_value(out, value, [fields.get_field_position(name), 0])
        return self._referred_to(kind, out)

    def _piece(self, kind: Any, array: str, span: str) -> Any:
        """The entries of an array within a span, which ends where the array does; None where bounds are checked."""
        builder = self.builder
        first, last = (builder.extract_value(self.loadvar(span), i) for i in range(2))
        if self.context.enable_boundscheck:
            self._check([first, last])
            return None
        end = self._length(array)
        count = builder.sub(builder.select(builder.icmp_signed("<", last, end), last, end), first)
        count = builder.select(builder.icmp_signed("<", count, count.type(0)), count.type(0), count)
        return self._row(kind, array, builder.gep(self._data(array, "data"), [first]), count)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        spans = self.typeof(index.name)
        if isinstance(spans, types.SliceType):
            made = None if spans.has_step or not self._plain(value.name, 1) else self._piece(
                resty, value.name, index.name)
        else:
            made = self._place(value, index)
            if made is not None and isinstance(resty, types.Array):
                made = self._row(resty, value.name, made, self._length(value.name, 1))
            elif made is not None:
                kind = self.typeof(value.name).dtype
                made = self.context.unpack_value(self.builder, kind, made)
                made = self.context.cast(self.builder, made, kind, resty)
        return super().lower_getitem(resty, expr, value, index, signature) if made is None else made

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        given, to = self.typeof(value_var.name), self.typeof(target_var.name)
        # an entry, and not all of a row
        whole = getattr(self.typeof(index_var.name), "count", 1) < getattr(to, "ndim", 0)
        place = None
        if isinstance(given, types.Number | types.Boolean) and not whole:
            place = self._place(target_var, index_var)
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        kind = self.typeof(target_var.name).dtype
        value = self.context.cast(self.builder, self.loadvar(value_var.name), given, kind)
        self.context.pack_value(self.builder, kind, value, place)
        return None


__all__ = ["NEEDED", "KernelLower"]
