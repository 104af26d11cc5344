"""Repartition a 10 x 10 grid from 5 to 7 parts, and draw what happens.

Run ``python -m examples.repartition_grid [folder]``: prints the figures of the
three methods and writes ``repartition_grid.png`` (former parts, new parts,
migration matrix) into the folder, by default the current one.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from copart.graph import Graph
from copart.kgggp_ml import partition
from copart.metrics import edge_cut, imbalance, migration_matrix, migration_messages, migration_volume
from copart.repart import METHODS, migration_plan, repartition

SIDE, FORMER, NEW = 10, 5, 7


def grid_graph(side: int) -> Graph:
    """The graph of a square grid; neighbours share a side."""
    cell = np.arange(side * side).reshape(side, side)
    right, down = (cell[:, :-1], cell[:, 1:]), (cell[:-1], cell[1:])
    u, v = (np.concatenate([a.ravel(), b.ravel()]) for a, b in zip(right, down, strict=True))
    return Graph.from_edges(side * side, u, v)


def main(folder: str | Path | None = None) -> dict[str, dict[str, float]]:
    """Repartition with every method; draw the M x N result if a `folder` is given.

    Returns
    -------
    dict
        By method: cut, imbalance, migration volume, messages and non-zeros of the
        migration matrix.  "plan" holds the last three of the chosen matrix.
    """
    graph = grid_graph(SIDE)
    former = partition(graph, FORMER, eps=0.0)
    plan = migration_plan(graph, former, FORMER, NEW)
    off = plan.sum() - np.trace(plan)
    figures: dict[str, dict[str, float]] = {
        "plan": {"volume": int(off), "messages": int(np.count_nonzero(plan)) - int(np.count_nonzero(np.diag(plan))),
                 "nonzeros": int(np.count_nonzero(plan))}}
    for method in METHODS:
        new = repartition(graph, former, FORMER, NEW, method=method)
        moved = migration_matrix(former, new, FORMER, NEW)
        figures[method] = {"cut": edge_cut(graph, new), "imbalance": imbalance(graph, new, NEW),
                           "volume": migration_volume(moved), "messages": migration_messages(moved),
                           "nonzeros": int(moved.nnz)}
        if method == "mxn" and folder is not None:
            draw(Path(folder) / "repartition_grid.png", former, new, moved.toarray())
    return figures


def draw(path: Path, former: np.ndarray, new: np.ndarray, moved: np.ndarray) -> None:
    """Former parts, new parts and the migration matrix side by side."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 3)
    for ax, part, title in ((axes[0], former, f"former: {FORMER} parts"), (axes[1], new, f"new: {NEW} parts")):
        ax.imshow(part.reshape(SIDE, SIDE), cmap="tab10", vmin=-0.5, vmax=9.5)
        for cell, p in enumerate(part):
            ax.text(cell % SIDE, cell // SIDE, str(p), ha="center", va="center", fontsize=7)
        ax.set(title=title, xticks=[], yticks=[])
    shown = np.ma.masked_equal(moved, 0)
    axes[2].imshow(shown, cmap="Blues", vmin=0, vmax=moved.max() * 1.5)
    for (i, j), amount in np.ndenumerate(moved):
        if amount:
            axes[2].text(j, i, str(amount), ha="center", va="center", weight="bold" if i == j else "normal")
    axes[2].set(title="migration matrix", xlabel="new part", ylabel="former part",
                xticks=range(NEW), yticks=range(FORMER))
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    for name, row in main(sys.argv[1] if len(sys.argv) > 1 else ".").items():
        print(f"{name:14}", "  ".join(f"{key} {value:.3g}" for key, value in row.items()))
