"""NAIVE, AWARE and PROJREPART run again: every Part in them is a repartition from where the data is.

First the coupled subgraphs, then their extensions.  (Predari & Esnard 2014, Section III, for the schemes;
:mod:`copart.dynamic.adaptive` for the repartition.)
"""

from __future__ import annotations

from ..coupling import CoPartition
from .coupled_subgraphs import repartition_coupled
from .rerun import Rerun


def naive_again(run: Rerun) -> CoPartition:
    """NAIVE: every component alone."""
    return CoPartition(run.extended({}), run.count)


def aware_again(run: Rerun) -> CoPartition:
    """AWARE: first the coupled subgraphs, each for itself."""
    return repartition_coupled(run, project=False)


def projrepart_again(run: Rerun) -> CoPartition:
    """PROJREPART: also what the components treated before project onto the next one."""
    return repartition_coupled(run, project=True)


__all__ = ["aware_again", "naive_again", "projrepart_again"]
