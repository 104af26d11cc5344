"""Faces that are not convex: all of what they share counts, whichever mesh they belong to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.mesh import Mesh, find_interedges, find_interface
from copart.mesh.interfaces.concave import in_pieces, triangles
from copart.mesh.interfaces.surface import cell_surface


def area(ring):
    after = np.roll(ring, -1, axis=0)
    return 0.5 * (ring[:, 0] * after[:, 1] - ring[:, 1] * after[:, 0]).sum()


def quads(n, size=2.0):
    line = np.linspace(0, size, n + 1)
    points = np.stack(np.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2)
    at = np.arange(len(points)).reshape(n + 1, n + 1)
    cells = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], -1).reshape(-1, 4)
    return Mesh(points, [("quad", cells)], name="quads")


@pytest.mark.parametrize("n", [1, 3, 4])
@pytest.mark.parametrize("turned", [False, True])
def test_a_corner_and_what_fills_it(n, turned):
    points = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2], [2, 2]]
    corner = Mesh(points, [("polygon", [[5, 4, 3, 2, 1, 0] if turned else [0, 1, 2, 3, 4, 5]]),
                           ("quad", [[3, 2, 6, 4]])], name="corner")
    for a, b in ((corner, quads(n)), (quads(n), corner)):
        inter, found = find_interface(a, b, "overlap")
        assert inter.weights.sum() == found.overlap == pytest.approx(4)
        assert (found.a.size, found.b.size, found.a.unmatched, found.b.unmatched) == pytest.approx((4, 4, 0, 0))
        of_corner = inter if a is corner else inter.transposed
        assert of_corner.to_scipy().toarray().sum(axis=1) == pytest.approx([3, 1])


def test_two_concave_faces():
    """Arrows that look up and down, of which no rectangle can be told apart from what it lacks."""
    up = Mesh([[0, 0], [1, 1], [2, 0], [1, 3]], [("quad", [[0, 1, 2, 3]])])
    down = Mesh([[0, 2], [1, -1], [2, 2], [1, 1.5]], [("quad", [[0, 1, 2, 3]])])
    one, other = (find_interedges(a, b, "overlap").weights.sum() for a, b in ((up, down), (down, up)))
    assert one == pytest.approx(other)
    # by counting points
    x, y = np.meshgrid(np.linspace(0, 2, 801), np.linspace(-1, 3, 1601))
    inside = (np.abs(x - 1) < (3 - y) / 3) & (y > 1 - np.abs(x - 1)) \
        & (np.abs(x - 1) < (y + 1) / 3) & (y < 1.5 + 0.5 * np.abs(x - 1))
    assert one == pytest.approx(inside.mean() * 8, rel=0.01)


@given(st.lists(st.floats(0.1, 1), min_size=4, max_size=12))
def test_stars_in_triangles(radii):
    turn = np.linspace(0, 2 * np.pi, len(radii), endpoint=False)
    ring = np.array(radii)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    if len(radii) == 4 and area(ring) <= 0:
        return
    parts = [area(ring[list(part)]) for part in triangles(ring)]
    assert min(parts) > -1e-12
    assert sum(parts) == pytest.approx(area(ring))


def test_convex_faces_are_left_as_they_are():
    surface = cell_surface(quads(3))
    assert in_pieces(surface)[0] is surface
