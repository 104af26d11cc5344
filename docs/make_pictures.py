"""Draw the pictures of the documentation: ``python docs/make_pictures.py [NAME ...]``.

Every picture is computed by copart from generated meshes with fixed seeds, and
written to ``docs/pictures`` with few colours, so that it stays small.  Those that are drawn here are there twice,
``phases.png`` for light pages and ``phases-dark.png`` for dark ones; the others are on white.
"""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import copart
from copart.mesh import Mesh, cube, dual_graph, find_interedges
from copart.metrics import edge_cut, part_weights
from copart.operators import ext, part, proj, repart, rest
from copart.report.palette import COLOURS, RGB, colour_numbers

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Theme:
    """Colours that go with a page: behind everything, of text, of notes, of cells without a part, between cells."""

    ending: str
    page: str
    ink: str
    faint: str
    pale: str
    line: str


LIGHT = Theme("", "#FFFFFF", "#22303C", "#5B6875", "#E9EDF0", "#FFFFFF")
DARK = Theme("-dark", "#1E2129", "#E6E9EC", "#A7B0BA", "#3A414B", "#1E2129")


# ---- what is drawn on
def rectangle(n: int, m: int, y: tuple[float, float], triangles: bool = False, name: str = "mesh") -> Mesh:
    """n x m cells over [0, 3] x `y`; every rectangle cut in two where triangles are wanted."""
    gx, gy = np.meshgrid(np.linspace(0, 3, n + 1), np.linspace(*y, m + 1))
    first = (np.arange(m)[:, None] * (n + 1) + np.arange(n)).ravel()
    quads = np.column_stack([first, first + 1, first + n + 2, first + n + 1])
    cells = ("triangle", np.vstack([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])) if triangles else ("quad", quads)
    return Mesh(np.column_stack([gx.ravel(), gy.ravel()]), [cells], name=name)


def figure(theme: Theme, width: float, height: float, rows: int, columns: int, **more: Any) -> tuple[Any, np.ndarray]:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"axes.facecolor": theme.page, "axes.edgecolor": theme.faint, "xtick.color": theme.faint,
                     "ytick.color": theme.faint}):
        made = Figure(figsize=(width, height), dpi=110, facecolor=theme.page, layout="constrained")
        return made, made.subplots(rows, columns, squeeze=False, **more)


def save(made: Any, name: str, theme: Theme) -> Path:
    """Write a PNG with at most 128 colours."""
    from PIL import Image

    raw = io.BytesIO()
    made.savefig(raw, format="png")
    return shrink(Image.open(raw), HERE / "pictures" / f"{name}{theme.ending}.png")


def shrink(image: Any, path: Path, colours: int = 128) -> Path:
    image.convert("RGB").quantize(colours, dither=0).save(path, optimize=True)
    return path


def draw(axes: Any, mesh: Mesh, colour: Any, line: str) -> None:
    """The cells of a 2D mesh, one colour each."""
    from matplotlib.collections import PolyCollection

    corners = [mesh.points[row, :2] for _, cells in mesh.blocks for row in cells]
    axes.add_collection(PolyCollection(corners, facecolors=colour, edgecolors=line, linewidths=0.35))
    axes.set(xlim=(-0.03, 3.03), aspect="equal")
    axes.set_axis_off()


def title(axes: Any, theme: Theme, text: str, note: str = "") -> None:
    axes.set_title(text, fontsize=10.5, color=theme.ink, loc="left", fontweight="bold", pad=14 if note else 6)
    if note:
        axes.annotate(note, (0, 1), (0, 4), "axes fraction", "offset points", fontsize=8.5, color=theme.faint)


def shades(theme: Theme, graph: copart.Graph, where: np.ndarray, nparts: int) -> np.ndarray:
    """Colour of every cell by its part; grey where it has none yet."""
    from matplotlib.colors import to_rgb

    out = np.tile(to_rgb(theme.pale), (graph.nvtxs, 1))
    u, v, _ = graph.edges()
    meets = {(int(a), int(b)) for a, b in zip(where[u], where[v], strict=True) if a >= 0 and b >= 0}
    colour = RGB[colour_numbers(nparts, meets)]
    out[where >= 0] = colour[where[where >= 0]]
    return out


