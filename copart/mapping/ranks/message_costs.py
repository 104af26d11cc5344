"""What a message costs: its time from latency and bandwidth, constant or by size.

``T(w) = L(w) + w / B(w)`` with w in bytes, L in microseconds and B in MB/s (10^6 bytes/s), which makes w / B
microseconds.  In the *standard* model L and B are constants, in the *extended* one step functions of w, as the OSU
micro-benchmarks sample them; these are not monotone, and nothing here assumes that they are.
(N. Tihon, Graph Partitioning and its application to MPI, 2024, Sections 3.1.1 and 3.1.2, tables of appendix B.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import frozen
from ...errors import ConfigError

#: Latency (µs) and bandwidth (MB/s) of messages of 2^2, 2^3, ... 2^22 bytes on two clusters, between nodes and within
#: one: MeluXina (HDR200, Dragonfly+) and Lucia (HDR100, fat tree).
_OSU = {
    "meluxina-network": (
        (1.11, 1.10, 1.11, 1.21, 1.32, 1.35, 1.85, 1.99, 2.34, 2.37, 2.87, 3.34, 5.56, 6.55, 8.25, 10.94, 16.41,
         27.57, 50.31, 95.69, 181.18),
        (13.87, 28.92, 57.96, 115.12, 220.43, 429.05, 792.11, 1377.22, 2588.10, 4410.15, 6707.33, 9552.95, 18036.46,
         20739.38, 22032.73, 22605.51, 22817.18, 22834.29, 23520.43, 24658.79, 24405.77),
    ),
    "lucia-network": (
        (1.43, 1.43, 1.43, 1.54, 1.59, 1.64, 1.96, 2.10, 2.55, 2.69, 3.35, 4.10, 5.72, 7.10, 10.53, 15.85, 26.47,
         47.78, 91.14, 176.53, 346.21),
        (10.51, 21.02, 41.99, 83.38, 192.70, 394.30, 740.56, 1436.10, 2690.21, 4633.97, 7690.05, 10481.91, 11310.21,
         11761.30, 12075.25, 12212.19, 12278.17, 12311.00, 12328.53, 12336.37, 12340.34),
    ),
    "meluxina-local": (
        (0.16, 0.18, 0.16, 0.16, 0.16, 0.21, 0.21, 0.23, 0.27, 0.32, 0.41, 0.58, 4.13, 4.88, 6.32, 9.14, 15.50,
         28.45, 46.59, 87.54, 171.20),
        (50.56, 103.56, 209.30, 389.93, 851.62, 1328.86, 2628.47, 5058.91, 9397.88, 12956.23, 17579.07, 23267.79,
         9607.99, 16835.34, 24603.76, 26655.01, 26825.92, 26575.41, 25739.14, 24848.10, 24798.50),
    ),
    "lucia-local": (
        (0.52, 0.51, 0.51, 0.71, 0.69, 0.76, 0.76, 0.85, 1.02, 1.60, 2.21, 3.33, 4.21, 5.00, 6.41, 9.30, 14.72,
         26.11, 48.15, 92.24, 187.75),
        (28.21, 58.14, 113.89, 198.00, 423.46, 440.76, 825.65, 1603.67, 2864.21, 2746.17, 3303.86, 3465.48, 9723.81,
         14670.09, 18623.96, 21958.82, 23461.66, 23595.78, 23645.31, 23608.95, 23659.09),
    ),
}
#: Names of the tables that come along.
TABLES = tuple(_OSU)


@dataclass(frozen=True, eq=False)
class CostModel:
    """Latency and bandwidth as step functions of the message size.

    Parameters
    ----------
    sizes : (s,) array_like of float
        Sizes in bytes, ascending, at which a step begins. A smaller message takes the first step.
    latency : (s,) array_like of float
        Microseconds, not negative.
    bandwidth : (s,) array_like of float
        MB/s (10^6 bytes/s), positive.

    Raises
    ------
    ConfigError
        The three differ in length, or an entry is out of range.

    Examples
    --------
    >>> model = CostModel.named("meluxina-network")
    >>> model.times([4, 2**22]).round(4).tolist()
    [1.3984, 353.0371]
    >>> float(CostModel.standard(2.0, 1000.0).times(500))
    2.5
    """

    sizes: NDArray[np.float64]
    latency: NDArray[np.float64]
    bandwidth: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name in ("sizes", "latency", "bandwidth"):
            column = np.array(getattr(self, name), np.float64)
            if column.ndim != 1 or len(column) == 0:
                raise ConfigError(f"cost model: {name} needs one number per step, has shape {column.shape}")
            if len(column) != len(np.atleast_1d(self.sizes)):
                raise ConfigError(f"cost model: {name} needs {len(np.atleast_1d(self.sizes))} entries, one per size, "
                                  f"has {len(column)}")
            bad = ~np.isfinite(column) | (column < 0) | ((column == 0) & (name == "bandwidth"))
            if bad.any():
                i = int(np.argmax(bad))
                low = "above 0" if name == "bandwidth" else "at least 0"
                raise ConfigError(f"cost model: {name} must be {low} and finite, entry {i} is {column[i]}")
            object.__setattr__(self, name, frozen(column))
        falls = np.diff(self.sizes) <= 0
        if falls.any():
            i = int(np.argmax(falls))
            raise ConfigError(f"cost model: sizes must ascend, {self.sizes[i + 1]:g} follows {self.sizes[i]:g}")

    @classmethod
    def standard(cls, latency: float, bandwidth: float) -> CostModel:
        """Constant latency (µs) and bandwidth (MB/s)."""
        return cls(np.zeros(1), np.array([latency], float), np.array([bandwidth], float))

    @classmethod
    def named(cls, name: str) -> CostModel:
        """One of :data:`TABLES`, as measured with the OSU micro-benchmarks."""
        if name not in _OSU:
            raise ConfigError(f"cost model: {name!r} is no known table; there are {', '.join(TABLES)}")
        latency, bandwidth = _OSU[name]
        return cls(np.exp2(np.arange(2.0, 23.0)), np.array(latency), np.array(bandwidth))

    def times(self, nbytes: ArrayLike) -> NDArray[np.float64]:
        """Time of messages of `nbytes` bytes, in microseconds, elementwise.

        Raises
        ------
        ConfigError
            A size is negative or not finite.
        """
        w = np.asarray(nbytes, np.float64)
        bad = ~(np.isfinite(w) & (w >= 0))
        if bad.any():
            raise ConfigError(f"bytes: a message has at least 0 of them, got {w[bad].flat[0]:g}")
        step = np.clip(np.searchsorted(self.sizes, w, "right") - 1, 0, len(self.sizes) - 1)
        return np.asarray(self.latency[step] + w / self.bandwidth[step])


def as_cost_model(model: Any) -> CostModel:
    """A :class:`CostModel`, the name of a table, or a pair (latency, bandwidth)."""
    if isinstance(model, CostModel):
        return model
    if isinstance(model, str):
        return CostModel.named(model)
    try:
        latency, bandwidth = model
    except (TypeError, ValueError):
        raise ConfigError(f"cost model: needs a CostModel, a name or (latency, bandwidth), got {model!r}") from None
    return CostModel.standard(latency, bandwidth)


__all__ = ["TABLES", "CostModel", "as_cost_model"]
