"""Partitions of distributed graphs: the same on any number of ranks, within the limits, no worse than their start."""

from __future__ import annotations

import json

import pytest

JOB = """
import hashlib, json
from unittest import mock
import numpy as np
from mpi4py import MPI
from scipy.spatial import Delaunay
from copart.errors import CopartError
from copart.graph import Graph
from copart.mesh import cube, dual_graph
from copart.metrics import edge_cut, max_part_weights
from copart.mpi import partition, partitioning, refining
from copart.partitioner.multijagged import multijagged

comm = MPI.COMM_WORLD
wrong, found = [], {}


def triangles(n):
    points = np.random.default_rng(1).random((n, 2))
    cells = Delaunay(points)
    u, v = np.repeat(np.arange(len(cells.neighbors)), 3), cells.neighbors.ravel()
    graph = Graph.from_edges(len(cells.neighbors), u[v > u], v[v > u])
    return graph.replace(coords=points[cells.simplices].mean(axis=1))


def weighted(graph, heaviest):
    rng = np.random.default_rng(2)
    u = np.repeat(np.arange(graph.nvtxs), np.diff(graph.xadj))
    ewgt = 1 + (u + graph.adjncy + np.minimum(u, graph.adjncy)) % 7
    return graph.replace(vwgt=rng.integers(0, heaviest + 1, graph.nvtxs), ewgt=ewgt)


def rows(graph, ends):
    a, b = ends[comm.rank], ends[comm.rank + 1]
    x = graph.xadj[a:b + 1]
    own = {"xadj": x - x[0], "adjncy": graph.adjncy[x[0]:x[-1]], "coords": graph.coords[a:b]}
    if graph.vwgt is not None:
        own |= {"vwgt": graph.vwgt[a:b], "ewgt": graph.ewgt[x[0]:x[-1]]}
    return own


class Checked(refining.Rounds):
    def jet_round(self, warmth):
        before = self.excess
        moves = super().jet_round(warmth)
        mine = self.region.sent_home(self.state.part)
        part = np.concatenate(comm.allgather(mine))
        load = np.bincount(part, graph.weights, k)
        if (self.excess > before or self.cut != edge_cut(graph, part) or (self.state.pwgt != load).any()
                or (self.state.population != np.bincount(part, minlength=k)).any()):
            wrong.append(["round", name])
        return moves


graphs = {"tetrahedra": (dual_graph(cube("tetra", 3000)), 0.05), "triangles": (triangles(700), 0.02),
          "weights": (weighted(triangles(500), 9), 0.05), "grid": (dual_graph(cube("hexa", 7)), 0.1),
          "heavy": (weighted(triangles(40), 30), 0.15)}
for name, (graph, eps) in graphs.items():
    for k in (2, 9, 24) if name != "heavy" else (2, 11):
        even, last = np.arange(comm.size + 1) * graph.nvtxs // comm.size, np.array([0] * comm.size + [graph.nvtxs])
        for ends in (even, last) if k == 9 or name == "heavy" else (even,):
            asked = {**rows(graph, ends), "nparts": k, "eps": eps, "seed": 3, "threads": 2,
                     "tpwgts": range(3, 3 + k) if name == "triangles" else None}
            with mock.patch.object(partitioning, "Rounds", Checked if k == 9 else refining.Rounds):
                mine = partition(comm, **asked)
            part = np.concatenate(comm.allgather(mine))
            start = multijagged(graph.coords, k, weights=graph.vwgt, tpwgts=asked["tpwgts"]).part
            limit = max_part_weights(graph.total_weight, k, eps, asked["tpwgts"])
            over = [int(np.maximum(np.bincount(p, graph.weights, k) - limit, 0).sum()) for p in (start, part)]
            cuts = [edge_cut(graph, p) for p in (start, part)]
            if over[1] or (not over[0] and cuts[1] > cuts[0]) or len(np.unique(part)) < k:
                wrong.append([name, k, over, cuts])
            told = [hashlib.sha256(part.tobytes()).hexdigest(), over[0], *cuts]
            if found.setdefault(f"{name} {k}", told) != told:
                wrong.append([name, k, "depends on the distribution"])

square = {"xadj": [0, 2], "adjncy": [(comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size],
          "coords": [[comm.rank, 0.0]], "nparts": 1}
last = comm.rank == comm.size - 1
# one rank has it all; boxes of these weights leave a part without a point
few = {"xadj": [0, 2, 3, 5, 6], "adjncy": [1, 2, 0, 0, 3, 2], "coords": [[0, 2], [3, 4], [2, 0], [3, 4]],
       "vwgt": [1, 0, 0, 1]} if comm.rank == 0 else {"xadj": [0], "adjncy": [], "coords": np.zeros((0, 2)), "vwgt": []}
errors = []
for change in ({"coords": [[np.nan, 0.0]] if last else [[0.0, 0.0]]}, {"adjncy": [comm.size, 0] if last else [0, 0]},
               {"adjncy": [comm.rank, (comm.rank + 1) % comm.size]}, {"nparts": 99}, {"nparts": 1 + last},
               {"ewgt": [1, 2] if last else [1, 1]}, {"vwgt": [100 if last else 1], "nparts": comm.size},
               {"xadj": [0, 1]}, {"nparts": 2, "presets": "fast"}, {"xadj": [0, 1], "adjncy": [(comm.rank + 1) % 3]},
               {"coords": np.zeros((2, 2))}, {"preset": "fast" if last else "default"},
               {"vwgt": [2**53], "nparts": comm.size}, {**few, "nparts": 4, "tpwgts": [1, 2, 3, 1], "eps": 0.3}):
    try:
        partition(comm, **{**square, **change})
    except (CopartError, TypeError) as error:
        errors.append(str(error))
    else:
        errors.append("")
errors, wrong = comm.allgather(errors), sum(comm.allgather(wrong), [])
if comm.rank == 0:
    print(json.dumps({"wrong": wrong, "found": found, "errors": errors}))
"""


