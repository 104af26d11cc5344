"""A coupling driver on MPI: one program for two codes, planned when it starts.

``mpiexec -n 8 python -m mpi4py -m examples.mpi_driver`` on any number of ranks from 2 up (``-m mpi4py`` ends all of
them where one fails).  Rank 0 makes the meshes and the plan, which also says how many ranks each code gets.  All ranks
learn it by a broadcast and find their component and part; the world is split into two codes; each keeps its own cells,
computes with a halo exchange, and meets the other code in a coupling phase: air sends its temperatures, water returns
the heat that it took.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import copart
from copart.mesh import cube
from copart.mpi import Exchange, Halo

STEPS = 5
#: Share of a difference in temperature that a step evens out, between cells of a code and between the codes.
INSIDE, ACROSS = 0.02, 0.1


def planned(world: Any) -> tuple[copart.CoupledProblem, copart.CoPartition]:
    """Made on rank 0, known to all."""
    made = None
    if world.rank == 0:
        air, water = cube("tetra", 3000, name="air"), cube("hexa", 10, offset=(1, 0, 0), name="water")
        # 'total' shares the ranks out so that both codes take equally long
        plan = copart.plan(air, water, total=world.size)
        made = plan.problem, plan.copartition
    known: tuple[copart.CoupledProblem, copart.CoPartition] = world.bcast(made)
    return known


def main() -> dict[str, float]:
    """Run both codes; returns numbers that are the same on all ranks."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    problem, parts = planned(world)

    # who am I? The ranks of the first component come first
    name = max((n for n in problem.names if parts.offset(n) <= world.rank), key=parts.offset)
    part = world.rank - parts.offset(name)
    code = world.Split(problem.names.index(name), part)

    halo = Halo(code, (problem, parts), name)
    own, cells = halo.nowned, halo.cells
    rows, columns, _ = problem.components[name].edges()
    # edges with an end here, both ways round, in rows of this rank's arrays
    here = np.full(problem.components[name].nvtxs, -1)
    here[cells] = np.arange(len(cells))
    u, v = np.concatenate([here[rows], here[columns]]), np.concatenate([here[columns], here[rows]])
    u, v = (end[(u >= 0) & (u < own)] for end in (u, v))
    wet = np.isin(cells[:own], problem.coupled(name))
    temperature = np.full(len(cells), 300.0 if name == "air" else 280.0)

    # the values that are exchanged are those of the own cells: `cells=` finds the coupled ones among them
    with Exchange(world, (problem, parts), cells=cells[:own]) as exchange:
        for _ in range(STEPS):
            halo.update(temperature)
            change = INSIDE * np.bincount(u, temperature[v] - temperature[u], own)
            if name == "air":
                pending = exchange.start_forward(temperature[:own])
                temperature[:own] += change  # while the messages are under way
                pending.wait()
                temperature[:own] -= exchange.backward(mapping="conservative")
            else:
                temperature[:own] += change
                outside = exchange.forward()
                heat = np.where(wet, ACROSS * (outside - temperature[:own]), 0.0)
                temperature[:own] += heat
                exchange.backward(heat, mapping="conservative")
        messages = world.allreduce(sum(sent.messages for sent in exchange.sent.values()))

    mine = temperature[:own]
    total = world.allreduce(float(mine.sum()))
    coldest = world.allreduce(float(mine.min()), MPI.MIN)
    warmest = world.allreduce(float(mine.max()), MPI.MAX)
    found = {"air_ranks": parts.nparts["air"], "water_ranks": parts.nparts["water"], "total": total, "coldest": coldest,
             "warmest": warmest, "messages": messages}
    if world.rank == 0:
        print(f"air on {found['air_ranks']} ranks, water on {found['water_ranks']}: {STEPS} steps, {messages} messages "
              f"between the codes, {coldest:.1f} to {warmest:.1f} K")
    return found


if __name__ == "__main__":
    main()
