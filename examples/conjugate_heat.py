"""Conjugate heat transfer: two codes, two meshes, one plan; a coupled run from nothing to pictures.

A fluid and a solid exchange heat through the face they share.  Each code is a program of its own that keeps its part
of its mesh, solves for its temperatures with its neighbours (implicit in time, finite volumes on the dual graph,
conjugate gradients with a halo exchange in every iteration) and meets the other code in a coupling phase: both send
the temperatures next to the interface, and repeat the step until these no longer change.  The result is that of one
program for everything (:func:`alone`), whatever the parts.

``python -m examples.conjugate_heat [FOLDER]`` makes the meshes and a plan, starts both programs by the plan's launch
file, compares with the serial result, and leaves in the folder the fields of every step (``fluid.vtu.series``,
``solid.vtu.series``, for ParaView) and the time of each rank in each phase (``times.json``, ``times.png``).
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

import copart
from copart.doctor import launcher
from copart.formats.interedges_file import read_interedges
from copart.formats.machines import read_machine
from copart.mesh import Mesh, cube, dual_graph, read_mesh, write_vtu
from copart.mpi import Exchange, Halo

from .phases import Clock, save, table

NAMES = ("fluid", "solid")
CONDUCTIVITY = {"fluid": 0.2, "solid": 3.0}
CAPACITY = {"fluid": 1.0, "solid": 2.0}
STEPS, DT = 4, 0.05
#: Largest change of a temperature, and relative size of a residual, at which an iteration ends.
CHANGE, RESIDUAL = 1e-12, 1e-13


# ---- physics, the same for one process and for many
def volumes(mesh: Mesh) -> np.ndarray:
    """(ncells,) volume of tetrahedra and hexahedra."""
    six = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))
    found = []
    for kind, cells in mesh.blocks:
        split = six if kind == "hexahedron" else ((0, 1, 2, 3),)
        tetra = np.stack([mesh.points[cells[:, list(one)]] for one in split])
        found.append(np.abs(np.linalg.det(tetra[..., 1:, :] - tetra[..., :1, :])).sum(axis=0) / 6)
    return np.concatenate(found)


def beginning(name: str, centres: np.ndarray) -> np.ndarray:
    """Temperatures at time 0: a cold fluid with a warm spot, a hot solid."""
    warm = np.exp(-8 * ((centres - (0.7, 0.3, 0.6)) ** 2).sum(axis=1))
    return 300 + 60 * warm if name == "fluid" else 400 + 20 * centres[:, 1]


def conduction(name: str, mesh: Mesh) -> tuple[sparse.csr_array, np.ndarray]:
    """Conductance between neighbouring cells, W/K, and heat capacity of each cell over a time step, W/K."""
    graph, size, centres = dual_graph(mesh), volumes(mesh), mesh.centres()
    u = np.repeat(np.arange(graph.nvtxs), np.diff(graph.xadj))
    v = graph.adjncy
    # area over distance, of cells that are about as thick as wide
    shape = (size[u] + size[v]) / 2 / ((centres[u] - centres[v]) ** 2).sum(axis=1)
    return sparse.csr_array((CONDUCTIVITY[name] * shape, v, graph.xadj), shape=(len(size),) * 2), \
        CAPACITY[name] * size / DT


def resistance(name: str, size: np.ndarray, area: np.ndarray) -> np.ndarray:
    """From the centre of each coupled cell to the interface, K m2/W: half its thickness over its conductivity."""
    return size / (2 * area) / CONDUCTIVITY[name]


def alone(folder: Path) -> dict[str, np.ndarray]:
    """Temperatures after the last step, by one process and a direct solver for both meshes together."""
    inter = read_interedges(folder / "plan" / "interedges.mtx")
    a, b = (read_mesh(folder / "plan" / f"{name}.vtu") for name in NAMES)
    u, v, area = inter.pairs()
    na, parts = a.ncells, [conduction(name, mesh) for name, mesh in zip(NAMES, (a, b), strict=True)]
    to_face = [resistance(name, volumes(mesh)[cells], np.bincount(cells, area)[cells])
               for name, mesh, cells in zip(NAMES, (a, b), (u, v), strict=True)]
    across = area / (to_face[0] + to_face[1])
    inner = sparse.block_diag([matrix for matrix, _ in parts]).tocsr()
    links = sparse.coo_array((across, (u, v + na)), shape=inner.shape)
    every = inner + links + links.T
    stored = np.concatenate([c for _, c in parts])
    system = sparse.diags_array(np.asarray(every.sum(axis=1)).ravel() + stored) - every
    t = np.concatenate([beginning(name, mesh.centres()) for name, mesh in zip(NAMES, (a, b), strict=True)])
    for _ in range(STEPS):
        t = spsolve(system.tocsc(), stored * t)
    return {"fluid": t[:na], "solid": t[na:]}


# ---- one code
class Code:
    """One rank of one code: its cells, those of its neighbours, and the equations of its own cells."""

    times = "times"
    """What the files with the times of the ranks are called."""

    def __init__(self, name: str, plan: Path, world: Any):
        self.name, self.world = name, world
        self.comm = self.connect(plan)
        self.clock = Clock(world, name)
        self.halo = Halo(self.comm, plan, name)
        self.mesh = read_mesh(plan / f"{name}.vtu")
        n, ids = self.halo.nowned, self.halo.cells
        matrix, stored = conduction(name, self.mesh)
        self.conductance, self.stored = matrix[ids[:n]][:, ids], stored[ids[:n]]
        self.t = beginning(name, self.mesh.centres()[ids])
        # the interface: what each overlap conducts, by what both sides know of their cells
        cells, overlap = self.cells, self.overlap
        area = np.bincount(overlap.cell, overlap.weight, len(cells))
        mine = resistance(name, volumes(self.mesh)[cells], area)
        other = self.meet(mine)
        self.coupled = np.searchsorted(ids[:n], cells)
        self.across = overlap.weight / (mine[overlap.cell] + other[overlap.ghost])
        self.diagonal = self.stored + np.asarray(self.conductance.sum(axis=1)).ravel()
        self.diagonal += np.bincount(self.coupled[overlap.cell], self.across, n)

    def connect(self, plan: Path) -> Any:
        """Set up the exchange with the other code; returns the communicator of this one."""
        self.exchange = Exchange(self.world, plan, component=self.name)
        self.cells, self.overlap = self.exchange.cells[self.name], self.exchange.overlaps[self.name]
        return self.world.Split(NAMES.index(self.name), self.world.rank)

    def meet(self, values: np.ndarray) -> np.ndarray:
        """Send values of the coupled cells to the other code, get those of its cells that meet them."""
        self.clock.meet(self.world)
        with self.clock("coupling"):
            there = self.exchange.start_forward(values if self.name == NAMES[0] else None, mapping="raw")
            back = self.exchange.start_backward(values if self.name == NAMES[1] else None, mapping="raw")
            got = [there.wait(), back.wait()]
        return got[1] if self.name == NAMES[0] else got[0]

    def step(self) -> int:
        """One time step: returns how often the codes met."""
        n, overlap = self.halo.nowned, self.overlap
        heat = self.stored * self.t[:n]
        for meetings in range(1, 200):
            before = self.t[:n].copy()
            other = self.meet(self.t[self.coupled])
            with self.clock("compute"):
                rhs = heat + np.bincount(self.coupled[overlap.cell], self.across * other[overlap.ghost], n)
            self.solve(rhs)
            if self.settled(float(np.abs(self.t[:n] - before).max(initial=0)) / 300, meetings):
                return meetings
        raise RuntimeError("the coupling iteration does not converge")

    def solve(self, rhs: np.ndarray) -> None:
        """Conjugate gradients, preconditioned by the diagonal; begins with the temperatures at hand."""
        n = self.halo.nowned
        direction = np.zeros_like(self.t)
        r = rhs - self.applied(self.t)
        z = r / self.diagonal
        direction[:n] = z
        rz, scale = self.sums(r @ z, rhs @ (rhs / self.diagonal))
        while rz > RESIDUAL**2 * scale:
            q = self.applied(direction)
            dq, = self.sums(direction[:n] @ q)
            with self.clock("compute"):
                self.t[:n] += rz / dq * direction[:n]
                r -= rz / dq * q
                z = r / self.diagonal
            new, = self.sums(r @ z)
            with self.clock("compute"):
                direction[:n] = z + new / rz * direction[:n]
            rz = new

    def applied(self, values: np.ndarray) -> np.ndarray:
        """The equations' matrix times values, after an update of their halo."""
        with self.clock("halo"):
            self.halo.update(values)
        with self.clock("compute"):
            return self.diagonal * values[:self.halo.nowned] - self.conductance @ values

    def sums(self, *values: float) -> np.ndarray:
        """Over the ranks of this code; most of it is waiting for the slowest."""
        from mpi4py import MPI

        with self.clock("waiting"):
            out = np.array(values)
            self.comm.Allreduce(MPI.IN_PLACE, out)
        return out

    def settled(self, change: float, meetings: int) -> bool:
        """Whether no temperature of either code changes any more."""
        from mpi4py import MPI

        with self.clock("waiting"):
            return bool(self.world.allreduce(change, MPI.MAX) < CHANGE)

    def finish(self) -> None:
        """All is done."""
        self.exchange.close()

    def whole(self) -> np.ndarray | None:
        """All temperatures of this code, on its first rank."""
        n = self.halo.nowned
        parts = self.comm.gather((self.halo.cells[:n], self.t[:n]))
        if parts is None:
            return None
        out = np.empty(self.mesh.ncells)
        for ids, values in parts:
            out[ids] = values
        return out


