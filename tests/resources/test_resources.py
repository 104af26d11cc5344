"""Processes for components: the optimum, by brute force over all splits; fits; limits; N^cpl; the tables."""

from __future__ import annotations

import json
import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart import Graph, Interedges, plan
from copart.cli import main
from copart.errors import ConfigError, FormatError
from copart.formats.costs_file import read_costs
from copart.plans.allot import allot
from copart.plans.requests import Sharing
from copart.resources import (
    CouplingCost,
    Scaling,
    Workload,
    advise,
    coupled_processes,
    distribute,
    fit_scaling,
    neighbours,
)


# ---- the split
@st.composite
def cases(draw):
    loads = []
    for i in range(draw(st.integers(1, 3))):
        a, b, c = (draw(st.sampled_from(values)) for values in ((0, 0, 1, 3.5), (1, 5, 12, 40.0), (0, 0, 0.1, 1)))
        step = draw(st.sampled_from([1, 1, 2, 3]))
        least = step * draw(st.integers(1, 3))
        most = draw(st.sampled_from([0, 0, least, least + 5]))
        loads.append(Workload(f"c{i}", Scaling(a, b, c), None, least, most, step))
    return loads, draw(st.integers(sum(w.least for w in loads), 24)) if sum(w.least for w in loads) <= 24 else 27


@given(cases(), st.sampled_from(["concurrent", "serial"]))
def test_shortest_step_of_all_splits(case, coupling):
    loads, total = case
    found = distribute(loads, total, coupling)
    sizes = [[n for n in range(w.least, total + 1, w.granularity) if not w.most or n <= w.most] for w in loads]
    together = max if coupling == "concurrent" else sum
    best = min(together(w.scaling.a + w.scaling.b / n + w.scaling.c * np.log2(n)
                        for w, n in zip(loads, split, strict=True))
               for split in product(*sizes) if sum(split) <= total)
    assert found.step == pytest.approx(best, rel=1e-12)
    for w in loads:
        n = found.processes[w.name]
        assert n in w.choices(total)
        assert found.seconds[w.name] == pytest.approx(float(w.scaling.seconds(n)))
    assert found.unused == total - sum(found.processes.values()) >= 0
    # the slowest cannot be helped by what is left
    assert 0 <= found.idle < 1


def test_known_optimum():
    """Loads 7 : 2 : 1 with perfect speed-up: no one waits."""
    loads = [Workload.of_cells("fluid", 70_000, 1e-5, 2), Workload.of_cells("solid", 40_000, 1e-5),
             Workload.of_cells("skin", 1_000, 2e-4)]
    found = distribute(loads, 100)
    assert dict(found.processes) == {"fluid": 70, "solid": 20, "skin": 10}
    assert found.step == pytest.approx(0.02)
    assert found.idle == pytest.approx(0)
    for other in neighbours(loads, found):
        assert other.step > found.step
    # one after the other: N_i in proportion to the root of the load
    serial = distribute(loads, 100, "serial")
    root = np.sqrt([7, 2, 1])
    assert np.abs(np.array([*serial.processes.values()]) - 100 * root / root.sum()).max() <= 1


def test_neighbours_of_two_granularities():
    """Nodes of 4 and of 6 processes: 12 is what both can give and take."""
    loads = [Workload.of_cells("a", 900, 1.0, granularity=4), Workload.of_cells("b", 600, 1.0, granularity=6)]
    found = distribute(loads, 48)
    assert dict(found.processes) == {"a": 28, "b": 18}
    assert [dict(other.processes) for other in neighbours(loads, found)] == [{"a": 16, "b": 30}, {"a": 40, "b": 6}]


def test_left_over_goes_to_the_next_slowest():
    loads = [Workload("a", Scaling(5.0, 1.0, 1.0)), Workload("b", Scaling(0, 10.0)), Workload("c", Scaling(0, 9.0))]
    # a cannot be faster than on one process; b and c share the others
    found = distribute(loads, 12)
    assert dict(found.processes) == {"a": 1, "b": 6, "c": 5}
    assert distribute(loads[:1], 12).unused == 11


