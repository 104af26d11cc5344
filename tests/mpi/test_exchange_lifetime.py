"""How long exchanges, halos and what they hold live: waits, interrupts, freed communicators, the end of MPI."""

from __future__ import annotations

import pytest

CAREFUL = """
import sys, time
import numpy as np
from mpi4py import MPI
import copart
from copart.mpi import Exchange, Halo

comm = MPI.COMM_WORLD
exchange = Exchange(comm, sys.argv[1], timeout=30)
sends = "a" in exchange.cells
wide = (len(exchange.cells["a"]), 40000) if sends else None  # so large that it needs both sides to move
# messages of the next exchange, of another kind, wait while the first is on its way and its sender computes
if sends:
    one, two = exchange.start_forward(np.ones(wide)), exchange.start_forward(np.arange(wide[0]), mapping="nearest")
    time.sleep(3)
    one.wait(), two.wait()
else:
    assert (exchange.forward(like="40000f8") == 1).all()
    exchange.forward(like="i8", mapping="nearest")
# a result is there once: a second wait would add it again
halo = Halo(comm, sys.argv[1])
under_way = halo.start_reduce(np.ones(len(halo.cells)))
under_way.wait()
try:
    under_way.wait()
except copart.ConfigError as error:
    assert "complete" in str(error)
else:
    raise SystemExit("waited twice")
MPI.Finalize()  # and what is open then is nobody's trouble
"""


def test_computing_meanwhile_and_ending_mpi_oneself(both, folders):
    done = both(4, "-c", CAREFUL, str(folders / "1"))
    assert done.returncode == 0, done.stderr


FREED = """
import sys
import numpy as np
from mpi4py import MPI
import copart
from copart.mpi import Exchange, Halo
from copart.mpi.members import private

def refused(work):
    try:
        work()
    except copart.ExchangeError as error:
        assert "its communicator was freed" in str(error), error
    else:
        raise SystemExit("went on")

world, folder = MPI.COMM_WORLD, sys.argv[1]
code = world.Split(world.rank // 2, world.rank)
name = "ab"[world.rank // 2]
tags = set()
for i in range(30):
    # another one of the same size; MPI gives the number of a former one to it, whose farewells are still there
    comm = world.Dup() if i % 3 else code.Create_intercomm(0, world, 0 if world.rank >= 2 else 2)
    own, tag = private(comm)
    assert tag not in tags
    tags.add(tag)
    exchange, halo = Exchange(comm, folder, component=name, timeout=30), Halo(comm, folder, name, timeout=30)
    halo.update(halo.cells.copy())
    values = np.full(len(exchange.cells["a"]), 1.0 * i) if name == "a" else None
    got = exchange.forward(values, mapping="raw")
    assert values is not None or (got == i).all()
    world.Barrier()
    for _ in range(3):
        exchange._line._look_for_farewells()
        halo._line._look_for_farewells()
    assert not exchange._line.gone and not halo._line.gone, "a farewell from before"
    world.Barrier()
    if i % 2:
        halo.close()
    # some are under way
    pending = exchange.start_forward(values, mapping="raw") if i % 5 else None
    comm.Free()
    assert own == MPI.COMM_NULL
    refused(lambda: exchange.forward(values))
    refused(lambda: halo.update(halo.cells.copy()))
    if pending is not None:
        refused(pending.wait)
    exchange.close()
# the communicators of MPI itself, and one that is never freed
kept = [Exchange(world, folder), Exchange(world.Dup(), folder), private(MPI.COMM_SELF)]
if sys.argv[2] == "ends MPI":
    MPI.Finalize()
"""


@pytest.mark.parametrize("end", ["ends MPI", "ends"])
def test_a_communicator_that_is_freed_takes_the_private_one_along(both, folders, end):
    done = both(4, "-m", "mpi4py", "-c", FREED, str(folders / "1"), end)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


DROPPED = """
import gc, signal, sys, weakref
import numpy as np
from mpi4py import MPI
import copart
from copart.mpi import Exchange, Halo

comm = MPI.COMM_WORLD
exchange, halo = Exchange(comm, sys.argv[1], timeout=30), Halo(comm, sys.argv[1], timeout=30)
sends = "a" in exchange.cells
here = np.arange(len(halo.cells)) < halo.nowned

def forward(x):
    return exchange.start_forward(np.full(len(exchange.cells["a"]), x) if sends else None, mapping="raw")

# what is dropped before anything comes is kept until it has come; the next has its own values
for layout in ("new", "known"):
    gone = []
    if comm.rank >= 2:
        for pending in (forward(1.0), halo.start_update(here * 1.0)):
            gone.append(weakref.ref(pending._transfer._came))
        del pending
        gc.collect()
        assert all(came() is not None for came in gone), layout
    comm.Barrier()
    if comm.rank < 2:
        forward(1.0).wait()
        halo.update(here * 1.0)
    for x in (2.0, 3.0):
        got, values = forward(x).wait(), here * x
        halo.update(values)
        assert (values == x).all() and (sends or (got == x).all())
    assert not any(came() is not None for came in gone) and not exchange._line.under_way and not halo._line.under_way
# fields that are not those of a partner are noticed later
if comm.rank < 2:
    exchange.start_backward(like="i8")
else:
    exchange.start_backward(np.ones(len(exchange.cells["b"]), "f8"))
comm.Barrier()
try:
    exchange.backward(None if sends else np.ones(len(exchange.cells["b"]), "i8"), like="i8" if sends else None)
except copart.ExchangeError as error:
    assert sends and "sends conservative float64, expected is conservative int64" in str(error), error
else:
    assert not sends

# a signal ends a wait
class Late(Exception):
    pass

def late(*_):
    raise Late

if comm.rank == 2:
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    one, two = halo.start_update(here * 1.0), halo.start_update(here * 1.0)
    try:
        one.wait()
    except Late:
        pass
    for again in (lambda: halo.update(here * 1.0), one.wait, two.wait):
        try:
            again()
        except copart.ExchangeError as error:
            assert "Late ended an exchange that was not complete" in str(error)
        else:
            raise SystemExit("went on")
    gone = [weakref.ref(pending._transfer._came) for pending in (one, two)]
    del one, two, again, halo
    gc.collect()
    assert all(came() is not None for came in gone)
comm.Barrier()
if comm.rank == 3:
    halo.start_update(here * 1.0)
    halo.start_update(here * 1.0)
"""


def test_arrays_of_transfers_that_nobody_waits_for_are_kept(both, folders):
    done = both(4, "-m", "mpi4py", "-c", DROPPED, str(folders / "1"))
    assert done.returncode == 0, done.stderr


MANY = """
import sys
import numpy as np
from mpi4py import MPI
from copart.mpi import Exchange, Halo
from copart.mpi.line import _lines
from copart.mpi.members import private
for i in range(20):
    exchange = Exchange(MPI.COMM_WORLD, sys.argv[1])
    exchange.forward(exchange.cells["a"] * 1.0 if "a" in exchange.cells else None)
    with Halo(MPI.COMM_WORLD, sys.argv[1]) as halo:
        halo.update(halo.cells.copy())
    exchange.close()
# communicators are scarce: one serves them all
assert len(_lines) < 20, len(_lines)  # those that all have left are not kept
assert private(MPI.COMM_WORLD)[0] is private(MPI.COMM_WORLD)[0] is exchange._line.comm is halo._line.comm
"""


def test_exchanges_can_be_made_again_and_again(launch, folders):
    done = launch(4, "-c", MANY, str(folders / "1"))
    assert done.returncode == 0, done.stderr
