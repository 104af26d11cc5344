"""A plan's folder, taken up again: new loads, counts or interedges in, a new plan and the way there out.

`read_plan` opens what `copart plan` wrote; `replan` changes it by
:func:`copart.schemes.corepartition.corepartition` and writes a folder of the same kind, with
``migration.json`` beside, so that it can be taken up once more.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import sums
from ..coupling import CoPartition, CoupledProblem, Interedges
from ..errors import ConfigError, CouplingError, FormatError, GraphError, did_you_mean
from ..formats import prepare_folder, read_coupling, read_part
from ..formats.interedges_file import read_interedges
from ..formats.migration_file import write_migration
from ..formats.output import file_name
from ..interface.counts import Counts, CoupledCounts, coupled_rule, part_counts
from ..interface.price import PRICE
from ..kernels import timed
from ..metrics import CoupledMetrics, StepCost, evaluate
from ..migration.plan import MigrationPlan
from ..names import SchemeName
from ..options import Options, Settings
from ..schemes import registry
from ..schemes.contiguous import contiguous
from ..schemes.corepartition import corepartition
from .components import Progress, given_interedges, interfaces_of, silent
from .folder import METRICS
from .kept import kept_cost
from .opening import component
from .output import MIGRATION, component_inputs, interedges_files, read_summary, usual_files
from .overwriting import reading, refuse_inputs, same_file
from .placing import need_room, place_processes
from .plan import Plan
from .requests import Site, check_kind, settings_of
from .weighing import CoupledWeights, priced, units, weighed, with_interedges
from .writers import kinds_and_pages

if TYPE_CHECKING:
    from ..mesh import Mesh

_log = logging.getLogger(__name__)

LOAD = "load"
"""The cell array that keeps loads which were given, in the meshes of the new folder,"""

OTHER = "new_load"
"""and where the coupled weights are in that one."""


PLACING = ("placement", "method", "bound", "iterations")
"""Settings of plans on a machine, which is not in the folder: it is given again, or nothing is placed."""


class ReadPlan(NamedTuple):
    """What a plan's folder holds."""

    problem: CoupledProblem
    copartition: CoPartition
    meshes: dict[str, Mesh]
    settings: dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Replan:
    """A new plan and the way there.

    Attributes
    ----------
    plan : Plan
    migration : MigrationPlan
    former : CoupledMetrics
        The former parts under the new loads and interedges.
    """

    plan: Plan
    migration: MigrationPlan
    former: CoupledMetrics

    def __repr__(self) -> str:
        return f"{self.plan!r}\n{self.migration!r}"


def read_plan(folder: str | os.PathLike[str], sources: Mapping[str, Any] | None = None,
              load: str | None = None, coupled_weights: CoupledWeights | None = None) -> ReadPlan:
    """Open the output folder of ``copart plan``.

    Parameters
    ----------
    folder : path
    sources : mapping of str to path, mesh or graph, optional
        What components are read from instead of the folder's meshes; needed for those that came as graphs.
    load : str, optional
        Cell array with the load of each cell; as in the plan where not given.
    coupled_weights : str or mapping of str to (ncells,) array_like of int, optional
        Work of each cell in a coupling phase, see :func:`copart.plan`; as in the plan where not given.

    Raises
    ------
    FormatError, CouplingError, MeshError
        A file is missing or ill-formed, or does not fit the others.
    """
    place = Path(folder)
    settings = dict(read_summary(place)["settings"])
    schedule = read_coupling(place / "coupling.json")
    names = [entry["name"] for entry in schedule["components"]]
    if sorted(names) != sorted(settings["names"]):
        raise FormatError(place / "coupling.json", f"components: must be {', '.join(settings['names'])}, as in "
                                                   f"metrics.json, are {', '.join(names)}")
    given = sources or {}
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise ConfigError(f"sources: no component {unknown[0]!r}; known: {', '.join(names)}"
                          + did_you_mean(unknown[0], names))
    settings["load"] = load or settings.get("load")
    graphs, meshes, parts = {}, {}, {}
    for entry in schedule["components"]:
        name = entry["name"]
        mesh_file = place / f"{file_name(name)}.vtu"
        if name not in given and not mesh_file.exists():
            raise FormatError(place, f"has no {mesh_file.name}: {name} came as a graph, give it again")
        graph, mesh = component(given.get(name, mesh_file), settings["load"])
        if graph.nvtxs != entry["cells"]:
            raise CouplingError(f"{name}: has {graph.nvtxs} cells, the plan has {entry['cells']}; for another mesh "
                                f"say in Python where its cells are (copart.schemes.corepartition.corepartition)")
        graphs[name] = graph
        if mesh is not None:
            meshes[name] = mesh
        parts[name] = read_part(place / f"{file_name(name)}.part.{entry['parts']}", graph.nvtxs, entry["parts"])
    files = interedges_files(names)
    relations = {}
    for pair in [(one["a"], one["b"]) for one in schedule["pairs"]]:
        known = pair in files
        relation = read_interedges(place / files[pair if known else pair[::-1]])
        relations[pair] = relation if known else relation.transposed
    coupled = dict(zip(settings["names"], settings["coupled"], strict=True))
    made = CoPartition(parts, {entry["name"]: entry["parts"] for entry in schedule["components"]}, coupled,
                       bool(settings.get("shared")))
    own = weighed(settings.get("coupled_weights") if coupled_weights is None else coupled_weights, graphs, relations,
                  meshes)
    settings |= {} if own.setting is None else {"coupled_weights": own.setting}
    return ReadPlan(CoupledProblem(graphs, relations, own.weights), made, own.meshes, settings)


