"""Rank reordering on MPI: what every rank of a real job gets is what a serial run gives."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ..helpers import ROOT

JOB = """
import json, sys
import numpy as np
from mpi4py import MPI
import copart
from copart.mapping.ranks.communication import Messages, Times, communication_graph, message_times
from copart.mpi import new_rank, reorder
from copart.mpi.reordering import _gather
from copart.mapping.ranks.reorder import reorder_ranks

comm = MPI.COMM_WORLD
n, r = comm.size, comm.rank
per_node = int(sys.argv[1])
rng = np.random.default_rng(7)
source, target, nbytes = rng.integers(0, n, 40 * n), rng.integers(0, n, 40 * n), rng.integers(0, 2**20, 40 * n)
everything = Messages(n, source, target, nbytes)
mine = source == r
lists = target[mine], nbytes[mine]
out = {}

# distributed = serial
times = message_times(Messages(n, np.full(mine.sum(), r), *lists))
gathered = _gather(comm, times, 0)
if r == 0:
    serial = message_times(everything)
    out["gathered"] = all((a == b).all() for a, b in zip(gathered, serial))

# every way to the new rank, on two nodes or more, and with other numbers of nodes
for name, node, exchange in (("block", r // per_node, "auto"), ("table", r // per_node, "allgather"),
                             ("cyclic", 90 - 10 * (r % (n // per_node)), "messages"), ("uneven", int(r > 0), "auto")):
    new = reorder(comm, *lists, node=node, exchange=exchange, method="greedy")
    rank, found = new_rank(comm, *lists, node=node, exchange=exchange, method="greedy")
    assert new.size == n and new.rank == rank, (new.rank, rank)
    assert MPI.Group.Compare(comm.group, new.group) in (MPI.IDENT, MPI.SIMILAR)
    nodes = new.allgather(node)
    old = new.allgather(r)
    new.Free()
    assert (found is None) == (r != 0)
    if r == 0:
        given = [{"block": q // per_node, "table": q // per_node, "cyclic": q % (n // per_node),
                  "uneven": int(q > 0)}[name] for q in range(n)]
        serial = reorder_ranks(communication_graph(everything), given, method="greedy")
        out[name] = [[nodes[v] for v in range(n)], old, serial.rank.tolist(), serial.node.tolist(), found.rank.tolist()]

# a partitioner of one's own, and its error
def halves(graph, capacities, seed):
    called.append(capacities.tolist())
    return np.arange(graph.nvtxs) % len(capacities)

called = []
rank, found = new_rank(comm, *lists, node=r // 2, method=halves, root=n - 1)
out["own"] = comm.allgather(called)
if r == n - 1:
    serial = reorder_ranks(communication_graph(everything), np.arange(n) // 2, method=halves)
    assert found.rank.tolist() == serial.rank.tolist()
try:
    reorder(comm, *lists, node=r // 2, method=lambda graph, capacities, seed: [5] * n)
except copart.MappingError as error:
    said = str(error)
out["useless"] = comm.allgather(said)

# one shared memory: one node, nothing changes
new = reorder(comm, *lists)
out["identity"] = new.rank == r
new.Free()

# an error of one rank is an error of all
try:
    reorder(comm, [n + 5] if r == n - 1 else [], [8.0] if r == n - 1 else [])
except copart.MappingError as error:
    said = str(error)
else:
    said = None
out["error"] = comm.allgather(said)
try:
    reorder(comm, *lists, node=int(r == 0), exchange="messages")
except copart.MappingError as error:
    said = str(error)
else:
    said = None
out["refused"] = comm.allgather(said)
try:
    reorder(comm, *lists, node=0 if r == 0 else None)
except copart.ConfigError as error:
    said = str(error)
out["some"] = comm.allgather(said)
if r == 0:
    print(json.dumps(out))
"""


@pytest.mark.parametrize(("ranks", "per_node"), [(3, 1), (4, 2)])
def test_reordering_on_ranks(launcher, compiled, ranks, per_node):
    done = subprocess.run([launcher, "-n", str(ranks), sys.executable, "-c", JOB, str(per_node)], capture_output=True,
                          text=True, cwd=ROOT, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout.splitlines()[-1])
    assert out["gathered"], "the gathered times are those of a serial run, bit by bit"
    for name in ("block", "table", "cyclic", "uneven"):
        nodes, old, serial_rank, serial_node, found_rank = out[name]
        # rank in the new communicator is f(old rank)
        assert [old[f] for f in serial_rank] == list(range(ranks)), name
        assert found_rank == serial_rank
        # the ranks on a node are those of its part
        number = {node: i for i, node in enumerate(dict.fromkeys(nodes[f] for f in serial_rank))}
        assert [number[node] for node in nodes] == serial_node, name
    assert out["block"][2] == out["table"][2]
    assert out["own"] == [*[[]] * (ranks - 1), [[2, ranks - 2]]], "called by root alone"
    assert len(set(out["useless"])) == 1
    assert out["useless"][0].startswith("rank 0: part: "), out["useless"][0]
    assert out["identity"]
    assert len(set(out["error"])) == 1
    assert f"rank {ranks - 1}: neighbours: 1 of 1 entries are outside" in out["error"][0]
    assert set(out["refused"]) == {"rank 0: exchange: messages need a block-cyclic placement; use allgather"}
    assert set(out["some"]) == {"node (given or not): must be the same on all ranks, is 'given' on rank 0 and "
                                "'left out' on rank 1"}


def test_one_rank(launcher):
    code = ("from mpi4py import MPI; import copart; "
            "print(copart.mpi.reorder(MPI.COMM_WORLD, [0], [8]).rank, copart.mpi.new_rank(MPI.COMM_SELF, [], [])[0])")
    done = subprocess.run([launcher, "-n", "1", sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT,
                          timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "0"]
