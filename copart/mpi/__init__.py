"""What runs on MPI: the only importer of mpi4py."""

from .cartesian import cart_create

__all__ = ["cart_create"]
