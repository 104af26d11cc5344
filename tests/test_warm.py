"""Kernels compiled ahead: the table of them, their order, the processes, and what a run compiles itself."""

import ast
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from copart.kernels.signatures import callees, decoded, encoded, kernels
from copart.options import Options
from copart.warm import processes
from copart.warm.processes import compile_ahead, needs, table

from . import kernel_table
from .helpers import ROOT

NO_JIT = os.environ.get("NUMBA_DISABLE_JIT") == "1"
pytestmark = pytest.mark.skipif(NO_JIT, reason="nothing is compiled without the JIT")

#: Kernels that take a moment to compile; the last calls the two before it.
FEW = ["csr.edge_cut", "heap.sift_down", "heap.sift_up", "heap.remove"]


# ---- the table
def test_every_kernel_in_the_table_is_there_with_one_signature():
    assert set(table()) <= set(kernels())
    assert {name: len(one.types) for name, one in table().items() if len(one.types) != 1} == {}


def test_types_come_back_from_json():
    for name, one in table().items():
        for types in one.types:
            back = [decoded(said) for said in types]
            assert [encoded(one) for one in back] == types, name
            assert json.loads(json.dumps(types)) == types


def test_types_that_no_kernel_takes_are_refused():
    from numba import types

    with pytest.raises(ValueError, match="none of the types"):
        encoded(types.unicode_type)


def test_callees_come_first():
    order = needs(table())
    assert "heap.sift_up" in order["heap.remove"]
    for name, below in order.items():
        assert name not in below
        assert all(order[inner] < below for inner in below)
        assert below == callees(kernels()[name]) | {
            deeper for inner in callees(kernels()[name]) for deeper in order.get(inner, ())} & set(table())


# ---- processes
@pytest.fixture
def few(monkeypatch):
    """A table of a few kernels, as if each took long."""
    from dataclasses import replace

    rows = {name: replace(table()[name], seconds=10.0, used=frozenset({"few"})) for name in FEW}
    monkeypatch.setattr(processes, "table", lambda: rows)
    return rows


_FEW = f"""
import sys, time
from dataclasses import replace
from copart.warm import processes
rows = {{name: replace(processes.table()[name], seconds=10.0, used=frozenset({{"few"}})) for name in {FEW!r}}}
processes.table = lambda: rows
said = []
done = processes.compile_ahead("few", lambda *state: said.append(state), workers=int(sys.argv[1]))
from copart.kernels.clock import CLOCK
print(done, CLOCK.kernels, len(processes.missing(rows)), [one[:2] for one in said])
"""


def ahead(cache: Path, workers: int, first: str = "") -> subprocess.Popen:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(cache)}
    return subprocess.Popen([sys.executable, "-c", first + _FEW, str(workers)], cwd=ROOT, env=env, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def answer(process: subprocess.Popen) -> str:
    out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    return out.strip()


def shared_out(said: str) -> tuple[str, int, int, list[tuple[int, int]]]:
    """Whether all went well, how many kernels the process that asked compiled, how many are missing, what it told."""
    well, here, left, told = said.split(" ", 3)
    return well, int(here), int(left), ast.literal_eval(told)


STEPS = "[(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]"


@pytest.mark.slow
def test_processes_share_the_kernels_and_a_later_run_compiles_nothing(tmp_path):
    out, mine, left, said = shared_out(answer(ahead(tmp_path, 2)))
    assert (out, left) == ("True", 0)
    assert 0 < mine <= 4
    assert (said[0], said[-1]) == ((0, 4), (4, 4))
    assert said == sorted(said)
    files = {f.name: f.read_bytes() for f in tmp_path.rglob("*.nb?")}
    assert answer(ahead(tmp_path, 2)) == "True 0 0 []"
    assert {f.name: f.read_bytes() for f in tmp_path.rglob("*.nb?")} == files


@pytest.mark.slow
def test_two_that_start_at_once_are_not_in_each_others_way(tmp_path):
    both = [ahead(tmp_path, 2) for _ in range(2)]
    assert [shared_out(answer(one))[::2] for one in both] == [("True", 0)] * 2
    assert answer(ahead(tmp_path, 2)) == "True 0 0 []"


@pytest.mark.slow
def test_one_processor_compiles_in_the_run_itself(tmp_path):
    compiled = answer(ahead(tmp_path, 1))
    assert compiled == f"True 4 0 {STEPS}"


@pytest.mark.slow
def test_where_nothing_can_be_kept_the_run_compiles_for_itself(tmp_path):
    nowhere = "from numba.core import caching\ncaching.CacheImpl._locator_classes = []\n"
    assert answer(ahead(tmp_path, 2, first=nowhere)) == f"True 4 4 {STEPS}"
    assert not list(tmp_path.rglob("*.nb?"))


@pytest.mark.slow
def test_processes_that_cannot_be_started_or_end_leave_the_work_to_the_run(few, monkeypatch, tmp_path):
    began = []

    def start():
        began.append(1)
        if len(began) == 1:
            raise OSError("no more processes")
        return subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    done = []
    monkeypatch.setattr(processes, "_start", start)
    monkeypatch.setattr(processes, "missing", lambda names: list(few))
    monkeypatch.setattr(processes, "compile_kernel", lambda name: bool(done.append(name)) or True)
    assert compile_ahead("few", workers=3)
    assert len(began) == 2
    assert sorted(done) == sorted(FEW)
    assert done.index("heap.sift_up") < done.index("heap.remove")


def test_a_kernel_that_does_not_fit_the_table_is_left_to_its_caller(few, monkeypatch):
    from dataclasses import replace

    wrong = {**few, "csr.edge_cut": replace(few["csr.edge_cut"], types=(["int64"],))}
    monkeypatch.setattr(processes, "table", lambda: wrong)
    monkeypatch.setattr(processes, "missing", lambda names: ["csr.edge_cut"])
    assert not compile_ahead("few", workers=1)


def test_little_work_starts_no_process(few, monkeypatch):
    from dataclasses import replace

    little = {name: replace(one, seconds=0.1) for name, one in few.items()}
    monkeypatch.setattr(processes, "table", lambda: little)
    monkeypatch.setattr(processes, "missing", lambda names: list(few))
    monkeypatch.setattr(processes, "_start", lambda: pytest.fail("started"))
    assert compile_ahead("few", workers=8)


def test_processes_that_compile_do_so_without_linear_algebra(tmp_path):
    """numba imports it before it compiles, a sixth of a second for products of matrices."""
    code = "import sys; from copart.warm.worker import main; main(); print('scipy.linalg' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path)}
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, text=True, capture_output=True, check=True,
                          input="rng.mix\n").stdout
    assert said == "done\nFalse\n"
    assert list(tmp_path.rglob("*.nbc"))


