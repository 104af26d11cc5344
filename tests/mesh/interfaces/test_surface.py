"""Facets as plain geometry: what is worked out of them is kept, and is the same for those that are taken."""

from __future__ import annotations

import numpy as np
import pytest

from copart.mesh import Mesh, cube, tube
from copart.mesh.interfaces.surface import Surface, boundary_surface, cell_surface

KEPT = ("low", "high", "centre", "diameter", "normal", "outside")


def anew(surface: Surface) -> Surface:
    """The same facets, of which nothing is known."""
    return Surface(surface.corners, surface.size, surface.cell, surface.outward)


GRID = np.arange(12).reshape(3, 4)
PLATE = Mesh([[x, y, x * y / 9] for x in range(3) for y in range(4)],
             [("quad", np.stack([GRID[:-1, :-1], GRID[1:, :-1], GRID[1:, 1:], GRID[:-1, 1:]], -1).reshape(-1, 4))])


@pytest.mark.parametrize("mesh", [cube("tetra", 200), cube("hexa", 4), tube(cells=(2, 9, 3)), PLATE],
                         ids=["tetrahedra", "hexahedra", "tube", "plate"])
@pytest.mark.parametrize("kind", [np.bool_, np.int64, slice])
def test_what_is_known_goes_on_to_the_facets_that_are_taken(mesh, kind):
    surface = (boundary_surface if mesh.dimension == 3 else cell_surface)(mesh)
    n = len(surface.cell)
    keep = np.random.default_rng(1).random(n) < 0.3
    chosen = {np.bool_: keep, np.int64: np.flatnonzero(keep)[::-1], slice: slice(2, n // 2)}[kind]
    for name in KEPT:
        getattr(surface, name)
    some = surface.taken(chosen)
    assert set(KEPT) <= vars(some).keys(), "else all of them are worked out again"
    for name in KEPT:
        np.testing.assert_array_equal(getattr(some, name), getattr(anew(some), name))


def test_nothing_is_worked_out_for_facets_that_are_taken_before():
    surface = boundary_surface(cube("hexa", 3))
    some = anew(surface).taken(np.arange(5))
    assert vars(some).keys() == {"corners", "size", "cell", "outward"}


def test_figures_of_a_square():
    surface = Surface(np.array([[[0, 0, 0], [3, 0, 0], [3, 4, 0], [0, 4, 0]]], float), np.array([4]),
                      np.array([7], np.int32), np.array([[0, 0, -2.0]]))
    assert surface.diameter.tolist() == [5.0]
    assert surface.low.tolist() == [[0, 0, 0]]
    assert surface.high.tolist() == [[3, 4, 0]]
    assert surface.centre.tolist() == [[1.5, 2, 0]]
    assert surface.normal.tolist() == surface.outside.tolist() == [[0, 0, -1]]
