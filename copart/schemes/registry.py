"""The schemes by name: what runs each, what runs it again, and what it can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack, cast, get_args

from ..algorithms import aware, naive, projrepart
from ..coupling import CoPartition, CoupledProblem
from ..dynamic.published import aware_again, naive_again, projrepart_again
from ..dynamic.rerun import Rerun
from ..errors import ConfigError, NotApplicableError
from ..interface.counts import Counts, CoupledCounts, coupled_rule
from ..interface.uncut import interface_groups
from ..metrics.step import StepCost
from ..names import ExchangeObjective, InterfaceRule, SchemeName, known_name
from ..options import Options, Settings, Thorough
from .auto import auto
from .contiguous import contiguous as connected
from .exchange import less_exchange
from .joint import joint, joint_again
from .monolithic import monolithic, monolithic_again
from .multiconstraint import multiconstraint, multiconstraint_again


@dataclass(frozen=True)
class Scheme:
    """A scheme and what it can do.

    Attributes
    ----------
    run : callable
        ``run(problem, nparts, ncoupled, options, **own)``.
    again : callable
        ``again(rerun, **own_again)``: the scheme after a change, see :class:`copart.dynamic.rerun.Rerun`.
    knows_interface : bool
        `run` takes `interface`, and keeps to N^cpl; others leave to chance how many parts own coupled cells.
    shares_pool : bool
        All components are on one pool of processes, whose size `run` takes as `processes`.
    chooses : bool
        It runs the others and takes the best; `run` takes `cost`, what a coupled step is priced by.
    connects : bool
        `run` takes `contiguous`; what others leave in several pieces is mended after them.
    own, own_again : tuple of str
        Options that `run` and `again` take beside those of all schemes.
    """

    run: Callable[..., CoPartition]
    again: Callable[..., CoPartition]
    knows_interface: bool = False
    shares_pool: bool = False
    chooses: bool = False
    connects: bool = False
    own: tuple[str, ...] = ()
    own_again: tuple[str, ...] = ()


SCHEMES: dict[SchemeName, Scheme] = {
    "naive": Scheme(naive, naive_again),
    "aware": Scheme(aware, aware_again, knows_interface=True),
    "projrepart": Scheme(projrepart, projrepart_again, knows_interface=True),
    "multiconstraint": Scheme(multiconstraint, multiconstraint_again),
    "monolithic": Scheme(monolithic, monolithic_again, shares_pool=True, own=("balance",), own_again=("balance",)),
    "joint": Scheme(joint, joint_again, knows_interface=True, connects=True, own=("price", "directions", "fix")),
    "auto": Scheme(auto, joint_again, knows_interface=True, chooses=True, connects=True),
}
"""The schemes by name."""

COMMON = ("objective",)
"""Options that every scheme takes beside its own."""

DEFAULT: SchemeName = "joint"
"""The scheme of a plan unless another is asked for."""


def scheme(name: str) -> Scheme:
    """The scheme called `name`; an unknown one lists those known.

    Parameters
    ----------
    name : str
        One of :data:`SCHEMES`.
    """
    known_name("scheme", name, SCHEMES)
    return SCHEMES[cast(SchemeName, name)]


def own_options(names: Sequence[str], given: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """The options of schemes among those `given`, by scheme: its own, and those in :data:`COMMON`.

    Parameters
    ----------
    names : sequence of str
        Schemes.
    given : mapping of str to object, optional
        Options by name.

    Raises
    ------
    ConfigError
        An option is of none of the schemes in `names`, or there is no such objective.
    """
    if not isinstance(given, Mapping | None):
        raise ConfigError(f"scheme_options: needs a mapping from options, got {given!r:.60}")
    if "objective" in (given or {}):
        known_name("objective", (given or {})["objective"], get_args(ExchangeObjective))
    known = {name: (*scheme(name).own, *COMMON) for name in names}
    for option in given or {}:
        if not any(option in own for own in known.values()):
            others = [name for name, other in SCHEMES.items() if option in other.own]
            mine = [f"{name}: {', '.join(own)}" for name, own in known.items()]
            raise ConfigError(f"scheme_options: {option!r} is no option of {', '.join(names)}"
                              + (f", but of {', '.join(others)}" if others else "") + f"; there are {'; '.join(mine)}")
    return {name: {option: value for option, value in (given or {}).items() if option in own}
            for name, own in known.items()}


def run_scheme(name: SchemeName, problem: CoupledProblem, nparts: Counts, ncoupled: CoupledCounts | None = None,
               options: Options | None = None, *, interface: InterfaceRule = "spread",
               scheme_options: Mapping[str, Any] | None = None, cost: StepCost | None = None,
               contiguous: bool = False, **settings: Unpack[Settings]) -> CoPartition:
    """Run the scheme called `name`, with its interfaces laid on processes as asked.

    Parameters
    ----------
    name : str
        One of :data:`SCHEMES`.
    problem : CoupledProblem
    nparts : mapping, sequence or int
        Parts of each component.  For a scheme that shares a pool of processes, one number is its size.
    ncoupled : mapping, sequence, int or "paper", optional
        Parts of each component that may own coupled cells; see :func:`copart.interface.counts.coupled_counts`.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    interface : {"spread", "gather", "uncut"}
        How the interface is laid on processes where `ncoupled` is not given.
    scheme_options : mapping, optional
        By name: `price`, `directions` and `fix` of "joint", `balance` of "monolithic", and of any scheme `objective`,
        what the parts of a component are to exchange little of (:mod:`copart.schemes.exchange`).
    cost : StepCost, optional
        What work and messages of a coupled step cost, for "auto" to choose by.
    contiguous : bool
        Connected parts: what the scheme leaves in several pieces is mended (:mod:`copart.schemes.contiguous`).

    Raises
    ------
    PartitionError
        The scheme finds no partition, or none with connected parts is found.
    NotApplicableError
        The scheme cannot keep the several interfaces of one component uncut, or an objective is asked for on a shared
        pool.
    ConfigError
        The scheme is not known, an option is not one of it, `ncoupled` or `interface` are not known, or an objective
        is asked for with `contiguous`.
    """
    chosen, run = scheme(name), Thorough.of(options, settings)
    own: dict[str, Any] = own_options([name], scheme_options)[name]
    objective = own.pop("objective", None)
    if objective is not None:
        if contiguous:
            raise ConfigError("objective: is not available with contiguous; leave one out")
        made = run_scheme(name, problem, nparts, ncoupled, run, interface=interface, scheme_options=own, cost=cost)
        return less_exchange(problem, made, objective, run)
    if contiguous and not chosen.connects:
        made = run_scheme(name, problem, nparts, ncoupled, run, interface=interface, scheme_options=scheme_options,
                          cost=cost)
        return connected(problem, made, run, balance=own.get("balance", "total"))
    if chosen.chooses:
        own["cost"] = cost
    if chosen.connects:
        own["contiguous"] = contiguous
    coupled_rule(ncoupled, interface)
    one = nparts[0] if isinstance(nparts, Sequence) and len(nparts) == 1 else nparts
    if isinstance(one, int) and chosen.shares_pool:
        return chosen.run(problem, options=run, processes=one, **own)
    if chosen.knows_interface:
        return chosen.run(problem, nparts, ncoupled, run, interface=interface, **own)
    if interface == "uncut" and ncoupled is None:
        several = [c for c in problem.names if len(interface_groups(problem, c)) > 1]
        if several:
            raise NotApplicableError(f"{name}: cannot keep the interfaces of {several[0]} uncut, it has several; "
                                     f"take aware or projrepart")
    # it leaves to chance how many parts own coupled cells: what is asked for is no reason to refuse
    return chosen.run(problem, nparts, ncoupled, run, **own)


__all__ = ["COMMON", "DEFAULT", "SCHEMES", "Rerun", "Scheme", "own_options", "run_scheme", "scheme"]
