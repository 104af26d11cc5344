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

from .conftest import COMPILED

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
    out, err = warming.outcome()
    cache = json.loads(out)["cache"]
    assert cache["folder"].startswith(warming.folder)
    assert cache["cold"] is False
    assert cache["compiled"] == cache["kernels"] - len(cache["missing"])
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "copart").rglob("*.py"))
    for name in (kernel.rpartition(".")[2] for kernel in cache["missing"]):
        assert len(re.findall(rf"\b{name}\b", sources)) == 1, f"{name} has callers, but no step of warm reaches it"
    assert "compiling kernels" in err


KEPT = """
import numpy as np
from copart.graph import Graph
from copart.metrics import edge_cut
path = Graph.from_edges(400, np.arange(399), np.arange(1, 400))
print(edge_cut(path, np.arange(400) // 100))
"""


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **environment}, text=True,
                          capture_output=True, check=False)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache with a few kernels."""
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("nothing is compiled without the JIT")
    cache = tmp_path_factory.mktemp("filled")
    done = run(KEPT, NUMBA_CACHE_DIR=str(cache))
    assert done.stdout == "3\n", done.stderr
    assert not done.stderr
    return cache


def swap(files):
    """Each file gets the content of the next."""
    contents = [file.read_bytes() for file in files]
    for file, content in zip(files, contents[1:] + contents[:1], strict=True):
        file.write_bytes(content)


DAMAGE = {
    "cut short": lambda files: [file.write_bytes(file.read_bytes()[:-7]) for file in files],
    "empty": lambda files: [file.write_bytes(b"") for file in files],
    "foreign": lambda files: [file.write_bytes(b"\x80\x05]\x94." * 20) for file in files],
    "a bit": lambda files: [file.write_bytes(file.read_bytes()[:-9] + b"\xff" + file.read_bytes()[-8:])
                            for file in files],
    "swapped": swap,
}


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "kind"), [("cut short", "nbi"), ("foreign", "nbi"), ("empty", "nbc"),
                                              ("a bit", "nbc"), ("swapped", "nbc")])
def test_damaged_files_are_compiled_anew_with_one_remark(filled, tmp_path, damage, kind):
    cache = Path(shutil.copytree(filled, tmp_path / "cache"))
    files = sorted(cache.rglob(f"*.{kind}"))
    assert len(files) > 2
    DAMAGE[damage](files)
    spoilt = {file.name: file.read_bytes() for file in files}
    done = run(KEPT, NUMBA_CACHE_DIR=str(cache))
    assert done.stdout == "3\n", done.stderr
    assert done.stderr.count("is damaged") == 1
    assert str(cache) in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert all(file.read_bytes() != spoilt[file.name] for file in files)
    if damage == "swapped":
        again = run(KEPT, NUMBA_CACHE_DIR=str(cache))
        assert (again.stdout, again.stderr) == ("3\n", "")


@pytest.mark.slow
def test_doctor_reports_damage_and_repairs_it(filled, tmp_path):
    cache = Path(shutil.copytree(filled, tmp_path / "cache"))
    broken = min(cache.rglob("*.nbc"))
    broken.write_bytes(b"")
    few = "import sys, copart.warm.processes as w\n" \
          "rows = {name: w.table()[name] for name in ('csr.edge_cut', 'csr.first_faults')}\nw.table = lambda: rows\n"
    ask = "from copart.cli import main\nsys.exit(main(['doctor', *sys.argv[1:]]))"
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    said = [subprocess.run([sys.executable, "-c", few + ask, *options], cwd=ROOT, env=env, text=True, check=True,
                           capture_output=True).stdout for options in ([], ["--warm"], [])]
    assert f"damaged     1 files, {broken}" in said[0]
    assert "damaged" not in said[1] + said[2]
    assert (run(KEPT, NUMBA_CACHE_DIR=str(cache)).stderr) == ""


@pytest.mark.slow
def test_no_space_left_is_a_remark_that_names_the_path(filled, tmp_path):
    """/dev/full stands for a full disk: what is written there is refused."""
    full = "import builtins\nreal = open\n" \
           "builtins.open = lambda name, *a, **k: real('/dev/full' if '.tmp.' in str(name) else name, *a, **k)\n"
    done = run(full + KEPT, NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stdout == "3\n", done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert str(tmp_path) in done.stderr
    assert "no space left" in done.stderr


@pytest.mark.slow
def test_no_folder_to_keep_kernels_in(tmp_path):
    """Neither in the package nor at home nor where the user says: they are compiled for the run alone."""
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "cache")
    none = "from numba.core import caching\ncaching.CacheImpl._locator_classes = []\n"
    done = run(none + KEPT, NUMBA_CACHE_DIR=nowhere)
    assert done.stdout == "3\n", done.stderr


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_read(filled, tmp_path):
    """As the cache in an image or of a module is; permissions would not keep a superuser from writing."""
    cache = Path(shutil.copytree(filled, tmp_path / "cache"))
    before = {file: file.stat().st_mtime_ns for file in cache.rglob("*")}
    frozen = "import os, tempfile\nfolder = os.environ['NUMBA_CACHE_DIR']\n" \
             "real, may = tempfile.TemporaryFile, os.access\n" \
             "def refuse(*args, dir=None, **more):\n" \
             "    if str(dir).startswith(folder):\n        raise PermissionError(13, 'Permission denied')\n" \
             "    return real(*args, dir=dir, **more)\n" \
             "tempfile.TemporaryFile = refuse\n" \
             "os.access = lambda path, mode: mode != os.W_OK and may(path, mode)\n"
    count = "from copart import doctor\nfrom copart.kernels.clock import CLOCK\nprint(CLOCK.kernels)\n" \
            "print(doctor.kernel_cache().folder.startswith(folder), doctor.kernel_cache().writable)\n"
    done = run(frozen + KEPT + count, NUMBA_CACHE_DIR=str(cache))
    assert (done.stdout, done.stderr) == ("3\n0\nTrue False\n", "")
    assert {file: file.stat().st_mtime_ns for file in cache.rglob("*")} == before


KEY = """
from copart.kernels.csr import edge_cut
from copart.kernels.cache import kept_types
files = edge_cut._cache._cache_file
"""


@pytest.mark.slow
def test_two_processes_that_write_one_index_at_once_lose_nothing(filled, tmp_path):
    """Each has read the index before the other wrote it: the second one overwrites the entry of the first."""
    cache = Path(shutil.copytree(filled, tmp_path / "cache"))
    code = KEY + """
