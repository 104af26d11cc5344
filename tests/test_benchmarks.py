"""The benchmark of the partitioner: figures, means and comparisons against cases worked out by hand."""

from __future__ import annotations

import csv
import json
import math
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import benchmarks
from benchmarks import (
    geometric,
    geometric_ranks,
    growth,
    hypergraphs,
    partitioner,
    partitioner_page,
    peers_table,
    shapes,
    shapes_page,
    shapes_pictures,
)
from benchmarks.graphs import MAKERS, BenchmarkGraph, fixed_face, grid
from benchmarks.one_row import figures
from benchmarks.partitioner import main
from benchmarks.peers_table import FIELDS, Results, passes, promises, read, summary
from copart.mesh import cube, dual_graph

from .conftest import NO_JIT
from .helpers import simgrid_or_skip


def cube_graph(side: int, folder) -> BenchmarkGraph:
    return BenchmarkGraph(f"cube-hexa-{side}", *grid(side), folder / "none.graph")


def row(tool, cut, seconds, graph="cube-hexa-25", k=16, seed=1, threads=1, **more):
    return {"graph": graph, "k": k, "tool": tool, "threads": threads, "seed": seed, "eps": 0.05, "fixed": 0, "cut": cut,
            "imbalance": 0.05, "ok": 1, "empty": 0, "comps": None, "fixed_bad": None, "seconds": seconds,
            "rss_mb": 30.0, "base_mb": 20.0, "status": "done", **more}


def test_geometric_methods_take_turns_with_another_program(launcher, tmp_path, capsys):
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho $3 n=$1 k=$2 np=1 wall=1.5 cpu_sum=1.25 imb=0.0100 $(wc -c < $4)\n")
    other.chmod(0o755)
    assert geometric.main(["--points", "3000", "--parts", "7", "--methods", "rcb", "morton", "--repeats", "2",
                           "--zoltan2", str(other)]) == 0
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[2] for row in rows] == ["rcb, 1 thread", "rcb, 2 threads", "rcb, Zoltan2", "morton, 1 thread",
                                        "morton, 2 threads"]
    assert rows[2] == ["| 3000", "7", "rcb, Zoltan2", "1.500", "1.250", "1.0000% |"]
    # 429 points where 3000 / 7 is the average
    assert rows[0][-1] == "0.1000% |"
    assert geometric_ranks.main(["--points", "3000", "--parts", "7", "--repeats", "1", "--zoltan2",
                                 f"env A=b {other}"]) == 0
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert rows[0][:4] == ["| 3000", "7", "2", "copart"]
    assert rows[0][-1] == "0.1000% |"
    assert rows[1] == ["| 3000", "7", "2", "Zoltan2", "1.500", "1.250", "1.0000% |"]


@pytest.mark.parametrize("side", [2, 5])
def test_the_grid_is_the_dual_graph_of_the_cube_of_hexahedra(side):
    made, mesh = grid(side), dual_graph(cube("hexa", side))
    assert np.array_equal(made[0], mesh.xadj)
    assert np.array_equal(made[1], mesh.adjncy)


def test_figures_of_slabs(tmp_path):
    graph = cube_graph(4, tmp_path)
    slabs = np.repeat([0, 1, 2, 3], 16)
    made = figures(graph, slabs, 4, 0.05, pieces=True)
    assert (made["cut"], made["imbalance"], made["ok"], made["empty"], made["comps"]) == (48, 0.0, 1, 0, 4)
    made = figures(graph, slabs, 5, 0.05)  # limit floor(1.05 * 13) = 13 < 16, and part 4 has nothing
    assert (made["ok"], made["empty"], made["imbalance"]) == (0, 1, 0.25)
    assert figures(graph, slabs, 4, 0.0, fixed=np.where(slabs == 3, 0, -1))["fixed_bad"] == 16
    with pytest.raises(ValueError, match="not 3 parts"):
        figures(graph, slabs, 3, 0.05)


