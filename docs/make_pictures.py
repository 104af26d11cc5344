"""Draw the pictures of the documentation: ``python docs/make_pictures.py [NAME ...]``.

Every picture is computed by copart from generated meshes with fixed seeds, and
written to ``docs/pictures`` with few colours, so that it stays small.
"""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import copart
from copart.mesh import Mesh, cube, dual_graph, find_interedges
from copart.metrics import edge_cut, part_weights
from copart.operators import ext, part, proj, repart, rest
from copart.report.palette import COLOURS, RGB, colour_numbers

HERE = Path(__file__).resolve().parent
INK, FAINT, PALE = "#22303C", "#6B7885", "#E9EDF0"


# ---- what is drawn on
def rectangle(n: int, m: int, y: tuple[float, float], triangles: bool = False, name: str = "mesh") -> Mesh:
    """n x m cells over [0, 3] x `y`; every rectangle cut in two where triangles are wanted."""
    gx, gy = np.meshgrid(np.linspace(0, 3, n + 1), np.linspace(*y, m + 1))
    first = (np.arange(m)[:, None] * (n + 1) + np.arange(n)).ravel()
    quads = np.column_stack([first, first + 1, first + n + 2, first + n + 1])
    cells = ("triangle", np.vstack([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])) if triangles else ("quad", quads)
    return Mesh(np.column_stack([gx.ravel(), gy.ravel()]), [cells], name=name)


def figure(width: float, height: float, rows: int, columns: int, **more: Any) -> tuple[Any, np.ndarray]:
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), dpi=110, facecolor="white", layout="constrained")
    return made, made.subplots(rows, columns, squeeze=False, **more)


def save(made: Any, name: str) -> Path:
    """Write a PNG with at most 128 colours."""
    from PIL import Image

    raw = io.BytesIO()
    made.savefig(raw, format="png")
    return shrink(Image.open(raw), HERE / "pictures" / name)


def shrink(image: Any, path: Path, colours: int = 128) -> Path:
    image.convert("RGB").quantize(colours, dither=0).save(path, optimize=True)
    return path


def draw(axes: Any, mesh: Mesh, colour: Any, line: str = "#FFFFFF") -> None:
    """The cells of a 2D mesh, one colour each."""
    from matplotlib.collections import PolyCollection

    corners = [mesh.points[row, :2] for _, cells in mesh.blocks for row in cells]
    axes.add_collection(PolyCollection(corners, facecolors=colour, edgecolors=line, linewidths=0.35))
    axes.set(xlim=(-0.03, 3.03), aspect="equal")
    axes.set_axis_off()


def title(axes: Any, text: str, note: str = "") -> None:
    axes.set_title(text, fontsize=10.5, color=INK, loc="left", fontweight="bold", pad=14 if note else 6)
    if note:
        axes.annotate(note, (0, 1), (0, 4), "axes fraction", "offset points", fontsize=8.5, color=FAINT)


def shades(graph: copart.Graph, where: np.ndarray, nparts: int) -> np.ndarray:
    """Colour of every cell by its part; grey where it has none yet."""
    out = np.tile([0.914, 0.929, 0.941], (graph.nvtxs, 1))
    u, v, _ = graph.edges()
    meets = {(int(a), int(b)) for a, b in zip(where[u], where[v], strict=True) if a >= 0 and b >= 0}
    colour = RGB[colour_numbers(nparts, meets)]
    out[where >= 0] = colour[where[where >= 0]]
    return out


# ---- the pictures
def phases() -> Path:
    """Load of every process in both phases, parts made alone and together."""
    a, b = cube("hexa", 24, name="A"), cube("tetra", 30_000, offset=(1, 0, 0), name="B")
    plans = {scheme: copart.plan(a, b, parts=(24, 40), scheme=scheme, interedges="touch", names=("A", "B"))
             for scheme in ("naive", "aware")}
    made, axes = figure(11, 5.2, 2, 2, sharey="row")
    titles = {"naive": "partitioned one at a time", "aware": "partitioned together"}
    for column, (scheme, plan) in enumerate(plans.items()):
        loads = {"all": [], "coupled": []}
        for name, graph in plan.problem.components.items():
            where, coupled = plan.copartition[name], plan.problem.coupled(name)
            count = plan.copartition.nparts[name]
            loads["all"].append(part_weights(graph, where, count))
            loads["coupled"].append(np.bincount(where[coupled], minlength=count))
        for row, (key, what) in enumerate((("all", "regular phase: all cells"), ("coupled", "coupling phase: cells on "
                                                                               "the interface"))):
            ax, at = axes[row, column], 0
            for load, colour, name in zip(loads[key], (COLOURS[0], COLOURS[1]), "AB", strict=True):
                share = load / load[load > 0].mean()
                ax.bar(np.arange(len(share)) + at, share, color=colour, width=0.8)
                ax.plot([at - 0.5, at + len(share) - 0.5], [1, 1], color=INK, linewidth=0.8, linestyle=":")
                working = int((load > 0).sum())
                ax.text(at - 0.5, 1.75, f"{name}: {working} of {len(load)} work,\nthe slowest {share.max():.2f} x mean",
                        fontsize=8.5, color=INK)
                at += len(share) + 2
            ax.set(ylim=(0, 2.3), xticks=[], yticks=[0, 1, 2])
            ax.spines[["top", "right"]].set_visible(False)
            if column == 0:
                ax.set_ylabel("load / mean of\nthose that work", fontsize=8.5, color=FAINT)
            title(ax, titles[scheme] if row == 0 else "", what)
    return save(made, "phases.png")


