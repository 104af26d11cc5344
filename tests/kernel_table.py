"""The table of kernels that are compiled ahead, made anew: ``python -m tests.kernel_table``, some minutes.

Every stage is run with an empty cache, which tells for which types its kernels are compiled and how long that takes,
then the usual commands, which tells what each of them uses.  ``--used`` does the latter alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .helpers import ROOT

TABLE = ROOT / "copart" / "warm" / "table.json"

#: What a first user does, by command; each is run by itself, in this order and in one folder.
COMMANDS = {
    "part": ["part", "b.vtu", "16"],
    "plan": ["plan", "a.vtu", "b.vtu", "--parts", "4", "8", "-o", "plan"],
    "replan": ["replan", "plan", "--parts", "8", "4", "-o", "again"],
    "repart": ["repart", "b.vtu", "b.vtu.part.16", "20"],
    "map": ["map", "a.vtu", "--machine", "m.tgt"],
    "check": ["check", "plan"],
    "compare": ["compare", "a.vtu", "b.vtu", "--parts", "4", "8", "--seeds", "1"],
    "ranks": ["ranks", "sent.txt", "--nodes", "16", "--slots", "16"],
    "grid": ["grid", "--dims", "12x11x8", "--nodes", "33"],
}
_RUN = """
import json, sys
from tests import kernel_table
print(json.dumps(kernel_table.{what}))
"""


def compiled() -> dict[str, Any]:
    """Run every stage; the types and seconds of each kernel."""
    from numba.core import event

    from copart.kernels.cache import kept_types
    from copart.kernels.signatures import encoded, kernels, name_of
    from copart.warm import steps

    seconds: dict[str, float] = {}
    inner: list[float] = []

    class Exclusive(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            inner.append(0.0)
            event.data["begin"] = time.thread_time()

        def on_end(self, event: Any) -> None:
            spent = time.thread_time() - event.data["begin"]
            kernel = event.data["dispatcher"]
            seconds[name_of(kernel)] = seconds.get(name_of(kernel), 0.0) + spent - inner.pop()
            if inner:
                inner[-1] += spent

    with event.install_listener("numba:compile", Exclusive()):
        for _, step in steps():
            step()
    return {name: {"types": sorted(([encoded(one) for one in types] for types in kept_types(kernel)), key=str),
                   "seconds": round(seconds.get(name, 0.0), 1)}
            for name, kernel in kernels().items() if kept_types(kernel)}


def loaded(command: list[str]) -> dict[str, Any]:
    """Run a command; how many kernels it has compiled, and the number of signatures of each that it has loaded."""
    from copart.cli import main
    from copart.kernels.clock import CLOCK
    from copart.kernels.signatures import kernels

    if main([*command, "-q"]):
        raise SystemExit(f"copart {' '.join(command)} failed")
    return {"compiled": CLOCK.kernels,
            "signatures": {name: len(kernel.signatures) for name, kernel in kernels().items() if kernel.signatures}}


def fill() -> bool:
    """Compile by the present table."""
    from copart.warm import compile_ahead

    return compile_ahead()


def stages() -> list[str]:
    """Run every stage; the kernels that had to be compiled."""
    from copart.kernels.clock import CLOCK
    from copart.warm import steps

    names: list[str] = []
    CLOCK.tell = names.append
    for _, step in steps():
        step()
    return names


def isolated(what: str, folder: Path, cache: Path) -> Any:
    """The result of a call of a function of this module, in a process of its own."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", _RUN.format(what=what)], cwd=folder, text=True, check=True,
                          stdout=subprocess.PIPE, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def example(folder: Path) -> None:
    """Two cubes that share a face, large enough to be coarsened, a machine, and what the ranks of a torus send."""
    from copart.mesh import cube, write_mesh

    write_mesh(folder / "a.vtu", cube("hexa", 16))
    write_mesh(folder / "b.vtu", cube("hexa", 20, offset=(1, 0, 0)))
    (folder / "m.tgt").write_text("hcub 3\n")
    (folder / "sent.txt").write_text("".join(f"{r} {(r + step) % 256} 65536 100\n" for r in range(256)
                                             for step in (1, 16)))


def made(folder: Path, former: dict[str, Any] | None) -> dict[str, Any]:
    """The table, made in a folder that is there and empty, or with new commands in a former one."""
    from copart.warm.processes import needs

    cache = folder / "cache"
    table = former or isolated("compiled()", folder, cache)
    if former:
        isolated("fill()", folder, cache)
    example(folder)
    used = {command: set(isolated(f"loaded({line!r})", folder, cache)["signatures"])
            for command, line in COMMANDS.items()}
    for names in used.values():
        for below in needs(table).items():
            names |= below[1] if below[0] in names else set()
    return {name: {**one, "used": [command for command, names in used.items() if name in names]}
            for name, one in sorted(table.items())}


def main() -> None:
    """Write the table."""
    former = json.loads(TABLE.read_text(encoding="utf-8")) if "--used" in sys.argv else None
    with tempfile.TemporaryDirectory() as folder:
        rows = made(Path(folder), former)
    lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in rows.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
