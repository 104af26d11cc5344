"""How kernels are read: from the bytecode of Python to the instructions of numba, without work that nobody needs.

numba copies a function twice wherever it becomes part of another one, each block of it with all variables; and after
each pass it finds out anew which variables are alive where, which only the last pass asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from types import CodeType
from typing import Any, cast

from numba.core.compiler_machinery import register_pass

# numba says nothing of the types of these
compiler, errors, inlining, ir, postproc, ssa, transforms, typed, untyped = (
    cast(Any, import_module(f"numba.core.{name}")) for name in (
        "compiler", "errors", "inline_closurecall", "ir", "postproc", "ssa", "transforms", "typed_passes",
        "untyped_passes"))

# What numba has to have for this.
NEEDED = ((untyped, "InlineInlinables._do_work"), (inlining, "InlineWorker.run_untyped_passes"),
          (inlining, "InlineWorker.inline_ir"), (inlining, "copy.deepcopy"), (ir, "Inst._rec_list_vars"),
          (ir, "Scope.redefine"), (postproc, "PostProcessor.run"), (postproc, "VariableLifetime"),
          (transforms, "canonicalize_cfg"), (ssa, "_logger.debug"), (ssa, "_find_defs_violators"),
          (ssa, "_run_block_rewrite"), (ssa, "_run_ssa_block_pass"), (errors, "WarningsFixer.catch_warnings"),
          (compiler, "DefaultPassBuilder.define_untyped_pipeline"))

#: Functions that become part of others, as numba reads them.
_READ: dict[Any, Any] = {}

#: What has no variables in it.
_LEAVES = frozenset({ir.Loc, str, int, bool, float, type(None)})


class _Copies:
    """In place of the module `copy` while a function becomes part of another: copies what is changed there alone.

    scope : Scope                   the variables of the function
    """

    def __init__(self, scope: Any):
        self.scope = ir.Scope(scope.parent, scope.loc)
        self.scope.localvars._con.update(scope.localvars._con)
        self.scope.redefined.update(scope.redefined)
        self.scope.var_redefinitions.update({name: set(all_) for name, all_ in scope.var_redefinitions.items()})

    def deepcopy(self, block: Any) -> Any:
        if block.scope is self.scope:
            return block  # a copy; numba makes another one, which is never looked at
        new = ir.Block(self.scope, block.loc)
        new.body = [_copied(one) for one in block.body]
        return new


def _copied(one: Any) -> Any:
    """A statement or an expression; variables, constants and places in the source are never changed."""
    kind = type(one)
    if kind is list or kind is tuple:
        return kind(map(_copied, one))
    if kind is dict:
        return {name: _copied(value) for name, value in one.items()}
    if not isinstance(one, ir.Inst):
        return one
    new = object.__new__(kind)
    new.__dict__.update((name, _copied(value)) for name, value in one.__dict__.items())
    return new


class KernelInliner(inlining.InlineWorker):  # type: ignore[misc, name-defined]
    """Reads a function that becomes part of others once, and not at every call; what is inserted is a copy."""

    def run_untyped_passes(self, func: Any, enable_ssa: bool = False) -> Any:
        if func not in _READ:
            define = compiler.DefaultPassBuilder.define_untyped_pipeline
            self._compiler_pipeline = lambda state: shorter(define(state), state, func)
            _READ[func] = super().run_untyped_passes(func, enable_ssa)
        self.flags.enable_ssa = enable_ssa
        return _READ[func]

    def inline_ir(self, caller_ir: Any, block: Any, i: int, callee_ir: Any, *more: Any, **named: Any) -> Any:
        former = inlining.copy
        inlining.copy = _Copies(next(iter(callee_ir.blocks.values())).scope)
        try:
            return super().inline_ir(caller_ir, block, i, callee_ir, *more, **named)
        finally:
            inlining.copy = former


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelInlining(untyped.InlineInlinables):  # type: ignore[misc, name-defined]
    """Inserts the functions that become part of others."""

    _name = "kernel_inlining"

    def _do_work(self, state: Any, work_list: Any, block: Any, i: int, expr: Any, inline_worker: Any) -> Any:
        inline_worker.__class__ = KernelInliner
        return super()._do_work(state, work_list, block, i, expr, inline_worker)


#: Passes in place of those of numba.
REPLACED: dict[Any, Any] = {untyped.InlineInlinables: KernelInlining}


def shorter(passes: Any, state: Any, function: Any) -> Any:
    """The passes of a pipeline that are of use to a kernel."""
    idle: set[Any] = {typed.AnnotateTypes}
    if not state.flags.nrt:
        idle.add(typed.NopythonRewrites)  # for sums of whole arrays, which have to be made
    if not any(isinstance(one, CodeType) for one in function.__code__.co_consts):
        idle.add(untyped.InlineClosureLikes)
    passes.passes = [(REPLACED.get(one, one), told) for one, told in passes.passes if one not in idle]
    passes._finalized = False
    passes.finalize()
    return passes


def _list_variables(_: Any, value: Any) -> list[Any]:
    """The variables in a part of an instruction; in place of a method of `numba.core.ir.Inst`."""
    found: list[Any] = []
    _collect((value,), found)
    return found


def _collect(values: Any, found: list[Any]) -> None:
    for one in values:
        kind = type(one)
        if kind is ir.Var:
            found.append(one)
        elif kind in _LEAVES:
            continue
        elif isinstance(one, ir.Inst):
            found += one.list_vars()
        elif isinstance(one, dict):
            _collect(one.values(), found)
        elif isinstance(one, list | tuple):
            _collect(one, found)


_find_lives = postproc.PostProcessor.run


def _find_lives_at_last(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Which variables are alive where, for the pass that asks; in place of a method of `PostProcessor`."""
    code = processor.func_ir
    if emit_dels or code.is_generator:
        _find_lives(processor, emit_dels, extend_lifetimes)
        return
    code.blocks = transforms.canonicalize_cfg(code.blocks)
    code.variable_lifetime = postproc.VariableLifetime(code.blocks)
    code.generator_info = None