def interedges() -> Path:
    """Which cells are coupled: facet and touch."""
    a, b = rectangle(6, 2, (0, 0.8), triangles=True, name="A"), rectangle(8, 2, (-0.8, 0), name="B")
    made, axes = figure(11, 3.3, 1, 2)
    for ax, kind in zip(axes[0], ("facet", "touch"), strict=True):
        relation = find_interedges(a, b, kind)
        u, v, _ = relation.pairs()
        for mesh, coupled, colour in ((a, relation.coupled_a, COLOURS[4]), (b, relation.coupled_b, COLOURS[1])):
            fill = np.array([PALE] * mesh.ncells)
            fill[coupled] = colour
            draw(ax, mesh, fill)
        for p, q in zip(a.centres()[u], b.centres()[v], strict=True):
            ax.plot([p[0], q[0]], [p[1], q[1]], color=INK, linewidth=0.7, marker="o", markersize=2)
        ax.set_ylim(-0.85, 0.85)
        title(ax, kind, f"{len(relation.coupled_a)} and {len(relation.coupled_b)} coupled cells, "
                        f"{len(u)} interedges")
    return save(made, "interedges.png")


def two_plates() -> tuple[copart.CoupledProblem, Mesh, Mesh]:
    """A above B, cells of different size: what the schemes are shown on."""
    a, b = rectangle(42, 12, (0, 0.86), name="A"), rectangle(60, 16, (-0.84, -0.04), name="B")
    relation = find_interedges(a, b.translated((0, 0.04, 0)), "facet")
    return copart.CoupledProblem.of_two(dual_graph(a), dual_graph(b), relation, ("A", "B")), a, b


def projrepart() -> Path:
    """The steps of PROJREPART, one after the other."""
    problem, a, b = two_plates()
    (na, nb), (ca, cb) = (8, 12), (4, 5)
    coupled_a, cells_a = rest(problem.a, problem.coupled("A"))
    coupled_b, cells_b = rest(problem.b, problem.coupled("B"))
    part_a = part(coupled_a, ca)
    projected = proj(coupled_a, coupled_b, problem.interedges.restricted(cells_a, cells_b), part_a, ca)
    part_b = repart(coupled_b, projected, ca, cb)
    whole_a = ext(problem.a, cells_a, part_a, ca, na)
    whole_b = ext(problem.b, cells_b, part_b, cb, nb)

    def on(graph: copart.Graph, cells: np.ndarray, parts: np.ndarray | None) -> np.ndarray:
        out = np.full(graph.nvtxs, -1)
        if parts is not None:
            out[cells] = parts
        return out

    steps = [("Rest", "the cells with interedges", on(problem.a, cells_a, np.zeros(len(cells_a), int)),
              on(problem.b, cells_b, np.ones(len(cells_b), int))),
             ("Part", f"A's side in {ca} parts", on(problem.a, cells_a, part_a), on(problem.b, cells_b, None)),
             ("Proj", "the same parts on B's side", on(problem.a, cells_a, part_a), on(problem.b, cells_b, projected)),
             ("Repart", f"B's side from {ca} to {cb} parts, few moves", on(problem.a, cells_a, part_a),
              on(problem.b, cells_b, part_b)),
             ("Ext", f"A to {na} parts, what is there stays", whole_a, on(problem.b, cells_b, part_b)),
             ("Ext", f"B to {nb} parts, what is there stays", whole_a, whole_b)]
    made, axes = figure(12, 5.6, 2, 3)
    for number, (ax, (name, note, where_a, where_b)) in enumerate(zip(axes.flat, steps, strict=True), 1):
        draw(ax, a, shades(problem.a, where_a, na))
        draw(ax, b, shades(problem.b, where_b, nb))
        ax.set_ylim(-0.88, 0.9)
        title(ax, f"{number}. {name}", note)
    return save(made, "projrepart.png")


