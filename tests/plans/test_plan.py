"""`plan` and `compare`: what they accept, what they write, what they refuse before the work."""

from __future__ import annotations

import json
import os
import re

import meshio
import numpy as np
import pytest

import copart
from copart.coupling import CoPartition, Interedges
from copart.errors import ConfigError, CouplingError, FormatError, GraphError, MeshError, PartitionError
from copart.formats import read_part
from copart.mesh import Mesh, cube, write_vtu
from copart.plans.sources import split_region
from copart.schemes.registry import SCHEMES

from ..helpers import grid

#: (0, 1) x (0, 1) x (0, 1) against its neighbour, small but large enough for coupled parts.
A, B = cube("hexa", 6, name="left"), cube("hexa", 8, offset=(1, 0, 0), name="right")


def two_grids():
    """Two 10 x 12 grids whose long sides lie on each other."""
    side = np.arange(12)
    return grid(10, 12), grid(10, 12), Interedges.from_pairs(120, 120, 108 + side, side)


def test_plan_of_two_meshes_meets_every_request():
    plan = copart.plan(A, B, parts=(4, 8), coupled=(2, 4))
    assert plan.problem.names == ("left", "right")
    assert plan.metrics.a.ncoupled == 2
    assert plan.metrics.b.ncoupled == 4
    assert max(plan.metrics.a.ub, plan.metrics.b.ub, plan.metrics.a.ub_cpl, plan.metrics.b.ub_cpl) <= 0.05
    assert copart.checks.check_copartition(plan.problem, plan.copartition, eps=0.05).ok
    assert plan.files == ()
    assert "with joint" in repr(plan)


@pytest.mark.parametrize("scheme", ["naive", "aware", "projrepart"])
def test_every_scheme_by_name(scheme):
    plan = copart.plan(A, B, parts=(4, 8), scheme=scheme)
    assert plan.settings["scheme"] == scheme
    direct = getattr(copart, scheme)(plan.problem, (4, 8), None, eps=0.05, seed=1)
    assert np.array_equal(direct.a, plan.copartition.a)
    assert np.array_equal(direct.b, plan.copartition.b)


def test_the_same_components_in_every_form_give_the_same_parts(tmp_path):
    write_vtu(tmp_path / "left.vtu", A)
    path, other = tmp_path / "left.vtu", meshio.Mesh(B.points, [("hexahedron", B.blocks[0][1])])
    want = copart.plan(A, B, parts=(4, 8)).copartition
    for a, b in [(path, B), (str(path), other)]:
        got = copart.plan(a, b, parts=(4, 8)).copartition
        assert np.array_equal(got.a, want.a)
        assert np.array_equal(got.b, want.b)


def test_graphs_come_in_every_form_and_bring_their_interedges():
    a, b, inter = two_grids()
    want = copart.plan(a, b, parts=(4, 6), interedges=inter).copartition
    for form in (lambda g: (g.xadj, g.adjncy), lambda g: g.to_scipy(), lambda g: g.to_networkx()):
        got = copart.plan(form(a), form(b), parts=(4, 6), interedges=inter.to_scipy()).copartition
        assert np.array_equal(got.a, want.a)
        assert np.array_equal(got.b, want.b)


def test_the_library_prints_nothing(capfd):
    a, b, inter = two_grids()
    copart.plan(a, b, parts=(4, 6), interedges=inter)
    copart.plan(A, B, parts=(4, 8))
    assert capfd.readouterr() == ("", "")


def test_regions_of_one_mesh(tmp_path):
    cells = cube("hexa", 8).blocks[0][1]
    both = cube("hexa", 8).points
    zone = (both[cells].mean(axis=1)[:, 0] > 0.5).astype(int) + 1
    write_vtu(tmp_path / "all.vtu", Mesh(both, [("hexahedron", cells)], {"zone": zone}))
    plan = copart.plan(f"{tmp_path}/all.vtu:zone=1", f"{tmp_path}/all.vtu:zone=2", parts=(4, 4))
    assert [g.nvtxs for g in plan.problem.components.values()] == [256, 256]
    assert len(plan.problem.interedges) == 64
    assert plan.problem.names == ("zone1", "zone2")


