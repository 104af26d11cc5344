"""Co-partitions: every component, its coupled subgraph, and every coupled pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import tolerance
from ..coupling import CoPartition, CoupledProblem
from .claims import Exchange, compare_components, compare_figures, compare_pairs, compare_schedule
from .report import Finding, Notes, Report
from .single import balance, check_partition, edge_cut, imbalance, limits, loads
from .step import constants, coupled_loads, halo_figures, step


def check_copartition(problem: CoupledProblem, copartition: CoPartition, eps: float | None = None,
                      claimed: Mapping[str, Any] | None = None, coupling: Mapping[str, Any] | None = None,
                      whole: bool = False, each_alone: bool = False) -> Report:
    """Check a co-partition and what is claimed about it.

    Parameters
    ----------
    problem : CoupledProblem
    copartition : CoPartition
    eps : float, optional
        Imbalance tolerance of each component, and of its coupled subgraph where
        the co-partition names a number of coupled parts.
    claimed : mapping, optional
        Figures to compare, as in ``metrics.json``: ``{"components": {name: {...}}, "pairs": [...], "step": {...}}``;
        a coupled step is measured by the constants that it names.
        A component, pair or figure that is not there is a finding; a figure that is left out only where `whole`.
    coupling : mapping, optional
        Exchange schedule to compare, as in ``coupling.json``.
    whole : bool
        Whether `claimed` must hold all figures.
    each_alone : bool
        Whether the load of each component is in balance over a shared pool by itself, and not that of all together:
        over as many processes as it has cells, where these are fewer.

    Returns
    -------
    Report
        Figures in the form of `claimed`.
    """
    if eps is not None:
        eps = tolerance("eps", eps)
    notes = Notes("co-partition")
    findings: list[Finding] = []
    components: dict[str, Any] = {}
    if set(copartition.parts) != set(problem.components):
        notes.add("components", f"must be {', '.join(problem.names)}", ", ".join(copartition.names))
        return Report(tuple(notes.list))
    touching = {name: np.zeros(g.nvtxs, np.bool_) for name, g in problem.components.items()}
    for (a, b), inter in problem.pairs.items():
        u, v, _ = inter.pairs()
        touching[a][u], touching[b][v] = True, True
    for name, graph in problem.components.items():
        # of a shared pool neither a single component is in balance nor does every process own some of it
        one = check_partition(graph, copartition.parts[name], copartition.nparts[name],
                              None if copartition.shared else eps, name=f"component {name}",
                              may_be_empty=copartition.shared)
        findings += one.findings
        if one.figures:
            if copartition.shared and each_alone and eps is not None:
                findings += _alone(name, one.figures["weights"], graph.nvtxs, eps)
            more, extra = _coupled(name, problem, copartition, touching[name], eps)
            findings += more
            components[name] = {"name": name, "cells": graph.nvtxs, "parts": copartition.nparts[name],
                                **{k: x for k, x in one.figures.items() if k != "weights"},
                                "max_weight": max(one.figures["weights"]), "min_weight": min(one.figures["weights"]),
                                **extra}
    if len(components) < len(problem.components):
        return Report(tuple(notes.list + findings), {"components": components, "pairs": []})
    pairs, sent = [], {}
    for a, b in problem.ordered_pairs:
        figures, exchanges, sent[a, b] = _pair(problem, copartition, a, b)
        matrices = sent[a, b]
        pairs.append(figures)
        if coupling is not None:
            findings += compare_schedule(coupling, figures, exchanges, matrices)
    told = (claimed or {}).get("step")
    cost = constants(told.get("cost") if isinstance(told, Mapping) else None, problem.names)
    found: dict[str, Any] = {"components": components, "pairs": pairs,
                             **step(problem, copartition, touching, sent, cost)}
    if copartition.shared:
        more, found["pool_ub"] = _pool(problem, copartition, eps, each_alone)
        findings += more
    if coupling is not None:
        findings += compare_components(coupling, copartition, components, touching)
        findings += compare_pairs(coupling, problem.ordered_pairs)
    if claimed is not None:
        findings += compare_figures(claimed, found, whole)
    return Report(tuple(notes.list + findings), found)


def _alone(name: str, load: list[int], cells: int, eps: float) -> list[Finding]:
    """Whether one component is in balance over a shared pool by itself: no more processes than it has cells count."""
    notes, n = Notes(f"component {name}"), len(load)
    balance(notes, load, limits(sum(load), min(n, cells), eps)[:1] * n, "weight")
    return notes.list


def _pool(problem: CoupledProblem, copartition: CoPartition, eps: float | None, each_alone: bool,
          ) -> tuple[list[Finding], float]:
    """Rules and imbalance of a pool of processes that all components share."""
    notes = Notes("shared pool")
    n = copartition.nprocs
    each = [loads(graph, range(graph.nvtxs), copartition.parts[name].astype(np.int64), n)
            for name, graph in problem.components.items()]
    load = [sum(column) for column in zip(*each, strict=True)]
    owners = {k for part in copartition.parts.values() for k in part.tolist()}
    # components that are in balance by themselves may all be on the same processes
    if n <= (max if each_alone else sum)(graph.nvtxs for graph in problem.components.values()):
        for k in sorted(set(range(n)) - owners)[:1]:
            notes.add(f"process {k}", "owns a cell of some component", "no cell")
    if eps is not None and not each_alone:
        balance(notes, load, limits(sum(load), n, eps), "weight")
    return notes.list, imbalance(load, n)


def _coupled(name: str, problem: CoupledProblem, copartition: CoPartition, touching: NDArray[np.bool_],
             eps: float | None) -> tuple[list[Finding], dict[str, Any]]:
    """Rules and figures of the coupled subgraph of one component."""
    notes = Notes(f"coupled subgraph of {name}")
    part = copartition.parts[name].astype(np.int64)
    cells = np.flatnonzero(touching)
    owners = len(set(part[cells].tolist()))
    want = copartition.ncoupled[name]
    load = coupled_loads(name, problem, cells.tolist(), part, copartition.nparts[name])
    if want is not None:
        if owners > want or owners < min(want, len(cells)):
            notes.add("parts", f"exactly {want} parts own coupled cells", owners)
        if eps is not None and want > 0:
            balance(notes, load, limits(sum(load), want, eps)[:1] * len(load), "coupled weight")
    return notes.list, {"ncoupled": owners, "ncoupled_requested": want, "coupled_cells": len(cells),
                        "max_coupled": max(load), "ub_cpl": imbalance(load, owners if want is None else want),
                        "cut_cpl": edge_cut(problem.components[name], part, touching),
                        **halo_figures(problem.components[name], part, copartition.nparts[name])}


def _pair(problem: CoupledProblem, copartition: CoPartition, a: str,
          b: str) -> tuple[dict[str, Any], dict[tuple[int, int], Exchange], dict[str, dict[tuple[int, int], int]]]:
    """Figures, exchange lists and both coupling matrices of one pair, interedge by interedge."""
    inter = problem.pairs[a, b]
    pa, pb = copartition.parts[a].tolist(), copartition.parts[b].tolist()
    exchanges: dict[tuple[int, int], Exchange] = defaultdict(Exchange)
    for u, v, w in zip(*(x.tolist() for x in inter.pairs()), strict=True):
        x = exchanges[pa[u], pb[v]]
        x.a_cells.add(u)
        x.b_cells.add(v)
        x.interedges += 1
        x.weight += w
    sizes = {name: problem.components[name].sizes.tolist() for name in (a, b)}
    there, back = {}, {}
    sums: dict[str, dict[Any, float]] = {key: defaultdict(int) for key in ("volume", "messages", "weight")}
    for (p, q), x in exchanges.items():
        volume, home = sum(sizes[a][u] for u in x.a_cells), sum(sizes[b][v] for v in x.b_cells)
        if copartition.shared and p == q:
            # nothing is sent
            volume = home = 0
        if volume:
            there[p, q] = volume
        if home:
            back[q, p] = home
        for process in (("a", p), ("b", q)):
            sums["volume"][process] += volume
            sums["messages"][process] += volume > 0
            sums["weight"][process] += x.weight
    largest = {key: max(values.values(), default=0) for key, values in sums.items()}
    figures = {"a": a, "b": b, "interedges": sum(x.interedges for x in exchanges.values()),
               "totV_ab": sum(there.values()), "totV_ba": sum(back.values()),
               "totV_weight": float(sum(x.weight for x in exchanges.values())), "totZ": len(there),
               "maxV": largest["volume"], "maxZ": largest["messages"], "maxV_weight": float(largest["weight"])}
    return figures, dict(exchanges), {"matrix_ab": there, "matrix_ba": back}
