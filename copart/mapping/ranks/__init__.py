"""MPI ranks numbered anew, so that those which talk much share a node.

==================  =============================================================================
`communication`     from messages to the communication graph; `message_costs`: their times
`reorder`           the whole of it: :func:`~copart.mapping.ranks.reorder.reorder_ranks`
`partitioners`      the partitioners by name, each with parts of exactly given sizes
`objectives`        for what nodes send in place of the cut, by :mod:`copart.partitioner.umpa`
`kgg`               k-way greedy growing
`negative_cycles`   refinement by negative cycles and shortest paths of moves
`bisection`         recursive bisection with exact sizes
`multilevel`        coarsening (`clustering`), growing and refinement level by level
`isomorphism`       from parts to ranks
==================  =============================================================================
"""
