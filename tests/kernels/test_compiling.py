"""Kernels compiled with what they need of numba: the same values, and numba left as it was."""

import numba
import numpy as np
import pytest
from numba import njit, types
from numba.core import errors

from copart.kernels import compiling, frontend
from copart.kernels.compiling import COMPILED_BY, KernelCompiler

from ..conftest import NO_JIT

pytestmark = pytest.mark.skipif(NO_JIT, reason="nothing is compiled without the JIT")


def compiled(function):
    return njit(**COMPILED_BY)(function)


def take(values, places, out):
    for i in range(len(places)):
        out[i] = values[places[i]]
    out[len(out) - 1] = values[len(values) - 1]
    return values[0]


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint8, np.float32, np.float64, np.bool_])
@pytest.mark.parametrize("count", [np.int32, np.int64, np.uint32])
def test_entries_are_those_that_python_takes(kind, count):
    values = np.array([0, 1, 1, 0, 1], kind) if kind is np.bool_ else np.array([7, 1, 120, 3, 5], kind)
    values.flags.writeable = False
    places = np.array([3, 0, 4, 2, 1], count)
    expected, found = np.zeros(6, kind), np.zeros(6, kind)
    assert compiled(take)(values, places, found) == take(values, places, expected)
    assert found.tolist() == expected.tolist()


def store(out, number, real, yes):
    out[0] = real
    out[1] = number
    out[2] = yes
    out[number] += 1


def test_what_is_stored_takes_the_type_of_the_array():
    for kind in (np.int32, np.int64, np.float32):
        expected, found = np.zeros(4, kind), np.zeros(4, kind)
        store(expected, 3, 2.75, True)
        compiled(store)(found, 3, 2.75, True)
        assert found.tolist() == expected.tolist()


def test_where_indices_are_checked_a_kernel_must_not_count_from_the_end():
    """Without checks, such an index is not turned into one from the front: that took a quarter of the time."""
    def last(values, i):
        return values[i]

    def put(values, i):
        values[i] = 1
    checked = [njit(**COMPILED_BY, boundscheck=True)(one) for one in (last, put)]
    values = np.arange(3)
    assert checked[0](values, 2) == 2
    for one in checked:
        with pytest.raises(IndexError, match="from the end"):
            one(values, -1)
        with pytest.raises(IndexError, match="out of bounds"):
            one(values, 3)


def rows(table, every):
    total = 0
    for i in range(len(table)):
        row = table[i]
        total += row[1] * table[i, -1]
    return total + every[1]


def test_other_arrays_are_indexed_as_numba_does_it():
    table = np.arange(12).reshape(3, 4)
    assert compiled(rows)(table, np.arange(9)[::3]) == rows(table, np.arange(9)[::3])


@pytest.mark.skipif(not numba.__version__.startswith(compiling._TRIED), reason="another numba than was tried")
def test_kernels_are_compiled_so_where_numba_has_all_that_is_needed(monkeypatch):
    assert {"pipeline_class": KernelCompiler} == COMPILED_BY
    assert compiling._possible()
    monkeypatch.setattr(compiling, "_NEEDED", (*compiling._NEEDED, (compiling.codegen, "JITCodeLibrary.gone")))
    assert not compiling._possible()
    monkeypatch.undo()
    monkeypatch.setattr(numba, "__version__", "0.99.0")
    assert not compiling._possible()


def inserted(function):
    return njit(**COMPILED_BY, inline="always")(function)


def heaviest_of(values, lo, hi):
    best = -1
    for i in range(lo, hi):
        if best < 0 or values[i] > values[best]:
            best = i
    return best


heaviest = inserted(heaviest_of) if COMPILED_BY else heaviest_of


def two_of(values):
    best = heaviest(values, 0, len(values) // 2)
    other = heaviest(values, len(values) // 2, len(values))
    return best, other, values[best] + values[other]


both = inserted(two_of) if COMPILED_BY else two_of


def test_what_becomes_part_of_others_does_so_any_number_of_times():
    """Of functions that have such parts themselves, too; every copy has variables of its own."""
    def four(values, more):
        best, other, total = both(values)
        first, last, rest = both(more)
        return best, other, first, last, total - rest
    values, more = np.array([3, 9, 4, 1, 7, 5]), np.array([2.5, 0.5, 8.0])
    expected = (*two_of_plain(values)[:2], *two_of_plain(more)[:2], two_of_plain(values)[2] - two_of_plain(more)[2])
    for _ in range(2):
        assert compiled(four)(values, more) == expected


def two_of_plain(values):
    half = len(values) // 2
    best, other = heaviest_of(values, 0, half), heaviest_of(values, half, len(values))
    return best, other, values[best] + values[other]


def wrong(values):
    return values.nothing


def test_numba_is_left_as_it_was():
    lock = compiling.codegen.ll.ffi.lib._lock

    def parts():
        replaced = [vars(of)[name] for of, name, _ in frontend._REPLACED_PARTS]
        return [errors._termcolor_inst, compiling.typeof._termcolor, lock._cblist, types.Function.get_call_type,
                frontend.inlining.copy, *replaced]
    before = parts()
    compiled(take)(np.zeros(3), np.zeros(3, np.int64), np.zeros(4))
    with pytest.raises(errors.TypingError, match="nothing"):
        compiled(wrong)(np.zeros(3))
    assert all(one is other for one, other in zip(parts(), before, strict=True))
    assert "get_call_type" not in vars(types.Function)