_find_violators = cast(Any, getattr(ssa, "_find_defs_violators", None))


def _find_defs_violators(blocks: Any, cfg: Any) -> Any:
    """Which variables are written more than once; blocks remember what they mention for what comes next.

    In place of a function of `numba.core.ssa`, as the next one, which numba calls twice for each of these variables.
    """
    for block in blocks.values():
        block.mentioned = {one.name for statement in block.body for one in statement.list_vars()}
    return _find_violators(blocks, cfg)


def _run_block_rewrite(blocks: Any, states: Any, handler: Any) -> Any:
    """Give a variable new names, in the blocks that mention it; new names are never looked for."""
    out = {}
    for label, block in blocks.items():
        out[label] = new = ir.Block(block.scope, block.loc)
        new.mentioned, new.body = block.mentioned, block.body
        if states["varname"] in block.mentioned:
            states["label"], states["block"] = label, block
            new.body = list(ssa._run_ssa_block_pass(states, block, handler))
    return out


class _Silent:
    """In place of a logger."""

    def debug(self, *_: Any) -> None:
        """Nobody reads it."""


_REPLACED_PARTS = ((ir.Inst, "_rec_list_vars", _list_variables), (postproc.PostProcessor, "run", _find_lives_at_last),
                   (ssa, "_logger", _Silent()), (ssa, "_find_defs_violators", _find_defs_violators),
                   (ssa, "_run_block_rewrite", _run_block_rewrite),
                   (errors.WarningsFixer, "catch_warnings", lambda *_, **__: nullcontext()))


@contextmanager
def reading() -> Iterator[None]:
    """While a kernel is compiled, numba takes these ways."""
    former = [(of, name, vars(of)[name]) for of, name, _ in _REPLACED_PARTS]
    for of, name, part in _REPLACED_PARTS:
        setattr(of, name, part)
    try:
        yield
    finally:
        for of, name, part in former:
            setattr(of, name, part)


__all__ = ["NEEDED", "REPLACED", "KernelInliner", "reading", "shorter"]