@pytest.fixture(scope="module")
def answers(launch, compiled):
    """What one, two and three ranks find; the first compiles the kernels."""
    found = {}
    for ranks in (1, 2, 3):
        done = launch(ranks, "-c", JOB)
        assert done.returncode == 0, done.stderr
        found[ranks] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_parts_keep_their_promises(answers, ranks):
    assert answers[ranks]["wrong"] == []


@pytest.mark.parametrize("ranks", [2, 3])
def test_parts_do_not_depend_on_ranks(answers, ranks):
    assert answers[ranks]["found"] == answers[1]["found"]


def test_rounds_lower_the_cut_and_restore_balance(answers):
    found = answers[1]["found"]
    for name in ("tetrahedra 9", "triangles 9", "weights 9"):
        _, _, before, after = found[name]
        assert after < 0.9 * before, name
    # boxes of few heavy points are out of balance
    assert found["heavy 11"][1] > 0


def test_every_rank_knows_every_error(answers):
    said = [set(one) for one in zip(*answers[3]["errors"], strict=True)]
    assert all(len(one) == 1 for one in said)
    nan, far, loop, many, differ, uneven, heavy, short, unknown, lonely, rows, presets, much, empty = (
        one.pop() for one in said)
    assert "rank 2: coords: 1 of 1 points are not finite" in nan
    assert far.startswith("rank 0: adjncy: vertex 0 has an edge to itself")
    assert loop == "rank 0: adjncy: vertex 0 has an edge to itself, loops are not allowed"
    assert many == "nparts: 99 parts of 3 points would leave parts empty; ask for at most 3"
    assert differ == "nparts: must be the same on all ranks, is 1 on rank 0 and 2 on rank 2"
    assert uneven.startswith("adjncy: an edge is given by one of its ends only, or with different weights")
    assert heavy.startswith("vwgt: the heaviest vertex weighs 100, more than a part may (")
    assert short == "rank 0: adjncy: needs 1 entries, has 2"
    assert "unexpected keyword argument 'presets'" in unknown
    assert lonely.startswith("adjncy: an edge is given by one of its ends only")
    assert rows == "rank 0: coords: needs a point for each of 1 rows, has 2"
    assert presets == "preset: must be the same on all ranks, is 'default' on rank 0 and 'fast' on rank 2"
    assert much.startswith("vwgt: adds up to 2.7")
    assert empty == "balance: no partition was found in which part 0 has a vertex; use fewer parts"
