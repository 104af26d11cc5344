"""Set-up of the whole suite: a fresh kernel cache, hypothesis profiles, markers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

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


class Warming(NamedTuple):
    """A process that compiles every kernel, the folder of its cache, and the folder of what it says."""

    process: subprocess.Popen[bytes]
    folder: str
    said: Path

    def outcome(self) -> tuple[str, str]:
        """Output and errors, when it has ended well."""
        self.process.wait(timeout=900)
        out, err = ((self.said / name).read_text() for name in ("out", "err"))
        assert self.process.returncode == 0, err
        return out, err


_warming: Warming | None = None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin what takes a minute and needs nothing else, so that it is done when its tests come (see `warming`).

    A session with a cache of its own lets it fill that one, and waits: both processors compile each kernel once, and
    the tests find all of them.
    """
    global _warming
    if not NO_JIT and not session.config.option.collectonly and any("warming" in getattr(item, "fixturenames", ())
                                                                    for item in session.items):
        folder = _own_cache or tempfile.mkdtemp(prefix="copart-warm-")
        said = Path(tempfile.mkdtemp(prefix="copart-said-"))
        command = [sys.executable, "-m", "copart", "doctor", "--warm", "--json"]
        with open(said / "out", "w") as out, open(said / "err", "w") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err, cwd=Path(__file__).parent.parent,
                                       env={**os.environ, "NUMBA_CACHE_DIR": folder})
        _warming = Warming(process, folder, said)
        if _own_cache is not None:
            process.wait()


@pytest.fixture(scope="session")
def warming() -> Warming:
    """``copart doctor --warm`` into an empty cache, begun when the session did."""
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
        _warming.process.kill()
        _warming.process.wait()
        shutil.rmtree(_warming.folder, ignore_errors=True)
        shutil.rmtree(_warming.said, ignore_errors=True)
    if _own_cache is not None:
        shutil.rmtree(_own_cache, ignore_errors=True)
