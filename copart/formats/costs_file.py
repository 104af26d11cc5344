"""What components cost, as CSV tables with a heading.

*Measured times*, several lines per component::

    component,processes,seconds
    fluid,16,12.5
    fluid,64,3.9

*Costs*, one line per component; empty entries are left open::

    component,cells,cost,iterations,coupled_cells,coupled_cost,max_cells,min_cells,granularity,least,most
    fluid,1000000,2e-6,10,,,,,,,

``cost`` is seconds per cell and iteration, ``coupled_cost`` seconds per coupled cell and coupling phase.
``cells`` may be left open where they are known otherwise; columns but ``component`` and ``cost`` may be absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..errors import CopartError, FormatError
from ..metrics.step import UNITS, StepCost
from ..resources import Workload
from .tables import Rows, read_table
from .text import PathLike

_MEASURED = {"component", "processes", "seconds"}
_LIMITS = ("max_cells", "min_cells", "granularity", "least", "most")
_KNOWN = {"component", "cells", "cost", "iterations", "coupled_cells", "coupled_cost", *_LIMITS}


class Costs(NamedTuple):
    """What a table of costs says."""

    workloads: tuple[Workload, ...]
    """In the order of the file."""
    coupled_cells: dict[str, int]
    iterations: dict[str, float]
    coupled_cost: dict[str, float]


def read_costs(path: PathLike, cells: Mapping[str, int] | None = None,
               iterations: Mapping[str, float] | None = None) -> Costs:
    """Read a table of measured times or of costs.

    Parameters
    ----------
    path : path-like
    cells : mapping of str to int, optional
        Number of cells (or their total weight) of components; it goes before that of the file.
    iterations : mapping of str to float, optional
        Iterations in one coupling step, which go before those of the file.

    Raises
    ------
    FormatError
        The heading is unknown, or an entry is missing or unusable; with the line.
    """
    rows, measured = _rows(path)
    known = cells or {}
    return _measured(path, rows, known) if measured else _costs(path, rows, known, iterations or {})


def _rows(path: PathLike) -> tuple[Rows, bool]:
    """The lines of a table by their headings, with their numbers, and whether they are measured times."""
    def check(heading: list[str], line: int) -> None:
        measured = set(heading) == _MEASURED
        if not measured and not ({"component", "cost"} <= set(heading) <= _KNOWN and len(set(heading)) == len(heading)):
            raise FormatError(path, f"needs the heading component,processes,seconds or component,cells,cost with any "
                                    f"of iterations, coupled_cells, coupled_cost, {', '.join(_LIMITS)}; has "
                                    f"{','.join(heading)!r:.80}", line)

    heading, rows = read_table(path, "component,processes,seconds", check)
    for number, row in rows:
        if not row["component"]:
            raise FormatError(path, "has no name of a component", number)
    return rows, set(heading) == _MEASURED


def _measured(path: PathLike, rows: Rows, cells: Mapping[str, int]) -> Costs:
    points: dict[str, list[tuple[int, float]]] = {}
    for number, row in rows:
        n = _whole(path, row, "processes", number)
        seconds = _number(path, row, "seconds", number)
        if n is None or seconds is None:
            raise FormatError(path, "needs processes and seconds", number)
        if seconds == 0:
            raise FormatError(path, "seconds: needs a number above 0, has 0; leave out what was not measured", number)
        points.setdefault(row["component"], []).append((n, seconds))
    try:
        return Costs(tuple(Workload.measured(name, [n for n, _ in pairs], [s for _, s in pairs], cells.get(name))
                           for name, pairs in points.items()), {}, {}, {})
    except CopartError as error:
        raise FormatError(path, str(error)) from None


def _costs(path: PathLike, rows: Rows, cells: Mapping[str, int], rounds: Mapping[str, float]) -> Costs:
    workloads: list[Workload] = []
    out = Costs((), {}, {}, {})
    for number, row in rows:
        name = row["component"]
        if any(w.name == name for w in workloads):
            raise FormatError(path, f"names {name} twice", number)
        count = cells.get(name, _whole(path, row, "cells", number))
        cost = _number(path, row, "cost", number)
        if count is None or cost is None:
            raise FormatError(path, f"needs {'cells' if count is None else 'cost'} of {name}", number)
        iterations = rounds.get(name, _number(path, row, "iterations", number))
        coupled = _whole(path, row, "coupled_cells", number)
        if iterations is not None:
            out.iterations[name] = iterations
        if coupled is not None:
            out.coupled_cells[name] = coupled
        phase = _number(path, row, "coupled_cost", number)
        if phase is not None:
            out.coupled_cost[name] = phase
        limits = {key: _whole(path, row, key, number) for key in _LIMITS}
        try:
            workloads.append(Workload.of_cells(name, count, cost, 1.0 if iterations is None else iterations, **limits))
        except CopartError as error:
            raise FormatError(path, str(error), number) from None
    return out._replace(workloads=tuple(workloads))


def _whole(path: PathLike, row: Mapping[str, str], key: str, line: int) -> int | None:
    value = _number(path, row, key, line)
    if value is not None and (value != int(value) or value < 1):
        raise FormatError(path, f"{key}: needs a whole number above 0, has {row[key]!r:.40}", line)
    return None if value is None else int(value)


def _number(path: PathLike, row: Mapping[str, str], key: str, line: int) -> float | None:
    text = row.get(key, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value < 1e300:
        raise FormatError(path, f"{key}: needs a number >= 0, has {text!r:.40}", line)
    return value


def read_step_cost(path: PathLike) -> StepCost:
    """The constants of a coupled step from a table of costs; messages and data cost as usual.

    A coupled cell costs in a coupling phase what it costs in an iteration where ``coupled_cost`` is left open.

    Raises
    ------
    FormatError
        The table is ill-formed, or of measured times, which do not say what a cell costs.
    """
    rows, measured = _rows(path)
    if measured:
        raise FormatError(path, "has measured times, which do not say what a cell costs; needs component,cells,cost")
    t, t_m, substeps = {}, {}, {}
    for number, row in rows:
        name = row["component"]
        cost, iterations, phase = (_number(path, row, key, number) for key in ("cost", "iterations", "coupled_cost"))
        if cost is None:
            raise FormatError(path, f"needs cost of {name}", number)
        if name in t:
            raise FormatError(path, f"names {name} twice", number)
        t[name] = cost * UNITS
        t_m[name] = (cost if phase is None else phase) * UNITS
        substeps[name] = 1.0 if iterations is None else iterations
    return StepCost(t=t, t_m=t_m, substeps=substeps)


__all__ = ["Costs", "read_costs", "read_step_cost"]
