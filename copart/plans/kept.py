"""What a ``metrics.json`` keeps of a plan, checked before anything is made from it: any program may have written it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from ..checks import Finding
from ..errors import ConfigError, FormatError
from ..formats.text import PathLike
from ..interface.counts import COUPLED_RULES, INTERFACES, coupled_rule
from ..metrics import StepCost
from ..names import Bound, ExchangeObjective, PlacementName, TaskMethod
from ..options import PRESETS
from ..schemes.joint import DIRECTIONS, FIXES
from ..schemes.monolithic import BALANCES
from ..schemes.registry import COMMON, SCHEMES
from ..schemes.registry import scheme as scheme_called
from .components import INTEREDGES
from .requests import Meeting

#: Parts are counted in 32 bits.
_MOST = 2**31 - 1


def _whole(value: Any, low: int = 0, high: int = _MOST) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _one_of(known: tuple[str, ...]) -> tuple[str, Callable[[Any], bool]]:
    return f"one of {', '.join(known)}", lambda value: isinstance(value, str) and value in known


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


#: All settings: what each must be, and the test of it.
RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "names": ("a list of two or more different names",
              lambda v: _list_of(_name)(v) and len(v) > 1 and len(set(v)) == len(v)),
    "parts": ("a list of whole numbers from 1 up", _list_of(lambda v: _whole(v, 1))),
    "coupled": ("a list of whole numbers from 1 up, or null", _list_of(_maybe(lambda v: _whole(v, 1)))),
    "natural": ("a list of whole numbers from 0 up, or not there", _list_of(lambda v: _whole(v))),
    "interedges": (f"one of {', '.join(INTEREDGES)}, given", lambda v: v in (*INTEREDGES, "given")),
    "eps": ("a number from 0 up and below 1", lambda v: _number(v) and 0 <= v < 1),
    "load": ("the name of a cell array, or null", _maybe(_name)),
    "coupled_weights": ("area, partners, given or the name of a cell array", _maybe(_name)),
    "tolerance": ("a number from 0 up, or null", _maybe(lambda v: _number(v) and v >= 0)),
    "gap": ("a number from 0 up, or null", _maybe(lambda v: _number(v) and v >= 0)),
    "scale": ("a number for each component named", _by_name(_number)),
    "shift": ("three numbers for each component named", _by_name(_vector)),
    "periodic": ("three numbers for each component named", _by_name(_vector)),
    "several": ("true or false", _maybe(lambda v: isinstance(v, bool))),
    "contiguous": ("true, or not there", lambda v: v is True),
    "shared": ("true or false", _maybe(lambda v: isinstance(v, bool))),
    "max_interedges": ("a whole number from 1 up, or null", _maybe(lambda v: _whole(v, 1))),
    "scheme": (f"one of {', '.join(SCHEMES)}", lambda v: isinstance(v, str) and v in SCHEMES),
    "scheme_options": ("options by their names", _maybe(lambda v: isinstance(v, dict))),
    "coupled_rule": (f"one of {', '.join(COUPLED_RULES)}, or null",
                     _maybe(lambda v: isinstance(v, str) and v in COUPLED_RULES)),
    "interface": (f"one of {', '.join(INTERFACES)}", lambda v: isinstance(v, str) and v in INTERFACES),
    "seed": (f"a whole number from 0 to {_MOST}", _whole),
    "threads": ("a whole number from 1 to 1024", lambda v: _whole(v, 1, 1024)),
    "preset": (f"one of {', '.join(PRESETS)}, or the numbers of one",
               lambda v: v in PRESETS if isinstance(v, str) else isinstance(v, dict) and all(map(_number, v.values()))),
    "placement": _one_of(get_args(PlacementName)), "method": _one_of(get_args(TaskMethod)),
    "bound": _one_of(get_args(Bound)),
    "iterations": ("a list of whole numbers from 1 up", _list_of(lambda v: _whole(v, 1))),
    "alpha": ("a number from 0 up", lambda v: _number(v) and v >= 0),
}
NEEDED = ("names", "parts", "coupled", "interedges", "eps")
#: Settings of every plan, which check wants to be there; the others go with a pool, a machine or a replan.
USUAL = (*NEEDED, "scheme", "scheme_options", "load", "tolerance", "gap", "scale", "shift", "periodic", "several",
         "coupled_rule", "interface", "seed", "threads", "preset")
#: What ``metrics.json`` holds that no file of the folder shows, and how it is called.
UNCHECKED = {"settings": "how the parts were made (settings)",
             "seconds": "the time it took (seconds)", "remarks": "remarks",
             "advice": "how processes were shared out (advice)",
             "placements": "distances, hops and loads of links of placements"}
_ENTRIES: dict[str, Callable[[Any], bool]] = {
    "schema": _name, "version": _whole, "settings": lambda v: isinstance(v, dict),
    "seconds": lambda v: _number(v) and v >= 0, "metrics": lambda v: isinstance(v, dict),
    "uncoupled_parts": lambda v: isinstance(v, dict), "remarks": _list_of(lambda v: isinstance(v, str)),
    "files": lambda v: isinstance(v, dict), "sha256": _name}
_SOMETIMES: dict[str, Callable[[Any], bool]] = {
    "advice": lambda v: isinstance(v, dict), "placements": lambda v: isinstance(v, list) and bool(v),
    "interface": lambda v: True, "interfaces": lambda v: True}


#: Settings that earlier plans may leave out, in the form that they have now.
_FORMS = {"scale": dict, "shift": dict, "periodic": dict, "several": bool}


def _wrong_options(scheme: str, told: Any) -> list[Finding]:
    """Options of a scheme that it does not have, or that no call can have had."""
    known = {*scheme_called(scheme).own, *scheme_called(scheme).own_again, *COMMON}
    if not isinstance(told, dict):
        return [Finding("metrics.json", "settings.scheme_options", "are options by their names", shown(told))]
    out = [Finding("metrics.json", f"settings.scheme_options.{key}", f"is no option of {scheme}", shown(value))
           for key, value in told.items() if key not in known]
    rules: dict[str, Callable[[Any], bool]] = {
        "price": lambda v: _list_of(lambda x: _number(x) and x >= 0)(v) and len(v) in (3, 5),
        "directions": lambda v: v in DIRECTIONS, "fix": lambda v: v in FIXES, "balance": lambda v: v in BALANCES,
        "objective": lambda v: v in get_args(ExchangeObjective)}
    return out + [Finding("metrics.json", f"settings.scheme_options.{key}", "has another value", shown(told[key]))
                  for key, good in rules.items() if key in told and not good(told[key])]


def _wrong_rule(settings: Mapping[str, Any]) -> list[Finding]:
    """A rule of N^cpl that the scheme does not have, or that goes with another interface."""
    rule, usual = settings["coupled_rule"], coupled_rule(None, settings["interface"])
    known = (usual, "paper", "given", "advised", "kept") if SCHEMES[settings["scheme"]].knows_interface else (None,)
    if rule in known:
        return []
    return [Finding("metrics.json", "settings.coupled_rule", f"is one of {', '.join(map(str, known))}", shown(rule))]


def unknown_entries(summary: Mapping[str, Any]) -> list[Finding]:
    """Entries of a ``metrics.json`` that no plan has, and those that are missing or of another type."""
    out = []
    settings = summary["settings"]
    needed = [*USUAL, *(["alpha"] if "migration.json" in (summary.get("files") or ()) else [])]
    if all(key in settings for key in USUAL):
        out += _wrong_options(settings["scheme"], settings["scheme_options"]) + _wrong_rule(settings)
        out += [Finding("metrics.json", f"settings.{key}", "has another form", shown(settings[key]))
                for key, form in _FORMS.items() if not isinstance(settings[key], form)]
    for key in [key for key in needed if key not in settings]:
        out.append(Finding("metrics.json", f"settings.{key}", "must be there", "nothing"))
    for key in [key for key in settings if key not in RULES]:
        out.append(Finding("metrics.json", f"settings.{key}", "is no setting", shown(settings[key])))
    for key, good in (_ENTRIES | _SOMETIMES).items():
        if key in summary and not good(summary[key]):
            out.append(Finding("metrics.json", key, "has another form", shown(summary[key])))
        elif key not in summary and key in _ENTRIES:
            out.append(Finding("metrics.json", key, "must be there", "nothing"))
    several = len(settings["names"]) > 2
    if ("interfaces" in summary) != several or ("interface" in summary) == several:
        out.append(Finding("metrics.json", "interfaces" if several else "interface", "says where they meet", "nothing"))
    for key in [key for key in summary if key not in _ENTRIES | _SOMETIMES]:
        out.append(Finding("metrics.json", key, "is no entry", shown(summary[key])))
    return out


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
    for key in ("parts", "coupled", "natural"):
        if key in settings and len(settings[key]) != count:
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


def kept_cost(path: PathLike, summary: Mapping[str, Any]) -> StepCost:
    """By which constants the coupled step of a plan is measured; the default ones where a ``metrics.json`` names none.

    Raises
    ------
    FormatError
        The constants are ill-formed.
    """
    figures = summary.get("metrics")
    step = figures.get("step") if isinstance(figures, Mapping) else None
    if not isinstance(step, Mapping) or "cost" not in step:
        return StepCost()
    try:
        return StepCost.of_dict(step["cost"]).named(summary["settings"]["names"])
    except ConfigError as error:
        raise FormatError(path, f"metrics: {error}") from None


def shown(value: Any) -> str:
    """The beginning of a JSON value, for messages."""
    if isinstance(value, int) and abs(value) > 10**40:
        return "a very large number"
    return f"{value!r:.40}"


__all__ = ["NEEDED", "RULES", "UNCHECKED", "check_interfaces", "check_settings", "kept_cost", "shown",
           "unknown_entries"]