def replan(folder: str | os.PathLike[str], *, loads: Mapping[str, ArrayLike] | None = None,
           load: str | None = None, coupled_weights: CoupledWeights | None = None,
           sources: Mapping[str, Any] | None = None,
           interedges: Mapping[tuple[str, str], Interedges] | None = None,
           parts: Counts | None = None, coupled: CoupledCounts | None = None, scheme: SchemeName | None = None,
           alpha: float = 5.0, price: Sequence[float] | None = None, scheme_options: Mapping[str, Any] | None = None,
           options: Options | None = None, site: Site | None = None, output: str | os.PathLike[str] | None = None,
           write: str | Sequence[str] | None = None, progress: Progress | None = None,
           **given: Unpack[Settings]) -> Replan:
    """Take up a plan again after a change.

    Parameters
    ----------
    folder : path
        What ``copart plan`` or an earlier `replan` wrote.
    loads : mapping of str to (ncells,) array_like of int, optional
        New load of every cell of a component; the others keep theirs.
    load, coupled_weights, sources
        See :func:`read_plan`.
    interedges : mapping of (str, str) to Interedges, optional
        New interedges of a pair.
    parts, coupled : sequence of int or mapping of str to int, optional
        New numbers of parts, and of those that may own coupled cells; as before where not given.  One number in
        `parts` is the size of a pool that the components share; `coupled` may be "paper".
    scheme : str, optional
        One of :data:`copart.schemes.registry.SCHEMES`; that of the plan where not given.
    alpha : float
        See :func:`copart.schemes.corepartition.corepartition`.
    price : (float, float, float), optional
        Of the edge cut, of volume and of messages; that of the plan where not given, or the usual one.
    scheme_options : mapping, optional
        What only this scheme knows when it is run again; as in the plan where not given.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
        Where neither `options` nor eps is given, eps is that of the plan.
    site : Site, optional
        Where the new processes are to run, for a run that starts anew: see :func:`copart.plan`.  Iterations and costs
        that it does not give are those of the plan.  Without a machine nothing is placed.
    output : path, optional
        Folder to write to, another one than `folder`.
    write : str or sequence of str, optional
        More kinds of files; see :func:`copart.plan`.
    progress : callable, optional

    Returns
    -------
    Replan

    Raises
    ------
    CopartError
        One clear message; nothing is written then.
    """
    rule = "kept" if coupled is None else coupled_rule(coupled, what="coupled")
    check_kind("site", site, Site)
    kinds, pages = kinds_and_pages(write)
    tell = progress or silent
    read = [("the former plan", folder), *component_inputs(
        {name: os.fspath(one) for name, one in (sources or {}).items() if isinstance(one, str | os.PathLike)})]
    if output is not None:
        prepare_folder(output)
        if same_file(output, folder):
            raise ConfigError(f"output: {os.fspath(output)} holds the former plan, which the migration starts from; "
                              f"name another folder")
    tell(f"reading {os.fspath(folder)}", 0, 0)
    problem, former, meshes, settings = read_plan(folder, sources, load, coupled_weights)
    nprocs = former.nprocs
    if parts is not None and not former.shared:
        nprocs = sum(part_counts(problem, parts, "parts").values())
    summary = read_summary(Path(folder))
    for name in problem.names:
        if name not in meshes and name not in (loads or {}) and _of_other_loads(problem, former, name, summary):
            _log.warning("%s: its graph has not the loads that the former plan was made for; loads of a graph are not "
                         "kept in the folder, so give them again if they still hold", name)
    where = Site() if site is None else site
    if settings.keys() & set(PLACING):
        settings = {key: value for key, value in settings.items() if key not in PLACING}
        if where.machine is None:
            _log.warning("the processes of the former plan were placed on a machine; the new ones are not, and start "
                         "in the order of their ranks: give the machine again (--machine, or site= in Python)")
    if parts is None or not former.shared:
        need_room(where, nprocs)
    interfaces = interfaces_of(summary)
    # the constants of the plan are for its own coupled weights
    meant = units(summary["settings"].get("coupled_weights"), problem.components, problem.pairs)
    if output is not None:
        kept = list(former.nparts.values()) if parts is None else []
        refuse_inputs([Path(output) / name for name in (*usual_files(problem.names, meshes, kept), MIGRATION)], read)
    chosen = Options.of(options, given)
    if options is None and "eps" not in given:
        chosen = chosen.replace(eps=settings["eps"])
    if loads:
        settings["load"] = LOAD if settings.get("coupled_weights") != LOAD else OTHER
        problem, meshes = _loaded(problem, meshes, loads, settings["load"])
    if interedges:
        problem = with_interedges(problem, {**problem.pairs, **given_interedges(interedges, problem.names)},
                                  settings.get("coupled_weights"))
        settings["interedges"], interfaces = "given", {}
    run = scheme or settings.get("scheme", "projrepart")
    own = _own_options(run, settings, scheme_options)
    former_objective = (settings.get("scheme_options") or {}).get("objective")
    if former_objective is not None and scheme_options is None:
        _log.warning("the objective of the former plan, %s, is not sought again: replan keeps cut and migration small",
                     former_objective)
    prices = price or (settings.get("scheme_options") or {}).get("price", PRICE)[:3]
    tell(f"repartitioning with {run}", 0, 0)
    with timed() as took:
        made = corepartition(problem, former, parts, coupled, chosen, scheme=run, alpha=alpha, price=prices,
                             scheme_options=own)
        if settings.get("contiguous"):
            made = contiguous(problem, made, chosen, balance=own.get("balance", "total"))
    tell("measuring", 0, 0)
    settings.pop("natural", None)
    settings |= {"scheme": run, "parts": list(made.nparts.values()), "coupled": list(made.ncoupled.values()),
                 "coupled_rule": rule if registry.scheme(run).knows_interface else None,
                 "scheme_options": own | ({"price": list(prices)} if "price" in registry.scheme(run).own else {}),
                 "alpha": alpha, **settings_of(chosen)}
    now = units(settings.get("coupled_weights"), problem.components, problem.pairs)
    if where.cost == StepCost():
        where = replace(where, cost=priced(kept_cost(Path(folder) / METRICS, summary), now, meant))
        cost = where.priced(problem.names)
    else:
        cost = priced(where.priced(problem.names), now)
    if where.machine is not None:
        tell(f"placing {made.nprocs} processes", 0, 0)
    placements = place_processes(where, problem, made, settings, chosen)
    plan = Plan(problem, made, evaluate(problem, made, cost), meshes, settings, took.seconds, interfaces=interfaces,
                placements=placements)
    again = Replan(plan, MigrationPlan.between(former, made, problem), evaluate(problem, former, cost))
    if output is None:
        return again
    tell(f"writing to {os.fspath(output)}", 0, 0)
    with reading(read):
        files = plan.write(output, [*(kinds or ["none"]), *pages],
                           more={MIGRATION: lambda path: write_migration(path, again.migration)})
    return replace(again, plan=replace(plan, files=files))


