"""Kernels compiled with what they need of numba: the same values, and numba left as it was."""

from typing import Any, NamedTuple

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

    def inside(values, i):
        return values.reshape(1, 3)[0, i]

    def row(values, i):
        return values.reshape(3, 1)[i][0]

    def front(values, i):
        return values[:i][0]

    def back(values, i):
        return values[i:][0]
    checked = [njit(**COMPILED_BY, boundscheck=True)(one) for one in (last, put, inside, row, back, front)]
    values = np.arange(3)
    assert [one(values, 2) for one in checked] == [2, None, 1, 1, 1, 0]
    for one in checked:
        with pytest.raises(IndexError, match="from the end"):
            one(values, -1)
    for one in checked[:-1]:
        with pytest.raises(IndexError, match="out of bounds"):
            one(values, 3)


def strides(columns, deep, every):
    total = 0
    for i in range(len(columns)):
        row = columns[i]
        total += row[1] * columns[i, -1] + deep[i, 1, -2] * len(deep[i])
    return total + every[1] * every[-1] + len(every[::-1])


def test_other_arrays_are_indexed_as_numba_does_it():
    given = np.asfortranarray(np.arange(12).reshape(3, 4)), np.arange(24).reshape(3, 2, 4), np.arange(9)[::3]
    assert compiled(strides)(*given) == strides(*given)


def table_of(table, kind, yes, out):
    """Rows, entries of rows, lengths, and what is stored in all of them."""
    total = 0.0
    for i in range(len(table)):
        row = table[i]
        for j in range(len(row)):
            total += row[j] * (i + 1) + table[i, kind[j]] + table[0, 1]
            out[i, kind[j]] += table[i, j]
        out[i][0] = row[len(row) - 1]
        table[i, 1] = yes
        out[(i,)] += 1
    out[2, 3] = 2.5
    for value in out[1]:
        total += value
    out[0] = 3
    return total + len(out) + out.shape[1]


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.float64, np.bool_])
@pytest.mark.parametrize("count", [np.int32, np.int64, np.uint32])
def test_tables_are_as_python_has_them(kind, count):
    places = np.array([2, 0, 3, 1], count)
    tables = [(np.arange(12).reshape(3, 4) % 5).astype(kind) for _ in range(2)]
    outs = [np.zeros((3, 4)) for _ in range(2)]
    expected = table_of(tables[0], places, True, outs[0])
    assert compiled(table_of)(tables[1], places, True, outs[1]) == expected
    assert np.array_equal(tables[0], tables[1])
    assert np.array_equal(outs[0], outs[1])


def pieces(values, lo, hi, out):
    """Pieces of a row, and of pieces; sums and lengths of them, and what is stored there."""
    middle, front, rest = values[lo:hi], values[:hi], values[lo:]
    out[0], out[1], out[2] = len(middle), front.size, rest.nbytes
    for value in middle:
        out[3] += value
    for i in range(len(front)):
        out[4] += front[i] * (i + 1)
    inner = rest[1:3]
    out[5] = len(inner)
    if len(inner) > 1:
        inner[1] = 77
        out[6] = inner.sum()
    whole = values[:]
    out[7] = len(whole[::2]) + len(whole[: len(whole)])
    return rest


@pytest.mark.parametrize("kind", [np.int32, np.float64])
@pytest.mark.parametrize(("lo", "hi"), [(0, 0), (2, 5), (0, 8), (5, 2), (7, 30), (8, 8), (9, 11), (20, 3)])
def test_pieces_of_arrays_end_where_these_do(kind, lo, hi):
    values = [np.arange(8).astype(kind) for _ in range(2)]
    outs = [np.zeros(8) for _ in range(2)]
    rest = [pieces(values[0], lo, hi, outs[0]), compiled(pieces)(values[1], lo, hi, outs[1])]
    assert np.array_equal(*values)
    assert np.array_equal(*outs)
    assert np.array_equal(*rest)
    assert np.shares_memory(rest[1], values[1]) == bool(len(rest[0]))


class Inner(NamedTuple):
    key: Any
    size: Any


class Outer(NamedTuple):
    first: Any
    inner: Any
    many: Any


