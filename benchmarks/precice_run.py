"""The coupled run of ``examples/conjugate_heat.py`` again, with preCICE moving the data and owners from the plan.

    python -m benchmarks.precice_run FOLDER --scheme joint --parts 4 2 --python PYTHON --library FOLDER

Both programs tell preCICE one vertex per interedge of their cells, so that values meet exactly, and are compared with
the serial result.  For each of the two meshes preCICE opens a connection between each two ranks that share vertices,
which is what ``totZ`` counts, and one more between the first ranks.
PYTHON has pyprecice and an mpi4py of the MPI that ``mpirun`` starts; FOLDER holds ``libprecice.so``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from copart.formats.exchange_files import pair_name, read_lists
from copart.mpi.sides import Side
from examples.conjugate_heat import NAMES, STEPS, Code, code, compared, prepare

MEETINGS = 40
"""Times that both codes meet in a time step: more than they need, as neither knows when the other is done."""

CONFIGURATION = """<?xml version="1.0" encoding="UTF-8" ?>
<precice-configuration>
  <log><sink filter="%Severity% > warning" enabled="true"/></log>
  <profiling mode="fundamental"/>
  <data:scalar name="from-fluid"/><data:scalar name="from-solid"/>
  <mesh name="fluid-mesh" dimensions="3"><use-data name="from-fluid"/><use-data name="from-solid"/></mesh>
  <mesh name="solid-mesh" dimensions="3"><use-data name="from-fluid"/><use-data name="from-solid"/></mesh>
  {participants}
  {channel}
  <coupling-scheme:parallel-explicit>
    <participants first="fluid" second="solid"/><max-time value="{windows}"/><time-window-size value="1"/>
    <exchange data="from-fluid" mesh="fluid-mesh" from="fluid" to="solid"/>
    <exchange data="from-solid" mesh="solid-mesh" from="solid" to="fluid"/>
  </coupling-scheme:parallel-explicit>