def test_the_fixed_face_has_eight_rectangles(tmp_path):
    fixed = fixed_face(cube_graph(8, tmp_path), 1)
    assert (fixed[64:] == -1).all()
    assert np.bincount(fixed[:64]).tolist() == [8] * 8
    with pytest.raises(ValueError, match="cubes"):
        fixed_face(BenchmarkGraph("path", np.zeros(8, np.int32), np.zeros(0, np.int32), tmp_path / "p"), 1)


def test_ratios_are_geometric_means_of_medians_on_shared_instances():
    rows = [row("metis-kway", 100, 1.0), row("metis-kway", 200, 1.0, k=32), row("metis-kway", 7, 1.0, graph="ba-100k"),
            *(row("copart-fast", cut, t, seed=s) for s, cut, t in [(1, 50, 9.0), (2, 80, 2.0), (3, 90, 1.0)]),
            row("copart-fast", 400, 8.0, k=32), row("copart-fast", 70, 1.0, graph="ba-100k")]
    results = Results(rows)
    assert results.ratio(("copart-fast", 1), "cut") == pytest.approx(math.sqrt(0.8 * 2))  # ba-100k is no mesh
    assert results.ratio(("copart-fast", 1), "seconds") == pytest.approx(math.sqrt(2 * 8))
    assert results.ratio(("copart-fast", 1), "cut", graphs=["ba-100k"]) == pytest.approx(10)
    ours, metis = summary(results).rows
    assert ours[:5] == ["**copart-fast**", "2", "4", "1.265", "4.00"]
    assert metis[3:5] == ["1.000", "1.00"]


def test_other_tolerances_and_numbers_of_parts_count_for_the_promises_only():
    rows = [row("metis-kway", 100, 1.0), row("copart-fast", 90, 1.0), row("metis-kway", 100, 1.0, seed=2),
            row("copart-fast", 500, 1.0, eps=0.0, ok=0), row("copart-fast", 500, 1.0, k=4096, empty=3),
            row("metis-kway", 1, 1.0, k=4096)]
    results = Results(rows)
    assert results.ratio(("copart-fast", 1), "cut") == pytest.approx(0.9)
    strict, usual = promises(results).rows
    assert strict[1:4] + strict[5:7] == ["0 %", "1", "16 to 16", "1", "0"]
    assert usual[1:4] + usual[5:7] == ["5 %", "2", "16 to 4096", "0", "3"]


def test_a_peer_is_passed_only_by_less_of_both_on_what_both_solved():
    rows = [row("metis-kway", 100, 1.0), row("metis-kway", 100, 1.0, k=32), row("slow", 95, 9.0),
            row("sharp", 80, 2.0, k=32), row("copart-fast", 99, 0.5), row("copart-fast", 99, 0.5, k=32),
            row("copart-strong", 90, 4.0), row("copart-strong", 79, 4.0, k=32)]
    table = {line[0]: line[1:] for line in passes(Results(rows)).rows}
    assert table["metis-kway"] == ["**copart-fast**", "0.990", "0.50", "2"]
    assert table["slow"] == ["**copart-strong**", "0.947", "0.44", "1"]
    assert table["sharp"][0] == "not passed; nearest **copart-strong**"


def test_the_page_takes_an_incomplete_csv(tmp_path, capsys):
    rows = [row("kaminpar-eco", 100, 1.0, threads=2), row("copart-default", 90, 0.5, threads=2),
            row("copart-default", 90, 0.9), row("cli-gpmetis", 1, 1.0),
            row("copart-default", 900, 0.9, graph="cube-hexa-70", k=32, fixed=1, fixed_bad=0),
            {"graph": "rgg2d-200k", "k": 16, "tool": "kahip-strong", "threads": 1, "seed": 1, "eps": 0.05, "fixed": 0,
             "status": "failed: no such file: /home/someone"}]
    path = tmp_path / "rows.csv"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    main(["report", str(path)])  # METIS has no row at all
    page = capsys.readouterr().out
    assert "/home" not in page
    assert "cli-gpmetis" not in page
    assert "Of 1 runs of copart that were repeated with another number of threads, 1 had the same cut." in page
    assert "| kaminpar-eco, 2 threads | **copart-default**, 2 threads | 0.900 | 0.50 | 1 |" in page
    assert "| kahip-strong | failed | 1 | rgg2d-200k k = 16 |" in page
    peers_table.keep(path, tmp_path / "kept.csv")
    assert "/home" not in (tmp_path / "kept.csv").read_text()
    assert len(read(tmp_path / "kept.csv")) == len(read(path)) == len(rows)
    pytest.importorskip("matplotlib")
    partitioner_page.draw(Results(read(path)), tmp_path / "none.png")
    with open(path, "a", newline="") as file:
        csv.DictWriter(file, FIELDS).writerow(row("metis-kway", 100, 1.0))
    partitioner_page.draw(Results(read(path)), tmp_path / "some.png")
    assert (tmp_path / "some.png").stat().st_size > (tmp_path / "none.png").stat().st_size


