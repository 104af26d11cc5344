"""Memory of large arrays: that of others is never touched, and what is left is used again or goes back."""

from __future__ import annotations

import gc
import mmap
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.kernels import memory
from copart.kernels.memory import pages, reuse, seldom_filled, shortened
from copart.kgggp_ml import partition
from copart.partitioner.rounds import Team

from ..helpers import grid

PAGE = mmap.PAGESIZE
MANY = 2 * memory._SHARED  # bytes, of which half are enough for memory that is used again


def address(values: np.ndarray) -> int:
    return values.ctypes.data


@pytest.mark.parametrize("bytes_from", [1, 1 << 22])
def test_memory_for_the_worst_case_is_as_good_as_any(monkeypatch, bytes_from):
    monkeypatch.setattr(memory, "_LARGE", bytes_from)
    values = seldom_filled(1000, np.int32)
    assert (len(values), values.dtype, values.flags.writeable, values.flags.aligned) == (1000, np.int32, True, True)
    values[:] = np.arange(1000)
    assert values.sum() == 499_500


@pytest.mark.parametrize("count", [0, 10, 1 << 20])
def test_pages_are_arrays_like_others(count):
    made, usual = pages(count, np.int64), np.empty(count, np.int64)
    assert (made.shape, made.dtype) == (usual.shape, usual.dtype)
    assert made.flags.aligned
    assert made.flags.writeable
    assert made.flags.c_contiguous
    made[:] = np.arange(count)
    assert (made == np.arange(count)).all()


def test_where_the_system_gives_no_pages_numpy_is_asked(monkeypatch):
    def none(*_, **__):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(memory.mmap, "mmap", none)
    assert len(pages(1 << 20, np.int32)) == 1 << 20


def test_what_an_array_leaves_is_used_by_the_next():
    with reuse:
        first = pages(MANY, np.uint8)
        behind = pages(MANY, np.int32)
        where, beyond = address(first), address(behind)
        assert beyond == where + MANY
        del first
        again = pages(MANY - 5, np.uint8)
        assert address(again) == where
        assert address(pages(MANY, np.int32)) > beyond, "the rest is too small"
        del again, behind
        whole = pages(5 * MANY, np.uint8)
        assert address(whole) == where, "pieces side by side are one"


def test_views_hold_their_memory():
    with reuse:
        whole = pages(MANY, np.int64)
        where, part = address(whole), whole.reshape(-1, 2)[3:9]
        del whole
        assert address(pages(MANY, np.int64)) != where
        del part
        assert address(pages(MANY, np.int64)) == where


def test_what_is_behind_a_shortened_array_is_free():
    with reuse:
        values = pages(4 * MANY, np.uint8)
        values[:] = 7
        values = shortened(values, MANY + 1)
        assert (len(values), values.sum()) == (MANY + 1, 7 * (MANY + 1))
        behind = pages(MANY, np.uint8)
        assert address(behind) == address(values) + MANY + PAGE, "whole pages alone"
        behind[:] = 1
        assert values.sum() == 7 * (MANY + 1)


def test_all_goes_back_when_the_last_one_is_out():
    with reuse:
        with reuse:
            kept, left = pages(MANY, np.int64), pages(MANY, np.int64)
            kept[:], left[:] = 3, 4
            where = address(left)
            del left
        left = pages(MANY, np.int64)
        assert address(left) == where, "somebody is still inside"
        assert (left == 4).all(), "nothing was cleared in between"
        mapping = memory.reuse._mappings[0]
        del left
    assert not memory.reuse._mappings
    assert (kept == 3).all()
    first = where - mapping.start
    everything = np.frombuffer(mapping._own, np.uint8)[mapping._skipped:]
    assert not everything[first:first + 8 * MANY].any(), "pages from the system are clear"
    assert everything[:first].any()
    del kept
    gc.collect()
    assert not everything[:first].any(), "what is left later goes back, too"
    assert pages(10, np.int64).base is None


def test_an_error_inside_leaves_nothing_behind():
    @reuse
    def fail() -> None:
        pages(MANY, np.int64)
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        fail()
    assert (memory.reuse._inside, memory.reuse._mappings) == (0, [])


def test_several_threads_keep_memory_between_stages():
    for threads in (1, 2):
        with Team(threads):
            assert memory.reuse._inside == threads - 1
            with Team(3):
                assert memory.reuse._inside == threads
        assert memory.reuse._inside == 0


def test_functions_may_be_inside():
    @reuse
    def work() -> tuple[int, np.ndarray]:
        """Doc."""
        return memory.reuse._inside, pages(MANY, np.uint8)

    assert (work()[0], work.__doc__, memory.reuse._inside) == (1, "Doc.", 0)


def test_more_than_a_mapping_holds(monkeypatch):
    monkeypatch.setattr(memory, "_MAPPED", 4 * MANY)
    with reuse:
        made = [pages(MANY, np.int16) for _ in range(300)]
        for i, one in enumerate(made):
            one[:] = i
        assert all((one == i).all() for i, one in enumerate(made))
        sizes = [one.size for one in memory.reuse._mappings]
        assert len(sizes) < 12
        assert sizes == sorted(sizes)
        assert sum(sizes) < 3 * 300 * 2 * MANY


steps = st.lists(st.tuples(st.sampled_from(["make", "drop", "shorten", "view"]), st.integers(0, 40),
                           st.integers(1, 5 * MANY)), max_size=60)


@given(steps)
def test_no_array_ever_touches_another(steps):
    """Each is filled with a value of its own, which stays there whatever is made and left beside it."""
    held: list[tuple[int, np.ndarray, bool]] = []
    with reuse:
        for value, (step, which, size) in enumerate(steps):
            if step == "make" or not held:
                one = pages(size, np.int32)
                one[:] = value
                held.append((value, one, True))
            else:
                value, one, whole = held.pop(which % len(held))
                if step == "shorten" and whole:
                    held.append((value, shortened(one, min(size, len(one))), True))
                elif step == "view":
                    held.append((value, one[len(one) // 2:], False))
                del one
            assert all((one == value).all() for value, one, _ in held)
    assert all((one == value).all() for value, one, _ in held)


def test_threads_share_what_they_leave():
    wrong: list[int] = []

    def work(value: int) -> None:
        rng = np.random.default_rng(value)
        for turn in range(60):
            with reuse:
                made = [pages(int(rng.integers(MANY, 3 * MANY)), np.uint8) for _ in range(4)]
                for one in made:
                    one[:] = value
                if turn % 3:
                    made[1] = shortened(made[1], MANY // 2)
                if any((one != value).any() for one in made):
                    wrong.append(value)

    threads = [threading.Thread(target=work, args=(value,)) for value in range(1, 5)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong
    assert (memory.reuse._inside, memory.reuse._mappings) == (0, [])


def test_a_part_that_users_get_is_numpys_own():
    """Else it would keep addresses reserved for all arrays of its partition."""
    part = partition(grid(150, 150), 4)
    assert part.nbytes > memory._SHARED
    assert part.base is None
    assert (memory.reuse._inside, memory.reuse._mappings) == (0, [])
