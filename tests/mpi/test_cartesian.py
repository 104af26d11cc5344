"""Cartesian communicators on real MPI, with nodes that the test makes up: every rank sits where the serial run says."""

from __future__ import annotations

import subprocess
import sys

from ..helpers import ROOT

#: Ranks are dealt to nodes in turn or unevenly, so that slots and ranks differ.
PLACES = """
import numpy as np
from mpi4py import MPI
from copart.errors import MappingError
from copart.mapping.cartesian import METHODS, Grid, as_stencil, reorder_grid
from copart.mpi.cartesian import cart_create, cart_position

comm = MPI.COMM_WORLD
nodes = {"even": comm.rank % 2, "uneven": [0, 1, 0, 2, 1, 0][comm.rank]}
cases = [((3, 2), (True, False), "crank-nicolson", None), ((3, 2), None, [1, 0, -1, 0, 1, 1], [5, 5, 1])]
found = []
for dims, periods, kind, weights in cases:
    stencil = as_stencil(kind, len(dims), weights)
    for how, node in nodes.items():
        for method in ("best", *METHODS):
            if (method, how) == ("nodecart", "uneven") or method == "cart-reorder":
                continue
            cart = cart_create(comm, dims, periods, kind, weights=weights, method=method, node=node)
            assert cart.Get_coords(cart.rank) == Grid(dims).coordinates(cart.rank).tolist()
            assert [bool(p) for p in cart.Get_topo()[1]] == list(Grid(dims, periods).periods)
            where = cart_position(comm, Grid(dims, periods), stencil, node=node).method if method == "best" else method
            found.append((Grid(dims, periods), stencil, how, method, cart.rank, where))
            cart.Free()
# sizes left open, one node of shared memory: nothing to improve
cart = cart_create(comm, [0, 2], stencil="five-point")
assert (cart.dims, cart.rank) == ([3, 2], comm.rank)
bounded = cart_position(comm, Grid((3, 2)), as_stencil("five-point", 2), objective="max", node=nodes["even"]).method
for bad, words in [({"dims": (5, 2)}, "10 positions for 6"), ({"dims": (3, 2), "stencil": [0, 0]}, "is zero"),
                   ({"dims": (5, 0)}, "cannot hold"),
                   ({"dims": (3, 2), "periods": (True, True), "weights": [3 * 2**57] * 4}, "do not fit in 64 bits"),
                   ({"dims": (3, 2), "method": "nodecart", "node": nodes["uneven"]}, "one size, has 1 to 3 processes")]:
    try:
        cart_create(comm, **bad)
    except MappingError as error:
        assert words in str(error), error
    else:
        raise AssertionError(bad)
node_of_rank = {how: np.array(comm.allgather(node)) for how, node in nodes.items()}
everybody = np.array(comm.allgather([entry[4] for entry in found]))
if comm.rank == 0:
    for i, (grid, stencil, how, method, _, where) in enumerate(found):
        sizes = np.bincount(node_of_rank[how]).tolist()
        made = reorder_grid(grid, stencil, sizes, method, node_of_rank=node_of_rank[how])
        assert np.array_equal(everybody[:, i], made.new_rank), (grid, how, method, everybody[:, i], made.new_rank)
        assert method != "best" or where == made.method
    assert bounded == reorder_grid(Grid((3, 2)), as_stencil("five-point", 2), 2, objective="max").method
    print(len(found))
"""


def test_every_rank_takes_the_place_of_the_serial_run(launcher, compiled):
    # started through mpi4py, a rank that fails ends the others too
    done = subprocess.run([launcher, "-n", "6", sys.executable, "-m", "mpi4py", "-c", PLACES], capture_output=True,
                          text=True, cwd=ROOT, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["30"]
