"""The time of compiling, apart from the work, and the line about it."""

import logging
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from copart.kernels import clock

from ..helpers import ROOT


@pytest.fixture
def now(monkeypatch):
    """Time that passes when a test says so."""
    passed = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(clock.time, "perf_counter", lambda: passed.seconds)
    return passed


def event(name="kernel"):
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(__name__=name)})


def test_kernels_compiled_for_others_count_once(now):
    one, names = clock.Clock(), []
    one.tell = names.append
    one.on_start(event("outer"))
    now.seconds += 1
    one.on_start(event("inner"))
    now.seconds += 2
    one.on_end(event())
    assert one.seconds == 0
    now.seconds += 4
    one.on_end(event())
    assert (one.seconds, one.kernels, names) == (7, 2, ["outer", "inner"])


def test_an_end_without_a_start_is_no_error(now):
    """An interrupt came in between: numba ends what it began, and an error there would hide the interrupt."""
    one = clock.Clock()
    one.on_end(event())
    one.on_start(event())
    now.seconds += 1
    one.on_end(event())
    one.on_end(event())
    assert (one.seconds, one.kernels) == (1, 1)


@pytest.mark.parametrize(("known", "lines"), [(False, 1), (True, 0)])
def test_one_line_is_logged_where_it_lasts(now, caplog, known, lines):
    one = clock.Clock()
    one.said = known
    with caplog.at_level(logging.WARNING, logger="copart"):
        for k in range(6):
            assert len(caplog.records) == (lines if k * 2 - 2 > clock.PATIENCE else 0)
            one.on_start(event())
            now.seconds += 2
            one.on_end(event())
    assert sum("compiling kernels" in record.message for record in caplog.records) == lines


def test_work_is_timed_without_compiling(monkeypatch, now):
    one = clock.Clock()
    monkeypatch.setattr(clock, "CLOCK", one)
    with clock.timed() as took:
        now.seconds += 1
        one.on_start(event())
        now.seconds += 10
        one.on_end(event())
        now.seconds += 2
    assert (took.seconds, took.compiling) == (3, 10)


def test_numba_tells_the_clock():
    numba = pytest.importorskip("numba")
    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled without the JIT")
    before, begin = clock.CLOCK.kernels, time.perf_counter()
    with clock.timed() as took:
        numba.njit(lambda x: x + 1)(1)
    assert clock.CLOCK.kernels > before
    assert 0 < took.compiling <= time.perf_counter() - begin


def test_the_line_is_seen_in_python_and_notebooks(tmp_path):
    code = ("import copart, copart.kernels.clock as clock\n"
            "clock.PATIENCE = -1\n"
            "copart.metrics.edge_cut(copart.Graph.from_edges(2, [0], [1]), [0, 1])\n")
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    env.pop("NUMBA_DISABLE_JIT", None)
    said = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
            for _ in range(2)]
    assert said[0].stderr == ("compiling kernels, which is done once and takes up to a minute; copart doctor --warm "
                              "does it ahead\n")
    # what is compiled is kept
    assert [one.stdout for one in said] == ["", ""]
    assert said[1].stderr == ""
