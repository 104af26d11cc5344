"""Allocations as schedulers hand them out: nodes along a space-filling curve, wherever some are free.

A scheduler numbers the nodes of a machine along a curve, so that neighbours in that order are near one another, and
gives a job the first ones that are free.  On a machine in use these are scattered.  `scattered` makes such allocations:
the busy nodes are runs along the curve, of other jobs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..arrays import fraction, whole
from ..errors import MappingError
from ..names import known_name
from .congestion.networks import Network, TorusNetwork
from .machine import Machine, attached

CURVES = ("hilbert", "snake")


def scattered(network: Network, nhosts: int, *, fill: float = 0.5, run: float = 16.0, nodes_per_point: int = 1,
              slots: int = 1, curve: str = "hilbert", seed: int = 1) -> Machine:
    """A job's nodes on a machine that other jobs fill in part.

    Parameters
    ----------
    network : Network
    nhosts : int
        Nodes of the job.
    fill : float
        Share of the machine's nodes that is busy, 0 to 1.
    run : float
        Mean number of nodes of a busy run along the curve, at least 1; lengths are geometric.
    nodes_per_point : int
        Nodes of a router, as 2 on Cray's Gemini.
    slots : int
        Processes that a node takes.
    curve : {"hilbert", "snake"}
        Of tori and meshes; points of other networks are numbered in a useful order already.
    seed : int
        Same seed, same allocation.

    Returns
    -------
    Machine
        Hosts ``n0``, ``n17``, ... in the order of the curve, by their number in it; ranks in order of the slots are
        where launchers put them by default.

    Raises
    ------
    MappingError
        Fewer nodes are free.

    Examples
    --------
    >>> from copart.mapping.congestion import TorusNetwork
    >>> job = scattered(TorusNetwork([8, 8, 8]), 32, nodes_per_point=2, slots=16)
    >>> job.nprocs, len(job.hosts)
    (512, 32)
    """
    busy, mean = fraction("fill", fill, high=1.0), fraction("run", run, low=1.0)
    several = whole("nodes_per_point", nodes_per_point, low=1)
    seed, nhosts = whole("seed", seed, low=0, high=2**31 - 1), whole("nhosts", nhosts, low=1)
    total = network.npoints * several
    taken = round(busy * total)
    if nhosts > total - taken:
        raise MappingError(f"nhosts: {nhosts} nodes are asked for, {total - taken} of {total} are free; lower fill or "
                           f"take a larger network")
    free = np.flatnonzero(~_busy(total, taken, mean, np.random.default_rng(seed)))[:nhosts]
    point = np.repeat(curve_order(network, curve), several)[free]
    return attached(network, point, slots, [f"n{i}" for i in free])


def sparsity(machine: Machine) -> float:
    """1 less the share of a job's own nodes among those between its first and last in the scheduler's order.

    Of machines whose hosts are named by their number in that order (``n17``, ``nid00017``), as those of
    :func:`scattered`.

    Parameters
    ----------
    machine : Machine

    Raises
    ------
    MappingError
        There are no hosts, or the name of one ends with no number.

    Examples
    --------
    >>> from copart.mapping.congestion import TorusNetwork
    >>> sparsity(attached(TorusNetwork([8]), [1, 2, 4], hosts=["nid00001", "nid00002", "nid00004"]))
    0.25
    """
    said = [re.search(r"[0-9]+$", name) for name in machine.hosts]
    if None in said or not said:
        raise MappingError("machine: sparsity takes hosts whose names end with their number in the scheduler's order, "
                           + (f"{machine.hosts[said.index(None)]} has none" if said else "there are no hosts"))
    number = np.array([int(one[0]) for one in said if one])
    return 1 - len(number) / float(number.max() - number.min() + 1)


def curve_order(network: Network, curve: str = "hilbert") -> NDArray[np.int64]:
    """(npoints,) int64 the points of a network in the order of a scheduler.

    Parameters
    ----------
    network : Network
    curve : {"hilbert", "snake"}
        Of a torus or a grid; the hosts of other networks are in order.

    Raises
    ------
    ConfigError
        The curve is not known.
    """
    known_name("curve", curve, CURVES)
    if not isinstance(network, TorusNetwork):
        return np.arange(network.npoints)
    at = network.coordinates(np.arange(network.npoints))
    if curve == "hilbert":
        return np.argsort(hilbert(at), kind="stable")
    key, turned = np.zeros(len(at), np.int64), np.zeros(len(at), np.int64)
    for axis in reversed(range(len(network.dims))):
        # every line runs the other way than the one before
        digit = np.where(turned % 2 == 1, network.dims[axis] - 1 - at[:, axis], at[:, axis])
        key = key * network.dims[axis] + digit
        turned = key
    return np.argsort(key, kind="stable")


def hilbert(coordinates: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of points (n, ndims) with coordinates from 0 along a Hilbert curve through the cube around them.

    Consecutive points of a full cube are neighbours.  (J. Skilling, Programming the Hilbert curve, 2004.)
    """
    x = coordinates.T.astype(np.int64).copy()
    ndims = len(x)
    bits = max(int(x.max(initial=0)).bit_length(), 1)
    if bits * ndims > 62:
        raise MappingError(f"curve: positions of {ndims} coordinates of {bits} bits do not fit in 62; take snake")
    for bit in range(bits - 1, 0, -1):
        mask = (1 << bit) - 1
        for axis in range(ndims):
            set_ = (x[axis] >> bit & 1).astype(bool)
            swap = np.where(set_, 0, (x[0] ^ x[axis]) & mask)
            x[0] ^= np.where(set_, mask, swap)
            x[axis] ^= swap
    for axis in range(1, ndims):
        x[axis] ^= x[axis - 1]
    flip = np.zeros_like(x[0])
    for bit in range(bits - 1, 0, -1):
        flip ^= np.where(x[-1] >> bit & 1, (1 << bit) - 1, 0)
    x ^= flip
    key = np.zeros(x.shape[1], np.int64)
    for bit in range(bits - 1, -1, -1):
        for axis in range(ndims):
            key = key << 1 | x[axis] >> bit & 1
    return key


def _busy(total: int, taken: int, mean: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which of `total` nodes are busy: exactly `taken`, in runs of geometric length with free runs between them."""
    out = np.zeros(total, bool)
    if not taken:
        return out
    ends = np.cumsum(rng.geometric(1 / mean, taken))
    runs = np.diff(np.append(ends[ends < taken], taken), prepend=0)
    # the free nodes are dealt out to the gaps: before, between and after the runs
    cuts = np.sort(rng.integers(0, total - taken + 1, len(runs)))
    first = cuts + np.cumsum(runs) - runs
    for start, length in zip(first.tolist(), runs.tolist(), strict=True):
        out[start:start + length] = True
    return out


__all__: Sequence[str] = ["CURVES", "curve_order", "hilbert", "scattered", "sparsity"]
