"""Sound inputs of every reader and command, to be damaged: small ones made here, and real ones where present."""

from __future__ import annotations

import contextlib
import gzip
import importlib.util
import io
from dataclasses import dataclass, field
from pathlib import Path

import meshio
import numpy as np

from copart.cli import main
from copart.mesh import cube, write_vtu

from . import cgns, foam, med
from .fuzz_other_files import samples
from .helpers import ROOT
from .mesh.readers import test_earth_grids as earth_grids
from .mesh.readers.test_calculix import ASSEMBLY, DECK
from .mesh.readers.test_exodus import case as exodus
from .mesh.readers.test_gmsh import FIRST, NEW, OLD
from .mesh.readers.test_mdpa import MDPA
from .mesh.readers.test_reading import OLD_SU2, SU2
from .mesh.readers.test_vtk_files import hdf, vtp

#: One file of each kind is written by meshio, in every form it has.
WRITTEN = {"vtu": [{}, {"binary": False}, {"compression": None}, {"compression": "lzma"}],
           "vtk": [{"file_format": "vtk42"}, {"file_format": "vtk42", "binary": False},
                   {"file_format": "vtk51"}, {"file_format": "vtk51", "binary": False}],
           "msh": [{"file_format": "gmsh22"}, {"file_format": "gmsh"}, {"file_format": "ansys"},
                   {"file_format": "ansys", "binary": False}],
           "xdmf": [{"data_format": "XML"}, {"data_format": "Binary"}, {"data_format": "HDF"}],
           "med": [{}], "h5m": [{}], "cgns": [{}], "hmf": [{}], "e": [{}], "mesh": [{}], "meshb": [{}], "bdf": [{}],
           "b8.ugrid": [{}], "f3grid": [{}], "avs": [{}], "mdpa": [{}], "xml": [{}], "node": [{}], "dato": [{}],
           "dat": [{}], "vol": [{}]}
SURFACES = ("off", "ply", "stl", "obj", "wkt")
NEEDS = {"xdmf": "h5py", "med": "h5py", "h5m": "h5py", "cgns": "h5py", "hmf": "h5py", "e": "netCDF4"}
GRAPHS = {"g.graph": b"% c\n4 3 111\n1 2 2 5\n1 2 1 5 3 6\n1 1 2 6 4 1\n1 3 3 1\n",
          "g.grf": b"0\n3 4\n0 111\n10 5 1 2 30\n20 6 1 3 30\n30 7 2 2 10 3 20\n",
          "g.mtx": b"%%MatrixMarket matrix coordinate integer symmetric\n% c\n3 3 2\n2 1 4\n3 2 5\n"}
NETS = {"n.hgr": b"% nets\n3 5 11\n2 1 2\n7 1 5 3\n1 4\n1\n2\n3\n4\n5\n",
        "n.u": b"% nets\n0 4 3 6 3 2\n2 0 1\n7 3 0 1\n1 2\n1 2\n3 4\n5 6\n7 8\n",
        "n.mtx": b"%%MatrixMarket matrix coordinate real general\n% c\n3 3 4\n2 1 4.5\n3 2 5\n1 3 1\n3 3 1\n"}

MIGRATION = (b'{"schema": "copart-migration", "version": 1, "components": [{"name": "a", "cells": 4, '
             b'"former_parts": 2, "parts": 3, "moves": [{"from": 0, "to": 2, "volume": 5, "cells": [0, 3]}]}]}')
COSTS = (b"component,processes,seconds\nfluid,1,33\nfluid,4,9\nsolid,2,5\n",
         b"# by hand\ncomponent,cells,cost,iterations,most\nfluid,1000,2e-6,10,\nsolid,300,5e-6,,8\n")

TIMES = (b"run,seconds,TH,weighted_hops\na,1.5,3,40\nb,2,5,41\n# by hand\nc,2.5,9,44\n",
         b"case,time,tasks,part,machine,mapping\nx,3,g.graph,,n.csv,m.map\nx,4,g.graph,p,n.csv,m2.map\n")


