"""The driver of the examples: planned on rank 0, both codes run, no heat is lost, whatever the number of ranks."""

import json

import pytest

CALL = """
import json
from mpi4py import MPI
from examples.mpi_driver import main

every = MPI.COMM_WORLD.gather(main())
if every is not None:
    print("found", json.dumps(every))
"""


@pytest.mark.parametrize("ranks", [2, 7])
def test_both_codes_run(launch, ranks):
    done = launch(ranks, "-m", "mpi4py", "-c", CALL)
    assert done.returncode == 0, done.stderr
    told, = (json.loads(line.split(" ", 1)[1]) for line in done.stdout.splitlines() if line.startswith("found "))
    assert len(told) == ranks
    assert all(one == told[0] for one in told)
    found = told[0]
    assert found["air_ranks"] + found["water_ranks"] == ranks
    # 300 K in some 3,000 cells of air, 280 K in 1,000 of water
    cells = (found["total"] - 280 * 1000) / 300
    assert abs(cells - round(cells)) < 1e-6
    assert 280 <= found["coldest"] < found["warmest"] <= 300
    assert found["messages"] > 0
