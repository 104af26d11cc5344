"""``copart mesh cube``."""

from __future__ import annotations

import argparse

from .console import Console

EPILOG = """\
  copart mesh cube --cells hexa 25 -o a.vtu
  copart mesh cube --cells tetra 40630 --offset 1 0 0 -o b.vtu     shares a face with the first
"""


def add_arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Declare the arguments."""
    shapes = parser.add_subparsers(dest="shape", metavar="SHAPE", required=True)
    cube = shapes.add_parser("cube", help="the unit cube", epilog=EPILOG,
                             formatter_class=argparse.RawDescriptionHelpFormatter)
    cube.add_argument("--cells", choices=["hexa", "tetra"], default="hexa", help="cell shape (default hexa)")
    cube.add_argument("size", type=int, metavar="SIZE",
                      help="hexa: cells along an edge; tetra: about how many cells in all")
    cube.add_argument("--offset", type=float, nargs=3, default=(0.0, 0.0, 0.0), metavar=("X", "Y", "Z"),
                      help="corner of the cube (default 0 0 0)")
    cube.add_argument("--seed", type=int, default=1, metavar="N", help="of the points of tetrahedra (default 1)")
    cube.add_argument("-o", "--output", required=True, metavar="FILE", help="mesh file to write (.vtu)")
    return cube


def run(args: argparse.Namespace, console: Console) -> int:
    """Generate a mesh and write it."""
    from ..mesh import cube, write_vtu

    with console.progress() as progress:
        progress(f"making a cube of {args.cells}")
        mesh = cube(args.cells, args.size, offset=tuple(args.offset), seed=args.seed)
        progress(f"writing {args.output}")
        write_vtu(args.output, mesh)
    cells = sum(len(block) for _, block in mesh.blocks)
    console.say(f"{args.output}: {cells} cells, {len(mesh.points)} points")
    console.result({"file": args.output, "cells": cells, "points": len(mesh.points)})
    return 0