def schemes() -> Path:
    """The three schemes on the same meshes, with messages as lines between the parts."""
    problem, a, b = two_plates()
    made, axes = figure(12, 3.3, 1, 3)
    for ax, scheme in zip(axes[0], (copart.naive, copart.aware, copart.projrepart), strict=True):
        plan = scheme(problem, (8, 12), None if scheme is copart.naive else (4, 4))
        pair = copart.evaluate(problem, plan).pair
        for mesh, name, y in ((a, "A", 0.0), (b, "B", -0.04)):
            draw(ax, mesh, shades(problem.components[name], plan[name], plan.nparts[name]))
            x = mesh.points[:, 0]
            cells, where = problem.coupled(name), plan[name]
            order = cells[np.argsort(mesh.centres()[cells, 0])]
            for cell, after in itertools.pairwise(order):
                if where[cell] != where[after]:
                    edge = (mesh.centres()[cell, 0] + mesh.centres()[after, 0]) / 2
                    ax.plot([edge, edge], [y, y + (0.14 if name == "A" else -0.14)], color="black", linewidth=2.2)
            assert x.min() == 0
        ax.set_ylim(-0.88, 0.9)
        figures = copart.evaluate(problem, plan)
        title(ax, scheme.__name__, f"messages: {pair.totZ}; coupled imbalance: {figures.a.ub_cpl:.0%} and "
                                   f"{figures.b.ub_cpl:.0%}")
    return save(made, "schemes.png")


def repartition() -> Path:
    """A grid from 5 to 7 parts, with the migration matrix."""
    from PIL import Image

    sys.path.insert(0, str(HERE.parent))
    from examples.repartition_grid import main as repartition_grid

    repartition_grid(HERE / "pictures")
    raw = HERE / "pictures" / "repartition_grid.png"
    image = Image.open(raw)
    image.load()
    raw.unlink()
    return shrink(image, HERE / "pictures" / "repartition.png")


def demo() -> Path:
    """The picture of ``make demo``: exp3 in small."""
    from PIL import Image

    from copart.cli import main as command

    folder = HERE / "pictures"
    raw, a, b = folder / "raw.png", folder / "raw-tetra.vtu", folder / "raw-hexa.vtu"
    try:
        command(["mesh", "cube", "--cells", "tetra", "40630", "-o", str(a), "-q"])
        command(["mesh", "cube", "--cells", "hexa", "30", "--offset", "1", "0", "0", "-o", str(b), "-q"])
        command(["compare", str(a), str(b), "--parts", "16", "64", "--interedges", "touch", "--seeds", "1", "--names",
                 "tetra", "hexa", "--picture", str(raw), "-q"])
        image = Image.open(raw)
        image.load()
        return shrink(image.resize((image.width * 4 // 5, image.height * 4 // 5), Image.LANCZOS), HERE / "demo.png", 96)
    finally:
        for scrap in (raw, a, b):
            scrap.unlink(missing_ok=True)


def grid() -> Path:
    """A grid of processes by compute node, as ranks come and reordered."""
    from PIL import Image

    from copart.mapping.cartesian import Grid, reorder_grid, stencil
    from copart.report.grid_picture import draw_grid

    dims, nodes = (9, 8), 12
    made = [reorder_grid(Grid(dims), stencil("five-point", 2), nodes, method) for method in ("cart", "hyperplane")]
    raw = HERE / "pictures" / "raw-grid.png"
    try:
        draw_grid(raw, dims, [(f"{m.method}: {m.cost.total} between nodes", m.node_of_vertex) for m in made])
        image = Image.open(raw)
        image.load()
        return shrink(image, HERE / "pictures" / "grid.png")
    finally:
        raw.unlink(missing_ok=True)


def boxes() -> Path:
    """Parts by coordinates of a mesh that is finer around a corner: jagged boxes, bisection, a curve."""
    from copart.partitioner.geometric.methods import partition_points

    mesh = rectangle(90, 45, (0, 1.5), triangles=True)
    points = mesh.points.copy()
    points[:, 0] = 3 * (points[:, 0] / 3) ** 1.7
    points[:, 1] = 1.5 * (points[:, 1] / 1.5) ** 1.4
    mesh = Mesh(points, mesh.blocks, name="graded")
    graph = dual_graph(mesh)
    made, axes = figure(10.2, 2.15, 1, 3)
    for ax, method, text in zip(axes[0], ("multijagged", "rcb", "hsfc"),
                                ("multijagged", "rcb", "hsfc"), strict=True):
        found = partition_points(graph.coords, 23, method)
        draw(ax, mesh, shades(graph, found.part, 23), line="none")
        if found.boxes is not None:
            from matplotlib.patches import Rectangle

            for low, high in found.boxes:
                ax.add_patch(Rectangle(low, *(high - low), fill=False, edgecolor=INK, linewidth=0.8))
        ax.set(ylim=(-0.03, 1.53))
        title(ax, text, f"{int(found.sizes.min())} to {int(found.sizes.max())} of {graph.nvtxs} cells per part, cut "
                        f"{edge_cut(graph, found.part)}")
    return save(made, "boxes.png")


PICTURES: dict[str, Callable[[], Path]] = {f.__name__: f for f in (phases, interedges, projrepart, schemes, repartition,
                                                                   demo, grid, boxes)}

if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        path = PICTURES[name]()
        print(f"{path.relative_to(HERE.parent)}: {path.stat().st_size // 1000} kB")
