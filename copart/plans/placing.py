"""The processes of a plan on the machine that it is to run on: a new plan, or one that is taken up again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..coupling import CoPartition, CoupledProblem
from ..options import Options
from .requests import Site, placed_coords

if TYPE_CHECKING:
    from ..mapping.coupled.placed import Placed


def need_room(site: Site, nprocs: int) -> None:
    """Refuse a machine without a slot for every process, before the work; of no machine nothing is asked.

    Raises
    ------
    MappingError
    """
    if site.machine is not None:
        from ..mapping.coupled.placed import check_room  # few plans need mapping, and loading it takes a while

        check_room(nprocs, site.machine)


def place_processes(site: Site, problem: CoupledProblem, copartition: CoPartition, settings: dict[str, Any],
                    options: Options) -> tuple[Placed, ...]:
    """The processes on the machine, in all ways that apply, the wanted one among them; none without a machine.

    Parameters
    ----------
    site : Site
    problem, copartition
    settings : dict
        Those of the plan, which tell how the meshes meet; how the processes are placed is added.
    options : Options
        seed, threads.

    Raises
    ------
    MappingError
        The wanted way does not apply on this machine.
    """
    if site.machine is None:
        return ()
    from ..mapping.coupled.placements import place, placements
    from ..mapping.coupled.processes import process_graph

    times = site.times(problem.names)
    graph = process_graph(problem, copartition, times, coords=placed_coords(problem, settings))
    placed = placements(graph, site.machine, method=site.method, bound=site.bound, seed=options.seed,
                        threads=options.threads)
    if site.placement not in [one.name for one in placed]:
        place(graph, site.machine, site.placement)  # which says why it does not apply
    settings |= {**site.settings, "iterations": list(times.values())}
    return placed


__all__ = ["need_room", "place_processes"]
