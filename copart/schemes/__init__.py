"""The schemes by name, and those that are not in the paper.

==================  ==========================================================================================
`registry`          every scheme with what it can do; :func:`~copart.schemes.registry.run_scheme`
`corepartition`     a scheme run again after a change
`joint`             JOINT, the default: all components together, level by level
`auto`              AUTO: the cheapest coupled step of those schemes that are no worse than NAIVE
`monolithic`        MONOLITHIC: all components as one graph on a shared pool of processes
`contiguous`        connected parts, whatever the scheme
`exchange`          parts that send little to one another, whatever the scheme
`multiconstraint`   MULTICONSTRAINT: each component once, all cells and coupled cells in balance
==================  ==========================================================================================

NAIVE, AWARE and PROJREPART: :mod:`copart.algorithms`.
"""
