"""Set-up of the whole suite: a fresh kernel cache, hypothesis profiles, markers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Every session starts with an empty cache, as a user does, and shares it with the processes
# that tests start.  Must be set before numba is imported.  A caller who sets the variable
# keeps that cache.
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


_warming: tuple[subprocess.Popen[str], str] | None = None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin what takes minutes and needs nothing else, so that it is done when its test comes (see `warming`)."""
    global _warming
    if not NO_JIT and not session.config.option.collectonly and any("warming" in getattr(item, "fixturenames", ())
                                                                    for item in session.items):
        folder = tempfile.mkdtemp(prefix="copart-warm-")
        command = [sys.executable, "-m", "copart", "doctor", "--warm", "--json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   cwd=Path(__file__).parent.parent, env={**os.environ, "NUMBA_CACHE_DIR": folder})
        _warming = process, folder
        if _own_cache is not None:
            threading.Thread(target=_take_over, args=(process, Path(folder), Path(_own_cache)), daemon=True).start()


def _take_over(process: subprocess.Popen[str], there: Path, here: Path) -> None:
    """Copy what another process has compiled, as long as it runs, so that this one need not; never the other way."""
    while process.poll() is None:
        for index in there.rglob("*.nbi"):
            mine = here / index.relative_to(there)
            data = sorted(index.parent.glob(f"{index.stem}.*.nbc"))
            if mine.exists() or not data:
                continue
            mine.parent.mkdir(parents=True, exist_ok=True)
            for file in (*data, index):  # the index last: it makes the others count
                scratch = mine.with_name(f"{file.name}.copied")
                shutil.copyfile(file, scratch)
                scratch.replace(mine.with_name(file.name))
        time.sleep(0.5)


@pytest.fixture(scope="session")
def warming() -> tuple[subprocess.Popen[str], str]:
    """``copart doctor --warm`` into an empty cache, begun when the session did, and the folder of that cache."""
    if _warming is None:
        pytest.skip("nothing is compiled without the JIT")
    return _warming


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--third", type=int, choices=range(3), help="run a third of the files with tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    third = config.getoption("--third")
    if third is not None:
        files = sorted({item.path for item in items})
        items[:] = [item for item in items if files.index(item.path) % 3 == third]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out of the run without compiled kernels")


def pytest_unconfigure(config: pytest.Config) -> None:
    if _warming is not None:
        _warming[0].kill()
        _warming[0].wait()
        shutil.rmtree(_warming[1], ignore_errors=True)
    if _own_cache is not None:
        shutil.rmtree(_own_cache, ignore_errors=True)
