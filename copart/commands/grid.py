"""``copart grid``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .console import Console
from .effects import Effect
from .nodes import NODES_OR_NUMBER, node_slots
from .numbers import integer
from .options import COUNTS
from .parsing import add_page, listed
from .paths import Paths, given, sources

if TYPE_CHECKING:
    from ..mapping.cartesian import Grid, InterNode, Reordering, Stencil
    from ..names import GridMethod, GridObjective
    from ..report.tables import Table

EPILOG = """\
examples:
  copart grid --dims 12x11x8 --nodes 33                     every algorithm in one table
  copart grid --dims 12x11x8 --nodes 33 --stencil hops-first --method hyperplane -o ranks.txt
  copart grid --procs 1056 --ndims 3 --nodes 33             sizes as MPI_Dims_create chooses them
  copart grid --dims 8x6 --node-sizes 20,20,8 --periodic yes,no --picture grid.png
  copart grid --dims 16x16 --nodes 16 --stencil 1,0,-1,0,1,1 --weights 8,8,1

ranks.txt: line i + 1 holds the rank in the Cartesian communicator of the process with old rank i.
"""

#: More dimensions than these cannot be told apart in 64 bits.
MOST_DIMENSIONS = 62
#: Processes whose nodes are kept in memory, with 40 bytes each; no machine has as many cores.
MOST_PROCESSES = 2**27
#: Compared where no method is chosen.
COMPARED: tuple[GridMethod, ...] = ("cart", "nodecart", "central-greedy", "central-greedy-once", "distributed-greedy",
                                    "hyperplane", "hyperplane-cut")


#: Processes up to which the distributed algorithm is compared: each node is one more search through the whole grid for
#: the next seed, 2 seconds here with nodes of 8 processes.
MOST_DISTRIBUTED = 2**15


def _sizes_chosen(args: argparse.Namespace) -> bool:
    return args.procs is not None and (args.dims is None or 0 in numbers("--dims", args.dims, "[xX×,]"))


EFFECTS = (Effect(("rule",), _sizes_chosen, "where all sizes are given; a 0 in --dims is chosen, with --procs"),
           Effect(("hops",), lambda args: args.stencil.startswith("hops-"),
                  "without --stencil hops-first or hops-last"),
           Effect(("seed",), lambda args: args.base == "random", "without --base random"),
           Effect(("objective",), lambda args: args.method == "best", "with a --method; best chooses by it"),
           Effect(("no_compare",), lambda args: not args.quiet, "with --quiet, which shows no comparison"))
PATHS = Paths({"nodes": sources}, writes={"output": given("output"), "picture": given("picture")},
              words=frozenset({"dims", "periodic", "stencil", "weights", "node_sizes", "method"}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    size = parser.add_argument_group("the grid")
    listed(size.add_argument("--dims", metavar="AxBx...", help="sizes, as 12x11x8; a 0 is chosen, with --procs"),
           COUNTS)
    size.add_argument("--procs", type=integer, metavar="P", help="number of processes, where sizes are to be chosen")
    size.add_argument("--ndims", type=integer, metavar="D",
                      help="number of dimensions, where all sizes are to be chosen")
    size.add_argument("--rule", choices=["open-mpi", "balanced"], default="open-mpi",
                      help="how sizes are chosen: as Open MPI does (default), or as equal as can be")
    listed(size.add_argument("--periodic", metavar="YES,NO,...", help="which dimensions wrap around: yes or no for "
                             "each, or one word for all (default no)"), r"(?i:yes|no|1|0)(,(yes|no|1|0))*,?")
    talk = parser.add_argument_group("who talks to whom")
    talk.add_argument("--stencil", default="five-point", metavar="KIND",
                      help="five-point (default), nine-point, component, diagonal, crank-nicolson, hops-first, "
                      "hops-last, or a flat list of offsets: 1,0,-1,0,1,1 (write --stencil=-1,0,... before a minus)")
    talk.add_argument("--hops", type=integer, default=3, metavar="H",
                      help="farthest neighbour of hops-first and hops-last (default 3)")
    listed(talk.add_argument("--weights", metavar="W,...", help="data sent along each offset (default 1 each)"))
    machine = parser.add_argument_group("compute nodes")
    machine.add_argument("--nodes", metavar="NODES", help=f"{NODES_OR_NUMBER}; those of which nothing says how many "
                         "processes they run share them equally")
    listed(machine.add_argument("--node-sizes", metavar="S,...", help="processes of each node, where they differ"))
    machine.add_argument("--base", choices=["blocked", "round-robin", "random"], default="blocked",
                         help="how old ranks lie on the nodes (default: node after node)")
    machine.add_argument("--seed", type=integer, default=1, metavar="S", help="of --base random (default 1)")
    parser.add_argument("--method", default="best", metavar="NAME",
                        help="the algorithm whose ranks are written and drawn: best (default: of those that a rank "
                        f"computes for itself), {', '.join(COMPARED)}")
    parser.add_argument("--objective", choices=["total", "max"], default="total",
                        help="what best chooses by: data between all nodes (default), or of the busiest one")
    parser.add_argument("--no-compare", action="store_true",
                        help="run the chosen algorithm only; distributed-greedy is compared up to "
                             f"{MOST_DISTRIBUTED:,} processes")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the new rank of each old rank, one per line")
    add_page(parser, "picture", "picture.png", "also draw the grid coloured by node, before and after, with matplotlib")


def run(args: argparse.Namespace, console: Console) -> int:
    """Compare the algorithms on one grid, write and draw the best."""
    from pathlib import Path

    from ..errors import ConfigError
    from ..formats import prepare_folder, write_part
    from ..mapping.cartesian import BASES, METHODS, internode, node_sizes, random
    from ..names import known_name

    grid = read_grid(args)
    stencil = read_stencil(args, grid)
    nodes = read_nodes(args)
    sizes = node_sizes(grid.size, nodes)
    known_name("method", args.method, ("best", *METHODS))
    if args.output:
        if Path(args.output).is_dir():
            raise ConfigError(f"output: {args.output} is a folder, a file name is needed")
        prepare_folder(Path(args.output).parent)
    if args.picture:
        from ..report.pictures import need_matplotlib

        need_matplotlib(args.picture)
    base = random(sizes, args.seed) if args.base == "random" else BASES[args.base](sizes)
    before = internode(grid, stencil, base, len(sizes))
    with console.progress() as progress:
        names = [] if args.no_compare else compared(sizes)
        found = compare(grid, stencil, sizes, [*names, args.method], base, args.objective, progress)
    chosen = found[args.method][0]
    console.table(table(found, before, args.base, chosen.method, grid, stencil, sizes))
    written = []
    if args.output:
        write_part(args.output, chosen.new_rank)
        written.append(args.output)
    if args.picture:
        from ..report.grid_picture import draw_grid

        shown = [(args.base, before, base), (chosen.method, chosen.cost, chosen.node_of_vertex)]
        draw_grid(args.picture, grid.dims,
                  [(f"{name}: {cost.total:,} between nodes, at most {cost.max:,} from one", node)
                   for name, cost, node in shown])
        written.append(args.picture)
    for file in written:
        console.say(f"wrote {file}")
    console.result({
        "dims": list(grid.dims), "periodic": list(grid.periods), "stencil": stencil.offsets.tolist(),
        "weights": stencil.weights.tolist(), "node_sizes": list(sizes), "edges": grid.edge_weight(stencil),
        "base": {"name": args.base, "total": before.total, "max": before.max},
        "methods": {name: {"method": made.method, "total": made.cost.total, "max": made.cost.max,
                           "seconds": round(seconds, 6)} for name, (made, seconds) in found.items()},
        "chosen": chosen.method, "files": written})
    return 0


def compared(sizes: Sequence[int]) -> list[GridMethod]:
    """What is compared on nodes of these sizes: what applies to them and does not take minutes."""
    out = {"nodecart": len(set(sizes)) > 1, "distributed-greedy": sum(sizes) > MOST_DISTRIBUTED}
    return [name for name in COMPARED if not out.get(name)]


def compare(grid: Grid, stencil: Stencil, sizes: Sequence[int], names: Sequence[GridMethod], base: Any,
            objective: GridObjective, progress: Any) -> dict[str, tuple[Reordering, float]]:
    """Run algorithms: for each the reordering, and its seconds."""
    from ..kernels import timed
    from ..mapping.cartesian import Grid, reorder_grid
    from ..mapping.cartesian import stencil as make_stencil
    from .console import first_use

    first_use(progress, "grid")
    for name in names:
        # loading the compiled part is not the algorithm's time either
        reorder_grid(Grid([2]), make_stencil("five-point", 1), 2, name)
    found: dict[str, tuple[Reordering, float]] = {}
    for i, name in enumerate(dict.fromkeys(names)):
        progress(name, i, len(names))
        with timed() as took:
            made = reorder_grid(grid, stencil, sizes, name, node_of_rank=base, objective=objective)
        found[name] = made, took.seconds
    return found


def table(found: dict[str, tuple[Reordering, float]], before: InterNode, base: str, chosen: str, grid: Grid,
          stencil: Stencil, sizes: Sequence[int]) -> Table:
    """One row per algorithm: data between nodes, of the busiest node, and how many times less than before."""
    from ..mapping.cartesian import improvement
    from ..metrics.columns import plural
    from ..report.tables import Table

    def row(name: str, cost: InterNode, seconds: float | None) -> list[str]:
        less = [improvement(b, c) for b, c in ((before.total, cost.total), (before.max, cost.max))]
        return [name, f"{cost.total:,}", f"{cost.max:,}", *("-" if f is None else f"{f:.2f}" for f in less),
                "" if seconds is None else f"{seconds:.3f}"]

    costs = [(name if name != "best" else f"best: {chosen}", made.cost, seconds)
             for name, (made, seconds) in found.items()]
    rows = [row(f"ranks as they are ({base})", before, None), *(row(*entry) for entry in costs)]
    every = [before, *(entry[1] for entry in costs)]
    best = frozenset((i, column) for column in (1, 2) for i, cost in enumerate(every)
                     if cost[column - 1] == min(c[column - 1] for c in every))
    kinds = f"{sizes[0]} {plural(sizes[0], 'process')} each" if len(set(sizes)) == 1 else \
        f"{min(sizes)} to {max(sizes)} processes"
    offsets = f"{len(stencil)} {plural(len(stencil), 'offset')}"
    title = (f"grid {'x'.join(map(str, grid.dims))}, {stencil.name} ({offsets}), {len(sizes)} "
             f"{plural(len(sizes), 'node')} of {kinds}, {grid.edge_weight(stencil):,} sent in one exchange")
    return Table(["", "between nodes", "busiest node", "less", "less (busiest)", "seconds"], rows, best, title)


def read_grid(args: argparse.Namespace) -> Grid:
    """The grid of ``--dims --procs --ndims --rule --periodic``."""
    from ..arrays import whole
    from ..errors import ConfigError
    from ..mapping.cartesian import Grid, dims_create

    if args.dims is not None:
        if args.ndims is not None:
            raise ConfigError("--dims: give sizes, or --procs and --ndims, not both")
        dims = numbers("--dims", args.dims, "[xX×,]")
        if 0 in dims and args.procs is None:
            raise ConfigError("--dims: a 0 is chosen to fit --procs, which is not given")
    elif args.procs is None or args.ndims is None:
        raise ConfigError("--dims: give the sizes of the grid, or --procs and --ndims")
    else:
        dims = [0] * whole("--ndims", args.ndims, low=1, high=MOST_DIMENSIONS)
    sizes = dims if args.procs is None else dims_create(args.procs, dims, args.rule)
    grid = Grid(sizes, read_periods(args.periodic, len(sizes)))
    if grid.size > MOST_PROCESSES:
        raise ConfigError(f"--dims: {grid.size} processes are more than the {MOST_PROCESSES} that are kept in "
                          f"memory; from Python, copart.mapping.cartesian.Hyperplane tells the position of one rank of "
                          f"any grid")
    return grid


def read_periods(text: str | None, ndims: int) -> list[bool] | None:
    """One word per dimension, or one for all."""
    from ..errors import ConfigError

    if text is None:
        return None
    words = text.lower().split(",")
    if set(words) - {"yes", "no", "1", "0"}:
        raise ConfigError(f"--periodic: needs yes or no for each dimension, got {text!r}")
    return [w in ("yes", "1") for w in (words * ndims if len(words) == 1 else words)]


def read_stencil(args: argparse.Namespace, grid: Grid) -> Stencil:
    """The stencil of ``--stencil --hops --weights``."""
    from ..mapping.cartesian import as_stencil, stencil

    weights = None if args.weights is None else numbers("--weights", args.weights, ",")
    if re.fullmatch(r"[-+\d\s,;]+", args.stencil):
        return as_stencil(numbers("--stencil", args.stencil, "[,;]"), grid.ndims, weights)
    return stencil(args.stencil, grid.ndims, hops=args.hops, weights=weights)


def read_nodes(args: argparse.Namespace) -> int | list[int]:
    """``--nodes`` or ``--node-sizes``."""
    from ..errors import ConfigError

    if (args.nodes is None) == (args.node_sizes is None):
        raise ConfigError("--nodes: give the number of compute nodes, or --node-sizes")
    if args.node_sizes is not None:
        return numbers("--node-sizes", args.node_sizes, ",")
    slots = node_slots(args.nodes)
    told = [one for one in slots if one is not None]
    if told and len(told) < len(slots):
        raise ConfigError("--nodes: says of some nodes how many processes they run, and not of others")
    return told or len(slots)


def numbers(name: str, text: str, between: str) -> list[int]:
    """Whole numbers with separators."""
    from ..errors import ConfigError

    try:
        return [int(word) for word in re.split(between, text)]
    except ValueError:
        raise ConfigError(f"{name}: needs whole numbers, got {text!r}") from None
