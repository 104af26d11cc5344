"""How many processes each component gets, and how many of them own coupled cells.

`Workload` says how long one component takes on n processes, from a cost per cell or
from measured times; `distribute` shares out the processes; `coupled_processes` chooses
N^cpl.  `advise` does all of it.
"""

from __future__ import annotations

from .advice import Advice, advise
from .distribution import Distribution, distribute, neighbours
from .interface import CouplingCost, InterfaceChoice, coupled_processes
from .workload import Scaling, Workload, fit_scaling

__all__ = ["Advice", "CouplingCost", "Distribution", "InterfaceChoice", "Scaling", "Workload", "advise",
           "coupled_processes", "distribute", "fit_scaling", "neighbours"]
