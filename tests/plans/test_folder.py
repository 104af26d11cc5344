"""A plan's folder changes all at once, keeps what is not of a plan, and is cleaned of what killed runs left."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

import numpy as np
import pytest

import copart
from copart.cli import main
from copart.errors import ConfigError, FormatError
from copart.mesh import cube, write_vtu
from copart.plans import folder as moving
from copart.plans.folder import HIDDEN
from copart.plans.replan import replan
from copart.plans.verify import check_plan


@pytest.fixture(scope="module")
def two():
    """Plans of the same meshes for other numbers of parts."""
    a, b = cube("hexa", 2), cube("hexa", 2, offset=(1, 0, 0))
    return [copart.plan(a, b, parts=parts, names=("a", "b")) for parts in ((2, 2), (3, 2))]


def names(folder):
    return {file.relative_to(folder).as_posix() for file in Path(folder).rglob("*") if file.is_file()}


def hidden(folder):
    return [one.name for room in (folder.parent, folder) for one in room.glob(f"{HIDDEN}*")]


@pytest.fixture(params=["changing places", "file by file"])
def way(request, monkeypatch):
    """Both ways of putting a new plan where an old one is."""
    if request.param == "file by file":
        def no(*_):
            raise OSError("not on this file system")
        monkeypatch.setattr(moving, "_exchange", no)
    return request.param


def test_nothing_of_the_former_plan_stays_beside_the_new_one(two, tmp_path, way):
    out = tmp_path / "out"
    two[0].write(out, "pvtu,gmsh,precice,report")
    assert {"a.2/a.2_0.vtu", "a.2.msh", "precice.xml", "report.html"} <= names(out)
    two[1].write(out)
    assert {name for name in names(out) if not name.startswith("exchange/")} == {
        "a.vtu", "b.vtu", "a.part.3", "b.part.2", "interedges.mtx", "coupling.json", "metrics.json",
        "launch/launch.txt", "launch/programs.slurm"}
    assert len(names(out)) == 9 + 10
    assert not (out / "a.2").exists()
    assert not hidden(out)
    assert check_plan(out).ok


def test_what_is_not_of_a_plan_stays(two, tmp_path, way):
    out = tmp_path / "out"
    two[0].write(out)
    (out / "sub" / "empty").mkdir(parents=True)
    (out / "sub" / "log").write_text("1")
    (out / "notes").write_text("2")
    (out / "link").symlink_to("notes")
    with open(out / "notes", "a") as still_open:
        two[1].write(out)
        still_open.write("3")
    assert (out / "notes").read_text() == (out / "link").read_text() == "23"
    assert (out / "link").is_symlink()
    assert (out / "sub" / "log").read_text() == "1"
    assert (out / "sub" / "empty").is_dir()
    assert not (out / "a.part.2").exists()
    assert not hidden(out)


def test_a_folder_that_someone_works_in_keeps_its_place(two, tmp_path, monkeypatch):
    out = tmp_path / "out"
    two[0].write(out)
    before = out.stat().st_ino
    (out / "sub").mkdir()
    monkeypatch.chdir(out / "sub")
    two[1].write(out)
    assert out.stat().st_ino == before
    assert check_plan(out).ok
    monkeypatch.chdir(out)
    two[0].write(".")
    assert check_plan(".").ok
    assert not (out / "a.part.3").exists()


def test_a_new_folder_has_the_usual_rights_and_an_old_one_keeps_its_own(two, tmp_path):
    usual = tmp_path / "usual"
    usual.mkdir()
    out = tmp_path / "deep" / "out"
    two[0].write(out)
    assert out.stat().st_mode == usual.stat().st_mode
    out.chmod(0o750)
    two[1].write(out)
    assert out.stat().st_mode & 0o777 == 0o750


def test_a_folder_behind_a_link(two, tmp_path, way):
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    for plan in (*two, two[0]):
        plan.write(tmp_path / "out")
        assert (tmp_path / "out").is_symlink()
        assert check_plan(tmp_path / "real").ok


def _write_for_ever(plans, out):
    while True:
        for plan in plans:
            plan.write(out, "pvtu,report")


@pytest.mark.parametrize("notes", [False, True])
def test_killed_at_any_moment(two, tmp_path, notes):
    """By SIGKILL: the folder holds the former plan or the new one, and the next run removes what is left."""
    out = tmp_path / "out"
    two[0].write(out)
    if notes:
        (out / "notes").write_text("mine")
    rng = np.random.default_rng(1)
    left = 0
    for _ in range(25):
        child = multiprocessing.get_context("fork").Process(target=_write_for_ever, args=(two, out))
        child.start()
        time.sleep(0.005 + 0.1 * rng.random())
        child.kill()
        child.join()
        left += bool(hidden(out))
        assert check_plan(out).ok
    assert left, "no run was killed while it wrote"
    if notes:
        assert (out / "notes").read_text() == "mine"
    two[1].write(out)
    assert not hidden(out)


def test_half_a_move_is_no_plan(two, tmp_path, monkeypatch):
    """Where files are moved one by one, an interrupted move is seen."""
    monkeypatch.chdir(tmp_path)
    two[0].write(".")
    real, count = os.replace, []

    def replace(one, other):
        if Path(other).parent == tmp_path:
            count.append(other)
            if len(count) == 3:
                raise KeyboardInterrupt
        real(one, other)
    with monkeypatch.context() as patched:
        patched.setattr(moving.os, "replace", replace)
        with pytest.raises(KeyboardInterrupt):
            two[1].write(".")
    with pytest.raises(FormatError, match=r"has no metrics\.json"):
        check_plan(".")
    two[1].write(".")
    assert check_plan(".").ok


def test_a_run_at_work_is_left_alone(two, tmp_path):
    out = tmp_path / "out"
    with moving._hidden_folder(tmp_path) as busy:
        (busy / "x").write_text("")
        two[0].write(out)
        assert (busy / "x").exists()
    (tmp_path / f"{HIDDEN}dead" / "inner").mkdir(parents=True)
    (tmp_path / f"{HIDDEN}dead" / "inner" / "y").write_text("")
    (tmp_path / ".copart-notes").mkdir()
    (tmp_path / ".copart-notes" / "mine").write_text("")
    two[0].write(out)
    assert not hidden(out)
    assert (tmp_path / ".copart-notes" / "mine").exists()


def test_others_files_in_what_is_left_are_not_lost(two, tmp_path):
    """A run was killed right after folders changed places, and a program had made a file in between."""
    out, left = tmp_path / "out", tmp_path / f"{HIDDEN}left"
    two[0].write(out)
    two[1].write(left)
    (left / "result").write_text("mine")
    two[0].write(out)
    assert names(left) == {"result"}


def test_a_failure_leaves_all_as_it_was(two, tmp_path, monkeypatch, way):
    out = tmp_path / "out"
    two[0].write(out, "report")
    before = {name: (out / name).read_bytes() for name in names(out)}

    def fail(*_):
        raise FormatError("x", "cannot be drawn")
    monkeypatch.setattr(copart.plans.plan.Plan, "report", fail)
    with pytest.raises(FormatError, match="cannot be drawn"):
        two[1].write(out, "report")
    assert {name: (out / name).read_bytes() for name in names(out)} == before
    assert not hidden(out)
    with pytest.raises(FormatError):
        two[1].write(tmp_path / "new" / "deep", "report")
    assert not (tmp_path / "new").exists()


def test_a_former_file_that_is_read_is_not_removed(two, tmp_path):
    """The new plan does not write it, but it would go with the former plan."""
    from copart.plans.overwriting import reading

    out = tmp_path / "out"
    two[0].write(out)
    with reading([("--load", out / "a.part.2")]), pytest.raises(ConfigError, match=r"a\.part\.2 is also read"):
        two[1].write(out)
    assert check_plan(out).ok


def test_a_file_in_the_way_of_a_folder(two, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.2").write_text("mine")
    with pytest.raises(ConfigError, match=r"a\.2 is a file"):
        two[0].write(out, "pvtu")
    assert names(out) == {"a.2"}


def test_metrics_of_another_program_are_no_list_of_files(two, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("1")
    (out / "metrics.json").write_text('{"schema": "other", "files": {"mine": ""}}')
    two[0].write(out)
    assert (out / "mine").exists()


def test_names_outside_the_folder_are_not_removed(two, tmp_path):
    out = tmp_path / "out"
    two[0].write(out)
    (tmp_path / "mine").write_text("1")
    text = (out / "metrics.json").read_text().replace('"a.vtu":', '"../mine": "", "a.vtu":')
    (out / "metrics.json").write_text(text)
    two[1].write(out)
    assert (tmp_path / "mine").exists()


def test_report_picture_and_migration_come_with_the_rest(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_vtu("a.vtu", cube("hexa", 2))
    write_vtu("b.vtu", cube("hexa", 2, offset=(1, 0, 0)))
    assert main(["plan", "a.vtu", "b.vtu", "--parts", "2", "2", "-o", "out", "--report", "--picture"]) == 0
    assert "wrote out/report.html" in capsys.readouterr().out
    assert {"report.html", "plan.png"} <= moving.listed(Path("out"))
    replan("out", parts=(2, 3), output="next")
    assert "migration.json" in moving.listed(Path("next"))
    assert main(["plan", "a.vtu", "b.vtu", "--parts", "2", "2", "-o", "out"]) == 0
    assert not {"report.html", "plan.png"} & names("out")
