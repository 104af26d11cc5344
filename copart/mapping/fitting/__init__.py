"""Which metrics of a mapping explain measured times.

==========  =======================================================================================
`metrics`   the metrics by name, and their values of a mapping (`metrics_of`)
`columns`   columns of a table of runs: checked, standardised, and told apart (`telling`)
`fit`       non-negative least squares and correlations (`fit_times`)
==========  =======================================================================================

Rows are runs, columns metrics.  The sum of the columns times coefficients of at least 0 that is nearest to the times is
found; metrics with a positive coefficient explain the times.  Of columns that say nearly the same any may have got the
coefficient, so correlations stand beside.  (M. Deveci, Load-Balancing and Task Mapping for Exascale Systems, Ohio State
2015, chapter 7.2.5.)
"""

from .columns import telling
from .fit import TimesFit, fit_times
from .metrics import METRICS, metrics_of

__all__ = ["METRICS", "TimesFit", "fit_times", "metrics_of", "telling"]
