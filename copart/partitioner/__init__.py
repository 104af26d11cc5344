"""The stages of the multilevel partitioner, in the order of a run; :mod:`copart.kgggp_ml` drives them.

================  =================================================================================
`feasibility`     what no partition can meet, told before any work is done
`coarsening`      clusters by matching or label propagation, and their contraction
`growing`         KGGGP: the initial partition, all parts grown at once from their seeds
`bisection`       recursive bisection of the coarsest graph, itself multilevel
`coordinates`     recursive coordinate bisection, one more initial partition
`refinement`      unconstrained local search in rounds, with rebalancing
`flows`           minimum cuts between pairs of parts
`settling`        the hard promises made good: balance, no empty part
`corridors`       what joins fixed vertices of a part that lie apart
`contiguity`      parts in one piece
`multilevel`      these stages on all levels: coarsen, partition, uncoarsen and refine
`evolution`       several partitions combined (preset "best")
`rounds`          the threads that share a round
`memory`          large arrays whose memory goes back to the system when they are freed
`parallel`        independent pieces of work side by side, such as one per component
`multiconstraint` the same for vertices of several weights
`multijagged`     beside all this: points partitioned into boxes, by coordinates alone
`geometric`       its parts, and other methods that go by coordinates
================  =================================================================================
"""
