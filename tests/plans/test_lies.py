"""``copart check`` notices every single change of a plan, also where the checksums were made to fit."""

from __future__ import annotations

import json
import re
import shutil
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import copart
from copart.cli import main
from copart.errors import CopartError
from copart.mesh import cube, read_mesh, write_vtu
from copart.plans.replan import replan
from copart.plans.verify import check_plan

from .lies import lies, reseal

DOCUMENTS = ("metrics.json", "coupling.json", "migration.json")
#: What only the checksum holds, because nothing in the folder shows it; ``check`` lists it as checked by checksum only.
NOT_SHOWN = re.compile(r"""
    seconds\ =\ \d | remarks\.\d | remarks:\ (the\ first|in\ another)
    # how the parts were made: another way may lead to the same
    | settings\.(seed|threads|alpha|eps|gap|tolerance|several)\ = | settings\.scheme_options\.price(:|\.\d\ =|\ removed)
    | settings\.contiguous\ removed
    | settings\.natural(\.\d\ =|\ removed)
    # a boundary that the meshes in the folder have no name for
    | interfaces?(\.\d)?\.[ab]\.group\ =\ 'x' | interfaces?(\.\d)?\.[ab]\.groups
    | components\.\d\.(former_parts\ =|moves\.\d+\.from\ =)
    """, re.VERBOSE)


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    place = tmp_path_factory.mktemp("plans")
    a, b, c = (cube("hexa", 2, offset=(x, 0, 0)) for x in (0, 1, 2))
    copart.plan(a, b, parts=(2, 2), names=("a", "b"), output=place / "two")
    copart.plan(a, b, parts=(2, 2), names=("a", "b"), output=place / "native", write="pvtu,gmsh,openfoam")
    copart.plan(a, b, c, parts=(2, 2, 2), names=("a", "b", "c"), output=place / "three")
    copart.plan(a, b, parts=(2, 2), names=("a", "b"), output=place / "contiguous", contiguous=True)
    copart.plan(a, b, parts=3, scheme="monolithic", names=("a", "b"), output=place / "pool")
    replan(place / "two", parts=(2, 3), output=place / "again")
    unequal = b.replace(points=b.points * np.where(b.points[:, 1:2] > 0.9, (1, 1, 1), (1, 0.5, 1)))
    copart.plan(a, unequal, parts=(2, 2), names=("a", "b"), coupled_weights="area", output=place / "weighed")
    return place


@pytest.fixture
def two(plans, tmp_path):
    return Path(shutil.copytree(plans / "native", tmp_path / "two"))


def noticed(folder):
    try:
        return not check_plan(folder).ok
    except CopartError:
        return True


@pytest.mark.parametrize(("name", "first", "step"), [
    # half of one plan; of the others, whose documents have most entries in common, one in five, each time others
    ("two", 0, 2), ("three", 0, 5), ("pool", 1, 5), ("again", 2, 5), ("weighed", 3, 5), ("contiguous", 4, 5)])
def test_every_change_of_a_document_is_noticed(plans, tmp_path, name, first, step):
    folder = Path(shutil.copytree(plans / name, tmp_path / name))
    assert not noticed(folder)
    metrics = folder / "metrics.json"
    for document in DOCUMENTS:
        path = folder / document
        if not path.exists():
            continue
        whole, summary = path.read_text(), metrics.read_text()
        missed = []
        for what, value in islice(lies(json.loads(whole), values=2 if name == "two" else 1), first, None, step):
            path.write_text(json.dumps(value))
            shown = not NOT_SHOWN.match(what)
            if shown and not what.startswith(("files", "sha256")):
                reseal(folder)
            if not noticed(folder):
                missed.append(what)
            path.write_text(whole)
            metrics.write_text(summary)
        assert not missed, f"{document}: {missed}"


def test_laid_out_anew_is_no_change(two):
    path = two / "metrics.json"
    path.write_text(json.dumps(json.loads(path.read_text()), indent=4))
    assert not noticed(two)


@pytest.mark.parametrize("change", ["part", "coupled", "zeros", "no part", "no coupled", "points"])
def test_arrays_of_the_meshes(two, change):
    mesh = read_mesh(two / "a.vtu")
    data = dict(mesh.cell_data)
    if change in data:
        data[change] = np.roll(data[change], 1)
    elif change == "zeros":
        data["part"] = np.zeros_like(data["part"])
    elif change.startswith("no "):
        del data[change[3:]]
    else:
        mesh = mesh.replace(points=mesh.points + np.array([0.0, 0.25, 0.0]))
    write_vtu(two / "a.vtu", mesh.replace(cell_data=data))
    reseal(two)
    assert noticed(two)