# ---- the pictures
def phases(theme: Theme) -> Path:
    """Load of every process in both phases, parts made alone and together."""
    a, b = cube("hexa", 24, name="A"), cube("tetra", 30_000, offset=(1, 0, 0), name="B")
    plans = {scheme: copart.plan(a, b, parts=(24, 40), scheme=scheme, interedges="touch", names=("A", "B"))
             for scheme in ("naive", "aware")}
    made, axes = figure(theme, 11, 5.2, 2, 2, sharey="row")
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
                ax.plot([at - 0.5, at + len(share) - 0.5], [1, 1], color=theme.ink, linewidth=0.8, linestyle=":")
                working = int((load > 0).sum())
                ax.text(at - 0.5, 1.75, f"{name}: {working} of {len(load)} work,\nthe slowest {share.max():.2f} x mean",
                        fontsize=8.5, color=theme.ink)
                at += len(share) + 2
            ax.set(ylim=(0, 2.3), xticks=[], yticks=[0, 1, 2])
            ax.spines[["top", "right"]].set_visible(False)
            if column == 0:
                ax.set_ylabel("load / mean of\nthose that work", fontsize=8.5, color=theme.faint)
            title(ax, theme, titles[scheme] if row == 0 else "", what)
    return save(made, "phases", theme)


def interedges(theme: Theme) -> Path:
    """Which cells are coupled: facet and touch."""
    a, b = rectangle(6, 2, (0, 0.8), triangles=True, name="A"), rectangle(8, 2, (-0.8, 0), name="B")
    made, axes = figure(theme, 11, 3.3, 1, 2)
    for ax, kind in zip(axes[0], ("facet", "touch"), strict=True):
        relation = find_interedges(a, b, kind)
        u, v, _ = relation.pairs()
        for mesh, coupled, colour in ((a, relation.coupled_a, COLOURS[4]), (b, relation.coupled_b, COLOURS[1])):
            fill = np.array([theme.pale] * mesh.ncells)
            fill[coupled] = colour
            draw(ax, mesh, fill, theme.line)
        for p, q in zip(a.centres()[u], b.centres()[v], strict=True):
            ax.plot([p[0], q[0]], [p[1], q[1]], color=theme.ink, linewidth=0.7, marker="o", markersize=2)
        ax.set_ylim(-0.85, 0.85)
        title(ax, theme, kind, f"{len(relation.coupled_a)} and {len(relation.coupled_b)} coupled cells, "
                        f"{len(u)} interedges")
    return save(made, "interedges", theme)


def two_plates() -> tuple[copart.CoupledProblem, Mesh, Mesh]:
    """A above B, cells of different size: what the schemes are shown on."""
    a, b = rectangle(42, 12, (0, 0.86), name="A"), rectangle(60, 16, (-0.84, -0.04), name="B")
    relation = find_interedges(a, b.translated((0, 0.04, 0)), "facet")
    return copart.CoupledProblem.of_two(dual_graph(a), dual_graph(b), relation, ("A", "B")), a, b


def projrepart(theme: Theme) -> Path:
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
    made, axes = figure(theme, 12, 5.6, 2, 3)
    for number, (ax, (name, note, where_a, where_b)) in enumerate(zip(axes.flat, steps, strict=True), 1):
        draw(ax, a, shades(theme, problem.a, where_a, na), theme.line)
        draw(ax, b, shades(theme, problem.b, where_b, nb), theme.line)
        ax.set_ylim(-0.88, 0.9)
        title(ax, theme, f"{number}. {name}", note)
    return save(made, "projrepart", theme)


