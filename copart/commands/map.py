"""``copart map``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MappingError
from .console import Console
from .effects import Effect
from .machine import DESCRIPTION, DESCRIPTION_EFFECTS, add_description, described
from .numbers import integer, tolerance
from .options import add_safe
from .paths import Paths, sources
from .site import add_method, check_method

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..graph import Graph
    from ..mapping.machine import Machine
    from ..mapping.tasks import TaskGraph

#: Busy links that are listed.
BUSIEST = 3

EPILOG = """\
examples:
  copart map mesh.msh --machine t4x4x4.tgt                         writes mesh.msh.map
  copart map mesh.graph --hierarchy 4:8:6 --distance 1:10:100 --preset strong -o mesh.map
  copart map processes.grf --machine topology.conf --nodes hosts --one-to-one
  copart map mesh.graph --machine m16x16.tgt --from old.map --migration-cost 2
  copart map mesh.graph --machine m16x16.tgt --eval mesh.map       figures of a mapping made by anyone
  copart map mesh.vtu --part mesh.vtu.part.64 --machine nodes.csv --method auto
                                                                   the parts as processes of a job on scattered nodes

A mapping is written in SCOTCH's form: the number of vertices, then a vertex and its processor per line (vertices of a
.grf by their labels, or counted from its base); or, with a name that does not end with .map, as a part file: line i is
the processor of vertex i - 1. Both forms are read.
"""


def target(args: argparse.Namespace) -> list[str]:
    """The mapping file that is written, none where one is evaluated."""
    return [args.output or f"{args.graph}.map"] if args.eval is None else []


EFFECTS = (
    *DESCRIPTION_EFFECTS,
    Effect(("one_to_one", "fixed", "old", "migration_cost", "best_balance", "eps", "seed", "preset", "output"),
           lambda args: args.eval is None, "with --eval, which makes no mapping"),
    Effect(("fixed", "old", "migration_cost", "best_balance", "eps", "preset", "load"),
           lambda args: not args.one_to_one, "with --one-to-one, which takes every vertex for a process"),
    Effect(("fixed", "old", "migration_cost", "best_balance", "eps", "preset", "load"),
           lambda args: args.method is None, "with --method, by which every vertex takes one slot"),
    Effect(("migration_cost",), lambda args: args.old is not None, "without --from"),
    Effect(("method", "bound"), lambda args: args.eval is None, "with --eval, which makes no mapping"),
    Effect(("one_to_one",), lambda args: args.method is None, "with --method, whose mappings are all one to one"),
    Effect(("bound",), lambda args: args.method == "auto", "without --method auto"))
PATHS = DESCRIPTION | Paths(dict.fromkeys(("graph", "eval", "fixed", "old", "part"), sources), {"output": target},
                              frozenset({"load", "method"}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("graph", metavar="GRAPH_OR_MESH",
                        help="graph file, mesh file or OpenFOAM case; with --part also a hypergraph")
    parser.add_argument("--load", metavar="ARRAY", help="cell array with the load of each cell of a mesh")
    add_description(parser.add_argument_group("machine"), source=False)  # type: ignore[arg-type]
    group = parser.add_argument_group("mapping")
    group.add_argument("--eval", metavar="MAPFILE", help="tell the figures of this mapping instead of making one")
    group.add_argument("--one-to-one", action="store_true",
                       help="a processor of its own for every vertex; vertex weights do not count")
    add_method(group, "one to one for processes on the nodes of a job: ")
    group.add_argument("--part", metavar="FILE", help="part of each vertex: the parts are mapped, not the vertices")
    group.add_argument("--fixed", metavar="FILE", help="processor of each vertex that may not move, -1 for the others")
    group.add_argument("--from", dest="old", metavar="MAPFILE", help="an earlier mapping to start from")
    group.add_argument("--migration-cost", type=integer, default=1, metavar="N",
                       help="with --from: cost of a moved vertex for each unit of distance (default 1)")
    group.add_argument("--best-balance", action="store_true",
                       help="where no balanced mapping is found, take the best balance instead of stopping")
    group.add_argument("--eps", type=tolerance, default=0.05, metavar="F",
                       help="imbalance allowed, as a fraction or in per cent: 0.05 or 5%% (default 0.05)")
    group.add_argument("--seed", type=integer, default=1, metavar="N", help="same seed, same result (default 1)")
    group.add_argument("--preset", choices=["fast", "default", "strong"], default="default",
                       help="time against quality (default: default)")
    group.add_argument("-o", "--output", metavar="FILE", help="mapping file (default GRAPH_OR_MESH.map)")
    add_safe(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Map a graph onto a machine, or evaluate a mapping."""
    from ..kernels import timed
    from ..mapping.evaluation import evaluate_mapping
    from ..plans.mapped import read_mapped, read_mapping, write_mapping
    from .console import first_use
    from .part import check_target

    file = next(map(Path, target(args)), None)
    if file is not None:
        check_target(file)
    check_method(args.method)
    with console.progress() as progress:
        first_use(progress, "map", [args.graph])
        progress("reading the machine")
        machine = described(args)
        progress(f"reading {args.graph}")
        graph, tasks, labels = read_mapped(args.graph, args.part, args.load)
        old = args.old and read_mapping(args.old, graph.nvtxs, machine.nprocs, labels, free=True)  # once: may be a pipe
        with timed() as took:
            if args.eval is None:
                progress(f"mapping {graph.nvtxs} vertices onto {machine.nprocs} processors")
                mapping = made(args, graph, tasks, machine, old, labels)
            else:
                mapping = read_mapping(args.eval, graph.nvtxs, machine.nprocs, labels)
        found = evaluate_mapping(graph, machine, mapping)
        routed = routes(graph, tasks, machine, mapping)
        if file is not None:
            progress(f"writing {file}")
            write_mapping(file, mapping, labels)
    for line in found.text().split("\n"):
        console.say(line)
    figures: dict[str, Any] = found.to_dict()
    if routed is not None:
        for line in routed.pop("text").split("\n"):
            console.say(line)
        figures["routes"] = routed
    if old is not None and args.eval is None:
        moved = (old >= 0) & (old != mapping)
        figures["moved"], figures["moved_size"] = int(moved.sum()), int(graph.sizes[moved].sum())
        console.say(f"moved       {figures['moved']} vertices, size {figures['moved_size']}")
    if file is not None:
        figures.update(seconds=round(took.seconds, 3), file=str(file))
        console.say(f"wrote {file}, mapped in {took.seconds:.2f} s{progress.remark}")
    console.result(figures)
    return 0


