"""``copart mesh info``, ``cube``, ``tube``, ``cylinder``, ``cases``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .console import Console
from .effects import Effect
from .numbers import integer, real
from .options import add_safe
from .parsing import listed
from .paths import Paths, given, sources

if TYPE_CHECKING:
    from ..mesh import Mesh

EPILOG = """\
  copart mesh info fluid.su2                                       cells, and the names to plan with
  copart mesh cube --cells hexa 25 -o a.vtu
  copart mesh cube --cells tetra --about 40630 --offset 1 0 0 -o b.vtu     shares a face with the first
  copart mesh tube --inner 0.5 --outer 0.6 --length 5 -o wall.vtu
  copart mesh cases                                                two coupled cases to try things on
  copart mesh cylinder --radius 0.5 --length 5 -o fluid.vtu        fills the tube
"""
#: Groups listed before the rest is only counted.
LISTED = 40

EFFECTS = (Effect(("seed", "about"), lambda args: args.cells == "tetra", "without --cells tetra"),)
PATHS = Paths({"source": sources}, {"output": given("output")})


def add_arguments(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Declare the arguments."""
    shapes = parser.add_subparsers(dest="shape", metavar="WHAT", required=True)
    raw = argparse.RawDescriptionHelpFormatter
    info = shapes.add_parser("info", help="what a mesh file holds: cells, regions, boundaries", epilog=EPILOG,
                             formatter_class=raw)
    info.add_argument("source", metavar="FILE", help="mesh file or OpenFOAM case; FILE:NAME or FILE:ARRAY=VALUE for "
                      "one region of it")
    add_safe(info)
    cube = shapes.add_parser("cube", help="the unit cube", epilog=EPILOG, formatter_class=raw)
    cube.add_argument("--cells", choices=["hexa", "tetra"], default="hexa", help="cell shape (default hexa)")
    cube.add_argument("size", type=integer, nargs="?", metavar="SIZE", help="hexa: cells along an edge")
    cube.add_argument("--about", type=integer, metavar="N", help="tetra: about how many cells in all")
    cube.add_argument("--seed", type=integer, default=1, metavar="N", help="of the points of tetrahedra (default 1)")
    tube = shapes.add_parser("tube", help="the wall of a pipe along z", epilog=EPILOG, formatter_class=raw)
    tube.add_argument("--inner", type=real, default=0.5, metavar="R", help="inner radius (default 0.5)")
    tube.add_argument("--outer", type=real, default=0.6, metavar="R", help="outer radius (default 0.6)")
    listed(tube.add_argument("--cells", type=integer, nargs=3, default=(2, 24, 40),
                             metavar=("ACROSS", "AROUND", "ALONG"),
                             help="cells across the wall, around, and along (default 2 24 40)"))
    cylinder = shapes.add_parser("cylinder", help="the inside of a pipe along z", epilog=EPILOG, formatter_class=raw)
    cylinder.add_argument("--radius", type=real, default=0.5, metavar="R", help="radius (default 0.5)")
    listed(cylinder.add_argument("--cells", type=integer, nargs=2, default=(8, 40), metavar=("ACROSS", "ALONG"),
                                 help="cells across the diameter, and along (default 8 40)"))
    for shape in (tube, cylinder):
        shape.add_argument("--length", type=real, default=5.0, metavar="L", help="length (default 5)")
    for shape, what in ((cube, "corner of the cube"), (tube, "start of the axis"), (cylinder, "start of the axis")):
        listed(shape.add_argument("--offset", type=real, nargs=3, default=(0.0, 0.0, 0.0), metavar=("X", "Y", "Z"),
                                  help=f"{what} (default 0 0 0)"))
        shape.add_argument("-o", "--output", required=True, metavar="FILE", help="mesh file to write (.vtu)")
    cases = shapes.add_parser("cases", help="the two coupled cases of the tutorial, as SU2 and OpenFOAM keep them",
                              epilog=EPILOG, formatter_class=raw)
    cases.add_argument("-o", "--output", default=".", metavar="DIR", help="folder to make them in (default: this one)")
    return [info, cube, tube, cylinder, cases]


def run(args: argparse.Namespace, console: Console) -> int:
    """List what a file holds, or generate a mesh and write it."""
    if args.shape == "info":
        return _info(args, console)
    if args.shape == "cases":
        return _cases(args, console)
    from ..mesh import write_vtu
    from ..metrics.columns import plural

    with console.progress() as progress:
        progress(f"making a {args.shape}")
        mesh = _generated(args)
        progress(f"writing {args.output}")
        write_vtu(args.output, mesh)
    console.say(f"{args.output}: {mesh.ncells} {plural(mesh.ncells, 'cell')}, {mesh.npoints} points")
    console.result({"file": args.output, "cells": mesh.ncells, "points": mesh.npoints})
    return 0


