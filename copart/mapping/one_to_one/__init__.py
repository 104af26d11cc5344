"""Placing processes on processors one to one: as many slots as processes, or more.

==============  ==========================================================================================
the objective   `objective`, `dense_objective`, `symmetrised`
one call        `place_processes`; `METHODS` names what it knows
constructions   `multisection` (top-down and bottom-up, VieM), `hatazaki`, `traeff`, `treematch`, `greedy`,
                `mueller_merbach`
local search    `heider`, `exchange` (N^2, N_p, N_d of VieM)
==============  ==========================================================================================

Sources: C. Schulz & J. L. Traeff, "Better Process Mapping and Sparse Quadratic Assignment" (2017); and those named with
each method.
"""

from ..host_tree import HostTree, host_tree
from .constructions import greedy, mueller_merbach, treematch
from .objective import Placement, as_processes, dense_objective, objective, symmetrised
from .placing import METHODS, place_processes
from .search import exchange, heider, swap_gain
from .sections import bottom_up, hatazaki, multisection, traeff

__all__ = ["METHODS", "HostTree", "Placement", "as_processes", "bottom_up", "dense_objective", "exchange", "greedy",
           "hatazaki", "heider", "host_tree", "mueller_merbach", "multisection", "objective", "place_processes",
           "swap_gain", "symmetrised", "traeff", "treematch"]
