"""Settings of the partitioner: one frozen value, and the presets.

``nparts``, ``eps``, ``fixed``, ``seed`` and ``threads`` are arguments of the
call, not settings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import VERTEX, WEIGHT, frozen, integers
from .errors import ConfigError, PartitionError


@dataclass(frozen=True, slots=True)
class Config:
    """How the multilevel partitioner works.

    Attributes
    ----------
    coarse_per_part, coarse_least : int
        Coarsening stops near ``max(coarse_per_part * nparts, coarse_least)`` vertices.
    tries : int
        Initial partitions grown by KGGGP where recursive bisection does not apply; the best is kept.
    warmth : float
        How much of its own connectivity a vertex may lose in a tentative move, at first.
    cooling : int
        Rounds of refinement a level over which the warmth falls.
    patience : int
        Rounds of refinement without improvement before a level is left.
    bisections : int
        Initial partitions by recursive bisection, up to four times as many where the graph is large.
    reach : int
        Edges from a border within which minimum cuts between pairs of parts are sought; 0 for none.
    rounds : int
        Times that a pair is looked at on a level, at most.
    share : float
        Share of a part's weight that may take part in a minimum cut.
    members, generations : int
        Partitions made, and then combined so many times; the best is returned.
    """

    coarse_per_part: int = 30
    coarse_least: int = 1500
    tries: int = 4
    warmth: float = 0.7
    cooling: int = 12
    patience: int = 4
    bisections: int = 2
    reach: int = 0
    rounds: int = 3
    share: float = 0.2
    members: int = 1
    generations: int = 0


_DEFAULT = Config()
_STRONG = replace(_DEFAULT, bisections=4, tries=8, cooling=24, reach=8, rounds=2)
PRESETS: dict[str, Config] = {
    "fast": replace(_DEFAULT, coarse_per_part=20, bisections=1, tries=2, patience=1, warmth=0.6, cooling=2),
    "default": _DEFAULT,
    "strong": _STRONG,
    "best": replace(_STRONG, members=4, generations=8),
}


def preset(name: str | Config) -> Config:
    """The settings of a preset, or `name` itself when it is a `Config`."""
    if isinstance(name, Config):
        return name
    if name not in PRESETS:
        raise ConfigError(f"preset: {name!r} is not known; choose one of {', '.join(PRESETS)}")
    return PRESETS[name]


@dataclass(frozen=True, eq=False)
class Affinity:
    """What a vertex gains by being in a part, by rows of a small table.

    Vertex v in part k adds ``table[origin[v], k] * vsize[v]`` to what the
    partitioner keeps uncut.  It is the gain of one fixed vertex a part, joined
    to all vertices of some origins, without ever building those edges
    (the enriched graph of Predari & Esnard 2014, Section III-C, Fig. 5).

    Parameters
    ----------
    origin : (nvtxs,) array_like of int
        Row of the table of every vertex; only vertices of one row are merged when coarsening.
    table : (M, nparts) array_like of int
        Non-negative edge weights to the implicit fixed vertices.
    """

    origin: NDArray[np.int32]
    table: NDArray[np.int64]

    def __post_init__(self) -> None:
        table = np.asarray(self.table)
        if table.ndim != 2:
            raise PartitionError(f"affinity table: needs two dimensions, has shape {table.shape}")
        flat = integers("affinity table", table.ravel(), WEIGHT, PartitionError, low=0)
        origin = integers("affinity origin", self.origin, VERTEX, PartitionError, low=0, high=table.shape[0])
        object.__setattr__(self, "origin", frozen(origin))
        object.__setattr__(self, "table", frozen(flat.reshape(table.shape)))

    def rows(self) -> tuple[Any, Any, Any]:
        """The table in compressed rows: ptr (M+1,) int64, idx int32, val int64."""
        where = self.table > 0
        ptr = np.zeros(len(self.table) + 1, np.int64)
        np.cumsum(where.sum(axis=1), out=ptr[1:])
        return ptr, np.nonzero(where)[1].astype(np.int32), self.table[where]
