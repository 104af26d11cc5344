"""A refined region travels along the interface of two coupled cubes, and the parts follow it.

Each cell near a point on the interface is refined into eight; the point moves from
one side of the interface to the other in ten steps.  A refined cell weighs eight times
as much to compute and to move, and shares four times as many facets.  Two ways to keep
the load balanced, by step: co-partition from scratch, with the new parts renumbered so
that most data stays (scratch-remap), and dynamic co-repartitioning.

Run ``python -m examples.travelling_refinement [folder]``: prints the figures and
writes ``travelling_refinement.png`` into the folder, by default the current one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from copart.algorithms import projrepart
from copart.coupling import CoPartition, CoupledProblem
from copart.dynamic.adaptive import keep_numbers
from copart.mesh import cube
from copart.metrics import evaluate, imbalance
from copart.migration.plan import MigrationPlan
from copart.plans.components import coupled_problem
from copart.schemes.corepartition import corepartition

STEPS, RADIUS, REFINED = 10, 0.25, 8
PARTS = {"left": 16, "right": 24}


def coupled_cubes(size: int) -> CoupledProblem:
    """Two cubes that share the face x = 1, the right one a quarter finer."""
    left, right = cube("hexa", size), cube("hexa", size * 5 // 4, offset=(1, 0, 0))
    return coupled_problem(left, right, names=("left", "right")).problem


def refined_near(problem: CoupledProblem, point: Sequence[float]) -> CoupledProblem:
    """The problem with the cells within RADIUS of a point refined."""
    graphs = {}
    for name, graph in problem.components.items():
        fine = ((graph.coords - np.asarray(point)) ** 2).sum(axis=1) < RADIUS**2
        cells = np.where(fine, REFINED, 1)
        u = np.repeat(np.arange(graph.nvtxs), np.diff(graph.xadj))
        facets = np.where(fine[u] | fine[graph.adjncy], 4, 1)
        graphs[name] = graph.replace(vwgt=cells, vsize=cells, ewgt=facets)
    return CoupledProblem(graphs, dict(problem.pairs))


def scratch_remap(problem: CoupledProblem, former: CoPartition) -> CoPartition:
    """Partition from scratch, then give the new parts the numbers that keep most data in place."""
    new = projrepart(problem, former.nparts, former.ncoupled)
    return CoPartition({name: keep_numbers(new[name], former[name], new.nparts[name], new.nparts[name], graph.sizes)
                        for name, graph in problem.components.items()}, new.nparts, new.ncoupled)


def main(folder: str | Path | None = None, size: int = 16) -> dict[str, list[dict[str, float]]]:
    """Let the region travel; draw what happens if a `folder` is given.

    Returns
    -------
    dict
        By way, one row per step: volume and messages of migration, cut, imbalance of the components and of the
        coupled subgraphs (the larger of both cubes), totV and totZ; `ub_before` is the imbalance that the step found.
    """
    cubes = coupled_cubes(size)
    way = [(1.0, y, 0.5) for y in np.linspace(0.15, 0.85, STEPS + 1)]
    first = projrepart(refined_near(cubes, way[0]), PARTS)
    figures: dict[str, list[dict[str, float]]] = {}
    shown: dict[str, CoPartition] = {}
    for name, step in (("scratch-remap", scratch_remap), ("dynamic", corepartition)):
        made = first
        rows = figures.setdefault(name, [])
        for point in way[1:]:
            problem = refined_near(cubes, point)
            former, made = made, step(problem, made)
            rows.append(row(problem, former, made))
        shown[name] = made
    if folder is not None:
        draw(Path(folder) / "travelling_refinement.png", figures, cubes, way, {"before": first, **shown})
    return figures


def row(problem: CoupledProblem, former: CoPartition, made: CoPartition) -> dict[str, float]:
    """The figures of one step."""
    found, moved = evaluate(problem, made), MigrationPlan.between(former, made, problem)
    before = max(imbalance(graph, former[name], former.nparts[name]) for name, graph in problem.components.items())
    sides = found.components.values()
    return {"volume": moved.volume, "messages": moved.messages, "cut": sum(c.cut for c in sides),
            "ub": max(c.ub for c in sides), "ub_cpl": max(c.ub_cpl for c in sides), "totV": found.pair.totV_ab,
            "totZ": found.pair.totZ, "ub_before": before}


def draw(path: Path, figures: dict[str, list[dict[str, float]]], cubes: CoupledProblem, way: list[Any],
         shown: dict[str, CoPartition]) -> None:
    """Parts of the left cube on the interface before and after the journey, and the figures by step."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 7), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 3)
    centre = cubes.a.coords
    face = np.flatnonzero(centre[:, 0] == centre[:, 0].max())
    side = round(len(face) ** 0.5)
    for ax, (name, made) in zip(axes[0], shown.items(), strict=True):
        ax.imshow(made.a[face].reshape(side, side), cmap="tab20", vmin=0, vmax=19, extent=(0, 1, 0, 1), origin="lower")
        _, y, z = way[0 if name == "before" else -1]
        ring = np.linspace(0, 2 * np.pi, 60)
        ax.plot(y + RADIUS * np.cos(ring), z + RADIUS * np.sin(ring), color="black", lw=1.5)
        title = "before" if name == "before" else f"{name}, after {STEPS} steps"
        ax.set(title=f"parts of left: {title}", xticks=[], yticks=[], xlim=(0, 1), ylim=(0, 1))
    for ax, key, title in zip(axes[1], ("volume", "cut", "ub"),
                              ("migration volume (cells)", "cut (facets)", "imbalance %"), strict=True):
        for name, rows in figures.items():
            scale = 100 if key == "ub" else 1
            ax.plot(range(1, STEPS + 1), [scale * r[key] for r in rows], marker="o", ms=3, label=name)
        if key == "ub":
            ax.plot(range(1, STEPS + 1), [scale * r["ub_before"] for r in figures["dynamic"]], ls="--", color="grey",
                    label="before the step (dynamic)")
        ax.set(title=title, xlabel="step", ylim=(0, 1.1 * ax.get_ylim()[1]))
        ax.legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    table = main(sys.argv[1] if len(sys.argv) > 1 else ".")
    heads = ("moved", "messages", "cut", "ub %", "ub^cpl %", "totZ")
    print("step   " + "   ".join(f"{name:<54}" for name in table).rstrip())
    print("       " + "   ".join("".join(f"{head:>9}" for head in heads) for _ in table))
    for i in range(STEPS):
        rows = [rows[i] for rows in table.values()]
        print(f"{i + 1:4}   " + "   ".join(
            f"{r['volume']:9.0f}{r['messages']:9.0f}{r['cut']:9.0f}{100 * r['ub']:9.2f}{100 * r['ub_cpl']:9.2f}"
            f"{r['totZ']:9.0f}" for r in rows))
    total = {name: [sum(r[key] for r in rows) for key in ("volume", "cut")] for name, rows in table.items()}
    print(f"dynamic moves {total['scratch-remap'][0] / total['dynamic'][0]:.1f} times less at "
          f"{total['dynamic'][1] / total['scratch-remap'][1]:.3f} of the cut")
