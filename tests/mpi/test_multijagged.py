"""Multi-Jagged on MPI: the parts of one process, on any number of ranks, with points moved and not."""

from __future__ import annotations

import json

import numpy as np
import pytest

from copart.partitioner.multijagged import multijagged

from ..partitioner.geometric_reference import CLOUDS

JOB = """
import json, sys
import numpy as np
from mpi4py import MPI
from copart.errors import CopartError
from copart.mpi import multijagged
from copart.partitioner.multijagged import multijagged as serial
from tests.partitioner.geometric_reference import CLOUDS

comm = MPI.COMM_WORLD
rng = np.random.default_rng(1)
wrong, traces = [], {}


def mine(array, ends):
    return array[ends[comm.rank]:ends[comm.rank + 1]]


def ends_of(n, how):
    if how == "one":
        return np.array([0] * comm.size + [n])
    return np.concatenate([[0], np.sort(rng.integers(0, n + 1, comm.size - 1)), [n]])


for kind in ("uniform", "few values", "hole"):
    for dim, n, asked in ((2, 200, {"nparts": 11}), (3, 150, {"counts": [2, 3, 2]}),
                          (1, 60, {"nparts": 7, "depth": 3})):
        points = CLOUDS[kind](np.random.default_rng(2), n, dim)
        for weights, eps, how in ((None, 0.0, "some"), (np.random.default_rng(3).random(n), 0.1, "one"),
                                  (np.random.default_rng(4).random(n), 0.0, "one"), (np.zeros(n), 0.0, "some")):
            one = serial(points, weights=weights, eps=eps, **asked)
            ends = ends_of(n, how)
            for migrate, near in (("always", False), ("always", True), ("never", False)):
                made = multijagged(comm, mine(points, ends), eps=eps, migrate=migrate, near=near,
                                   weights=None if weights is None else mine(weights, ends), **asked)
                same = (made.part.tobytes() == mine(one.part, ends).tobytes()
                        and made.boxes.tobytes() == one.boxes.tobytes() and (made.weights == one.weights).all())
                if not same:
                    wrong.append([kind, dim, eps, how, migrate, near])
# counters: many points, even, by region, many in one place, and as published; two levels
points = rng.random((90_000, 2))
even, heavy = rng.permutation(len(points)), rng.integers(0, 9, len(points))
tied = np.where(rng.random((len(points), 1)) < 0.8, 0.5, points)
for name, points, weights, eps in (("even", points[even], None, 0.0),
                                   ("region", points[np.argsort(points[:, 0])], None, 0.0),
                                   ("weighted", points[even], heavy, 0.0), ("tied", tied, heavy, 0.0),
                                   ("published", points[even], None, 0.01)):
    ends = np.arange(comm.size + 1) * len(points) // comm.size
    asked = {"counts": [4, 4], "tpwgts": range(1, 17), "threads": 2, "eps": eps}
    one = serial(points, weights=weights, **asked)
    made = multijagged(comm, mine(points, ends), weights=None if weights is None else mine(weights, ends), **asked)
    if made.part.tobytes() != mine(one.part, ends).tobytes() or made.boxes.tobytes() != one.boxes.tobytes():
        wrong.append(name)
    traces[name] = [made.counters._asdict(), made.moved, [[level, found._asdict()] for level, found in made.decisions]]
errors = []
for asked in ({"points": np.full((1, 2), np.nan if comm.rank == comm.size - 1 else 1.0), "nparts": 1},
              {"points": np.zeros((1, 2)), "nparts": 99}, {"points": np.zeros((3, 2)), "nparts": 1 + comm.rank},
              {"points": np.zeros((3, 2)), "nparts": 2, "weights": [2.0**52] * 3},
              {"points": np.zeros((3, 2)), "nparts": 2, "migrate": "often"}):
    try:
        multijagged(comm, **asked)
    except CopartError as error:
        errors.append(str(error))
    else:
        errors.append("")
errors, wrong = comm.allgather(errors), sum(comm.allgather(wrong), [])
if comm.rank == 0:
    print(json.dumps({"wrong": wrong, "traces": traces, "errors": errors}))
"""


@pytest.fixture(scope="module")
def warm(compiled):
    """The kernels of the job, compiled by one process."""
    for eps in (None, 0):
        for weights in (None, np.ones(9000)):
            multijagged(CLOUDS["few values"](np.random.default_rng(1), 9000, 2), 5, eps=eps, weights=weights, threads=2)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_parts_do_not_depend_on_ranks(launch, warm, ranks):
    done = launch(ranks, "-c", JOB)
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout.splitlines()[-1])
    assert out["wrong"] == []

    # every rank knows every error, with the same words
    nan, many, differ, heavy, often = (set(said) for said in zip(*out["errors"], strict=True))
    assert nan == {f"rank {ranks - 1}: points: 1 of 1 points are not finite, first at index 0: [nan, nan]; "
                   f"leave them out"}
    assert many == {f"nparts: 99 parts of {ranks} points would leave parts empty; ask for at most {ranks}"}
    assert differ == {""} if ranks == 1 else {f"nparts: must be the same on all ranks, is 1 on rank 0 and {ranks} on "
                                              f"rank {ranks - 1}"}
    assert all("sums from 2^53 on are not exact" in said for said in heavy)
    assert often == {"rank 0: migrate: 'often' is not known; choose one of rule, always, never"}

    even, region = out["traces"]["even"], out["traces"]["region"]
    if ranks == 1:
        assert even == region
        assert even[0]["calls"] == 5
        assert even[1:] == [0, []]
    else:
        # all boxes of a level together: their extent, the sum of the buckets, the points that are pooled, and the
        # sections; and one question whether points shall move
        for name in ("even", "weighted"):
            counters, moved, ((level, found),) = out["traces"][name]
            assert (moved, level, found["migrate"], found["waiting"]) == (0, 1, False, 4 * ranks)
            assert found["imbalance"] < 0.05
            assert counters == {"calls": 5, "tied": 0, "iterations": 0, "reductions": 2 * 4 + 1, "comparisons": 0}
        counters, moved, ((level, found),) = region
        assert found["imbalance"] > 0.30
        assert found["migrate"]
        assert 0 < moved < 90_000
        # one level of all ranks; then each of rank 0's boxes alone, by selection
        assert counters["reductions"] == 4 + 1
        # what cannot be pooled is searched, ties and all
        assert out["traces"]["tied"][0]["iterations"] > 0
        assert out["traces"]["tied"][0]["tied"] > 0
        # five searches of all ranks: a reduction to begin with and one per trial, and one per level for its parts
        counters = out["traces"]["published"][0]
        assert (counters["calls"], counters["tied"]) == (5, 0)
        assert counters["reductions"] == 5 + counters["iterations"] + 1 + 2
