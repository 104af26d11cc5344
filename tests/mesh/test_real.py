"""Meshes of real coupled cases, made elsewhere: read whole, with their names, and coupled by them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.spatial import cKDTree

from copart.mesh import cylinder, dual_graph, find_interedges, read_mesh, regions
from copart.mesh.interfaces.surface import boundary_surface

from ..helpers import shared

CASES = "data/coupled/"


def case(name):
    return shared(CASES + name)


def common_points(a, group_a, b, group_b):
    """How many points two boundaries have in common, and how many each has."""
    mine, theirs = (np.unique(m.facet_groups[g]) for m, g in ((a, group_a), (b, group_b)))
    distance, _ = cKDTree(b.points[theirs]).query(a.points[mine])
    return int((distance < 1e-9).sum()), len(mine), len(theirs)


# ---- the elastic tube: OpenFOAM against CalculiX
def test_the_fluid_of_the_tube():
    folder = case("elastic-tube-3d/fluid-polyMesh")
    fluid = read_mesh(folder)
    assert repr(fluid).startswith("Mesh('fluid-polyMesh': 32691 tetra in 3D, 6598 points, facet groups auto0, interf")
    assert {k: len(v) for k, v in fluid.facet_groups.items()} == {"auto0": 141, "interface": 3658, "auto2": 171}
    assert fluid.remarks == ()
    graph = dual_graph(fluid)
    assert (graph.nvtxs, graph.nedges) == (32_691, 63_397)  # an edge for each entry of neighbour
    surface = boundary_surface(fluid.select("interface"))
    assert len(surface.cell) == 3658
    radius = np.linalg.norm(surface.corners[:, :, :2], axis=2)
    assert np.allclose(radius, 0.005, atol=1e-6)
    # the tetrahedra fill the tube, none is turned inside out
    p = fluid.points[fluid.blocks[0][1]]
    volume = np.einsum("cd,cd->c", np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), p[:, 3] - p[:, 0]) / 6
    assert (volume > 0).all()
    assert 0.99 < volume.sum() / (np.pi * 0.005**2 * 0.05) < 1


def test_the_solid_of_the_tube():
    path = case("elastic-tube-3d/solid/all.msh")
    solid = read_mesh(path)
    assert repr(solid).startswith("Mesh('all': 3946 tetra10 in 3D, 8072 points")
    assert dual_graph(solid).nedges == 6520
    # the surface of elements and the set of nodes, both from files beside the mesh, name the same facets
    listed = [int(n) for part in path.with_name("interface.sur").read_text().split("*elset")[1:]
              for n in re.findall(r"\d+", part.split("\n", 1)[1].split("*")[0])]
    by_element, by_node = (boundary_surface(solid.select(n)) for n in ("Sinterface", "Ninterface"))
    assert len(by_element.cell) == len(by_node.cell) == len(listed) == 1264
    assert np.array_equal(np.sort(by_element.centre, axis=0), np.sort(by_node.centre, axis=0))
    first = int(path.read_text().split("*ELEMENT")[1].splitlines()[1].split(",")[0])
    assert sorted(by_element.cell.tolist()) == sorted(n - first for n in listed)
    assert len(solid.point_groups["Ninterface"]) == 2588
    # the input of the solver includes the same files, and others that are not here
    deck = read_mesh(path.with_name("tube.inp"))
    assert deck.facet_groups["Sinterface"].tolist() == solid.facet_groups["Sinterface"].tolist()
    assert deck.remarks == ("the included files inlet.nam, outlet.nam, wall.nam are not there: left out",)


def test_the_tube_is_coupled_by_name_as_by_geometry():
    fluid, solid = read_mesh(case("elastic-tube-3d/fluid-polyMesh")), read_mesh(case("elastic-tube-3d/solid/all.msh"))
    named = find_interedges(fluid.select("interface"), solid.select("Sinterface"))
    found = find_interedges(fluid, solid)
    assert 0.97 < named.weights.sum() / (2 * np.pi * 0.005 * 0.05) < 1
    # the ends of the two pipes only graze, and are not coupled either way
    wet = set(boundary_surface(solid.select("Sinterface")).cell)
    assert set(named.coupled_b) == wet >= set(found.coupled_b)
    assert named.weights.sum() == pytest.approx(found.weights.sum(), rel=1e-3)


def test_tube_against_a_generated_cylinder():
    solid, fluid = read_mesh(case("elastic-tube-3d/solid/all.msh")), cylinder(0.005, 0.05, (12, 40))
    inter = find_interedges(solid, fluid)
    assert set(inter.coupled_a) == set(boundary_surface(solid.select("Sinterface")).cell)
    assert len(inter.coupled_b) == (4 * 12 - 4) * 40
    assert 0.97 < inter.weights.sum() / (2 * np.pi * 0.005 * 0.05) < 1


# ---- SU2
def test_cantilever_in_a_channel():
    channel, beam = (read_mesh(case(f"steady-fsi/mesh_{n}.su2")) for n in ("channel", "cantilever"))
    assert (channel.ncells, beam.ncells) == (15_292, 1_000)
    assert {k: len(v) for k, v in channel.facet_groups.items()} == {
        "flowbound": 210, "upperwall": 112, "lowerwall": 192, "inlet": 8, "outlet": 8}
    assert {k: len(v) for k, v in beam.facet_groups.items()} == {"feabound": 210, "clamped": 10}
    assert common_points(channel, "flowbound", beam, "feabound") == (211, 211, 211)
    for a, b in ((channel, beam), (channel.select("flowbound"), beam.select("feabound"))):
        inter = find_interedges(a, b)
        assert len(inter) == len(inter.coupled_a) == 210


def test_four_zones_in_one_file():
    mesh = read_mesh(case("cht-3cyl-4zones/mesh_cht_3cyl.su2"))
    zones = regions(mesh, "zone")
    assert [z.ncells for z in zones.values()] == [33_700, 4_534, 4_534, 4_534]
    assert list(zones["1"].facet_groups) == ["cylinder_outer1", "cylinder_outer2", "cylinder_outer3", "farfield"]
    for name in "234":
        outer, inner = f"cylinder_outer{int(name) - 1}", f"cylinder_inner{int(name) - 1}"
        assert common_points(zones["1"], outer, zones[name], inner) == (400, 400, 400)
        for a, b in ((zones["1"], zones[name]), (zones["1"].select(outer), zones[name].select(inner))):
            inter = find_interedges(a, b)
            assert len(inter) == len(inter.coupled_a) == len(inter.coupled_b) == 400
            assert inter.weights.sum() == pytest.approx(np.pi, rel=1e-4)


def test_three_codes_couple_pairwise():
    meshes = [read_mesh(case(f"contact-resistance-3codes/{n}.su2"))
              for n in ("fluid_mesh", "solid_mesh_1", "solid_mesh_2")]
    assert [m.ncells for m in meshes] == [3_002, 1_521, 1_521]
    for i, j, mine, theirs in ((0, 1, "cht_interface_3_1", "cht_interface_1_3"),
                               (0, 2, "cht_interface_3_2", "cht_interface_2_3"),
                               (1, 2, "cht_interface_1_2", "cht_interface_2_1")):
        assert len(meshes[i].facet_groups[mine]) == (79 if i == 0 else 39)
        assert len(meshes[j].facet_groups[theirs]) == 39
        named = find_interedges(meshes[i].select(mine), meshes[j].select(theirs))
        assert named.weights.sum() == pytest.approx(0.01, abs=1e-9)
        assert np.array_equal(named.coupled_a, find_interedges(meshes[i], meshes[j]).coupled_a)


# ---- beams and the flap
def test_second_order_hexahedra():
    a, b = (read_mesh(case(f"elastic-beam/{n}/all.msh")) for n in ("dirichlet", "neumann"))
    assert (a.ncells, b.ncells) == (24, 8)
    assert (dual_graph(a).nedges, dual_graph(b).nedges) == (44, 12)
    assert {k: len(v) for k, v in a.point_groups.items()} == {"Nall": 201, "FIX": 21, "Nsurface": 21}
    for inter in (find_interedges(a, b), find_interedges(a.select("Nsurface"), b.select("Nsurface"))):
        assert len(inter) == 4
        assert inter.weights.sum() == pytest.approx(1)


def test_flat_fluid_and_thick_solid():
    fluid, solid = (read_mesh(case(f"perpendicular-flap/{n}")) for n in ("fluidMesh.su2", "solid-all.msh"))
    assert (fluid.dimension, solid.dimension) == (2, 3)
    assert (fluid.ncells, solid.ncells) == (710, 244)
    assert len(fluid.facet_groups["interface"]) == 28
    assert {k: len(v) for k, v in solid.point_groups.items()} == {"Nall": 738, "Nfix1": 6, "Nsurface": 494}
    assert len(boundary_surface(solid.select("Nfix1")).cell) == 2
    assert len(find_interedges(fluid, solid, "touch").coupled_a) == 60