def test_large_totals_are_no_trouble():
    loads = [Workload.of_cells(name, cells, 1.0) for name, cells in (("a", 10**9), ("b", 3 * 10**8))]
    found = distribute(loads, 130_000)
    assert dict(found.processes) == {"a": 100_000, "b": 30_000}
    with pytest.raises(ConfigError, match="serial coupling compares at most"):
        distribute(loads, 130_000, "serial")
    nodes = [w.limited(granularity=128) for w in loads]
    assert distribute(nodes, 130_000, "serial").unused < 128


def test_limits():
    load = Workload.of_cells("fluid", 1000, 1.0)
    assert load.limited(max_cells=300, granularity=4).least == 4
    assert load.limited(max_cells=100, granularity=4).least == 12
    assert load.limited(min_cells=300).choices(100).tolist() == [1, 2, 3]
    assert distribute([load.limited(most=7), Workload.of_cells("s", 10, 1.0)], 100).processes["fluid"] == 7
    with pytest.raises(ConfigError, match=r"fluid: needs at least 12 processes \(in multiples of 4\) and may have at"):
        load.limited(max_cells=100, granularity=4, most=10)
    with pytest.raises(ConfigError, match=r"max_cells: the number of cells of x is not known; give it \(--cells\)"):
        Workload("x", Scaling(1, 1)).limited(max_cells=3)
    with pytest.raises(ConfigError, match=r"20 processes are not enough, at least 24 are needed \(fluid 12, solid 12"):
        distribute([load.limited(least=12), Workload.of_cells("solid", 9, 1.0, least=12)], 20)
    with pytest.raises(ConfigError, match="cost and iterations must be above 0"):
        Workload.of_cells("x", 10, 0.0)
    with pytest.raises(ConfigError, match="need different names"):
        distribute([load, load], 4)
    with pytest.raises(ConfigError, match="coupling: 'staggered' is not known"):
        distribute([load], 4, "staggered")


# ---- measured times
@given(st.floats(0, 10), st.floats(0.1, 1000), st.floats(0, 1))
def test_fit_finds_the_model_again(a, b, c):
    n = np.array([1, 2, 8, 32, 128])
    fit = fit_scaling(n, a + b / n + c * np.log2(n))
    assert fit.error < 1e-6
    assert (fit.low, fit.high) == (1, 128)
    assert fit.seconds(16) == pytest.approx(a + b / 16 + 4 * c, rel=1e-5)


def test_fit_with_few_points_and_bad_ones():
    one = fit_scaling([4, 4], [3.0, 3.0])
    assert (one.a, one.b, one.c, one.high) == (0, pytest.approx(12), 0, 4)
    two = fit_scaling([1, 4], [10.0, 4.0])
    assert (two.a, two.b, two.c) == pytest.approx((2, 8, 0))
    # slower on more processes: no negative terms
    grows = fit_scaling([1, 2, 4], [1.0, 2.0, 3.0])
    assert min(grows.a, grows.b, grows.c) >= 0
    assert not fit_scaling([2, 4], [2.0, 1.0]).extrapolates(3)
    assert fit_scaling([2, 4], [2.0, 1.0]).extrapolates(5)
    for n, s in (([1], [0.0]), ([0], [1.0]), ([1, 2], [1.0]), ([], [])):
        with pytest.raises(ConfigError):
            fit_scaling(n, s)


def test_times_that_grow_from_the_first_on_are_none_of_zero():
    """A logarithm alone goes through them, and takes no time at all on one process."""
    slow = Workload.measured("a", [2, 4, 8], [1.0, 2.1, 3.3])
    assert (slow.scaling.b, slow.scaling.c) == (0, 0)
    assert 1 < slow.scaling.a < 3.3
    assert "a: the fitted times miss a measured one by 59%" in advise([slow], 16).remarks
    assert repr(advise([slow], 16)).endswith("step 1.349 s, 93.8% idle)")


def test_remarks_tell_what_is_uncertain():
    loads = [Workload.measured("fluid", [4, 8], [8.0, 4.0]), Workload.measured("solid", [4], [1.0]),
             Workload.measured("wild", [1, 2, 4, 8], [1.0, 3.0, 0.5, 2.0])]
    remarks = " ".join(advise(loads, 100).remarks)
    assert "fluid: 85 processes are outside what was measured (4 to 8)" in remarks
    assert "solid: measured at 4 processes only, so perfect speed-up is assumed" in remarks
    assert "wild: the fitted times miss a measured one by" in remarks