def side_by_side(theme: Theme, name: str, width: float, schemes: dict[str, Callable[..., copart.CoPartition]],
                 note: Callable[[copart.metrics.CoupledMetrics], str], height: float = 3.3) -> Path:
    """Schemes on the same meshes, with the borders of their parts at the interface."""
    problem, a, b = two_plates()
    made, axes = figure(theme, width, height, 1, len(schemes))
    for ax, (text, run) in zip(axes[0], schemes.items(), strict=True):
        plan = run(problem)
        for mesh, name_of, y in ((a, "A", 0.0), (b, "B", -0.04)):
            draw(ax, mesh, shades(theme, problem.components[name_of], plan[name_of], plan.nparts[name_of]), theme.line)
            cells, where = problem.coupled(name_of), plan[name_of]
            order = cells[np.argsort(mesh.centres()[cells, 0])]
            for cell, after in itertools.pairwise(order):
                if where[cell] != where[after]:
                    edge = (mesh.centres()[cell, 0] + mesh.centres()[after, 0]) / 2
                    ax.plot([edge, edge], [y, y + (0.14 if name_of == "A" else -0.14)], color=theme.ink, linewidth=2.2)
        ax.set_ylim(-0.88, 0.9)
        title(ax, theme, text, note(copart.evaluate(problem, plan)))
    return save(made, name, theme)


def together(theme: Theme) -> Path:
    """The first picture: each mesh partitioned alone, and both together."""
    return side_by_side(
        theme, "together", 8,
        {"Each mesh partitioned alone": lambda p: copart.naive(p, (8, 12)),
         "Both together, with copart": lambda p: copart.joint(p, (8, 12), (4, 4))},
        lambda m: f"{m.pair.totZ} messages per exchange", height=2.7)


def schemes(theme: Theme) -> Path:
    """The three published schemes."""
    return side_by_side(
        theme, "schemes", 12,
        {"naive": lambda p: copart.naive(p, (8, 12)), "aware": lambda p: copart.aware(p, (8, 12), (4, 4)),
         "projrepart": lambda p: copart.projrepart(p, (8, 12), (4, 4))},
        lambda m: f"messages: {m.pair.totZ}; coupled imbalance: {m.a.ub_cpl:.0%} and {m.b.ub_cpl:.0%}")


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
        command(["mesh", "cube", "--cells", "tetra", "--about", "40630", "-o", str(a), "-q"])
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


def machine() -> Path:
    """A coupled run on scattered nodes of a torus, its links by load in linear order and as placed."""
    from PIL import Image

    from copart.mapping.allocations import scattered
    from copart.mapping.congestion import TorusNetwork

    job = scattered(TorusNetwork([6, 4, 3]), 32, fill=0.4, slots=4, run=3, seed=2)
    made = copart.plan(cube("hexa", 16, name="fluid"), cube("hexa", 20, offset=(1, 0, 0), name="solid"), parts=(48, 80),
                       site=copart.Site(job, method="auto"))
    raw = HERE / "pictures" / "raw-machine.png"
    try:
        made.machine_picture(raw)
        image = Image.open(raw)
        image.load()
        return shrink(image, HERE / "pictures" / "machine.png")
    finally:
        raw.unlink(missing_ok=True)


def boxes(theme: Theme) -> Path:
    """Parts by coordinates of a mesh that is finer around a corner: jagged boxes, bisection, a curve."""
    from copart.partitioner.geometric.methods import partition_points

    mesh = rectangle(90, 45, (0, 1.5), triangles=True)
    points = mesh.points.copy()
    points[:, 0] = 3 * (points[:, 0] / 3) ** 1.7
    points[:, 1] = 1.5 * (points[:, 1] / 1.5) ** 1.4
    mesh = Mesh(points, mesh.blocks, name="graded")
    graph = dual_graph(mesh)
    made, axes = figure(theme, 10.2, 2.6, 1, 3)
    for ax, method, text in zip(axes[0], ("multijagged", "rcb", "hsfc"),
                                ("multijagged", "rcb", "hsfc"), strict=True):
        found = partition_points(graph.coords, 23, method)
        draw(ax, mesh, shades(theme, graph, found.part, 23), "none")
        if found.boxes is not None:
            from matplotlib.patches import Rectangle

            for low, high in found.boxes:
                ax.add_patch(Rectangle(low, *(high - low), fill=False, edgecolor=theme.ink, linewidth=0.8))
        ax.set(ylim=(-0.03, 1.53))
        title(ax, theme, text, f"{int(found.sizes.min())} to {int(found.sizes.max())} of {graph.nvtxs} cells per part, "
                               f"cut {edge_cut(graph, found.part)}")
    return save(made, "boxes", theme)


