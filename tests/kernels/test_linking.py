"""Kernels apart from those that call them: found by name, in the process that compiles them and in later ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import NO_JIT
from ..helpers import ROOT

pytestmark = [
    pytest.mark.skipif(NO_JIT, reason="nothing is compiled without the JIT"),
    pytest.mark.skipif(os.environ.get("NUMBA_BOUNDSCHECK") == "1",
                       reason="the kernels used here are large or small in the code that users have"),
    pytest.mark.slow,
]

#: `find_centres` calls `spread_distances`, which is large, `remove` calls `sift_down` and `sift_up`, which are small.
USE = """
import json
import logging
import numpy as np
from copart.kernels import Level
from copart.kernels.clock import CLOCK
from copart.kernels.growing import find_centres, spread_distances
from copart.kernels.heap import remove, sift_down, sift_up

logging.disable(logging.CRITICAL)  # what is said about time depends on the machine
n = 9
xadj = np.array([0, *range(1, 2 * n - 2, 2), 2 * n - 2])
adjncy = np.array([v for u in range(n) for v in (u - 1, u + 1) if 0 <= v < n], np.int32)
none = np.empty(0, np.int64)
g = Level(xadj, adjncy, none, np.ones(n, np.int64), np.empty(0, np.int32), np.empty(0, np.int32), none)
part, centre = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2], np.int32), np.empty(3, np.int32)
find_centres(g, part, centre, np.empty(n, np.int32), np.empty(n, np.int32))
heap, pos, key = np.arange(4, dtype=np.int32), np.arange(4, dtype=np.int32), np.array([9, 7, 8, 5])
size = remove(heap, pos, key, key, 4, 0)

def apart(caller, callee):
    (one,), (other,) = caller.overloads.values(), callee.overloads.values()
    code = one.library.get_llvm_str().splitlines()
    return any(line.startswith("declare") and other.fndesc.llvm_func_name in line for line in code)

print(json.dumps({"centre": centre.tolist(), "heap": heap[:size].tolist(), "compiled": CLOCK.kernels,
                  "large": len(spread_distances.overloads), "small": len(sift_up.overloads),
                  "apart": CLOCK.kernels == 5 and apart(find_centres, spread_distances)}))
"""
CENTRES, HEAP = [0, 5, 8], [2, 1, 3]


def run(cache: Path, before: str = "", **environment: str) -> dict:
    done = subprocess.run([sys.executable, "-c", before + USE], cwd=ROOT, text=True, capture_output=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(cache), **environment},
                          check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found.pop("centre"), found.pop("heap")) == (CENTRES, HEAP)
    return found


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    """A cache filled by one process, whose large kernel is apart from its caller."""
    cache = tmp_path_factory.mktemp("linked")
    assert run(cache) == {"compiled": 5, "large": 1, "small": 1, "apart": True}
    return cache


def files(cache: Path, name: str) -> list[Path]:
    return sorted(cache.rglob(f"*.{name}-*.nb?"))


def test_a_later_process_loads_large_kernels_before_their_callers_and_small_ones_not_at_all(filled):
    assert run(filled) == {"compiled": 0, "large": 1, "small": 0, "apart": False}


def test_of_a_large_kernel_names_are_kept_and_no_instructions():
    from copart.kernels import growing, linking
    from copart.kernels.signatures import decoded
    from copart.warm.processes import table

    kernel = growing.spread_distances
    types = tuple(map(decoded, table()["growing.spread_distances"].types[0]))
    kernel.compile(types)
    link, data = kernel._cache._cache_file.load(kernel._cache._index_key(types, kernel.targetctx.codegen()))
    _, _, (_, instructions) = data[0]
    module = linking._llvm.parse_bitcode(instructions)
    found = {one.name: sum(1 for block in one.blocks for _ in block.instructions) for one in module.functions}
    assert link.apart
    assert set(found.values()) == {1}
    assert data[1].llvm_func_name in found


def test_a_large_kernel_that_is_gone_is_compiled_for_callers_that_are_there(filled):
    """They find it, though it is not the first that this process compiles, so that numba gives it another name."""
    other = "from copart.kernels.csr import edge_cut\nfrom copart.kernels.signatures import decoded\n" \
            "from copart.kernels.rng import mix\nmix(1, 2)\n"
    names = []
    for before in (other, ""):
        for file in files(filled, "spread_distances"):
            file.unlink()
        assert run(filled, before)["large"] == 1
        names.append([file.read_bytes() for file in files(filled, "spread_distances")])
    assert names[0] != names[1], "the names are the same: this test says nothing"
    assert run(filled) == {"compiled": 0, "large": 1, "small": 0, "apart": False}


def test_a_damaged_file_of_a_large_kernel_is_replaced(filled):
    data = next(file for file in files(filled, "spread_distances") if file.suffix == ".nbc")
    data.write_bytes(data.read_bytes()[:-9])
    assert run(filled)["large"] == 1
    assert run(filled) == {"compiled": 0, "large": 1, "small": 0, "apart": False}


@pytest.mark.parametrize("before", [
    "from numba.core.base import BaseContext\ndel BaseContext.remove_user_function\n",
    "from numba.core.codegen import JITCodeLibrary as Library\nask = Library.get_pointer_to_function\n"
    "Library.get_pointer_to_function = lambda self, name: ask(self, name) if 'cpython' in name else 0\n",
], ids=["another numba", "a name that is not found"])
def test_where_names_do_not_serve_kernels_are_linked_as_numba_does(tmp_path, before):
    assert run(tmp_path, before) == {"compiled": 5, "large": 1, "small": 1, "apart": False}
    assert run(tmp_path, before) == {"compiled": 0, "large": 0, "small": 0, "apart": False}


def test_where_nothing_is_kept_kernels_are_apart_as_well(tmp_path):
    nowhere = "from numba.core import caching\ncaching.CacheImpl._locator_classes = []\n"
    assert run(tmp_path, nowhere) == {"compiled": 5, "large": 1, "small": 1, "apart": True}
    assert not list(tmp_path.rglob("*.nb?"))
