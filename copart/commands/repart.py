"""``copart repart``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from . import options
from .console import Console
from .effects import Effect
from .numbers import integer
from .parsing import add_page
from .paths import Paths, given, sources

EPILOG = """\
examples:
  copart repart wing.graph wing.graph.part.8 12
  copart repart mesh.vtu old.txt 4 --from 6 --method scratch-remap -o new.txt
"""


def target(args: argparse.Namespace) -> list[str]:
    """The file of the new parts."""
    from .part import default_output

    return [args.output or default_output(args.source, args.nparts)]


EFFECTS = (Effect(("migration_cost",), lambda args: args.method == "mxn", "with other methods than mxn"),)
PATHS = Paths({"source": sources, "partfile": sources}, {"output": target, "report": given("report")},
              frozenset({"load"}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="GRAPH_OR_MESH", help="file that the parts belong to")
    parser.add_argument("partfile", metavar="PARTFILE", help="former part of each vertex, one number per line")
    parser.add_argument("nparts", type=integer, metavar="N", help="new number of parts")
    parser.add_argument("--from", dest="former", type=integer, metavar="M",
                        help="former number of parts (default: from the name .part.M, else largest number + 1)")
    parser.add_argument("--method", choices=["mxn", "scratch-remap", "diffusive"], default="mxn",
                        help="mxn: few messages and little migration (default); the others are comparators")
    parser.add_argument("--migration-cost", type=integer, metavar="N", help="weight of moved data against the edge cut")
    parser.add_argument("-o", "--output", metavar="FILE", help="part file or .vtu (default GRAPH_OR_MESH.part.N)")
    add_page(parser, "report", "report.html", "also write one page with what moves and the parts")
    parser.add_argument("--load", metavar="ARRAY", help="cell array with the load of each cell of a mesh")
    options.add_safe(parser)
    options.add_partitioning(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Repartition and say what moves."""
    from ..arrays import whole
    from ..formats import count_in_name, read_part
    from ..kernels import timed
    from ..metrics import migration_matrix, migration_messages, migration_volume
    from ..metrics.columns import plural
    from ..operators import repart
    from ..plans.opening import single
    from ..report.page import need_page, write_page
    from ..report.repartition import repartition_page
    from .console import first_use
    from .part import check_kind, check_target, describe, write_parts

    n = whole("N", args.nparts, low=1)
    former = count_in_name(args.partfile) if args.former is None else \
        whole("--from", args.former, low=1, high=2**31 - 1)
    file = Path(*target(args))
    check_target(file)
    if args.report:
        need_page(args.report)
    with console.progress() as progress:
        first_use(progress, "repart", [args.source])
        progress(f"reading {args.source}")
        graph, mesh = single(args.source, args.load, args.threads)
        check_kind(file, mesh)
        old = read_part(args.partfile, graph.nvtxs, former)
        m = former or int(old.max(initial=0)) + 1
        progress(f"repartitioning {graph.nvtxs} vertices from {m} to {n} parts")
        with timed() as took:
            new = repart(graph, old, m, n, method=args.method, migration_cost=args.migration_cost,
                         **options.partitioning(args))
        progress(f"writing {file}")
        write_parts(file, new, mesh)
    moves = migration_matrix(old, new, m, n, graph.sizes)
    figures: dict[str, Any] = {
        **describe(graph, new, n), "former_parts": m, "method": args.method,
        "migration_volume": migration_volume(moves), "migration_messages": migration_messages(moves),
        "seconds": round(took.seconds, 3), "file": str(file)}
    if args.report:
        write_page(args.report, repartition_page(graph, old, new, m, n, figures, mesh, eps=args.eps,
                                                 name=Path(args.source).name))
    console.say(f"{graph.nvtxs} vertices from {m} to {n} {plural(n, 'part')}: cut {figures['cut']}, imbalance "
                f"{figures['ub']:.2%}, {figures['pieces']} connected {plural(figures['pieces'], 'piece')}, "
                f"{took.seconds:.2f} s{progress.remark}")
    count = figures["migration_messages"]
    console.say(f"migration: {figures['migration_volume']} in {count} {plural(count, 'message')} ({args.method})")
    console.say(f"wrote {file}")
    if args.report:
        console.say(f"wrote {args.report}")
    console.result(figures)
    return 0