def test_a_row_measured_again_replaces_the_old_one(tmp_path):
    path = tmp_path / "rows.csv"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows([row("metis-kway", 100, 1.0), row("metis-kway", 100, 3.0)])
    assert [r["seconds"] for r in read(path)] == [3.0]
    assert peers_table.read(tmp_path / "none.csv") == []


@pytest.fixture
def small(tmp_path):
    """A folder with one small graph under the name of a large one."""
    np.savez(tmp_path / "cube-hexa-25.npz", **dict(zip(("xadj", "adjncy"), grid(6), strict=True)))
    return tmp_path


def command(folder, *more):
    return ["run", "--graphs", str(folder), "--csv", str(folder / "rows.csv"), "--graph", "cube-hexa-25", *more]


def test_a_run_goes_on_where_it_was_seeds_outermost(small, monkeypatch):
    asked = []

    def measured(job, timeout):
        asked.append((job["seed"], job["k"], job["tool"], job["threads"]))
        return {field: job[field] for field in ("graph", "k", "tool", "threads", "seed", "eps", "fixed")} | {
            "status": "done", "cut": 1, "seconds": 1.0}

    monkeypatch.setattr(partitioner, "measure", measured)
    tools = ["--tool", "copart-fast", "copart-best"]
    main(command(small, *tools, "--k", "4", "--seed", "1"))
    main(command(small, *tools, "--k", "4", "6", "--seed", "1", "2"))
    each = [("copart-fast", 1), ("copart-fast", 2), ("copart-best", 2)]
    assert asked == [(seed, k, *tool) for seed, k in [(1, 4), (1, 6), (2, 4), (2, 6)] for tool in each]
    assert len(read(small / "rows.csv")) == 12


def test_a_row_is_measured_in_a_process_of_its_own(small):
    pytest.importorskip("pymetis")
    main(command(small, "--tool", "metis-kway", "--k", "4", "--seed", "1"))
    row, = read(small / "rows.csv")
    assert (row["status"], row["n"], row["m"], row["ok"], row["empty"]) == ("done", 216, 540, 1, 0)
    assert row["cut"] >= 72, "two planes of 36 edges"
    assert row["comps"] >= 4
    assert 0 < row["seconds"] < row["whole_s"]


def test_what_goes_wrong_in_a_process_is_the_status_of_the_row(small):
    job = {"graphs": str(small), "scratch": str(small), "graph": "none", "k": 4, "tool": "metis-kway", "threads": 1,
           "seed": 1, "eps": 0.05, "fixed": 0, "pieces": True}
    assert partitioner.measure(job, 60.0)["status"].startswith("failed: FileNotFoundError")
    assert partitioner.measure(job, 0.01)["status"] == "timeout 0.01s"


def test_growth_is_the_slope_of_the_medians(tmp_path):
    path = tmp_path / "growth.csv"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, growth.FIELDS)
        writer.writeheader()
        for side, m in ((10, 1000), (20, 4000), (40, 16000)):
            for i, factor in enumerate((1, 5, 0.5)):
                writer.writerow({"side": side, "n": m, "m": m, "k": 8, "preset": "default", "threads": 1, "run": i,
                                 "cut": 1, "imbalance": 0, "seconds": factor * m**1.5, "graph_mb": 1, "peak_mb": 2})
    lines = growth.read(path)
    assert [x["seconds"] for x in lines] == [m**1.5 for m in (1000, 4000, 16000)]
    assert growth.exponent(lines) == pytest.approx(1.5)
    assert [line[6] for line in partitioner_page.growth_table(lines).rows] == ["1.00", "2.00", "4.00"]


