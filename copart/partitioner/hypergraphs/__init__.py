"""Making hypergraphs smaller before they are partitioned.

================  ========================================================================
`reduction`       a smaller hypergraph that stands for another one; contraction of clusters
`clustering`      vertices that share much, joined: matching and clusters, also by threads
`sparsification`  identical nets and vertices, and similar nets, merged
`classes`         which rows of a hypergraph are identical: by sorting and by hashing
================  ========================================================================

(Deveci 2015, chapter 5.)
"""

from __future__ import annotations

from .clustering import METHODS, ORDERS, SIMILARITIES, Clustering, cluster
from .reduction import Reduction, contract
from .sparsification import remove_identical_nets, remove_identical_vertices, remove_similar_nets, sparsify

__all__ = ["METHODS", "ORDERS", "SIMILARITIES", "Clustering", "Reduction", "cluster", "contract",
           "remove_identical_nets", "remove_identical_vertices", "remove_similar_nets", "sparsify"]