def test_split_region(tmp_path):
    (tmp_path / "odd:name.vtu").touch()
    whole = f"{tmp_path}/odd:name.vtu"
    assert split_region(whole) == (whole, None)
    assert split_region("dir:x/case.vtu") == ("dir:x/case.vtu", None)
    assert split_region("case.vtu:zone=2.5") == ("case.vtu", "zone=2.5")
    assert split_region("case.vtu:zone=2:wall") == ("case.vtu", "zone=2:wall")
    assert split_region("case/polyMesh/:wall") == ("case/polyMesh/", "wall")
    assert split_region("case.vtu:wall") == ("case.vtu", "wall")


def test_vertex_weights_from_a_cell_array():
    load = np.ones(A.ncells, int)
    load[: A.ncells // 2] = 5
    heavy, plain = A.replace(cell_data={"load": load}), B.replace(cell_data={"load": np.ones(B.ncells, int)})
    plan = copart.plan(heavy, plain, parts=(4, 8), load="load")
    assert plan.problem.a.total_weight == load.sum()
    assert plan.metrics.a.ub <= 0.05


def test_names_are_different_and_can_be_chosen():
    assert copart.plan(A, A.translated((1, 0, 0)), parts=(2, 2)).problem.names == ("left-a", "left-b")
    assert copart.plan(A, B, parts=(2, 2), names=("x", "y")).problem.names == ("x", "y")
    with pytest.raises(ConfigError, match="two different names"):
        copart.plan(A, B, parts=(2, 2), names=("x", "x"))


def test_written_files_hold_the_plan(tmp_path):
    plan = copart.plan(A, B, parts=(4, 8), output=tmp_path / "deep" / "out")
    lists = ["left-right.interedges", "left.halo", "left.owned", "right.halo", "right.owned"]
    arrays = [f"{name}.{half}.npy" for name in lists for half in ("index", "rows")]
    files = ["left.vtu", "right.vtu", "left.part.4", "right.part.8", "interedges.mtx", *arrays, "programs.slurm",
             "launch.txt", "coupling.json", "metrics.json"]
    assert [p.name for p in plan.files] == files
    assert sorted(p.name for p in (tmp_path / "deep" / "out").rglob("*") if p.is_file()) == sorted(files)
    for name, k in (("left", 4), ("right", 8)):
        data = meshio.read(tmp_path / "deep" / "out" / f"{name}.vtu").cell_data
        assert np.array_equal(np.concatenate(data["part"]), plan.copartition[name])
        assert np.array_equal(np.flatnonzero(np.concatenate(data["coupled"])), plan.problem.coupled(name))
        assert np.array_equal(read_part(tmp_path / "deep" / "out" / f"{name}.part.{k}"), plan.copartition[name])
    summary = json.loads((tmp_path / "deep" / "out" / "metrics.json").read_text())
    assert summary["metrics"] == plan.metrics.to_dict()
    assert summary["settings"]["parts"] == [4, 8]
    assert summary["settings"]["seed"] == 1


def test_component_names_become_safe_file_names(tmp_path):
    plan = copart.plan(A, B, parts=(2, 2), names=("gas/hot", "../solid"), output=tmp_path / "out")
    assert [p.name for p in plan.files[:2]] == ["gas_hot.vtu", "_solid.vtu"]
    assert {p.parent for p in plan.files} == {tmp_path / "out" / name for name in ("", "exchange", "launch")}
    assert (tmp_path / "out" / "exchange" / "gas_hot-_solid.interedges.rows.npy").exists()


def test_components_whose_file_names_collide_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="same file"):
        copart.plan(A, B, parts=(2, 2), names=("a/b", "a_b"), output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


BAD = [
    ({"parts": (0, 4)}, ConfigError, "parts: must be at least 1"),
    ({"parts": (4,)}, ConfigError, "parts: needs two integers"),
    ({"parts": (2.5, 4)}, ConfigError, "parts: needs an integer"),
    ({"parts": (4, 100_000)}, PartitionError, "100000 parts of 512"),
    ({"coupled": (5, 4)}, CouplingError, "ncoupled of left"),
    ({"coupled": (1, 1), "parts": (216, 8)}, CouplingError, "ncoupled of left: 1 parts cannot hold"),
    ({"scheme": "best"}, ConfigError, "scheme: 'best' is not known"),
    ({"interedges": "near"}, ConfigError, "interedges: 'near' is not known"),
    ({"preset": "slow"}, ConfigError, "preset: 'slow' is not known"),
    ({"eps": -0.1}, ConfigError, "eps: must be at least 0"),
    ({"seed": -1}, ConfigError, "seed: must be at least 0"),
    ({"threads": 0}, ConfigError, "threads: must be at least 1"),
    ({"load": "load"}, MeshError, "load"),
    ({"load": "part"}, ConfigError, "load: the folder of a plan has a cell array 'part' of its own"),
    ({"coupled_weights": "coupled"}, ConfigError, "coupled_weights: the folder of a plan has a cell array 'coupled'"),
    ({"load": "coupled_weight", "coupled_weights": {"left": [1] * 216}}, ConfigError, "load: .* 'coupled_weight'"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD, ids=[m for _, _, m in BAD])
def test_bad_arguments_give_one_clear_error_and_no_files(tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        copart.plan(A, B, **{"parts": (4, 8), "output": tmp_path / "out", **options})
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("fields", "message"), [
    ({"tolerance": float("nan")}, "tolerance"), ({"gap": -1}, "gap: must be at least 0"),
    ({"gap": 1, "tolerance": 1}, "give one of the two"), ({"scale": {"b": 0}}, "scale: must be above 0"),
    ({"scale": 0.001}, "scale: needs a mapping"), ({"periodic": {"a": (0, 0, 0)}}, "period: must not be zero"),
    ({"shift": {"a": (1, 2)}}, "shift: needs three numbers"), ({"max_interedges": 0}, "max_interedges: must be at"),
])
def test_a_meeting_says_what_is_wrong_with_it(fields, message):
    with pytest.raises(ConfigError, match=message):
        copart.Meeting(**fields)


def test_any_component_is_scaled_moved_and_repeated():
    """The same interedges, whichever of the two is out of place, by its name or by its letter."""
    want = copart.plan(A, B, parts=(2, 3)).problem.interedges.pairs()
    small, far = A.scaled(0.001), B.translated((0, 7, 0))
    for meeting in (copart.Meeting(scale={"left": 1000}, shift={"right": (0, -7, 0)}),
                    copart.Meeting(scale={"a": 1000}, shift={"b": (0, -7, 0)})):
        made = copart.plan(small, far, parts=(2, 3), meeting=meeting)
        for one, other in zip(made.problem.interedges.pairs(), want, strict=True):
            np.testing.assert_allclose(one, other)
        assert made.settings["scale"] == {"left": 1000}
        assert made.settings["shift"] == {"right": [0, -7, 0]}
        for name, mesh in made.placed().items():
            np.testing.assert_allclose(mesh.bounds, (A if name == "left" else B).bounds, atol=1e-12)
        assert any("'left' is scaled by 1000" in remark for remark in made.interface.remarks)
    # behind by a multiple of a period, of the first or of the second
    back = B.translated((-6, 0, 0))
    for name in ("left", "right"):
        made = copart.plan(A, back, parts=(2, 3), meeting=copart.Meeting(periodic={name: (6, 0, 0)}))
        assert len(made.problem.interedges) == len(want[0])
        assert made.interface.remarks == (f"{name!r} is repeated by (6, 0, 0)",)
    # of three components, too
    third = B.translated((1, 0, 0)).replace(name="third")
    three = copart.plan(A, far, third, parts=(2, 3, 2), meeting=copart.Meeting(shift={"right": (0, -7, 0)}))
    for pair, interface in three.interfaces.items():
        assert interface.remarks == ("'right' is moved by (0, -7, 0)",) * ("right" in pair)
    with pytest.raises(ConfigError, match="periodic: left and right meet and have different periods"):
        copart.plan(A, back, parts=(2, 3), meeting=copart.Meeting(periodic={"a": (2, 0, 0), "b": (3, 0, 0)}))
    with pytest.raises(ConfigError, match="shift: no component 'middle'; known: left, right"):
        copart.plan(A, B, parts=(2, 3), meeting=copart.Meeting(shift={"middle": (1, 0, 0)}))
    with pytest.raises(ConfigError, match="scale: is given twice for right"):
        copart.plan(A, B, parts=(2, 3), meeting=copart.Meeting(scale={"b": 2, "right": 3}))


@pytest.mark.parametrize(("kind", "match", "arguments"), [
    (ConfigError, "load: needs the name of a cell array, got ndarray", {"load": np.ones(A.ncells)}),
    (ConfigError, "load: needs the name of a cell array, got tuple", {"load": (1,) * A.ncells}),
    (ConfigError, "load: needs the name of a cell array, got dict", {"load": {"left": [1]}}),
    (ConfigError, "names: needs two different names, got", {"names": "ab"}),
    (ConfigError, r"names: needs two different names, got \(1, 2\)", {"names": [1, 2]}),
    (TypeError, "meeting: needs copart.Meeting, got dict", {"meeting": {"scale": {"left": 2}}}),
    (TypeError, "site: needs copart.Site, got str", {"site": "topology.conf"}),
])
def test_arguments_of_another_type(kind, match, arguments):
    for call in (copart.plan, copart.compare):
        with pytest.raises(kind, match=match):
            call(A, B, parts=(2, 3), **arguments)


def test_a_field_given_plainly_says_where_it_belongs():
    for name, where in (("tolerance", "meeting=copart.Meeting(tolerance=...)"),
                        ("costs", "total=copart.Sharing(total, "),
                        ("placement", "site=copart.Site(machine, placement=...)"), ("speed", "unexpected keyword")):
        for call in (copart.plan, copart.compare):
            with pytest.raises(TypeError, match=re.escape(where)):
                call(A, B, parts=(2, 3), **{name: 1})


def test_counts_are_never_hidden():
    for call in (copart.plan, copart.compare):
        with pytest.raises(ConfigError, match="parts: is missing"):
            call(A, B)
        with pytest.raises(ConfigError, match="give one of the two"):
            call(A, B, parts=(2, 3), total=5)
        assert sum(call(A, B, total=5).settings["parts"]) == 5


def test_every_option_of_every_scheme_is_in_reach():
    dear = copart.plan(A, B, parts=(4, 8), scheme_options={"price": (1, 16, 5000), "directions": "both", "fix": "soft"})
    assert dear.metrics.pair.totZ <= copart.plan(A, B, parts=(4, 8)).metrics.pair.totZ
    assert dear.settings["scheme_options"]["price"] == (1, 16, 5000)
    each = copart.plan(A, B, parts=8, scheme="monolithic", scheme_options={"balance": "each"})
    assert max(c.ub for c in each.metrics.components.values()) <= 0.05
    report = copart.checks.check_copartition
    few, beside = cube("hexa", 3), cube("hexa", 3, offset=(1, 0, 0))
    each = copart.plan(few, beside, names=("a", "b"), parts=5, scheme="monolithic", scheme_options={"balance": "each"})
    assert report(each.problem, each.copartition, 0.05, each_alone=True).ok
    together = copart.plan(few, beside, names=("a", "b"), parts=5, scheme="monolithic")
    assert report(together.problem, together.copartition, 0.05).ok
    off = CoPartition({"a": [0] * 7 + [k for k in range(1, 5) for _ in range(5)], "b": each.copartition["b"]},
                      {"a": 5, "b": 5}, shared=True)
    assert "component a" in str(report(each.problem, off, 0.05, each_alone=True))
    with pytest.raises(ConfigError, match="'balance' is no option of joint, but of monolithic; there are"):
        copart.plan(A, B, parts=(4, 8), scheme_options={"balance": "each"})
    made = copart.compare(A, B, parts=(4, 8), seeds=1, schemes=["naive", "joint"], scheme_options={"price": (1, 0, 0)})
    assert made.runs[1].metrics.to_dict() == copart.plan(A, B, parts=(4, 8),
                                                         scheme_options={"price": (1, 0, 0)}).metrics.to_dict()
    with pytest.raises(ConfigError, match="'price' is no option of naive, but of joint; there are naive: objective"):
        copart.compare(A, B, parts=(4, 8), schemes=["naive"], scheme_options={"price": (1, 0, 0)})


def test_bad_components():
    a, b, inter = two_grids()
    with pytest.raises(CouplingError, match="give an Interedges"):
        copart.plan(a, b, parts=(4, 8))
    with pytest.raises(CouplingError, match="the components have"):
        copart.plan(a, grid(3, 3), parts=(4, 8), interedges=inter)
    with pytest.raises(FormatError, match="no such file"):
        copart.plan("nowhere.vtu", B, parts=(4, 8))
    with pytest.raises(GraphError, match="adjncy"):
        copart.plan(([0, 1], [7]), b, parts=(4, 8), interedges=inter)
    with pytest.raises(MeshError, match="apart"):
        copart.plan(A, B.translated((5, 0, 0)), parts=(4, 8))
    with pytest.raises(CouplingError, match=r"0\.\.119"):
        copart.plan(a, b, parts=(4, 8), interedges=Interedges.from_pairs(120, 120, [0], [120]))


@pytest.mark.parametrize(("given", "message"), [
    ({"fluid": A, "solid": B}, "a mapping is none.*values.., names=.'fluid', 'solid'."),
    ([A, B], "a list is none.*one by one"), (("a.vtu", "b.vtu"), "a tuple is none.*one by one")])
def test_components_in_one_value_are_refused_with_the_way_to_give_them(given, message):
    for run in (copart.plan, copart.compare):
        with pytest.raises(ConfigError, match=message):
            run(given, parts=(2, 2))


def test_an_output_folder_that_is_a_file_is_refused_before_the_work(tmp_path):
    (tmp_path / "taken").write_text("mine")
    called = []
    with pytest.raises(ConfigError, match="taken"):
        copart.plan(A, B, parts=(2, 2), output=tmp_path / "taken", progress=lambda *step: called.append(step))
    assert called == []
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_write_that_fails_leaves_the_old_files(tmp_path, monkeypatch):
    out = tmp_path / "out"
    copart.plan(A, B, parts=(4, 8), output=out)
    before = {p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()}

    def broken(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("copart.plans.output.write_coupling", broken)
    with pytest.raises(FormatError, match="no space left"):
        copart.plan(A, B, parts=(4, 8), seed=2, output=out)
    assert {p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()} == before


def test_progress_names_the_steps(tmp_path):
    steps = []
    copart.plan(A, B, parts=(4, 8), output=tmp_path / "out", progress=lambda step, done, total: steps.append(step))
    for word in ("interedges", "partitioning with joint", "measuring", "writing"):
        assert any(word in step for step in steps), (word, steps)


def test_same_seed_same_bytes_on_one_and_two_threads(tmp_path):
    for threads in (1, 2):
        copart.plan(A, B, parts=(4, 8), threads=threads, output=tmp_path / str(threads))
    for name in ("left.part.4", "right.part.8", "coupling.json"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    other = copart.plan(A, B, parts=(4, 8), seed=2)
    assert not np.array_equal(other.copartition.b, read_part(tmp_path / "1" / "right.part.8"))


# ---- compare
def test_compare_is_the_mean_of_single_plans():
    made = copart.compare(A, B, parts=(4, 8), seeds=[3, 5])
    assert made.schemes == tuple(name for name in SCHEMES if name != "auto")
    assert [(r.scheme, r.seed) for r in made.runs[:2]] == [("naive", 3), ("naive", 5)]
    for row in made.rows():
        singles = [copart.plan(A, B, parts=(4, 8), scheme=row["scheme"], seed=s).metrics for s in (3, 5)]
        assert row["cut_b"] == np.mean([m.b.cut for m in singles])
        assert row["totZ"] == np.mean([m.pair.totZ for m in singles])
        assert row["ub_cpl_a"] == pytest.approx(np.mean([m.a.ub_cpl for m in singles]))
        assert row["seconds"] > 0
    payload = json.loads(json.dumps(made.to_dict()))
    assert payload["settings"]["seeds"] == [3, 5]
    assert len(payload["runs"]) == 2 * (len(SCHEMES) - 1)


def test_compare_runs_the_schemes_that_are_asked_for():
    a, b, inter = two_grids()
    made = copart.compare(a, b, parts=(4, 6), schemes=["aware"], seeds=1, interedges=inter)
    assert made.schemes == ("aware",)
    assert len(made.runs) == 1
    with pytest.raises(ConfigError, match=r"schemes: needs a sequence of names, as in \['naive'\]"):
        copart.compare(a, b, parts=(4, 6), schemes="naive", interedges=inter)
    for bad in ({"schemes": ["nope"]}, {"schemes": []}, {"seeds": 0}, {"seeds": []}):
        with pytest.raises(ConfigError):
            copart.compare(a, b, parts=(4, 6), interedges=inter, **bad)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_refused(tmp_path):
    (tmp_path / "locked").mkdir(mode=0o555)
    with pytest.raises(ConfigError, match="cannot be written"):
        copart.plan(A, B, parts=(2, 2), output=tmp_path / "locked" / "out")