def routes(graph: Graph, tasks: TaskGraph | None, machine: Machine, mapping: NDArray[Any]) -> dict[str, Any] | None:
    """Figures of the routes, and the busiest links; None where the machine has no routes."""
    from ..mapping.sites import Sites
    from ..mapping.topology import evaluate_tasks, loads_of_links
    from ..plans.mapped import as_processes

    network = Sites(machine).network
    if network is None:
        return None
    processes, where = as_processes(graph, tasks, machine, mapping)
    found = evaluate_tasks(processes, machine, where)
    links = [{"link": network.link_name(link), "congestion": vc, "messages": messages}
             for link, vc, messages in loads_of_links(processes, machine, where).busiest(BUSIEST)]
    said = [found.text(), *(f"  busy      {one['link']}: {one['congestion']:g} in {one['messages']} messages"
                            for one in links)]
    return {**found.to_dict(), "busiest": links, "text": "\n".join(said)}


def made(args: argparse.Namespace, graph: Graph, tasks: TaskGraph | None, machine: Machine,
         old: NDArray[Any] | None, labels: NDArray[Any] | None) -> NDArray[Any]:
    """The mapping that the arguments ask for."""
    several = args.part is not None and (args.method or "").startswith("geometric")
    if graph.nvtxs > machine.nprocs and (args.method is not None or args.one_to_one) and not several:
        option, k = "--one-to-one" if args.one_to_one else "--method", machine.nprocs
        parted = "" if args.part else f"; partition first (copart part {args.graph} {k}), and add --part " \
                                      f"{args.graph}.part.{k}, or leave out {option}"
        raise MappingError(f"{option}: each of {graph.nvtxs} {'parts' if args.part else 'vertices'} needs a slot, the "
                           f"machine has {k}{parted}")
    if args.method is not None:
        from ..doctor import processors
        from ..mapping.topology import map_tasks

        return map_tasks(graph if tasks is None else tasks, machine, args.method, coords=graph.coords,
                         bound=args.bound, seed=args.seed, threads=processors())
    if args.one_to_one:
        from ..mapping.one_to_one import place_processes

        return place_processes(graph, machine, seed=args.seed)
    from ..mapping.mapper import map_graph
    from ..plans.mapped import read_mapping

    n, k = graph.nvtxs, machine.nprocs
    fixed = None if args.fixed is None else read_mapping(args.fixed, n, k, labels, free=True)
    return map_graph(graph, machine, eps=args.eps, seed=args.seed, preset=args.preset, fixed=fixed, old=old,
                     migration_cost=args.migration_cost, strict=not args.best_balance)
