"""Part files, exchange schedules, JSON, atomic writing, the output folder."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import ConfigError, FormatError, PartitionError
from copart.formats import (
    count_in_name,
    coupling_schedule,
    prepare_folder,
    read_coupling,
    read_json,
    read_part,
    write_coupling,
    write_json,
    write_part,
    write_text_atomic,
)
from copart.metrics import evaluate

from ..helpers import ROOT, grid
from ..reference import four_by_three


# ---- parts
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 6), max_size=40))
def test_part_round_trip(tmp_path, part):
    path = tmp_path / "x.part.7"
    write_part(path, part)
    back = read_part(path, len(part))
    assert back.tolist() == part
    assert back.dtype == np.int32


def test_part_files_of_others(tmp_path):
    path = tmp_path / "x.part.3"
    path.write_bytes(b"0\r\n 2 \r\n1\r\n\r\n")
    assert read_part(path).tolist() == [0, 2, 1]
    path.write_text("-1\n2")
    assert read_part(path, free=True).tolist() == [-1, 2]


@pytest.mark.parametrize(("text", "kwargs", "message"), [
    ("0\n1\n", {"nvtxs": 3}, "2: needs 3 part numbers, one per vertex, has 2"),
    ("0\n1\n0\n0\n", {"nvtxs": 3}, "4: needs 3 part numbers, one per vertex, has 4"),
    ("0\n2\n", {}, "2: part 2 is outside 0..1"),
    ("0\n5\n", {"nparts": 4}, "2: part 5 is outside 0..3"),
    ("0\n-1\n", {}, "2: part -1 is outside 0..1"),
    ("0\n-2\n", {"free": True}, "2: part -2 is outside -1..1"),
    ("0\n\n1\n", {}, "2: needs one part number per line, found 0"),
    ("0 1\n1\n", {}, "1: needs one part number per line, found 2"),
    ("0\none\n", {}, "2: needs whole numbers, found 'one'"),
    ("", {"nvtxs": 1}, "1: needs 1 part numbers, one per vertex, has 0"),
])
def test_ill_formed_part_files(tmp_path, text, kwargs, message):
    path = tmp_path / "x.part.2"
    path.write_text(text)
    with pytest.raises(FormatError) as e:
        read_part(path, **kwargs)
    assert str(e.value) == f"{path}:{message}"


def test_the_count_in_a_name():
    assert count_in_name("a/mesh.part.16") == 16
    assert count_in_name("mesh.part.16.gz") == 16
    assert count_in_name("mesh.part.0") is None
    assert count_in_name("mesh.part") is None


def test_only_part_arrays_are_written(tmp_path):
    with pytest.raises(PartitionError, match="part: 1 of 1 entries are outside"):
        write_part(tmp_path / "x.part.2", [-1])
    assert list(tmp_path.iterdir()) == []


# ---- exchange schedules
def test_the_schedule_of_the_published_example(tmp_path):
    problem, cop = four_by_three()
    told = write_coupling(tmp_path / "coupling.json", problem, cop)
    assert told["components"] == [
        {"name": "a", "cells": 16, "parts": 4, "rank_offset": 0, "coupled_cells": 4, "coupled_parts": [1, 3]},
        {"name": "b", "cells": 18, "parts": 3, "rank_offset": 4, "coupled_cells": 3, "coupled_parts": [0, 1, 2]}]
    (pair,) = told["pairs"]
    assert pair["matrix_ab"] == [[1, 0, 1], [1, 1, 1], [3, 1, 1], [3, 2, 1]]
    assert pair["exchanges"] == [
        {"part_a": 1, "part_b": 0, "interedges": 1, "a_cells": [3], "b_cells": [0]},
        {"part_a": 1, "part_b": 1, "interedges": 1, "a_cells": [7], "b_cells": [6]},
        {"part_a": 3, "part_b": 1, "interedges": 1, "a_cells": [11], "b_cells": [6]},
        {"part_a": 3, "part_b": 2, "interedges": 1, "a_cells": [15], "b_cells": [12]}]
    assert read_coupling(tmp_path / "coupling.json") == told


def test_the_documented_example_is_that_schedule():
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    example = text.split("```json\n")[1].split("```")[0]
    assert json.loads(example) == coupling_schedule(*four_by_three())


def test_every_key_of_the_figures_is_documented():
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    told = evaluate(*four_by_three()).to_dict()
    keys = {*told["components"]["a"], *told["pairs"][0]}
    assert not [key for key in keys if f"`{key}`" not in text]


@given(st.integers(0, 2**32 - 1))
def test_exchange_lists_against_their_definition(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(0, 30))
    inter = Interedges.from_pairs(9, 12, rng.integers(0, 9, m), rng.integers(0, 12, m))
    problem = CoupledProblem.of_two(grid(9), grid(12), inter)
    cop = CoPartition({"a": rng.integers(0, 3, 9), "b": rng.integers(0, 4, 12)}, {"a": 3, "b": 4})
    (pair,) = coupling_schedule(problem, cop)["pairs"]
    u, v, _ = (x.tolist() for x in inter.pairs())
    want = {}
    for i, j in zip(u, v, strict=True):
        entry = want.setdefault((int(cop.a[i]), int(cop.b[j])), (set(), set()))
        entry[0].add(i)
        entry[1].add(j)
    got = {(x["part_a"], x["part_b"]): (set(x["a_cells"]), set(x["b_cells"])) for x in pair["exchanges"]}
    assert got == want
    assert [(x["part_a"], x["part_b"]) for x in pair["exchanges"]] == sorted(want)
    # what the lists hold is what the matrices count
    assert {(p, q): n for p, q, n in pair["matrix_ab"]} == {key: len(a) for key, (a, _) in want.items()}
    assert {(p, q): n for q, p, n in pair["matrix_ba"]} == {key: len(b) for key, (_, b) in want.items()}


@pytest.mark.parametrize(("path", "value", "message"), [
    (("schema",), "other", "schema: must be 'copart-coupling', is 'other'"),
    (("version",), 2, "version: must be 1, is 2"),
    (("pairs",), None, "document: has no 'pairs'"),
    (("pairs",), {}, "pairs: needs a list"),
    (("components",), 3, "components: needs a list"),
    (("components", 0, "cells"), -1, "components[0].cells: needs a whole number >= 0, has -1"),
    (("components", 0, "cells"), True, "components[0].cells: needs a whole number >= 0, has True"),
    (("components", 0, "coupled_parts"), [3, 1], "components[0].coupled_parts[1]: must ascend, has 1 after 3"),
    (("components", 0, "coupled_parts"), [4], "components[0].coupled_parts[0]: 4 is outside 0..3"),
    (("components", 1, "name"), "a", "components[1].name: needs a name of its own"),
    (("components", 1), [], "components[1]: needs an object"),
    (("pairs", 0, "b"), "c", "pairs[0].b: names no component, known are a, b"),
    (("pairs", 0, "totZ"), 1.5, "pairs[0].totZ: needs a whole number >= 0, has 1.5"),
    (("pairs", 0, "matrix_ab"), {}, "pairs[0].matrix_ab: needs a list"),
    (("pairs", 0, "matrix_ab", 1), [0, 1], "pairs[0].matrix_ab[1]: needs three numbers: from part, to part, volume"),
    (("pairs", 0, "matrix_ba", 0), [3, 0, 1], "pairs[0].matrix_ba[0][0]: 3 is outside 0..2"),
    (("pairs", 0, "exchanges"), 1, "pairs[0].exchanges: needs a list"),
    (("pairs", 0, "exchanges", 2, "part_a"), 4, "pairs[0].exchanges[2].part_a: 4 is outside 0..3"),
    (("pairs", 0, "exchanges", 0, "a_cells"), [16], "pairs[0].exchanges[0].a_cells[0]: 16 is outside 0..15"),
    (("pairs", 0, "exchanges", 0, "b_cells"), [3, 3], "pairs[0].exchanges[0].b_cells[1]: must ascend, has 3 after 3"),
    (("pairs", 0, "exchanges", 0, "b_cells"), "all", "pairs[0].exchanges[0].b_cells: needs a list"),
    (("pairs", 0, "exchanges", 0, "interedges"), None, "pairs[0].exchanges[0]: has no 'interedges'"),
])
def test_ill_formed_schedules(tmp_path, path, value, message):
    document = copy.deepcopy(coupling_schedule(*four_by_three()))
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    write_json(tmp_path / "c.json", document)
    with pytest.raises(FormatError) as e:
        read_coupling(tmp_path / "c.json")
    assert str(e.value) == f"{tmp_path / 'c.json'}: {message}"


# ---- JSON and files
def test_json_round_trip_with_lists_in_one_line(tmp_path):
    value = {"name": 'a "b" [1,\n2]', "rows": [[1, 2, 3], [4, 5]], "none": None, "empty": [], "nested": {"x": {}},
             "figures": [0.5, -1e-9, True], "mixed": [1, [2], {"y": [3]}]}
    write_json(tmp_path / "x.json", value)
    assert read_json(tmp_path / "x.json") == value
    text = (tmp_path / "x.json").read_text()
    assert json.loads(text) == value
    assert "\n  [1, 2, 3],\n" in text


@pytest.mark.parametrize("bad", [math.nan, {"x": [math.inf]}, {"x": object()}, {1: 2}])
def test_what_is_no_json_is_not_written(tmp_path, bad):
    with pytest.raises(FormatError, match=r"x\.json: cannot be written as JSON: "):
        write_json(tmp_path / "x.json", bad)
    assert list(tmp_path.iterdir()) == []


def test_reading_what_is_no_json(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": 1,\n"b": }')
    with pytest.raises(FormatError, match=r"x\.json:2: is no JSON: expecting value"):
        read_json(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError, match=r"x\.json: is no JSON: "):
        read_json(path)
    path.write_text("[" * 100_000)
    with pytest.raises(FormatError, match=r"x\.json: is no JSON: "):
        read_json(path)


def test_a_file_is_complete_or_untouched(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "er" / "x.txt"
    write_text_atomic(path, "grüße\n")
    assert path.read_bytes() == "grüße\n".encode()

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("copart.formats.output.os.replace", broken)
    with pytest.raises(FormatError, match=r"x\.txt: cannot be written: no space left on device"):
        write_text_atomic(path, "new")
    assert path.read_bytes() == "grüße\n".encode()
    assert [p.name for p in path.parent.iterdir()] == ["x.txt"]


def test_the_output_folder_is_checked_and_nothing_is_left(tmp_path, monkeypatch):
    assert prepare_folder(tmp_path / "new" / "er") == tmp_path / "new" / "er"
    assert list(tmp_path.iterdir()) == []
    file = tmp_path / "file"
    file.write_text("x")
    for bad in (file, file / "below"):
        with pytest.raises(ConfigError, match=r"output folder .*file is no folder"):
            prepare_folder(bad)

    def refuse(dir):
        assert dir == tmp_path
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("copart.formats.output.tempfile.TemporaryFile", refuse)
    with pytest.raises(ConfigError, match=r"output folder .*new: cannot be written to: permission denied"):
        prepare_folder(tmp_path / "new")


def test_links_are_followed_and_pipes_are_written_to(tmp_path):
    import os
    from threading import Thread

    real, link, pipe = (tmp_path / name for name in ("real", "link", "pipe"))
    real.write_text("old")
    link.symlink_to("real")
    write_part(link, [0, 1, 1])
    assert link.is_symlink()
    assert real.read_text() == "0\n1\n1\n"
    (tmp_path / "ahead").symlink_to("new")
    write_part(tmp_path / "ahead", [1])
    assert (tmp_path / "new").read_text() == "1\n"
    os.mkfifo(pipe)
    came: list[str] = []
    reader = Thread(target=lambda: came.append(pipe.read_text()))
    reader.start()
    write_part(pipe, [2, 0])
    reader.join(10)
    assert came == ["2\n0\n"]
    assert pipe.is_fifo()
    assert sorted(os.listdir(tmp_path)) == ["ahead", "link", "new", "pipe", "real"]
