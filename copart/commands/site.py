"""``--machine`` and ``--step-cost``: where the processes are to run, and what a coupled step costs there."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any, get_args

from .effects import Effect, Effects, needs
from .machine import DESCRIPTION, DESCRIPTION_EFFECTS, add_description, described
from .numbers import integer
from .options import COUNTS
from .parsing import listed
from .paths import Paths, sources

if TYPE_CHECKING:
    from ..metrics import StepCost
    from ..plans.plan import Plan
    from ..plans.requests import Site

#: What the options of :func:`add_machine` mean as paths.
PATHS = DESCRIPTION | Paths({"step_cost": sources}, words=frozenset({"method"}))
EFFECTS: Effects = (
    needs(("nodes", "host", "slots", "unit", "distance", "vertices", "topology", "placement", "method", "bound"),
          "source", "hierarchy"),
    Effect(("method", "bound"), lambda args: args.placement == "shared", "beside a --placement other than shared"),
    Effect(("bound",), lambda args: args.method == "auto", "without --method auto"),
    *DESCRIPTION_EFFECTS)
#: The same of :func:`add_picture`.
PICTURE_PATHS = Paths(writes={"machine_picture": lambda args: [args.machine_picture] if args.machine_picture else []})
PICTURE_EFFECTS: Effects = (needs(("machine_picture",), "source", "hierarchy"),)


def add_machine(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Where the processes are to run, how they are placed there, and by which constants a step is measured."""
    group = parser.add_argument_group("machine", "with --machine or --hierarchy, processes are placed on slots")
    add_description(group, source=False)
    group.add_argument("--placement", choices=["shared", "disjoint", "linear"], default="shared",
                       help="codes share hosts (default), have hosts of their own, or stand in the order of the slots")
    add_method(group, "how processes that share hosts are placed, where not as usual: ")
    listed(group.add_argument("--iterations", type=integer, nargs="+", metavar="N",
                              help="sub-steps in a coupling step, each with a halo exchange: one for all components or "
                                   "one each (default 1)"), COUNTS)
    group.add_argument("--step-cost", metavar="COST",
                       help="by what T_step is measured: a table of costs (.csv, see copart advise), or any of "
                            "t=1,t_m=1,alpha=5,beta=0.01 (these are the defaults): a cell in a sub-step, a coupled "
                            "cell in a coupling phase, a message, a datum, in microseconds; t.NAME=2 for one component")
    return group


def add_picture(group: argparse._ArgumentGroup) -> None:
    """``--machine-picture``."""
    group.add_argument("--machine-picture", metavar="FILE",
                       help="draw nodes by component and links by load, in linear order and as placed (copart[plot])")


def need_picture(args: argparse.Namespace, where: Site) -> None:
    """Refuse a picture of the machine that was asked for and cannot be drawn, before the work."""
    if not args.machine_picture:
        return
    from ..mapping.sites import Sites
    from ..report.machine_layout import need_drawable
    from ..report.pictures import need_matplotlib

    need_matplotlib(args.machine_picture)
    if where.machine is not None:
        need_drawable(Sites(where.machine))


def write_picture(args: argparse.Namespace, plan: Plan) -> list[str]:
    """Draw the machine where it was asked for; the file."""
    return [str(plan.machine_picture(args.machine_picture))] if args.machine_picture else []


def add_method(group: argparse._ArgumentGroup, what: str) -> None:
    """``--method`` and ``--bound`` of processes on the nodes of a job."""
    group.add_argument("--method", metavar="NAME",
                       help=f"{what}default, ug, uwh, umc, ummc, search, search-mc, geometric, ... or auto "
                            "(docs/allocations.md lists all)")
    group.add_argument("--bound", choices=["bandwidth", "latency", "volume"], default="bandwidth",
                       help="what --method auto goes by: the busiest link, hops, or data x hops (default bandwidth)")


def check_method(method: str | None) -> None:
    """ConfigError where the method is not known."""
    from ..names import TaskMethod, known_name

    if method is not None:
        known_name("--method", method, get_args(TaskMethod))


def site(args: argparse.Namespace) -> Site:
    """The options of :func:`add_machine`."""
    from ..plans.requests import Site

    check_method(args.method)
    machine = None if args.source is None and args.hierarchy is None else described(args)
    return Site(machine, args.placement, args.iterations, step_cost(args.step_cost), args.method, args.bound)


def step_cost(text: str | None) -> StepCost:
    """The constants of ``--step-cost``.

    Raises
    ------
    ConfigError, FormatError
        It is neither a table of costs nor a list of known constants.
    """
    from ..errors import ConfigError
    from ..metrics import StepCost

    if text is None:
        return StepCost()
    if os.path.exists(text):
        from ..formats.costs_file import read_step_cost

        return read_step_cost(text)
    found: dict[str, Any] = {}
    for word in text.split(","):
        key, equals, value = word.partition("=")
        constant, dot, name = key.strip().partition(".")
        try:
            number = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise ConfigError(f"--step-cost: is no file, nor constants as in t_m=2,alpha=10: {text!r}")
        if dot:
            found.setdefault(constant, {})
            if not isinstance(found[constant], dict):
                raise ConfigError(f"--step-cost: {constant} is given for all components and for {name}")
            found[constant][name] = number
        else:
            found[constant] = number
    return StepCost.of_dict(found)


__all__ = ["EFFECTS", "PATHS", "PICTURE_EFFECTS", "PICTURE_PATHS", "add_machine", "add_method", "add_picture",
           "check_method", "need_picture", "site", "step_cost", "write_picture"]
