"""HDF5 and netCDF files of meshes: opened with care, and what goes wrong in them said in one way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import CopartError, FormatError
from ..value import Mesh
from .ending import check_hdf5

DAMAGED = (OSError, RuntimeError, KeyError, IndexError, ValueError, AttributeError, TypeError, OverflowError)
"""What h5py and netCDF4 raise where a file is damaged."""


@contextmanager
def read_as(path: Path, file_format: str, package: str) -> Iterator[None]:
    """What goes wrong while a file is read by a package, the import of that package included, as one error.

    Raises
    ------
    FormatError
        The package is missing, or the file is not a usable mesh.
    """
    try:
        yield
    except ImportError:
        raise FormatError(path, f"{file_format} files need the package {package}: pip install 'copart[mesh]'") from None
    except FormatError:
        raise
    except CopartError as error:
        raise FormatError(path, str(error)) from None
    except DAMAGED as error:
        raise FormatError(path, f"cannot be read as {file_format}: {' '.join(str(error).split())}") from None


def read_hdf5(path: Path, file_format: str, read: Callable[[Any], Mesh]) -> Mesh:
    """What `read` makes of an open file.

    Parameters
    ----------
    path : Path
    file_format : str
        As messages name it.
    read : callable
        Takes the ``h5py.File``.

    Raises
    ------
    FormatError
        The package h5py is missing, or the file is not a usable mesh.
    """
    with read_as(path, file_format, "h5py"):
        import h5py

        check_hdf5(path)
        with h5py.File(path, "r") as data:
            return read(data)
