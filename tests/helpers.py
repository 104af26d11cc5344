"""What several tests share: outside data, small graphs, naive property checks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from copart.graph import Graph

ROOT = Path(__file__).resolve().parent.parent


def shared(path: str) -> Path:
    """A file or folder of the outside test data; skips where the data is absent."""
    found = ROOT.parent / "shared" / path
    if not found.exists():
        pytest.skip(f"outside test data {path} is not present")
    return found


@contextmanager
def ends_soon() -> Iterator[None]:
    """What would take minutes or for ever if it were quadratic or worse: no slow machine reaches the limit."""
    begin = time.thread_time()
    yield
    took = time.thread_time() - begin
    assert took < 15, f"{took:.1f} s"


def grid(*shape: int, **fields: object) -> Graph:
    """The graph of a regular grid, first axis slowest; coordinates are the indices."""
    ids = np.arange(int(np.prod(shape))).reshape(shape)
    u, v = [], []
    for axis in range(len(shape)):
        u.append(np.delete(ids, -1, axis).ravel())
        v.append(np.delete(ids, 0, axis).ravel())
    return Graph.from_edges(ids.size, np.concatenate(u), np.concatenate(v), **fields)  # type: ignore[arg-type]


def triangulated(*shape: int) -> Graph:
    """A grid of two dimensions with one diagonal in each square."""
    number = np.arange(shape[0] * shape[1]).reshape(shape)
    ends = [(number[1:], number[:-1]), (number[:, 1:], number[:, :-1]), (number[1:, 1:], number[:-1, :-1])]
    return Graph.from_edges(number.size, np.concatenate([u.ravel() for u, _ in ends]),
                            np.concatenate([v.ravel() for _, v in ends]))


def simgrid_or_skip() -> Path:
    """The folder of SimGrid's module."""
    from benchmarks.simulated import PYTHON

    simgrid = Path(PYTHON[1])
    if not list(simgrid.glob("simgrid*.so")):
        pytest.skip("no SimGrid for Python (Debian: python3-simgrid)")
    return simgrid
