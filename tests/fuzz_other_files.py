"""Sound inputs of the readers of points, machines, targets, profiles and launch files, to be damaged."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from copart.formats import launch, parts
from copart.formats.costs_file import read_step_cost
from copart.formats.hostfile import read_hosts
from copart.formats.machines import read_machine
from copart.formats.points import read_points
from copart.formats.profiles import read_profile
from copart.formats.scotch_mapping import read_map, read_xyz
from copart.formats.scotch_target import read_target

from .formats.test_coordinates import CRAY
from .formats.test_machines import CONF, HWLOC_1, YAML
from .formats.test_profiles import MONITORING
from .formats.test_targets import PATH_DECO_1, PATH_DECO_2

MAPPING = "4\n0\t1\n1\t0\n3\t1\n2\t2\n"


def _npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


#: By a name: the reader, the name of the file, and what it holds.
SAMPLES: dict[str, tuple[Callable[[Path], Any], str, str | bytes]] = {
    "points.csv": (read_points, "p.csv", "x,y\n0.5,1\n2e3;-4\n1 1 # last\n"),
    "points.npy": (read_points, "p.npy", _npy(np.random.default_rng(1).random((40, 3)))),
    "numbers.npy": (read_points, "p.npy", _npy(np.arange(12, dtype=np.int16))),
    "torus": (read_machine, "job.csv", CRAY),
    "six dimensions": (read_machine, "job.csv", "torus,4,3,5,2,3,2\nhost,x,y,z,a,b,c\nh1,0,0,0,0,0,0\nh2,3,2,4,1,2,1"),
    "dragonfly": (read_machine, "job.csv", "dragonfly 9 4 2\nundirected\na 0 0\nb 8 3 2\n"),
    "fat tree": (read_machine, "job.csv", "fattree 2 3 4\nuplinks 2 1 1\nbandwidth 4 2 1\na 23\nb 0\n"),
    "switches": (read_machine, "topology.conf", CONF),
    "blocks": (read_machine, "topology.conf", "BlockName=a Nodes=n[1-4]\nBlockName=b Nodes=n[5-8]\nBlockSizes=4\n"),
    "topology.yaml": (read_machine, "topology.yaml", YAML),
    "hwloc": (read_machine, "m.xml", HWLOC_1),
    "deco 1": (read_target, "t.tgt", PATH_DECO_1),
    "deco 2": (read_target, "t.tgt", PATH_DECO_2),
    "tleaf": (read_target, "t.tgt", "tleaf 3 4 100 2 10 8 1\n"),
    "torus of SCOTCH": (read_target, "t.tgt", "torus3D 4 4 4\n"),
    "table": (read_target, "t.tgt", "cmpltw 4 1 2 3 4\n"),
    "monitoring": (read_profile, "job.prof", MONITORING),
    "matrix": (read_profile, "job.csv", "0,10,0,0,5\n0,0,20,0,0\n1,0,0,0,0\n0,0,0,0,7\n0,0,0,0,0\n"),
    "messages": (read_profile, "job.csv", "source;target;bytes\n0;1;10\n0;4;5\n1;2;20\n2;0;1\n3;4;7\n"),
    "mapping": (read_map, "g.map", MAPPING),
    "coordinates": (read_xyz, "g.xyz", "2\n3\n0 0 0.5\n2 1 1\n1 0 2e3\n"),
    "hosts": (read_hosts, "hosts", "a slots=4 max_slots=8\nb:2\nn[001-004,7] # all\n"),
    "rankfile": (launch.read_rankfile, "ranks", "rank 1=b slot=0\nrank 0=a slot=5\n"),
    "hydra": (launch.read_hydra_hostfile, "hosts", "a:2\nb:3\nc\n"),
    "slurm": (launch.read_slurm_hostfile, "hosts", "a\na\nb\n"),
    "programs": (launch.read_multi_prog, "programs", "0-3 fluid --fast\n4 solid\n"),
    "rank order": (launch.read_rank_order, "order", "3,2,0-1\n4\n"),
    "permutation": (launch.read_permutation, "processors.txt", "2\n0\n1\n"),
    "parts": (parts.read_part, "g.part.3", "0\n2\n1\n1\n"),
    "step costs": (read_step_cost, "costs.csv", "component,cells,cost,iterations\nfluid,1000,2e-6,10\nsolid,300,5,\n"),
}


def samples() -> dict[str, tuple[str, bytes]]:
    """By their names: the name of the file, and its bytes."""
    return {name: (file, data if isinstance(data, bytes) else data.encode())
            for name, (_, file, data) in SAMPLES.items()}


def read(name: str, path: Path) -> Any:
    """What the reader of a sample makes of a file; of a machine the distances of its first processors, too."""
    value = SAMPLES[name][0](path)
    if SAMPLES[name][0] in (read_machine, read_target):
        architecture = getattr(value, "architecture", value)
        some = np.arange(min(architecture.nprocs, 50))
        assert (architecture.distances(some[:1], some[:1]) == 0).all()
        architecture.distances(some, some[::-1])
    return value
