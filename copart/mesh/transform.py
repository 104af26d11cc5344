"""Where a mesh is put before it is compared with another: scaled, moved, repeated."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import fraction
from ..errors import ConfigError
from .value import Mesh

MAX_COPIES = 1000


@dataclass(frozen=True)
class Transform:
    """First `scale`, then `shift`, then copies at every multiple of `period`.

    Parameters
    ----------
    scale : float
        What the coordinates are multiplied by, for a mesh in another unit: 0.001 from millimetres to metres.
    shift : 3 floats
        Added to the scaled coordinates.
    period : 3 floats, optional
        The mesh goes on periodically: it is also where this vector and its multiples, in both directions, put it.

    Raises
    ------
    ConfigError
        A scale that is not positive, not three finite numbers, or a period of no length.

    Examples
    --------
    >>> Transform(scale=0.001, shift=(0, 0, 1)).remarks("wall")
    ("'wall' is scaled by 0.001", "'wall' is moved by (0, 0, 1)")
    """

    scale: float = 1.0
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    period: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        scale = fraction("scale", self.scale)
        if scale == 0:
            raise ConfigError("scale: must be above 0, got 0")
        put(self, "scale", scale)
        put(self, "shift", _three("shift", self.shift))
        if self.period is not None:
            put(self, "period", _three("period", self.period))
            if not any(self.period):
                raise ConfigError("period: must not be zero")

    def apply(self, mesh: Mesh) -> Mesh:
        """The mesh scaled and moved (not repeated)."""
        if self.scale == 1 and not any(self.shift):
            return mesh
        return mesh.replace(points=mesh.points * self.scale + np.array(self.shift))

    def offsets(self, bounds_a: NDArray[np.float64], bounds_b: NDArray[np.float64], margin: float,
                ) -> NDArray[np.float64]:
        """(ncopies, 3) where the copies of B are whose bounding box comes within `margin` of that of A.

        The mesh itself, offset zero, comes first, always.

        Raises
        ------
        ConfigError
            Very many copies: the period is too short.
        """
        if self.period is None:
            return np.zeros((1, 3))
        period = np.array(self.period)
        axis = int(np.argmax(np.abs(period)))
        # copies whose interval along that axis can meet A
        with np.errstate(over="ignore"):
            ends = [(bounds_a[0, axis] - margin - bounds_b[1, axis]) / period[axis],
                    (bounds_a[1, axis] + margin - bounds_b[0, axis]) / period[axis]]
        if not np.isfinite(ends).all():
            raise ConfigError(f"period: {self.period} is too short to count the copies along the other mesh; is the "
                              f"unit right?")
        first, last = int(np.ceil(min(ends))), int(np.floor(max(ends)))
        if last - first > MAX_COPIES:
            raise ConfigError(f"period: {last - first + 1} copies along the other mesh, at most {MAX_COPIES} are "
                              f"supported; is the unit right?")
        near = [k for k in range(first, last + 1) if k != 0
                and (bounds_b[0] + k * period <= bounds_a[1] + margin).all()
                and (bounds_b[1] + k * period >= bounds_a[0] - margin).all()]
        return np.asarray(np.array([0, *near])[:, None] * period)

    def remarks(self, name: str) -> tuple[str, ...]:
        """What is done to the mesh called `name`, in words."""
        out = []
        if self.scale != 1:
            out.append(f"{name!r} is scaled by {self.scale:g}")
        if any(self.shift):
            out.append(f"{name!r} is moved by {vector_text(self.shift)}")
        if self.period is not None:
            out.append(f"{name!r} is repeated by {vector_text(self.period)}")
        return tuple(out)


def vector_text(vector: Sequence[float] | NDArray[np.float64]) -> str:
    """Three numbers in words."""
    return "({:.6g}, {:.6g}, {:.6g})".format(*vector)


def likely_factors(bounds_a: NDArray[np.float64], bounds_b: NDArray[np.float64]) -> list[float]:
    """Unit factors by which the bounding box of B, multiplied, would lie at or in that of A; the likeliest first."""
    out = []
    size_a = float(np.linalg.norm(bounds_a[1] - bounds_a[0]))
    for factor in itertools.chain.from_iterable((f, 1 / f) for f in (1000.0, 100.0, 25.4, 10.0, 0.3048, 1e6)):
        box = bounds_b * factor
        size = float(np.linalg.norm(box[1] - box[0]))
        apart = np.maximum(0, np.maximum(bounds_a[0] - box[1], box[0] - bounds_a[1]))
        if 1 / 50 < size / max(size_a, 1e-300) < 50 and float(np.linalg.norm(apart)) <= 0.1 * min(size, size_a):
            out.append(factor)
    return out


def _three(name: str, values: Any) -> tuple[float, float, float]:
    try:
        x, y, z = (float(v) for v in values)
    except (TypeError, ValueError):
        raise ConfigError(f"{name}: needs three numbers, got {values!r}") from None
    if not np.isfinite([x, y, z]).all():
        raise ConfigError(f"{name}: needs three finite numbers, got {values!r}")
    return x, y, z


__all__ = ["Transform", "likely_factors", "vector_text"]
