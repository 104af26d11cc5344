"""How compiled kernels find those that they call: by name, unless these are small.

numba links a copy of everything that a kernel calls into it, and optimises it again: the innermost kernels once for
every way that leads to them, which was a third of the time that the first use takes.  What LLVM would not make part of
its callers in any case is left apart here, as functions of a shared library are: callers hold its name only, and it is
loaded before them, compiled or from the cache.

This rests on parts of numba that are not public.  Where one of them is missing, or a function cannot be found by its
name, kernels are linked as numba does it: as right and as fast, but longer in the making.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from operator import attrgetter
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from numba.core import caching, codegen

#: Instructions from which on a kernel stays apart: LLVM makes smaller ones part of their callers, where that pays.
LARGE = 150

# What numba has to have for this.
_OF_COMPILER = ("ll.add_symbol", "CPUCodeLibrary._get_module_for_linking", "CPUCodeLibrary.add_linking_library",
                "JITCodeLibrary.get_pointer_to_function", "ll.ffi.lib._lock._cblist")
_OF_KERNELS = ("add_overload", "targetctx.insert_user_function", "targetctx.remove_user_function")

_PACKAGE = __name__.rpartition(".")[0]


class Need(NamedTuple):
    """A kernel that has to be loaded before one that calls it, and under which name that one looks for it."""

    module: str
    kernel: str
    types: tuple[Any, ...]
    symbol: str


class Link(NamedTuple):
    """Whether a kernel stays apart from its callers, and what has to be loaded before it."""

    apart: bool
    needs: tuple[Need, ...]


_llvm: Any = getattr(codegen, "ll", None)
_links: WeakKeyDictionary[Any, Link] = WeakKeyDictionary()


class Callee:
    """The library of a kernel as numba links it into those that call the kernel.

    library : CodeLibrary
    apart : bool                    whether nothing is linked in
    needs : sequence of Need        what has to be loaded before those that call the kernel
    """

    def __init__(self, library: Any, apart: bool, needs: tuple[Need, ...]):
        self._library, self._apart, self.needs = library, apart, needs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def _get_module_for_linking(self) -> Any:
        return _llvm.parse_assembly("") if self._apart else self._library._get_module_for_linking()


class LinkedResults(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """What is kept of a compiled kernel, with what has to be loaded before it."""

    def reduce(self, cres: Any) -> Any:
        """The compiled kernel as it goes into the file; of one that stays apart the machine code and names alone.

        No instructions are linked into its callers, and to read them takes a third of the time of loading.
        """
        link, data = _links.get(cres.library, Link(False, ())), super().reduce(cres)
        name, kind, code = data[0]
        if link.apart and kind == "object":
            data = ((name, kind, (code[0], _names_only(cres.library))), *data[1:])
        return link, data

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """The compiled kernel, with all it needs; None, so that it is compiled anew, where that is not what it was."""
        link, data = payload
        if not all(map(_loaded, link.needs)):
            return None
        with unmeasured():
            cres = super().rebuild(target_context, data)
        if link.apart and not cres.library.get_pointer_to_function(cres.fndesc.llvm_func_name):
            return None
        _links[cres.library] = link
        return cres


@contextmanager
def unmeasured() -> Iterator[None]:
    """Whoever measures how long LLVM is waited for is told nothing: that takes as long as most calls of it."""
    lock = _llvm.ffi.lib._lock
    former = lock._cblist
    lock._cblist = []
    try:
        yield
    finally:
        lock._cblist = former


def linked(kernel: Any) -> Any:
    """`kernel`, which stays apart from its callers where it is large."""
    cache = getattr(kernel, "_cache", None)
    results = getattr(cache, "_impl", None)
    kept = isinstance(cache, caching.FunctionCache)
    if not _possible(kernel) or (kept and type(results) is not caching.CompileResultCacheImpl):
        return kernel
    if kept:
        results.__class__ = LinkedResults
    add = kernel.add_overload

    def add_overload(cres: Any) -> None:
        add(cres)
        _announce(kernel, cres)
    kernel.add_overload = add_overload
    return kernel


def _possible(kernel: Any) -> bool:
    """Whether all of numba is there that is needed."""
    try:
        for names, of in ((_OF_COMPILER, codegen), (_OF_KERNELS, kernel)):
            for name in names:
                attrgetter(name)(of)
    except AttributeError:
        return False
    return True


def _announce(kernel: Any, cres: Any) -> None:
    """Tell numba what to link into the callers of a kernel that was compiled or loaded."""
    library, symbol = cres.library, cres.fndesc.llvm_func_name
    if library not in _links:
        apart = _is_large(library.get_function(symbol)) and bool(library.get_pointer_to_function(symbol))
        _links[library] = Link(apart, _needs(library))
    link = _links[library]
    itself = Need(kernel.__module__.rpartition(".")[2], kernel.__name__, tuple(cres.signature.args), symbol)
    context = kernel.targetctx
    context.remove_user_function(cres.entry_point)
    context.insert_user_function(cres.entry_point, cres.fndesc,
                                 [Callee(library, link.apart, (itself,) if link.apart else link.needs)])


def _names_only(library: Any) -> bytes:
    """A module that defines the names of a compiled one, and nothing else: numba asks it what there is."""
    module = library._get_module_for_linking()
    lines = [f'define void @"{one.name}"() {{ ret void }}' for one in module.functions if not one.is_declaration]
    lines += [f'@"{one.name}" = global i8 0' for one in module.global_variables if not one.is_declaration]
    return bytes(_llvm.parse_assembly("\n".join(lines)).as_bitcode())


def _is_large(function: Any) -> bool:
    count = 0
    for block in function.blocks:
        for _ in block.instructions:
            count += 1
            if count > LARGE:
                return True
    return False


def _needs(library: Any) -> tuple[Need, ...]:
    callees = [one for one in getattr(library, "_linking_libraries", ()) if isinstance(one, Callee)]
    return tuple(dict.fromkeys(need for one in callees for need in one.needs))


def _loaded(need: Need) -> bool:
    """Load a kernel, or compile it, and let it be found under the name that is looked for; whether it is there."""
    kernel = getattr(import_module(f"{_PACKAGE}.{need.module}"), need.kernel, None)
    if kernel is None:
        return False
    kernel.compile(need.types)
    cres = kernel.overloads.get(need.types)
    symbol = cres.fndesc.llvm_func_name if cres is not None else ""
    address = cres.library.get_pointer_to_function(symbol) if symbol else 0
    if address and symbol != need.symbol:
        # the same kernel, which another process compiled: numba counts functions in the names it gives them
        _llvm.add_symbol(need.symbol, address)
    return bool(address)


__all__ = ["LARGE", "Callee", "linked", "unmeasured"]
