"""Things that files call by numbers, in any order and with gaps."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...errors import FormatError
from ..polyhedra import Ints


class Numbered:
    """The numbers of nodes, or of entities of a kind, and where each is.

    Parameters
    ----------
    path : Path
    what : str
        What they are the numbers of, for messages.
    numbers : (n,) int64

    Raises
    ------
    FormatError
        One is given more than once.
    """

    def __init__(self, path: Path, what: str, numbers: Ints) -> None:
        self.path, self.what = path, what
        self.order = np.argsort(numbers, kind="stable")
        self.known = numbers[self.order]
        twice = self.known[1:] == self.known[:-1]
        if twice.any():
            raise FormatError(path, f"{what} {int(self.known[1:][twice][0])} is given more than once")

    def places(self, wanted: Ints, where: str, line: int | None = None) -> Ints:
        """The place of each number.

        Parameters
        ----------
        wanted : (n,) int64
        where : str
            Who names them, for messages.
        line : int, optional
            Where in the file.

        Raises
        ------
        FormatError
            One is not there.
        """
        if len(self.known) == 0 and len(wanted):
            raise FormatError(self.path, f"{where} names {self.what} {int(wanted[0])}, which is not defined", line)
        at = np.minimum(np.searchsorted(self.known, wanted), max(len(self.known) - 1, 0))
        bad = self.known[at] != wanted
        if bad.any():
            raise FormatError(self.path, f"{where} names {self.what} {int(wanted[bad][0])}, which is not defined", line)
        return self.order[at]


__all__ = ["Numbered"]
