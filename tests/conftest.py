"""Set-up of the whole suite: a fresh kernel cache, hypothesis profiles, markers."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from .warming import ROOT, Warming

# Every session starts with an empty cache, as a user does, and shares it with the processes
# that tests start, and with those that run the tests.  Must be set before numba is imported.
# A caller who sets the variable keeps that cache.
FIRST = "COPART_TEST_SESSION" not in os.environ
if FIRST:
    os.environ["COPART_TEST_SESSION"] = tempfile.mkdtemp(prefix="copart-tests-")
SESSION = Path(os.environ["COPART_TEST_SESSION"])
if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(SESSION / "kernels")
# Some containers ask Python to keep no byte code: every process would translate the whole package and the tests again.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    sys.dont_write_bytecode = False
# MPICH's ranks wait at full speed; where there are more of them than processors, those that wait shall sleep.
os.environ.setdefault("MPIR_CVAR_ENABLE_HEAVY_YIELD", "1")
OWN_CACHE = os.environ["NUMBA_CACHE_DIR"] == str(SESSION / "kernels")
#: Kernels that this process compiled to collect the tests.
COMPILED = pytest.StashKey[int]()
_warming = Warming(SESSION, os.environ["NUMBA_CACHE_DIR"] if OWN_CACHE else str(SESSION / "warm"))

#: Folders and files that take longest, in this order: where several processes run the tests they begin with these,
#: so that none of them has a long one left when the others have ended.
LONGEST = ("mpi", "test_docs.py", "test_lies.py", "test_warm.py", "test_cache.py", "test_determinism.py",
           "test_fuzz_inputs.py", "test_terminals.py", "test_parsing.py", "test_sparsification.py", "test_generated.py",
           "test_objectives.py", "test_pictures.py", "test_instances.py", "test_umpa.py", "test_many_components.py",
           "test_umpa_quality.py")

NO_JIT = os.environ.get("NUMBA_DISABLE_JIT") == "1"

_relaxed = {"deadline": None, "derandomize": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("compiled", max_examples=40, **_relaxed)
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


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Where several processes run the tests, each begins with other files: a new one takes long to translate, and the
    others find what one has written.  What cannot be imported is reported when its turn comes."""
    worker = worker_of(session.config)
    if worker:
        files = sorted(path for given in session.config.args for path in Path(given).rglob("test_*.py"))
        for path in files[int(worker.removeprefix("gw"))::session.config.workerinput["workercount"]]:
            with contextlib.suppress(Exception):
                importlib.import_module(".".join(path.resolve().relative_to(ROOT).with_suffix("").parts))


def needs_warming(session: pytest.Session) -> bool:
    return not NO_JIT and not session.config.option.collectonly and any(
        "warming" in getattr(item, "fixturenames", ()) for item in session.items)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin what takes a minute and needs nothing else, so that it is done when its tests come (see `warming`).

    A session with a cache of its own lets it fill that one, and waits: both processors compile each kernel once, and
    the tests find all of them.  Where several processes run the tests, the first of them begins it.
    """
    # what has been made until now stays, and need not be gone through by every collection of garbage
    gc.freeze()
    from copart.kernels.clock import CLOCK

    session.config.stash[COMPILED] = CLOCK.kernels
    if needs_warming(session):
        if worker_of(session.config) in ("", "gw0"):
            _warming.begin()
        if OWN_CACHE:
            _warming.wait()


@pytest.fixture(scope="session")
def warming() -> Warming:
    """``copart doctor --warm`` into an empty cache, begun when the session did."""
    if NO_JIT:
        pytest.skip("nothing is compiled without the JIT")
    return _warming


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--third", type=int, choices=range(3), help="run a third of the files with tests")


def worker_of(config: pytest.Config) -> str:
    """Name of this process where several run the tests (``pytest -n``), empty where it is the only one."""
    return str(getattr(config, "workerinput", {}).get("workerid", ""))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    third = config.getoption("--third")
    if third is not None:
        files = sorted({item.path for item in items})
        items[:] = [item for item in items if files.index(item.path) % 3 == third]
    if worker_of(config):
        place = {name: i for i, name in enumerate(LONGEST)}
        items.sort(key=lambda item: place.get(group_of(item.nodeid).rpartition("/")[2], len(place)))


def group_of(nodeid: str) -> str:
    """What one process runs: a file, for what its tests share, or all that start ranks of MPI, which are many."""
    file = nodeid.partition("::")[0]
    return "mpi" if "/mpi/" in file else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deal out groups, in the order of their tests."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return ByGroup(config, log)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out of the run without compiled kernels")


def pytest_unconfigure(config: pytest.Config) -> None:
    _warming.end()
    if FIRST:
        shutil.rmtree(SESSION, ignore_errors=True)
