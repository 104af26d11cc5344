"""Launch files: which process goes to which slot of which host, as launchers read it.

Each writer has a reader that inverts it.  A *seat* is a host and the number of a slot there.

===================  =================================================================================
Open MPI             rankfile, ``rank 3=node07 slot=5``: ``mpirun --map-by rankfile:file=...``, 4: ``--rankfile``
MPICH, Intel MPI     hostfile of Hydra, ``node07:2``, hosts in the order of the ranks
Slurm                one host per rank, for ``SLURM_HOSTFILE`` and ``srun -m arbitrary``; programs by ``--multi-prog``
Cray, HPE            ``MPICH_RANK_ORDER``: ranks in the order of the slots, ``MPICH_RANK_REORDER_METHOD=3``
===================  =================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import FormatError, MappingError
from .text import PathLike, read_bytes


class Seat(NamedTuple):
    """Where one process runs."""

    host: str
    slot: int


class Program(NamedTuple):
    """A program of the coupled run and how many ranks it has; ranks are numbered program by program."""

    command: str
    ranks: int


#: More ranks are no job, but a damaged number.
MOST = 2**24


def _count(path: PathLike, text: str, line: int) -> int:
    """A number of ranks, or of one."""
    count = int(text[:20])
    if count > MOST:
        raise FormatError(path, f"{text:.40} is more than the {MOST} ranks that are supported", line)
    return count


# ---- Open MPI
def rankfile(seats: Sequence[Seat]) -> str:
    """Open MPI's rankfile: one line per rank."""
    return "".join(f"rank {rank}={seat.host} slot={seat.slot}\n" for rank, seat in enumerate(seats))


_RANK = re.compile(r"rank\s+(\d+)\s*=\s*(\S+)\s+slots?\s*=\s*(\d+)$")


def read_rankfile(path: PathLike) -> list[Seat]:
    """Seats by rank from an Open MPI rankfile, lines in any order."""
    seats: dict[int, Seat] = {}
    for number, line in _entries(path):
        found = _RANK.match(line)
        if found is None:
            raise FormatError(path, f"needs 'rank N=HOST slot=S', got {line!r}", number)
        rank = _count(path, found[1], number)
        if rank in seats:
            raise FormatError(path, f"rank {rank} stands here twice", number)
        seats[rank] = Seat(found[2], _count(path, found[3], number))
    return [seats[rank] for rank in _all(path, seats)]


# ---- MPICH and relatives
def hydra_hostfile(seats: Sequence[Seat]) -> str:
    """Hydra's hostfile: runs of ranks on one host, in the order of the ranks."""
    return "".join(f"{host}:{len(list(run))}\n" for host, run in groupby(seat.host for seat in seats))


def read_hydra_hostfile(path: PathLike) -> list[str]:
    """Host of each rank from a hostfile of Hydra."""
    hosts: list[str] = []
    for number, line in _entries(path):
        name, _, count = line.partition(":")
        if not name or (count and not count.isdecimal()):
            raise FormatError(path, f"needs HOST or HOST:COUNT, got {line!r}", number)
        more = _count(path, count or "1", number)
        _count(path, str(len(hosts) + more), number)
        hosts += [name] * more
    return hosts


# ---- Slurm
def slurm_hostfile(seats: Sequence[Seat]) -> str:
    """What ``SLURM_HOSTFILE`` names: the host of each rank, one per line."""
    return "".join(f"{seat.host}\n" for seat in seats)


def read_slurm_hostfile(path: PathLike) -> list[str]:
    """Host of each rank."""
    return [line for _, line in _entries(path)]


def multi_prog(programs: Sequence[Program]) -> str:
    """The configuration of ``srun --multi-prog``: ranges of ranks and their commands."""
    lines, first = [], 0
    for program in programs:
        last = first + program.ranks - 1
        lines.append(f"{first}-{last} {program.command}\n" if last > first else f"{first} {program.command}\n")
        first += program.ranks
    return "".join(lines)


def read_multi_prog(path: PathLike) -> list[Program]:
    """Programs in the order of their ranks."""
    programs: list[Program] = []
    first = 0
    for number, line in _entries(path):
        ranks, _, command = line.partition(" ")
        low, _, high = ranks.partition("-")
        if not low.isdecimal() or not (high or low).isdecimal() or not command:
            raise FormatError(path, f"needs 'FIRST-LAST COMMAND', got {line!r}", number)
        last = _count(path, high or low, number)
        if _count(path, low, number) != first or last < first:
            raise FormatError(path, f"ranks {ranks:.60} do not follow rank {first - 1}", number)
        programs.append(Program(command, last - first + 1))
        first = last + 1
    return programs


# ---- Cray, HPE
def rank_order(order: ArrayLike, width: int = 16) -> str:
    """``MPICH_RANK_ORDER``: ranks in the order of the slots, `width` a line."""
    ranks = [str(int(rank)) for rank in np.asarray(order)]
    return "".join(",".join(ranks[i:i + width]) + "\n" for i in range(0, len(ranks), width))


def read_rank_order(path: PathLike) -> NDArray[np.int32]:
    """Ranks in the order of the slots: (nranks,) int32, a permutation; ranges ``4-7`` are understood."""
    ranks: list[int] = []
    for number, line in _entries(path):
        for entry in line.strip(",").split(","):
            low, _, high = entry.strip().partition("-")
            if not low.isdecimal() or not (high or low).isdecimal():
                raise FormatError(path, f"needs ranks with commas between, got {entry!r}", number)
            more = range(_count(path, low, number), _count(path, high or low, number) + 1)
            _count(path, str(len(ranks) + len(more)), number)
            ranks += more
    out = np.array(ranks, np.int32)
    order = np.sort(out)
    twice = order[1:][order[1:] == order[:-1]]
    if len(twice):
        raise FormatError(path, f"rank {twice[0]} stands here twice")
    _all(path, ranks)
    return out


