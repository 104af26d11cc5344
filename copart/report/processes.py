"""Tables and the picture of an advice: who gets how many processes, and what other choices cost."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ..resources import Advice
from .pictures import need_matplotlib
from .pictures_style import write_picture
from .tables import Table


def choices_table(advice: Advice, unit: str = "s") -> Table:
    """One row a choice: processes and times of each component, the step, what idles.

    Parameters
    ----------
    advice : Advice
    unit : str
        Of the times; ``load`` where nothing is known of a cell but that it costs the same as any other.
    """
    names = list(advice.parts)
    header = ["choice", *(f"N {name}" for name in names), *(f"{unit} {name}" for name in names), f"step {unit}",
              "idle %"]
    rows = [[row["choice"], *(str(row["processes"][name]) for name in names),
             *(f"{row['seconds'][name]:.4g}" for name in names), f"{row['step']:.4g}", f"{100 * row['idle']:.1f}"]
            for row in advice.rows()]
    return Table(header, rows)


def interface_table(advice: Advice, name: str) -> Table:
    """The curve of one component: the terms of a step's cost in microseconds, by number of coupled processes."""
    assert advice.interface is not None
    curve = advice.interface.curves[name]
    terms = [key for key in curve[0] if key != "k"]
    chosen = advice.interface.ncoupled[name]
    rows = [[f"{int(p['k'])}{' chosen' if p['k'] == chosen else ''}", *(f"{1e6 * p[t]:.4g}" for t in terms)]
            for p in curve]
    return Table([f"N^cpl {name}", *(f"{t} us" for t in terms)], rows)


def draw_advice(path: str | os.PathLike[str], advice: Advice) -> Path:
    """Draw the times by number of processes, and the cost by number of coupled processes; returns the file.

    Raises
    ------
    ConfigError
        matplotlib is not installed, or the file cannot be written.
    """
    need_matplotlib(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11 if advice.interface else 6, 4.2), dpi=110, layout="constrained")
    axes = figure.subplots(1, 2 if advice.interface else 1, squeeze=False)[0]
    for w in advice.workloads:
        n = np.unique(np.geomspace(w.least, w.most or advice.chosen.total, 60).astype(np.int64))
        line, = axes[0].loglog(n, w.scaling.seconds(n), label=w.name)
        at = advice.chosen.processes[w.name]
        axes[0].plot([at], [advice.chosen.seconds[w.name]], "o", color=line.get_color())
        axes[0].annotate(str(at), (at, advice.chosen.seconds[w.name]), (4, 4), textcoords="offset points")
        if w.scaling.low is not None:
            axes[0].axvspan(w.scaling.low, w.scaling.high, color=line.get_color(), alpha=0.07)
    axes[0].set(title="regular phase of a step (shaded: measured)", xlabel="processes", ylabel="seconds")
    axes[0].legend()
    if advice.interface:
        for name, curve in advice.interface.curves.items():
            k = advice.interface.ncoupled[name]
            line, = axes[1].loglog([p["k"] for p in curve], [p["total"] for p in curve], label=name)
            best = next(p["total"] for p in curve if p["k"] == k)
            axes[1].plot([k], [best], "o", color=line.get_color())
            axes[1].annotate(str(k), (k, best), (4, 4), textcoords="offset points")
        axes[1].set(title="interface and halo of a coupled process", xlabel="coupled processes",
                    ylabel="seconds per step")
        axes[1].legend()
    return write_picture(figure, path)


__all__ = ["choices_table", "draw_advice", "interface_table"]