def fields(given, other, turns):
    """Fields of tuples in tuples, of tuples that are put together within loops, and of one or the other."""
    total = 0
    mine = given
    for i in range(turns):
        chosen = given if i % 2 else other
        total += chosen.first[i % 2] * (i + 1) + chosen.inner.key[0, i % 3] + chosen.inner.size
        former, mine = mine, Outer(chosen.first[1:], Inner(chosen.inner.key, i), chosen.many)
        total += former.inner.size + former.first[0] + len(mine.first) + mine.many[1] + mine[2][0]
        mine.inner.key[1, 2] += total
    return total, mine


def test_fields_of_tuples():
    def made(add):
        return Outer(np.arange(5) + add, Inner(np.arange(6).reshape(2, 3) + add, add), (3 + add, 4))
    given, other = [made(1), made(5)], [made(1), made(5)]
    expected, found = fields(*given, 5), compiled(fields)(*other, 5)
    assert expected[0] == found[0]
    assert found[1].inner.size == 4
    assert all(np.array_equal(one.inner.key, two.inner.key) for one, two in zip(given, other, strict=True))


def spans(lo, hi, step, small, out):
    """Loops over ranges of every kind: sums of what each gave."""
    ways = range(lo, hi), range(hi, lo, step)
    for i in range(hi):
        out[0] += i + 1
    for i in ways[0]:
        out[1] += i + 1
        for _ in range(i, hi):
            if i % 3 == 2:
                continue
            out[2] += 1
    for i in ways[1]:
        out[3] += i * i + 1
    for i in range(lo, hi, step):
        out[4] += i + 1
    either = range(lo, hi) if step > 0 else range(hi, lo)
    for i in either:
        out[5] += i + 1
        if out[5] > 20:
            break
    for i in range(small[0], small[1]):
        out[6] += i
    else:
        out[6] += 1
    for i in evens(lo, hi):
        out[7] += i + 1


def evens_of(lo, hi):
    return range(lo, hi, 2)


evens = compiled(evens_of)


@pytest.mark.parametrize("hi", [-3, 0, 1, 9])
@pytest.mark.parametrize("lo", [-2, 0, 4])
@pytest.mark.parametrize("step", [-2, 1, 3])
def test_loops_over_ranges_are_gone_through_as_in_python(lo, hi, step, monkeypatch):
    """With steps or without, from one variable or two, empty ones too; narrow and unsigned numbers, and other sums."""
    small = np.array([max(lo, 0), max(hi, 0)], np.uint32)
    given, expected = np.zeros(8, np.int64), np.zeros(8, np.int64)
    compiled(spans)(lo, hi, step, small, given)
    monkeypatch.setitem(globals(), "evens", evens_of)
    spans(lo, hi, step, small, expected)
    assert given.tolist() == expected.tolist()


def test_a_range_without_an_end_of_its_steps_is_refused():
    def never(step):
        total = 0
        for i in range(0, 5, step):
            total += i
        return total
    with pytest.raises(ValueError, match="must not be zero"):
        compiled(never)(0)


def held(count):
    """Arrays that are made, handed on and let go within loops, by names that are written in several places."""
    kept = np.zeros(3)
    for i in range(count):
        new = np.full((2, 4), float(i))[i % 2][:3]
        if i % 2:
            new, kept = kept, new
        for value in new:
            kept[i % 3] += value
        other = new if i % 3 else kept.copy()
        for place, value in enumerate(other):
            kept[place] += value + other[0]
    return kept


def test_arrays_are_let_go_once():
    from numba.core.runtime import _nrt_python, rtsys

    run = compiled(held)
    assert np.array_equal(run(11), held(11))
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        for _ in range(5):
            run(200)
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 1000


def branches(values):
    """A variable that is written in many places, and read where several of them lead to."""
    state, last = 0, -1
    for value in values:
        if value > 5:
            state, last = last + 1, value
        elif value > 3:
            last = state - value
        while state > 4:
            state -= 3
            if last == 2:
                last += state
                break
        else:
            if value % 2:
                last, state = state + 1, last
    return state, last


def test_variables_that_are_written_in_many_places():
    rng = np.random.default_rng(3)
    run = compiled(branches)
    for _ in range(50):
        values = rng.integers(0, 9, 40)
        assert run(values) == branches(values)


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
