"""Commands keep the memory that they have freed; programs that use the package are left alone."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import subprocess
import sys

import pytest

from copart import __main__
from copart.commands import memory

GLIBC = platform.libc_ver()[0] == "glibc"

# two arrays, one after the other; how many pages each has touched for the first time, small ones on any machine (41 is
# PR_SET_THP_DISABLE)
TWICE = """
import ctypes, resource
import numpy as np
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)
{first}
def touched():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(60_000_000, np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(touched(), touched())
"""
KEEP = "from copart.commands.memory import keep_freed; keep_freed()"


def faults(first: str, **environment: str) -> list[int]:
    clean = {name: value for name, value in os.environ.items() if name not in memory._SET_BY_USERS}
    done = subprocess.run([sys.executable, "-c", TWICE.format(first=first)], capture_output=True, text=True, check=True,
                          env=clean | environment)
    return [int(one) for one in done.stdout.split()]


@pytest.mark.skipif(not GLIBC, reason="options of glibc")
def test_an_array_takes_the_pages_of_the_one_before():
    usual, kept = faults(""), faults(KEEP)
    assert min(usual) * mmap.PAGESIZE > 50_000_000, "each array has 60 MB of fresh pages"
    assert kept[0] > 10 * kept[1], "the second one has those of the first"


@pytest.mark.skipif(not GLIBC, reason="options of glibc")
def test_what_users_have_set_is_left():
    first, second = faults(KEEP, MALLOC_MMAP_THRESHOLD_="1000000")
    assert second > first / 2


def test_the_program_asks_for_it(monkeypatch):
    asked = []
    monkeypatch.setattr(memory, "keep_freed", lambda: asked.append(True))
    monkeypatch.setattr(sys, "argv", ["copart", "--version"])
    with pytest.raises(SystemExit):
        __main__.main()
    assert asked == [True]


def test_another_c_library_is_left_alone(monkeypatch):
    for name in memory._SET_BY_USERS:
        monkeypatch.delenv(name, raising=False)
    for library in (object(), OSError(), TypeError()):
        def load(_, library=library):
            if isinstance(library, Exception):
                raise library
            return library

        monkeypatch.setattr(ctypes, "CDLL", load)
        assert not memory.keep_freed()


def test_all_options_are_told(monkeypatch):
    told = {}

    class Library:
        def mallopt(self, option: int, value: int) -> int:
            told[option] = value
            return option != -2

    for name in memory._SET_BY_USERS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Library())
    assert not memory.keep_freed(), "one was refused"
    assert told == memory._OPTIONS
    monkeypatch.setenv("MALLOC_ARENA_MAX", "3")
    told.clear()
    assert not memory.keep_freed()
    assert not told