# ---- coupled processes
def test_no_single_change_of_ncoupled_is_cheaper():
    costs = [CouplingCost("a", 16, 15_625, 625, 1e-7, 50), CouplingCost("b", 64, 64_000, 1600, 1e-7, 20),
             CouplingCost("c", 30, 27_000, 900, 1e-7, 80)]
    links = [("a", "b"), ("b", "c")]
    chosen = coupled_processes(costs, links)

    def total(counts):
        out = 0.0
        for i, c in enumerate(costs):
            other = [(counts[j], costs[j].coupled_cells) for j in range(3) if abs(i - j) == 1]
            k, share = counts[i], c.coupled_cells / counts[i]
            out += c.cost * share + c.latency * sum((1 + (n / k) ** 0.5) ** 2 for n, _ in other)
            out += c.datum * sum(share + m / k for _, m in other)
            out += c.datum * c.iterations * (share + 4 * share**0.5 * c.cells / c.processes / share)
        return out

    best = [*chosen.ncoupled.values()]
    for i, c in enumerate(costs):
        for k in range(1, c.processes + 1):
            assert total([*best[:i], k, *best[i + 1:]]) >= total(best) * (1 - 1e-12)
    for c in costs:
        row = next(p for p in chosen.curves[c.name] if p["k"] == chosen.ncoupled[c.name])
        assert row["total"] == pytest.approx(sum(row[t] for t in ("compute", "messages", "volume", "halo")))


def test_halo_alone_asks_for_half_cubes():
    cost = CouplingCost("a", 512, 10**6, 10**4, latency=0, datum=1.0, iterations=1e9)
    assert coupled_processes([cost]).ncoupled["a"] == pytest.approx((512 / 2) ** (2 / 3), abs=1)
    # and a dear coupling phase for all
    dear = CouplingCost("a", 512, 10**6, 10**4, cost=1.0)
    assert coupled_processes([dear]).ncoupled["a"] == 512
    # aligned borders: k + k' - gcd(k, k') messages in all
    terms = cost.terms([6, 7], [(6, 10)], aligned=True)
    assert terms["messages"].tolist() == [0, 0]
    timed = CouplingCost("a", 512, 10**6, 10**4, latency=1.0).terms([6, 7], [(6, 10)], aligned=True)
    assert timed["messages"].tolist() == [1, 2]


def test_model_of_messages_beside_the_published_ones():
    """Experiment 4 has 20 to 58 messages with 6 parts against 6 to 25."""
    one = CouplingCost("a", 16, 40_630, 1000, latency=1.0)
    messages = [float(6 * one.terms([6], [(k, 1000)])["messages"][0]) for k in (6, 25)]
    assert messages == pytest.approx([24, 55.5], abs=0.1)
    assert 0.75 * 20 <= messages[0] <= 1.25 * 20
    assert 0.75 * 58 <= messages[1] <= 1.25 * 58


# ---- the table and the command
MEASURED = "component,processes,seconds\nfluid,1,33\nfluid,4,9\nfluid,16,3\nsolid,1,9\nsolid,2,5\nsolid,8,2\n"


def test_measured_table(tmp_path):
    """By hand: fluid is 1 + 32 / n, solid 1 + 8 / n; 3 s on 16 and 4 processes, and no split of 20 is faster."""
    path = tmp_path / "times.csv"
    path.write_text(MEASURED)
    loads = read_costs(path).workloads
    assert [(w.name, pytest.approx(w.scaling.a), pytest.approx(w.scaling.b)) for w in loads] == [
        ("fluid", 1, 32), ("solid", 1, 8)]
    found = distribute(loads, 20)
    assert dict(found.processes) == {"fluid": 16, "solid": 4}
    assert found.step == pytest.approx(3)


