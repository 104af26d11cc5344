"""Geometric mapping on MPI: the mapping of one process on any number of ranks; how candidates are shared out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.mapping.congestion import TorusNetwork
from copart.mapping.machine import attached
from copart.mapping.tasks import TaskGraph
from copart.mapping.topology import map_tasks
from copart.mpi.placing import shares

JOB = """
import json
import numpy as np
from mpi4py import MPI
from copart.errors import CopartError
from copart.mapping.congestion import FatTree, MeshNetwork, TorusNetwork
from copart.mapping.machine import attached
from copart.mapping.tasks import TaskGraph
from copart.mapping.topology import map_tasks as serial
from copart.mpi import map_tasks
from copart.mpi.placing import shares

comm = MPI.COMM_WORLD
wrong, groups = [], []
rng = np.random.default_rng(1)
cases = [(TorusNetwork([7, 5, 6]), 3, 60, 40), (TorusNetwork([7, 5]), 3, 20, 31), (MeshNetwork([9, 9]), 1, 30, 12),
         (TorusNetwork([30]), 1, 15, 15), (TorusNetwork([7, 5]), 2, 10, 33)]
for network, dim, nhosts, ntasks in cases:
    job = attached(network, rng.integers(0, network.npoints, nhosts), 1 + (nhosts == 20))
    coords = rng.random((ntasks, dim))
    source, target = rng.integers(0, ntasks, (2, 3 * ntasks))
    tasks = TaskGraph(ntasks, source, target)
    ends = np.concatenate([[0], np.sort(rng.integers(0, ntasks + 1, comm.size - 1)), [ntasks]])
    known = rng.integers(0, comm.size, len(source)) == comm.rank
    for method in ("geometric-plain", "geometric-rotated", "geometric-shifted", "geometric",
                   "geometric-reflected"):
        made = map_tasks(comm, coords[ends[comm.rank]:ends[comm.rank + 1]], source[known], target[known], job,
                         method=method, threads=1 + comm.rank)
        one = serial(tasks, job, method, coords=coords)
        if made.dtype != one.dtype or made.tobytes() != one.tobytes():
            wrong.append([repr(network), method])
assert map_tasks(comm, np.zeros((0, 2)), [], [], job).tolist() == []
errors = []
line = attached(TorusNetwork([8]), [0, 1, 2, 3], 2)
far = attached(TorusNetwork([8]), [0, 1, 2, 5], 2)
fine = {"coords": np.zeros((1, 1)), "source": [], "target": [], "machine": line}
for other in ({"coords": np.full((1, 1), np.nan if comm.rank == comm.size - 1 else 1.0)}, {"coords": np.zeros((9, 1))},
              {"source": [0], "target": [99]}, {"machine": far if comm.rank else line}, {"method": "uwh"},
              {"machine": attached(FatTree([4]), [0, 1, 2, 3])}, {"source": [0]}):
    try:
        map_tasks(comm, **{**fine, **other})
    except CopartError as error:
        errors.append(str(error))
    else:
        errors.append("")
errors, wrong = comm.allgather(errors), sum(comm.allgather(wrong), [])
if comm.rank == 0:
    print(json.dumps({"wrong": wrong, "errors": errors}))
"""


@pytest.fixture(scope="module")
def warm(compiled):
    """The kernels of the job, compiled by one process."""
    for dims in ([5, 5, 5], [9]):
        job = attached(TorusNetwork(dims), np.arange(0, 9, 2))
        tasks = TaskGraph(5, [0, 1, 2, 3], [1, 2, 3, 4])
        for method in ("geometric", "geometric-reflected"):
            map_tasks(tasks, job, method, coords=np.arange(5.0)[:, None])


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_the_mapping_does_not_depend_on_ranks(launch, warm, ranks):
    done = launch(ranks, "-c", JOB)
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout.splitlines()[-1])
    assert out["wrong"] == []

    # every rank knows every error, with the same words
    nan, many, absent, differ, method, tree, length = (set(said) for said in zip(*out["errors"], strict=True))
    assert nan == {f"rank {ranks - 1}: coords: needs finite numbers, a row for each of 1 tasks, has shape (1, 1)"}
    assert many == {""}, "a slot takes several"
    assert absent == {f"rank 0: target: 99 is none of the {ranks} tasks of all ranks"}
    assert len(differ) == 1
    assert differ == {""} if ranks == 1 else differ.pop().startswith("machine: must be the same on all ranks, is ")
    assert len(method) == 1
    assert method.pop().startswith("rank 0: method: 'uwh' is not known; choose one of geometric-plain")
    assert len(tree) == 1
    assert "needs coordinates of the nodes, as tori and meshes have" in tree.pop()
    assert len(length) == 1
    assert "target" in length.pop()


@given(st.integers(1, 200), st.integers(1, 80))
def test_every_group_tries_every_candidate_once(size, count):
    """As many groups as there are ranks for all candidates of each, and one where there are fewer."""
    group, share = shares(size, count)
    assert group.max() + 1 == max(1, size // count)
    assert (np.diff(group) >= 0).all()
    for g in range(group.max() + 1):
        members = np.flatnonzero(group == g)
        assert [i for rank in members for i in range(*share[rank])] == list(range(count))
        # equally many each; one where there are ranks enough
        assert max(hi - lo for lo, hi in (share[rank] for rank in members)) == -(-count // len(members))
