"""The algorithms under their names, and the best of the quick ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, integers, whole
from ...errors import MappingError
from ...names import GridMethod, GridObjective, known_name
from .greedy import central_greedy, distributed_greedy
from .grid import Grid
from .hyperplane import Hyperplane
from .measures import InterNode, internode
from .nodecart import Nodecart
from .placements import blocked, equal_size, node_sizes, slots
from .stencils import Stencil

#: What the best candidate is chosen by.
OBJECTIVES: tuple[GridObjective, ...] = get_args(GridObjective)


#: What ``best`` chose where no candidate is better than the ranks as they are.
UNCHANGED = "unchanged"


class RankLocal(Protocol):
    """A rule by which every process finds its own position, without memory for the others and without messages."""

    def vertex(self, slot: int) -> int:
        """Vertex of the process in a slot."""

    def slot(self, vertex: int) -> int:
        """Slot of the process at a vertex."""

    def order(self) -> NDArray[np.int32]:
        """(size,) int32 vertex of every slot."""


class Cart:
    """Positions in the order of the slots: what ``MPI_Cart_create`` does, with and without its flag `reorder`."""

    def __init__(self, grid: Grid):
        self.grid = grid

    def vertex(self, slot: int) -> int:
        """Vertex of the process in `slot`."""
        return whole("slot", slot, low=0, high=self.grid.size - 1)

    def slot(self, vertex: int) -> int:
        """Slot of the process at `vertex`."""
        return whole("vertex", vertex, low=0, high=self.grid.size - 1)

    def order(self) -> NDArray[np.int32]:
        """(size,) int32 vertex of every slot."""
        return np.arange(self.grid.size, dtype=VERTEX)


def box_sizes(total: int, sizes: Collection[int]) -> tuple[int, ...]:
    """Sizes of boxes that the hyperplane algorithm can cut a grid into for nodes of these sizes, the usual one first.

    Where all nodes are equal, theirs.  Else the boxes are laid out one after the other and dealt to the nodes in
    order, so that some lie on two: boxes as small as the smallest node or as large as the largest, where these divide
    the grid, and of the greatest common divisor of the sizes, which always does.
    """
    return tuple(dict.fromkeys(s for s in (min(sizes), max(sizes), math.gcd(*sizes)) if total % s == 0))


def rank_local(grid: Grid, stencil: Stencil, sizes: Collection[int]) -> dict[str, Callable[[], RankLocal]]:
    """The rank-local algorithms that these nodes allow, by name.

    Parameters
    ----------
    grid : Grid
    stencil : Stencil
    sizes : collection of int
        Sizes of nodes that occur.

    Returns
    -------
    dict of str to callable
        Makes the rule.  Names are ``cart``, ``nodecart`` (equal nodes only), ``hyperplane`` and ``hyperplane-cut``; for
        unequal nodes the last two also with the other sizes of boxes: ``hyperplane/4``.
    """
    rules: dict[str, Callable[[], RankLocal]] = {"cart": partial(Cart, grid)}
    if len(set(sizes)) == 1:
        rules["nodecart"] = partial(Nodecart, grid, min(sizes))
    for i, box in enumerate(box_sizes(grid.size, sizes)):
        ending = f"/{box}" if i else ""
        rules[f"hyperplane{ending}"] = partial(Hyperplane, grid, stencil, box)
        rules[f"hyperplane-cut{ending}"] = partial(Hyperplane, grid, stencil, box, "cut")
    return rules


def _rule_order(name: str, grid: Grid, stencil: Stencil, sizes: Sequence[int]) -> NDArray[np.int32]:
    if name == "nodecart":
        equal_size(sizes, "nodecart")
    return rank_local(grid, stencil, sizes)[name]().order()


#: Orders by name: (grid, stencil, node sizes) -> (size,) int32 vertex of every slot.
METHODS: dict[GridMethod, Callable[[Grid, Stencil, Sequence[int]], NDArray[np.int32]]] = {
    "cart": partial(_rule_order, "cart"),
    "cart-reorder": partial(_rule_order, "cart"),
    "nodecart": partial(_rule_order, "nodecart"),
    "central-greedy": central_greedy,
    "central-greedy-once": partial(central_greedy, counting="once"),
    "distributed-greedy": distributed_greedy,
    "hyperplane": partial(_rule_order, "hyperplane"),
    "hyperplane-cut": partial(_rule_order, "hyperplane-cut"),
}


@dataclass(frozen=True, eq=False)
class Reordering:
    """Who takes which position of a grid.

    Attributes
    ----------
    method : str
        The algorithm; the one that was chosen where the best was asked for.
    new_rank : (size,) int32
        Vertex that each old rank takes, its rank in the Cartesian communicator.
    node_of_vertex : (size,) int32
        Compute node of the process at each vertex.
    cost : InterNode
        What leaves the nodes in one exchange.
    """

    method: str
    new_rank: NDArray[np.int32]
    node_of_vertex: NDArray[np.int32]
    cost: InterNode

    @property
    def old_rank(self) -> NDArray[np.int32]:
        """(size,) int32 old rank of the process at each vertex: the inverse of `new_rank`."""
        out = np.empty_like(self.new_rank)
        out[self.new_rank] = np.arange(len(out), dtype=VERTEX)
        return out


def reorder_grid(grid: Grid, stencil: Stencil, nodes: int | Sequence[int], method: GridMethod = "best", *,
                 node_of_rank: ArrayLike | None = None, objective: GridObjective = "total") -> Reordering:
    """Give every process a position in the grid so that little is sent between compute nodes.

    Parameters
    ----------
    grid : Grid
    stencil : Stencil
    nodes : int or sequence of int
        Number of compute nodes that share the processes equally, or the processes of each.
    method : str
        One of :data:`METHODS`; or ``best``, the best of those that every rank can compute for itself (see
        :func:`rank_local`), which is never worse than ``cart``, and with `node_of_rank` than the
        ranks as they are (``unchanged``).
    node_of_rank : (size,) array_like of int, optional
        Compute node of each old rank where they do not lie node after node; must agree with `nodes`.
    objective : {"total", "max"}
        What ``best`` chooses by, the other one second: data between all nodes, or from the busiest node.

    Returns
    -------
    Reordering

    Raises
    ------
    MappingError
        Nodes and grid do not fit, or the algorithm needs nodes of one size.

    Examples
    --------
    >>> from copart.mapping.cartesian import stencil
    >>> made = reorder_grid(Grid((4, 4)), stencil("five-point", 2), nodes=4)
    >>> made.method, made.cost.total, made.cost.max
    ('nodecart', 16, 4)
    """
    grid.check(stencil)
    sizes = node_sizes(grid.size, nodes)
    old = None if node_of_rank is None else _checked(node_of_rank, sizes)
    known_name("objective", objective, OBJECTIVES)
    known_name("method", method, ("best", *METHODS))
    if method == "best":
        rules = rank_local(grid, stencil, sizes)
        costs = {name: _cost(grid, stencil, sizes, rule().order()) for name, rule in rules.items()}
        chosen = min(costs, key=lambda name: key(costs[name], objective))
        order = rules[chosen]().order()
        if old is not None:
            # these rules count slots node after node, in which the ranks as they are need not be
            kept = internode(grid, stencil, old, len(sizes))
            if key(kept, objective) < key(costs[chosen], objective):
                chosen, order = UNCHANGED, slots(old).argsort().astype(VERTEX)
    else:
        chosen = method
        order = METHODS[chosen](grid, stencil, sizes)
    new_rank = order if old is None else order[slots(old)]
    node = np.empty(grid.size, VERTEX)
    node[order] = blocked(sizes)
    return Reordering(chosen, new_rank, node, internode(grid, stencil, node, len(sizes)))


def key(cost: InterNode | tuple[int, int], objective: GridObjective) -> tuple[int, int]:
    """What candidates are compared by; of equal ones the first wins, and ``cart`` comes first."""
    total, most = cost[:2]
    return (total, most) if objective == "total" else (most, total)


def _cost(grid: Grid, stencil: Stencil, sizes: Sequence[int], order: NDArray[np.int32]) -> InterNode:
    node = np.empty(grid.size, VERTEX)
    node[order] = blocked(sizes)
    return internode(grid, stencil, node, len(sizes))


def _checked(node_of_rank: ArrayLike, sizes: Sequence[int]) -> NDArray[np.int32]:
    node = integers("node_of_rank", node_of_rank, VERTEX, MappingError, low=0, high=len(sizes), size=sum(sizes))
    held = np.bincount(node, minlength=len(sizes))
    wrong = np.flatnonzero(held != np.array(sizes))
    if len(wrong):
        raise MappingError(f"node_of_rank: {held[wrong[0]]} ranks on node {wrong[0]}, which has "
                           f"{sizes[wrong[0]]} processes")
    return node


__all__ = ["METHODS", "OBJECTIVES", "Cart", "RankLocal", "Reordering", "box_sizes", "key", "rank_local", "reorder_grid"]
