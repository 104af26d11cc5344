"""The quadratic assignment objective of a placement, dense and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, integers
from ...errors import MappingError
from ...graph import Graph, as_graph
from ..architectures.architecture import Architecture
from ..evaluation import architecture_of, dilation_cost
from ..machine import Machine

Placement = NDArray[np.int32]
"""(nprocesses,) int32 processor of each process, no processor twice."""


def as_processes(processes: Any) -> Graph:
    """The communication graph of `processes`: a graph, or a square matrix of traffic, of which both directions add up.

    A dense or sparse matrix need not be symmetric; its diagonal is left out.
    """
    if isinstance(processes, np.ndarray) and processes.ndim == 2:
        from scipy.sparse import csr_array

        processes = csr_array(processes)
    if hasattr(processes, "tocoo"):
        if processes.shape[0] != processes.shape[1]:
            raise MappingError(f"processes: the matrix of traffic must be square, has shape {processes.shape}")
        return Graph.from_scipy(processes + processes.T)
    return as_graph(processes)


def as_placement(name: str, place: ArrayLike, nprocesses: int, nprocs: int) -> Placement:
    """`place` checked: one processor per process, none twice."""
    found = integers(name, place, VERTEX, MappingError, low=0, high=nprocs, size=nprocesses)
    used, count = np.unique(found, return_counts=True)
    if (count > 1).any():
        raise MappingError(f"{name}: processor {used[np.argmax(count)]} is given to more than one process")
    return found


def objective(processes: Any, machine: Machine | Architecture, place: ArrayLike) -> float:
    """J: sum over the pairs of processes that communicate of traffic times distance, each pair once.

    Of a matrix of traffic C this is the sum over all i, j of C[i, j] D[place[i], place[j]].

    Examples
    --------
    >>> from copart.mapping.architectures.architecture import Complete
    >>> objective(np.array([[0, 2], [1, 0]]), Complete(2), [1, 0])
    3.0
    """
    return dilation_cost(as_processes(processes), architecture_of(machine), place)


def dense_objective(flow: ArrayLike, distance: ArrayLike, place: ArrayLike) -> float:
    """J(C, D, pi) with full matrices: sum over all ordered pairs i, j of C[i, j] D[place[i], place[j]].

    Parameters
    ----------
    flow : (n, n) array_like
        Traffic between processes.
    distance : (n, n) array_like
        Between processors.
    place : (n,) array_like of int
        Processor of each process.
    """
    c, d, p = np.asarray(flow, np.float64), np.asarray(distance, np.float64), np.asarray(place)
    return float((c * d[np.ix_(p, p)]).sum())


def symmetrised(matrix: ArrayLike) -> NDArray[np.float64]:
    """(C + C^T) / 2: with a symmetric other matrix the objective stays, at half the work (Brandfass et al. 2013)."""
    m = np.asarray(matrix, np.float64)
    half: NDArray[np.float64] = (m + m.T) / 2
    return half
