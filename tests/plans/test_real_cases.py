"""Each of the real coupled sets is planned by one command; the counts are those of the sets' own descriptions."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import copart
from copart.cli import main
from copart.errors import MeshError
from copart.mesh import find_interface, read_mesh

from ..helpers import shared

SETS = "data/coupled/"
TUBE = ("elastic-tube-3d/fluid-polyMesh", "elastic-tube-3d/solid/all.msh")
CHANNEL = ("steady-fsi/mesh_channel.su2", "steady-fsi/mesh_cantilever.su2")
ZONES = "cht-3cyl-4zones/mesh_cht_3cyl.su2"
CONTACT = "contact-resistance-3codes/"
BEAM = ("elastic-beam/dirichlet/all.msh", "elastic-beam/neumann/all.msh")
FLAP = ("perpendicular-flap/fluidMesh.su2", "perpendicular-flap/solid-all.msh")

#: A, B, parts; then cells, matching facets and points of either side, points shared, size, interedges
PLANS = {
    "tube": (TUBE, (16, 4), (32_691, 3_946), (3_658, 1_264), (1_860, 662), 2, 2 * np.pi * 0.005 * 0.05, 11_353),
    "tube by name": ((TUBE[0] + ":interface", TUBE[1]), (16, 4), (32_691, 3_946), (3_658, 1_264), (1_860, 662), 2,
                     2 * np.pi * 0.005 * 0.05, 11_353),
    "tube by both names": ((TUBE[0] + ":interface", TUBE[1] + ":Sinterface"), (16, 4), (32_691, 3_946), (3_658, 1_264),
                           (1_860, 662), 2, 2 * np.pi * 0.005 * 0.05, 11_353),
    "channel and cantilever": (CHANNEL, (16, 4), (15_292, 1_000), (210, 210), (211, 211), 211, 0.0205, 210),
    "the same by name": ((CHANNEL[0] + ":flowbound", CHANNEL[1] + ":feabound"), (16, 4), (15_292, 1_000), (210, 210),
                         (211, 211), 211, 0.0205, 210),
    **{f"cylinder {n}": ((f"{ZONES}:zone=1", f"{ZONES}:zone={n + 1}"), (16, 4), (33_700, 4_534), (400, 400), (400, 400),
                         400, np.pi, 400) for n in (1, 2, 3)},
    "zone and marker": ((f"{ZONES}:zone=1:cylinder_outer2", f"{ZONES}:zone=3:cylinder_inner2"), (16, 4),
                        (33_700, 4_534), (400, 400), (400, 400), 400, np.pi, 400),
    "fluid and first solid": ((CONTACT + "fluid_mesh.su2", CONTACT + "solid_mesh_1.su2"), (8, 4), (3_002, 1_521),
                              (79, 39), (80, 40), 2, 0.01, 117),
    "fluid and second solid": ((CONTACT + "fluid_mesh.su2", CONTACT + "solid_mesh_2.su2"), (8, 4), (3_002, 1_521),
                               (79, 39), (80, 40), 2, 0.01, 117),
    "two solids": ((CONTACT + "solid_mesh_1.su2:cht_interface_1_2", CONTACT + "solid_mesh_2.su2"), (4, 4),
                   (1_521, 1_521), (39, 39), (40, 40), 40, 0.01, 39),
    "beam": (BEAM, (4, 2), (24, 8), (4, 4), (9, 9), 9, 1.0, 4),
    "beam by name": ((BEAM[0] + ":Nsurface", BEAM[1] + ":Nsurface"), (4, 2), (24, 8), (4, 4), (9, 9), 9, 1.0, 4),
    "flap by name": ((FLAP[0] + ":interface", FLAP[1] + ":Nsurface"), (8, 4), (710, 244), (28, 246), (29, 247), 5, 2.1,
                     270),
    "flap": (FLAP, (8, 4), (710, 244), (28, 246), (29, 247), 5, 2.1, 270),
}


@pytest.mark.parametrize("case", PLANS)
def test_one_command_plans_it(tmp_path, case, capsys):
    sources, parts, cells, facets, points, common, size, interedges = PLANS[case]
    files = [f"{shared(SETS + s.partition(':')[0])}{''.join(s.partition(':')[1:])}" for s in sources]
    out = tmp_path / "out"
    assert main(["plan", *files, "--parts", *map(str, parts), "-o", str(out)]) == 0
    assert capsys.readouterr().out.count("interface: ") >= 3
    summary = json.loads((out / "metrics.json").read_text())
    found = summary["interface"]
    assert tuple(c["cells"] for c in summary["metrics"]["components"].values()) == cells
    assert (found["a"]["matched"], found["b"]["matched"]) == facets
    assert (found["a"]["points"], found["b"]["points"]) == points
    assert found["shared_points"] == common
    # a round wall of chords is smaller than the round one, and no more can be common than the coarser mesh has
    assert found["overlap"] == pytest.approx(size, rel=6e-3)
    assert found["overlap"] <= min(found[side]["size"] for side in "ab") * (1 + 1e-12)
    assert max(found["a"]["unmatched"], found["b"]["unmatched"]) < 0.01
    assert summary["metrics"]["pairs"][0]["interedges"] == interedges
    assert main(["check", str(out), "-q"]) == 0


def test_what_was_found_has_the_names_of_the_files():
    for pair, names in ((CHANNEL, ("flowbound", "feabound")), (FLAP, ("interface", "Nsurface")),
                        (TUBE, ("interface", "Sinterface"))):
        _, found = find_interface(*(read_mesh(shared(SETS + p)) for p in pair))
        assert (found.a.groups[0], found.b.groups[0]) == names


def test_faces_of_the_patch_are_all_and_only_those_of_the_fluid():
    fluid, solid = (read_mesh(shared(SETS + p)) for p in TUBE)
    whole, found = find_interface(fluid, solid)
    named, again = find_interface(fluid.select("interface"), solid)
    assert (again.a.offered, again.a.matched, again.a.unmatched) == (3_658, 3_658, pytest.approx(0, abs=2e-3))
    assert found.a.matched == 3_658
    assert np.array_equal(whole.coupled_a, named.coupled_a)
    # the solver's own list of elements on the wetted surface
    text = shared(SETS + "elastic-tube-3d/solid/interface.sur").read_text()
    listed = {int(n) for part in text.split("*elset")[1:]
              for n in re.findall(r"\d+", part.split("\n", 1)[1].split("*")[0])}
    first = int(shared(SETS + TUBE[1]).read_text().split("*ELEMENT")[1].splitlines()[1].split(",")[0])
    assert {int(c) + first for c in whole.coupled_b} == listed


@pytest.mark.parametrize("named", [(False, False), (True, False), (True, True)])
def test_cells_that_touch_the_wall_of_the_tube_are_those_with_a_corner_on_it(named):
    """The walls are chords of one cylinder, up to a tenth of a facet apart; no tolerance is given."""
    meshes = [read_mesh(shared(SETS + p)) for p in TUBE]
    groups = meshes[0].facet_groups["interface"], meshes[1].facet_groups["Sinterface"]
    names = "interface", "Sinterface"
    chosen = [m.select(name) if on else m for m, name, on in zip(meshes, names, named, strict=True)]
    inter, _ = find_interface(*chosen, "touch")
    for mesh, group, coupled in zip(meshes, groups, (inter.coupled_a, inter.coupled_b), strict=True):
        wall = np.zeros(mesh.npoints, bool)
        wall[group] = True
        start, nodes = mesh.corners
        assert np.array_equal(coupled, np.flatnonzero(np.logical_or.reduceat(wall[nodes], start[:-1])))


def test_all_solids_at_once_are_three_candidates():
    whole = read_mesh(shared(SETS + ZONES))
    fluid = whole.select(("zone", 1))
    solids = copart.mesh.extract(whole, whole.cell_data["zone"] > 1, name="solids")
    with pytest.raises(MeshError, match=r"3 separate surfaces .* 400 facets of .*cylinder_outer1, 400 facets of "
                                        r"'solids' on cylinder_inner1"):
        find_interface(fluid, solids)
    inter, found = find_interface(fluid, solids, several=True)
    assert (len(inter), found.pieces) == (1_200, 3)


def test_the_other_zones_are_mentioned(tmp_path, capsys):
    source = shared(SETS + ZONES)
    assert main(["plan", f"{source}:zone=1", f"{source}:zone=3", "--parts", "4", "2", "-o", str(tmp_path / "out")]) == 0
    assert "note: mesh_cht_3cyl.su2 also has zone=2, zone=4; give them as well to couple all" in capsys.readouterr().out


@pytest.mark.parametrize("names", [(), ("flowbound", "feabound")])
def test_a_cantilever_in_millimetres(names):
    channel, beam = (read_mesh(shared(SETS + p)) for p in CHANNEL)
    beam = beam.scaled(1000)
    if names:
        channel, beam = channel.select(names[0]), beam.select(names[1])
    with pytest.raises(MeshError, match=r"times 0\.001 \(--scale \S+=0\.001\) 210 of its facets match"):
        copart.plan(channel, beam, parts=(4, 2))
    plan = copart.plan(channel, beam, parts=(4, 2), meeting=copart.Meeting(scale={"b": 0.001}))
    assert plan.interface.overlap == pytest.approx(0.0205)
    assert "is scaled by 0.001" in plan.interface.remarks[0]
    assert np.allclose(plan.placed()["mesh_cantilever"].bounds, beam.bounds / 1000)
    assert plan.meshes["mesh_cantilever"] is beam, "files keep the unit of the solver"
