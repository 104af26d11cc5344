"""Times of runs explained by metrics: non-negative least squares, and correlations.

All columns, and the times, are standardised: less the mean, over the standard deviation.  (M. Deveci, Load-Balancing
and Task Mapping for Exascale Systems, Ohio State 2015, chapter 7.2.5.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import frozen
from ...errors import ConfigError, MappingError
from ...names import known_name
from .columns import as_others, groups, numbers, same, standard
from .metrics import ADVICE, METRICS, OF_MESSAGES

REDUNDANT = 0.92
"""Correlation from which on one metric stands for another."""
DOUBTFUL = 2.0
"""Unexplained variance, over that of the leading metric, up to which another one may be what counts."""
EXPLAINED = 0.5
"""Share of the variance from which on times follow metrics."""


@dataclass(frozen=True, eq=False)
class TimesFit:
    """Which metrics explain times; of k metrics.

    Attributes
    ----------
    metrics : tuple of str
        Abbreviations of :data:`METRICS`.
    coefficients : (k,) float64
        At least 0: standard deviations of the times per standard deviation of the metric, all others fixed.
    per_unit : (k,) float64 or None
        The same as seconds per unit of the metric; None where runs are of several cases.
    correlation, p_value : (k,) float64
        Pearson's, of each metric with the times, and how likely one of that size is by chance, were all of one case.
    between : (k, k) float64
        Pearson's, of metrics with one another.
    residual : float
        Norm of what is left of the standardised times, whose own norm is the root of the number of runs, those left
        out that are of a case of one time.
    r_squared : float
        Share of the variance of the times that is explained.
    explained : (k,) float64
        Part of `r_squared` of each metric, which add up to it: coefficient times correlation, and times the norm of the
        standardised metric over that of the times, which differ where only one of the two has one value in a case.
    nruns, ncases : int
    left_out : dict of str to tuple of str
        Metrics that were there and could tell nothing, and those that say just the same in these runs; none of a metric
        that does not change.
    """

    metrics: tuple[str, ...]
    coefficients: NDArray[np.float64]
    per_unit: NDArray[np.float64] | None
    correlation: NDArray[np.float64]
    p_value: NDArray[np.float64]
    between: NDArray[np.float64]
    residual: float
    r_squared: float
    explained: NDArray[np.float64]
    nruns: int
    ncases: int
    left_out: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def shares(self) -> dict[str, float]:
        """`explained` by the names of the metrics."""
        return dict(zip(self.metrics, self.explained.tolist(), strict=True))

    @property
    def redundant(self) -> dict[str, str]:
        """Metrics that say nearly what another one says, correlation :data:`REDUNDANT` or more, and that one.

        Of two the one stays that has the larger share, then the larger correlation with the times, then the first.
        """
        order = sorted(range(len(self.metrics)), key=lambda j: (-self.explained[j], -abs(self.correlation[j]), j))
        kept: list[int] = []
        found = {}
        for j in order:
            like = max(kept, key=lambda i: self.between[i, j], default=j)
            if like != j and self.between[like, j] >= REDUNDANT:
                found[self.metrics[j]] = self.metrics[like]
            else:
                kept.append(j)
        return found

    @property
    def leading(self) -> str | None:
        """The metric of the largest share among those of the bound; None where there is no bound."""
        shares = self.shares
        bound = self.bound
        return None if bound is None else max((m for m in self.metrics if (m in OF_MESSAGES) == (bound == "latency")),
                                              key=lambda m: shares[m])

    @property
    def bound(self) -> str | None:
        """What bounds the runs: latency where metrics of messages explain more than those of data, else bandwidth.

        None where all of them explain less than half of the variance.
        """
        if self.r_squared < EXPLAINED:
            return None
        messages = sum(share for metric, share in self.shares.items() if metric in OF_MESSAGES)
        return "latency" if 2 * messages > self.r_squared else "bandwidth"

    @property
    def doubt(self) -> str | None:
        """A metric of the other bound that says nearly what the leading one does, so that the bound is uncertain.

        One that is left out as the same; or that is redundant and, by itself, leaves at most :data:`DOUBTFUL` times as
        much of the variance unexplained.
        """
        leading = self.leading
        if leading is None:
            return None
        j = self.metrics.index(leading)
        rest = 1 - self.correlation**2
        twins = [m for m, others in self.left_out.items() if others == (leading,)]
        twins += [self.metrics[i] for i in np.argsort(rest, kind="stable") if self.between[j, i] >= REDUNDANT
                  and rest[i] <= DOUBTFUL * rest[j]]
        return next((m for m in twins if (m in OF_MESSAGES) != (leading in OF_MESSAGES)), None)

    @property
    def advice(self) -> str | None:
        """What to ask copart for so that the leading metric is low; None where there is no bound."""
        return None if self.leading is None else ADVICE[self.leading]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        slopes = [None] * len(self.metrics) if self.per_unit is None else self.per_unit.tolist()
        rows = zip(self.metrics, self.coefficients.tolist(), slopes, self.correlation.tolist(), self.p_value.tolist(),
                   strict=True)
        return {"runs": self.nruns, "cases": self.ncases, "r_squared": self.r_squared, "residual": self.residual,
                "bound": self.bound, "leading": self.leading, "doubt": self.doubt, "advice": self.advice,
                "metrics": {name: {"coefficient": coefficient, "seconds_per_unit": slope, "correlation": r,
                                   "p_value": p, "share": self.shares[name], "like": self.redundant.get(name)}
                            for name, coefficient, slope, r, p in rows},
                "correlations": {a: dict(zip(self.metrics, row, strict=True))
                                 for a, row in zip(self.metrics, self.between.tolist(), strict=True)},
                "left_out": {name: list(others) for name, others in self.left_out.items()}}

    def text(self) -> str:
        """Lines for people."""
        of = f" of {self.ncases} cases" if self.ncases > 1 else ""
        lines = [f"{self.nruns} runs{of}: the metrics explain {self.r_squared:.1%} of the variance of the times, "
                 f"residual {self.residual:.3g}",
                 "  metric  coefficient  correlation  p-value  explains"]
        for j in sorted(range(len(self.metrics)), key=lambda j: (-self.shares[self.metrics[j]], -self.correlation[j])):
            name = self.metrics[j]
            like = self.redundant.get(name)
            same = "" if like is None else f"  nearly the same as {like}"
            lines.append(f"  {name:<6}  {self.coefficients[j]:>11.3f}  {self.correlation[j]:>11.3f}  "
                         f"{self.p_value[j]:>7.1g}  {self.shares[name]:>8.1%}{same}")
        for name, others in self.left_out.items():
            lines.append(f"  {name:<6}  left out: {as_others(others) if others else 'the same in all runs'}")
        if self.bound is None:
            lines.append(f"bound by neither: less than {EXPLAINED:.0%} is explained, so that other things than the "
                         f"mapping decide, or the metrics that matter are missing")
        else:
            lines.append(f"bound by {self.bound}, by {self.leading} most of all: {self.advice}")
        if self.doubt is not None:
            lines.append(f"not certain: {self.doubt} goes up and down with {self.leading} here; runs with messages of "
                         f"other sizes would tell which of them counts")
        return "\n".join(lines)


def fit_times(seconds: ArrayLike, metrics: Mapping[str, ArrayLike], case: Sequence[Any] | None = None) -> TimesFit:
    """Explain times of runs by metrics of their mappings.

    Parameters
    ----------
    seconds : (nruns,) array_like of float
        Measured times.
    metrics : mapping of str to (nruns,) array_like of float
        By abbreviations of :data:`METRICS`; see :func:`metrics_of`.
    case : (nruns,) sequence, optional
        Runs of different tasks or allocations, which have times of different size: all is standardised within each
        case, so that only mappings of the same case are compared.

    Returns
    -------
    TimesFit

    Raises
    ------
    ConfigError
        A metric is not known, or none is given.
    MappingError
        Too few runs (there must be at least one more than metrics and cases together), values that are missing,
        negative or the same in all runs of each case, or a metric that is a sum of multiples of others.

    Examples
    --------
    >>> found = fit_times([3.1, 5.0, 7.1, 8.9], {"MC": [1, 2, 3, 4], "TH": [5, 2, 2, 5]})
    >>> found.bound, found.coefficients.round(2).tolist()
    ('bandwidth', [1.0, 0.0])
    """
    from scipy.optimize import nnls
    from scipy.stats import pearsonr

    if not metrics:
        raise ConfigError(f"metrics: needs at least one of {', '.join(METRICS)}")
    for name in metrics:
        known_name("metrics", name, METRICS)
    times = numbers("seconds", seconds, None)
    n = len(times)
    columns = {name: numbers(name, values, n) for name, values in metrics.items()}
    group = groups(case, n)
    ncases = int(group.max(initial=0)) + 1
    if n < len(columns) + ncases + 1:
        of = f" of {ncases} cases" if ncases > 1 else ""
        raise MappingError(f"seconds: {n} runs{of} are too few for {len(columns)} metrics, needs at least "
                           f"{len(columns) + ncases + 1}; run more mappings, or name fewer metrics")
    within = " of each case" if ncases > 1 else ""
    t = standard(times, group)
    if t is None:
        raise MappingError(f"seconds: is the same in all runs{within}, so that there is nothing to explain; run other "
                           f"mappings")
    made: dict[str, NDArray[np.float64]] = {}
    for name, values in columns.items():
        one = standard(values, group)
        if one is None:
            raise MappingError(f"{name}: is the same in all runs{within}, so that it explains nothing; leave it out")
        if alike := same(made, one):
            raise MappingError(f"{name}: {as_others(alike)} in these runs, so that none of them can be told from the "
                               f"others; leave one out")
        made[name] = one
    matrix = np.stack([*made.values()], axis=1)
    found, residual = nnls(matrix, t)
    of_time = [pearsonr(column, t) for column in matrix.T]
    # where the coefficient is 0 it is 0, not -0
    explained = found * (matrix.T @ t) / (t @ t) + 0.0
    slopes = frozen(found * times.std() / [values.std() for values in columns.values()]) if ncases == 1 else None
    return TimesFit(tuple(columns), frozen(found), slopes, frozen(np.array([one.statistic for one in of_time])),
                    frozen(np.array([one.pvalue for one in of_time])),
                    frozen(np.atleast_2d(np.corrcoef(matrix, rowvar=False))), float(residual),
                    max(0.0, float(1 - residual**2 / (t @ t))), frozen(explained), n, ncases)


__all__ = ["EXPLAINED", "REDUNDANT", "TimesFit", "fit_times"]
