"""Exchanges on real ranks: what arrives, what is sent, and how they end where something is wrong."""

from __future__ import annotations

import json
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import copart
from copart.mesh import cube, read_mesh
from copart.metrics.traffic import halo_volumes

from ..helpers import ROOT

MESHES = ROOT / "meshes"
SCHEMES = ("naive", "aware", "projrepart", "multiconstraint", "joint", "monolithic")
#: Problems, each with the ranks of its components.
PROBLEMS = {
    "two cubes": (lambda: (cube("hexa", 6), cube("tetra", 900, offset=(1, 0, 0))), [(1, 1), (5, 7)]),
    "pipe": (lambda: (read_mesh(MESHES / "pipe-fluid.vtu"), read_mesh(MESHES / "pipe-wall.vtu")), [(4, 2), (3, 5)]),
    "three in a row": (lambda: [cube("hexa", n, offset=(x, 0, 0)) for x, n in enumerate((4, 6, 5))], [(2, 3, 4)]),
}


@pytest.fixture(scope="module")
def plans(tmp_path_factory) -> dict[tuple[str, tuple[int, ...]], dict[str, copart.Plan]]:
    place = tmp_path_factory.mktemp("plans")
    out: dict[Any, dict[str, Any]] = {}
    for problem, (make, every) in PROBLEMS.items():
        meshes = make()
        for counts in every:
            for scheme in SCHEMES:
                # all of them once, where both libraries are tried
                if counts != (4, 2) and scheme not in ("naive", "joint", "monolithic"):
                    continue
                folder = place / f"{problem}-{'-'.join(map(str, counts))}-{scheme}".replace(" ", "_")
                parts = sum(counts) if scheme == "monolithic" else counts
                made = copart.plan(*meshes, names=list("abc"[:len(meshes)]), parts=parts, scheme=scheme, output=folder,
                                   write=[])
                out.setdefault((problem, counts), {})[str(folder)] = made
    return out


@pytest.mark.parametrize(("problem", "counts"), [(name, counts) for name, (_, every) in PROBLEMS.items()
                                                 for counts in every if (name, counts) != ("pipe", (4, 2))], ids=str)
def test_exchanges_do_what_the_metrics_say(launch, plans, problem, counts):
    _tried(launch, plans[problem, counts], counts)


def test_exchanges_under_both_libraries(both, plans):
    _tried(both, plans["pipe", (4, 2)], (4, 2))


def _tried(launch, made, counts):
    done = launch(sum(counts), "-m", "tests.mpi.exchanges", *made)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    results: dict[tuple[str, str], Any] = {}
    for folder, plan in made.items():
        for pair, figures in plan.metrics.pairs.items():
            found = told[folder]["pairs"]["-".join(pair)]
            for way, volume in (("forward", figures.totV_ab), ("backward", figures.totV_ba)):
                assert found[f"{way} wrong"] == [], (folder, way)
                assert found[f"{way} counts"] == [figures.totZ, volume, 4 * volume], (folder, way)
                # the same bits, whatever the parts
                first = results.setdefault(("-".join(pair), way), found[f"{way} result"])
                assert found[f"{way} result"] == first, (folder, way)
        assert set(told[folder]["halos"]) == set(plan.problem.names)
        for name, (good, messages, values, copies) in told[folder]["halos"].items():
            _, _, volume = halo_volumes(plan.problem.components[name], plan.copartition[name],
                                        plan.copartition.nparts[name])
            assert good, (folder, name)
            assert [messages, values, copies] == [len(volume), volume.sum(), volume.sum()], (folder, name)


