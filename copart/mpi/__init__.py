"""What runs on MPI: the only importer of mpi4py."""

from .cartesian import cart_create
from .reordering import new_rank, reorder

__all__ = ["cart_create", "new_rank", "reorder"]
