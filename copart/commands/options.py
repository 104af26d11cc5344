"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from typing import Any


def add_partitioning(parser: argparse.ArgumentParser, *, seed: bool = True) -> None:
    """``--eps --seed --threads --preset``."""
    group = parser.add_argument_group("partitioning")
    group.add_argument("--eps", type=float, default=0.05, metavar="F",
                       help="imbalance allowed, as a fraction (default 0.05)")
    if seed:
        group.add_argument("--seed", type=int, default=1, metavar="N", help="same seed, same result (default 1)")
    group.add_argument("--threads", type=int, default=1, metavar="N",
                       help="threads to use; the result does not depend on it (default 1)")
    group.add_argument("--preset", choices=["fast", "default", "strong", "best"], default="default",
                       help="time against quality (default: default)")


def partitioning(args: argparse.Namespace) -> dict[str, Any]:
    """The options of :func:`add_partitioning` as keyword arguments."""
    names = ("eps", "seed", "threads", "preset")
    return {name: getattr(args, name) for name in names if hasattr(args, name)}


def add_output(parser: argparse.ArgumentParser) -> None:
    """``-q -v --json``."""
    group = parser.add_argument_group("output")
    group.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    group.add_argument("-v", "--verbose", action="count", default=0, help="say what happens; twice for more")
    group.add_argument("--json", action="store_true", help="print the result as JSON")


def add_coupled_pair(parser: argparse.ArgumentParser) -> None:
    """Two meshes, the numbers of parts, and how to find the interedges."""
    parser.add_argument("mesh_a", metavar="A", help="mesh file or OpenFOAM case; FILE:NAME or FILE:ARRAY=VALUE for one "
                        "region of it, or the boundary where it is coupled; FILE:REGION:BOUNDARY for both")
    parser.add_argument("mesh_b", metavar="B", help="mesh file of the other component, or another region")
    group = parser.add_argument_group("coupling")
    group.add_argument("--parts", type=int, nargs=2, required=True, metavar=("N_A", "N_B"), help="parts of A and of B")
    group.add_argument("--coupled", type=int, nargs=2, metavar=("K_A", "K_B"),
                       help="parts that may own coupled cells "
                            "(default: floor(N^(2/3)), as for a cube's face, more on thin walls)")
    add_meeting(group)
    group.add_argument("--weights", metavar="ARRAY", help="cell array with the load of each cell (default: 1 each)")
    group.add_argument("--names", nargs=2, metavar=("NAME_A", "NAME_B"), help="names of the components in the output")


def coupled_pair(args: argparse.Namespace) -> dict[str, Any]:
    """The options of :func:`add_coupled_pair` as keyword arguments of ``plan`` and ``compare``."""
    return {"parts": tuple(args.parts), "coupled": None if args.coupled is None else tuple(args.coupled),
            "weights": args.weights, "names": None if args.names is None else tuple(args.names), **meeting(args)}


def add_meeting(group: argparse._ArgumentGroup) -> None:
    """How the interedges are found, and where B is put first."""
    group.add_argument("--interedges", choices=["facet", "touch", "overlap"], default="facet",
                       help="which cells are coupled: boundary facets overlap (default), the cells share at least a "
                            "point, or they cover the same space")
    group.add_argument("--tolerance", type=float, metavar="F",
                       help="largest gap between the two surfaces, as a fraction of the facet size (default 0.1)")
    group.add_argument("--gap", type=float, metavar="LENGTH", help="the same in the unit of the coordinates of A")
    group.add_argument("--scale-b", type=float, default=1.0, metavar="F",
                       help="multiply the coordinates of B first: 0.001 for millimetres against metres")
    group.add_argument("--shift-b", type=float, nargs=3, metavar=("DX", "DY", "DZ"),
                       help="then move B, in the unit of A")
    group.add_argument("--periodic-b", type=float, nargs=3, metavar=("DX", "DY", "DZ"),
                       help="B is repeated periodically, at every multiple of this vector, forward and back")
    group.add_argument("--several", action="store_true",
                       help="couple all surfaces that match, where there are several and none is named")


def meeting(args: argparse.Namespace) -> dict[str, Any]:
    """The options of :func:`add_meeting` as keyword arguments."""
    names = ("interedges", "tolerance", "gap", "scale_b", "shift_b", "periodic_b", "several")
    return {name: getattr(args, name) for name in names}
