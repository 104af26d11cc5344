"""Three and four components: chains, stars, rings and real cases, judged by the independent checks."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

import copart
from copart.checks import check_copartition
from copart.cli import main
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import ConfigError, CouplingError, MeshError, NoInterfaceError, NotApplicableError
from copart.graph import Graph
from copart.mesh import cube
from copart.metrics import coupling_matrix, evaluate, part_room
from copart.plans.components import coupled_problem
from copart.schemes.monolithic import joined_graph, monolithic
from copart.schemes.registry import SCHEMES, run_scheme

from ..helpers import grid, shared


def at(n: int, x: float, y: float = 0.0, z: float = 0.0, name: str = "cube"):
    return cube("hexa", n, offset=(x, y, z), name=name)


SHAPES = {
    "chain": [at(6, 0, name="a"), at(8, 1, name="b"), at(5, 2, name="c")],
    "star": [at(8, 0, name="hub"), at(6, 1, name="east"), at(5, -1, name="west"), at(4, 0, 1, name="north")],
    "ring": [at(6, 0, 0, name="a"), at(8, 1, 0, name="b"), at(7, 1, 1, name="c"), at(5, 0, 1, name="d")],
}
EDGES = {
    "chain": [("a", "b"), ("b", "c")],
    "star": [("hub", "east"), ("hub", "west"), ("hub", "north")],
    "ring": [("a", "b"), ("a", "d"), ("b", "c"), ("c", "d")],
}


@pytest.fixture(scope="module")
def problems():
    return {(shape, kind): coupled_problem(*meshes, interedges=kind).problem
            for shape, meshes in SHAPES.items() for kind in ("facet", "touch")}


def sides(n: int) -> CoupledProblem:
    """A strip of grids, each beside the next; the middle ones face two components."""
    names = [chr(ord("a") + i) for i in range(n)]
    ids = np.arange(144).reshape(12, 12)
    side = Interedges.from_pairs(144, 144, ids[:, -1], ids[:, 0])
    return CoupledProblem({name: grid(12, 12) for name in names}, dict.fromkeys(pairwise(names), side))


# ---- which components meet, and in which order they are treated
@pytest.mark.parametrize("shape", SHAPES)
def test_every_two_meshes_that_touch_are_coupled(problems, shape):
    assert list(problems[shape, "facet"].pairs) == EDGES[shape]


def test_a_cell_may_face_two_components(problems):
    """By touch the four cubes of a ring meet along their common edge, too."""
    problem = problems["ring", "touch"]
    assert len(problem.pairs) == 6
    both = np.intersect1d(problem.facing("a", "b").coupled_a, problem.facing("a", "d").coupled_a)
    assert len(both) > 0
    facing = [problem.facing("a", other).coupled_a for other in "bcd"]
    assert np.array_equal(problem.coupled("a"), np.unique(np.concatenate(facing)))


@pytest.mark.parametrize("seed", range(5))
def test_the_spanning_tree_has_the_most_interedges(seed):
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    rng = np.random.default_rng(seed)
    n, names, pairs = 6, "uvwxyz", {}
    weight = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            if j == i + 1 or rng.random() < 0.5:
                size = int(rng.integers(1, 40))
                pairs[names[i], names[j]] = Interedges.from_pairs(40, 40, np.arange(size), np.arange(size))
                weight[i, j] = size
    problem = CoupledProblem({name: Graph.from_edges(40, [], []) for name in names}, pairs)
    tree = problem.spanning_tree()
    assert sorted(name for name, _ in tree) == sorted(names)
    assert [parent for _, parent in tree].count(None) == 1
    treated: set[str] = set()
    total = 0
    for name, parent in tree:
        if parent is not None:
            assert parent in treated
            total += len(problem.facing(parent, name))
        treated.add(name)
    assert total == -minimum_spanning_tree(csr_array(-weight)).sum()
    largest = max(pairs, key=lambda pair: len(pairs[pair]))
    assert tree[0][0] == largest[0]


def test_meshes_that_meet_none_of_the_others_are_refused():
    with pytest.raises(NoInterfaceError, match=r"components: far meets none of a, b; .*apart"):
        coupled_problem(*SHAPES["chain"][:2], at(4, 9, name="far"))
    # told of the two that are nearest
    with pytest.raises(NoInterfaceError, match=r"boxes are 1 apart, .* 'b' spans .* and 'near' spans"):
        coupled_problem(*SHAPES["chain"][:2], at(4, 3, name="near"))
    with pytest.raises(NoInterfaceError, match=r"c, d meet none of a, b"):
        coupled_problem(*SHAPES["chain"][:2], at(4, 9, name="c"), at(4, 10, name="d"))


def test_an_unclear_interface_names_its_pair():
    a, b = at(3, 0, name="a"), at(3, 1, name="b")
    overlapping = at(3, 0, name="c")
    with pytest.raises(MeshError, match="a and c: interface"):
        coupled_problem(a, b, overlapping)


def test_graphs_bring_a_mapping_of_interedges():
    strip = sides(3)
    back = {("b", "a"): strip.pairs["a", "b"].transposed, ("b", "c"): strip.pairs["b", "c"].to_scipy()}
    plan = copart.plan(*strip.components.values(), parts=(3, 4, 2), interedges=back)
    assert list(plan.problem.pairs) == [("a", "b"), ("b", "c")]
    assert np.array_equal(plan.problem.pairs["a", "b"].indices, strip.pairs["a", "b"].indices)
    assert check_copartition(plan.problem, plan.copartition, 0.05, plan.metrics.to_dict()).ok
    for wrong, message in (({("a", "x"): back["b", "a"]}, "two of the names a, b, c"),
                           (strip.pairs["a", "b"], "mapping from pairs"),
                           ({("a", "b"): strip.pairs["a", "b"], ("b", "a"): strip.pairs["a", "b"]}, "given twice")):
        with pytest.raises(ConfigError, match=message):
            copart.plan(*strip.components.values(), parts=(3, 4, 2), interedges=wrong)


# ---- the schemes
@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name != "joint"])  # which has tests of its own
@pytest.mark.parametrize("kind", ["facet", "touch"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_scheme_keeps_its_promises(problems, shape, kind, scheme):
    problem = problems[shape, kind]
    parts = {name: 4 + i for i, name in enumerate(problem.names)}
    made = run_scheme(scheme, problem, parts, seed=3)
    metrics = evaluate(problem, made)
    report = check_copartition(problem, made, eps=0.05, claimed=metrics.to_dict())
    assert report.ok, str(report)
    assert set(report.figures["components"]) == set(problem.names)
    assert len(report.figures["pairs"]) == len(problem.pairs)
    if scheme in ("aware", "projrepart"):
        for name, c in metrics.components.items():
            # an even share may not be whole
            assert c.max_weight <= max(1.05 * c.cells / c.parts, -(-c.cells // c.parts))
            assert c.ncoupled == c.ncoupled_requested == made.ncoupled[name]
            assert c.ub_cpl <= max(0.05, c.ncoupled / c.coupled_cells) + 1e-12


def test_projections_of_all_neighbours_save_messages():
    """In a ring of equal cubes projrepart follows both neighbours of the last component; mean of three seeds."""
    meshes = [at(12, 0, 0, name="a"), at(12, 1, 0, name="b"), at(12, 1, 1, name="c"), at(12, 0, 1, name="d")]
    made = copart.compare(*meshes, parts=[24] * 4, coupled="paper", seeds=3, schemes=["aware", "projrepart"])
    aware, proj = made.rows()
    # 42 against 51 in November 2026
    assert proj["totZ"] <= 0.87 * aware["totZ"]
    assert max(proj["ub"], proj["ub_cpl"]) <= 0.06


def test_two_components_are_treated_as_before():
    """The general scheme in the operators of two components, step by step."""
    from copart.operators import ext, part, proj, repart, rest_joined

    problem = sides(2)
    made = copart.projrepart(problem, (4, 6), (2, 3), seed=7)
    graph_a, cells_a = rest_joined(problem.a, problem.coupled("a"))
    graph_b, cells_b = rest_joined(problem.b, problem.coupled("b"))
    part_a = part(graph_a, 2, seed=7)
    projected = proj(graph_a, graph_b, problem.interedges.restricted(cells_a, cells_b), part_a, 2, seed=7)
    part_b = repart(graph_b, projected, 2, 3, seed=7)
    assert np.array_equal(made.a, ext(problem.a, cells_a, part_a, 2, 4, seed=7))
    assert np.array_equal(made.b, ext(problem.b, cells_b, part_b, 3, 6, seed=7))


# ---- one pool for all
def test_the_joined_graph_has_every_edge_and_interedge(problems):
    problem = problems["ring", "facet"]
    graph, first = joined_graph(problem)
    assert graph.nvtxs == sum(g.nvtxs for g in problem.components.values())
    assert graph.nedges == sum(g.nedges for g in problem.components.values()) + sum(map(len, problem.pairs.values()))
    dense = graph.to_scipy()
    for (a, b), inter in problem.pairs.items():
        u, v, _ = inter.pairs()
        assert (dense[u + first[a], v + first[b]] == 1).all()


def test_monolithic_balances_the_pool_and_counts_only_what_is_sent():
    problem = sides(3)
    made = monolithic(problem, (2, 3, 1), seed=2)
    assert made.shared
    assert made.nprocs == 6
    assert [made.offset(name) for name in made.names] == [0, 0, 0]
    load = sum(np.bincount(made[name], minlength=6) for name in made.names)
    assert load.max() <= 1.05 * load.sum() / 6 + 1
    metrics = evaluate(problem, made)
    assert metrics.pool_ub == pytest.approx(load.max() / load.mean() - 1)
    for (a, b), inter in problem.pairs.items():
        full = coupling_matrix(inter, made[a], made[b], 6, 6).toarray()
        assert metrics.pairs[a, b].totV_ab == full.sum() - np.trace(full)
        assert metrics.pairs[a, b].totZ == np.count_nonzero(full - np.diag(np.diag(full)))
    assert check_copartition(problem, made, 0.05, metrics.to_dict()).ok
    wrong = {**metrics.to_dict(), "pool_ub": 0.5}
    assert "pool_ub" in str(check_copartition(problem, made, 0.05, wrong))


def test_a_pool_of_any_size_and_with_each_component_in_balance():
    problem = sides(2)
    plan = copart.plan(*problem.components.values(), parts=5, scheme="monolithic", interedges=problem.interedges)
    assert plan.copartition.nprocs == 5
    assert plan.settings["parts"] == [5, 5]
    each = monolithic(problem, processes=4, balance="each", seed=1)
    for name in problem.names:
        assert np.bincount(each[name], minlength=4).max() <= 1.05 * 36
    for scheme in ("naive", "aware", "projrepart"):
        with pytest.raises(ConfigError, match="parts: needs two integers"):
            copart.plan(*problem.components.values(), parts=5, scheme=scheme, interedges=problem.interedges)
    with pytest.raises(ConfigError, match="balance"):
        monolithic(problem, processes=4, balance="some")
    with pytest.raises(ConfigError, match="processes"):
        monolithic(problem)


def test_checks_of_a_shared_pool_find_what_is_wrong():
    problem = sides(2)
    crowded = CoPartition({"a": np.zeros(144, int), "b": np.zeros(144, int)}, {"a": 2, "b": 2}, shared=True)
    said = str(check_copartition(problem, crowded, eps=0.05))
    assert "shared pool" in said
    assert "process 1" in said
    with pytest.raises(CouplingError, match="one size"):
        CoPartition({"a": [0], "b": [0]}, {"a": 2, "b": 3}, shared=True)


# ---- how an interface is laid on processes
@pytest.mark.parametrize("scheme", ["aware", "projrepart"])
def test_gather_takes_as_few_parts_as_balance_allows(problems, scheme):
    problem = problems["star", "facet"]
    parts = dict.fromkeys(problem.names, 8)
    made = run_scheme(scheme, problem, parts, interface="gather")
    metrics = evaluate(problem, made)
    assert check_copartition(problem, made, 0.05, metrics.to_dict()).ok
    for name, graph in problem.components.items():
        room = part_room(graph.total_weight, 8, 0.05)
        fewest = -(-len(problem.coupled(name)) // room)
        assert metrics.components[name].ncoupled == fewest
    spread = evaluate(problem, run_scheme(scheme, problem, parts))
    assert sum(c.ncoupled for c in spread.components.values()) > sum(c.ncoupled for c in metrics.components.values())


@pytest.mark.parametrize("scheme", ["aware", "projrepart"])
def test_uncut_leaves_each_interface_in_one_part(problems, scheme):
    problem = problems["chain", "facet"]
    made = run_scheme(scheme, problem, {"a": 4, "b": 6, "c": 3}, interface="uncut")
    for (a, b), inter in problem.pairs.items():
        assert len(np.unique(made[a][inter.coupled_a])) == len(np.unique(made[b][inter.coupled_b])) == 1, (a, b)
    # both interfaces of b are whole, each in a part of its own
    assert len(np.unique(made["b"][problem.coupled("b")])) == 2
    assert made.ncoupled == {"a": 1, "b": None, "c": 1}
    assert check_copartition(problem, made, 0.05, evaluate(problem, made).to_dict()).ok


def test_uncut_cuts_only_what_does_not_fit():
    problem = sides(3)
    # 144 cells in 20 parts: at most 7 a part, where an interface has 12
    made = copart.aware(problem, 20, interface="uncut")
    for (a, b), inter in problem.pairs.items():
        assert len(np.unique(made[a][inter.coupled_a])) == len(np.unique(made[b][inter.coupled_b])) == 2
    assert check_copartition(problem, made, 0.05).ok
    # two parts: both interfaces of the middle one share what there is
    two = copart.projrepart(problem, 1, interface="uncut")
    assert set(two["b"].tolist()) == {0}


def test_uncut_where_cells_face_two_components(problems):
    """Interfaces with a common cell are one."""
    problem = problems["ring", "touch"]
    made = run_scheme("aware", problem, dict.fromkeys(problem.names, 2), interface="uncut", eps=0.3)
    for name in problem.names:
        assert len(np.unique(made[name][problem.coupled(name)])) <= 2
    assert check_copartition(problem, made, 0.3).ok


def test_interface_options_are_checked(problems):
    problem = problems["chain", "facet"]
    with pytest.raises(ConfigError, match="interface: 'some' is not known"):
        run_scheme("aware", problem, 4, interface="some")
    with pytest.raises(NotApplicableError, match="naive: cannot keep the interfaces of b uncut"):
        run_scheme("naive", problem, 4, interface="uncut")


def test_compare_leaves_out_what_does_not_apply_with_a_note():
    made = copart.compare(*SHAPES["chain"], parts=(3, 4, 2), seeds=1, interface="uncut")
    assert {"aware", "projrepart"} <= set(made.schemes)
    assert any(remark.startswith("naive is left out: ") for remark in made.remarks)
    with pytest.raises(NotApplicableError):
        copart.compare(*SHAPES["chain"], parts=(3, 4, 2), seeds=1, interface="uncut", schemes=["naive"])


# ---- a cap on interedges
def test_the_heaviest_interedges_of_a_cell_are_kept():
    full = Interedges.from_pairs(2, 4, [0, 0, 0, 1, 1], [0, 1, 2, 2, 3], [1.0, 3.0, 2.0, 5.0, 4.0])
    u, v, _ = full.capped(1).pairs()
    # (0, 0) is the only one of cell 0 of B and stays; (0, 2) is the heaviest of none
    assert list(zip(u.tolist(), v.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 2), (1, 3)]
    assert full.capped(3) is full


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_cap_uncouples_no_cell(most):
    rng = np.random.default_rng(most)
    full = Interedges.from_pairs(30, 20, rng.integers(0, 30, 200), rng.integers(0, 20, 200), rng.random(200))
    capped = full.capped(most)
    assert np.array_equal(capped.coupled_a, full.coupled_a)
    assert np.array_equal(capped.coupled_b, full.coupled_b)
    assert len(capped) < len(full)
    # every pair that is left is among the heaviest of both ends, or the heaviest of one
    dense, kept = full.to_scipy().toarray(), capped.to_scipy().toarray()
    for i, j in zip(*np.nonzero(dense), strict=True):
        row, column = (dense[i] > dense[i, j]).sum(), (dense[:, j] > dense[i, j]).sum()
        assert (kept[i, j] > 0) == (max(row, column) < most or min(row, column) == 0)


def test_a_cap_is_told():
    plan = copart.plan(at(4, 0, name="a"), at(12, 1, name="b"), parts=(2, 3),
                       meeting=copart.Meeting(max_interedges=4))
    assert len(plan.problem.interedges) == 144, "each of the finer cells keeps its only one"
    plan = copart.plan(at(5, 0, name="a"), at(7, 1, name="b"), parts=(2, 3),
                       meeting=copart.Meeting(max_interedges=2))
    assert any("interedges of a and b are left out" in remark for remark in plan.remarks)
    assert plan.settings["max_interedges"] == 2


# ---- files, words and the command line
def test_parts_without_interface_are_listed(problems, tmp_path):
    from copart.report.words import uncoupled_words

    plan = copart.plan(*SHAPES["chain"], parts=(8, 8, 8), coupled="paper", output=tmp_path / "out")
    for name in plan.problem.names:
        owners = set(plan.copartition[name][plan.problem.coupled(name)].tolist())
        assert plan.uncoupled_parts[name] == [k for k in range(8) if k not in owners]
    summary = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert summary["uncoupled_parts"] == plan.uncoupled_parts
    assert summary["interfaces"][0]["a"]["name"] == "a"
    assert len(uncoupled_words(plan.uncoupled_parts, plan.copartition.nparts)) == 3
    names = {path.name for path in plan.files}
    assert {"a-b.interedges.mtx", "b-c.interedges.mtx", "c.part.8"} <= names
    assert "a-c.interedges.mtx" not in names


@pytest.mark.parametrize("scheme", ["projrepart", "monolithic"])
def test_plan_and_check_of_three_codes(tmp_path, capsys, scheme):
    case = shared("data/coupled/contact-resistance-3codes")
    meshes = [str(case / f"{name}.su2") for name in ("fluid_mesh", "solid_mesh_1", "solid_mesh_2")]
    out = str(tmp_path / "out")
    assert main(["plan", "--parts", "8", "3", "3", *meshes, "--scheme", scheme, "-o", out]) == 0
    text = capsys.readouterr().out
    assert "interface fluid_mesh - solid_mesh_1: " in text
    assert "without interface: part" in text
    assert main(["check", out]) == 0
    capsys.readouterr()
    if scheme == "projrepart":
        pairs = [word for mesh, name, n in zip(meshes, ("fluid_mesh", "solid_mesh_1", "solid_mesh_2"), (8, 3, 3),
                                               strict=True) for word in (mesh, f"{out}/{name}.part.{n}")]
        assert main(["check", *pairs, "--eps", "0.05", "--coupling", f"{out}/coupling.json"]) == 0
        # the parts of one mesh given for another
        pairs[3] = pairs[5]
        assert main(["check", *pairs, "--coupling", f"{out}/coupling.json"]) == 1


def test_a_file_of_four_zones_stands_for_all(tmp_path, capsys):
    case = shared("data/coupled/cht-3cyl-4zones") / "mesh_cht_3cyl.su2"
    out = tmp_path / "out"
    assert main(["plan", str(case), "--parts", "12", "4", "4", "4", "-o", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [c["coupled_cells"] for c in told["metrics"]["components"].values()] == [1200, 400, 400, 400]
    assert [p["interedges"] for p in told["metrics"]["pairs"]] == [400, 400, 400]
    for c in told["metrics"]["components"].values():
        assert c["ub"] <= 0.05
        assert c["pieces"] == c["parts"]
    assert main(["check", str(out)]) == 0
    (out / "zone1-zone3.interedges.mtx").unlink()
    assert main(["check", str(out)]) == 1


def test_one_mesh_alone_is_refused(tmp_path):
    from copart.mesh import write_vtu

    write_vtu(tmp_path / "one.vtu", at(3, 0))
    for wrong, message in (((tmp_path / "one.vtu",), "is one component"), ((at(3, 0),), "needs two or more"),
                           ((), "needs two or more"), ((*SHAPES["chain"][:2], (4, 8)), "given as parts=")):
        with pytest.raises(ConfigError, match=message):
            copart.plan(*wrong, parts=(2, 2))


def test_counts_and_names_for_every_component():
    meshes = SHAPES["chain"]
    plan = copart.plan(*meshes, parts={"c": 2, "a": 3, "b": 4}, scheme="naive")
    assert dict(plan.copartition.nparts) == {"a": 3, "b": 4, "c": 2}
    for options, message in (({"parts": (2, 2)}, "parts: needs 3 integers"),
                             ({"parts": {"a": 1, "b": 2}}, "one for each component"),
                             ({"parts": {"a": 1, "b": 2, "x": 2}}, "each of a, b, c"),
                             ({"coupled": (1, 1)}, "coupled: needs 3 integers"),
                             ({"names": ("x", "y")}, "names: needs 3 different names"),
                             ({"names": ("x", "y", "x")}, "names: needs 3 different names")):
        with pytest.raises(ConfigError, match=message):
            copart.plan(*meshes, **{"parts": (2, 2, 2), **options})


def test_file_names_of_pairs_do_not_collide(tmp_path):
    with pytest.raises(ConfigError, match="interedges of two pairs"):
        copart.plan(*[m.replace(name="") for m in SHAPES["chain"]], parts=(2, 2, 2), names=("x-y", "x", "y-x"),
                    output=tmp_path / "out")


def test_the_table_of_many_components_has_their_largest_and_their_sums():
    made = copart.compare(*SHAPES["chain"], parts=(3, 4, 2), seeds=2, schemes=["aware", "projrepart"])
    for row in made.rows():
        runs = [run.metrics for run in made.runs if run.scheme == row["scheme"]]
        assert row["ub_cpl"] == pytest.approx(np.mean([max(c.ub_cpl for c in m.components.values()) for m in runs]))
        assert row["cut"] == np.mean([sum(c.cut for c in m.components.values()) for m in runs])
        assert row["cut"] == pytest.approx(row["cut_a"] + row["cut_b"] + row["cut_c"])
        assert row["totZ"] == np.mean([sum(p.totZ for p in m.pairs.values()) for m in runs])
    assert "N^cpl" in made._repr_html_() or "N<sup>cpl</sup>" in made._repr_html_()


def test_words_name_every_component():
    from copart.report.words import comparison_words

    made = copart.compare(*SHAPES["chain"], parts=(3, 4, 2), seeds=1, schemes=["naive", "aware"])
    said = comparison_words(made.rows(), made.problem.names)
    for name in "abc":
        assert any(line.startswith(f"The slowest coupled process of {name} ") for line in said)
    assert any("of every pair" in line for line in said)
    assert any("in all components" in line for line in said)


@pytest.mark.parametrize("shape", ["ring"])
def test_pictures_and_pages(tmp_path, shape):
    pytest.importorskip("matplotlib")
    from copart.report.pictures import draw_coupled

    made = copart.compare(*SHAPES[shape], parts=[4] * 4, seeds=1, schemes=["aware", "monolithic"])
    path = draw_coupled(tmp_path / "all.png", made.problem, made.placed(), made.copartitions, "aware")
    from matplotlib.image import imread

    picture = imread(path)
    # a row of meshes, two of interfaces, one of matrices
    assert picture.shape[0] > picture.shape[1]
    page = made.report(tmp_path / "all.html").read_text()
    for a, b in EDGES[shape]:
        assert f"{a} - {b}" in page
    assert "aware" in page
    assert "monolithic" in page


def test_regions_of_an_openfoam_case_on_one_pool(tmp_path):
    """A case alone stands for its regions; each gets the decomposition that its solver reads."""
    from tests.plans.test_output import names, read_foam, two_cells

    for i, region in enumerate(("gas", "liquid", "wall")):
        two_cells(tmp_path / "case" / "constant" / region / "polyMesh", 2 * i)
    plan = copart.plan(tmp_path / "case", parts=3, scheme="monolithic", output=tmp_path / "out", eps=0.0)
    assert plan.problem.names == ("gas", "liquid", "wall")
    assert list(plan.problem.pairs) == [("gas", "liquid"), ("liquid", "wall")]
    assert np.bincount(np.concatenate([plan.copartition[n] for n in plan.problem.names])).tolist() == [2, 2, 2]
    for region in plan.problem.names:
        base = tmp_path / "out" / f"{region}.3.openfoam"
        assert names(base) == [f"constant/{region}/cellDecomposition", f"system/{region}/decomposeParDict"]
        labels = read_foam(base / "constant" / region / "cellDecomposition")[1]
        assert labels == plan.copartition[region].tolist()
    assert main(["check", str(tmp_path / "out"), "-q"]) == 0
    with pytest.raises(ConfigError, match="processes of its own"):
        copart.plan(tmp_path / "case", parts=3, scheme="monolithic", output=tmp_path / "other", write="precice")
    assert not (tmp_path / "other").exists()
