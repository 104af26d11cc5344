"""Threads inside one kernel: every piece of work is done once, whoever comes, and whenever."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from numba import njit

from copart.kernels import crew as kernels
from copart.kernels.crew import AT, LEFT, OVER, PER_THREAD, Crew
from copart.partitioner.rounds import Team

from ..conftest import NO_JIT


@njit(nogil=True)
def work(me, crew, works, count, done, total):
    """Add up 0..count `works` times, as pieces; notes who did how many pieces."""
    if me > 0:
        while kernels.await_work(crew):
            i = kernels.take(crew, me)
            while i >= 0:
                piece(i, me, crew, done, total)
                i = kernels.take(crew, me)
        return 0
    right = 0
    for w in range(works):
        pieces = kernels.give_out(crew, w, count)
        i = kernels.take(crew, me)
        while i >= 0:
            piece(i, me, crew, done, total)
            i = kernels.take(crew, me)
        kernels.await_others(crew)
        found = 0
        for i in range(pieces):
            found += total[i]
            total[i] = 0
        right += found == count * (count - 1) // 2 + count * w
    kernels.send_home(crew)
    return right


@njit(nogil=True)
def piece(i, me, crew, done, total):
    count, pieces = crew.at[kernels.COUNT], crew.at[kernels.PIECES]
    for j in range(i * count // pieces, (i + 1) * count // pieces):
        total[i] += j + crew.at[kernels.WORK]
    done[me] += 1
    kernels.finish(crew)


def arrays(threads: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(threads, np.int64), np.zeros(2000, np.int64)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("count", [0, 1, 600, 3000, 50_000])
def test_every_piece_is_done_once(threads, count):
    """Also by more threads than there are cores, and where work is over before they come."""
    works = 30 if NO_JIT else 300
    with Team(threads) as team:
        done, total = arrays(threads)
        assert team.together(work, 10**6, works, count, done, total) == works
    pieces = max(1, min(threads * PER_THREAD, count // kernels.LEAST))
    assert done.sum() == works * (1 if threads == 1 or NO_JIT else pieces)


def test_nobody_is_waited_for_who_does_not_come():
    crew = Crew(3, np.zeros(AT, np.int64))
    done, total = arrays(3)
    assert work(0, crew, 50, 40_000, done, total) == 50
    assert done[1:].sum() == 0
    assert crew.at[LEFT] == OVER
    assert work(1, crew, 50, 40_000, done, total) == 0, "who is late goes home"


@pytest.mark.skipif(NO_JIT, reason="threads that wait keep the interpreter")
def test_who_comes_late_helps():
    crew = Crew(2, np.zeros(AT, np.int64))
    done, total = arrays(2)
    work(0, Crew(1, np.zeros(AT, np.int64)), 1, 10, done, total)
    done[:] = 0
    late = threading.Thread(target=lambda: (time.sleep(0.002), work(1, crew, 0, 0, done, total)))
    late.start()
    assert work(0, crew, 100_000, 40_000, done, total) == 100_000
    late.join(10)
    assert not late.is_alive()
    assert done[1] > 0
    assert done.sum() == 100_000 * 2 * PER_THREAD


def test_an_error_sends_the_others_home():
    def failing(me, crew, *args):
        if me == 0:
            raise MemoryError
        return work(me, crew, *args)

    done, total = arrays(2)
    with Team(2) as team:
        work(0, Crew(1, np.zeros(AT, np.int64)), 1, 10, done, total)
        with pytest.raises(MemoryError):
            team.together(failing, 10**6, 1, 10, done, total)
    # closing the team waits for its threads


def test_small_work_is_done_by_one_thread():
    seen = []
    with Team(4) as team:
        team.together(lambda me, crew: seen.append((me, crew.threads)), 100)
    assert seen == [(0, 1)]
