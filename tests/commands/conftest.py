"""Folders in which commands are tried."""

from __future__ import annotations

from pathlib import Path

import pytest

import copart
from copart.formats import write_metis
from copart.mesh import cube, write_vtu

from ..helpers import grid


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with meshes, their plan, a graph and its parts, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    write_vtu("a.vtu", cube("hexa", 3))
    write_vtu("b.vtu", cube("hexa", 3, offset=(1.0, 0.0, 0.0)))
    write_metis("g.graph", grid(6, 6))
    Path("g.part.2").write_text("0\n" * 18 + "1\n" * 18)
    Path("p.txt").write_text("0 1 100 1\n1 2 50 1\n2 3 9 1\n3 0 7 1\n4 5 7 1\n")
    return tmp_path


@pytest.fixture
def planned(folder):
    copart.plan("a.vtu", "b.vtu", parts=(2, 2), output="plan")
    return folder
