"""The coupled run of the examples: equal to the serial result for any parts, and no hang where a rank dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import meshio
import numpy as np
import pytest

from copart.mesh import read_mesh
from examples.conjugate_heat import CAPACITY, NAMES, STEPS, compared, main, prepare, volumes
from examples.phases import PHASES

from ..helpers import ROOT

SMALL = (5, 150)


@pytest.mark.parametrize(("scheme", "parts"), [
    ("joint", (3, 2)), ("naive", (1, 1)), ("aware", (1, 3))])
def test_the_run_equals_the_serial_result(launcher, tmp_path, scheme, parts):
    errors = main(tmp_path, SMALL, parts, scheme)
    assert max(errors.values()) < 1e-9
    # heat is kept, as the outside is insulated
    for name in NAMES:
        series = json.loads((tmp_path / f"{name}.vtu.series").read_text())["files"]
        assert [one["name"] for one in series] == [f"{name}.{step:03d}.vtu" for step in range(STEPS + 1)]
    heat = []
    for step in range(STEPS + 1):
        fields = [meshio.read(tmp_path / f"{name}.{step:03d}.vtu").cell_data["temperature"] for name in NAMES]
        meshes = [read_mesh(tmp_path / f"{name}.{step:03d}.vtu") for name in NAMES]
        heat.append(sum(CAPACITY[name] * float(np.concatenate(field) @ volumes(mesh))
                        for name, field, mesh in zip(NAMES, fields, meshes, strict=True)))
    assert np.allclose(heat, heat[0], rtol=1e-12)
    assert (tmp_path / "times.png").stat().st_size > 5000
    told = json.loads((tmp_path / "times.json").read_text())
    assert [one["component"] for one in told] == ["fluid"] * parts[0] + ["solid"] * parts[1]
    assert all(set(one["seconds"]) == set(PHASES) and one["seconds"]["compute"] > 0 for one in told)


def start(both, folder: Path, parts: tuple[int, int], sizes: tuple[int, int]) -> subprocess.Popen[str]:
    """Both programs, by the launcher's own words for two programs."""
    launch, _ = prepare(folder, sizes, parts)
    words = [*both.command, "-n", str(parts[0]), "./fluid", ":", *both.command[1:], "-n", str(parts[1]), "./solid"]
    return subprocess.Popen(words, cwd=launch, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env={**os.environ, "PYTHONPATH": str(ROOT), **both.environment})


def test_the_run_under_both_libraries(both, tmp_path):
    run = start(both, tmp_path, (2, 2), SMALL)
    said, _ = run.communicate(timeout=200)
    assert run.returncode == 0, said
    assert max(compared(tmp_path).values()) < 1e-9


def test_a_rank_that_is_killed_ends_the_run(both, tmp_path):
    run = start(both, tmp_path, (2, 2), (20, 6000))
    mark, end = f"--code solid {tmp_path}", time.monotonic() + 100
    found: list[int] = []
    while time.monotonic() < end and (len(found) < 2 or not (tmp_path / "solid.000.vtu").exists()):
        time.sleep(0.1)
        found = [int(p.parent.name) for p in Path("/proc").glob("[0-9]*/cmdline") if mark in arguments(p)]
    os.kill(found[0], signal.SIGKILL)
    said, _ = run.communicate(timeout=60)
    assert run.returncode != 0
    assert "signal" in said.lower() or "left before" in said, said


def arguments(path: Path) -> str:
    try:
        return " ".join(path.read_bytes().decode(errors="replace").split("\0"))
    except OSError:
        return ""