@pytest.mark.parametrize("name", ["a.part.2", "interedges.mtx", "a.2.msh", "a.2/a.2_1.vtu"])
def test_other_files(two, name):
    """Removed, cut short, or with one number changed."""
    path = two / name
    whole = path.read_bytes()
    for change in ("removed", "short", "changed"):
        if change == "removed":
            path.unlink()
        elif change == "short":
            path.write_bytes(whole[:len(whole) // 2])
        elif name.endswith(".msh"):
            path.write_bytes(re.sub(rb"\n8 5 4 (\d+) (\d+) 1 (\d+)", rb"\n8 5 4 \1 \2 1 7", whole))
        elif name.endswith(".vtu"):
            path.write_bytes((two / "a.2/a.2_0.vtu").read_bytes())
        elif name.endswith(".mtx"):
            path.write_bytes(whole.replace(b"0.25", b"0.26", 1))
        else:
            path.write_bytes(whole[::-1].lstrip() + b"\n")
        assert path.exists() is (change != "removed")
        if not (change == "removed" and name.endswith(".msh")):
            reseal(two)  # a plan without the file that solvers read would be one
        assert noticed(two), change
        path.write_bytes(whole)


DECOMPOSITION = "a.2.openfoam/constant/cellDecomposition"


@pytest.mark.parametrize(("name", "old", "new", "what"), [
    ("launch/programs.slurm", "./a\n2-3 ./b", "./b\n2-3 ./a", "programs: are ['./a', './b'], found ['./b', './a']"),
    ("launch/programs.slurm", "0-1 ./a\n2-3", "2-3 ./a\n0-1", "content: can be read"),
    ("launch/launch.txt", "./a : -n 2 ./b", "./b : -n 2 ./a", "programs: are ['./a', './b']"),
    ("launch/launch.txt", "srun -n 4", "srun -n 40", "ranks of srun: are 4, found 40"),
    ("launch/launch.txt", "srun -n 4", "srun", "ranks of srun: are 4, found none"),
    (DECOMPOSITION, "\n8\n(", "\n7\n(", "list: has as many processors as it says, 7, and an end, found 8"),
    (DECOMPOSITION, "\n)\n", "\n", "content: can be read"),
    ("a.2.pvtu", '<Piece Source="a.2/a.2_1.vtu"/>\n', "", "piece 1: is a.2/a.2_1.vtu, found none"),
    ("a.2.pvtu", "a.2_1.vtu", "a.2_0.vtu", "piece 1: is a.2/a.2_1.vtu, found a.2/a.2_0.vtu"),
    ("a.2.pvtu", "</VTKFile>", "", "is no XML"),
])
def test_files_for_other_programs_are_read_again(two, name, old, new, what):
    path = two / name
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    reseal(two)
    found = [str(one) for one in check_plan(two).findings]
    assert len(found) == 1
    assert found[0].startswith(f"{name}: ")
    assert what in found[0]


def test_a_decomposition_cut_short_is_noticed_where_its_count_was_made_to_fit(two):
    path = two / DECOMPOSITION
    head, body = path.read_text().split("\n8\n(\n")
    path.write_text(f"{head}\n6\n(\n{body[4:]}")
    reseal(two)
    assert [str(one) for one in check_plan(two).findings] == [f"{DECOMPOSITION}: cells: are 8, found 6"]


@pytest.mark.parametrize("name", ["launch.txt", "programs.slurm"])
def test_launch_files_of_every_plan_must_be_there(two, name):
    path = two / "launch" / name
    whole = path.read_bytes()
    path.unlink()
    reseal(two)
    assert [one.what for one in check_plan(two).findings] == [f"launch/{name}"]
    path.write_bytes(whole)  # and in the list, which holds them to their checksums
    assert [one.what for one in check_plan(two).findings] == [f"launch/{name}"]


def test_a_mesh_that_was_removed_or_replaced_is_named(two):
    write_vtu(two / "a.vtu", cube("hexa", 3))
    reseal(two)
    with pytest.raises(CopartError, match=r"a\.vtu: has 27 cells, interedges\.mtx is of 8"):
        check_plan(two)
    (two / "a.vtu").unlink()
    with pytest.raises(CopartError, match=r"has no a\.vtu, which metrics\.json lists$"):
        check_plan(two)


def test_what_is_not_derived_again_is_listed(plans, tmp_path, capsys):
    a, b = cube("hexa", 2), cube("hexa", 2, offset=(1, 0, 0))
    copart.plan(a, b, parts=(2, 2), output=tmp_path / "out", write="precice,aste,report,gmsh,pvtu")
    assert main(["check", str(tmp_path / "out")]) == 0
    told = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("checked by checksum only"))
    for word in ("seconds", "settings", "precice.xml", "ASTE", "report.html", "in .msh and .pvtu files"):
        assert word in told
    (tmp_path / "out" / "precice.xml").write_text("<precice/>")
    assert main(["check", str(tmp_path / "out")]) == 1
    assert "precice.xml" in capsys.readouterr().out


def test_given_interedges_are_not_searched_for_and_check_says_so(tmp_path, capsys):
    a, b = cube("hexa", 2), cube("hexa", 2, offset=(1, 0, 0))
    from copart.mesh import find_interedges

    copart.plan(a, b, parts=(2, 2), interedges=find_interedges(a, b), output=tmp_path / "out")
    assert main(["check", str(tmp_path / "out")]) == 0
    assert "they were given" in capsys.readouterr().out
