"""How long the regular phase of a component takes on n processes.

The time is modelled as ``a + b / n + c * log2(n)``: what is not parallel, what is
shared out, and what grows with the number of processes (reductions).  Without
measurements it is ``b / n``, with b the cost of all cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import fraction, integers, whole
from ..errors import ConfigError

#: A fit that misses a measured time by more than this share is remarked on.
_POOR_FIT = 0.1


@dataclass(frozen=True)
class Scaling:
    """``seconds(n) = a + b / n + c * log2(n)``, and where it comes from.

    Attributes
    ----------
    a, b, c : float
        Seconds, none negative.
    low, high : int or None
        Smallest and largest number of processes that was measured; None where the times are computed.
    error : float
        Largest error of the fit, as a share of the measured time.
    """

    a: float
    b: float
    c: float = 0.0
    low: int | None = None
    high: int | None = None
    error: float = 0.0

    def seconds(self, n: ArrayLike) -> NDArray[np.float64]:
        """Time of one step's regular phase on `n` processes."""
        count = np.asarray(n, np.float64)
        return np.asarray(self.a + self.b / count + self.c * np.log2(count))

    def extrapolates(self, n: int) -> bool:
        """Whether `n` is outside what was measured."""
        return self.low is not None and self.high is not None and not self.low <= n <= self.high

    def __str__(self) -> str:
        terms = [f"{self.b:.4g} / n"]
        terms = ([f"{self.a:.4g}"] if self.a else []) + terms + ([f"{self.c:.4g} log2 n"] if self.c else [])
        return " + ".join(terms)


def fit_scaling(processes: ArrayLike, seconds: ArrayLike) -> Scaling:
    """The model of least squared relative errors through measured times, no term negative.

    Parameters
    ----------
    processes : (npoints,) array_like of int
        Numbers of processes; a number may be measured several times.
    seconds : (npoints,) array_like of float
        Time of one step's regular phase, positive.

    Returns
    -------
    Scaling
        With as many terms as different numbers of processes can tell: ``b / n`` from one, ``a + b / n``
        from two, all three from more, unless ``c * log2(n)`` would be all of it.

    Examples
    --------
    >>> fit = fit_scaling([1, 2, 4, 8], [9.0, 5.0, 3.0, 2.0])
    >>> round(fit.a, 6), round(fit.b, 6), round(fit.c, 6), fit.high
    (1.0, 8.0, 0.0, 8)
    """
    n = integers("processes", processes, np.int64, ConfigError, low=1)
    times = np.asarray(seconds, np.float64)
    if times.shape != n.shape or len(n) == 0:
        raise ConfigError(f"seconds: needs {len(n)} times, at least one, has shape {times.shape}")
    if not (np.isfinite(times) & (times > 0)).all():
        raise ConfigError(f"seconds: must be positive and finite, has {times[~(np.isfinite(times) & (times > 0))][0]}")
    distinct = len(np.unique(n))
    columns = np.stack([1 / n, np.ones(len(n)), np.log2(n)], axis=1)[:, :min(distinct, 3)]
    found = _least_squares(columns, times)
    if not found[:2].any():  # times that grow from the fewest processes on: the logarithm alone takes no time on one
        columns = columns[:, :2]
        found = _least_squares(columns, times)
    b, a, c = (*found, 0.0, 0.0)[:3]
    error = float(np.abs(columns @ found / times - 1).max())
    return Scaling(float(a), float(b), float(c), int(n.min()), int(n.max()), error)


