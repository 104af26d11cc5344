"""Times of runs with several mappings, as a CSV table with a heading, a line per run.

*Metrics known*, by their abbreviations or by their names in JSON, any of them::

    run,seconds,TH,WH,MC
    default,4.21,5210,61020,912.5

*Files*, from which the metrics are computed; paths are those from the folder of the table::

    run,seconds,tasks,part,machine,mapping
    default,4.21,mesh.vtu,mesh.vtu.part.64,nodes.csv,default.map

``time`` is the same as ``seconds``.  ``run`` is a name, ``case`` tells which runs are of the same tasks on the same
nodes, ``part`` the parts of a mesh or graph that are the tasks; these may be absent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError, did_you_mean
from ..mapping.fitting import METRICS
from .tables import Rows, read_table
from .text import PathLike

_SECONDS = ("seconds", "time")
_LABELS = ("run", "case")
_NEEDED = ("tasks", "machine", "mapping")
FILES = (*_NEEDED, "part")
_METRIC = {word.lower(): short for short, name in METRICS.items() for word in (short, name)}


class Times(NamedTuple):
    """What a table of times says; of metrics and files one is empty."""

    seconds: NDArray[np.float64]
    case: list[str] | None
    metrics: dict[str, NDArray[np.float64]]
    """By abbreviations, in the order of the columns."""
    files: list[dict[str, str]]
    """Of each run: tasks, machine, mapping, and part or an empty text."""
    lines: list[int]


def read_times(path: PathLike) -> Times:
    """Read a table of times.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    FormatError
        The heading has no times, no metrics and no files, or columns that are not known; or an entry is missing or no
        number of at least 0; with the line.
    """
    heading, rows = read_table(path, "seconds,TH,WH,MC", lambda words, line: _check(path, words, line))
    times = next(word for word in heading if word in _SECONDS)
    lines = [number for number, _ in rows]
    case = [_text(path, row, "case", number) for number, row in rows] if "case" in heading else None
    seconds = _numbers(path, rows, times)
    if "mapping" in heading:
        files = [{**{key: _text(path, row, key, number) for key in _NEEDED}, "part": row.get("part", "")}
                 for number, row in rows]
        return Times(seconds, case, {}, files, lines)
    return Times(seconds, case, {_METRIC[word]: _numbers(path, rows, word) for word in heading if word in _METRIC}, [],
                 lines)


def _check(path: PathLike, heading: list[str], line: int) -> None:
    known = (*_SECONDS, *_LABELS, *FILES, *_METRIC)
    for word in heading:
        if word not in known:
            raise FormatError(path, f"column {word!r:.40} is not known; next to seconds, run and case there may be "
                                    f"{', '.join(METRICS)}, or {', '.join(FILES)}{did_you_mean(word, known)}", line)
    meant = ["seconds" if word in _SECONDS else _METRIC.get(word, word) for word in heading]
    if twice := next((word for word in meant if meant.count(word) > 1), None):
        raise FormatError(path, f"has {twice} in two columns", line)
    if "seconds" not in meant:
        raise FormatError(path, "has no column seconds", line)
    files, metrics = [word for word in heading if word in FILES], [word for word in meant if word in METRICS]
    if files and metrics:
        raise FormatError(path, f"has both metrics ({metrics[0]}) and files ({files[0]}), which the metrics are "
                                f"computed from; leave out one of them", line)
    if not files and not metrics:
        raise FormatError(path, f"has no column with a metric ({', '.join(METRICS)}), nor those with files: "
                                f"{', '.join(_NEEDED)}", line)
    if files and (absent := [word for word in _NEEDED if word not in files]):
        raise FormatError(path, f"has {files[0]} but no {' and no '.join(absent)}; metrics are computed from all of "
                                f"{', '.join(_NEEDED)}", line)


def _text(path: PathLike, row: dict[str, str], key: str, line: int) -> str:
    if not row[key]:
        raise FormatError(path, f"{key}: is empty", line)
    return row[key]


def _numbers(path: PathLike, rows: Rows, key: str) -> NDArray[np.float64]:
    out = np.empty(len(rows))
    for i, (number, row) in enumerate(rows):
        try:
            out[i] = float(row[key])
        except ValueError:
            out[i] = np.nan
        if not 0 <= out[i] < np.inf:
            raise FormatError(path, f"{_METRIC.get(key, key)}: needs a number of at least 0, has {row[key]!r:.40}",
                              number)
    return out


__all__ = ["FILES", "Times", "read_times"]
