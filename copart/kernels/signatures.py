"""The types that kernels are compiled for: one signature each, and a table of them to compile ahead.

A type stands in the table as JSON: ``"int64"`` a number, ``["int32", 1, "C"]`` an array (and ``"r"`` behind, where it
cannot be written), ``{"kernels.Level": [...]}`` a named tuple of the module ``copart.kernels``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from numba import types

_PACKAGE = __name__.rpartition(".")[0]
_ROOT = _PACKAGE.rpartition(".")[0]


def _wide(one):  # type: ignore[no-untyped-def]
    """int64 for every smaller signed integer, and for what is written in a source as a number."""
    if isinstance(one, types.Literal):
        one = types.unliteral(one)
    if isinstance(one, types.Integer) and one.signed and one.bitwidth < 64:
        return types.int64
    return one


def settled(kernel: Any) -> Any:
    """`kernel`, which other kernels call with wide integers only: a 0, an int32 and an int64 are not three signatures.

    numba computes in int64 in any case, so results are the same.
    """
    ask = getattr(kernel, "get_call_template", None)
    if ask is not None:
        kernel.get_call_template = lambda args, kws: ask(tuple(map(_wide, args)),
                                                         {name: _wide(one) for name, one in kws.items()})
    return kernel


@cache
def kernels() -> dict[str, Any]:
    """Every compiled function of the package by name (``module.function``), but those that become part of others."""
    package = import_module(_PACKAGE)
    found = {}
    for info in iter_modules(package.__path__):
        module = import_module(f"{_PACKAGE}.{info.name}")
        for name, thing in vars(module).items():
            if is_kernel(thing) and thing.__module__ == module.__name__ and not _inlined(thing):
                found[f"{info.name}.{name}"] = thing
    return found


@cache
def named(name: str) -> Any:
    """The kernel of this name (``module.function``), None where there is none; imports its module alone."""
    module, _, function = name.partition(".")
    if find_spec(f"{_PACKAGE}.{module}") is None:
        return None
    thing = getattr(import_module(f"{_PACKAGE}.{module}"), function, None)
    return thing if is_kernel(thing) and not _inlined(thing) else None


def is_kernel(thing: Any) -> bool:
    """Whether this is a compiled function."""
    return hasattr(thing, "signatures") and hasattr(thing, "py_func")


def _inlined(kernel: Any) -> bool:
    return bool(kernel.targetoptions.get("inline") == "always")


def name_of(kernel: Any) -> str:
    """``module.function``, as in the table."""
    return f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}"


def callees(kernel: Any) -> set[str]:
    """Names of the kernels that this one calls, also by way of those that become part of it."""
    return set(_called(kernel.py_func))


def _called(function: Any) -> Iterator[str]:
    for name in function.__code__.co_names:
        thing = function.__globals__.get(name)
        if is_kernel(thing):
            if _inlined(thing):
                yield from _called(thing.py_func)
            else:
                yield name_of(thing)


def encoded(one):  # type: ignore[no-untyped-def]
    """A type as JSON; ValueError for one that no kernel should be compiled for."""
    if isinstance(one, types.Array) and one.aligned:
        return [str(one.dtype), one.ndim, one.layout, *([] if one.mutable else ["r"])]
    if isinstance(one, types.BaseNamedTuple):
        kind = one.instance_class
        return {f"{kind.__module__.removeprefix(f'{_ROOT}.')}.{kind.__qualname__}": [encoded(of) for of in one.types]}
    if isinstance(one, types.Number | types.Boolean) and not isinstance(one, types.Literal):
        return str(one)
    raise ValueError(f"{one} is none of the types of kernels")


def decoded(said: Any) -> Any:
    """The type that was encoded."""
    if isinstance(said, str):
        return getattr(types, {"bool": "boolean"}.get(said, said))
    if isinstance(said, list):
        return types.Array(decoded(said[0]), said[1], said[2], readonly=said[3:] == ["r"])
    (name, fields), = said.items()
    module, _, kind = name.rpartition(".")
    held = [decoded(of) for of in fields]
    named = getattr(import_module(f"{_ROOT}.{module}"), kind)
    return types.BaseTuple.from_types(held, named)


__all__ = ["callees", "decoded", "encoded", "is_kernel", "kernels", "name_of", "named", "settled"]
