"""Arrays in, arrays out: how a coupling program that has its own meshes calls copart.

The driver of two codes knows, for each, who neighbours whom (CSR arrays), what a
cell costs, and which cells of the one exchange data with which of the other.  It
wants a rank for every cell, and for every rank the lists of cells to send.
Nothing is printed or written by the library.
"""

from __future__ import annotations

import numpy as np

import copart
from copart.formats import coupling_schedule


def grid(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """``xadj, adjncy`` of a grid of cells, as a code would already have them."""
    ids = np.arange(rows * columns).reshape(rows, columns)
    pairs = np.vstack([np.column_stack([ids[:, :-1].ravel(), ids[:, 1:].ravel()]),
                       np.column_stack([ids[:-1].ravel(), ids[1:].ravel()])])
    pairs = np.vstack([pairs, pairs[:, ::-1]])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return np.searchsorted(pairs[:, 0], np.arange(rows * columns + 1)), pairs[:, 1]


def main() -> dict[str, float]:
    """An ocean of 40 x 60 cells under an atmosphere of 20 x 30: returns numbers to look at."""
    ocean, atmosphere = grid(40, 60), grid(20, 30)
    # a row of each lies on the other: two ocean cells under every cell of the air
    wet = np.arange(60)
    air = 19 * 30 + wet // 2
    # air costs three times as much in the lowest rows
    cost = np.ones(600, int)
    cost[15 * 30:] = 3

    plan = copart.plan(copart.Graph.from_metis(*ocean), copart.Graph.from_metis(*atmosphere, vwgt=cost), parts=(12, 6),
                       interedges=copart.Interedges.from_pairs(2400, 600, wet, air), names=("ocean", "atmosphere"))

    # one world of ranks, the ocean's first
    offset = plan.copartition.offset("atmosphere")
    rank_of_ocean_cell = plan.copartition["ocean"]
    rank_of_air_cell = plan.copartition["atmosphere"] + offset

    # what each rank of the ocean sends in a coupling step
    schedule = coupling_schedule(plan.problem, plan.copartition)["pairs"][0]["exchanges"]
    sends: dict[int, dict[int, list[int]]] = {}
    for exchange in schedule:
        sends.setdefault(exchange["part_a"], {})[offset + exchange["part_b"]] = exchange["a_cells"]
    for rank, to in sorted(sends.items()):
        shares = [f"{len(cells)} cells to rank {r}" for r, cells in sorted(to.items())]
        print(f"ocean rank {rank:2d} sends", ", ".join(shares))

    return {"ranks": offset + plan.copartition.nparts["atmosphere"], "first_air_rank": int(rank_of_air_cell.min()),
            "ocean_ranks": len(np.unique(rank_of_ocean_cell)), "sending_ranks": len(sends),
            "messages": sum(len(to) for to in sends.values()),
            "cells_sent": sum(len(cells) for to in sends.values() for cells in to.values()),
            "totV": plan.metrics.pair.totV_ab, "totZ": plan.metrics.pair.totZ}


if __name__ == "__main__":
    print(main())