SEATS = """
import json, pickle, sys
from pathlib import Path
import numpy as np
from mpi4py import MPI
from copart.mpi import Exchange, Halo

folder = sys.argv[1]
comm = MPI.COMM_WORLD
problem = pickle.loads(Path(sys.argv[2]).read_bytes())
out = {}

def tried(name, exchange):
    a, b = exchange.cells.get("a"), exchange.cells.get("b")
    got = exchange.forward(None if a is None else a * 1.5)
    got = comm.gather([] if b is None else list(zip(b.tolist(), got.tolist())))
    if comm.rank == 0:
        out[name] = sorted(x for one in got for x in one)

tried("folder", Exchange(comm, folder))
tried("values", Exchange(comm, problem))
tried("both values", Exchange(comm, (problem.problem, problem.copartition), ("a", "b")))
# another order of ranks, and of parts among them
name, part = [("b", 2), ("a", 1), ("b", 0), ("a", 0), ("b", 1)][comm.rank]
tried("said", Exchange(comm, folder, component=name, part=part))
tried("in their order", Exchange(comm, folder, component=name))
# an inter-communicator
code = comm.Split("ab".index(name), comm.rank)
between = code.Create_intercomm(0, comm, 1 if name == "b" else 0)
tried("between", Exchange(between, folder, component=name))
# all cells of the caller in an order of his own, results in their rows
halo = Halo(code, folder, name, timeout=60)
mine = np.concatenate([halo.cells[:halo.nowned][::-1], [10**6]])
exchange = Exchange(comm, folder, component=name, cells=mine)
assert np.array_equal(exchange.cells[name], mine)
values = np.where(mine < 10**6, mine * 1.5, np.nan)
result = np.full((len(mine)), -7.0)
if name == "a":
    exchange.forward(values)
    back = exchange.backward(like="2f8", mapping="consistent")
    assert back.shape == (len(mine), 2) and back[-1, 0] == 0
else:
    assert exchange.forward(out=result) is result
    exchange.backward(np.column_stack([values, values]), mapping="consistent")
result = comm.gather([(int(c), float(x)) for c, x in zip(mine, result) if x != -7.0])
if comm.rank == 0:
    out["rows"] = sorted(x for one in result for x in one)
# NaN passes, infinities too, other cells are not touched
exchange = Exchange(comm, folder)
if "a" in exchange.cells:
    x = exchange.cells["a"] * 1.0
    x[::3], x[1::5] = np.nan, np.inf
    exchange.forward(x)
else:
    marks = exchange.forward()
if "a" in exchange.cells:
    exchange.forward((~np.isfinite(x)).astype(float))
else:
    touched = exchange.forward()
    assert np.array_equal(~np.isfinite(marks), touched > 0)
if comm.rank == 0:
    print(json.dumps(out))
"""


def test_every_way_to_say_who_is_who(both, tmp_path):
    meshes = cube("hexa", 4), cube("hexa", 5, offset=(1, 0, 0))
    made = copart.plan(*meshes, names=["a", "b"], parts=(2, 3), output=tmp_path / "p")
    (tmp_path / "made").write_bytes(pickle.dumps(made))
    script = tmp_path / "seats.py"
    script.write_text(SEATS)
    done = both(5, "-m", "mpi4py", str(script), str(tmp_path / "p"), str(tmp_path / "made"))
    assert done.returncode == 0, done.stderr
    told = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert len(told["folder"]) == 25
    for name, result in told.items():
        assert result == told["folder"], name


