"""Every public function tells what it takes: each parameter under "Parameters", and each name that one may be."""

from __future__ import annotations

import builtins
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

import copart
from copart import names as kinds

from .helpers import ROOT

#: Methods of other classes than those in ``copart`` itself with fewer parameters say in one line what they take.
FEW = 3


def reached(dotted: str) -> Any:
    """What a dotted name stands for."""
    words = dotted.split(".")
    for i in range(len(words), 0, -1):
        try:
            thing = importlib.import_module(".".join(words[:i]))
        except ImportError:
            continue
        for word in words[i:]:
            thing = getattr(thing, word)
        return thing
    raise AssertionError(f"{dotted} is not there")


def shown() -> Iterator[str]:
    """Names that the pages of the reference show."""
    for page in sorted((ROOT / "docs" / "api").glob("*.md")):
        for name, options in re.findall(r"^::: (\S+)\n((?:    .*\n|\n(?=    ))*)", page.read_text() + "\n", re.M):
            thing = reached(name)
            if not isinstance(thing, ModuleType):
                yield name
                continue
            members = re.search(r"members: \[([^\]]*)\]", options)
            if members:
                yield from (f"{name}.{member.strip()}" for member in members[1].split(","))
            else:
                yield from (f"{name}.{one}" for one in thing.__all__
                            if getattr(getattr(thing, one), "__module__", None) == name)


@lru_cache
def public() -> dict[str, Callable[..., Any]]:
    """Functions, and methods that users call, by name."""
    found: dict[str, Callable[..., Any]] = {}
    own = [f"copart.{name}" for name in copart.__all__]
    for name in [*own, *shown()]:
        thing = reached(name)
        if isinstance(thing, FunctionType) and thing not in found.values():
            found[name] = inspect.unwrap(thing)
        if not inspect.isclass(thing):
            continue
        for key, value in vars(thing).items():
            plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if key.startswith("_") or not isinstance(plain, FunctionType):
                continue
            if name in own or len(taken(plain)) >= FEW:
                found.setdefault(f"{name}.{key}", inspect.unwrap(plain))
    return found


def taken(function: Callable[..., Any]) -> list[str]:
    """Its parameters, but for keywords that stand for the fields of `Options`: the entry of `options` tells those."""
    return [name for name, one in inspect.signature(function).parameters.items() if name not in ("self", "cls")
            and not (one.kind is one.VAR_KEYWORD and "Unpack" in str(one.annotation))]


def told(text: str) -> dict[str, str]:
    """The parameters that a docstring tells, each with its entry."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^[A-Z][\w ]*\n-+\n|\Z)", text.replace("\\\n", ""), re.M | re.S)
    out: dict[str, str] = {}
    entry: list[str] = []
    for line in section[1].splitlines() if section else ():
        if line and not line.startswith(" "):
            entry = [name.strip().lstrip("*") for name in line.split(" : ")[0].split(",")]
        for name in entry:
            out[name] = f"{out.get(name, '')}{line}\n"
    return out


def test_there_are_many():
    assert len(public()) > 150
    assert {"copart.plan", "copart.Graph.from_networkx", "copart.mpi.exchange.Exchange.forward"} <= set(public())


@pytest.mark.parametrize("name", sorted(public()))
def test_every_parameter_is_told(name):
    function = public()[name]
    entries = told(inspect.getdoc(function) or "")
    untold = [one for one in taken(function) if one not in entries]
    assert not untold, f"{name}: {', '.join(untold)}"
    others = [one for one in entries if one not in inspect.signature(function).parameters]
    assert not others, f"{name} has no {', '.join(others)}"


@pytest.mark.parametrize("name", sorted(public()))
def test_every_name_of_a_choice_is_told(name):
    function = public()[name]
    entries = told(inspect.getdoc(function) or "")
    hints = get_type_hints(function, {**vars(kinds), **vars(inspect.getmodule(function)), **_typing_only(function)})
    for parameter, hint in hints.items():
        for choices in _choices(hint):
            entry = entries.get(parameter, "")
            # longer lists are in a table that the entry names, or with another function
            if re.search(r":data:|`METHODS`|[Aa]s for |As .*:func:", entry):
                continue
            left = [word for word in choices if word not in entry]
            assert not left, f"{name}: {parameter} may also be {', '.join(left)}"


def test_a_missing_name_is_found():
    assert list(_choices(kinds.PresetName | int | None)) == [("fast", "default", "strong", "best")]
    entries = told("Do it.\n\nParameters\n----------\na, b : int\n    Both.\n*c : str\n\nReturns\n-------\nint\n")
    assert list(entries) == ["a", "b", "c"]


def test_the_presets_are_told_by_options():
    assert all(f'"{name}"' in told(inspect.getdoc(copart.Options))["preset"] for name in get_args(kinds.PresetName))


def _choices(hint: Any) -> Iterator[tuple[str, ...]]:
    """The literals in a type."""
    if get_origin(hint) is Literal:
        yield get_args(hint)
    else:
        for inner in get_args(hint):
            yield from _choices(inner)


class _Anything:
    """Stands for types that are imported for type checkers only."""


def _typing_only(function: Callable[..., Any]) -> dict[str, Any]:
    module = inspect.getmodule(function)
    words = set(re.findall(r"[A-Za-z_]\w*", " ".join(map(str, function.__annotations__.values()))))
    return {word: _Anything for word in words if not any(hasattr(one, word) for one in (module, kinds, builtins))}
