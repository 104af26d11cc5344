"""Thin bodies, shells and slivers: what two meshes have in common is never more than either has there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.mesh import Mesh, find_interedges
from copart.mesh.generated.tubes import cylinder, tube
from copart.mesh.interfaces.interface import find_interface

counts = st.integers(1, 6)
thickness = st.floats(1e-4, 0.3)


def slab(n, low, high, layers=1, flat=False, name="slab"):
    """A plate of n x n cells (with `flat` n) between two heights."""
    line, heights = np.linspace(0, 1, n + 1), np.linspace(low, high, layers + 1)
    if flat:
        points = np.stack(np.meshgrid(line, heights, indexing="ij"), axis=-1).reshape(-1, 2)
        at = np.arange(len(points)).reshape(n + 1, layers + 1)
        cells = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=-1).reshape(-1, 4)
        return Mesh(points, [("quad", cells)], name=name)
    points = np.stack(np.meshgrid(line, line, heights, indexing="ij"), axis=-1).reshape(-1, 3)
    at = np.arange(len(points)).reshape(n + 1, n + 1, layers + 1)
    ring = [at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]]
    cells = np.stack([*(r[..., :-1] for r in ring), *(r[..., 1:] for r in ring)], axis=-1).reshape(-1, 8)
    return Mesh(points, [("hexahedron", cells)], name=name)


def shell(n, height):
    whole = slab(n, height, height + 1)
    return Mesh(whole.points, [("quad", whole.blocks[0][1][:, :4])], name="shell")


def beside(*meshes):
    first = np.cumsum([0, *(m.npoints for m in meshes)])
    return Mesh(np.concatenate([m.points for m in meshes]),
                [(t, c + first[i]) for i, m in enumerate(meshes) for t, c in m.blocks], name="fluid")


def fits(found):
    """Whether the two have no more in common than either has."""
    return found.overlap <= min(found.a.size, found.b.size) * (1 + 1e-12)


@given(counts, counts, thickness, thickness, st.booleans())
def test_plates_on_one_another_meet_at_one_side(n, m, lower, upper, flat):
    found = find_interface(slab(n, -lower, 0, flat=flat), slab(m, 0, upper, flat=flat), several=True)[1]
    assert fits(found)
    assert found.overlap == pytest.approx(1)
    assert (found.a.matched, found.b.matched) == ((n, m) if flat else (n * n, m * m))
    assert found.gap == 0


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("layers", [(1, 2), (2, 2), (3, 2), (3, 3)])
@pytest.mark.parametrize("apart", [0, 0.002, -0.002, -0.0049])
def test_far_sides_of_plates_of_several_layers_do_not_meet(layers, apart, flat):
    """Be they a little apart, or overlap by more than half a cell."""
    lower, upper = slab(5, -0.02, 0, layers[0], flat), slab(7, apart, 0.02 + apart, layers[1], flat)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    for a, b in ((lower, upper), (upper, lower), *((m.replace(points=m.points @ turn) for m in (lower, upper)),)):
        inter, found = find_interface(a, b)
        assert inter.weights.sum() == pytest.approx(1)
        assert found.gap == pytest.approx(abs(apart), abs=1e-12)


@given(counts, counts, thickness, st.booleans(), st.integers(1, 3))
def test_a_plate_between_two_halves_meets_both(n, m, thick, flat, layers):
    fluid = beside(slab(m, -0.5, 0, flat=flat), slab(m, thick, 0.5, flat=flat))
    plate = slab(n, 0, thick, layers, flat=flat, name="plate")
    found = find_interface(fluid, plate, several=True)[1]
    assert fits(found)
    assert found.overlap == pytest.approx(2)


@given(counts, counts, st.floats(0, 0.01))
def test_both_sides_of_a_shell_count(n, m, gap):
    both = beside(slab(m, -0.5, -gap), slab(m, gap, 0.5))
    for a, b in ((both, shell(n, 0)), (shell(n, 0), both)):
        found = find_interface(a, b, several=True)[1]
        assert fits(found)
        assert found.overlap == pytest.approx(2)
        assert found.a.size == pytest.approx(2)
        assert found.b.size == pytest.approx(2)
        assert "'shell' has the other mesh on both sides, and each counts" in found.remarks
    one = find_interface(slab(m, -0.5, -gap), shell(n, 0), several=True)[1]
    assert one.overlap == pytest.approx(1)
    assert not any("both sides" in r for r in one.remarks)


@given(st.integers(6, 30), st.integers(2, 8), st.floats(0.001, 0.2))
def test_curved_walls(around, across, thick):
    found = find_interface(tube(0.5, 0.5 + thick, 2.0, (1, around, 4)), cylinder(0.5, 2.0, (across, 5)),
                           several=True)[1]
    assert fits(found)


@pytest.mark.parametrize(("noise", "slivers"), [(0.0, False), (1e-8, False), (2e-6, False), (2e-4, True)])
def test_slivers_of_rounded_coordinates(noise, slivers):
    """Narrower than 1e-5 of a facet they are no interedges, wider ones are; facets here are 0.1 wide."""
    rng = np.random.default_rng(1)
    lower, upper = slab(10, -0.1, 0), slab(10, 0, 0.1)
    shaken = upper.replace(points=upper.points + 0.1 * rng.uniform(-noise, noise, upper.points.shape))
    found = find_interedges(lower, shaken)
    assert len(found) >= 100
    assert (len(found) > 100) == slivers
    assert found.weights.sum() == pytest.approx(1, abs=1e-3)
