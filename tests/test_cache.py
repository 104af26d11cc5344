"""The kernel cache: many processes at once, and an install that cannot be written."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import copart

WORK = """
import sys
import numpy as np
import copart
from copart.graph import Graph
from copart.metrics import edge_cut
n = 400
path = Graph.from_edges(n, np.arange(n - 1), np.arange(1, n))
print(copart.__file__, edge_cut(path, np.arange(n) // 100))
"""


ROOT = Path(copart.__file__).parent.parent


def start(site: Path, **environment: str) -> subprocess.Popen:
    env = {**os.environ, "PYTHONPATH": str(site), **environment}
    return subprocess.Popen([sys.executable, "-c", WORK], cwd=site, env=env, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def outcome(process: subprocess.Popen) -> list[str]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.split()


@pytest.mark.slow
def test_many_processes_fill_an_empty_cache_at_once(tmp_path):
    cache = tmp_path / "cache"
    at_once = [start(ROOT, NUMBA_CACHE_DIR=str(cache)) for _ in range(3)]
    results = [outcome(p) for p in at_once]
    assert {r[1] for r in results} == {"3"}
    stored = {f.name: f.stat().st_mtime_ns for f in cache.rglob("*.nb?")}
    assert stored
    # what they left behind is whole: another process compiles nothing
    assert outcome(start(ROOT, NUMBA_CACHE_DIR=str(cache)))[1] == "3"
    assert {f.name: f.stat().st_mtime_ns for f in cache.rglob("*.nb?")} == stored


@pytest.mark.slow
def test_an_install_that_cannot_be_written_caches_in_the_users_folder(tmp_path):
    site = tmp_path / "site"
    shutil.copytree(Path(copart.__file__).parent, site / "copart", ignore=shutil.ignore_patterns("__pycache__"))
    # a file in its place keeps the folder from being made, for a superuser, too
    for folder in (site / "copart").rglob("*/"):
        (folder / "__pycache__").write_text("")
    home = tmp_path / "home"
    home.mkdir()
    env = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache"), "NUMBA_CACHE_DIR": ""}
    where, cuts = outcome(start(site, **env))
    assert where.startswith(str(site))
    assert cuts == "3"
    assert list(home.rglob("*.nbi")), "nothing was cached"


def test_warm_compiles_every_kernel(warming):
    """In a process of its own with an empty cache; afterwards nothing is left to compile."""
    process, folder = warming
    out, err = process.communicate(timeout=900)
    assert process.returncode == 0, err
    cache = json.loads(out)["cache"]
    assert cache["folder"].startswith(folder)
    assert cache["cold"] is False
    assert cache["compiled"] == cache["kernels"] - len(cache["missing"])
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "copart").rglob("*.py"))
    for name in (kernel.rpartition(".")[2] for kernel in cache["missing"]):
        assert len(re.findall(rf"\b{name}\b", sources)) == 1, f"{name} has callers, but no step of warm reaches it"
    assert "compiling kernels" in err
