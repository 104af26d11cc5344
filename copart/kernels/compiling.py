"""How kernels are compiled: as numba compiles any function, without what kernels have no use for.

Two thirds of the time that numba takes is spent before LLVM: on finding out again and again what the sum of two
integers is, on annotations, locks and messages that nobody reads, and on many instructions where few do
(:mod:`copart.kernels.lowering`).

This rests on parts of numba that are not public.  Where one of them is missing, kernels are compiled as numba does it:
as right, but slower, and longer in the making.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import Any, cast

import numba
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass

from .frontend import NEEDED, REPLACED, reading, shorter
from .linking import unmeasured
from .lowering import NEEDED as LOWERED
from .lowering import KernelLower

# numba says nothing of the types of these
codegen, compiler, errors, targetconfig, typed, typeof, types = (
    cast(Any, import_module(f"numba.core.{name}")) for name in (
        "codegen", "compiler", "errors", "targetconfig", "typed_passes", "typing.typeof", "types"))

# What numba has to have for this.
_NEEDED = ((codegen, "JITCodeLibrary._optimize_functions"), (codegen, "CPUCodegen._pass_builder"),
           (typed, "NativeLowering.lowering_class"), (typed, "NativeLowering.run_pass"),
           (compiler, "CompilerBase._compile_core"), (compiler, "Flags.options"),
           (targetconfig, "ConfigStack.top_or_none"), (errors, "_termcolor_inst"), (typeof, "_termcolor"),
           (codegen, "ll.ffi.lib._lock._cblist"),
           (codegen, "ll.newpassmanagers.create_new_function_pass_manager"), *NEEDED, *LOWERED)


#: The versions of numba that this was tried with; others compile as they do by themselves.
_TRIED = ("0.68.",)


def _possible() -> bool:
    """Whether this is such a numba, and all of it is there that is needed."""
    if not numba.__version__.startswith(_TRIED):
        return False
    try:
        for module, name in _NEEDED:
            attrgetter(name)(module)
    except AttributeError:
        return False
    return True


class KernelLibrary(codegen.JITCodeLibrary):  # type: ignore[misc, name-defined]
    """A kernel as LLVM has it."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Make the function small and leave the rest to the passes over the whole module, which numba runs next."""
        ll_module.data_layout = self._codegen._data_layout
        llvm: Any = codegen.ll.newpassmanagers
        passes, builder = llvm.create_new_function_pass_manager(), self._codegen._pass_builder()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        for function in ll_module.functions:
            if function.is_declaration:
                continue
            passes.run(function, builder)
            if function.name.startswith("_ZN7cpython"):
                # takes arrays out of Python's objects, once a call
                function.add_function_attribute("noinline")
                function.add_function_attribute("optnone")


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(typed.NativeLowering):  # type: ignore[misc, name-defined]
    """From typed instructions to machine code."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        return KernelLower

    def run_pass(self, state: Any) -> Any:
        if state.library is None:
            state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        return super().run_pass(state)


REPLACED[typed.NativeLowering] = KernelLowering

#: The types of what functions of numbers return.
_KNOWN: dict[Any, Any] = {}

_DEFAULTS = {name: option.default for name, option in compiler.Flags.options.items()}
_HASH = hash(compiler.Flags())


class KernelFlags(compiler.Flags):  # type: ignore[misc, name-defined]
    """Options, which numba compares at every call of a function within a kernel."""

    __slots__ = ()

    def values(self) -> dict[str, Any]:
        return {**_DEFAULTS, **self._values}

    def __hash__(self) -> int:
        return _HASH

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, compiler.Flags)
                                 and (self._values == other._values or self.values() == other.values()))


class _Plain:
    """Messages without colours: numba writes many that it throws away."""

    def code(self, msg: str) -> str:
        return msg
    errmsg = filename = indicate = highlight = reset = code


_look_up = types.Function.get_call_type


def _call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """What a function of numbers and arrays returns, looked up once; in place of a method of `numba.types.Function`."""
    if kws or not all(isinstance(one, types.Number | types.Boolean | types.Array) for one in args):
        return _look_up(function, context, args, kws)
    key = function, context, tuple(args), targetconfig.ConfigStack.top_or_none()
    if key not in _KNOWN:
        _KNOWN[key] = _look_up(function, context, args, kws)
    return _KNOWN[key]


#: How much has been registered of what a context of numba's knows of, by the number of its table of registries.
_REGISTERED: dict[int, int] = {}


def _make_known(context: Any) -> None:
    """Let a context know what has been registered since; numba would also import all of its own modules once more."""
    registries = list(context._registries)
    count = sum(len(every) for one in registries for every in vars(one).values() if isinstance(every, list))
    if _REGISTERED.get(id(context._registries)) != count:
        _REGISTERED[id(context._registries)] = count
        for registry in registries:
            context.install_registry(registry)


@contextmanager
def _known(*contexts: Any) -> Iterator[None]:
    """Contexts that have been told all there is are told what is new, intrinsics that are met for the first time."""
    former = [(one, vars(one).get("refresh")) for one in contexts]
    for one in contexts:
        if id(one._registries) in _REGISTERED:
            one.refresh = partial(_make_known, one)
    try:
        yield
    finally:
        for one, way in former:
            vars(one).pop("refresh", None)
            if way is not None:
                one.refresh = way
            _REGISTERED.setdefault(id(one._registries), 0)


@contextmanager
def _quick(*contexts: Any) -> Iterator[None]:
    """While a kernel is compiled, numba does nothing twice that comes out the same, and measures no locks."""
    kind: Any = types.Function
    former = errors._termcolor_inst, typeof._termcolor
    outermost = "get_call_type" not in vars(kind)
    kind.get_call_type = _call_type
    errors._termcolor_inst = typeof._termcolor = _Plain()
    try:
        with reading(), unmeasured(), _known(*contexts):
            yield
    finally:
        errors._termcolor_inst, typeof._termcolor = former
        if outermost:
            del kind.get_call_type  # which its class has


class KernelCompiler(compiler.CompilerBase):  # type: ignore[misc, name-defined]
    """numba's compiler of kernels."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, args: Any, return_type: Any, flags: Any,
                 *more: Any):
        if type(flags) is compiler.Flags:
            flags.__class__ = KernelFlags
        self._contexts = typingctx, targetctx
        with _known(typingctx, targetctx):
            super().__init__(typingctx, targetctx, library, args, return_type, flags, *more)

    def define_pipelines(self) -> list[Any]:
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        return [shorter(passes, self.state, self.state.func_id.func)]

    def _compile_core(self) -> Any:
        with global_compiler_lock, _quick(*self._contexts, self.state.targetctx):
            return super()._compile_core()


#: For the decorators: the option that says who compiles.
COMPILED_BY: dict[str, Any] = {"pipeline_class": KernelCompiler} if _possible() else {}

__all__ = ["COMPILED_BY", "KernelCompiler"]
