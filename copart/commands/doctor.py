"""``copart doctor``."""

from __future__ import annotations

import argparse
from typing import Any

from .console import Console
from .paths import Paths

EPILOG = """\
The first run of a command compiles the kernels it needs, which takes up to a
minute, and keeps them; --warm does that for all of them at once.
"""

EFFECTS = ()
PATHS = Paths()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--warm", action="store_true", help="compile every kernel now")


def run(args: argparse.Namespace, console: Console) -> int:
    """Show (or with ``--warm`` first complete) what runs depend on."""
    from .. import __version__, doctor

    if args.warm:
        from ..warm import compile_all

        with console.progress() as progress:
            compile_all(progress.compiling)
    cache, mpi, versions = doctor.kernel_cache(), doctor.mpi(), doctor.versions()
    console.say(f"copart      {__version__}")
    for name, version in versions.items():
        console.say(f"{name:<11} {version or '- not installed'}")
    console.say(f"processors  {doctor.processors()}")
    note = "; the others when they are first used, or by copart doctor --warm" if cache.cold else ""
    note = note if cache.jit else "; NUMBA_DISABLE_JIT is set, they run as plain Python"
    console.say(f"kernels     {cache.compiled} of {cache.kernels} compiled{note}")
    if cache.damaged:
        console.say(f"damaged     {len(cache.damaged)} files, {cache.damaged[0]} first; compiled anew when needed, or "
                    "by copart doctor --warm")
    frozen = "" if cache.writable or not cache.folder else " (read-only)"
    console.say(f"cache       {cache.folder or '- none'}{frozen}")
    console.say(f"MPI         {mpi['library'] or '- none'}")
    answer = f", {mpi['ranks']} ranks answer" if mpi["ranks"] else ""
    console.say(f"launcher    {mpi['launcher'] or '- none'}{answer}")
    if mpi["problem"]:
        console.say(f"            {mpi['problem']}")
    payload: dict[str, Any] = {"copart": __version__, "versions": versions, "processors": doctor.processors(),
                               "cache": {**vars(cache), "compiled": cache.compiled, "cold": cache.cold}, "mpi": mpi}
    console.result(payload)
    return 0