def code(name: str, folder: Path, kind: type[Code] = Code) -> None:
    """What each program does: its part of the run, its fields and its times."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    me = kind(name, folder / "plan", world)
    me.clock.spans.clear()
    meetings, series = [], []
    for step in range(STEPS + 1):
        meetings += [me.step()] if step else []
        whole = me.whole()
        if whole is not None:
            series.append({"name": f"{name}.{step:03d}.vtu", "time": step * DT})
            write_vtu(folder / f"{name}.{step:03d}.vtu", me.mesh, {"temperature": whole})
            np.save(folder / f"{name}.npy", whole)
    if me.comm.rank == 0:
        (folder / f"{name}.vtu.series").write_text(json.dumps({"file-series-version": "1.0", "files": series}))
    clocks = world.gather((name, me.clock.spans))
    if clocks is not None:
        print(table(clocks))
        print("coupling iterations by time step:", *meetings)
        save(folder / me.times, clocks, "conjugate heat transfer: what each rank does")
    me.finish()


# ---- the driver
def prepare(folder: str | Path, sizes: tuple[int, int] = (12, 1200), parts: Sequence[int] = (4, 2),
            scheme: str = "joint", write: str | None = None) -> tuple[Path, str]:
    """Meshes, a plan and the two programs; returns where to start them, and MPICH's command from the launch file.

    The plan has the files of `write`, too.
    """
    place = Path(folder).resolve()
    place.mkdir(parents=True, exist_ok=True)
    meshes = cube("hexa", sizes[0]), cube("tetra", sizes[1], offset=(1, 0, 0))
    (place / "hosts").write_text(f"localhost slots={sum(parts)}\n")
    copart.plan(*meshes, names=NAMES, parts=parts, scheme=scheme, site=copart.Site(read_machine(place / "hosts")),
                output=place / "plan", write=write)
    launch = place / "plan" / "launch"
    for name in NAMES:
        program = launch / name
        program.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mpi4py -m examples.conjugate_heat "
                           f"--code {name} {shlex.quote(str(place))}\n")
        program.chmod(0o755)
    command = next(line for line in (launch / "launch.txt").read_text().splitlines() if line.startswith("mpiexec "))
    return launch, command


def compared(folder: str | Path) -> dict[str, float]:
    """The largest difference of each field from the serial result, K."""
    place = Path(folder)
    true = alone(place)
    return {name: float(np.abs(np.load(place / f"{name}.npy") - true[name]).max()) for name in NAMES}


def main(folder: str | Path = "conjugate-heat", sizes: tuple[int, int] = (12, 1200), parts: Sequence[int] = (4, 2),
         scheme: str = "joint") -> dict[str, float]:
    """Plan, run and compare; returns the largest difference of each field from the serial result, K."""
    launch, command = prepare(folder, sizes, parts, scheme)
    words = [launcher() or "mpiexec", *shlex.split(command)[1:]]
    root = Path(__file__).parent.parent
    subprocess.run(words, cwd=launch, check=True, timeout=600, env={**os.environ, "PYTHONPATH": str(root)})
    errors = compared(folder)
    print(f"largest difference from the serial result: {max(errors.values()):.1e} K")
    return errors


if __name__ == "__main__":
    if sys.argv[1:2] == ["--code"]:
        code(sys.argv[2], Path(sys.argv[3]))
    else:
        main(*sys.argv[1:2])