def _cases(args: argparse.Namespace, console: Console) -> int:
    """Write the cases of the tutorial."""
    from ..mesh.generated.cases import write_cases

    made = write_cases(args.output)
    for name, cells in made.items():
        console.say(f"{name}: {cells} cells")
    console.result({"folder": args.output, "cells": made})
    return 0


def _generated(args: argparse.Namespace) -> Mesh:
    from ..mesh import cube, cylinder, tube

    offset = tuple(args.offset)
    if args.shape == "tube":
        return tube(args.inner, args.outer, args.length, tuple(args.cells), offset)
    if args.shape == "cylinder":
        return cylinder(args.radius, args.length, tuple(args.cells), offset)
    return cube(args.cells, _size(args), offset=offset, seed=args.seed)


def _size(args: argparse.Namespace) -> int:
    """Cells along an edge of hexahedra, or of tetrahedra about how many in all."""
    from ..errors import ConfigError

    if args.cells == "hexa":
        if args.size is None:
            raise ConfigError("SIZE: is missing; give the cells along an edge, as in copart mesh cube 25 -o a.vtu")
        return int(args.size)
    if args.size is not None:
        raise ConfigError(f"SIZE: is the number of cells along an edge, which tetrahedra have not; for about "
                          f"{args.size} in all give --about {args.size}")
    if args.about is None:
        raise ConfigError("--about: is missing; give about how many tetrahedra, as in --cells tetra --about 40630")
    return int(args.about)


def _info(args: argparse.Namespace, console: Console) -> int:
    """List cells, arrays, groups and what was lost."""
    from ..plans.sources import open_source, zones
    from ..plans.zones import typed

    with console.progress() as progress:
        progress(f"reading {args.source}")
        opened = open_source(args.source)
        mesh = opened.mesh
    found = contents(mesh)
    # without a region only: what is left of a file stands for itself
    alone = zones(opened.path, mesh) if opened.path is not None and not opened.regions else []
    cells = " + ".join(f"{count} {kind}" for kind, count in found["cells"].items())
    console.say(f"{mesh.name}: {cells}, {mesh.dimension}D, {mesh.npoints} points")
    for axis, (low, high) in zip("xyz", zip(*found["bounds"], strict=True), strict=True):
        console.say(f"  {axis} from {low:.6g} to {high:.6g}")
    _list(console, "regions (FILE:NAME)",
          [(typed(mesh, name), f"{n} cells") for name, n in found["cell_groups"].items()])
    _list(console, "boundaries (FILE:NAME)",
          [*((name, f"{n} facets") for name, n in found["facet_groups"].items()),
           *((name, f"{n} points") for name, n in found["point_groups"].items())])
    _list(console, "cell arrays (FILE:ARRAY=VALUE)", list(found["arrays"].items()))
    if len(alone) > 1:
        more = ", ..." if len(alone) > LISTED else ""
        console.say(f"the file alone stands for {len(alone)} components: {', '.join(alone[:LISTED])}{more}")
    for remark in mesh.remarks:
        console.say(f"note: {remark}")
    console.result({"file": args.source, **found, "alone": alone if len(alone) > 1 else []})
    return 0


def _list(console: Console, title: str, rows: Sequence[tuple[str, str]]) -> None:
    """Names and what is behind them, in columns."""
    if not rows:
        return
    console.say(title)
    width = max(len(name) for name, _ in rows[:LISTED])
    for name, what in rows[:LISTED]:
        console.say(f"  {name:<{width}}  {what}")
    if len(rows) > LISTED:
        console.say(f"  and {len(rows) - LISTED} more (--json lists all)")


def contents(mesh: Mesh) -> dict[str, Any]:
    """What a mesh holds, as plain JSON types."""
    cells: dict[str, int] = {} if mesh.polyhedra is None else {"polyhedron": mesh.ncells}
    for kind, nodes in mesh.blocks:
        cells[kind] = cells.get(kind, 0) + len(nodes)
    return {"name": mesh.name, "dimension": mesh.dimension, "points": mesh.npoints, "cells": cells,
            "bounds": mesh.bounds.tolist(), "interface": mesh.boundary,
            "cell_groups": {name: len(group) for name, group in mesh.cell_groups.items()},
            "facet_groups": {name: len(group) for name, group in mesh.facet_groups.items()},
            "point_groups": {name: len(group) for name, group in mesh.point_groups.items()},
            "arrays": {name: _values(values) for name, values in mesh.cell_data.items()},
            "remarks": list(mesh.remarks)}


def _values(values: Any) -> str:
    """The values of a cell array in few words."""
    import numpy as np

    array = np.asarray(values)
    if array.ndim > 1 and array.shape[1:] != (1,):
        return f"{' x '.join(map(str, array.shape[1:]))} values per cell"
    different = np.unique(array)
    if len(different) <= 12:
        return ", ".join(str(v) for v in different)
    return f"{len(different)} values from {different[0]} to {different[-1]}"