WRONG = """
import os, sys, time
import numpy as np
from mpi4py import MPI
import copart
from copart.mpi import Exchange, Halo

what, folder = sys.argv[2:4]
comm = MPI.COMM_WORLD
def said(work):
    try:
        work()
        text = "nothing"
    except (copart.CopartError, TypeError) as error:
        text = f"{type(error).__name__}: {error}"
    with open(f"{sys.argv[1]}.{comm.rank}", "a") as file:  # lines of several ranks would mix in one pipe
        file.write(text + "\\n")
if what == "set-up":
    for one in eval(sys.argv[4]):
        said(lambda: Exchange(comm, folder, **(one(comm.rank) if callable(one) else one)))
        comm.Barrier()
elif what == "two folders":
    said(lambda: Exchange(comm, folder if comm.rank < 2 else sys.argv[4]))
else:
    exchange = Exchange(comm, folder, timeout=1.5 if what in ("silent", "other type later") else 20)
    sends = "a" in exchange.cells
    n = len(exchange.cells.get("a", ()))
    if what == "fields":
        for one in ("np.zeros(n + 1)", "np.zeros((n, 2, 2))", "np.array(['x'] * n)", "np.zeros((n, 0))", "[]", "None"):
            if comm.rank == 0:
                said(lambda: exchange.forward(eval(one)))
        if comm.rank == 2:
            said(lambda: exchange.forward(np.zeros(3)))
            said(lambda: exchange.forward(mapping="mean"))
            said(lambda: exchange.forward(like="U3"))
            said(lambda: exchange.backward(np.zeros((len(exchange.cells["b"]), 1, 1))))
            said(lambda: exchange.start_forward(out=np.zeros(3)))
            said(lambda: exchange.start_forward(like="i4", out=np.zeros(len(exchange.cells["b"]), "i4")))
            said(lambda: exchange.start_forward(mapping="raw", out=np.zeros((len(exchange.ghosts["b"]), 2))))
        comm.Barrier()
        exchange.forward(np.arange(n) if sends else None, like="i8", mapping="nearest",
                         out=None if sends else np.zeros(len(exchange.cells["b"])))
    elif what == "other type":
        said(lambda: exchange.forward(np.zeros(n, "i8")) if sends else exchange.forward())
    elif what == "other type later":
        exchange.forward(np.zeros(n) if sends else None)
        exchange.forward(np.zeros(n, "i8") if sends else None, like=None if sends else "i8")
        said(lambda: exchange.forward(np.zeros(n, "i8")) if sends else exchange.forward())
        time.sleep(2.5)
    elif what == "other mapping":
        said(lambda: exchange.forward(np.zeros(n) if sends else None, mapping="raw" if sends else "nearest"))
    elif what == "ends early":
        if comm.rank == 1:
            sys.exit(0)
        said(lambda: [exchange.forward(np.zeros(n) if sends else None) for _ in range(3)])
    elif what == "silent":
        if comm.rank == 1:
            time.sleep(4)
        else:
            said(lambda: exchange.forward(np.zeros(n) if sends else None))
    if what != "ends early" or comm.rank > 0:
        said(lambda: exchange.forward(np.zeros(n) if sends else None) if what in ("ends early", "other type") else None)
"""


def wrong(launch: Any, ranks: int, what: str, folder: Path, *more: str) -> list[list[str]]:
    """By rank, what it said."""
    with tempfile.TemporaryDirectory() as place:
        done = launch(ranks, "-c", WRONG, f"{place}/said", what, str(folder), *more)
        out = [Path(f"{place}/said.{rank}") for rank in range(ranks)]
        told = [file.read_text().splitlines() if file.exists() else [] for file in out]
    assert any(told), done.stdout + done.stderr
    return told


def test_set_up_is_refused_on_all_ranks_alike(launch, folders, tmp_path):
    cases = {"{}": "ConfigError: comm: has 4 processes, the plan has 5 (a 2, b 3); for other communicators say "
                   "which component each process belongs to (component=)",
             "{'pair': ('b', 'a')}": "pair: must be one of (a, b), in this order, got ('b', 'a')",
             "{'component': 'c'}": "component: 'c' is none of the plan, which has a, b",
             "{'component': 'a'}": "comm: 4 processes are a, which has 2 parts in the plan",
             "lambda r: {'component': 'ab'[r // 2]}":
                 "comm: 2 processes are b, which has 3 parts in the plan",
             "{'part': 1}": "part: needs a component, too",
             "{'component': 'a', 'part': 2}": "part: must be at most 1, got 2",
             "{'component': ['a']}": "component: ['a'] is none of the plan, which has a, b",
             "{'timeout': 'soon'}": "timeout: needs a number", "{'timeout': -1}": "timeout: must be at least 0",
             "lambda r: {'wrong': 1} if r == 2 else {'component': 'a'}":
                 "TypeError: rank 2: Exchange() got an unexpected keyword argument 'wrong'"}
    told = wrong(launch, 4, "set-up", folders / "3", f"[{', '.join(cases)}]")
    for i, text in enumerate(cases.values()):
        said = {rank[i].replace("rank 0: ", "", 1) for rank in told}
        assert len(said) == 1, said
        assert text in next(iter(said))
    # the parts of one component twice, cells that are not of the part, no plan, a plan of before
    told = wrong(launch, 4, "set-up", folders / "1", "[lambda r: {'component': 'ab'[r // 2], 'part': 0}, "
                 "lambda r: {'cells': [0, 0] if r == 3 else None}, lambda r: {'cells': [1] if r == 2 else None}, "
                 "lambda r: {'component': 'ab'[r // 2]} if r else {}]")
    assert {rank[0] for rank in told} == {"ConfigError: part: ranks 0 and 1 are both part 0 of a"}
    assert {rank[1] for rank in told} == {"CouplingError: rank 3: cells of b: 0 stands there twice"}
    assert {rank[3] for rank in told} == {"ConfigError: component (given or not): must be the same on all ranks, is "
                                          "'left out' on rank 0 and 'given' on rank 1"}
    assert all("rank 2: cells of b: " in rank[2] and "are not among them, the first is" in rank[2] for rank in told)
    assert {text for rank in wrong(launch, 2, "set-up", tmp_path / "none", "[{}]") for text in rank} == \
        {f"FormatError: rank 0: {tmp_path}/none/metrics.json: cannot be read: no such file or directory"}


