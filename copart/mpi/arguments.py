"""Arguments of one rank: checked by name, and made comparable between ranks."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..errors import ConfigError, CopartError

_DTYPES = {"b": "|b1", "i": "<i8", "f": "<f8"}


def check_communicator(comm: Any) -> None:
    """Raise, on this rank only, where there is nothing to communicate with."""
    from mpi4py import MPI

    if isinstance(comm, MPI.Comm) and comm == MPI.COMM_NULL:
        raise ConfigError("comm: is the null communicator, or was freed")
    if not isinstance(comm, MPI.Intracomm):
        raise TypeError(f"comm: needs an mpi4py.MPI.Intracomm, got {type(comm).__name__}")


@contextmanager
def argument(name: str) -> Iterator[None]:
    """Put the name of an argument before what Python or NumPy say about it."""
    try:
        yield
    except CopartError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ConfigError
        raise kind(f"{name}: {error}") from error


def digest(value: Any) -> int:
    """64 bits of a value, the same in every process and on every machine; 1, 1.0, True and "1" are four values."""
    return int.from_bytes(hashlib.blake2b(_canonical(value), digest_size=8).digest(), "little")


def _canonical(value: Any) -> bytes:
    """Bytes that say what a value is, not how it is stored: integers of any width are equal, as are all floats."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in _DTYPES:
            return _canonical(value.tolist())
        plain = np.ascontiguousarray(value, _DTYPES[value.dtype.kind])
        return f"array {plain.dtype.str} {value.shape} ".encode() + plain.tobytes()
    if isinstance(value, (list, tuple)):
        return f"sequence {len(value)} ".encode() + b"".join(_canonical(v) for v in value)
    if value is None:
        return b"none "
    if isinstance(value, (bool, np.bool_)):
        return f"bool {int(value)} ".encode()
    if isinstance(value, Integral):
        return f"int {int(value)} ".encode()
    if isinstance(value, Real):
        return b"float " + struct.pack("<d", float(value))
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        return f"str {len(text)} ".encode() + text
    raise TypeError(f"{type(value).__name__} cannot be compared between ranks")


__all__ = ["argument", "check_communicator", "digest"]
