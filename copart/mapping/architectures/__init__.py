"""What a machine is to the mapper: processors, their distances, and domains that are halved again and again.

================  =======================================================================================
`architecture`    what every architecture can do; complete ones (``cmplt``, ``cmpltw``)
`regular`         grids, tori and hypercubes (``mesh``, ``torus``, ``hcub``)
`tree`            switches of nodes of sockets of cores (``tleaf``, ``ltleaf``)
`decomposed`      those whose domains come from a bipartition tree
`deco1`           any graph, all distances kept (``deco 1``)
`deco2`           any graph, multilevel, for a million processors (``deco 2``)
`subset`          some processors of another one (``sub``), also several at one vertex
================  =======================================================================================
"""
