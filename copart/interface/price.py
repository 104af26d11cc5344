"""What the phases of a coupled run cost: a cut edge, a datum sent over an interface, a message."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..arrays import fraction
from ..errors import ConfigError

PRICE = (1.0, 16.0, 120.0)
"""Of a cut edge, of a datum sent and of a message (its latency in units of one cell's datum) by default.

Chosen on the published experiments: 1,000 for a message lowers totZ by only 3 to 4 % more, and raises cut and volume.
"""

Price = tuple[float, float, float]
"""Of the edge cut, of volume (the mean of both ways) and of messages."""


def price_of_each(price: Sequence[float]) -> Price:
    """Cost of a cut edge (positive), of a datum and of a message, checked.

    Parameters
    ----------
    price : sequence of 3 floats

    Raises
    ------
    ConfigError
        These are not three numbers from 0 up, or the first is 0.
    """
    try:
        cut, volume, messages = price
    except (TypeError, ValueError):
        raise ConfigError(f"price: needs three numbers (cut, volume, messages), got {price!r}") from None
    if not fraction("price of the cut", cut) > 0:
        raise ConfigError("price: that of the cut must be above 0")
    return float(cut), fraction("price of volume", volume), fraction("price of messages", messages)


def price_with_busiest(price: Sequence[float]) -> NDArray[np.float64]:
    """(5,) float64 cost of a cut edge, a datum, a message, and of the busiest process' data and messages; checked.

    Parameters
    ----------
    price : sequence of 3 or 5 floats
        The last two are 0 where not given.

    Raises
    ------
    ConfigError
        These are neither three nor five numbers from 0 up.
    """
    try:
        checked = np.array(price, np.float64)
    except (TypeError, ValueError):
        checked = np.zeros(0)
    if checked.shape not in ((3,), (5,)) or not np.isfinite(checked).all() or (checked < 0).any():
        raise ConfigError("price: needs three numbers from 0 on, for cut, volume and messages, or five, the last two "
                          f"for volume and messages of the busiest process; got {price!r}")
    return np.pad(checked, (0, 5 - len(checked)))


__all__ = ["PRICE", "Price", "price_of_each", "price_with_busiest"]
