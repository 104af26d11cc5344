"""What a part may weigh: exact, whatever the decimal number, and never less than there is a partition for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.errors import ConfigError
from copart.metrics import copartition_limit, max_part_weight, max_part_weights, part_room
from copart.metrics.balance import UNLIMITED, allowed_weight

EPS = st.sampled_from(["0", "0.01", "0.03", "0.05", "0.1", "0.15", "0.3", "1.0"])


@given(st.integers(0, 10**15), st.integers(1, 10**6), EPS)
def test_the_three_limits_from_their_definitions(total, nparts, eps):
    slack, average = 1 + Fraction(eps), Fraction(total, nparts)
    ceiling = -(-total // nparts)
    assert max_part_weight(total, nparts, float(eps)) == slack * ceiling // 1
    assert part_room(total, nparts, float(eps)) == slack * average // 1
    limit = copartition_limit(total, nparts, float(eps))
    assert limit == max(ceiling, slack * average // 1)
    assert limit <= max_part_weight(total, nparts, float(eps))
    assert limit * nparts >= total, "all of it fits"


def test_decimal_numbers_count_as_they_are_written():
    assert allowed_weight(100, 0.15) == 115
    assert allowed_weight(Fraction(100, 3), 0.05) == 35
    assert max_part_weights(100, 3, 0.0, [1, 1, 1]).tolist() == [34, 34, 34]
    assert max_part_weights(10, 2, 0.1, [0.3, 0.7]).tolist() == [3, 7]
    for total in (10**12, 8 * 10**12, 2**52):  # what is taken off for rounding is never a whole unit
        assert max_part_weights(total, 1, 0.0, [1]).tolist() == [total]
    for total, share in ((6 * 10**12, [1, 1]), (6 * 10**12, [2, 1]), (10**17 + 7, [3, 1, 1]), (2**61, [1] * 7)):
        assert sum(max_part_weights(total, len(share), 0.0, share).tolist()) >= total, "all of it fits"
    assert max_part_weights(2**60, 1, 1e9).tolist() == [UNLIMITED]


@pytest.mark.parametrize(("eps", "tpwgts", "message"), [
    (-1, None, "eps: must be at least 0"), (np.inf, None, "eps"), (0, [1, 0], "1 shares are not positive, first at"),
    (0, [1], "tpwgts: needs 2 entries"), (0, "half", "tpwgts: needs an array or a list, got str")])
def test_refusals(eps, tpwgts, message):
    with pytest.raises(ConfigError, match=message):
        max_part_weights(10, 2, eps, tpwgts)
