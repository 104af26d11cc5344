"""Two small coupled cases as their solvers keep them, for the tutorial.

``flap/fluid.su2, flap/solid.su2``
    SU2: air in a channel of triangles, over and around a plate of quadrilaterals that stands in it;
    the marker ``wet`` of either file is the interface.
``plate/``
    OpenFOAM: a case with two regions, air over a heated metal plate, which ``chtMultiRegionFoam`` runs; the patches
    ``air_to_metal`` and ``metal_to_air`` are the interface.

The meshes do not match: cells of the two sides have different sizes on the interface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ...errors import FormatError
from .foam_case import write_settings

Facets = Mapping[str, np.ndarray]


def write_cases(folder: str | Path = ".") -> dict[str, int]:
    """Write both cases.

    Parameters
    ----------
    folder : path-like
        Where ``flap`` and ``plate`` are made.

    Returns
    -------
    dict of str to int
        Number of cells of each mesh.

    Raises
    ------
    FormatError
        One of the two is there already, or cannot be written.
    """
    root = Path(folder)
    flap, plate = root / "flap", root / "plate"
    for made in (flap, plate):
        if made.exists():
            raise FormatError(made, "is there already; the cases need a folder without it")
    try:
        write_settings(plate)
        flap.mkdir(parents=True)
        return {
            "flap/fluid.su2": write_channel(flap / "fluid.su2"),
            "flap/solid.su2": write_flap(flap / "solid.su2"),
            "plate:air": write_region(plate / "constant" / "air" / "polyMesh", (48, 24, 14), (0, 0, 0), (3, 1.5, 1),
                                      "air_to_metal", "down"),
            "plate:metal": write_region(plate / "constant" / "metal" / "polyMesh", (40, 3, 14), (0, -0.2, 0), (3, 0, 1),
                                        "metal_to_air", "up")}
    except OSError as error:
        raise FormatError(error.filename or root, f"cannot be written: {error.strerror}") from None


# ---- SU2
def write_channel(path: Path) -> int:
    """Triangles over [0, 4] x [0, 1] without the flap [1.4, 1.6] x [0, 0.6]."""
    points, quads = lattice(160, 40, (0, 4), (0, 1))
    centre = points[quads].mean(axis=1)
    air = ~((abs(centre[:, 0] - 1.5) < 0.1) & (centre[:, 1] < 0.6))
    quads = quads[air]
    cells = np.vstack([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return write_su2(path, points, cells, {
        "inlet": lambda x, y: x < 0.01, "outlet": lambda x, y: x > 3.99, "ceiling": lambda x, y: y > 0.99,
        "wet": lambda x, y: (abs(x - 1.5) < 0.11) & (y > 0.001), "floor": lambda x, y: y < 0.01})


def write_flap(path: Path) -> int:
    """Quadrilaterals over the flap, twice as fine as the air around it."""
    points, quads = lattice(16, 60, (1.4, 1.6), (0, 0.6))
    return write_su2(path, points, quads, {"clamped": lambda x, y: y < 0.001, "wet": lambda x, y: y >= 0.001})


def lattice(n: int, m: int, x: tuple[float, float], y: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Points and cells of n x m rectangles."""
    px, py = np.meshgrid(np.linspace(*x, n + 1), np.linspace(*y, m + 1))
    first = (np.arange(m)[:, None] * (n + 1) + np.arange(n)).ravel()
    return np.column_stack([px.ravel(), py.ravel()]), np.column_stack([first, first + 1, first + n + 2, first + n + 1])


def write_su2(path: Path, points: np.ndarray, cells: np.ndarray,
              markers: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]) -> int:
    """Write 2D cells; a boundary edge gets the first marker whose rule its middle meets."""
    used, cells = np.unique(cells, return_inverse=True)
    points, cells = points[used], cells.reshape(-1, cells.shape[-1])
    edges = np.vstack([cells[:, [i, (i + 1) % cells.shape[1]]] for i in range(cells.shape[1])])
    _, first, count = np.unique(np.sort(edges, axis=1), axis=0, return_index=True, return_counts=True)
    rim = edges[first[count == 1]]
    x, y = points[rim].mean(axis=1).T
    left = np.ones(len(rim), bool)
    out = ["NDIME= 2", f"NELEM= {len(cells)}"]
    out += [f"{5 if cells.shape[1] == 3 else 9} {' '.join(map(str, row))} {i}" for i, row in enumerate(cells.tolist())]
    out += [f"NPOIN= {len(points)}"]
    out += [f"{a:.9g} {b:.9g} {i}" for i, (a, b) in enumerate(points.tolist())]
    out += [f"NMARK= {len(markers)}"]
    for name, rule in markers.items():
        mine = left & rule(x, y)
        left &= ~mine
        out += [f"MARKER_TAG= {name}", f"MARKER_ELEMS= {mine.sum()}", *(f"3 {a} {b}" for a, b in rim[mine].tolist())]
    path.write_text("\n".join(out) + "\n")
    return len(cells)


