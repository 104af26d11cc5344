"""One graph, and one partition of it."""

from __future__ import annotations

from collections import defaultdict
from decimal import ROUND_FLOOR, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import plain, reals, tolerance, whole
from ..errors import ConfigError
from .report import Finding, Notes, Report, first_of


def check_graph(graph: Any, name: str = "graph") -> Report:
    """Check that CSR arrays are an undirected graph: symmetric, no loops, no repeats, weights >= 0.

    Parameters
    ----------
    graph : object
        Anything with ``xadj``, ``adjncy`` and optionally ``ewgt``, ``vwgt``, ``vsize``.
    name : str
        What to call it in findings.
    """
    notes = Notes(name)
    xadj, adjncy = np.asarray(graph.xadj), np.asarray(graph.adjncy)
    if len(xadj) == 0 or xadj[0] != 0 or xadj[-1] != len(adjncy) or any(np.diff(xadj) < 0):
        notes.add("xadj", f"must start with 0, not decrease and end with {len(adjncy)}", xadj[:4].tolist())
        return Report(tuple(notes.list))
    n = len(xadj) - 1
    ewgt = getattr(graph, "ewgt", None)
    load = np.ones(len(adjncy), np.int64) if ewgt is None else np.asarray(ewgt)
    if len(load) != len(adjncy):
        notes.add("ewgt", f"needs {len(adjncy)} entries", len(load))
        return Report(tuple(notes.list))
    for key in ("vwgt", "vsize"):
        values = getattr(graph, key, None)
        if values is not None and len(values) != n:
            notes.add(key, f"needs {n} entries", len(values))
        elif values is not None:
            lowest = np.asarray(values).reshape(n, -1).min(axis=1, initial=0) if n else np.zeros(0)
            first_of(notes, [(f"{key} of vertex {v}", "must not be negative", w)
                             for v, w in enumerate(lowest.tolist()) if w < 0])
    if _looks_sound(xadj, adjncy, load):
        return Report(tuple(notes.list), {"nvtxs": n, "nedges": len(adjncy) // 2})
    # something is wrong: walk edge by edge to say what and where
    weight: dict[tuple[int, int], int] = {}
    given = load.tolist()
    wrong: dict[str, list[tuple[str, str, Any]]] = defaultdict(list)
    offsets = xadj.tolist()
    for v in range(n):
        for e, u in enumerate(adjncy[offsets[v]:offsets[v + 1]].tolist(), start=offsets[v]):
            if not 0 <= u < n:
                wrong["range"].append((f"vertex {v}", f"neighbours are 0..{n - 1}", u))
            elif u == v:
                wrong["loop"].append((f"vertex {v}", "has no edge to itself", u))
            elif (v, u) in weight:
                wrong["twice"].append((f"vertex {v}", "lists a neighbour once", u))
            if given[e] < 0:
                wrong["weight"].append((f"edge {v}-{u}", "weight must not be negative", given[e]))
            weight[v, u] = given[e]
    for (v, u), w in weight.items():
        back = weight.get((u, v))
        if back is None:
            wrong["way"].append((f"edge {v}-{u}", "is listed by both ends", f"it is missing at vertex {u}"))
        elif back != w and v < u:
            wrong["unequal"].append((f"edge {v}-{u}", "weighs the same both ways", f"{w} and {back}"))
    for entries in wrong.values():
        first_of(notes, entries)
    return Report(tuple(notes.list), {"nvtxs": n, "nedges": len(weight) // 2})


def _looks_sound(xadj: NDArray[Any], adjncy: NDArray[Any], load: NDArray[Any]) -> bool:
    """The list of edges (v, u, weight), sorted, equals the list of (u, v, weight), sorted."""
    n = len(xadj) - 1
    if len(adjncy) == 0:
        return True
    if adjncy.min() < 0 or adjncy.max() >= n or load.min() < 0:
        return False
    tail = np.repeat(np.arange(n), np.diff(xadj))
    there, back = np.lexsort((adjncy, tail)), np.lexsort((tail, adjncy))
    u, v = tail[there], adjncy[there]
    repeats = (u[1:] == u[:-1]) & (v[1:] == v[:-1])
    mirrored = (u == adjncy[back]).all() and (v == tail[back]).all() and (load[there] == load[back]).all()
    return bool(mirrored) and not repeats.any() and not (u == v).any()


def check_partition(graph: Any, part: ArrayLike, nparts: int, eps: float | None = None, fixed: ArrayLike | None = None,
                    tpwgts: ArrayLike | None = None, name: str = "partition", may_be_empty: bool = False) -> Report:
    """Check a partition of one graph.

    Parameters
    ----------
    graph : Graph
    part : (nvtxs,) array_like
        Taken as it is; nothing about it is presumed.
    nparts : int
    eps : float, optional
        Imbalance tolerance; without it balance is only reported.
    fixed : (nvtxs,) array_like of int, optional
        Part of each fixed vertex, -1 elsewhere.
    tpwgts : (nparts,) array_like of float, optional
        Share of the weight wanted in each part.
    name : str
        What to call it in findings.
    may_be_empty : bool
        Whether parts without a vertex are in order.

    Returns
    -------
    Report
        Figures: ``ub``, ``cut``, ``weights``, ``empty``, ``boundary``, ``pieces``, ``max_pieces``; with several
        weights per vertex, each is judged, ``ub`` is the largest and ``ub_by_constraint`` lists them.

    Raises
    ------
    ConfigError
        `eps` or `tpwgts` is nothing that can be judged by.
    """
    if eps is not None:
        eps = tolerance("eps", eps)
    if tpwgts is not None:
        tpwgts = checked_shares(tpwgts, nparts)
    notes, nparts = Notes(name), whole("nparts", nparts)
    p = _usable(notes, part, graph.nvtxs, nparts)
    if p is None:
        return Report(tuple(notes.list))
    if fixed is not None:
        want = plain("fixed", fixed, ConfigError)
        if want.shape != p.shape:
            notes.add("fixed", f"needs {len(p)} entries", f"shape {want.shape}")
        else:
            first_of(notes, [(f"vertex {v}", f"is fixed to part {f}", p[v])
                             for v, f in enumerate(want.tolist()) if f != -1 and f != p[v]])
    each = constraint_loads(graph, p, nparts)
    members = np.bincount(p, minlength=nparts)
    empty = [k for k in range(nparts) if members[k] == 0]
    if nparts <= graph.nvtxs and not may_be_empty:
        rule = "no part is empty where there are at least as many vertices as parts"
        first_of(notes, [(f"part {k}", rule, "no vertex") for k in empty])
    if eps is not None:
        for c, load in enumerate(each):
            word = "weight" if len(each) == 1 else f"weight of constraint {c}"
            balance(notes, load, limits(sum(load), nparts, eps, tpwgts), word)
    count = _pieces(graph, p, nparts)
    ubs = [imbalance(load, nparts, tpwgts) for load in each]
    figures: dict[str, Any] = {
        "ub": max(ubs), "cut": edge_cut(graph, p), "weights": each[0] if len(each) == 1 else each,
        "empty": len(empty), "boundary": _boundary(graph, p), "pieces": sum(count), "max_pieces": max(count),
    }
    if len(each) > 1:
        figures["ub_by_constraint"] = ubs
    return Report(tuple(notes.list), figures)


def checked_shares(tpwgts: ArrayLike, nparts: int) -> NDArray[np.float64]:
    """The shares of the parts, as far as parts can be judged by them.

    Raises
    ------
    ConfigError
        Their number is not `nparts`, or one is not positive and finite.
    """
    share = reals("tpwgts", tpwgts, ConfigError)
    if share.shape != (nparts,):
        raise ConfigError(f"tpwgts: needs {nparts} shares, one per part, has {share.size}")
    bad = ~(np.isfinite(share) & (share > 0))
    if bad.any():
        k = int(np.argmax(bad))
        raise ConfigError(f"tpwgts: every share must be positive and finite, that of part {k} is {share[k]:g}")
    # only very large ones are scaled, so that their sum is a number
    return share / share.max() if share.max() > 1e300 else share


def _usable(notes: Notes, part: ArrayLike, nvtxs: int, nparts: int) -> NDArray[np.int64] | None:
    """The part array as int64, None (and findings) where it is none."""
    try:
        p = plain("parts", part, ConfigError)
    except ConfigError as error:  # masked, or no array
        notes.add("array", "part numbers are an array", error)
        return None
    if p.shape != (nvtxs,):
        notes.add("length", f"needs one part number for each of {nvtxs} vertices", f"shape {p.shape}")
    elif len(p) and p.dtype.kind not in "iu":
        notes.add("type", "part numbers are whole", p.dtype)
    elif nparts < 1:
        notes.add("nparts", "needs at least one part", nparts)
    else:
        outside = [(f"vertex {v}", f"parts are 0..{nparts - 1}", k)
                   for v, k in enumerate(p.tolist()) if not 0 <= k < nparts]
        first_of(notes, outside)
        if not outside:
            return p.astype(np.int64)
    return None


def constraint_loads(graph: Any, part: NDArray[np.int64], nparts: int) -> list[list[int]]:
    """Weights of the parts, one list a constraint."""
    if graph.vwgt is None or np.ndim(graph.vwgt) == 1:
        return [loads(graph, range(len(part)), part, nparts)]
    each = []
    for column in np.asarray(graph.vwgt).T.tolist():
        load = [0] * nparts
        for k, w in zip(part.tolist(), column, strict=True):
            load[k] += w
        each.append(load)
    return each


def loads(graph: Any, vertices: Any, part: NDArray[np.int64], nparts: int) -> list[int]:
    load = [0] * nparts
    weight = None if graph.vwgt is None else graph.vwgt.tolist()
    where = part.tolist()
    for v in vertices:
        load[where[v]] += 1 if weight is None else weight[v]
    return load


def limits(total: int, nparts: int, eps: float, tpwgts: ArrayLike | None = None) -> list[int]:
    """Largest weight of each part, in decimal arithmetic: floor((1 + eps) * ceil(share of the total))."""
    with localcontext() as context:
        context.prec = 60
        slack = 1 + Decimal(repr(float(eps)))
        if tpwgts is None:
            goals = [(total + nparts - 1) // nparts] * nparts
        else:
            share = np.asarray(tpwgts, np.float64)
            exact = [total * float(t) / float(share.sum()) for t in share]
            # the nearest whole number where the product misses it by rounding only
            goals = [round(x) if abs(x - round(x)) <= 1e-12 * max(x, 1.0) else int(np.ceil(x)) for x in exact]
        return [int((slack * goal).to_integral_value(ROUND_FLOOR)) for goal in goals]


def balance(notes: Notes, load: list[int], limit: list[int], word: str) -> None:
    first_of(notes, [(f"part {k}", f"{word} at most {limit[k]}", w) for k, w in enumerate(load) if w > limit[k]])


def imbalance(load: list[int], over: int, tpwgts: ArrayLike | None = None) -> float:
    total = sum(load)
    if total == 0 or over == 0:
        return 0.0
    if tpwgts is None:
        return (max(load) * over - total) / total
    share = np.asarray(tpwgts, np.float64)
    return max(w / (total * float(t) / float(share.sum())) for w, t in zip(load, share, strict=True)) - 1.0


def _arcs(graph: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Tail, head and weight of every stored direction of the edges."""
    tail = np.repeat(np.arange(graph.nvtxs, dtype=np.int64), np.diff(graph.xadj))
    head = np.asarray(graph.adjncy, np.int64)
    return tail, head, np.ones(len(head), np.int64) if graph.ewgt is None else np.asarray(graph.ewgt, np.int64)


def edge_cut(graph: Any, part: NDArray[np.int64], inside: NDArray[np.bool_] | None = None) -> int:
    """Edge cut, of the edges with both ends in `inside` where that is given."""
    tail, head, weight = _arcs(graph)
    cut = (tail < head) & (part[tail] != part[head])
    if inside is not None:
        cut &= inside[tail] & inside[head]
    return int(weight[cut].sum())


def _boundary(graph: Any, part: NDArray[np.int64]) -> int:
    tail, head, _ = _arcs(graph)
    return len(set(tail[part[tail] != part[head]].tolist()))


def _pieces(graph: Any, part: NDArray[np.int64], nparts: int) -> list[int]:
    """Connected pieces of every part."""
    pairs = set(zip(_labels(graph, part).tolist(), part.tolist(), strict=True))
    count = [0] * nparts
    for _, k in pairs:
        count[k] += 1
    return count


def _labels(graph: Any, part: NDArray[np.int64]) -> NDArray[np.int64]:
    """The connected piece of every vertex: components of the graph without the cut edges."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tail, head, _ = _arcs(graph)
    same = part[tail] == part[head]
    inner = coo_array((np.ones(int(same.sum())), (tail[same], head[same])), shape=(graph.nvtxs,) * 2)
    return connected_components(inner, directed=False)[1] if graph.nvtxs else np.zeros(0, np.int64)


def check_connected(graph: Any, part: ArrayLike, nparts: int, name: str = "graph") -> list[Finding]:
    """Whether every part is connected in each connected piece of the graph that it has vertices of.

    Parameters
    ----------
    graph : Graph
        CSR graph of n vertices.
    part : (nvtxs,) array_like of int
        From 0 to nparts - 1.
    nparts : int
    name : str
        For the findings.

    Returns
    -------
    list of Finding
        Of the first part that is not; or what makes `part` no partition.
    """
    notes, nparts = Notes(f"parts of {name}"), whole("nparts", nparts)
    p = _usable(notes, part, graph.nvtxs, nparts)
    if p is None:
        return notes.list
    bodies = set(zip(_labels(graph, np.zeros_like(p)).tolist(), p.tolist(), strict=True))
    fewest = [0] * nparts
    for _, k in bodies:
        fewest[k] += 1
    apart = [k for k, (found, few) in enumerate(zip(_pieces(graph, p, nparts), fewest, strict=True)) if found > few]
    if not apart:
        return []
    rest = f", and {len(apart) - 1} more" if len(apart) > 1 else ""
    return [Finding("contiguous", f"parts of {name}", "are connected as far as the mesh is",
                    f"part {apart[0]} is not{rest}")]