def test_command(tmp_path, capsys):
    path = tmp_path / "times.csv"
    path.write_text(MEASURED)
    picture = tmp_path / "curves.png"
    assert main(["advise", str(path), "--total", "20", "--cells", "fluid=32000", "--cells", "solid=8000",
                 "--coupled-cells", "fluid=1000", "--coupled-cells", "solid=400", "--iterations", "fluid=100",
                 "--picture", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "--parts 16 4 --coupled " in out
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert main(["advise", "--component", "a", "300", "1e-3", "2", "--component", "b", "100", "1e-3", "2", "--total",
                 "8", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["processes"] == {"a": 6, "b": 2}
    assert value["step"] == pytest.approx(0.1)
    assert value["choices"][0]["choice"] == "chosen"
    assert {c["choice"] for c in value["choices"][1:]} == {"1 from a to b", "1 from b to a", "equal"}
    assert value["interface"] is None


def test_iterations_go_before_those_of_the_table(tmp_path, capsys):
    """A coupled cell costs as much as in one iteration, however many of them there are in a step."""
    path = tmp_path / "costs.csv"
    path.write_text("component,cells,cost,iterations,coupled_cells\na,8000,1e-6,10,400\nb,8000,2e-6,4,400\n")
    one_by_one = ["--component", "a", "8000", "1e-6", "10", "--component", "b", "8000", "2e-6", "4", "--coupled-cells",
                  "a=400", "--coupled-cells", "b=400"]
    for source in ([str(path)], one_by_one):
        assert main(["advise", *source, "--iterations", "a=100", "--total", "8", "--json"]) == 0
        value = json.loads(capsys.readouterr().out)
        assert (value["model"]["a"]["b"], value["model"]["b"]["b"]) == (pytest.approx(0.8), pytest.approx(0.064))
        first = {name: curve[0]["compute"] for name, curve in value["interface"]["curves"].items()}
        assert first == {"a": pytest.approx(400e-6), "b": pytest.approx(800e-6)}
    assert main(["advise", *one_by_one[:10], "--iterations", "a=100", "--total", "8", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"]["a"]["b"] == pytest.approx(0.8)


def test_a_workload_knows_its_iterations():
    loads = [Workload.of_cells(name, 8000, 1e-6, 10).limited(granularity=2) for name in "ab"]
    known = advise(loads, 8, coupled_cells={"a": 400, "b": 400})
    told = advise(loads, 8, coupled_cells={"a": 400, "b": 400}, iterations={"a": 10, "b": 10})
    assert known.interface.to_dict() == told.interface.to_dict()


@pytest.mark.parametrize(("arguments", "message"), [
    ([], "needs a table of costs, or components"),
    (["--component", "a", "x", "1", "1"], "--component a: needs cells, cost and iterations as numbers"),
    (["--component", "a", "9", "1", "1", "--cells", "a"], "--cells: needs NAME=VALUE, got 'a'"),
    (["--component", "a", "9", "1", "1", "--cells", "b=3"], "--cells: no component 'b'; known: a"),
    (["--component", "a", "9", "1", "1", "--coupled-cells", "a=10"], "coupled_cells of a: must be at most 9"),
    (["--component", "a", "9", "1", "1", "--picture", "x.nonsense"], "has no known format"),
    (["--component", "a", "9", "1", "1", "--iterations", "a=-1"], "--iterations a: must be at least 0, got -1"),
])
def test_command_refuses(arguments, message, capsys):
    assert main(["advise", "--total", "8", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_table_of_costs(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("# seconds per cell\ncomponent,cells,cost,iterations,max_cells,granularity,coupled_cells\n"
                    "fluid,1000,2e-3,10,100,4,50\nsolid,,1e-3,,,,\n")
    with pytest.raises(FormatError, match=r"costs.csv:4: needs cells of solid"):
        read_costs(path)
    found = read_costs(path, {"solid": 500})
    fluid, solid = found.workloads
    assert (fluid.least, fluid.granularity, fluid.scaling.b) == (12, 4, pytest.approx(20))
    assert (solid.least, solid.scaling.b) == (1, pytest.approx(0.5))
    assert (found.coupled_cells, found.iterations) == ({"fluid": 50}, {"fluid": 10})


def two_cubes():
    from copart.mesh import cube
    from copart.plans.components import coupled_problem

    return coupled_problem(cube("hexa", 6), cube("hexa", 9, offset=(1, 0, 0)), names=("left", "right")).problem


def test_processes_for_a_problem(tmp_path):
    """216 and 729 cells: 2 : 27 / 4 with costs 1 and 1, 1 : 1 with costs 27 and 8."""
    problem = two_cubes()
    assert allot(problem, 70).parts == {"left": 16, "right": 54}
    assert allot(problem, 70, (27, 8)).parts == {"left": 35, "right": 35}
    assert allot(problem, 70, {"right": 8, "left": 27}).ncoupled is None
    path = tmp_path / "costs.csv"
    path.write_text("component,cost,iterations,coupled_cost\nright,8e-6,50,1e-9\nleft,27e-6,50,1e-9\n")
    found = allot(problem, 70, path)
    assert found.parts == {"left": 35, "right": 35}
    assert found.parts["left"] > found.ncoupled["left"] >= 6
    # no more parts than cells, however long they take
    assert allot(problem, 900, (100, 1)).parts["left"] == 216
    path.write_text("component,cost\nfluid,1\nright,1\n")
    with pytest.raises(FormatError, match="needs cells of fluid"):
        allot(problem, 9, path)
    path.write_text(MEASURED)
    with pytest.raises(ConfigError, match="are of fluid, solid, the components are left, right"):
        allot(problem, 9, path)
    with pytest.raises(ConfigError, match="costs: need 2 numbers"):
        allot(problem, 9, (1, 2, 3))


def test_plan_with_a_total(tmp_path, capsys):
    for name, size, x in (("left", "6", "0"), ("right", "9", "1")):
        assert main(["mesh", "cube", size, "--offset", x, "0", "0", "-o", str(tmp_path / f"{name}.vtu"), "-q"]) == 0
    meshes = [str(tmp_path / f"{name}.vtu") for name in ("left", "right")]
    out = tmp_path / "out"
    assert main(["plan", *meshes, "--names", "left", "right", "--total", "14", "--costs", "27,8", "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "chosen" in said
    assert re.search(r"s left +s right +step s ", said)
    summary = json.loads((out / "metrics.json").read_text())
    assert summary["settings"]["parts"] == [7, 7]
    assert summary["advice"]["processes"] == {"left": 7, "right": 7}
    assert main(["check", str(out), "-q"]) == 0
    # without costs nothing is known in seconds
    assert main(["plan", *meshes, "--names", "left", "right", "--total", "14", "-o", str(out)]) == 0
    assert re.search(r"load left +load right +step load ", capsys.readouterr().out)
    for arguments, message in ((["--total", "14", "--parts", "7", "7"], "parts, total: give one of the two"),
                               (["--parts", "7", "7", "--costs", "1,2"], "--costs: has no effect without --total"),
                               ([], "needs --parts, or --total"), (["--total", "1"], "1 processes are not enough"),
                               (["--total", "9", "--costs", "x"], "--costs: is no file, nor numbers")):
        assert main(["plan", *meshes, "-o", str(tmp_path / "never"), *arguments]) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize(("text", "message"), [
    ("", "is empty"),
    ("name,cost\n", ":1: needs the heading component,processes,seconds"),
    ("component,cost,cost\na,1,1\n", "needs the heading"),
    ("component,processes,seconds\n", "has a heading only"),
    ("component,processes,seconds\na,1\n", ":2: needs 3 entries, has 2"),
    ("component,processes,seconds\na,1.5,2\n", ":2: processes: needs a whole number above 0, has '1.5'"),
    ("component,processes,seconds\na,1,-2\n", ":2: seconds: needs a number >= 0, has '-2'"),
    ("component,processes,seconds\na,1,\n", ":2: needs processes and seconds"),
    ("component,processes,seconds\na,1,3\na,2,0.0\n", ":3: seconds: needs a number above 0, has 0"),
    ("component,processes,seconds\n,1,1\n", ":2: has no name of a component"),
    ("component,cells,cost\na,1,inf\n", "cost: needs a number >= 0"),
    ("component,cells,cost\na,1,1\na,1,1\n", ":3: names a twice"),
    ("component,cells,cost,least,most\na,1,1,4,2\n", ":2: a: needs at least 4 processes"),
])
def test_damaged_tables_say_where(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=message.replace("(", r"\(")):
        read_costs(path)


@pytest.mark.parametrize("sharing", [Sharing(3, costs=[1.0, 2.0]), Sharing(3, coupling="serial")])
def test_a_pool_is_not_shared_out(sharing):
    """Costs of components would do nothing to it."""
    line = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    meet = Interedges.from_pairs(4, 4, [3], [0])
    with pytest.raises(ConfigError, match="total: a pool of processes is not shared out"):
        plan(line, line, total=sharing, scheme="monolithic", interedges=meet)
    assert plan(line, line, total=Sharing(3), scheme="monolithic", interedges=meet).copartition.nprocs == 3