def _own_options(scheme: str, settings: Mapping[str, Any], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """What only this scheme knows when it is run again: as given, else as in the plan that it made."""
    if given is not None or scheme != settings.get("scheme"):
        return dict(given or {})
    known = registry.scheme(scheme).own_again
    return {key: value for key, value in (settings.get("scheme_options") or {}).items() if key in known}


def _of_other_loads(problem: CoupledProblem, former: CoPartition, name: str, summary: Mapping[str, Any]) -> bool:
    """Whether the lightest or heaviest part of a component does not weigh what the plan says."""
    known: Any = summary
    for key in ("metrics", "components", name):
        known = known.get(key) if isinstance(known, Mapping) else None
    weight = sums(former[name], problem.components[name].weights, former.nparts[name])
    return isinstance(known, Mapping) and any(known.get(key, value) != value for key, value in
                                              (("min_weight", weight.min()), ("max_weight", weight.max())))


def _loaded(problem: CoupledProblem, meshes: Mapping[str, Mesh], loads: Mapping[str, ArrayLike],
            array: str) -> tuple[CoupledProblem, dict[str, Mesh]]:
    """The problem with other loads, and its meshes with all loads as that cell array."""
    graphs = dict(problem.components)
    if not isinstance(loads, Mapping):
        raise ConfigError(f"loads: needs a mapping from components, got {loads!r:.60}")
    for name, load in loads.items():
        if name not in graphs:
            raise ConfigError(f"loads: no component {name!r}; known: {', '.join(graphs)}"
                              + did_you_mean(name, graphs))
        if np.shape(load) != (graphs[name].nvtxs,):
            raise CouplingError(f"loads of {name}: need {graphs[name].nvtxs} numbers, one per cell, have shape "
                                f"{np.shape(load)}")
        try:
            graphs[name] = graphs[name].replace(vwgt=load)
        except GraphError as error:
            raise GraphError(f"loads of {name}: {str(error).removeprefix('vwgt: ')}") from None
    kept = {name: mesh.replace(cell_data={**mesh.cell_data, array: graphs[name].weights})
            for name, mesh in meshes.items()}
    return CoupledProblem(graphs, problem.pairs, problem.coupled_weights), kept


__all__ = ["LOAD", "ReadPlan", "Replan", "read_plan", "replan"]
