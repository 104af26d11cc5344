"""Kernels that only other kernels call have no entry for Python; who calls one from Python is served all the same."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from copart.kernels import Level
from copart.kernels.fm import Queues, two_way_pass
from copart.kernels.signatures import kernels

from ..conftest import NO_JIT
from ..helpers import ROOT

KERNELS = ROOT / "copart" / "kernels"


def inner() -> set[str]:
    """Names of the kernels without an entry, as their sources say."""
    return {f"{path.stem}.{node.name}"
            for path in KERNELS.glob("*.py") for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.FunctionDef)
            and "inner" in [getattr(mark, "id", "") for mark in node.decorator_list]}


def imported(path: Path) -> set[str]:
    """What a module takes from modules of kernels."""
    return {f"{(node.module or '').rpartition('.')[2]}.{one.name}" for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and "kernels" in (node.module or "") for one in node.names}


def test_nothing_but_kernels_uses_them():
    """Else each run would compile an entry, which is not kept."""
    without = inner()
    assert "fm.two_way_pass" in without
    for path in (ROOT / "copart").rglob("*.py"):
        if path.parent != KERNELS:
            assert not imported(path) & without, path


@pytest.mark.skipif(NO_JIT, reason="nothing is compiled without the JIT")
def test_they_are_compiled_without_an_entry():
    assert {name for name, one in kernels().items() if one.targetoptions.get("no_cpython_wrapper")} == inner()


def test_one_can_be_called_from_python():
    """A path of four, whose ends are on one side: the same as plain Python, and arrays are written in place."""
    xadj, adjncy = np.array([0, 1, 3, 5, 6]), np.array([1, 0, 2, 1, 3, 2], np.int32)
    none, free = np.empty(0, np.int64), np.empty(0, np.int32)
    g = Level(xadj, adjncy, none, np.ones(4, np.int64), free, free, none)
    found = []
    for call in (two_way_pass, getattr(two_way_pass, "py_func", two_way_pass)):
        side, pwgt, population = np.array([0, 1, 1, 0], np.int32), np.array([2, 2]), np.array([2, 2])
        queues = Queues(np.zeros(4, np.int64), np.zeros(4, np.int64), np.zeros((2, 4), np.int32), np.zeros(2, np.int64),
                        np.full(4, -1, np.int32), np.zeros(4, np.uint8), np.zeros(4, np.int32), np.empty(0, np.uint8))
        found.append((*call(g, none, side, pwgt, population, 1, np.array([3, 3]), 50, False, queues), side.tolist()))
    assert found[0] == found[1]
    assert found[0][0] > 0
    assert found[0][-1] != [0, 1, 1, 0]
