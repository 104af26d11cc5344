"""The figures of a partition and of a co-partition, each defined once.

============  ====================================================================================
`balance`     what a part may weigh
`components`  one component: part weights, imbalance, cut, pieces
`pairs`       one pair of components: the coupling matrix, its volume and messages; migration
`parts`       one part: its load, coupled load, and what it exchanges
`traffic`     one process: what it sends and receives, in halos and in a coupling phase
`step`        what a coupled step costs
`coupled`     all figures of a co-partition
`hypergraph`  what the nets of a partitioned hypergraph send
`promise`     in what a co-partition is worse than partitioning each component alone
`columns`     how figures are called and written in tables
============  ====================================================================================

Everything is computed from the problem and the part arrays; no figure of an optimiser is taken over.
(Predari & Esnard 2014, Section III.)
"""

from __future__ import annotations

from .balance import copartition_limit, max_part_weight, max_part_weights, part_room, target_shares
from .components import (
    ComponentMetrics,
    bodies,
    boundary,
    component_metrics,
    edge_cut,
    graph_pieces,
    imbalance,
    loose_pieces,
    part_weights,
    pieces,
)
from .coupled import CoupledMetrics, evaluate
from .hypergraph import HypergraphMetrics, evaluate_hypergraph
from .pairs import (
    PairMetrics,
    coupling_matrix,
    coupling_weights,
    migration_matrix,
    migration_messages,
    migration_volume,
    pair_metrics,
)
from .step import StepCost, StepFigures, step_cost

__all__ = ["ComponentMetrics", "CoupledMetrics", "HypergraphMetrics", "PairMetrics", "StepCost", "StepFigures",
           "bodies", "boundary", "component_metrics", "copartition_limit", "coupling_matrix", "coupling_weights",
           "edge_cut", "evaluate", "evaluate_hypergraph", "graph_pieces", "imbalance", "loose_pieces",
           "max_part_weight", "max_part_weights", "migration_matrix", "migration_messages", "migration_volume",
           "pair_metrics", "part_room", "part_weights", "pieces", "step_cost", "target_shares"]