</precice-configuration>
"""
PARTICIPANT = """<participant name="{me}">
    <provide-mesh name="{me}-mesh"/><receive-mesh name="{other}-mesh" from="{other}"/>
    <write-data name="from-{me}" mesh="{me}-mesh"/><read-data name="from-{other}" mesh="{me}-mesh"/>
    <mapping:nearest-neighbor direction="read" from="{other}-mesh" to="{me}-mesh" constraint="consistent"/>
  </participant>"""


class CodeByPrecice(Code):
    """The same code, which meets the other one by preCICE."""

    def connect(self, plan: Path) -> Any:
        import precice

        comm, self.times = self.world, f"{self.name}.times"  # each program is a job of its own
        counts = json.loads((plan / "metrics.json").read_text())["settings"]["parts"]
        first = self.name == NAMES[0]
        lists = read_lists(plan, pair_name(*NAMES), tuple(counts))
        side = Side(lists.of_first(comm.rank) if first else lists.of_second(comm.rank), *("ab" if first else "ba"))
        self.cells, self.overlap, self._ghosts = side.cells, side.overlaps, len(side.ghosts)
        mine, other = side.cells[side.overlaps.cell], side.ghosts[side.overlaps.ghost]
        points = np.column_stack([mine, other] if first else [other, mine]).astype(float)
        before, begin = connections(), time.perf_counter()
        self.participant = precice.Participant(self.name, str(plan.parent / "precice-run.xml"), comm.rank, comm.size)
        points = np.column_stack([points, np.zeros(len(points))])
        self._ids = self.participant.set_mesh_vertices(f"{self.name}-mesh", points)
        self.participant.initialize()
        self.seconds = {"initialize": time.perf_counter() - begin, "advance": 0.0}
        self.opened = connections() - before
        return comm

    def meet(self, values: np.ndarray) -> np.ndarray:
        me, other = self.name, NAMES[1 - NAMES.index(self.name)]
        self.clock.meet(self.world)
        with self.clock("coupling"):
            begin = time.perf_counter()
            self.participant.write_data(f"{me}-mesh", f"from-{me}", self._ids, values[self.overlap.cell])
            self.participant.advance(1.0)
            came = self.participant.read_data(f"{me}-mesh", f"from-{other}", self._ids, 0.0)
            self.seconds["advance"] += time.perf_counter() - begin
        out = np.empty(self._ghosts)
        out[self.overlap.ghost] = came
        return out

    def settled(self, change: float, meetings: int) -> bool:
        return meetings == MEETINGS

    def finish(self) -> None:
        self.participant.finalize()
        every = self.comm.gather((self.seconds, self.opened))
        if every is not None:
            told = {key: max(seconds[key] for seconds, _ in every) for key in self.seconds}
            told["connections"] = sum(opened for _, opened in every)
            (Path(sys.argv[-1]) / f"{self.name}.precice.json").write_text(json.dumps(told))


def connections() -> int:
    """TCP connections of this process that are open."""
    own = {os.readlink(file) for file in Path("/proc/self/fd").iterdir() if file.is_symlink()}
    rows = (line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:])
    established = "01"
    return sum(f"socket:[{row[9]}]" in own for row in rows if row[3] == established)


def configuration(plan: Path) -> str:
    """preCICE's configuration of a run, with the channel that the plan's ``precice.xml`` says."""
    participants = "\n  ".join(PARTICIPANT.format(me=me, other=other) for me, other in (NAMES, NAMES[::-1]))
    channel, = (line.strip() for line in (plan / "precice.xml").read_text().splitlines() if "<m2n:" in line)
    return CONFIGURATION.format(participants=participants, channel=channel, windows=STEPS * MEETINGS + 1)


def profiled(place: Path, tool: Path, env: dict[str, str]) -> dict[str, dict[str, float]]:
    """Milliseconds of the slowest rank of each program by preCICE's own clock: initialize, and a mean advance."""
    subprocess.run([sys.executable, str(tool), "merge"], cwd=place, env=env, check=True, capture_output=True)
    told: dict[str, dict[str, float]] = {name: {} for name in NAMES}
    with closing(sqlite3.connect(place / "profiling.db")) as found:
        for who, what, microseconds in found.execute(
                "SELECT participant, event, MAX(mean) FROM (SELECT participant, event, rank, AVG(dur) AS mean FROM "
                "full_events WHERE event IN ('initialize', 'advance') GROUP BY participant, event, rank) "
                "GROUP BY participant, event"):
            told[who][what] = microseconds / 1000
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scheme", default="joint")
    parser.add_argument("--parts", type=int, nargs=2, default=(4, 2))
    parser.add_argument("--sizes", type=int, nargs=2, default=(12, 1200), help="cells a side, and in all")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--library", type=Path, required=True, help="folder of libprecice.so")
    parser.add_argument("--mpirun", default="/usr/bin/mpirun")
    given = parser.parse_args()
    place = given.folder.resolve()
    shutil.rmtree(place / "precice-profiling", ignore_errors=True)
    prepare(place, tuple(given.sizes), given.parts, given.scheme, "precice")
    pair = json.loads((place / "plan" / "metrics.json").read_text())["metrics"]["pairs"][0]
    (place / "precice-run.xml").write_text(configuration(place / "plan"))
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "LD_LIBRARY_PATH": str(given.library),
           "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    validate = given.library.parent / "bin" / "precice-config-validate"
    if validate.exists():
        subprocess.run([str(validate), "precice-run.xml"], cwd=place, env=env, check=True)
    program = [given.python, "-m", "benchmarks.precice_run", "--code"]
    launch = [given.mpirun, "--oversubscribe", "-n"]
    runs = [subprocess.Popen([*launch, str(n), *program, name, str(place)], cwd=place, env=env)
            for name, n in zip(NAMES, given.parts, strict=True)]
    while any(run.poll() is None for run in runs) and not any(run.poll() for run in runs):
        time.sleep(0.1)
    for run in runs:
        run.kill()  # a participant whose peer has failed waits for ever
    if any(run.wait() for run in runs):
        raise SystemExit("a participant failed")
    print(f"{given.scheme}, {given.parts[0]} + {given.parts[1]} ranks: totZ {pair['totZ']}, largest difference from "
          f"the serial result {max(compared(place).values()):.1e} K")
    tool = given.library.parent / "bin" / "precice-profiling"
    own = profiled(place, tool, env) if tool.exists() else {}
    for name in NAMES:
        told = json.loads((place / f"{name}.precice.json").read_text())
        assert told["connections"] == 2 * pair["totZ"] + 1, told
        by = own.get(name) or {"initialize": told["initialize"] * 1e3,
                               "advance": told["advance"] / (STEPS * MEETINGS) * 1e3}
        print(f"{name}: initialize {by['initialize']:.0f} ms, advance {by['advance']:.2f} ms "
              f"({'preCICE' if own else 'own clock'}), {told['connections']} connections")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--code"]:
        code(sys.argv[2], Path(sys.argv[3]), CodeByPrecice)
    else:
        main()
