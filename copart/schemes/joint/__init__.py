"""JOINT: partitions of small cut whose interfaces are refined together for cut, volume and messages.

==============  ===================================================================================
`scheme`        the scheme itself: what is asked for, and which partition is taken in the end
`descent`       from the coarsest level to the cells
`levels`        one component on the levels of its coarsening
`columns`       a partition whose coupled parts are columns behind the interface
`first`         which parts own coupled cells: numbered first
`cells`         the coupled cells of all components as one problem
`stages`        the coupled vertices of all components on certain levels
`annealing`     schedules and prices of annealing, messages given up
`finish`        the last refinement of a component
`again`         the coupled cells annealed from where their data is
==============  ===================================================================================
"""

from .again import joint_again
from .scheme import DIRECTIONS, FIXES, joint

__all__ = ["DIRECTIONS", "FIXES", "joint", "joint_again"]