(types, *rest), = files._load_index()
other = (types, ("another", "processor", ""), rest[1])
read = files._load_index()
files._load_index = lambda: {}
files.save(other, "of the other")
del files._load_index
assert list(files._load_index()) == [other]
assert files.load((types, *rest)) is not None and files.load((types, *rest)) != "of the other"
assert files.load(other) == "of the other"
assert set(files._load_index()) == {other, *read}
assert kept_types(edge_cut) == [types]
"""
    done = run(code, NUMBA_CACHE_DIR=str(cache))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_one_folder_holds_the_kernels_of_several_processors(filled, tmp_path):
    cache = Path(shutil.copytree(filled, tmp_path / "cache"))
    count = "from copart.kernels.clock import CLOCK\nprint(CLOCK.kernels)\n"
    compiled = [run(KEPT + count, NUMBA_CACHE_DIR=str(cache), **more).stdout.split()
                for more in ({}, {"NUMBA_CPU_NAME": "generic"}, {"NUMBA_CPU_NAME": "generic"}, {})]
    assert [one[0] for one in compiled] == ["3"] * 4
    assert [int(one[1]) > 0 for one in compiled] == [False, True, False, False]


@pytest.mark.slow
def test_an_edit_of_any_kernel_is_seen(filled, tmp_path):
    """numba looks at the file of the kernel itself; those that it calls are in others."""
    site = tmp_path / "site"
    shutil.copytree(Path(copart.__file__).parent, site / "copart", ignore=shutil.ignore_patterns("__pycache__"))
    cache = tmp_path / "cache"

    def kept() -> set[str]:
        done = subprocess.run([sys.executable, "-c", KEPT], cwd=site, text=True, capture_output=True, check=True,
                              env={**os.environ, "PYTHONPATH": str(site), "NUMBA_CACHE_DIR": str(cache)})
        assert (done.stdout, done.stderr) == ("3\n", "")
        return {file.name for file in cache.rglob("*.nb?")}
    before = kept()
    assert kept() == before
    with open(site / "copart" / "kernels" / "heap.py", "a") as file:
        file.write("# an edit\n")
    assert not kept() & before  # and the old ones are gone


def test_collecting_the_tests_compiles_no_more_than_what_checks_a_graph(request):
    """Each process would do that for itself, before it runs any."""
    assert request.config.stash[COMPILED] <= 2
