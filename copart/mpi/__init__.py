"""What runs on MPI: the only importer of mpi4py."""

from .cartesian import cart_create
from .exchange import Exchange
from .halo import Halo
from .reordering import new_rank, reorder

__all__ = ["Exchange", "Halo", "cart_create", "new_rank", "reorder"]
