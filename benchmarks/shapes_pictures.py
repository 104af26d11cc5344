"""Pictures of the shapes' default plans: sheets of two views a shape, with few colours so that they stay small."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copart.coupling import CoPartition, CoupledProblem
from copart.mesh import Mesh
from copart.mesh.interfaces.surface import Surface
from copart.report.drawing import BORDER, borders, palette, shaded
from copart.report.palette import component_colours
from copart.report.pictures_style import FAINT, INK
from copart.report.projection import camera, upright_axes
from copart.report.raster import Canvas, Frame
from copart.report.scene import Scene, mesh_scene, upright, whole_boundary
from copart.report.section import section
from copart.schemes.registry import DEFAULT, run_scheme

from .shape_cases import CASES, HELD_OUT, coupled
from .shape_cases.contacts import CONTACTS
from .shape_cases.immersed import IMMERSED

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "shapes"
SHEETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "contacts.png": ("bodies that lie against one another", tuple(CONTACTS)),
    "immersed.png": ("bodies inside others", tuple(IMMERSED)),
    "others.png": ("other shapes", tuple(HELD_OUT)),
}
"""What is on each sheet."""

CELLS, COUNTS = 20_000, (8, 24)
_ACROSS = 3
_WIDTH, _HEIGHT = 780, 640
#: Inches of a view, and of what is said above it.
_VIEW, _TALL, _SAID = 2.4, 2.0, 0.42
_COLOURS = 96
#: Between components, and between the numbers of their parts.
_THICK = 3


def draw(names: Sequence[str] = tuple(SHEETS), cells: int = CELLS, folder: Path = FOLDER) -> None:
    """Draw sheets; shapes that cannot be made here are left out."""
    from matplotlib.figure import Figure
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for sheet in names:
        made = [plan for name in SHEETS[sheet][1] if (plan := _plan(name, cells)) is not None]
        rows = -(-len(made) // _ACROSS)
        tall = _TALL + _SAID
        whole = rows * tall
        figure = Figure(figsize=(2 * _VIEW * _ACROSS, whole), dpi=110, facecolor="white")
        for i, (name, meshes, problem, parts) in enumerate(made):
            row, column = divmod(i, _ACROSS)
            for j, pixels in enumerate(views(meshes, problem, parts)):
                left, low = (2 * column + j + 0.03) / (2 * _ACROSS), 1 - ((row + 1) * tall - 0.04) / whole
                axes = figure.add_axes((left, low, 0.94 / (2 * _ACROSS), (_TALL - 0.08) / whole))
                axes.imshow(np.dstack([palette()[pixels], np.where(pixels, 255, 0).astype(np.uint8)]))
                axes.set_axis_off()
            left, top = (column + 0.012) / _ACROSS, 1 - row / rows
            figure.text(left, top - 0.17 / whole, name, fontsize=9.5, color=INK, fontweight="bold", va="center")
            said = ", ".join(f"{c} {g.nvtxs:,} cells" if i == 0 else f"{c} {g.nvtxs:,}"
                             for i, (c, g) in enumerate(problem.components.items()))
            # many components in smaller letters
            size = min(6.8, 6.8 * 88 / len(said))
            figure.text(left, top - 0.33 / whole, said, fontsize=size, color=FAINT, va="center")
        raw = io.BytesIO()
        figure.savefig(raw, format="png")
        Image.open(raw).convert("RGB").quantize(_COLOURS, dither=0).save(folder / sheet, optimize=True)


def _plan(name: str, cells: int) -> tuple[str, Mapping[str, Mesh], CoupledProblem, CoPartition] | None:
    case = {**CASES, **HELD_OUT}[name]
    try:
        meshes = case.build(cells)
    except ImportError as error:
        print(f"{name} is not drawn: {error}")
        return None
    problem = coupled(case, meshes, case.kinds[0])
    counts = {c: COUNTS[i % 2] for i, c in enumerate(problem.names)}
    return name, meshes, problem, run_scheme(DEFAULT, problem, counts, seed=1)


# ---- one shape
def views(meshes: Mapping[str, Mesh], problem: CoupledProblem, made: CoPartition) -> list[NDArray[np.uint8]]:
    """Palette numbers of the two views of a shape."""
    colours = component_colours(problem, made)
    first = np.cumsum([0, *(made.nparts[c] for c in problem.names)])
    part = np.concatenate([made[c] + first[i] for i, c in enumerate(problem.names)]).astype(np.int32)
    owner = np.repeat(np.arange(len(meshes), dtype=np.int32), [meshes[c].ncells for c in problem.names])
    colour = np.concatenate([colours[c] for c in problem.names])
    small = min(problem.names, key=lambda c: float(np.prod(_extent(meshes[c]))))

    def painted(scene: Scene) -> NDArray[np.uint8]:
        def seen(of: NDArray[np.int32]) -> NDArray[np.int32]:
            return np.where(scene.cell >= 0, of[scene.cell], -1).astype(np.int32)

        pixels = shaded(scene, seen(part), colour)
        pixels[borders(seen(owner), _THICK)] = BORDER
        return pixels

    if all(mesh.dimension < 3 for mesh in meshes.values()):
        return [painted(flat(meshes, list(meshes))), painted(flat(meshes, [small]))]
    alone = mesh_scene(meshes[small], whole_boundary(meshes[small]), None)
    number = sum(meshes[c].ncells for c in problem.names[:problem.names.index(small)])
    alone = Scene(np.where(alone.cell >= 0, alone.cell + number, -1).astype(np.int32), alone.shade, alone.lines,
                  alone.frame)
    return [painted(opened(meshes, small)), painted(alone)]


def _extent(mesh: Mesh) -> NDArray[np.float64]:
    """Lengths of the box around a mesh, none of them nothing."""
    size = np.ptp(mesh.bounds, axis=0)
    return np.where(size > 0, size, 1.0)


def flat(meshes: Mapping[str, Mesh], around: Sequence[str]) -> Scene:
    """Plane meshes as they lie, in a frame around some of them."""
    surfaces = [whole_boundary(mesh) for mesh in meshes.values()]
    spot = np.concatenate([meshes[c].points[:, :2] for c in around])
    canvas = Canvas(Frame.around(spot, _WIDTH, _HEIGHT, 0.02 if len(around) == len(meshes) else 0.12))
    return _scene(canvas, meshes, surfaces, [s.corners[:, :, :2] for s in surfaces],
                  [np.zeros(s.corners.shape[:2]) for s in surfaces], [np.ones(len(s.cell)) for s in surfaces])


def opened(meshes: Mapping[str, Mesh], through: str) -> Scene:
    """Meshes in space cut through the middle of one of them, the nearer half taken away."""
    pole = upright(_box(np.concatenate([mesh.bounds for mesh in meshes.values()])), None, np.ones(3))
    right, up, eye = camera(None, pole)
    front, _, _ = upright_axes(None, pole)
    origin = meshes[through].bounds.mean(axis=0)
    light = (eye + 0.55 * up - 0.25 * right) / np.linalg.norm(eye + 0.55 * up - 0.25 * right)
    surfaces, beyond, depth = [], [], []
    for name, mesh in meshes.items():
        whole = whole_boundary(mesh)
        behind = whole.taken((whole.normal @ eye > 1e-9) & (((whole.corners - origin) @ front) < 0).any(axis=1))
        surfaces += [behind, section(mesh, origin, front)]
        beyond += [(behind.corners - origin) @ front, None]
        # of volumes that overlap this one is seen
        nearer = 1e-6 * np.ptp(mesh.points @ eye) if name == through else 0.0
        depth += [s.corners @ eye + nearer for s in surfaces[-2:]]
    plane = np.stack([right, up], axis=1)
    laid = [s.corners @ plane for s in surfaces]
    canvas = Canvas(Frame.around(np.concatenate([x.reshape(-1, 2) for x in laid]), _WIDTH, _HEIGHT))
    shade = [0.62 + 0.38 * np.clip(np.abs(s.normal @ light) / 0.95, 0, 1) for s in surfaces]
    return _scene(canvas, meshes, surfaces, laid, depth, shade, beyond)


def _box(corners: NDArray[np.float64]) -> Mesh:
    """A mesh of one box around points."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    unit = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])
    return Mesh(low + unit * (high - low), [("hexahedron", np.arange(8)[None, :])])


def _scene(canvas: Canvas, meshes: Mapping[str, Mesh], surfaces: Sequence[Surface], laid: Sequence[Any],
           depth: Sequence[Any], shade: Sequence[Any], beyond: Sequence[Any] | None = None) -> Scene:
    """Surfaces of the meshes, equally many of each in order, drawn on one canvas; cells are numbered on and on."""
    each = len(surfaces) // len(meshes)
    before = np.cumsum([0, *(mesh.ncells for mesh in meshes.values())])
    at = 0
    for i, surface in enumerate(surfaces):
        count = len(surface.cell)
        if count:
            items = np.arange(at, at + count, dtype=np.int32)
            canvas.draw(laid[i], depth[i], items, None if beyond is None else beyond[i])
        at += count
    cell = np.concatenate([s.cell + before[i // each] for i, s in enumerate(surfaces)])
    item = canvas.item
    there = item >= 0
    return Scene(np.where(there, cell[item], -1).astype(np.int32), np.where(there, np.concatenate(shade)[item], 0.0),
                 np.zeros(item.shape, bool), canvas.frame)
