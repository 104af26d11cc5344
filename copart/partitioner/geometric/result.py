"""What a geometric partitioner gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Frozen, frozen


class Counters(NamedTuple):
    """What a run did.

    calls : searches along one coordinate (1DPART), those among tied points not counted; tied : searches among tied
    points; iterations : of all these searches; reductions : sums over all processes that they would take, or took;
    comparisons : of a coordinate with a cut.  Cuts found by selection have calls only.
    """

    calls: int = 0
    tied: int = 0
    iterations: int = 0
    reductions: int = 0
    comparisons: int = 0

    def plus(self, **more: int) -> Counters:
        """With more of some."""
        return self._replace(**{name: getattr(self, name) + value for name, value in more.items()})


@dataclass(frozen=True, eq=False)
class GeometricPartition(Frozen):
    """Parts of points.

    Attributes
    ----------
    part : (n,) int32
        Part of every point.
    nparts : int
    weights : (nparts,) float64
        Weight of each part.
    boxes : (nparts, 2, d) float64 or None
        Lower and upper corner of the box of each part. The boxes cover the bounding box of the points without
        overlapping; points on a face may be in either of the boxes that share it. None where parts are no boxes (rib,
        hsfc, morton).
    method : str
    counters : Counters
    """

    part: NDArray[np.int32]
    nparts: int
    weights: NDArray[np.float64]
    boxes: NDArray[np.float64] | None
    method: str
    counters: Counters

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(nparts,) int64 number of points of each part."""
        return frozen(np.bincount(self.part, minlength=self.nparts).astype(np.int64))

    def __repr__(self) -> str:
        return (f"GeometricPartition({len(self.part)} points in {self.nparts} parts by {self.method}, "
                f"{int(self.sizes.min())} to {int(self.sizes.max())} points)")


__all__ = ["Counters", "GeometricPartition"]