def test_every_benchmark_graph_can_be_made():
    assert set(peers_table.MESHES) < set(MAKERS)
    xadj, adjncy = MAKERS["cube-tetra-40k"]()
    assert abs(len(xadj) - 1 - 40_630) < 500
    assert xadj[-1] == len(adjncy)


@pytest.fixture(scope="module")
def shape_rows(tmp_path_factory):
    """A record of one tiny case by two schemes."""
    path = tmp_path_factory.mktemp("shapes") / "rows.csv"
    asked = ["--cells", "1500" if not NO_JIT else "300", "--seeds", "1", "--cases", "rod-in-block", "--kinds", "facet",
             "--counts", "4,6", "--schemes", "naive", "joint", "--csv", str(path)]
    assert shapes.main(asked) == 2
    assert shapes.main(asked) == 0  # they are there
    return path


def test_every_scheme_is_measured_beside_naive(shape_rows):
    naive, joint = shapes.read(shape_rows)
    assert (naive["scheme"], joint["scheme"], joint["counts"], joint["names"]) == ("naive", "joint", "4+6",
                                                                                  ["rod", "block"])
    assert naive["cut/naive"] == naive["busiest/naive"] == [1.0, 1.0]
    assert naive["broken"] == joint["broken"] == []
    for row in (naive, joint):
        assert max(row["ub"]) <= 0.06
        assert row["T_step"] == pytest.approx(row["T_own"] + row["T_cpl"], rel=1e-3)
    assert joint["totZ/naive"] == pytest.approx(joint["totZ"] / naive["totZ"], rel=1e-3)
    assert joint["cut/naive"] == pytest.approx([x / y for x, y in zip(joint["cut"], naive["cut"], strict=True)], 1e-3)


def test_the_page_of_shapes_is_made_of_rows(shape_rows):
    naive, joint = shapes.read(shape_rows)
    worse = {**joint, "scheme": "aware", "broken": ["cut of rod 300 (naive: 200)", "totZ 9 (naive: 8)"], "totZ": 1.0,
             "cut/naive": [1.5, 1.0]}
    failed = {**joint, "scheme": "projrepart", "status": "PartitionError: none", "broken": []}
    text = shapes_page.page([naive, joint, worse, failed])
    assert "| aware | 1 | 1 | 0 | 0 | 0 | 1 | 0 | 0 |" in text
    assert "| aware | 0 of 1 | 1.225 |" in text
    assert "Another scheme has fewer messages than `joint`, whether it keeps the promise or not: 1 of 1 runs" in text
    assert "1 runs of `projrepart` on rod-in-block end with an error: PartitionError: none" in text
    assert f"| rod-in-block | {shapes.EVERY['rod-in-block'].meaning} | 1 of 1 |" in text
    assert "## Other shapes" not in text
    # one that breaks the promise has won nothing
    assert shapes_page.winners([naive, joint, worse], "totZ")["aware"] == 0


def test_counts_that_leave_few_cells_a_part_are_left_out(tmp_path):
    asked = ["--cells", "300", "--seeds", "1", "--cases", "rod-in-block", "--counts", "4000,2", "--schemes", "naive"]
    assert shapes.main([*asked, "--csv", str(tmp_path / "rows.csv")]) == 0
    with pytest.raises(SystemExit):
        shapes.main([*asked[:-2], "--counts", "4"])


def test_every_shape_is_on_one_sheet():
    drawn = [name for _, names in shapes_pictures.SHEETS.values() for name in names]
    assert sorted(drawn) == sorted(shapes.EVERY)


