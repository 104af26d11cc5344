"""Set-up of the tests that start MPI jobs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import copart
from copart.mapping.cartesian import Grid, reorder_grid, stencil
from copart.mapping.ranks.communication import Messages, communication_graph
from copart.mapping.ranks.reorder import reorder_ranks
from copart.mesh import cube

from ..helpers import ROOT


@pytest.fixture(scope="session")
def compiled() -> None:
    """Kernels are compiled here once: ranks that wait for one that compiles keep the processors from it."""
    pairs = communication_graph(Messages(4, [0, 1, 2, 3], [2, 3, 0, 1], [2.0**22] * 4))
    for method in ("greedy", "best"):
        reorder_ranks(pairs, [0, 0, 1, 1], method=method)
    for method in ("central-greedy", "distributed-greedy"):
        reorder_grid(Grid((3, 2)), stencil("five-point", 2), 2, method)


class Launch:
    """How to start ranks with one of the MPI libraries of the wheels."""

    def __init__(self, command: list[str], environment: dict[str, str]):
        self.command, self.environment = command, environment

    def __call__(self, ranks: int, *arguments: str, timeout: float = 200) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self.command, "-n", str(ranks), sys.executable, *arguments], capture_output=True,
                              text=True, cwd=ROOT, timeout=timeout, check=False,
                              env={**os.environ, "PYTHONPATH": str(ROOT), **self.environment})


@pytest.fixture(scope="session")
def launch(launcher: str) -> Launch:
    """Starts ranks."""
    return Launch([launcher], {})


@pytest.fixture(scope="session", params=["mpich", "openmpi"])
def both(request: pytest.FixtureRequest, launch: Launch) -> Launch:
    """Starts ranks, with each of the two MPI libraries that come as wheels."""
    if request.param == "mpich":
        return launch
    root = ROOT / ".venv" / "openmpi"
    library = root / "lib" / "libmpi.so"
    if not library.exists():
        pytest.skip("no Open MPI in .venv/openmpi (make test installs it)")
    own = {"MPI4PY_MPIABI": "openmpi", "MPI4PY_LIBMPI": str(library), "OMPI_ALLOW_RUN_AS_ROOT": "1",
           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return Launch([str(root / "bin" / "mpirun"), "--oversubscribe", "-x", "MPI4PY_MPIABI", "-x", "MPI4PY_LIBMPI",
                   "-x", "PYTHONPATH"], own)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders ``1``, ``2``, ``3`` of plans of two components: two of other seeds, and one with another count."""
    place = tmp_path_factory.mktemp("wrong")
    mesh = cube("hexa", 4), cube("hexa", 5, offset=(1, 0, 0))
    for seed, parts in ((1, (2, 2)), (2, (2, 2)), (3, (2, 3))):
        copart.plan(*mesh, names=["a", "b"], parts=parts, seed=seed, scheme="aware", output=place / str(seed))
    return place
