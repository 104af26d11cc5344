"""The profile by stage: each second counts once, in the innermost stage."""

from __future__ import annotations

import logging
import re
from types import SimpleNamespace

import pytest

from copart import cli
from copart.kernels import stages
from copart.kernels.stages import Spent, stage, watched
from copart.mesh import cube, write_vtu


@pytest.fixture
def clock(monkeypatch):
    """Time that passes when a test says so; two processors are at work."""
    passed = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(stages.time, "perf_counter", lambda: passed.seconds)
    monkeypatch.setattr(stages.time, "process_time", lambda: 2 * passed.seconds)
    return passed


def test_what_is_within_another_stage_counts_there(clock):
    with watched() as found:
        clock.seconds += 5  # before any stage
        with stage("outer"):
            clock.seconds += 1
            for _ in range(2):
                with stage("inner"):
                    clock.seconds += 2
            clock.seconds += 1
        with stage("outer"):
            clock.seconds += 4
    assert found.spent == {"outer": Spent(6, 12), "inner": Spent(4, 8)}
    assert found.lines() == ["outer    6.000 s   60%   2.00 processors", "inner    4.000 s   40%   2.00 processors"]


def test_a_stage_ends_with_an_error(clock):
    @stage("broken")
    def broken():
        clock.seconds += 1
        raise ValueError("inside")

    with watched() as found:
        with pytest.raises(ValueError, match="inside"):
            broken()
        with stage("next"):
            clock.seconds += 2
    assert found.spent == {"broken": Spent(1, 2), "next": Spent(2, 4)}


def test_nothing_is_noted_where_nobody_watches():
    with stage("alone"):
        pass
    with watched() as found:
        assert found.lines() == []


@pytest.mark.slow
@pytest.mark.parametrize(("words", "names"), [
    ((), {"reading", "dual graph", "numbering", "coarsening", "first partition", "refining", "balance", "figures"}),
    (("--preset", "strong", "--contiguous"), {"coarsening", "minimum cuts", "joining pieces"}),
    (("--objective", "volume"), {"coarsening", "first partition", "partitioning"}),
    (("--method", "rcb"), {"reading", "partitioning", "writing"}),
])
def test_part_tells_where_the_time_went(tmp_path, caplog, words, names):
    write_vtu(tmp_path / "a.vtu", cube("tetra", 3000))
    with caplog.at_level(logging.INFO, "copart"):
        assert cli.main(["part", str(tmp_path / "a.vtu"), "4", "-v", *words]) == 0
    lines = [record.getMessage() for record in caplog.records if record.name == "copart.commands.part"]
    found = {re.fullmatch(r"(.*?) +\d+\.\d{3} s +\d+% +\d+\.\d\d processors", line)[1] for line in lines}
    assert names <= found
    caplog.clear()
    assert cli.main(["part", str(tmp_path / "a.vtu"), "4", *words]) == 0
    assert not caplog.records
