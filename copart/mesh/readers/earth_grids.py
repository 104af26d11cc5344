"""Horizontal grids of oceans and atmospheres in netCDF files: UGRID, MPAS, ESMF, SCRIP, OASIS and CF with bounds.

In some each cell names its corners by number, in others it lists where they are; longitudes and latitudes become
points of the unit sphere, so that the grids of two models lie on each other.  Cells are polygons in the order of the
file.  (UGRID conventions 1.0; CF conventions 1.11, section 7.1; OASIS3-MCT user guide, section 5.)
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError
from ..polyhedra import Ints
from ..value import Mesh
from .exodus import read_exodus
from .netcdf import Variables, variables_of
from .same_places import same_places

_NEAR = 1e-6
"""Corners so near to each other, in radians, are one: 6 m on Earth, or what is left of degrees in single precision."""

_MASKS = ("grid_imask", "elementMask")
"""Arrays that are 0 where a model does not compute."""

_PAD = -1


class _Grid(NamedTuple):
    """One grid.

    points : (npoints, 2 or 3) float64
    corners : (ncells, w) int64, padded with -1
    cells : tuple of str, the dimensions of its cells in the file
    """

    points: NDArray[np.float64]
    corners: Ints
    cells: tuple[str, ...]


def read_netcdf(path: Path) -> Mesh:
    """Read a netCDF file: a horizontal grid, or Exodus where it is laid out so.

    Arrays of one number per cell are cell arrays.  Several grids of an OASIS file are groups of cells by their
    prefixes, and with a file ``masks.nc`` beside it there is an array ``msk``.

    Raises
    ------
    FormatError
        The package netCDF4 is missing, or the file holds no grid with corners.
    """
    with variables_of(path, "netCDF") as v:
        if "num_el_blk" not in v.data.dimensions:
            return _mesh(v)
    return read_exodus(path)


def _mesh(v: Variables) -> Mesh:
    oasis = sorted(name.removesuffix(".cla") for name in v.data.variables if name.endswith(".cla"))
    if oasis:
        return _of_oasis(v, oasis)
    for layout in _LAYOUTS:
        grid = layout(v)
        if grid is not None:
            return _joined(v, [grid], {}, _cell_arrays(v, grid))
    raise FormatError(v.path, "holds no grid with corners of cells as UGRID, MPAS, ESMF, SCRIP, OASIS or CF (bounds) "
                              f"have it; its variables: {', '.join(list(v.data.variables)[:12]) or 'none'}")


# ---- cells that name their corners
def _ugrid(v: Variables) -> _Grid | None:
    """A variable says which others hold the topology of two-dimensional cells."""
    found = [name for name in v.data.variables if v.said(name, "cf_role") == "mesh_topology"
             and v.said(name, "topology_dimension") == "2"]
    if not found:
        return None
    about = v.data.variables[found[0]]
    for key in ("node_coordinates", "face_node_connectivity"):
        if not hasattr(about, key):
            raise FormatError(v.path, f"topology {found[0]} has no {key}")
    first, second = str(about.node_coordinates).split()[:2]
    name = str(about.face_node_connectivity)
    nodes, dims = v.values(name), v.dimensions(name)
    faces = getattr(about, "face_dimension", dims[0])
    if dims[-1] == faces != dims[0]:
        nodes = nodes.T
    points = _points(v, first, second)
    start = int(getattr(v.data.variables[name], "start_index", 0))
    return _Grid(points, _numbers(v, name, nodes, start), (faces,))


def _esmf(v: Variables) -> _Grid | None:
    if "elementConn" not in v or "nodeCoords" not in v:
        return None
    coords, nodes = v.values("nodeCoords").astype(np.float64), v.values("elementConn")
    if coords.shape[1] == 2 and v.said("nodeCoords", "units").startswith(("degree", "radian")):
        coords = _on_sphere(v, coords[:, 0], coords[:, 1], v.said("nodeCoords", "units"))
    count = v.integers("numElementConn")
    if nodes.ndim == 1:  # one after the other
        start = np.concatenate([[0], np.cumsum(count)])
        if start[-1] != len(nodes):
            raise FormatError(v.path, f"elementConn has {len(nodes)} entries, numElementConn adds up to {start[-1]}")
        place = start[:-1, None] + np.arange(int(count.max(initial=1)))
        nodes = nodes[np.minimum(place, len(nodes) - 1)]
    first = int(getattr(v.data.variables["elementConn"], "start_index", 1))
    corners = np.where(np.arange(nodes.shape[1]) < count[:, None], _numbers(v, "elementConn", nodes, first), _PAD)
    return _Grid(coords, corners, v.dimensions("numElementConn"))


def _mpas(v: Variables) -> _Grid | None:
    if "verticesOnCell" not in v or "nEdgesOnCell" not in v:
        return None
    if str(getattr(v.data, "on_a_sphere", "YES")).strip().upper() == "YES":
        points = _on_sphere(v, v.values("lonVertex"), v.values("latVertex"), "radians")
    else:
        points = np.column_stack([v.values(f"{axis}Vertex").astype(np.float64) for axis in "xyz"])
    corners = _numbers(v, "verticesOnCell", v.integers("verticesOnCell"), 1)
    count = v.integers("nEdgesOnCell")[:, None]
    return _Grid(points, np.where(np.arange(corners.shape[1]) < count, corners, _PAD), v.dimensions("nEdgesOnCell"))


def _numbers(v: Variables, name: str, nodes: NDArray[Any], start: int) -> Ints:
    """(ncells, w) numbers of corners from 0; what fills up shorter rows, or is below `start`, is -1."""
    fill = getattr(v.data.variables[name], "_FillValue", None)
    if nodes.ndim != 2:
        raise FormatError(v.path, f"variable {name} needs two dimensions, has {nodes.ndim}")
    none = ~np.isfinite(nodes) if nodes.dtype.kind == "f" else np.zeros(nodes.shape, bool)
    if fill is not None:
        none |= nodes == fill
    whole = np.where(none, 0, nodes).astype(np.int64) - start
    return np.where(none | (whole < 0), _PAD, whole)


def _points(v: Variables, first: str, second: str) -> NDArray[np.float64]:
    """Points of two coordinates: on the sphere where they are longitude and latitude, in whatever order."""
    units = v.said(first, "units") if first in v else ""
    a, b = v.values(first), v.values(second)
    if not units.startswith(("degree", "radian")):
        return np.column_stack([a, b]).astype(np.float64)
    swapped = v.said(first, "standard_name") == "latitude" or units.endswith("north")
    return _on_sphere(v, b, a, units) if swapped else _on_sphere(v, a, b, units)


# ---- cells that list where their corners are
def _scrip(v: Variables) -> _Grid | None:
    if "grid_corner_lat" not in v or "grid_corner_lon" not in v:
        return None
    return _of_corners(v, "grid_corner_lon", "grid_corner_lat", v.dimensions("grid_corner_lat")[:-1])


def _cf(v: Variables) -> _Grid | None:
    """Longitude and latitude of cells, with the names of variables that hold those of the corners."""
    axes: dict[str, list[str]] = {"longitude": [], "latitude": []}
    for name in v.data.variables:
        for axis, letters in (("longitude", "east"), ("latitude", "north")):
            units = v.said(name, "units")
            # ICON calls what it has in radians by the name of rotated coordinates
            called = (axis, f"grid_{axis}") if units.startswith("rad") else (axis,)
            told = v.said(name, "standard_name") in called or units.endswith(letters)
            if told and getattr(v.data.variables[name], "bounds", "") in v:
                axes[axis].append(name)
    for lat in axes["latitude"]:
        bounds = str(v.data.variables[lat].bounds)
        for lon in axes["longitude"]:
            if v.dimensions(lon) == v.dimensions(lat):
                return _of_corners(v, str(v.data.variables[lon].bounds), bounds, v.dimensions(lat), lat)
    for lat in axes["latitude"]:
        for lon in axes["longitude"]:
            if len(v.dimensions(lat)) == len(v.dimensions(lon)) == 1:
                return _of_axes(v, lon, lat)
    return None


def _of_axes(v: Variables, lon: str, lat: str) -> _Grid:
    """Every latitude with every longitude, from bounds of both."""
    x, y = (v.values(str(v.data.variables[name].bounds)).astype(np.float64) for name in (lon, lat))
    if x.shape[1:] != (2,) or y.shape[1:] != (2,):
        raise FormatError(v.path, f"bounds of {lon} and {lat} need two entries each")
    shape = (len(y), len(x), 4)
    east = np.broadcast_to(x[None, :, [0, 1, 1, 0]], shape)
    north = np.broadcast_to(y[:, None, [0, 0, 1, 1]], shape)
    return _listed(v, east, north, v.said(lat, "units"), (*v.dimensions(lat), *v.dimensions(lon)))


def _of_corners(v: Variables, lon: str, lat: str, cells: tuple[str, ...], units: str = "") -> _Grid:
    """Corners that are listed by cell, those of a cell along the dimension that is not one of the cells."""
    x, y = v.values(lon), v.values(lat)
    if x.shape != y.shape or y.ndim < 2 or y.ndim != len(cells) + 1:
        raise FormatError(v.path, f"{lon} and {lat} of shapes {x.shape} and {y.shape} are no corners of cells")
    where = next((i for i, name in enumerate(v.dimensions(lat)) if name not in cells), y.ndim - 1)
    x, y = np.moveaxis(x, where, -1), np.moveaxis(y, where, -1)
    return _listed(v, x, y, v.said(units or lat, "units") or v.said(lat, "units"), cells)


def _listed(v: Variables, x: NDArray[Any], y: NDArray[Any], units: str, cells: tuple[str, ...]) -> _Grid:
    """Every corner of every cell a point."""
    points = _on_sphere(v, x.ravel(), y.ravel(), units)
    return _Grid(points, np.arange(len(points)).reshape(-1, x.shape[-1]), cells)


def _on_sphere(v: Variables, lon: NDArray[Any], lat: NDArray[Any], units: str) -> NDArray[np.float64]:
    """(n, 3) points of the unit sphere."""
    a, b = lon.astype(np.float64), lat.astype(np.float64)
    if not units.startswith("rad"):
        a, b = np.radians(a), np.radians(b)
    far = np.flatnonzero(~(np.abs(b) <= np.pi / 2 + _NEAR))
    if len(far):
        raise FormatError(v.path, f"latitude {float(lat[far[0]])!r} is beyond the poles (units {units or 'degrees'})")
    if len(endless := np.flatnonzero(~np.isfinite(a))):
        raise FormatError(v.path, f"longitude {float(lon[endless[0]])!r} is not a number")
    return np.column_stack([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)])


def _of_oasis(v: Variables, prefixes: list[str]) -> Mesh:
    """All grids of a file of OASIS, one beside the other."""
    grids, groups, at = [], {}, 0
    for name in prefixes:
        dims = v.dimensions(f"{name}.cla")
        shape = v.data.variables[f"{name}.cla"].shape
        centre = f"{name}.lat"
        cells = v.dimensions(centre) if centre in v else dims[1:] if shape[0] < shape[-1] else dims[:-1]
        grids.append(_of_corners(v, f"{name}.clo", f"{name}.cla", cells))
        groups[name] = np.arange(at, at := at + len(grids[-1].corners))
    return _joined(v, grids, groups, _oasis_masks(v.path.with_name("masks.nc"), groups))


def _oasis_masks(path: Path, groups: dict[str, NDArray[np.int64]]) -> dict[str, NDArray[Any]]:
    """The array ``msk`` as the file has it, -1 where it tells nothing of a grid."""
    if not path.is_file():
        return {}
    found = np.full(sum(map(len, groups.values())), -1, np.int64)
    with variables_of(path, "netCDF") as masks:
        for name, cells in groups.items():
            if f"{name}.msk" in masks and (mask := masks.integers(f"{name}.msk").ravel()).size == len(cells):
                found[cells] = mask
    return {"msk": found}


_LAYOUTS: tuple[Callable[[Variables], _Grid | None], ...] = (_ugrid, _esmf, _mpas, _scrip, _cf)


# ---- to a mesh
def _cell_arrays(v: Variables, grid: _Grid) -> dict[str, NDArray[Any]]:
    """What the file has of one number per cell."""
    return {name: v.values(name).ravel() for name, variable in v.data.variables.items()
            if variable.dimensions == grid.cells and variable.dtype != str and variable.dtype.kind in "iuf"}


def _joined(v: Variables, grids: list[_Grid], groups: dict[str, NDArray[np.int64]], arrays: dict[str, NDArray[Any]]
            ) -> Mesh:
    """The grids as one mesh; corners of a grid at one place are one point."""
    remarks = []
    blocks: list[tuple[str, Ints]] = []
    places, kept, at = [], [], 0
    for grid in grids:
        if int(grid.corners.max(initial=-1)) >= len(grid.points):
            raise FormatError(v.path, f"a cell has corner {int(grid.corners.max())}, counted from 0; there are "
                                      f"{len(grid.points)} points")
        points, number = same_places(grid.points, _near(grid.points))
        corners, size = _without_repeats(np.append(number, _PAD)[grid.corners])
        kept.append(size >= 3)
        corners, size = np.where(corners < 0, _PAD, corners + at)[kept[-1]], size[kept[-1]]
        places.append(points)
        at += len(points)
        # runs of cells with as many corners, as cells keep their order
        begin = np.append(0, np.flatnonzero(np.diff(size)) + 1) if len(size) else np.zeros(0, np.int64)
        for a, b in pairwise([*begin.tolist(), len(size)]):
            n = int(size[a])
            blocks.append(({3: "triangle", 4: "quad"}.get(n, "polygon"), corners[a:b, :n]))
    keep = np.concatenate(kept)
    if not keep.any():
        raise FormatError(v.path, "no cell has three corners apart")
    if not keep.all():
        remarks.append(f"{int((~keep).sum())} of {len(keep)} cells have no three corners apart and are left out: "
                       f"lines of parts files are those of the others")
        new = np.cumsum(keep) - 1
        groups = {name: new[cells[keep[cells]]] for name, cells in groups.items()}
        arrays = {name: values[keep] for name, values in arrays.items()}
    for name in _MASKS:
        if name in arrays and (idle := int((arrays[name] == 0).sum())):
            remarks.append(f"{idle} of {len(arrays[name])} cells have {name} 0: {v.path.name}:{name}=1 leaves them out")
    return Mesh(np.concatenate(places), blocks, arrays, v.path.stem, cell_groups=groups, remarks=remarks)


def _near(points: NDArray[np.float64]) -> float:
    """How near corners at one place are: as an angle on the sphere, and no more than that share of a grid elsewhere."""
    if len(points) == 0 or np.allclose(np.linalg.norm(points, axis=1), 1.0):
        return _NEAR
    return _NEAR * min(1.0, float((points.max(axis=0) - points.min(axis=0)).max()) or 1.0)


def _without_repeats(corners: Ints) -> tuple[Ints, Ints]:
    """The corners of each cell but those that are the next one again, padded at the end; and how many are left."""
    width = corners.shape[1]
    filled = corners >= 0
    order = np.argsort(~filled, axis=1, kind="stable")
    packed = np.take_along_axis(corners, order, axis=1)
    count = filled.sum(axis=1)
    following = np.take_along_axis(packed, (np.arange(width) + 1) % np.maximum(count, 1)[:, None], axis=1)
    apart = (packed >= 0) & ((packed != following) | (count == 1)[:, None])
    order = np.argsort(~apart, axis=1, kind="stable")
    return np.where(np.take_along_axis(apart, order, 1), np.take_along_axis(packed, order, 1), _PAD), apart.sum(axis=1)


__all__ = ["read_netcdf"]
