"""What runs on MPI: the only importer of mpi4py."""

from .cartesian import cart_create
from .exchange import Exchange
from .halo import Halo
from .multijagged import multijagged
from .partitioning import partition
from .placing import map_tasks
from .reordering import new_rank, reorder

__all__ = ["Exchange", "Halo", "cart_create", "map_tasks", "multijagged", "new_rank", "partition", "reorder"]
