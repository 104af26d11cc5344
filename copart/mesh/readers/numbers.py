"""Many numbers out of text at once."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray


class NotANumberError(ValueError):
    """A word that is no number; `at` is its place in the text, `word` the word."""

    def __init__(self, at: int, word: str) -> None:
        super().__init__(word)
        self.at, self.word = at, word


def numbers(text: bytes, dtype: Any) -> NDArray[Any]:
    """The numbers of a text, separated by white space.

    Parameters
    ----------
    text : bytes
    dtype : numpy.int64 or numpy.float64

    Raises
    ------
    NotANumberError
        At the first word that is none of the kind.
    """
    if not text.strip():
        return np.zeros(0, dtype)
    try:
        # numpy warns or raises, by its version, when it cannot read to the end
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return np.fromstring(text, dtype=dtype, sep=" ")
    except (ValueError, DeprecationWarning):
        kind: Any = int if np.dtype(dtype).kind == "i" else float
        at, word = 0, ""
        for found in re.finditer(rb"\S+", text):
            at, word = found.start(), found[0].decode("utf-8", "replace")
            try:
                kind(word)
            except ValueError:
                break
            if "_" in word:
                break
        raise NotANumberError(at, word[:40]) from None


def rows_of(text: bytes, width: int) -> int:
    """Upper bound of the rows of `width` numbers that a text can hold."""
    return (len(text) + 1) // (2 * width)
