"""What readers of netCDF files share: variables that the file can hold, and errors that name it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError
from ..polyhedra import Ints
from .ending import check_heaps
from .hdf5 import read_as

_MOST = 500
"""Entries that a byte of the file can stand for at most, compressed."""


class Variables:
    """The variables of one file.

    Attributes
    ----------
    path : Path
    data : netCDF4.Dataset
    """

    def __init__(self, path: Path, data: Any) -> None:
        self.path, self.data = path, data
        self.limit = _MOST * path.stat().st_size + 100_000

    def __contains__(self, name: object) -> bool:
        return name in self.data.variables

    def dimensions(self, name: str) -> tuple[str, ...]:
        """The names of the dimensions of a variable, outermost first."""
        return tuple(self.data.variables[name].dimensions)

    def said(self, name: str, attribute: str) -> str:
        """What an attribute of a variable says, in small letters; empty where there is none."""
        return str(getattr(self.data.variables[name], attribute, "")).strip().lower()

    def values(self, name: str) -> NDArray[Any]:
        """A variable, if there is one, and the file can hold it."""
        if name not in self:
            raise FormatError(self.path, f"has no variable {name}")
        variable = self.data.variables[name]
        if int(np.prod(variable.shape, dtype=np.float64)) > self.limit:
            raise FormatError(self.path, f"variable {name} of shape {variable.shape} is larger than the file can hold")
        return np.asarray(variable[...])

    def integers(self, name: str) -> Ints:
        """A variable of whole numbers."""
        values = self.values(name)
        if values.dtype.kind not in "iu":
            raise FormatError(self.path, f"variable {name} needs whole numbers, has {values.dtype}")
        return values.astype(np.int64)


@contextmanager
def variables_of(path: Path, kind: str) -> Iterator[Variables]:
    """The variables of a file of this kind.

    Raises
    ------
    FormatError
        The package netCDF4 is missing, or what is done with the variables fails.
    """
    with read_as(path, kind, "netCDF4"):
        import netCDF4

        check_heaps(path)
        with netCDF4.Dataset(path) as data:
            data.set_auto_mask(False)
            yield Variables(path, data)


__all__ = ["Variables", "variables_of"]