def test_a_co_partition_of_another_problem_is_refused():
    from copart.mpi.schedules import schedule_of

    made = copart.plan(cube("hexa", 2), cube("hexa", 2, offset=(1, 0, 0)), names=["a", "b"], parts=(2, 2))
    for parts, said in (({"a": [0, 1], "b": [0, 1] * 4}, "parts of a: needs 8 entries, has 2"),
                        ({"a": [0, 1] * 4, "c": [0, 1] * 4}, "co-partition: is of a, c, the problem has a, b")):
        with pytest.raises(copart.CouplingError, match=said):
            schedule_of((made.problem, copart.CoPartition(parts, dict.fromkeys(parts, 2))))


def test_results_go_where_they_fit():
    from copart.mpi.results import placed, results_for

    fixed = np.zeros(3)
    fixed.flags.writeable = False
    one = (np.dtype(float), (3,))
    for out, results in ((np.zeros(3), [one, one]), ([np.zeros(3)], [one, one]), (fixed, [one]),
                         ([None, "x"], [one, one]), (np.zeros(3, int), [one]), (np.zeros((3, 1)), [one])):
        with pytest.raises(copart.ConfigError, match="out: needs"):
            results_for(out, results)
    assert results_for(None, [one, one]) == [None, None]
    assert placed(np.full(3, 0.7), None, np.zeros(3, "f4")).tolist() == pytest.approx([0.7] * 3)


def test_processes_with_different_plans_are_noticed(launch, folders, tmp_path):
    import shutil

    told = wrong(launch, 4, "two folders", folders / "1", str(folders / "2"))
    assert len({rank[0] for rank in told}) == 1
    assert "plan (its checksum): must be the same on all ranks" in told[0][0]
    # the same checksums, but the file of one side has been changed
    other = Path(shutil.copytree(folders / "1", tmp_path / "other"))
    path = other / "exchange" / "a-b.interedges.rows.npy"
    rows = np.load(path)
    rows["weight"][0] *= 2
    np.save(path, rows)
    told = wrong(launch, 4, "two folders", folders / "1", str(other))
    assert {rank[0] for rank in told} == {"ExchangeError: plan: the processes of a and of b have read different "
                                          "interedges; are the files on both sides the same? (copart check)"}


def test_halos_with_cells_of_others_are_refused(launch, folders, tmp_path):
    import shutil

    other = Path(shutil.copytree(folders / "1", tmp_path / "other"))
    path = other / "exchange" / "a.halo.rows.npy"
    np.save(path, np.load(path)[::-1].copy())
    done = launch(4, "-m", "mpi4py", "-c", "import sys; from mpi4py import MPI; from copart.mpi import Halo; "
                  "Halo(MPI.COMM_WORLD, sys.argv[1])", str(other))
    assert done.returncode != 0
    assert "halo of a: names cells that part" in done.stderr


def test_fields_are_checked_before_anything_is_sent(launch, folders):
    told = wrong(launch, 4, "fields", folders / "1")
    assert [text.split(": ", 1)[1][:44] for text in told[0][:6]] == [
        "values: needs shape (8,) or (8, ncomp), one ", "values: needs shape (8,) or (8, ncomp), one ",
        "values: needs numbers, has dtype <U1", "values: needs shape (8,) or (8, ncomp), one ",
        "values: needs at least one field", "forward: needs the values of 8 cells of a"]
    assert told[2][:4] == [
        "ConfigError: forward: values come from a, this process has none of it",
        "ConfigError: mapping: 'mean' is not known; choose one of consistent, nearest, conservative, raw",
        "ConfigError: like: needs a type of numbers or a vector of such, like 'f8' or '3f8', got 'U3'",
        told[2][3]]
    assert "values: needs shape" in told[2][3]
    assert [text.split(", has")[0] for text in told[2][4:7]] == [
        "ConfigError: out: needs shape (25,)", "ConfigError: out: needs an array that can hold float64, is of int32",
        "ConfigError: out: needs shape (16,)"]
    assert [rank[-1] for rank in told] == ["nothing"] * 4  # the exchange is as good as before


