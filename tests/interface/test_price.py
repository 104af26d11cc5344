"""Prices of cut, volume and messages."""

from __future__ import annotations

import pytest

from copart.errors import ConfigError
from copart.interface.price import PRICE, price_of_each, price_with_busiest


def test_prices_are_numbers():
    assert price_of_each((2, 0, 1)) == (2.0, 0.0, 1.0)
    assert price_with_busiest(PRICE).tolist() == [*PRICE, 0, 0]
    assert price_with_busiest((0, 1, 2, 3, 4)).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("price", "message"), [
    ((1, 2), "price: needs three numbers"), (7, "price: needs three numbers"),
    ((0, 1, 1), "that of the cut must be above"),
    ((1, -1, 1), "price of volume: must be at least 0"), ((1, 1, "dear"), "price of messages: needs a number")])
def test_refusals_of_three(price, message):
    with pytest.raises(ConfigError, match=message):
        price_of_each(price)


@pytest.mark.parametrize("price", [(1, 2), (1, 2, 3, 4), (1, -2, 3), (1, 2, float("nan")), "cut", None])
def test_refusals_of_five(price):
    with pytest.raises(ConfigError, match="price: needs three numbers from 0 on"):
        price_with_busiest(price)
