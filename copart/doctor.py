"""What a run depends on: versions, threads, the cache of compiled kernels, MPI."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "meshio", "rich", "matplotlib", "networkx", "mpi4py")

_LIBRARY = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"
_RANKS = "from mpi4py import MPI; c = MPI.COMM_WORLD; n = c.allreduce(1); print(n) if c.rank == 0 else None"


@dataclass(frozen=True)
class KernelCache:
    """State of the cache of compiled kernels.

    Attributes
    ----------
    folder : str
        Where numba keeps them, empty where it keeps none.
    kernels : int
        Number of kernels.
    missing : tuple of str
        Those that are not in the cache for this processor, or not up to date.
    damaged : tuple of str
        Files that are not what was written; they are compiled anew when they are needed.
    writable : bool
        Whether new ones can be kept.
    jit : bool
        False where ``NUMBA_DISABLE_JIT`` is set and kernels run as plain Python.
    """

    folder: str
    kernels: int
    missing: tuple[str, ...]
    damaged: tuple[str, ...]
    writable: bool
    jit: bool

    @property
    def compiled(self) -> int:
        """Number of kernels that are in the cache and up to date."""
        return self.kernels - len(self.missing)

    @property
    def cold(self) -> bool:
        """Whether a first run has most of its kernels still to compile."""
        return self.jit and self.compiled < self.kernels / 2


def kernel_cache() -> KernelCache:
    """Look at every kernel of the package; compiles nothing.

    Notes
    -----
    Where numba's own bookkeeping cannot be read, the kernels count as not compiled.
    """
    import numba

    from .kernels.cache import damaged, kept_types
    from .kernels.signatures import kernels

    jit = not getattr(numba.config, "DISABLE_JIT", 0)
    found = kernels()
    folder, missing, broken = "", [], []
    for name, kernel in found.items():
        try:
            folder = folder or str(kernel._cache.cache_path or "")
            spoilt = damaged(kernel)
            broken += spoilt
            there = not spoilt and bool(kept_types(kernel))
        except (AttributeError, OSError, EOFError, ValueError):
            there = False
        if not there:
            missing.append(name)
    return KernelCache(folder, len(found), tuple(missing), tuple(broken), bool(folder) and _writable(Path(folder)), jit)


def forget_kernels() -> None:
    """Remove the cache files of all kernels, so that each is compiled anew."""
    from .kernels.signatures import kernels

    for kernel in kernels().values():
        with suppress(AttributeError):
            kernel._cache._cache_file.flush()


def _writable(folder: Path) -> bool:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def versions() -> dict[str, str | None]:
    """Version of Python and of each package copart can use, None where it is not installed."""
    out: dict[str, str | None] = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            out[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            out[name] = None
    return out


def processors() -> int:
    """Number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def launcher() -> str | None:
    """Path of the MPI launcher: the one beside the interpreter, else the first on the path."""
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def mpi(timeout: float = 60.0) -> dict[str, Any]:
    """State of MPI: library, launcher, and the ranks that a trial launch of two has.

    Everything runs in other processes, so that a broken MPI cannot take this one along.

    Parameters
    ----------
    timeout : float
        Seconds that each of the two trials may take.
    """
    if versions()["mpi4py"] is None:
        return {"library": None, "launcher": launcher(), "ranks": 0, "problem": "mpi4py is not installed (copart[mpi])"}
    library, problem = _run([sys.executable, "-c", _LIBRARY], timeout)
    start = launcher()
    ranks = 0
    if not problem and start is None:
        problem = "no mpiexec beside the interpreter or on the path"
    elif not problem and start is not None:
        answer, problem = _run([start, "-n", "2", sys.executable, "-c", _RANKS], timeout)
        ranks = int(answer) if answer.isdecimal() else 0
        if not problem and ranks != 2:
            problem = f"{start} -n 2 gave {ranks or 'no'} ranks: launcher and library do not belong together"
    return {"library": library.splitlines()[0].strip(" \x00") if library else None, "launcher": start, "ranks": ranks,
            "problem": problem or None}


def _run(command: list[str], timeout: float) -> tuple[str, str]:
    """Output and, where it failed, the last line of what it complained about."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return "", f"{Path(command[0]).name} did not answer in {timeout:g} s"
    except OSError as error:
        return "", str(error)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        return "", lines[-1] if lines else f"exit status {done.returncode}"
    return done.stdout.strip().split("\n\n")[0], ""


__all__ = ["KernelCache", "forget_kernels", "kernel_cache", "launcher", "mpi", "processors", "versions"]
