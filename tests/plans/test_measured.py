"""`copart machine fit`: tables with metrics, and tables of files that the metrics are computed from."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from copart.cli import main
from copart.errors import ConfigError, FormatError
from copart.formats import write_metis, write_part
from copart.formats.machines import read_machine
from copart.formats.scotch_mapping import write_map
from copart.mapping.fitting import METRICS, metrics_of
from copart.mapping.tasks import TaskGraph
from copart.mapping.topology import map_tasks
from copart.plans.measured import fit_file

from ..helpers import grid

GRAPH = grid(12, 8)
PART = np.arange(96) // 4
METHODS = ("default", "random", "ug", "uwh", "umc", "uwh-th", "search", "tmap")
SEEDS = (1, 2, 3)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A graph, its parts, a machine and mappings; the test runs elsewhere, as paths are those from the table."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path)
    write_metis("work/g.graph", GRAPH)
    write_part("work/g.part", PART)
    Path("work/nodes.csv").write_text("torus 6 4 5\nn0 0 0 0 4\nn1 3 1 2 4\nn2 1 0 0 4\nn3 4 1 2 4\nn4 5 3 4 4\n"
                                      "n5 0 3 4 4\n")
    return tmp_path / "work"


def rows(folder: Path, follows: str) -> list[dict[str, object]]:
    """Runs that take 2 s and a millisecond per unit of one metric; the files of their mappings."""
    job, tasks = read_machine(str(folder / "nodes.csv")), TaskGraph.from_partition(GRAPH, PART, 24)
    out = []
    for method in METHODS:
        for seed in SEEDS:
            place = map_tasks(tasks, job, method, seed=seed)
            name = f"{method}-{seed}.map"
            write_map(folder / name, place)
            found = metrics_of(tasks, job, place)
            out.append({"run": name, "seconds": 2 + 1e-3 * found[follows], "tasks": "g.graph", "part": "g.part",
                        "machine": "nodes.csv", "mapping": name, **found})
    return out


def write(path: Path, rows: list[dict[str, object]], fields: list[str]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fields, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


FILES = ["run", "seconds", "tasks", "part", "machine", "mapping"]


@pytest.mark.parametrize("follows", ["TH", "WH", "MMC", "MC"])
def test_files_and_metrics_say_the_same(folder, follows):
    runs = rows(folder, follows)
    by_files = fit_file(write(folder / "files.csv", runs, FILES), ["TH", "WH", "MMC", "MC"])
    by_metrics = fit_file(write(folder / "metrics.csv", runs, ["seconds", "TH", "WH", "MMC", "MC"]))
    assert by_files.metrics == by_metrics.metrics
    for field in ("coefficients", "per_unit", "correlation", "between", "r_squared"):
        assert getattr(by_files, field) == pytest.approx(getattr(by_metrics, field), rel=1e-9, abs=1e-12)
    by_names = fit_file(folder / "metrics.csv", ["total_hops", "WH", "MAX_MESSAGE_CONGESTION", "MC"])
    assert by_names.metrics == by_metrics.metrics
    assert by_files.leading == follows
    assert by_files.per_unit is not None
    assert by_files.per_unit[by_files.metrics.index(follows)] == pytest.approx(1e-3)


def test_metrics_that_tell_nothing_are_left_out_of_those_computed(folder):
    runs = rows(folder, "MC")
    found = fit_file(write(folder / "files.csv", runs, FILES))
    assert set(found.left_out) >= {"TM", "TV", "MSM", "MSV"}
    assert set(found.left_out) | set(found.metrics) == set(METRICS)
    assert "TV      left out: the same in all runs" in found.text()
    with pytest.raises(FormatError, match=r"files\.csv: TV: is the same in all runs"):
        fit_file(folder / "files.csv", ["MC", "TV"])
    write(folder / "one.csv", [runs[0]] * 9, FILES)
    with pytest.raises(FormatError, match="all metrics are the same in all runs"):
        fit_file(folder / "one.csv")


def test_the_command(folder, capsys):
    table = str(write(folder / "t.csv", rows(folder, "MC"), ["run", "seconds", "TH", "MC"]))
    assert main(["machine", "fit", table]) == 0
    out = capsys.readouterr().out
    assert "24 runs: the metrics explain 100.0%" in out
    assert "bound by bandwidth, by MC most of all: copart map --method auto --bound bandwidth" in out
    assert main(["machine", "fit", table, "--metrics", "mc", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metrics"]["MC"]["seconds_per_unit"] == pytest.approx(1e-3)
    assert found["correlations"] == {"MC": {"MC": pytest.approx(1)}}


@pytest.mark.parametrize(("metrics", "error", "said"), [
    (["MC", "hop"], ConfigError, "--metrics: 'hop' is not known"),
    (["MC", "AC"], ConfigError, r"--metrics: .*t\.csv has no AC, but TH, MC"),
    ([], ConfigError, "metrics: needs at least one of TH, WH")])
def test_metrics_that_are_not_there(folder, metrics, error, said):
    table = write(folder / "t.csv", rows(folder, "MC"), ["run", "seconds", "TH", "MC"])
    with pytest.raises(error, match=said):
        fit_file(table, metrics)


@pytest.mark.parametrize(("change", "said"), [
    ({"machine": "no.csv"}, "no.csv"), ({"mapping": "no.map"}, "no.map"), ({"tasks": "no.graph"}, "no.graph"),
    ({"part": "no.part"}, "no.part"), ({"machine": "m.grf"}, r"t\.csv:3: m\.grf: machine: .*no static routes"),
    ({"part": ""}, r"default-1\.map:1: needs 96 vertices, has 24"), ({"mapping": "far.map"}, "far.map")])
def test_files_that_do_not_fit(folder, capsys, change, said):
    ring = "".join(f"2 {(i + 1) % 24} {(i - 1) % 24}\n" for i in range(24))
    (folder / "m.grf").write_text(f"0\n24 48\n0 000\n{ring}")
    write_map(folder / "far.map", np.arange(24) + 7)
    runs = rows(folder, "MC")[:2]
    runs[1].update(mapping="default-1.map")
    runs[1].update(change)
    assert main(["machine", "fit", str(write(folder / "t.csv", runs, FILES))]) == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert re.search(said, err), err


def test_too_few_runs_are_told_with_the_file(folder, capsys):
    table = write(folder / "t.csv", rows(folder, "MC")[:3], ["seconds", "TH", "MC"])
    assert main(["machine", "fit", str(table)]) == 2
    assert "t.csv: seconds: 3 runs are too few for 2 metrics" in capsys.readouterr().err


def test_messages_of_one_size_cannot_tell_what_counts(folder):
    """A unit of data per message: WH is TH and MC is MMC."""
    tasks, job = TaskGraph.from_graph(grid(6, 4)), read_machine(str(folder / "nodes.csv"))
    write_metis(folder / "unit.graph", grid(6, 4))
    runs = []
    for seed in range(1, 17):
        place = map_tasks(tasks, job, "random", seed=seed)
        write_map(folder / f"{seed}.map", place)
        runs.append({"seconds": metrics_of(tasks, job, place)["MMC"], "tasks": "unit.graph", "machine": "nodes.csv",
                     "mapping": f"{seed}.map"})
    found = fit_file(write(folder / "unit.csv", runs, ["seconds", "tasks", "machine", "mapping"]))
    assert (found.left_out["WH"], found.left_out["MC"]) == (("TH",), ("MMC",))
    assert (found.leading, found.doubt) == ("MMC", "MC")
    assert "MC      left out: says just what MMC says" in found.text()
