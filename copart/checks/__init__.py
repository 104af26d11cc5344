"""Is this a graph, a partition, a co-partition, and are the figures told about it true?

An independent second opinion: nothing here uses the metrics, the kernels or
any code that makes partitions; every rule and figure is derived again from its
definition with plain Python and ``scipy.sparse``.  Slow is fine, but each check
takes time linear in its input (up to a sort).

A check does not raise on what it finds: it returns a :class:`Report` with all
findings, so that one run shows everything that is wrong.
"""

from __future__ import annotations

from .coupled import check_copartition
from .report import Finding, Report
from .single import check_connected, check_graph, check_partition

__all__ = ["Finding", "Report", "check_connected", "check_copartition", "check_graph", "check_partition"]
