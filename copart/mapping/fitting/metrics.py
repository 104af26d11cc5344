"""Metrics of mappings by the names that they have in tables of times, and what makes each of them low."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..machine import Machine
from ..tasks import as_tasks
from ..topology import evaluate_tasks

#: Metrics by their abbreviations, and what they are called in `CongestionFigures`; the last two are those of a task.
METRICS = {"TH": "total_hops", "WH": "weighted_hops", "MMC": "max_message_congestion", "MC": "max_congestion",
           "AMC": "average_message_congestion", "AC": "average_congestion", "ICM": "internode_messages",
           "ICV": "internode_volume", "MNRM": "max_received_messages", "MNRV": "max_received_volume",
           "TM": "messages", "TV": "volume", "MSM": "max_sent_messages", "MSV": "max_sent_volume"}

#: Those that count messages, whatever their size; the others count data.
OF_MESSAGES = frozenset({"TH", "MMC", "AMC", "ICM", "MNRM", "TM", "MSM"})
_LATENCY, _BANDWIDTH, _VOLUME = (f"copart map --method auto --bound {bound}" for bound in ("latency", "bandwidth",
                                                                                           "volume"))
#: What makes a metric low.
ADVICE = {"TH": _LATENCY, "AMC": _LATENCY, "ICM": _LATENCY, "MNRM": _LATENCY, "MMC": "copart map --method ummc",
          "MC": _BANDWIDTH, "AC": _BANDWIDTH, "WH": _VOLUME, "ICV": _VOLUME, "MNRV": _VOLUME,
          **{metric: f"no mapping changes it, but another partition does: copart part --objective {objective}"
             for metric, objective in (("TM", "messages"), ("TV", "volume"), ("MSM", "max-messages"),
                                       ("MSV", "max-volume"))}}


def metrics_of(tasks: Any, machine: Machine, mapping: ArrayLike) -> dict[str, float]:
    """Metrics of a mapping by their abbreviations, those of :data:`METRICS`.

    Parameters
    ----------
    tasks : TaskGraph or graph-like
    machine : Machine
        With static routes.
    mapping : (ntasks,) array_like of int
        Processor of each task.

    Raises
    ------
    NotApplicableError
        The machine has no static routes.
    MappingError
        The mapping names a processor that is not there.
    """
    graph = as_tasks(tasks)
    found = evaluate_tasks(graph, machine, mapping).to_dict()
    sent = np.bincount(graph.source, graph.volume, graph.ntasks)
    found["max_sent_messages"] = np.bincount(graph.source, minlength=graph.ntasks).max(initial=0)
    found["max_sent_volume"] = sent.max(initial=0)
    return {short: float(found[name]) for short, name in METRICS.items()}


__all__ = ["ADVICE", "METRICS", "OF_MESSAGES", "metrics_of"]
