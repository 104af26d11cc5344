"""Meshes of real coupled cases, made elsewhere: read, dual graph, interface."""

from __future__ import annotations

import re

import numpy as np
import pytest

from copart.mesh import cylinder, dual_graph, find_interedges, read_mesh, regions

from .helpers import shared

CASES = "data/coupled/"


def test_tube_against_a_generated_cylinder():
    solid_path = shared(CASES + "elastic-tube-3d/solid/all.msh")
    solid, fluid = read_mesh(solid_path), cylinder(0.005, 0.05, (12, 40))
    assert repr(solid).startswith("Mesh('all': 3946 tetra10 in 3D, 8072 points")
    assert dual_graph(solid).nedges == 6520
    inter = find_interedges(solid, fluid)
    # the solver's own list of elements on the wetted surface
    text = shared(CASES + "elastic-tube-3d/solid/interface.sur").read_text()
    listed = {int(n) for part in text.split("*elset")[1:]
              for n in re.findall(r"\d+", part.split("\n", 1)[1].split("*")[0])}
    elements = solid_path.read_text().split("*ELEMENT")[1].splitlines()[1:]
    first = int(elements[0].split(",")[0])
    assert {int(c) + first for c in inter.coupled_a} == listed
    assert len(inter.coupled_b) == (4 * 12 - 4) * 40
    assert 0.97 < inter.weights.sum() / (2 * np.pi * 0.005 * 0.05) < 1


def test_cantilever_in_a_channel():
    channel, beam = (read_mesh(shared(CASES + f"steady-fsi/mesh_{n}.su2")) for n in ("channel", "cantilever"))
    assert (channel.ncells, beam.ncells) == (15_292, 1_000)
    assert "flowbound" in channel.facet_groups
    inter = find_interedges(channel, beam)
    # the points match: one interedge for each of the 210 edges of the marker
    assert len(inter) == len(inter.coupled_a) == 210


def test_four_zones_in_one_file():
    mesh = read_mesh(shared(CASES + "cht-3cyl-4zones/mesh_cht_3cyl.su2"))
    zones = regions(mesh, "zone")
    assert [z.ncells for z in zones.values()] == [33_700, 4_534, 4_534, 4_534]
    for name in "234":
        inter = find_interedges(zones["1"], zones[name])
        assert len(inter) == len(inter.coupled_a) == len(inter.coupled_b) == 400
        assert inter.weights.sum() == pytest.approx(np.pi, rel=1e-4)


def test_three_codes_couple_pairwise():
    meshes = [read_mesh(shared(CASES + f"contact-resistance-3codes/{n}.su2"))
              for n in ("fluid_mesh", "solid_mesh_1", "solid_mesh_2")]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert find_interedges(meshes[i], meshes[j]).weights.sum() == pytest.approx(0.01, abs=1e-9)


def test_second_order_hexahedra():
    a, b = (read_mesh(shared(CASES + f"elastic-beam/{n}/all.msh")) for n in ("dirichlet", "neumann"))
    assert (dual_graph(a).nedges, dual_graph(b).nedges) == (44, 12)
    inter = find_interedges(a, b)
    assert len(inter) == 4
    assert inter.weights.sum() == pytest.approx(1)


def test_flat_fluid_and_thick_solid_only_touch():
    fluid = read_mesh(shared(CASES + "perpendicular-flap/fluidMesh.su2"))
    solid = read_mesh(shared(CASES + "perpendicular-flap/solid-all.msh"))
    assert (fluid.dimension, solid.dimension) == (2, 3)
    assert len(find_interedges(fluid, solid, "touch").coupled_a) == 60