def _least_squares(columns: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients from 0 up of least squared relative errors."""
    from scipy.optimize import nnls

    found, _ = nnls(columns / times[:, None], np.ones(len(times)))
    found[(columns * found < 1e-9 * times[:, None]).all(axis=0)] = 0.0  # what rounding leaves of a term
    return np.asarray(found)


@dataclass(frozen=True)
class Workload:
    """One component: how long it takes, and on how many processes it may run.

    Parameters
    ----------
    name : str
    scaling : Scaling
    cells : int or None
        Number of cells, where it is known.
    least, most : int
        Fewest and most processes; 0 is no limit for `most`.
    granularity : int
        The number of processes is a multiple of this (the processes of a node, for one).
    remarks : tuple of str
        What is to be known about the times.
    iterations : float or None
        Iterations in one coupling step, where the times are computed of them.
    """

    name: str
    scaling: Scaling
    cells: int | None = None
    least: int = 1
    most: int = 0
    granularity: int = 1
    remarks: tuple[str, ...] = field(default=())
    iterations: float | None = None

    def __post_init__(self) -> None:
        if self.least < 1 or self.granularity < 1 or self.least % self.granularity:
            raise ConfigError(f"{self.name}: least and granularity must be at least 1, and least a multiple of it, got "
                              f"{self.least} and {self.granularity}")

    @classmethod
    def of_cells(cls, name: str, cells: int, cost: float, iterations: float = 1.0, **limits: int | None) -> Workload:
        """From a cost per cell: perfect speed-up.

        Parameters
        ----------
        name : str
            Of the component.
        cells : int
            Number of cells (or their total weight).
        cost : float
            Seconds a cell and iteration, on one process; any unit, if the same for all components.
        iterations : float
            Iterations in one coupling step.
        **limits
            See :meth:`limited`.
        """
        load = whole(f"cells of {name}", cells, low=1) * fraction(f"cost of {name}", cost)
        rounds = fraction(f"iterations of {name}", iterations)
        load *= rounds
        if load == 0:
            raise ConfigError(f"{name}: cost and iterations must be above 0")
        return cls(name, Scaling(0.0, load), cells, iterations=rounds).limited(**limits)

    @classmethod
    def measured(cls, name: str, processes: Sequence[int], seconds: Sequence[float], cells: int | None = None,
                 **limits: int | None) -> Workload:
        """From measured times, see :func:`fit_scaling`; limits as of :meth:`limited`.

        Parameters
        ----------
        name : str
            Of the component.
        processes : sequence of int
        seconds : sequence of float
            Time of a step on each of these numbers of processes.
        cells : int, optional
            Number of cells, for limits on cells.
        **limits
            See :meth:`limited`.
        """
        try:
            fit = fit_scaling(processes, seconds)
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from None
        remarks = []
        if len(set(processes)) == 1:
            remarks.append(f"{name}: measured at {fit.low} processes only, so perfect speed-up is assumed")
        if fit.error > _POOR_FIT:
            remarks.append(f"{name}: the fitted times miss a measured one by {fit.error:.0%}")
        return cls(name, fit, cells, remarks=tuple(remarks)).limited(**limits)

    def limited(self, *, granularity: int | None = None, max_cells: int | None = None, min_cells: int | None = None,
                least: int | None = None, most: int | None = None) -> Workload:
        """The same with limits; None leaves one as it is.

        Parameters
        ----------
        granularity : int, optional
            The number of processes is a multiple of this.
        max_cells : int, optional
            Cells that fit in the memory of a process: a lower limit for the number of processes.
        min_cells : int, optional
            Fewest cells per process: an upper limit.
        least, most : int, optional
            Fewest and most processes.

        Raises
        ------
        ConfigError
            A limit on cells where their number is not known, or no number of processes is left.
        """
        low, high = [self.least], [self.most] if self.most else []
        for label, value in (("max_cells", max_cells), ("min_cells", min_cells)):
            if value is None:
                continue
            if self.cells is None:
                raise ConfigError(f"{label}: the number of cells of {self.name} is not known; give it (--cells)")
            limit = whole(label, value, low=1)
            low += [-(-self.cells // limit)] if label == "max_cells" else []
            high += [max(self.cells // limit, 1)] if label == "min_cells" else []
        low += [] if least is None else [whole(f"least of {self.name}", least, low=1)]
        high += [] if most is None else [whole(f"most of {self.name}", most, low=1)]
        step = self.granularity if granularity is None else whole("granularity", granularity, low=1)
        first, last = -(-max(low) // step) * step, min(high, default=0)
        if high and first > last:
            raise ConfigError(f"{self.name}: needs at least {first} processes (in multiples of {step}) and may have at "
                              f"most {last}; ease one of its limits")
        return replace(self, least=first, most=last, granularity=step)

    def choices(self, total: int) -> NDArray[np.int64]:
        """The numbers of processes it may have out of `total`, ascending."""
        last = min(total, self.most) if self.most else total
        return np.arange(self.least, last + 1, self.granularity, dtype=np.int64)


__all__ = ["Scaling", "Workload", "fit_scaling"]
