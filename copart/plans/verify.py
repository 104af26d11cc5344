"""Is everything that a plan's folder states true?  (``copart check DIR``)

Parts, figures, exchange schedule, interfaces and migration are derived again from the meshes and the part files by
:mod:`copart.checks` and a new search; files made for other programs are read back (:mod:`.readback`).  What cannot be
derived, because what it came from is not in the folder, is listed as such (:attr:`copart.checks.Report.unchecked`), and
held to its checksum alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import Finding, Report, check_connected, check_copartition
from ..checks.claims import same
from ..checks.lists import check_halo_lists, check_interedge_lists, check_owned_lists
from ..coupling import CoPartition, CoupledProblem, Interedges
from ..errors import FormatError
from ..formats import read_coupling, read_part
from ..formats.exchange_files import component_name, pair_name, read_lists
from ..formats.interedges_file import read_interedges
from ..formats.output import file_name
from .components import Pair, Progress, coupled_problem, silent
from .folder import listed
from .kept import UNCHECKED, unknown_entries
from .output import interedges_files, read_summary
from .placements_check import check_placements
from .readback import check_arrays, check_migration, check_native
from .requests import Meeting
from .seal import check_seals
from .sources import open_mesh

if TYPE_CHECKING:
    from ..mesh import Mesh


def check_plan(folder: str | os.PathLike[str], eps: float | None = None, progress: Progress | None = None) -> Report:
    """Check the output folder of ``copart plan`` or ``replan``.

    Parameters
    ----------
    folder : path
    eps : float, optional
        Imbalance tolerance to judge by; that of the plan where not given.
    progress : callable, optional
        Called as ``progress(step, done, total)`` when a step begins.

    Returns
    -------
    Report

    Raises
    ------
    CopartError
        A file is missing or ill-formed, so that there is nothing to check.
    """
    place, tell = Path(folder), progress or silent
    summary = read_summary(place)
    settings = summary["settings"]
    names = settings["names"]
    paths = {name: place / f"{file_name(name)}.vtu" for name in names}
    absent = [path.name for path in paths.values() if not path.exists()]
    if absent:
        raise FormatError(place, f"has no {absent[0]}" + (
            ", which metrics.json lists" if absent[0] in listed(place) else
            "; a plan made from graphs is checked with the graphs, in Python"))
    findings = [*unknown_entries(summary), *check_seals(summary, place)]
    tell(f"reading {place}", 0, 0)
    meshes = {name: open_mesh(path) for name, path in paths.items()}
    kept = {pair: read_interedges(place / name) for pair, name in interedges_files(names).items()
            if (place / name).exists()}
    for (a, b), relation in kept.items():
        for name, cells in zip((a, b), relation.shape, strict=True):
            if meshes[name].ncells != cells:
                raise FormatError(paths[name], f"has {meshes[name].ncells} cells, {interedges_files(names)[a, b]} is "
                                               f"of {cells}")
    if kept:
        # whether these are the right ones is seen below
        found = coupled_problem(*meshes.values(), names=names, load=settings.get("load"), interedges=kept,
                                progress=tell, coupled_weights=settings.get("coupled_weights"))
    else:
        found = _searched(meshes, settings, {}, tell)
        findings += [Finding("interedges", interedges_files(names)[pair], "must be there", "no such file")
                     for pair in found.problem.pairs]
    parts = {name: read_part(place / f"{file_name(name)}.part.{n}", found.problem.components[name].nvtxs, n)
             for name, n in zip(names, settings["parts"], strict=True)}
    made = CoPartition(parts, dict(zip(names, settings["parts"], strict=True)),
                       dict(zip(names, settings["coupled"], strict=True)), bool(settings.get("shared")))
    tell("checking", 0, 0)
    claimed = summary.get("metrics")
    report = check_copartition(found.problem, made, settings["eps"] if eps is None else eps,
                               claimed if isinstance(claimed, Mapping) else {}, read_coupling(place / "coupling.json"),
                               whole=True, each_alone=(settings.get("scheme_options") or {}).get("balance") == "each")
    findings += [*report.findings, *_idle(summary, found.problem, made)]
    if settings.get("contiguous"):
        for name, graph in found.problem.components.items():
            findings += check_connected(graph, made[name], made.nparts[name], name)
    findings += _exchange(place, found.problem, made)
    for name in names:
        findings += check_arrays(paths[name].name, meshes[name], made[name], found.problem.coupled(name))
    findings += check_placements(place, summary, found.problem, made)
    unchecked = [what for key, what in UNCHECKED.items() if summary.get(key)]
    for check in (check_native(place, made, meshes), check_migration(place, summary, made, found.problem)):
        findings += check[0]
        unchecked += check[1]
    more, reasons = _meet(summary, meshes, kept, tell)
    return replace(report, findings=(*findings, *more), unchecked=(*unchecked, *reasons))


def _exchange(place: Path, problem: CoupledProblem, made: CoPartition) -> list[Finding]:
    """The lists in ``exchange/``."""
    findings, parts = [], made.nparts

    def lists(name: str, one: str, other: str) -> tuple[Any, Any]:
        found = read_lists(place, name, (parts[one], parts[other]))
        return found.index, found.rows

    for a, b in problem.pairs:
        findings += check_interedge_lists(problem, made, (a, b), *lists(pair_name(a, b), a, b))
    for name in problem.names:
        findings += check_halo_lists(problem, made, name, *lists(component_name(name, "halo"), name, name))
        findings += check_owned_lists(made, name, *lists(component_name(name, "owned"), name, name))
    return findings


def _idle(summary: Mapping[str, Any], problem: CoupledProblem, made: CoPartition) -> list[Finding]:
    """The parts without a coupled cell, against those listed."""
    idle = {name: sorted(set(range(n)) - set(made[name][problem.coupled(name)].tolist()))
            for name, n in made.nparts.items()}
    said = summary.get("uncoupled_parts")
    if same(said, idle):
        return []
    return [Finding("metrics.json", "uncoupled_parts", f"are {idle!r:.60}", f"{said!r:.60}")]


def _searched(meshes: Mapping[str, Mesh], settings: Mapping[str, Any], groups: Mapping[str, str | None],
              progress: Progress) -> Any:
    """The problem with the interedges that the meshes in the folder have."""
    at = [mesh.replace(interface=_offered(mesh, group)) if (group := groups.get(name)) else mesh
          for name, mesh in meshes.items()]
    return coupled_problem(*at, names=list(meshes), load=settings.get("load"), interedges=settings["interedges"],
                           meeting=Meeting.of_settings(settings), progress=progress,
                           coupled_weights=settings.get("coupled_weights"))


def _offered(mesh: Mesh, told: str) -> tuple[str, ...]:
    """The boundaries that were offered, which are told with commas between; none where the mesh has not got them."""
    known = {*mesh.facet_groups, *mesh.point_groups}
    for at in [*(i for i, letter in enumerate(told) if letter == ","), len(told)]:
        if told[:at] in known:
            rest = _offered(mesh, told[at + 1:])
            if rest or at == len(told):
                return told[:at], *rest
    return ()


def _meet(summary: Mapping[str, Any], meshes: Mapping[str, Mesh], kept: Mapping[Pair, Interedges],
          progress: Progress) -> tuple[list[Finding], list[str]]:
    """Interedges and interfaces against those of the meshes, or why they cannot be compared."""
    settings, key = summary["settings"], "interface" if len(meshes) == 2 else "interfaces"
    said = summary.get(key)
    listed = [one for one in (said if isinstance(said, list) else [said]) if one]
    if settings["interedges"] == "given":
        if listed:
            return [Finding("metrics.json", key, "is empty where interedges were given", f"{said!r:.60}")], []
        return [], ["whether the interedges are those of the meshes: they were given"]
    # what the interface of each mesh was named by, the same at all its interfaces
    groups = {side["name"]: side["group"] for one in listed for side in (one["a"], one["b"])}
    strangers = sorted(set(groups) - set(meshes))
    if strangers:
        return [Finding("metrics.json", key, f"is of {', '.join(meshes)}", strangers[0])], []
    lost = [f"{name} at {group}" for name, group in groups.items()
            if group is not None and not _offered(meshes[name], group)]
    if lost:
        where = " and ".join(lost)
        return [], [f"whether the interedges are those of {where}: the meshes here have no groups"]
    progress("finding the interedges once more", 0, 0)
    again = _searched(meshes, settings, groups, progress)
    findings = _differ(kept, again.problem.pairs, interedges_files(list(meshes)))
    true = [one.to_dict() for one in again.interfaces.values()]
    if not isinstance(said, dict if len(meshes) == 2 else list) or len(listed) != len(true):
        return [*findings, Finding("metrics.json", key, f"describes {len(true)} interfaces", f"{len(listed)}")], []
    for i, (told, derived) in enumerate(zip(listed, true, strict=True)):
        where = key if len(meshes) == 2 else f"{key}[{i}]"
        findings += _interface(where, told, derived)
    return findings, []


def _interface(where: str, told: Any, true: Mapping[str, Any]) -> list[Finding]:
    """One interface as told and as found, entry by entry; the groups of boundaries are not in the folder."""
    out = []
    for key, value in true.items():
        if key in ("a", "b") and isinstance(told.get(key), Mapping):
            side = told[key]
            out += [Finding("metrics.json", f"{where}.{key}.{entry}", f"is {x!r:.60}", f"{side.get(entry)!r:.60}")
                    for entry, x in value.items() if entry != "groups" and not (entry in side and same(side[entry], x))]
            if not isinstance(side.get("groups"), list) or not all(isinstance(g, str) for g in side["groups"]):
                out.append(Finding("metrics.json", f"{where}.{key}.groups", "is a list of names",
                                   f"{side.get('groups')!r:.60}"))
            out += _others(f"{where}.{key}", side, value)
        elif not (key in told and same(told[key], value)):
            out.append(Finding("metrics.json", f"{where}.{key}", f"is {value!r:.60}", f"{told.get(key)!r:.60}"))
    return out + _others(where, told, true)


def _others(where: str, told: Mapping[str, Any], true: Mapping[str, Any]) -> list[Finding]:
    return [Finding("metrics.json", f"{where}.{key}", "is no entry", f"{told[key]!r:.60}")
            for key in told if key not in true]


def _differ(kept: Mapping[Pair, Interedges], again: Mapping[Pair, Interedges],
            files: Mapping[Pair, str]) -> list[Finding]:
    """Where the interedges in the folder are not those of the meshes."""
    out = []
    for pair in [p for p in files if p in again or p in kept]:
        if pair not in again or pair not in kept:
            if kept:
                out.append(Finding("interedges", files[pair], "must be those of the meshes",
                                   "the meshes do not meet" if pair in kept else "no such file"))
            continue
        columns: list[tuple[str, Any, Any]] = list(zip(("A", "B", "weights"), again[pair].pairs(), kept[pair].pairs(),
                                                       strict=True))
        wrong = [what for what, one, other in columns
                 if len(one) != len(other) or not np.allclose(one, other, rtol=1e-9, atol=0)]
        if wrong:
            out.append(Finding("interedges", files[pair], "must be those of the meshes",
                               f"{len(kept[pair])}, of the meshes {len(again[pair])}, which differ in {wrong[0]}"))
    return out


__all__ = ["check_plan"]
