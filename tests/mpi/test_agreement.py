"""No rank waits for one that has raised: where arguments are wrong or differ, all ranks raise the same error."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

import copart.mpi
from copart.errors import FormatError
from copart.mpi.agreement import _as_told, _made
from copart.mpi.arguments import digest

from ..helpers import ROOT
from .disagreements import MODULES, OTHER, OWN, RANKS, WRONG, Case, cases

#: Modules of copart.mpi that are not called from outside.
#: Exchanges, Multi-Jagged, graphs and geometric mapping have tests of their own (test_exchange.py, test_multijagged.py,
#: test_partitioning.py, test_placing.py).
INSIDE = {"agreement", "arguments", "cutting", "device", "exchange", "fields", "halo", "line", "members", "messages",
          "partitioning", "placing", "refining", "regions", "results", "rows", "schedules", "seats", "sides"}
ALL = [(number, case) for function in MODULES for number, case in enumerate(cases(function))]


@cache
def answers(launcher: str, function: str) -> dict[int, tuple[list[list[object]], bool]]:
    """By number of the case what the ranks got, and whether the communicator still worked; up to where one hangs."""
    try:
        done = subprocess.run([launcher, "-n", str(RANKS), sys.executable, "-m", "mpi4py", "-m",
                               "tests.mpi.disagreements", function], capture_output=True, cwd=ROOT, timeout=120,
                              check=False)
        out = done.stdout
    except subprocess.TimeoutExpired as late:
        out = late.stdout or b""
    lines = [json.loads(line) for line in out.decode().splitlines() if line.startswith("[")]
    return {i: (told, works) for i, told, works in lines}


@pytest.mark.parametrize(("number", "case"), ALL, ids=[f"{c.function}-{c.name}"[:80] for _, c in ALL])
def test_all_ranks_answer_alike(launcher, compiled, number: int, case: Case):
    found = answers(launcher, case.function)
    assert number in found, f"hangs, or one of the {number} cases before does; {len(found)} were answered"
    told, works = found[number]
    assert works, "the communicator does not work afterwards"
    if case.error is None:
        assert [kind for kind, _ in told] == [None] * RANKS, told
        return
    if case.kind == "communicator" and case.gives == "self":
        assert all(kind for kind, _ in told)
        return
    assert [kind for kind, _ in told] == [case.error] * RANKS, told
    assert len({text for _, text in told}) == 1, told
    text = str(told[0][1])
    if case.kind == "communicator":
        assert text.startswith("comm: ")
    elif case.kind in ("other", "call"):
        name, ranks = text.split(":")[0], re.findall(r"on rank (\d)", text)
        assert case.kind == "call" or case.argument in name, text
        assert len(ranks) == 2, text
        assert str(case.rank) in ranks, text
    else:
        assert text.startswith(f"rank {case.rank}: "), text
        if case.kind in ("unknown", "missing"):
            assert f"{case.function}() " in text
            assert repr(case.argument) in text


def test_every_argument_of_every_function_has_its_cases():
    modules = [m.name for m in pkgutil.iter_modules(copart.mpi.__path__) if m.name not in INSIDE]
    assert set(modules) == set(MODULES.values())
    loaded = [importlib.import_module(f"copart.mpi.{module}") for module in modules]
    functions = {name: getattr(module, name) for module in loaded for name in module.__all__
                 if inspect.isfunction(getattr(module, name))}
    assert set(functions) == set(MODULES)
    for name, function in functions.items():
        parameters = set(inspect.signature(function).parameters) - {"comm"}
        assert set(WRONG[name]) == parameters, f"{name}: give a wrong value of every argument"
        assert set(OTHER[name]) | set(OWN[name]) == parameters, f"{name}: give another value of every argument"
        assert {case.gives for case in cases(name) if case.argument == "comm"} >= {"none", "word", "null", "freed"}


def test_digests_tell_values_apart_and_know_equal_ones():
    apart = [None, True, 1, 1.0, "1", [1], [[1]], [1, 1], "", [], ["", ""], [""], np.array([1]), np.array([[1]]),
             np.array([1.0]), np.array([True]), 2**63, -1, np.array([-1]), float("inf"), ["ab", "c"], ["a", "bc"]]
    assert len({digest(value) for value in apart}) == len(apart)
    for same in ([1, np.int8(1), np.uint64(1)], [1.5, np.float32(1.5), np.float64(1.5)], ["a", np.str_("a")],
                 [(1, 2), [1, 2]], [True, np.bool_(True)], [np.array([1, 2], np.int8), np.array([1, 2], ">i8")],
                 [np.arange(6.0)[::2], np.array([0, 2, 4], np.float32)], [2**63, np.array([2**63], np.uint64)[0]]):
        assert len({digest(value) for value in same}) == 1, same
    # what ranks of another process, started with another seed of hash(), must find
    assert digest("best") == 10517127283376130183
    with pytest.raises(TypeError, match="object cannot be compared"):
        digest(object())


def test_an_agreement_is_one_small_reduction(launcher):
    code = """
from unittest import mock
from mpi4py import MPI
from copart.mpi import agreement
with mock.patch.object(agreement, "_reduce", wraps=agreement._reduce) as reduce:
    assert agreement.agree(MPI.COMM_WORLD, "step", lambda: ("mine", {"a": 1, "b": "c"})) == "mine"
print(reduce.call_count, reduce.call_args.args[1].nbytes)
"""
    done = subprocess.run([launcher, "-n", "1", sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT,
                          timeout=120, check=False)
    assert done.stdout.split() == ["1", "200"], done.stderr


def test_errors_that_need_more_than_a_message_are_told_as_what_they_derive_from():
    def told(error: Exception) -> tuple[str, object]:
        return _as_told(error)

    class Private(copart.MappingError):
        pass

    assert told(MemoryError()) == ("MemoryError", "MemoryError")
    assert told(copart.ConfigError("a: b")) == ("ConfigError", "a: b")
    assert told(Private("a")) == ("MappingError", "Private: a")
    assert told(FormatError("x.txt", "is empty", 3)) == ("FormatError", ("x.txt", "is empty", 3))
    again = _made(FormatError, "rank 3: ", ("x.txt", "is empty", 3))
    assert (str(again), again.path, again.line) == ("rank 3: x.txt:3: is empty", "x.txt", 3)
    assert told(KeyError("a")) == ("LookupError", "KeyError: 'a'")
    assert told(UnicodeDecodeError("utf-8", b"x", 0, 1, "why"))[0] == "UnicodeError"
    assert told(Exception("a")) == ("RuntimeError", "Exception: a")
