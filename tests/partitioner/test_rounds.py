"""Work shared by threads: jobs that bring others, and jobs that fail."""

from __future__ import annotations

import threading
import time
from itertools import chain

import numpy as np
import pytest

from copart.partitioner import rounds
from copart.partitioner.rounds import Team


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_jobs_that_come_of_others_are_done_once(threads):
    done = []

    def halve(job: tuple[int, int]) -> list[tuple[int, int]]:
        lo, hi = job
        done.append(job)
        middle = (lo + hi) // 2
        return [(lo, middle), (middle, hi)] if hi - lo > 1 else []

    with Team(threads) as team:
        team.unfold(halve, [(0, 13), (13, 20)])
    assert sorted(job for job in done if job[1] - job[0] == 1) == [(i, i + 1) for i in range(20)]
    assert len(done) == len(set(done)) == 2 * 20 - 2


@pytest.mark.parametrize(("threads", "count"), [(1, 1), (2, 2), (3, 3)])
def test_arrays_are_shared_out_piece_by_piece(monkeypatch, threads, count):
    """As many pieces of each as of the longest; those of one begin where the last ended."""
    monkeypatch.setattr(rounds, "GRAIN", 4)
    arrays = [np.arange(12), np.arange(100, 105), np.arange(0)]
    with Team(threads) as team:
        made = team.each(lambda *pieces: [piece.tolist() for piece in pieces], arrays)
    assert len(made) == count
    for array, pieces in zip(arrays, zip(*made, strict=True), strict=True):
        assert list(chain(*pieces)) == array.tolist()


def test_jobs_are_done_in_their_order_by_one_thread():
    seen = []
    with Team(1) as team:
        team.unfold(lambda job: seen.append(job) or [job + "a", job + "b"][: 2 * (len(job) < 3)], ["x", "y"])
    assert seen == ["x", "y", "xa", "xb", "ya", "yb", "xaa", "xab", "xba", "xbb", "yaa", "yab", "yba", "ybb"]


def test_a_thread_without_a_job_waits_for_those_to_come():
    """The only job brings two, which need a thread each: they wait for each other."""
    both = threading.Barrier(2, timeout=20)

    def work(job: str) -> list[str]:
        if job == "first":
            time.sleep(0.2)  # in which the other thread looks for a job
            return ["left", "right"]
        both.wait()
        return []

    with Team(2) as team:
        team.unfold(work, ["first"])


@pytest.mark.parametrize("threads", [1, 2])
def test_what_a_job_raises_is_raised(threads):
    def work(job: int) -> list[int]:
        if job == 5:
            raise ValueError("the fifth")
        return [job + 1]

    with Team(threads) as team, pytest.raises(ValueError, match="the fifth"):
        team.unfold(work, [0])
