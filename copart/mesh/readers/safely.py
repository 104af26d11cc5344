"""Meshes of unknown origin are read in a process of their own, with limits of time and memory.

Formats such as MED, XDMF and Exodus are read by libraries in C, which a damaged or hostile file can send into an
endless loop, an allocation of all memory or a crash.  In a child process that ends in one error.  (A file made to take
over the child can still answer what it likes: this is a fence against accidents, and no sandbox.)
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...errors import CopartError, FormatError

if TYPE_CHECKING:
    from ..value import Mesh


#: What the other process runs.
CHILD = "copart.mesh.readers.child"


class Limits(NamedTuple):
    """What reading one file may take."""

    seconds: float
    gigabytes: float


_limits: ContextVar[Limits | None] = ContextVar("limits", default=None)


@contextlib.contextmanager
def reading_safely(seconds: float = 300.0, gigabytes: float = 8.0) -> Iterator[None]:
    """While this lasts, every mesh file is read in a child process (``--safe``).

    Parameters
    ----------
    seconds : float
        Time that one file may take.
    gigabytes : float
        Memory that reading it may take.

    Examples
    --------
    >>> from copart.mesh import cube, read_mesh, reading_safely, write_vtu
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, reading_safely(seconds=60):
    ...     read_mesh(write_vtu(f"{folder}/mesh.vtu", cube("hexa", 2))).ncells
    8
    """
    token = _limits.set(Limits(seconds, gigabytes))
    try:
        yield
    finally:
        _limits.reset(token)


def limits() -> Limits | None:
    """The limits that are in force; None where files are read in this process."""
    return _limits.get()


def read_in_child(path: Path, within: Limits) -> Mesh:
    """What the file holds, as read by another process.

    Raises
    ------
    FormatError
        What the reader says; or a limit was reached, or the process has crashed.
    """
    with tempfile.TemporaryDirectory(prefix="copart-") as folder:
        answer = Path(folder) / "answer"
        command = [sys.executable, "-m", CHILD, str(path), str(answer), str(within.gigabytes)]
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                                  timeout=within.seconds, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        except subprocess.TimeoutExpired:
            raise FormatError(path, f"was not read within {within.seconds:g} seconds") from None
        if not answer.exists():
            how = f"by {signal.Signals(-done.returncode).name}" if done.returncode < 0 else f"with {done.returncode}"
            raise FormatError(path, f"cannot be read: the process that read it has ended {how}, perhaps at its limit "
                                    f"of {within.gigabytes:g} GB")
        found = pickle.loads(answer.read_bytes())
    if isinstance(found, CopartError):
        raise found
    mesh: Mesh = found
    return mesh


__all__ = ["limits", "read_in_child", "reading_safely"]