def test_schemes_are_run_once_in_a_process(monkeypatch):
    steps, ran = importlib.import_module("copart.warm.steps"), []
    monkeypatch.setattr(steps, "schemes", lambda names, options: ran.append((names, options.preset)))
    steps.schemes_once.cache_clear()
    fast, other = Options(preset="fast"), Options()
    for names, options in ((("naive",), fast), (("naive",), Options(preset="fast")), (("aware",), fast),
                           (("naive",), other)):
        steps.schemes_once(names, options)
    steps.schemes_once.cache_clear()
    assert ran == [(("naive",), "fast"), (("aware",), "fast"), (("naive",), "default")]


# ---- what runs compile
def test_runs_compile_nothing_but_the_table(warming, tmp_path):
    """After `copart doctor --warm`, usual commands load one signature of each kernel and compile none."""
    warming.outcome()
    kernel_table.example(tmp_path)
    for command, line in kernel_table.COMMANDS.items():
        found = kernel_table.isolated(f"loaded({line!r})", tmp_path, Path(warming.folder))
        assert found["compiled"] == 0, command
        assert set(found["signatures"].values()) == {1}, command
        used = {name for name, one in table().items() if command in one.used}
        assert set(found["signatures"]) <= used, f"{command}: python -m tests.kernel_table makes the table anew"


def test_every_stage_compiles_nothing_but_the_table(warming, tmp_path):
    warming.outcome()
    assert kernel_table.isolated("stages()", tmp_path, Path(warming.folder)) == [], \
        "python -m tests.kernel_table makes the table anew"


# ---- interrupts, and the program
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_an_interrupt_leaves_no_process_behind(tmp_path):
    status, err, workers = interrupted(tmp_path)
    assert status == 130, err
    # after it, LLVM's binding may say that an object was half made
    assert "copart part: interrupted" in err.splitlines()
    assert not [one for one in workers if Path(f"/proc/{one}").exists()]
    assert not list(tmp_path.glob("a.vtu.part*"))


def test_an_interrupt_that_became_an_error_is_no_kernel_that_fails(monkeypatch):
    class Kernel:
        @staticmethod
        def compile(types):
            raise RuntimeError("as __set_name__ makes of it") from KeyboardInterrupt()

    monkeypatch.setattr("copart.kernels.signatures.named", lambda name: Kernel)
    with pytest.raises(KeyboardInterrupt):
        processes.compile_kernel("csr.edge_cut")


def interrupted(folder: Path) -> tuple[int, str, list[int]]:
    """Status and messages of a first use that is interrupted as soon as it has workers, and these."""
    kernel_table.example(folder)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(folder / "cache")}
    # a shell's background jobs ignore interrupts, and so would all that they start
    code = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n" \
           "import copart.doctor\ncopart.doctor.processors = lambda: 2\nfrom copart.cli import main\n" \
           "raise SystemExit(main(['part', 'a.vtu', '8']))"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=folder, env=env, text=True, stderr=subprocess.PIPE)
    workers: list[int] = []
    until = time.monotonic() + 60
    while not workers and time.monotonic() < until:
        time.sleep(0.1)
        workers = children(process.pid)
    assert workers
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    return process.returncode, err, workers


def children(parent: int) -> list[int]:
    """Processes whose parent this is."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if stat.read_text().rpartition(")")[2].split()[1] == str(parent):
                found.append(int(stat.parent.name))
    return found


@pytest.mark.slow
def test_the_program_compiles_what_is_missing(tmp_path):
    few = "import runpy, copart.warm.processes as w\n" \
          "rows = {name: w.table()[name] for name in ('csr.edge_cut', 'csr.first_faults')}\nw.table = lambda: rows\n" \
          "runpy.run_module('copart.warm', run_name='__main__')\n"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path)}
    said = [subprocess.run([sys.executable, "-c", few, *options], cwd=ROOT, env=env, text=True, capture_output=True,
                           check=True) for options in ([], [], ["-q"])]
    assert [one.stdout for one in said] == [""] * 3
    assert [one.stderr for one in said] == ["2 of 2 kernels\n", "", ""]
    wrong = subprocess.run([sys.executable, "-c", few, "--workers", "0"], cwd=ROOT, env=env, text=True, check=False,
                           capture_output=True)
    assert wrong.returncode == 2
    assert "--workers: must be at least 1" in wrong.stderr
