"""Machines, and how processes are placed on them.

The names below are loaded when they are first used.

==================  ====================================================================================
`map_graph`         a graph onto a machine, several vertices per processor: small sum of weight times distance
`place_processes`   processes onto processors, one to one
`map_tasks`         processes onto the scattered nodes of a job, by hops, congestion or coordinates
`TaskGraph`         which processes send messages to which; `evaluate_tasks`: hops and congestion of a mapping
`evaluate_mapping`  what a mapping is worth; `dilation_cost`: its objective alone
==================  ====================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .evaluation import MappingFigures as MappingFigures
    from .evaluation import dilation_cost as dilation_cost
    from .evaluation import evaluate_mapping as evaluate_mapping
    from .mapper import map_graph as map_graph
    from .one_to_one import place_processes as place_processes
    from .tasks import TaskGraph as TaskGraph
    from .topology import evaluate_tasks as evaluate_tasks
    from .topology import map_tasks as map_tasks

_MODULE_OF = {"MappingFigures": "evaluation", "dilation_cost": "evaluation", "evaluate_mapping": "evaluation",
              "map_graph": "mapper", "place_processes": "one_to_one", "TaskGraph": "tasks",
              "evaluate_tasks": "topology", "map_tasks": "topology"}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULE_OF:
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