@pytest.mark.parametrize(("what", "expected"), [
    ("other type", "a part 0) sends consistent int64, expected is consistent float64"),
    ("other type later", "a part 0) sends consistent int64 instead; do all processes start"),
    ("other mapping", "a part 0) sends raw float64, expected is nearest float64"),
    ("silent", "exchange: nothing for 1.5 s from rank 1 (a part 1)")])
def test_what_does_not_come_is_an_error_and_no_hang(launch, folders, what, expected):
    _hears(launch, folders, what, expected)


def test_a_peer_that_ends_is_noticed(both, folders):
    _hears(both, folders, "ends early", "rank 1 (a part 1) left before this exchange was complete")


def _hears(launch, folders, what, expected):
    told = wrong(launch, 4, what, folders / "1")
    heard = [text for rank in told[2:] for text in rank]
    assert any(expected.replace("part 0", f"part {p}") in text for text in heard for p in (0, 1)), told
    assert all(text == "nothing" or text.startswith("ExchangeError") for text in heard)


DEVICE = """
import sys
import numpy as np
from mpi4py import MPI
import copart
from copart.mpi import Exchange

class Device:
    # looks like an array on a GPU; its memory is that of the host
    def __init__(self, array):
        self.array = array
    shape, dtype = property(lambda self: self.array.shape), property(lambda self: self.array.dtype)
    __cuda_array_interface__ = property(lambda self: {**self.array.__array_interface__, "version": 3})
    __array_namespace__ = lambda self: Namespace
    __getitem__ = lambda self, key: Device(self.array[key])

class Namespace:
    float32 = np.float32
    asarray = staticmethod(lambda x: x)
    empty = staticmethod(lambda shape, dtype: Device(np.empty(shape, dtype)))
    take = staticmethod(lambda x, index, axis: Device(np.take(x.array, index, axis=axis)))

exchange = Exchange(MPI.COMM_WORLD, sys.argv[1])
for shape in ((), (3,)):
    if "a" in exchange.cells:
        values = np.multiply.outer(exchange.cells["a"], np.ones(shape)).astype("f4")
        for mapping in ("raw", "nearest"):
            exchange.forward(Device(values), mapping=mapping)
        exchange.forward(values, mapping="nearest")
        for bad in (dict(), dict(mapping="raw", out=values)):
            try:
                exchange.forward(Device(values), **bad)
            except copart.ConfigError as error:
                assert "on a device" in str(error) or "on the host" in str(error)
            else:
                raise SystemExit("not refused")
    else:
        like = Device(np.empty((0, *shape), "f4"))
        raw = exchange.forward(like=like, mapping="raw")
        assert np.array_equal(raw.array[..., 0] if shape else raw.array, exchange.ghosts["b"])
        near = exchange.forward(like=like, mapping="nearest").array
        assert np.array_equal(near, exchange.forward(like=np.empty((0, *shape), "f4"), mapping="nearest"))
"""


def test_fields_that_say_they_are_on_a_device(launch, folders):
    done = launch(4, "-c", DEVICE, str(folders / "1"))
    assert done.returncode == 0, done.stderr


def test_all_processes_choose_the_same_pair(launch, tmp_path):
    meshes = [cube("hexa", 3, offset=(x, 0, 0)) for x in range(3)]
    copart.plan(*meshes, names=["a", "b", "c"], parts=(1, 1, 1), output=tmp_path / "1")
    told = wrong(launch, 3, "set-up", tmp_path / "1", "[lambda r: {'pair': ('a', 'b') if r else ('b', 'c')}, {}]")
    assert {rank[0] for rank in told} == {"ConfigError: pair: must be the same on all ranks, is ['b', 'c'] on rank 0 "
                                          "and ['a', 'b'] on rank 1"}
    assert all("pair: the plan has 2 pairs, name one of (a, b), (b, c)" in rank[1] for rank in told)