def test_a_sheet_is_drawn(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setitem(shapes_pictures.SHEETS, "few.png", ("few", ("rod-in-block", "wavy-wall-2d")))
    shapes_pictures.draw(["few.png"], 600, tmp_path)
    assert (tmp_path / "few.png").stat().st_size > 5000


@pytest.mark.parametrize("network", ["fat tree", "torus", "dragonfly"])
@pytest.mark.parametrize("nodes", [8, 16, 32, 128, 512])
def test_simulated_networks_have_the_nodes_of_their_machines(network, nodes):
    from math import prod

    from benchmarks.simulated import SLOTS, platform
    from copart.mapping.machine import machine

    text, hierarchy = platform(network, nodes)
    assert prod(map(int, hierarchy.split(":"))) == nodes * SLOTS == machine(hierarchy).nprocs
    assert f'radical="0-{nodes - 1}"' in text
    numbers = [int(x) for x in re.search(r'topo_parameters="([^"]*)"', text)[1].replace(";", ",").split(",")]
    if network == "torus":
        assert prod(numbers) == nodes
    elif network == "fat tree":
        assert numbers[1] * numbers[2] == nodes
    else:
        assert numbers[0] * numbers[2] * numbers[4] * numbers[6] == nodes
        assert numbers[4] >= numbers[0] > 1, "a link to each other group"


def test_a_simulated_step_takes_what_its_slowest_process_does(tmp_path):
    """Where SimGrid is: work, overheads and one message, by hand."""
    from benchmarks.simulated import LATENCY, OVERHEAD, platform

    simgrid = simgrid_or_skip()
    (tmp_path / "torus.xml").write_text(platform("torus", 8)[0])
    idle = {"node": 0, "own": 0, "coupled": 0, "halo_to": [], "halo_from": [], "coupling_to": [], "coupling_from": []}
    one = {**idle, "own": 1e-3, "coupling_to": [[1, 400]]}
    other = {**idle, "node": 1, "coupled": 2e-3, "coupling_from": [0]}
    run = {"platform": str(tmp_path / "torus.xml"), "processes": [one, other], "overhead": OVERHEAD}
    job = Path(benchmarks.__file__).with_name("simulated_job.py")
    done = subprocess.run(["/usr/bin/python3", str(job)], input=json.dumps(run), text=True, capture_output=True,
                          check=False, env={"PYTHONPATH": str(simgrid)})
    assert done.returncode == 0, done.stderr
    # the message leaves after 1 ms of work and its overhead, and one link is between neighbours
    assert float(done.stdout.splitlines()[-1]) == pytest.approx(1e-3 + OVERHEAD + LATENCY + 400 / 4e9 + 2e-3, rel=1e-3)


def test_interfaces_of_the_exchange_benchmark_cover_one_another():
    from benchmarks.exchange import interface

    problem, made = interface((6, 4), (2, 6))
    assert problem.interedges.weights.sum() == pytest.approx(1)
    assert made.nparts == {"a": 2, "b": 6}
    assert len(set(made["b"].tolist())) == 6


def test_the_configuration_for_precice_names_both_participants_and_their_data(tmp_path):
    from xml.etree import ElementTree

    from benchmarks.precice_run import configuration
    from examples.conjugate_heat import prepare

    prepare(tmp_path, (4, 100), (4, 2), "naive", "precice")
    text = configuration(tmp_path / "plan")
    for prefix in ("data:", "m2n:", "mapping:", "coupling-scheme:"):
        text = text.replace(prefix, "")
    root = ElementTree.fromstring(text)
    people = {one.get("name"): one for one in root.findall("participant")}
    assert set(people) == {"fluid", "solid"}
    for me, other in (("fluid", "solid"), ("solid", "fluid")):
        assert people[me].find("write-data").get("name") == f"from-{me}"
        assert people[me].find("read-data").get("name") == f"from-{other}"
    # the participant with fewer ranks at the interface accepts, as copart's hints say
    assert root.find("sockets").get("acceptor") == "solid"


def test_faster_clustering_is_told_beside_amdahls_bound():
    assert hypergraphs.ideal_gain(0.5, 2) == pytest.approx(4 / 3)
    assert [hypergraphs.ideal_gain(*case) for case in ((0, 8), (1, 8))] == [1, 8]
    h = hypergraphs.Hypergraph.column_net(dual_graph(cube("hexa", 7)))
    rows = hypergraphs.integrated({"cube": h}, 1, nparts=2)[2:]
    assert [row.split(" | ")[1] for row in rows] == ["`locks`", "`resolution`", "`parallel-hcc`"]
    assert all(0 < float(row.split(" | ")[2]) < 1 for row in rows)
