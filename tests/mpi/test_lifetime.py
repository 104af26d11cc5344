"""How long MPI may use memory and communicators: transfers that are dropped or interrupted, communicators that go."""

from __future__ import annotations

MADE = """
import signal
import numpy as np
from mpi4py import MPI
import copart
from copart.errors import ExchangeError
from copart.mpi import Exchange, Halo
from copart.mpi.members import private

world, n = MPI.COMM_WORLD, 200
path = copart.Graph.from_edges(n, np.arange(n - 1), np.arange(1, n))
problem = copart.CoupledProblem.of_two(path, path, copart.Interedges.from_pairs(n, n, np.arange(n), np.arange(n)))
made = copart.CoPartition({"a": [0] * n, "b": [0] * n}, {"a": 1, "b": 1})
"""

DROPPED = MADE + """
exchange = Exchange(world, (problem, made), timeout=30)
exchange.forward(np.zeros(n) if world.rank == 0 else None, mapping="raw")
if world.rank == 1:
    exchange.start_forward(mapping="raw")  # nobody waits for it
    mine = [np.zeros(n) for _ in range(50)]  # memory that was just freed, if it was
    world.Barrier()
    for one in range(2, 30):
        assert (exchange.forward(mapping="raw") == one).all()
    assert not np.any(mine)
    assert len(exchange._line._under_way) < 9
else:
    world.Barrier()
    for one in range(1, 30):
        exchange.forward(np.full(n, float(one)), mapping="raw")
"""

INTERRUPTED = MADE + """
class Late(Exception):
    pass


def late(*_):
    raise Late


exchange = Exchange(world, (problem, made), timeout=30)
exchange.forward(np.zeros(n) if world.rank == 0 else None)
if world.rank == 1:
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        exchange.forward()
    except Late:
        mine = [np.zeros(n) for _ in range(50)]
    world.Barrier()
    world.Barrier()
    try:
        exchange.forward()
    except ExchangeError as error:
        assert "a wait was interrupted (Late)" in str(error), error
    assert not np.any(mine)
else:
    world.Barrier()
    exchange.start_forward(np.full(n, 111.0))
    world.Barrier()
"""

FREED = MADE + """
for turn in range(60):
    code = world.Dup()
    halo = Halo(code, (problem, made), component="ab"[world.rank], part=0)
    exchange = Exchange(code, (problem, made))
    kept = private(code)[0]
    if turn % 2:
        exchange.close()
        halo.close()
    code.Free()
    assert kept == MPI.COMM_NULL
    try:
        exchange.forward(np.zeros(n) if world.rank == 0 else None)
    except ExchangeError as error:
        assert ("is closed" if turn % 2 else "its communicator was freed") in str(error), error
    else:
        raise AssertionError
    exchange.close()
# one of a communicator that is there to the end
exchange = Exchange(world, (problem, made))
"""


def test_a_transfer_that_nobody_waits_for(both):
    done = both(2, "-c", DROPPED)
    assert done.returncode == 0, done.stderr


def test_a_wait_that_is_interrupted(both):
    done = both(2, "-c", INTERRUPTED)
    assert done.returncode == 0, done.stderr


def test_private_communicators_are_freed_with_those_of_the_user(both):
    done = both(2, "-c", FREED)
    assert done.returncode == 0, done.stderr