def sent(theme: Theme) -> Path:
    """What each part sends, of the partition of least cut and of least data from one part."""
    from copart.hypergraph import Hypergraph
    from copart.metrics import evaluate_hypergraph
    from copart.partitioner.umpa import partition_hypergraph

    graph = dual_graph(cube("hexa", 25))
    nets = Hypergraph.column_net(graph)
    made = [("copart part cube.vtu 64", part(graph, 64, eps=0.03)),
            ("--objective volume", partition_hypergraph(nets, 64, eps=0.03)),
            ("--objective max-volume", partition_hypergraph(nets, 64, eps=0.03, objective="max-volume"))]
    fig, axes = figure(theme, 9.6, 2.9, 1, 3, sharey=True)
    for ax, (name, parts) in zip(axes.ravel(), made, strict=True):
        found = evaluate_hypergraph(nets, parts, 64)
        ax.bar(np.arange(64), np.sort(found.send)[::-1], width=0.8, color=COLOURS[0])
        ax.axhline(found.max_send, color=theme.ink, linewidth=0.8)
        title(ax, theme, name, f"largest {found.max_send}, all {found.total_volume}")
        ax.set_xticks([])
        ax.tick_params(colors=theme.faint, labelsize=8)
        for side in ("top", "right", "left", "bottom"):
            ax.spines[side].set_visible(False)
    return save(fig, "sent", theme)


def clusters(theme: Theme) -> Path:
    """Cells that a matching and clusters join, once and again."""
    from copart.hypergraph import Hypergraph
    from copart.partitioner.hypergraphs import cluster, contract

    mesh = rectangle(33, 11, (0, 1), triangles=True)
    graph = dual_graph(mesh)
    h = Hypergraph.column_net(graph)
    matched, joined = contract(h, cluster(h, "hcm").rep), contract(h, cluster(h, "hcc", max_weight=13).rep)
    small = joined.hypergraph
    again = contract(small, cluster(small, "hcc", max_weight=49).rep).after(joined)
    shown = (("matching", matched), ("clusters of up to 12 cells", joined), ("clusters of clusters", again))
    made, axes = figure(theme, 11, 2.3, 1, 3)
    for ax, (name, one) in zip(axes[0], shown, strict=True):
        count = one.hypergraph.nvtxs
        draw(ax, mesh, shades(theme, graph, one.of_vertex, count), theme.line)
        ax.set_ylim(-0.03, 1.03)
        title(ax, theme, name, f"{graph.nvtxs} cells become {count} vertices")
    return save(made, "clusters", theme)


#: Drawn here, for both kinds of pages.
THEMED: dict[str, Callable[[Theme], Path]] = {
    f.__name__: f for f in (together, phases, interedges, projrepart, schemes, boxes, sent, clusters)}
#: Drawn by the commands and examples themselves.
PLAIN: dict[str, Callable[[], Path]] = {f.__name__: f for f in (repartition, demo, grid, machine)}

if __name__ == "__main__":
    for name in sys.argv[1:] or [*THEMED, *PLAIN]:
        for path in [THEMED[name](theme) for theme in (LIGHT, DARK)] if name in THEMED else [PLAIN[name]()]:
            print(f"{path.relative_to(HERE.parent)}: {path.stat().st_size // 1000} kB")
