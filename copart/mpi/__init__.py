"""What runs on MPI: the only importer of mpi4py."""

from .cartesian import cart_create
from .exchange import Exchange
from .halo import Halo
from .multijagged import multijagged
from .reordering import new_rank, reorder

__all__ = ["Exchange", "Halo", "cart_create", "multijagged", "new_rank", "reorder"]
