"""OpenFOAM meshes: the folder ``polyMesh`` of a case, of a region or on its own.

Patches and face zones are facet groups, cell zones cell groups, point zones
point groups.  Several regions are one mesh whose cell groups have their names.
Cells keep the numbers they have in the case.  Where ``splitMeshRegions`` has made
regions of a mesh, they stand for it; the whole mesh is ``CASE/constant/polyMesh``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import CopartError, FormatError
from ..polyhedra import Ints, Polyhedra
from ..value import Mesh
from .assembling import stacked
from .foam_boundary import patches
from .foam_file import FoamFile, find
from .plain_cells import plain_blocks

FILES = ("points", "faces", "owner", "neighbour", "boundary")
_COUPLED = ("cyclic", "processor")
#: What OpenFOAM calls the mesh in ``constant`` of a case that has other regions, too.
DEFAULT_REGION = "region0"
#: What splitMeshRegions leaves in the polyMesh of a region.
_SPLIT = "cellRegionAddressing"
_ZONES = {"cellZones": "cellLabels", "faceZones": "faceLabels", "pointZones": "pointLabels"}


@dataclass
class _Part:
    """One polyMesh as read."""

    name: str
    points: NDArray[np.float64]
    solid: Polyhedra
    facets: dict[str, Ints]
    nodes: dict[str, Ints]
    cells: dict[str, Ints]
    remarks: list[str] = field(default_factory=list)


def is_openfoam(path: Path) -> bool:
    """Whether a file stands for an OpenFOAM case: one of a polyMesh, or the empty ``case.foam`` that viewers want."""
    if path.suffix.lower() in (".foam", ".openfoam"):
        return path.is_file()
    return path.name.removesuffix(".gz") in FILES and path.is_file() and find(path.parent, "owner") is not None


def mesh_folders(path: Path) -> list[tuple[str, Path]]:
    """The polyMesh folders that `path` means, each with the name of its case or region.

    A case with regions means them; the mesh in ``constant`` is one of them unless they were made of it.

    Parameters
    ----------
    path : Path
        A case, its ``constant``, a region in it, a polyMesh (under whatever name) or a file of one, or an
        (often empty) ``case.foam``.

    Raises
    ------
    FormatError
        There is none; the message says what there is instead.
    """
    if not path.is_dir():
        return mesh_folders(path.parent)
    if find(path, "owner") and find(path, "faces"):
        return [(_called(path), path)]
    constant = path if path.resolve().name == "constant" else path / "constant"
    whole = constant / "polyMesh"
    found = sorted(p for p in constant.glob("*/polyMesh") if p.is_dir()) if constant.is_dir() else []
    if found:
        every = [(p.parent.name, p) for p in found]
        split = (constant / "regionProperties").is_file() or any(find(p, _SPLIT) for p in found)
        return every if split or not whole.is_dir() else [(DEFAULT_REGION, whole), *every]
    for folder in (path / "polyMesh", whole):
        if folder.is_dir():
            return [(_called(folder), folder)]
    if any(path.glob("processor*")):
        raise FormatError(path, "is a decomposed case without the whole mesh; run reconstructParMesh first")
    raise FormatError(path, "is a folder, but no OpenFOAM case or mesh: it holds no constant/polyMesh")


def _called(folder: Path) -> str:
    """The name of a polyMesh: of its region, its case or itself."""
    folder = folder.resolve()
    if folder.name != "polyMesh":
        return folder.name
    up = folder.parent
    return (up.parent.name if up.name == "constant" else up.name) or "mesh"


def read_openfoam(path: Path) -> Mesh:
    """Read a polyMesh, or all regions of a case as one mesh.

    Raises
    ------
    FormatError
        With the file and the line, or the byte of a binary file, where the mesh breaks the format.
    """
    folders = mesh_folders(path)
    case = _called(path / "constant" / "polyMesh") if len(folders) > 1 else folders[0][0]
    folder = path
    try:
        parts = []
        for name, folder in folders:
            parts.append(_Reader(folder).part(name))
        return _joined(parts, case)
    except FormatError:
        raise
    except CopartError as error:
        raise FormatError(folder, str(error)) from None


def _joined(parts: list[_Part], name: str) -> Mesh:
    """One mesh of all regions, which share no points; ordinary blocks where all cells have ordinary shapes."""
    facets: dict[str, list[Ints]] = {}
    nodes: dict[str, list[Ints]] = {}
    cells: dict[str, list[Ints]] = {}
    solids = []
    regions = {part.name for part in parts}
    point = cell = 0
    for part in parts:
        solid = part.solid
        if len(parts) > 1:
            cells.setdefault(part.name, []).append(np.arange(solid.ncells) + cell)
        for label, rows in part.facets.items():
            facets.setdefault(label, []).append(np.where(rows >= 0, rows + point, -1))
        for label, some in part.nodes.items():
            nodes.setdefault(label, []).append(some + point)
        for label, some in part.cells.items():
            if len(parts) == 1 or label not in regions:  # the zone that a region was made of is left in it
                cells.setdefault(label, []).append(some + cell)
        solids.append((solid, point))
        point += len(part.points)
        cell += solid.ncells
    solid = Polyhedra.side_by_side(solids)
    blocks = plain_blocks(solid)
    remarks = [f"{part.name}: {r}" if len(parts) > 1 else r for part in parts for r in part.remarks]
    return Mesh(np.concatenate([p.points for p in parts]), blocks or (), {}, name,
                {k: stacked(v) for k, v in facets.items()}, {k: np.concatenate(v) for k, v in nodes.items()},
                {k: np.concatenate(v) for k, v in cells.items()}, None, remarks, None if blocks else solid)


class _Reader:
    """The files of one polyMesh, read and held against one another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.remarks: list[str] = []

    def _open(self, name: str) -> FoamFile:
        path = find(self.folder, name)
        if path is None:
            raise FormatError(self.folder / name, "no such file, nor compressed with .gz")
        return FoamFile(path)

    def part(self, name: str) -> _Part:
        """The whole mesh."""
        file = self._open("points")
        points = file.vectors()
        file = self._open("faces")
        start, nodes = file.faces()
        nfaces = len(start) - 1
        if nfaces < 1:
            file.fail("the mesh has no faces")
        if start[0] != 0 or start[-1] != len(nodes) or (np.diff(start) < 3).any():
            i = int(np.argmax(np.diff(start) < 3))
            file.fail(f"every face needs at least 3 nodes; face {i} has {int(start[i + 1] - start[i])}")
        self._within(file, "node", nodes, 0, len(points), "points")
        file = self._open("owner")
        owner = file.labels(nfaces)
        if len(owner) != nfaces:
            file.fail(f"has {len(owner)} entries, faces has {nfaces}: they must be as many")
        # no cell has less than a face, and no face more than two cells
        self._within(file, "cell", owner, 0, 2 * nfaces, "sides of faces")
        note = re.search(r"nCells:\s*(\d+)", file.header.get("note", ""))
        file = self._open("neighbour")
        inner = file.labels(nfaces)
        if len(inner) > nfaces:
            file.fail(f"has {len(inner)} entries, faces only {nfaces}")
        self._within(file, "cell", inner, -1, 2 * nfaces, "sides of faces")
        neighbour = np.full(nfaces, -1, np.int64)
        neighbour[:len(inner)] = inner
        solid = Polyhedra(start, nodes, owner, neighbour)
        if note and int(note[1]) != solid.ncells:
            self.remarks.append(f"owner announces {note[1]} cells, the mesh has {solid.ncells}")
        facets = self._patches(solid)
        zones = {kind: self._zones(kind, key) for kind, key in _ZONES.items()}
        for kind, size in (("cellZones", solid.ncells), ("faceZones", nfaces), ("pointZones", len(points))):
            for label, (zone, some) in zones[kind].items():
                self._within(zone, kind[:-5] + f" of zone {label}", some, 0, size, kind[:-5] + "s")
        for label, (_, some) in zones["faceZones"].items():
            facets.setdefault(label, solid.padded(some))
        return _Part(name, points, solid, facets, {k: v for k, (_, v) in zones["pointZones"].items()},
                     {k: v for k, (_, v) in zones["cellZones"].items()}, self.remarks)

    def _within(self, file: FoamFile, what: str, values: Ints, low: int, high: int, of: str) -> None:
        """No entry is outside its range."""
        if len(values) and (int(values.min()) < low or int(values.max()) >= high):
            bad = (values < low) | (values >= high)
            i = int(np.argmax(bad))
            raise FormatError(file.path, f"entry {i} is {what} {int(values[i])}, outside the {high} {of}")

    def _patches(self, solid: Polyhedra) -> dict[str, Ints]:
        """Faces of each patch, by name."""
        file = self._open("boundary")
        outside = solid.neighbour < 0
        covered = np.zeros(solid.nfaces, bool)
        facets: dict[str, Ints] = {}
        kinds: dict[str, list[str]] = {}
        for patch in patches(file):
            last = patch.first + patch.nfaces
            if last > solid.nfaces:
                file.fail(f"patch {patch.name}: faces {patch.first}..{last - 1} are outside the {solid.nfaces} faces")
            if not outside[patch.first:last].all():
                inside = patch.first + int(np.argmin(outside[patch.first:last]))
                file.fail(f"patch {patch.name}: face {inside} is not on the boundary, it lies between two cells")
            covered[patch.first:last] = True
            facets[patch.name] = solid.padded(np.arange(patch.first, last))
            kinds.setdefault(patch.kind, []).append(patch.name)
        loose = int((outside & ~covered).sum())
        if loose:
            self.remarks.append(f"{loose} boundary faces belong to no patch")
        for kind, names in kinds.items():
            if kind.startswith(_COUPLED):
                self.remarks.append(f"cells that meet across the patches {', '.join(names)} ({kind}) "
                                    f"are not neighbours here")
            elif kind == "empty":
                self.remarks.append(f"the patches {', '.join(names)} are of type empty: a flat case, "
                                    f"read as a layer of 3D cells")
        return facets

    def _zones(self, name: str, key: str) -> dict[str, tuple[FoamFile, Ints]]:
        """Labels of each zone of a kind, if the mesh has any."""
        path = find(self.folder, name)
        if path is None:
            return {}
        file = FoamFile(path)
        out = {}
        entry = re.compile(rb"((?:[^\s{}();]|\([^\s{}();]{0,200}+\)){1,200}+)\s*+\{[^{}]*?\b" + key.encode()
                           + rb"\s+(?:List<label>\s*)?")
        while found := entry.search(file.data, file.at):
            file.at = found.end()
            labels = file.labels()
            if len(labels):  # a region has the zones of the whole mesh, most of them empty
                out[found[1].decode("utf-8", "replace").strip('"')] = (file, labels)
        return out
