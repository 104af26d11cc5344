"""Does MPI work here at all: two ranks, arrays of copart travelling between them."""

from __future__ import annotations

import subprocess
import sys

from copart import doctor

from ..helpers import ROOT

BROADCAST = """
import numpy as np
from mpi4py import MPI
from copart.graph import Graph

comm = MPI.COMM_WORLD
counts = np.zeros(2, np.int64)
if comm.rank == 0:
    graph = Graph.from_edges(5, [0, 1, 2, 3], [1, 2, 3, 4])
    counts[:] = len(graph.xadj), len(graph.adjncy)
comm.Bcast(counts)
xadj, adjncy = np.empty(counts[0], np.int64), np.empty(counts[1], np.int32)
if comm.rank == 0:
    xadj[:], adjncy[:] = graph.xadj, graph.adjncy
comm.Bcast(xadj)
comm.Bcast(adjncy)
here = Graph(xadj, adjncy)
edges = np.array(here.nedges)
total = np.zeros_like(edges)
comm.Reduce(edges, total)
if comm.rank == 0:
    print("edges on all ranks:", int(total))
"""


def test_doctor_finds_two_ranks(launcher):
    report = doctor.mpi()
    assert report["problem"] is None, report
    assert report["ranks"] == 2
    assert report["library"]


def test_a_graph_travels_between_two_ranks(launcher):
    done = subprocess.run([launcher, "-n", "2", sys.executable, "-c", BROADCAST], capture_output=True, text=True,
                          cwd=ROOT, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "edges on all ranks: 8"
