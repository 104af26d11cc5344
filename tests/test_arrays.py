"""The casts and checks at the border."""

from __future__ import annotations

import numpy as np
import pytest

from copart.arrays import MAX_TOTAL, VERTEX, WEIGHT, fraction, frozen, integers, part_array, reals, weights, whole
from copart.errors import ConfigError, GraphError


@pytest.mark.parametrize("given", [[3, 1], (3, 1), np.array([3.0, 1.0]), np.array([3, 1], np.uint8),
                                   np.array([3, 9, 1])[::2]])
def test_whole_numbers_of_any_kind_are_cast(given):
    out = integers("x", given, VERTEX, GraphError)
    assert out.dtype == np.int32
    assert out.flags.c_contiguous
    assert out.tolist() == [3, 1]


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int32, np.int64])
def test_what_a_type_holds_is_kept(kind):
    extremes = [np.iinfo(kind).min, np.iinfo(kind).max]
    assert integers("x", np.array(extremes, kind), WEIGHT, GraphError).tolist() == extremes


@pytest.mark.parametrize("given", [[], np.zeros(0), np.zeros(0, object)])
def test_an_empty_array_has_the_wanted_type(given):
    out = integers("x", given, WEIGHT, GraphError, size=0)
    assert out.shape == (0,)
    assert out.dtype == np.int64


@pytest.mark.parametrize(("given", "message"), [
    ([[1, 2]], "x: needs one dimension, has shape (1, 2)"),
    (5, "x: needs one dimension, has shape ()"),
    ([1, 2.5, 3.5], "x: 2 of 3 entries are not whole numbers, first at index 1: 2.5"),
    ([1.0, np.nan], "x: 1 of 2 entries are not whole numbers, first at index 1: nan"),
    ([np.inf], "x: 1 of 1 entries are not whole numbers, first at index 0: inf"),
    ([1e30], "x: 1 of 1 entries do not fit in 64 bits, first at index 0: 1e+30"),
    (np.array([1, 2**63], np.uint64), "x: 1 of 2 entries do not fit in 64 bits, first at index 1: 9223372036854775808"),
    (["a"], "x: needs integers, has dtype <U1"),
    ([[1], [2, 3]], "x: is no array: its rows have different lengths"),
    ((i for i in range(2)), "x: needs an array or a list, got generator"),
    (None, "x: needs an array or a list, got NoneType"),
    (np.ma.array([1, 2], mask=[0, 1]),
     "x: 1 of 2 entries are masked; fill them in (numpy.ma.filled), or leave them out"),
    ([0, 2**31], "x: 1 of 2 entries do not fit in 32 bits, first at index 1: 2147483648"),
])
def test_what_is_no_array_of_integers(given, message):
    with pytest.raises(GraphError) as e:
        integers("x", given, VERTEX, GraphError)
    assert str(e.value) == message


@pytest.mark.filterwarnings("error")
def test_numbers_of_two_bytes_are_within_any_range():
    assert integers("x", np.array([0, 3], np.float16), WEIGHT, GraphError, low=0, high=2**40).tolist() == [0, 3]
    with pytest.raises(GraphError, match="are not whole numbers, first at index 1: inf"):
        integers("x", np.array([0, np.inf], np.float16), WEIGHT, GraphError)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("given", "message"), [
    ([1j], "x: needs real numbers, has dtype complex128"),
    (np.array([1], "M8[s]"), "x: needs real numbers, has dtype datetime64[s]"),
    (["a"], "x: needs numbers, has dtype <U1"),
    ([[1], [2, 3]], "x: is no array: its rows have different lengths"),
    (np.ma.array([1.0, 2.0], mask=[1, 0]),
     "x: 1 of 2 entries are masked; fill them in (numpy.ma.filled), or leave them out"),
])
def test_what_is_no_array_of_real_numbers(given, message):
    with pytest.raises(GraphError) as e:
        reals("x", given, GraphError)
    assert str(e.value) == message


def test_real_numbers_of_any_kind_are_cast():
    for given in ([1, 2], np.array([1, 2], ">f4"), np.ma.array([1.0, 2.0]), np.array([1, 0, 2], np.float16)[::2]):
        out = reals("x", given, GraphError)
        assert type(out) is np.ndarray
        assert (out.dtype, out.tolist()) == (np.float64, [1, 2])
        assert out.flags.c_contiguous


def test_ranges_and_lengths():
    with pytest.raises(GraphError, match=r"x: 1 of 3 entries are negative, first at index 2: -4"):
        integers("x", [0, 1, -4], WEIGHT, GraphError, low=0)
    with pytest.raises(GraphError, match=r"x: 1 of 2 entries are below 2, first at index 0: 1"):
        integers("x", [1, 2], WEIGHT, GraphError, low=2)
    with pytest.raises(GraphError, match=r"x: needs 3 entries, has 2"):
        integers("x", [1, 2], WEIGHT, GraphError, size=3)
    with pytest.raises(ConfigError, match=r"part: 2 of 4 entries are outside 0\.\.2, first at index 1: 3"):
        part_array("part", [0, 3, 2, -1], 4, 3, ConfigError)


def test_ranges_of_numbers_in_the_other_byte_order():
    for kind in (">i4", ">i8"):
        given = np.array([0, 2 ** (8 * np.dtype(kind).itemsize - 8)], kind)  # 1 with its bytes swapped
        with pytest.raises(ConfigError, match="first at index 1"):
            integers("cells", given, WEIGHT, ConfigError, low=0, high=3)
        with pytest.raises(ConfigError, match="first at index 0"):
            integers("weights", -given[::-1], WEIGHT, ConfigError, low=0)


def test_the_input_is_not_modified_and_frozen_is_a_view():
    given = np.array([5, 6], WEIGHT)
    view = frozen(integers("x", given, WEIGHT, GraphError))
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1
    given[0] = 7
    assert given.flags.writeable


def test_weights_stay_below_the_overflow_limit():
    assert weights("w", [MAX_TOTAL // 2, 3], 2, GraphError).tolist() == [MAX_TOTAL // 2, 3]
    with pytest.raises(GraphError, match=r"w: the sum of the weights overflows, about 2\.31e\+18; scale"):
        weights("w", [MAX_TOTAL // 2, MAX_TOTAL // 2], 2, GraphError)
    with pytest.raises(GraphError, match="are negative"):
        weights("w", [-1], 1, GraphError)


@pytest.mark.parametrize("good", [3, 3.0, np.int32(3)])
def test_whole(good):
    assert whole("k", good, low=3, high=3) == 3


@pytest.mark.parametrize("bad", [2.5, "three", None, True, np.bool_(True), float("nan"), float("inf")])
def test_not_whole(bad):
    with pytest.raises(ConfigError, match="k: needs an integer, got"):
        whole("k", bad)


def test_whole_out_of_range():
    with pytest.raises(ConfigError, match="k: must be at least 1, got 0"):
        whole("k", 0, low=1)
    with pytest.raises(ConfigError, match="k: must be at most 4, got 5"):
        whole("k", 5, high=4)


def test_fraction():
    assert fraction("eps", "0.05") == 0.05
    with pytest.raises(ConfigError, match="eps: needs a number, got 'much'"):
        fraction("eps", "much")
    with pytest.raises(ConfigError, match=r"eps: must be at least 0, got -0\.1"):
        fraction("eps", -0.1)
    with pytest.raises(ConfigError, match="eps: must be at least 0 and at most 1, got 2"):
        fraction("eps", 2, high=1)
    with pytest.raises(ConfigError, match="eps: must be at least 0, got nan"):
        fraction("eps", float("nan"))
