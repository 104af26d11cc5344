"""What a ``metrics.json`` keeps of a plan, checked before anything is made from it: any program may have written it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import ConfigError, FormatError
from ..formats.text import PathLike
from .components import INTEREDGES
from .requests import Meeting

#: Parts are counted in 32 bits.
_MOST = 2**31 - 1


def _whole(value: Any, low: int = 0, high: int = _MOST) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _number(value: Any) -> bool:
    # compared as it is: a whole number of JSON may be too large for a float
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e300


def _vector(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(map(_number, value))


def _name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _list_of(each: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(each, value))


def _by_name(each: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or (isinstance(value, dict) and all(map(each, value.values())))


def _maybe(each: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or each(value)


#: The settings that are read again: what each must be, and the test of it.
RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "names": ("a list of two or more different names",
              lambda v: _list_of(_name)(v) and len(v) > 1 and len(set(v)) == len(v)),
    "parts": ("a list of whole numbers from 1 up", _list_of(lambda v: _whole(v, 1))),
    "coupled": ("a list of whole numbers from 1 up, or null", _list_of(_maybe(lambda v: _whole(v, 1)))),
    "interedges": (f"one of {', '.join(INTEREDGES)}, given", lambda v: v in (*INTEREDGES, "given")),
    "eps": ("a number from 0 up", lambda v: _number(v) and v >= 0),
    "load": ("the name of a cell array, or null", _maybe(_name)),
    "tolerance": ("a number from 0 up, or null", _maybe(lambda v: _number(v) and v >= 0)),
    "gap": ("a number from 0 up, or null", _maybe(lambda v: _number(v) and v >= 0)),
    "scale": ("a number for each component named", _by_name(_number)),
    "shift": ("three numbers for each component named", _by_name(_vector)),
    "periodic": ("three numbers for each component named", _by_name(_vector)),
    "several": ("true or false", _maybe(lambda v: isinstance(v, bool))),
    "shared": ("true or false", _maybe(lambda v: isinstance(v, bool))),
    "max_interedges": ("a whole number from 1 up, or null", _maybe(lambda v: _whole(v, 1))),
    "scheme": ("the name of a scheme", _name),
    "scheme_options": ("options by their names", _maybe(lambda v: isinstance(v, dict))),
}
NEEDED = ("names", "parts", "coupled", "interedges", "eps")


def check_settings(path: PathLike, settings: Mapping[str, Any]) -> None:
    """Refuse settings that no plan has.

    Raises
    ------
    FormatError
        Names the first setting that is missing or ill-formed, and what it must be.
    """
    for key in NEEDED:
        if key not in settings:
            raise FormatError(path, f"settings: has no {key!r}")
    for key, (rule, good) in RULES.items():
        try:
            fine = key not in settings or good(settings[key])
        except TypeError:
            # a list or object where a single value is compared
            fine = False
        if not fine:
            raise FormatError(path, f"settings: {key} must be {rule}, is {shown(settings[key])}")
    count = len(settings["names"])
    for key in ("parts", "coupled"):
        if len(settings[key]) != count:
            raise FormatError(path, f"settings: {key} must have one entry for each of {count} names, has "
                                    f"{len(settings[key])}")
    try:
        Meeting.of_settings(settings).transforms(settings["names"])
    except ConfigError as error:
        raise FormatError(path, f"settings: {error}") from None


def check_interfaces(path: PathLike, found: Any) -> None:
    """Refuse interfaces that say not where two components meet.

    Raises
    ------
    FormatError
        Names the first that is ill-formed.
    """
    if not isinstance(found, list):
        raise FormatError(path, f"interfaces: must be a list, is {shown(found)}")
    for i, one in enumerate(found):
        if one is None:
            continue
        for side in "ab":
            told = one.get(side) if isinstance(one, dict) else None
            if not isinstance(told, dict) or not _name(told.get("name")) or not _maybe(_name)(told.get("group", 0)):
                raise FormatError(path, f"interfaces[{i}].{side}: must be an object with the name of a component, and "
                                        f"the group it meets the other at or null")


def shown(value: Any) -> str:
    """The beginning of a JSON value, for messages."""
    if isinstance(value, int) and abs(value) > 10**40:
        return "a very large number"
    return f"{value!r:.40}"


__all__ = ["NEEDED", "RULES", "check_interfaces", "check_settings", "shown"]
