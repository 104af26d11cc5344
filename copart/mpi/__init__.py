"""What runs on MPI: the only importer of mpi4py.

The names below are loaded when they are first used: ranks that only exchange fields load no compiler.

=====================  ===========================================================================
`Exchange`, `Halo`     fields between the parts of two components, and between those of one
`partition`            a graph whose rows are spread over the ranks; `multijagged`: points
`reorder`, `new_rank`  ranks by what they send; `cart_create`: those of a grid of processes
`map_tasks`            ranks onto the nodes of a job, by their coordinates
=====================  ===========================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cartesian import cart_create as cart_create
    from .cutting import multijagged as multijagged
    from .exchange import Exchange as Exchange
    from .halo import Halo as Halo
    from .partitioning import partition as partition
    from .placing import map_tasks as map_tasks
    from .reordering import new_rank as new_rank
    from .reordering import reorder as reorder

# no module has the name of what it gives: once loaded, it would stand here in its place
_MODULE_OF = {"Exchange": "exchange", "Halo": "halo", "cart_create": "cartesian", "map_tasks": "placing",
              "multijagged": "cutting", "new_rank": "reordering", "partition": "partitioning", "reorder": "reordering"}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULE_OF:
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
