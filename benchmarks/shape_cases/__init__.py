"""Coupled meshes of real shapes, to measure partitions on.

`CASES` are those that settings may be chosen with, `HELD_OUT` other geometries that
are measured afterwards.  ``problem(CASES["ball-in-shell"], 20_000, "facet")`` makes a
coupled problem of about 20,000 cells.
"""

from .case import ShapeCase, coupled, problem
from .contacts import CONTACTS
from .held_out import HELD_OUT
from .immersed import IMMERSED

CASES: dict[str, ShapeCase] = {**CONTACTS, **IMMERSED}

__all__ = ["CASES", "HELD_OUT", "ShapeCase", "coupled", "problem"]