# ---- OpenFOAM
def write_region(folder: Path, shape: tuple[int, int, int], low: tuple[float, float, float],
                 high: tuple[float, float, float], interface: str, side: str) -> int:
    """A box of hexahedra as a polyMesh; the patch `interface` is its upper or its lower side."""
    nx, ny, nz = shape
    axes = [np.linspace(a, b, n + 1) for a, b, n in zip(low, high, shape, strict=True)]
    z, y, x = np.meshgrid(axes[2], axes[1], axes[0], indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel(), z.ravel()])
    k, j, i = np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
    row, layer = nx + 1, (nx + 1) * (ny + 1)
    base = (i + row * j + layer * k).ravel()
    corner = base[:, None] + np.array([0, 1, row + 1, row, layer, layer + 1, layer + row + 1, layer + row])
    # the six faces of a cell, their normals outward
    sides = {"left": [0, 4, 7, 3], "right": [1, 2, 6, 5], "down": [0, 1, 5, 4], "up": [3, 7, 6, 2],
             "front": [0, 3, 2, 1], "back": [4, 5, 6, 7]}
    beyond = {"left": i == 0, "right": i == nx - 1, "down": j == 0, "up": j == ny - 1, "front": k == 0,
              "back": k == nz - 1}
    cell = np.arange(nx * ny * nz)
    # between cells: each cell owns the faces to the cells after it, in ascending order of these
    inner = [(np.array(cell[keep]), corner[keep][:, sides[to]], cell[keep] + step)
             for to, step in (("right", 1), ("up", nx), ("back", nx * ny)) for keep in [~beyond[to].ravel()]]
    owner, faces, neighbour = (np.concatenate(column) for column in zip(*inner, strict=True))
    order = np.lexsort((neighbour, owner))
    owner, faces, neighbour = owner[order], faces[order], neighbour[order]
    patches = {"inlet": ["left"], "outlet": ["right"], interface: [side],
               "walls": [name for name in ("down", "up", "front", "back") if name != side]}
    boundary, at = [], len(faces)
    for name, parts in patches.items():
        touching = [(corner[beyond[p].ravel()][:, sides[p]], cell[beyond[p].ravel()]) for p in parts]
        faces = np.vstack([faces, *(f for f, _ in touching)])
        owner = np.concatenate([owner, *(c for _, c in touching)])
        kind = "patch" if name in ("inlet", "outlet") else "mappedWall" if name == interface else "wall"
        here, there = interface.split("_to_")
        mapped = f"        sampleMode      nearestPatchFace;\n        sampleRegion    {there};\n" \
                 f"        samplePatch     {there}_to_{here};\n" if name == interface else ""
        boundary.append(f"    {name}\n    {{\n        type            {kind};\n        nFaces          "
                        f"{len(faces) - at};\n        startFace       {at};\n{mapped}    }}")
        at = len(faces)
    folder.mkdir(parents=True, exist_ok=True)
    note = f"nPoints: {len(points)} nCells: {len(cell)} nFaces: {len(faces)} nInternalFaces: {len(neighbour)}"
    write_list(folder, "points", "vectorField", [f"({a:.9g} {b:.9g} {c:.9g})" for a, b, c in points.tolist()])
    write_list(folder, "faces", "faceList", [f"4({a} {b} {c} {d})" for a, b, c, d in faces.tolist()])
    write_list(folder, "owner", "labelList", owner.tolist(), note)
    write_list(folder, "neighbour", "labelList", neighbour.tolist(), note)
    write_list(folder, "boundary", "polyBoundaryMesh", boundary)
    return len(cell)


def write_list(folder: Path, name: str, kind: str, rows: Sequence[object], note: str | None = None) -> None:
    """A list with OpenFOAM's header."""
    place = "/".join(folder.parts[-3:])
    head = ["FoamFile", "{", "    version     2.0;", "    format      ascii;", f"    class       {kind};"]
    head += [f'    note        "{note}";'] if note else []
    head += [f'    location    "{place}";', f"    object      {name};", "}", "", str(len(rows)), "("]
    (folder / name).write_text("\n".join([*head, *map(str, rows), ")"]) + "\n")


__all__ = ["write_cases"]
