"""Numbers as words of the command line: wrong ones are refused with the option's name, before anything is read."""

from __future__ import annotations

from argparse import ArgumentTypeError
from math import isfinite

#: No count, weight or seed of copart is above this; what an option allows may be less.
LARGEST = 2**63 - 1


def integer(word: str) -> int:
    """A whole number that fits in 64 bits."""
    try:
        number = int(word)
    except ValueError:
        raise ArgumentTypeError(f"needs a whole number, got {word[:40]!r}") from None
    if abs(number) > LARGEST:
        raise ArgumentTypeError(f"must be at most {LARGEST}, got {word[:40]}")
    return number


def real(word: str) -> float:
    """A finite number."""
    try:
        number = float(word)
    except ValueError:
        raise ArgumentTypeError(f"needs a number, got {word[:40]!r}") from None
    if not isfinite(number):
        raise ArgumentTypeError(f"needs a finite number, got {word[:40]}")
    return number


def tolerance(word: str) -> float:
    """An imbalance that is allowed: a fraction below 1, or in per cent."""
    from ..arrays import tolerance as checked
    from ..errors import ConfigError

    try:
        return checked("eps", word)
    except ConfigError as error:
        raise ArgumentTypeError(str(error).removeprefix("eps: ")) from None


__all__ = ["integer", "real", "tolerance"]
