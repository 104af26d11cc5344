"""Positions in a Cartesian grid for processes on compute nodes, so that neighbours share a node.

A stencil says with whom every process of a grid exchanges data; :func:`reorder_grid` gives every process a position so
that little of it leaves the compute nodes.

=====================  =========================================================================
a grid of processes    `Grid`, `dims_create`, `factorize`
who talks to whom      `stencil`, `as_stencil`, `Stencil`
before reordering      `node_sizes`, `blocked`, `round_robin`, `random`, `block_cyclic`, `slots`
the algorithms         `reorder_grid` by name; `Nodecart`, `Hyperplane`, `central_greedy`,
                       `distributed_greedy`
figures                `internode`, `improvement`, `mean_improvement`
=====================  =========================================================================
"""

from .criteria import CutWeight, cosines, cosines_by_length
from .dims import dims_create, prime_factors
from .factorization import Factorization, factorize
from .greedy import central_greedy, check_up, distributed_greedy, greedy_fill, greedy_seeds
from .grid import Grid
from .hyperplane import Hyperplane, Split
from .measures import InterNode, Mean, expected_random_total, improvement, internode, mean_improvement
from .methods import METHODS, Cart, RankLocal, Reordering, rank_local, reorder_grid
from .nodecart import Nodecart
from .placements import BASES, block_cyclic, blocked, node_sizes, random, round_robin, slots
from .stencils import STENCILS, Stencil, as_stencil, stencil

__all__ = [
    "BASES", "METHODS", "STENCILS", "Cart", "CutWeight", "Factorization", "Grid", "Hyperplane", "InterNode",
    "Mean", "Nodecart", "RankLocal", "Reordering", "Split", "Stencil", "as_stencil", "block_cyclic",
    "blocked", "central_greedy", "check_up", "cosines", "cosines_by_length", "dims_create", "distributed_greedy",
    "expected_random_total", "factorize", "greedy_fill", "greedy_seeds", "improvement", "internode",
    "mean_improvement", "node_sizes", "prime_factors", "random", "rank_local",
    "reorder_grid", "round_robin", "slots", "stencil",
]
