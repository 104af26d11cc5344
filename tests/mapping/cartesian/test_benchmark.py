"""The benchmark of Cartesian reordering: what is timed, and how times are summed up."""

from __future__ import annotations

import numpy as np

from benchmarks.cartesian import EXCHANGES, INSTANTIATIONS, MOST, WARM_UPS, Exchange, gathered, main, timed
from copart.mapping.cartesian import stencil


class Recorder:
    """Stands for a communicator: notes what is called, in order."""

    def __init__(self):
        self.calls = []

    def Barrier(self):
        self.calls.append("barrier")

    def gather(self, times):
        return [times, times + 1]


def test_three_runs_warm_up_and_a_barrier_stands_before_each():
    comm = Recorder()
    clock = iter(range(100))
    times = timed(comm, lambda: comm.calls.append("exchange"), 5, clock=lambda: next(clock))
    assert comm.calls == ["barrier", "exchange"] * 8
    assert times.tolist() == [1.0] * 5
    assert (WARM_UPS, EXCHANGES, INSTANTIATIONS) == (3, 1500, 50)


def test_minimum_of_the_maxima_and_mean_of_the_means():
    times = np.array([[1.0, 5.0, 3.0], [2.0, 4.0, 3.0], [9.0, 1.0, 2.0]])
    assert Exchange.of(times) == (4.0, (3 + 3 + 4) / 3)
    assert gathered(Recorder(), np.array([1.0, 2.0])).tolist() == [[1.0, 2.0], [2.0, 3.0]]


def test_quality_prints_the_published_mean(capsys):
    assert main(["quality", "--stencil", "component", "--method", "hyperplane"]) == 0
    row = capsys.readouterr().out.splitlines()[2].split()
    assert len(stencil("nine-point", 6)) <= MOST < len(stencil("nine-point", 7))
    assert row == ["component,", "hyperplane", "3.1770", "2.7639", "19", "0", "331"]