# ---- plain
def permutation(processors: ArrayLike) -> str:
    """Processor of each rank, one per line."""
    return "".join(f"{int(p)}\n" for p in np.asarray(processors))


def read_permutation(path: PathLike) -> NDArray[np.int32]:
    """Processor of each rank: (nranks,) int32, no two the same."""
    entries = list(_entries(path))
    bad = next(((n, line) for n, line in entries if not line.isdecimal()), None)
    if bad is not None:
        raise FormatError(path, f"needs one processor per line, got {bad[1]!r}", bad[0])
    out = np.array([_count(path, line, number) for number, line in entries], np.int32)
    if len(np.unique(out)) < len(out):
        raise FormatError(path, "two ranks have the same processor")
    return out


def launch_files(seats: Sequence[Seat], processors: ArrayLike, programs: Sequence[Program], *,
                 unit: str = "core") -> dict[str, str]:
    """All launch files of a placement by name, and ``launch.txt`` with the commands that use them.

    Parameters
    ----------
    seats : sequence of Seat
        By rank.
    processors : (nranks,) array_like of int
        Processor of each rank; their order is that of the machine's slots.
    programs : sequence of Program
    unit : {"core", "pu"}
        What slots are: cores, or hardware threads, which Open MPI has to be told.

    Raises
    ------
    MappingError
        The programs have another number of ranks than there are seats, or two ranks have one seat.
    """
    count = sum(program.ranks for program in programs)
    if count != len(seats):
        raise MappingError(f"programs: have {count} ranks, the placement has {len(seats)}")
    if len(set(seats)) < len(seats):
        raise MappingError("placement: two ranks have the same slot of the same host")
    where = np.asarray(processors)
    each = _each(programs)
    five, four = (":hwtcpus", " --use-hwthread-cpus") if unit == "pu" else ("", "")
    commands = (
        f"# Open MPI 5\nmpirun --hostfile hosts.openmpi --map-by rankfile:file=rankfile{five} {each}\n\n"
        f"# Open MPI 4\nmpirun --hostfile hosts.openmpi --rankfile rankfile{four} {each}\n\n"
        f"# MPICH, Intel MPI, MVAPICH\nmpiexec -f hosts.mpich {each}\n\n"
        f"# Slurm\nSLURM_HOSTFILE=hosts.slurm srun -n {count} -m arbitrary --multi-prog programs.slurm\n\n"
        "# Cray MPICH, HPE: in the folder of MPICH_RANK_ORDER, all slots of every node in use\n"
        f"MPICH_RANK_REORDER_METHOD=3 srun -n {count} --multi-prog programs.slurm\n")
    return {"rankfile": rankfile(seats), "hosts.openmpi": _open_mpi_hosts(seats), "hosts.mpich": hydra_hostfile(seats),
            "hosts.slurm": slurm_hostfile(seats), "programs.slurm": multi_prog(programs),
            "MPICH_RANK_ORDER": rank_order(np.argsort(where, kind="stable")), "processors.txt": permutation(where),
            "launch.txt": commands}


def start_files(programs: Sequence[Program]) -> dict[str, str]:
    """``launch.txt`` and ``programs.slurm`` where no machine is known: ranks go where the launcher puts them."""
    count = sum(program.ranks for program in programs)
    ends = np.cumsum([program.ranks for program in programs]).tolist()
    who = "".join(f"# ranks {end - program.ranks} to {end - 1}: parts 0 to {program.ranks - 1} of {program.command}\n"
                  for program, end in zip(programs, ends, strict=True))
    commands = (f"{who}\n# Open MPI, MPICH, Intel MPI, MVAPICH\nmpirun {_each(programs)}\n\n"
                f"# Slurm\nsrun -n {count} --multi-prog programs.slurm\n")
    return {"programs.slurm": multi_prog(programs), "launch.txt": commands}


def _each(programs: Sequence[Program]) -> str:
    """The programs as ``mpirun`` takes them."""
    return " : ".join(f"-n {program.ranks} {program.command}" for program in programs)


#: Readers of the launch files by name.
READERS: dict[str, Callable[[PathLike], object]] = {
    "rankfile": read_rankfile, "hosts.mpich": read_hydra_hostfile, "hosts.slurm": read_slurm_hostfile,
    "programs.slurm": read_multi_prog, "MPICH_RANK_ORDER": read_rank_order, "processors.txt": read_permutation}


def _open_mpi_hosts(seats: Sequence[Seat]) -> str:
    """Hosts with as many slots as ranks use."""
    slots: dict[str, int] = {}
    for seat in seats:
        slots[seat.host] = slots.get(seat.host, 0) + 1
    return "".join(f"{host} slots={count}\n" for host, count in slots.items())


def _entries(path: PathLike) -> Iterable[tuple[int, str]]:
    """Lines with their numbers, without comments and empty ones."""
    for number, raw in enumerate(read_bytes(path).decode(errors="replace").splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        if line:
            yield number, line


def _all(path: PathLike, ranks: Iterable[int]) -> range:
    """0..n-1, checked to be all the ranks there are."""
    there = set(ranks)
    missing = next((rank for rank in range(len(there)) if rank not in there), None)
    if missing is not None:
        raise FormatError(path, f"rank {missing} is missing, {max(there)} is there")
    return range(len(there))
