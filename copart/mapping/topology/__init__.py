"""Tasks onto the allocation that a job really gets: by the task graph, or by coordinates.

===========  =======================================================================================================
`choosing`   one call for all methods (`map_tasks`), what "auto" tries, and the figures of a mapping (`evaluate_tasks`)
`methods`    all methods by name
`grouping`   groups of tasks, one per node, of exactly the sizes of the nodes
`greedy`     groups onto nodes: U_G, U_WH, U_MC, U_MMC
`geometric`  tasks and nodes partitioned alike by coordinates; shift, rotations, reflections
`annealing`  then nodes exchange what they hold where that saves hops
===========  =======================================================================================================

Source: M. Deveci, Load-Balancing and Task Mapping for Exascale Systems, Ohio State 2015, chapters 2.3, 6 and 7.
"""

from .choosing import BOUNDS, evaluate_tasks, loads_of_links, map_tasks
from .geometric import blocks
from .methods import METHODS

__all__ = ["BOUNDS", "METHODS", "blocks", "evaluate_tasks", "loads_of_links", "map_tasks"]
