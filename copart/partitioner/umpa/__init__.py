"""UMPa: multilevel k-way partitioning of directed hypergraphs, for what the parts send.

==============  =====================================================================================
`objectives`    metrics of the exchange in the order of their priority
`levels`        the hypergraph as kernels see it, clusters by absorption, contraction
`start`         initial partitions of the coarsest level: recursive bisection, best of several
`search`        the working state of a level, and UMPa's own passes: lexicographic, greedy
`cooling`       annealing of the border before the passes, which they alone do not come near
`pieces`        loose pieces joined to their neighbours where that is free
`driver`        all of it
`again`         a partition improved: coarsened within its parts, annealed, refined
==============  =====================================================================================

(Deveci 2015, *Load-Balancing and Task Mapping for Exascale Systems*, chapter 4; annealing and the hash table of pairs
of parts are not of there.)
"""

from .driver import partition_hypergraph
from .objectives import METRICS, OBJECTIVES, Objective

__all__ = ["METRICS", "OBJECTIVES", "Objective", "partition_hypergraph"]
