"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
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


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Where the processes are to run, and how they are placed there."""
    from .machine import add_description

    group = parser.add_argument_group("machine", "with --machine or --hierarchy, processes are placed on slots")
    add_description(group, source=False)
    group.add_argument("--placement", choices=["shared", "disjoint", "linear"], default="shared",
                       help="codes share hosts (default), have hosts of their own, or stand in the order of the slots")
    group.add_argument("--iterations", type=int, nargs="+", default=[1], metavar="N",
                       help="halo exchanges in a coupling step, one for all components or one each (default 1)")


def machine(args: argparse.Namespace) -> dict[str, Any]:
    """The options of :func:`add_machine` as keyword arguments; none without a machine."""
    from .machine import described

    if args.source is None and args.hierarchy is None:
        return {}
    return {"machine": described(args), "placement": args.placement, "iterations": args.iterations}


class _Schemes:
    """The names of the schemes, looked up when they are needed so that the parser stays light."""

    def __iter__(self) -> Iterator[str]:
        from ..algorithms import SCHEMES

        return iter(SCHEMES)

    def __contains__(self, name: object) -> bool:
        return name in list(self)


def add_scheme(parser: argparse.ArgumentParser, flag: str, text: str, **more: Any) -> None:
    """An option that takes names of schemes; `text` may hold %(choices)s."""
    parser.add_argument(flag, choices=_Schemes(), metavar="SCHEME", help=text, **more)


class _Counts(argparse.Action):
    """Whole numbers; what follows them is taken for components, so that these may stand behind."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option: str | None = None) -> None:
        """Split the words."""
        words = list(values)
        n = next((i for i, word in enumerate(words) if not word.lstrip("-").isdecimal()), len(words))
        if n == 0:
            parser.error(f"argument {option}: needs whole numbers, got {words[0]!r}")
        setattr(namespace, self.dest, [int(word) for word in words[:n]])
        namespace.behind = [*namespace.behind, *words[n:]]


def add_components(parser: argparse.ArgumentParser, *, total: bool = False) -> None:
    """The components, their numbers of parts (or, with `total`, what to share out), and how to find the interedges."""
    parser.add_argument("meshes", metavar="A B", nargs="*", help="mesh files or OpenFOAM cases, two or more; "
                        "FILE:NAME or FILE:ARRAY=VALUE for one region of it, or the boundary where it is coupled; "
                        "FILE:REGION:BOUNDARY for both; one file alone stands for all its zones or regions")
    # components that stand behind counts
    parser.set_defaults(behind=[])
    group = parser.add_argument_group("coupling")
    group.add_argument("--parts", nargs="+", action=_Counts, required=not total, metavar="N",
                       help="parts of each component, in order (with --scheme monolithic also the size of the pool)")
    if total:
        group.add_argument("--total", type=int, metavar="N", help="processes in all, instead of --parts: shared out so "
                           "that the slowest component is as fast as can be (see copart advise)")
        group.add_argument("--costs", metavar="COSTS",
                           help="with --total: a table of measured times or of costs (.csv), or what a unit "
                                "of load costs in each component, with commas (default: the same)")
        group.add_argument("--serial", action="store_true",
                           help="with --total: components compute one after the other, not at once")
    group.add_argument("--coupled", nargs="+", action=_Counts, metavar="K",
                       help="parts of each that may own coupled cells "
                            "(default: floor(N^(2/3)), as for a cube's face, more on thin walls)")
    group.add_argument("--interface", choices=["spread", "gather", "uncut"], default="spread",
                       help="without --coupled: spread coupled cells as said there (default), gather them in as few "
                            "parts as can hold them, or leave the interface of each two components uncut where it fits")
    add_meeting(group)
    group.add_argument("--max-interedges", type=int, metavar="N",
                       help="keep at most the N heaviest interedges of a cell")
    group.add_argument("--weights", metavar="ARRAY", help="cell array with the load of each cell (default: 1 each)")
    group.add_argument("--names", nargs="+", metavar="NAME", help="names of the components in the output")


def meshes(args: argparse.Namespace) -> list[str]:
    """The components as given, before or behind the counts."""
    return [*args.meshes, *args.behind]


def components(args: argparse.Namespace) -> dict[str, Any]:
    """The options of :func:`add_components` as keyword arguments of ``plan`` and ``compare``."""
    return {"parts": args.parts, "coupled": args.coupled, "interface": args.interface, "weights": args.weights,
            "names": args.names, "max_interedges": args.max_interedges, **meeting(args)}


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
