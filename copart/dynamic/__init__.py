"""Loads, counts or interfaces have changed, and the codes go on: repartitioning from where the data is.

=============================  ========================================================================
`adaptive`                     one graph: small ``alpha * cut + migration``
`adaptive_multiconstraint`     the same under several balance constraints
`coupled_subgraphs`            the coupled cells of all components, one component after the other
=============================  ========================================================================

Whole co-partitions: :func:`copart.schemes.corepartition.corepartition`.
"""
