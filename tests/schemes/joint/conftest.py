"""Coupled problems that several tests of joint look at."""

from __future__ import annotations

import pytest

from copart.coupling import CoupledProblem
from copart.mesh import cube
from copart.plans.components import coupled_problem


@pytest.fixture(scope="module")
def nested() -> CoupledProblem:
    """Each face of A covers 3 x 3 faces of B."""
    return coupled_problem(cube("hexa", 8), cube("hexa", 24, offset=(1, 0, 0)), interedges="facet").problem


@pytest.fixture(scope="module")
def tetra() -> CoupledProblem:
    return coupled_problem(cube("tetra", 4000), cube("tetra", 9000, offset=(1, 0, 0)), interedges="touch").problem
