"""Set-up of the whole suite: a fresh kernel cache, hypothesis profiles, markers."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest
from hypothesis import HealthCheck, settings

# Numba does not see edits in other files when it reuses a cache, so every session starts
# with an empty one; it is shared with the processes that tests start.  Must be set before
# numba is imported.  A caller who sets the variable keeps that cache.
_own_cache = None
if "NUMBA_CACHE_DIR" not in os.environ:
    _own_cache = tempfile.mkdtemp(prefix="copart-kernels-")
    os.environ["NUMBA_CACHE_DIR"] = _own_cache

NO_JIT = os.environ.get("NUMBA_DISABLE_JIT") == "1"

_relaxed = {"deadline": None, "derandomize": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("compiled", max_examples=50, **_relaxed)
settings.register_profile("plain", max_examples=10, **_relaxed)  # kernels as plain Python are some 100 x slower
settings.load_profile("plain" if NO_JIT else "compiled")


@pytest.fixture(scope="session")
def launcher() -> str:
    """Path of the MPI launcher; tests that need one are skipped where there is none."""
    from copart import doctor

    if doctor.versions()["mpi4py"] is None:
        pytest.skip("mpi4py is not installed (copart[mpi])")
    found = doctor.launcher()
    if found is None:
        pytest.skip("no MPI launcher (mpiexec)")
    return found


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out of the run without compiled kernels")


def pytest_unconfigure(config: pytest.Config) -> None:
    if _own_cache is not None:
        shutil.rmtree(_own_cache, ignore_errors=True)