@dataclass(frozen=True)
class Case:
    """An input, and how to read it.

    Parameters
    ----------
    name : str
    kind : str
        "mesh", "graph", "hypergraph", "part", "coupling", "interedges", "migration", "costs", "times", "other" (by its
        name in `fuzz_other_files`), or "command".
    files : mapping of str to bytes
        By their path in a folder.
    target : str
        The path to open, in the folder.
    command : tuple of str
        Arguments, ``{}`` for the folder.
    """

    name: str
    kind: str
    files: dict[str, bytes]
    target: str
    command: tuple[str, ...] = ()
    fixed: tuple[str, ...] = field(default=())
    """Files that stay sound."""
    damaged: bool = False
    """Whether the files may be refused as they are."""


def folder_bytes(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def made(work: Path) -> list[Case]:
    """The small inputs; `work` is an empty folder."""
    meshes = [*_own(work), *_foam(work), *_meshio(work)]
    graphs = [Case(name, "graph", {name: data}, name) for name, data in GRAPHS.items()]
    graphs += [Case(f"{name}.gz", "graph", {f"{name}.gz": gzip.compress(data, mtime=0)}, f"{name}.gz")
               for name, data in GRAPHS.items()]
    nets = [Case(name, "hypergraph", {name: data}, name) for name, data in NETS.items()]
    nets += [Case("migration.json", "migration", {"migration.json": MIGRATION}, "migration.json")]
    nets += [Case(f"times {i}", "times", {"times.csv": data}, "times.csv") for i, data in enumerate(TIMES)]
    nets += [Case(f"costs {i}", "costs", {"costs.csv": data}, "costs.csv") for i, data in enumerate(COSTS)]
    plan = _plan(work)
    others = [Case(name, "other", {file: data}, file) for name, (file, data) in samples().items()]
    return meshes + graphs + nets + others + _of_plans(plan) + _commands(meshes, graphs, plan)


def _own(work: Path) -> list[Case]:
    """The formats that copart reads itself, as texts of the other tests."""
    deck = DECK.split("*NSET, NSET=bottom")[0]
    side = {"all.msh": deck.encode(), "wet.nam": b"** by hand\n*NSET,NSET=Nwet\n1,\n2,\n3,\n4,\n",
            "wet.sur": b"*SURFACE,NAME=Swet\n100,S1\n", "run.inp": b"*INCLUDE, INPUT=all.msh\n*INCLUDE,INPUT=wet.nam\n"}
    out = [Case("zones.su2", "mesh", {"zones.su2": SU2.encode()}, "zones.su2"),
           Case("old.su2", "mesh", {"old.su2": OLD_SU2.encode()}, "old.su2"),
           Case("old.msh", "mesh", {"old.msh": OLD.encode()}, "old.msh"),
           Case("new.msh", "mesh", {"new.msh": NEW.encode()}, "new.msh"),
           Case("pointer", "mesh", {"p.su2": b"version https://git-lfs.github.com/spec/v1\nsize 9\n"}, "p.su2",
                damaged=True),
           Case("first.msh", "mesh", {"first.msh": FIRST.encode()}, "first.msh"),
           Case("deck.inp", "mesh", {"deck.inp": DECK.encode()}, "deck.inp"),
           Case("assembly.inp", "mesh", {"assembly.inp": _of_tetrahedra(ASSEMBLY)}, "assembly.inp"),
           Case("kratos.mdpa", "mesh", {"kratos.mdpa": MDPA.encode()}, "kratos.mdpa"),
           Case("side files", "mesh", side, "all.msh"),
           Case("includes", "mesh", side, "run.inp")]
    if importlib.util.find_spec("netCDF4"):
        for form in ("NETCDF4", "NETCDF3_CLASSIC"):
            folder = work / form
            folder.mkdir()
            exodus(folder, form=form)
            out.append(Case(f"exodus {form}", "mesh", folder_bytes(folder), "m.e"))
        out += [Case(name, "mesh", {"m.nc": write(work / f"{name}.nc").read_bytes()}, "m.nc")
                for name, write in earth_grids.LAYOUTS.items() if name in earth_grids.FUZZED]
    if importlib.util.find_spec("h5py"):
        out += [Case(f"cgns {name}", "mesh", {"m.cgns": cgns.save(work / f"{name}.cgns", made, order=name == "mixed")
                                              .read_bytes()}, "m.cgns") for name, made in cgns.samples().items()]
        out += [Case("grid.vtkhdf", "mesh", {"m.vtkhdf": hdf(work / "grid.vtkhdf").read_bytes()}, "m.vtkhdf")]
        several = med.save(work / "several.med", {"one": med.solid(), "two": med.solid(5.0)})
        out.append(Case("several.med", "mesh", {"several.med": several.read_bytes()}, "several.med"))
    out += [Case(f"{form}.vtp", "mesh", {"m.vtp": vtp(work / f"{form}.vtp", form).read_bytes()}, "m.vtp")
            for form in ("ascii", "binary", "raw")]
    grouped = cube("hexa", 2)
    low = np.flatnonzero(grouped.points[:, 2] == 0)
    grouped = grouped.replace(cell_groups={"first": [0, 1]}, point_groups={"low": low},
                              facet_groups={"wall": grouped.blocks[0][1][:1, :4]})
    write_vtu(work / "own.vtu", grouped, {"part": np.arange(8) % 2})
    return [*out, Case("own.vtu", "mesh", {"own.vtu": (work / "own.vtu").read_bytes()}, "own.vtu")]


def _of_tetrahedra(assembly: str) -> bytes:
    """An assembly whose bricks are two tetrahedra that share a face."""
    both = " 1, 1, 2, 3, 6\n 2, 1, 3, 8, 6"
    return assembly.replace("C3D8", "C3D4").replace(" 1, 1, 2, 3, 4, 5, 6, 7, 8", both).encode()


def _foam(work: Path) -> list[Case]:
    """OpenFOAM meshes in all forms, two regions among them."""
    forms = {"ascii": {}, "binary": {"binary": True}, "64 bits": {"binary": True, "label": 64, "scalar": 32},
             "gzip": {"zipped": True}, "compact": {"compact": True}, "big ends": {"binary": True, "order": "MSB"}}
    mesh = foam.brick(2, 2, 2)
    out = []
    for name, form in forms.items():
        folder = work / f"foam {name}"
        foam.write(folder / "constant/polyMesh", *mesh, **form, cell_zones={"left": [0, 2], "none": []})
        out.append(Case(f"foam {name}", "mesh", folder_bytes(folder), "."))
    for region in ("fluid", "solid"):
        foam.write(work / "regions/constant" / region / "polyMesh", *mesh)
    return [*out, Case("foam regions", "mesh", folder_bytes(work / "regions"), ".")]


def _meshio(work: Path) -> list[Case]:
    """The formats that meshio writes."""
    out = []
    block = cube("tetra", 100)
    skin = np.unique(np.sort(block.blocks[0][1][:12, :3]), axis=0)
    for suffix, forms in {**WRITTEN, **{key: [{}] for key in SURFACES}}.items():
        if suffix in NEEDS and importlib.util.find_spec(NEEDS[suffix]) is None:
            continue
        kind, cells = ("triangle", skin) if suffix in SURFACES or suffix == "dato" else ("tetra", block.blocks[0][1])
        points = block.points
        data = {"load": [np.arange(float(len(cells)))]} if suffix in ("vtu", "vtk", "xdmf") else {}
        for i, form in enumerate(forms):
            folder = work / f"{suffix} {i}"
            folder.mkdir()
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                meshio.write(folder / f"m.{suffix}", meshio.Mesh(points, [(kind, cells)], cell_data=data), **form)
            out.append(Case(f"{suffix} {' '.join(map(str, form.values()))}".strip(), "mesh", folder_bytes(folder),
                            f"m.{suffix}"))
    return out


def _plan(work: Path) -> dict[str, bytes]:
    """What ``copart plan`` writes for two small cubes."""
    write_vtu(work / "a.vtu", cube("hexa", 3))
    write_vtu(work / "b.vtu", cube("tetra", 100, offset=(1, 0, 0)))
    status = main(["plan", str(work / "a.vtu"), str(work / "b.vtu"), "--parts", "3", "2", "--coupled", "2", "2", "-q",
                   "-o", str(work / "plan")])
    assert status == 0
    return folder_bytes(work / "plan")


def _of_plans(plan: dict[str, bytes]) -> list[Case]:
    """The files of a plan, each on its own."""
    return [Case(name, kind, {name: plan[name]}, name)
            for name, kind in (("coupling.json", "coupling"), ("interedges.mtx", "interedges"), ("a.part.3", "part"))]


def _commands(meshes: list[Case], graphs: list[Case], plan: dict[str, bytes]) -> list[Case]:
    """Whole commands on some of the inputs."""
    out = [Case("check a plan", "command", plan, ".", ("check", "{}"))]
    some = [c for c in meshes if c.name in ("zones.su2", "old.msh", "deck.inp", "own.vtu", "foam ascii", "foam binary",
                                            "foam regions", "vtk vtk42", "exodus NETCDF4")]
    for case in [*some, *graphs[:4]]:
        path = "{}" if case.target == "." else f"{{}}/{case.target}"
        out.append(Case(f"part {case.name}", "command", case.files, case.target,
                        ("part", path, "2", "-o", "{}/out.part", "--best-balance")))
    for case in some:
        path = "{}" if case.target == "." else f"{{}}/{case.target}"
        out.append(Case(f"info {case.name}", "command", case.files, case.target, ("mesh", "info", path)))
    for case in meshes:
        if case.name in ("own.vtu", "foam ascii"):
            path = "{}" if case.target == "." else f"{{}}/{case.target}"
            out.append(Case(f"plan {case.name}", "command", {**case.files, "partner.vtu": plan["b.vtu"]}, case.target,
                            ("plan", path, "{}/partner.vtu", "--parts", "2", "2", "-o", "{}/out"), ("partner.vtu",)))
    out.append(Case("plan zones.su2", "command", {"zones.su2": SU2.encode()}, "zones.su2",
                    ("plan", "{}/zones.su2:zone=1:right", "{}/zones.su2:zone=2", "--parts", "1", "1", "-o", "{}/out")))
    out.append(Case("plan two boundaries", "command", {"zones.su2": SU2.encode()}, "zones.su2",
                    ("plan", "{}/zones.su2:zone=1:right", "{}/zones.su2:zone=2:left,l*", "--parts", "1", "1", "-o",
                     "{}/out")))
    graph = {"m.graph": GRAPHS["g.graph"], "m.graph.part.2": b"0\n0\n1\n1\n"}
    out.append(Case("check a part", "command", graph, "m.graph", ("check", "{}/m.graph", "{}/m.graph.part.2")))
    out.append(Case("repart", "command", graph, "m.graph", ("repart", "{}/m.graph", "{}/m.graph.part.2", "2",
                                                            "-o", "{}/out.part")))
    return out


def real(most: int = 250_000) -> list[Case]:
    """The outside data with no file larger than `most` bytes, as far as present."""
    data = ROOT.parent / "shared/data"
    out = []
    kinds = {".graph": "graph", ".grf": "graph", ".gz": "graph", ".hgr": "hypergraph", ".mtx": "graph"}
    for path in sorted([*data.glob("malformed/*"), *data.glob("graphs/*")]):
        kind = kinds.get(path.suffix)
        if kind and path.stat().st_size <= most and not path.name.endswith(".xyz.gz"):
            out.append(Case(path.name, kind, {path.name: path.read_bytes()}, path.name,
                            damaged=path.parent.name == "malformed"))
    for path in sorted([*data.glob("coupled/**/*.su2"), *data.glob("coupled/**/*.msh")]):
        beside = [p for p in path.parent.iterdir() if p.is_file() and (p == path or p.suffix in (".nam", ".sur"))]
        if sum(p.stat().st_size for p in beside) <= most:
            out.append(Case(f"{path.parent.name}/{path.name}", "mesh", {p.name: p.read_bytes() for p in beside},
                            path.name))
    folder = data / "coupled/elastic-tube-3d/fluid-polyMesh"
    if folder.is_dir() and most > 2_000_000:
        out.append(Case("tube", "mesh", folder_bytes(folder), "."))
    return out


__all__ = ["Case", "made", "real"]

