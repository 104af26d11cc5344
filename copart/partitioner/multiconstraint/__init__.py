"""Partitioning under several balance constraints: every vertex has ``ncon`` weights, and each is balanced.

Multilevel, as :mod:`copart.kgggp_ml`, on vectors of weights (Karypis & Kumar 1998, *Multilevel algorithms for
multi-constraint graph partitioning*): coarsening on the sum of the normalised weights, recursive bisection with one
queue per side and constraint, k-way FM with rollback under a matrix of limits, one per constraint and part.

Whether a feasible partition exists at all is NP-hard to tell with one constraint already, and with several weights
a vertex there may be none where every single constraint has one.  What is returned is feasible; else an error says
which limit the best partition found breaks.
"""

from __future__ import annotations

from .partitioning import partition_multiconstraint, refine_multiconstraint

__all__ = ["partition_multiconstraint", "refine_multiconstraint"]
