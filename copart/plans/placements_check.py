"""Are the placements in ``metrics.json`` those of the parts?  What they say of hosts and routes, as far as it shows.

The machine itself is not in the folder: distances, hops and the loads of links are not derived again.  What is: who
sends how much to whom in either phase, what of it leaves and reaches hosts, and that figures of routes fit these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Finding
from ..checks.claims import same
from ..coupling import CoPartition, CoupledProblem
from ..formats.launch import READERS
from ..mapping.coupled.processes import PHASES, Processes, process_graph

_FILE = "processors.txt"
_SUMS = ("messages", "volume", "total_hops", "weighted_hops", "internode_volume", "internode_messages",
         "unseen_messages")


def check_placements(folder: Path, summary: Mapping[str, Any], problem: CoupledProblem, made: CoPartition,
                     ) -> list[Finding]:
    """What is wrong with the placements of a plan.

    Parameters
    ----------
    folder : Path
        Of the plan.
    summary : mapping
        The content of its ``metrics.json``.
    problem : CoupledProblem
    made : CoPartition
    """
    listed, settings = summary.get("placements"), summary["settings"]
    if not isinstance(listed, list):
        return [Finding("metrics.json", "placements", f"say why there is launch/{_FILE}", "no placements")
                ] if (folder / "launch" / _FILE).exists() else []
    times = settings.get("iterations")
    if times is None or len(times) != len(problem.names):
        return [Finding("metrics.json", "settings.iterations", "has a number for each component", f"{times!r:.60}")]
    of = process_graph(problem, made, dict(zip(problem.names, times, strict=True)))
    out = []
    for i, one in enumerate(listed):
        at = f"placements[{i}]"
        try:
            out += [Finding("metrics.json", f"{at}.{what}", rule, found) for what, rule, found in _wrong(one, of)]
            if one["placement"] == settings.get("placement"):
                out += _other_processors(folder, at, one["processors"])
        except (KeyError, TypeError, ValueError, IndexError):
            out.append(Finding("metrics.json", at, "is a placement", f"{one!r:.60}"))
    if settings.get("placement") not in [one.get("placement") for one in listed if isinstance(one, dict)]:
        out.append(Finding("metrics.json", "placements", f"hold {settings.get('placement')}", "no such placement"))
    return out


def _other_processors(folder: Path, at: str, processors: Sequence[int]) -> list[Finding]:
    """The processors of the placement that the launch files are of."""
    path = folder / "launch" / _FILE
    if not path.exists():
        return [Finding(f"launch/{_FILE}", "file", "must be there", "no such file")]
    told = np.asarray(READERS[_FILE](path)).tolist()
    return [] if told == processors else [Finding(f"launch/{_FILE}", "processors", f"are those of {at}", "others")]


def _wrong(one: Mapping[str, Any], of: Processes) -> list[tuple[str, str, str]]:
    """(what, rule, found) of everything in one placement that cannot be."""
    processors, hosts = one["processors"], one["hosts"]
    out = []
    if len(processors) != of.nprocs or len(set(processors)) != of.nprocs:
        out.append(("processors", f"are {of.nprocs} different ones", f"{len(set(processors))} of {len(processors)}"))
        return out
    node = np.unique(processors if hosts is None else hosts, return_inverse=True)[1]
    nodes = int(node.max()) + 1
    received: dict[str, Any] = {}
    for phase in PHASES:
        m = of.traffic[phase].tocoo()
        leaves = node[m.row] != node[m.col]
        sender, receiver, data = node[m.row[leaves]], node[m.col[leaves]], m.data[leaves]
        received[phase] = np.array([np.bincount(receiver, weights, nodes) for weights in (data, None)])
        busy = np.bincount(sender, data, nodes) + received[phase][0]
        told = one["phases"][phase]
        true = {"volume": int(m.data.sum()), "messages": int(m.nnz), "inter_node_volume": int(m.data[leaves].sum()),
                "inter_node_messages": int(leaves.sum()), "max_node_volume": int(busy.max())}
        out += [(f"phases.{phase}.{key}", f"is {value}", f"{told[key]!r:.40}") for key, value in true.items()
                if not same(told[key], value)]
        far = told["by_distance"]
        if sum(v for _, v in far) != true["volume"] or not np.isclose(sum(d * v for d, v in far), told["hops"]):
            out.append((f"phases.{phase}.by_distance", "adds up to the volume and to hops", f"{far!r:.60}"))
    received["both"] = sum(received[phase] for phase in PHASES)
    return out + (_wrong_routes(one, received) if "routes" in one else [])


def _wrong_routes(one: Mapping[str, Any], received: Mapping[str, NDArray[Any]]) -> list[tuple[str, str, str]]:
    """Figures of routes that do not fit those of the phases, what hosts receive (data, messages), or one another."""
    out, routes = [], one["routes"]
    for phase in PHASES:
        told, r = one["phases"][phase], routes[phase]
        pairs = {"volume": "volume", "messages": "messages", "internode_volume": "inter_node_volume",
                 "internode_messages": "inter_node_messages"}
        out += [(f"routes.{phase}.{key}", f"is {told[other]}", f"{r[key]!r:.40}") for key, other in pairs.items()
                if r[key] != told[other]]
    for key in _SUMS:
        total = sum(routes[phase][key] for phase in PHASES)
        if not np.isclose(routes["both"][key], total):
            out.append((f"routes.both.{key}", f"is the sum over the phases, {total}", f"{routes['both'][key]!r:.40}"))
    for kind, r in routes.items():
        hops = r["average_message_congestion"] * max(r["used_links"], 1)
        most = zip(("max_received_volume", "max_received_messages"), received[kind].max(axis=1).tolist(), strict=True)
        out += [(f"routes.{kind}.{key}", f"is {value:.0f}", f"{r[key]!r:.40}") for key, value in most
                if not same(r[key], int(value))]
        if not np.isclose(hops, r["total_hops"]) or r["used_links"] > r["total_hops"] or \
                r["max_message_congestion"] > r["total_hops"] or \
                r["average_congestion"] > r["max_congestion"] * (1 + 1e-9):
            out.append((f"routes.{kind}", "has congestion that fits its hops", f"{r!r:.60}"))
    return out


__all__ = ["check_placements"]
