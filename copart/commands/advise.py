"""``copart advise``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .console import Console
from .effects import no_effect
from .numbers import integer, real
from .options import named
from .parsing import add_page
from .paths import Paths, given, sources

if TYPE_CHECKING:
    from ..formats.costs_file import Costs

EPILOG = """\
examples:
  copart advise times.csv --total 128               measured: component,processes,seconds
  copart advise costs.csv --total 256 --granularity 32 --max-cells 200000
  copart advise --component fluid 1000000 2e-6 10 --component solid 200000 5e-6 1 --total 64
  copart advise times.csv --total 64 --cells fluid=1000000 --cells solid=200000 \\
      --coupled-cells fluid=10000 --coupled-cells solid=3400

A table of costs has the heading component,cells,cost and any of iterations, coupled_cells,
coupled_cost, max_cells, min_cells, granularity, least, most; cost is seconds per cell and
iteration, coupled_cost seconds per coupled cell and coupling phase.
"""

#: What depends on the table is refused when it has been read.
EFFECTS = ()
PATHS = Paths({"costs": sources}, {"picture": given("picture")},
              frozenset({"component", "cells", "coupled_cells", "iterations", "coupled_cost"}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("costs", nargs="?", metavar="COSTS", help="table of measured times or of costs (.csv)")
    parser.add_argument("--total", type=integer, required=True, metavar="N", help="processes in all")
    parser.add_argument("--component", nargs=4, action="append", default=[],
                        metavar=("NAME", "CELLS", "COST", "ITERATIONS"),
                        help="a component without a table: seconds per cell and iteration, iterations per "
                             "coupling step")
    # what --serial was called before; elsewhere --coupling is a file
    parser.add_argument("--coupling", choices=["concurrent", "serial"], default="concurrent", help=argparse.SUPPRESS)
    parser.add_argument("--serial", dest="coupling", action="store_const", const="serial", default="concurrent",
                        help="components compute one after the other, each on its own processes, not at once")
    group = parser.add_argument_group("limits, of every component")
    group.add_argument("--granularity", type=integer, metavar="N", help="numbers of processes are multiples of this")
    group.add_argument("--max-cells", type=integer, metavar="N", help="cells that fit in the memory of a process")
    group.add_argument("--min-cells", type=integer, metavar="N", help="fewest cells per process")
    group = parser.add_argument_group("coupled processes (N^cpl), where the coupled cells are known")
    add_pairs(group, "--cells", "number of cells, instead of what the table says")
    add_pairs(group, "--coupled-cells", "number of coupled cells")
    add_pairs(group, "--iterations", "iterations of one coupling step (default: of the table, else 1)")
    add_pairs(group, "--coupled-cost", "seconds for a coupled cell in a coupling phase (default: as in an iteration)")
    group.add_argument("--latency", type=real, metavar="S", help="seconds per message (default 5e-6)")
    group.add_argument("--datum", type=real, metavar="S",
                       help="seconds for the data of a cell: bytes over bandwidth (default 1e-8)")
    group.add_argument("--aligned", action="store_true", help="the borders of the parts on both sides coincide")
    add_page(parser, "picture", "picture.png", "also draw the curves with matplotlib (copart[plot])")


def add_pairs(group: argparse._ArgumentGroup, option: str, text: str) -> None:
    """An option ``NAME=VALUE`` that may be repeated."""
    group.add_argument(option, action="append", default=[], metavar="NAME=VALUE", help=text)


def run(args: argparse.Namespace, console: Console) -> int:
    """Choose, and say what the choice and its neighbours cost."""
    from ..report.processes import choices_table, draw_advice, interface_table
    from ..resources import advise

    if args.picture:
        from ..report.pictures import need_matplotlib

        need_matplotlib(args.picture)
    found = _costs(args)
    workloads = [w.limited(granularity=args.granularity, max_cells=args.max_cells, min_cells=args.min_cells)
                 for w in found.workloads]
    _refuse_idle(args, found)
    phase = {name: getattr(args, name) for name in ("latency", "datum") if getattr(args, name) is not None}
    advice = advise(workloads, args.total, args.coupling, coupled_cells=found.coupled_cells or None,
                    iterations=found.iterations, coupled_cost=found.coupled_cost, aligned=args.aligned, **phase)
    for w in workloads:
        console.say(f"{w.name}: {w.scaling} seconds on n processes")
    console.say()
    console.table(choices_table(advice))
    for remark in advice.remarks:
        console.say(f"note: {remark}")
    if advice.interface is not None:
        for name in advice.parts:
            console.say()
            console.table(interface_table(advice, name))
    console.say()
    console.say("--parts " + " ".join(str(n) for n in advice.parts.values())
                + ("" if advice.ncoupled is None else " --coupled " + " ".join(map(str, advice.ncoupled.values()))))
    if args.picture:
        console.say(f"wrote {draw_advice(args.picture, advice)}")
    console.result(advice.to_dict())
    return 0


def _refuse_idle(args: argparse.Namespace, found: Costs) -> None:
    """Refuse what is for coupled processes where nobody says how many cells are coupled."""
    # a measured step has its iterations in it; the time of any other is computed of them
    measured = all(w.iterations is None for w in found.workloads)
    idle = [option for option in (*(["--iterations"] if measured else []), "--coupled-cost", "--latency", "--datum",
                                  "--aligned") if option.strip("-").replace("-", "_") in args.given]
    if idle and not found.coupled_cells:
        raise no_effect(idle, "without coupled cells; give --coupled-cells, or the column coupled_cells in the table")


def _costs(args: argparse.Namespace) -> Costs:
    """The table, or the components given one by one, with what the options add."""
    from ..arrays import fraction
    from ..errors import ConfigError, did_you_mean
    from ..formats.costs_file import Costs, read_costs

    cells = named("--cells", args.cells, int)
    iterations = {name: fraction(f"--iterations {name}", value)
                  for name, value in named("--iterations", args.iterations, float).items()}
    if (args.costs is None) == (not args.component):
        raise ConfigError("needs a table of costs, or components with --component, and not both")
    found = _components(args, cells, iterations) if args.costs is None else read_costs(args.costs, cells, iterations)
    known = {w.name for w in found.workloads}
    more = {"--cells": cells, "--coupled-cells": named("--coupled-cells", args.coupled_cells, int),
            "--iterations": iterations,
            "--coupled-cost": named("--coupled-cost", args.coupled_cost, float)}
    for option, values_by_name in more.items():
        unknown = sorted(set(values_by_name) - known)
        if unknown:
            raise ConfigError(f"{option}: no component {unknown[0]!r}; known: {', '.join(sorted(known))}"
                              + did_you_mean(unknown[0], known))
    return Costs(found.workloads, {**found.coupled_cells, **more["--coupled-cells"]},
                 {**found.iterations, **more["--iterations"]}, {**found.coupled_cost, **more["--coupled-cost"]})


def _components(args: argparse.Namespace, cells: Mapping[str, int], iterations: Mapping[str, float]) -> Costs:
    """The components that are given one by one."""
    from ..errors import ConfigError
    from ..formats.costs_file import Costs
    from ..resources import Workload

    loads, times = [], {}
    for name, count, cost, rounds in args.component:
        try:
            values = cells.get(name, int(count)), float(cost), iterations.get(name, float(rounds))
        except ValueError:
            raise ConfigError(f"--component {name}: needs cells, cost and iterations as numbers, got {count}, "
                              f"{cost}, {rounds}") from None
        loads.append(Workload.of_cells(name, *values))
        times[name] = values[2]
    return Costs(tuple(loads), {}, times, {})
