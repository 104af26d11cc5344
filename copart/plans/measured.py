"""A table of measured times explained by metrics, which are in the table or computed from the files it names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError, FormatError, MappingError, NotApplicableError
from ..formats.machines import read_machine
from ..formats.times_file import Times, read_times
from ..mapping.fitting import METRICS, TimesFit, fit_times, metrics_of, telling
from ..mapping.machine import Machine
from ..names import MappingMetric, known_name
from .mapped import as_processes, read_mapped, read_mapping

#: Abbreviations of metrics by their names in JSON.
_SHORT = {name: short for short, name in METRICS.items()}


def fit_file(path: str | os.PathLike[str], metrics: Sequence[MappingMetric] | None = None) -> TimesFit:
    """Explain the times of a table by the metrics of the mappings.

    Parameters
    ----------
    path : path-like
        A CSV table, `copart.formats.times_file`.
    metrics : sequence of str, optional
        Those that are to explain the times, as a heading names them: by abbreviations of
        :data:`copart.mapping.fitting.METRICS`, or by their names in JSON.  Where not given: all columns; where they are
        computed from files, all that can tell something in these runs.

    Returns
    -------
    TimesFit

    Raises
    ------
    FormatError
        The table is ill-formed, a file it names is not there or ill-formed, or the values do not do for a fit.
    ConfigError
        A metric is not known, or not in the table.
    """
    table = read_times(path)
    asked = None if metrics is None else [_SHORT.get(name.lower(), name) for name in metrics]
    for name in asked or ():
        known_name("--metrics", name, METRICS)
    columns: dict[str, Any] = dict(table.metrics) if not table.files else _computed(path, table)
    left_out: dict[str, tuple[str, ...]] = {}
    if asked is not None:
        if absent := [name for name in asked if name not in columns]:
            raise ConfigError(f"--metrics: {path} has no {absent[0]}, but {', '.join(columns)}")
        columns = {name: columns[name] for name in asked}
    elif table.files:
        columns, left_out = telling(columns, table.case)
        if not columns:
            raise FormatError(path, "mapping: all metrics are the same in all runs, so that they explain nothing; run "
                                    "other mappings")
    try:
        return replace(fit_times(table.seconds, columns, table.case), left_out=left_out)
    except MappingError as error:
        raise FormatError(path, str(error)) from None


def _computed(path: str | os.PathLike[str], table: Times) -> dict[str, NDArray[np.float64]]:
    """All metrics of the mappings that a table names."""
    folder = Path(path).parent
    machine = cache(lambda name: read_machine(str(folder / name)))
    mapped = cache(lambda name, part: read_mapped(str(folder / name), str(folder / part) if part else None))

    def metrics(files: dict[str, str]) -> dict[str, float]:
        graph, tasks, labels = mapped(files["tasks"], files["part"])
        where: Machine = machine(files["machine"])
        found = read_mapping(str(folder / files["mapping"]), graph.nvtxs, where.nprocs, labels)
        processes, place = as_processes(graph, tasks, where, found)
        return metrics_of(processes, where, place)

    rows = []
    for line, files in zip(table.lines, table.files, strict=True):
        try:
            rows.append(metrics(files))
        except NotApplicableError as error:
            raise FormatError(path, f"{files['machine']}: {error}", line) from None
    return {name: np.array([row[name] for row in rows]) for name in METRICS}


__all__ = ["fit_file"]
