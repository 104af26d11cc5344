"""Grids of oceans and atmospheres in netCDF files: every layout gives the same cells in the same order."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.cli import main
from copart.errors import FormatError
from copart.mesh import Mesh, dual_graph, read_mesh
from copart.mesh.readers.earth_grids import _without_repeats
from copart.mesh.readers.same_places import same_places

NORTH, EAST = {"units": "degrees_north", "standard_name": "latitude"}, {"units": "degrees_east",
                                                                         "standard_name": "longitude"}


def globe(columns: int, rows: int) -> tuple[np.ndarray, list[list[int]]]:
    """(n, 2) longitudes and latitudes of points, and the corners of the cells: triangles around the poles."""
    lat = np.linspace(-90, 90, rows + 1)[1:-1]
    lon = np.arange(columns) * 360 / columns
    points = np.array([[0.0, -90.0], *([x, y] for y in lat for x in lon), [0.0, 90.0]])
    cells = [[0, 1 + (i + 1) % columns, 1 + i] for i in range(columns)]
    for j in range(rows - 2):
        a, b = 1 + j * columns, 1 + (j + 1) * columns
        cells += [[a + i, a + (i + 1) % columns, b + (i + 1) % columns, b + i] for i in range(columns)]
    top = 1 + (rows - 2) * columns
    return points, cells + [[top + i, top + (i + 1) % columns, len(points) - 1] for i in range(columns)]


POINTS, CELLS = globe(12, 6)
WIDE = np.array([[*cell, *[-1] * (4 - len(cell))] for cell in CELLS])
FULL = np.where(WIDE < 0, WIDE[:, [2]], WIDE)
MASK = np.arange(len(CELLS)) % 5 != 0


def save(path, variables, **attributes):
    """A file of (name, dimensions, values, attributes), the sizes of dimensions being those of the values."""
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(path, "w") as data:
        for key, value in attributes.items():
            setattr(data, key, value)
        for name, dims, values, told in variables:
            values = np.asarray(values)
            for dim, size in zip(dims, values.shape, strict=True):
                if dim not in data.dimensions:
                    data.createDimension(dim, size)
            variable = data.createVariable(name, values.dtype, dims, fill_value=told.get("_FillValue"))
            variable.setncatts({key: value for key, value in told.items() if key != "_FillValue"})
            variable[...] = values
    return path


def ugrid(path, start=0, turned=False, kind="f8", swapped=False, nodes=None, fill=-999, **told):
    x, y = (POINTS[:, i].astype(kind) for i in (0, 1))
    table = np.where(WIDE < 0, -999, WIDE + start).astype("i4") if nodes is None else nodes
    about = {"cf_role": "mesh_topology", "topology_dimension": 2, "face_node_connectivity": "corners",
             "node_coordinates": "y x" if swapped else "x y", "face_dimension": "face"}
    return save(path, [("mesh", (), np.int32(0), {k: v for k, v in about.items() if told.get(k, v) is not None}),
                       ("x", ("node",), x, EAST), ("y", ("node",), y, NORTH),
                       ("corners", ("k", "face") if turned else ("face", "k"), table.T if turned else table,
                        {"start_index": start, "_FillValue": table.dtype.type(fill)}),
                       ("levels", ("face",), 1 + np.arange(len(CELLS)), {})])


def esmf(path, ragged=False):
    count = (WIDE >= 0).sum(axis=1)
    nodes = np.concatenate(CELLS) + 1 if ragged else np.where(WIDE < 0, -1, WIDE + 1)
    return save(path, [("nodeCoords", ("nodeCount", "coordDim"), POINTS, {"units": "degrees"}),
                       ("elementConn", ("connectionCount",) if ragged else ("elementCount", "most"),
                        nodes.astype("i4"), {}),
                       ("numElementConn", ("elementCount",), count.astype("i1"), {}),
                       ("elementMask", ("elementCount",), MASK.astype("i4"), {})])


def mpas(path, sphere="YES"):
    lon, lat = np.radians(POINTS).T
    x, y, z = np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)
    return save(path, [*((f"{name}Vertex", ("nVertices",), values, {})
                         for name, values in (("lon", lon), ("lat", lat), ("x", 7 * x), ("y", 7 * y), ("z", 7 * z))),
                       # rows are filled up with anything
                       ("verticesOnCell", ("nCells", "maxEdges"), (np.where(WIDE < 0, 5, WIDE) + 1).astype("i4"), {}),
                       ("nEdgesOnCell", ("nCells",), (WIDE >= 0).sum(axis=1).astype("i4"), {})], on_a_sphere=sphere)


def scrip(path, units="degrees", kind="f8", **moved):
    corners = (np.radians(POINTS) if units == "radians" else POINTS)[FULL].astype(kind)
    lon = corners[..., 0] + moved.get("by", 0.0)
    return save(path, [("grid_corner_lon", ("grid_size", "grid_corners"), lon, {"units": units}),
                       ("grid_corner_lat", ("grid_size", "grid_corners"), corners[..., 1], {"units": units}),
                       ("grid_imask", ("grid_size",), MASK.astype("i4"), {})])


def listed(path, lat, lon=((0.0, 1.0, 2.0),)):
    """A cell with these corners."""
    return save(path, [("grid_corner_lat", ("n", "k"), lat, {}), ("grid_corner_lon", ("n", "k"), lon, {})])


def icon(path):
    """Angles in radians, and beside the cells other places with bounds."""
    corners = np.radians(POINTS[FULL])
    variables = []
    for name, i, standard in (("lat", 1, "grid_latitude"), ("lon", 0, "grid_longitude")):
        for kind, table in (("c", corners[..., i]), ("e", corners[:9, ::-1, i])):
            variables += [(f"{kind}{name}", (f"{kind}ell",), table.mean(axis=1), {
                "standard_name": standard, "units": "radian", "bounds": f"{kind}{name}_vertices"}),
                          (f"{kind}{name}_vertices", (f"{kind}ell", "nv"), table, {"units": "radian"})]
    return save(path, variables)


def cf(path, flat=True):
    """Cells in a row, or in rows and columns."""
    corners, dims = POINTS[FULL], ("cell",) if flat else ("row", "column")
    shape = (len(CELLS),) if flat else (6, 12)
    centre = corners.mean(axis=1)
    return save(path, [("lat", dims, centre[:, 1].reshape(shape), {**NORTH, "bounds": "lat_corners"}),
                       ("lon", dims, centre[:, 0].reshape(shape), {**EAST, "bounds": "lon_corners"}),
                       ("lat_corners", (*dims, "k"), corners[..., 1].reshape(*shape, 4), {}),
                       ("lon_corners", (*dims, "k"), corners[..., 0].reshape(*shape, 4), {}),
                       ("depth", dims, np.arange(len(CELLS)).reshape(shape), {})])


def axes(path):
    lat, lon = np.linspace(-90, 90, 7), np.linspace(0, 360, 13)
    return save(path, [("lat", ("lat",), (lat[1:] + lat[:-1]) / 2, {**NORTH, "bounds": "lat_bnds"}),
                       ("lon", ("lon",), (lon[1:] + lon[:-1]) / 2, {**EAST, "bounds": "lon_bnds"}),
                       ("lat_bnds", ("lat", "two"), np.column_stack([lat[:-1], lat[1:]]), {}),
                       ("lon_bnds", ("lon", "two"), np.column_stack([lon[:-1], lon[1:]]), {})])


LAYOUTS = {
    "ugrid": ugrid, "ugrid from 1": lambda p: ugrid(p, start=1), "ugrid turned": lambda p: ugrid(p, turned=True),
    "ugrid in single precision": lambda p: ugrid(p, kind="f4"), "latitudes first": lambda p: ugrid(p, swapped=True),
    "ugrid of numbers without sign": lambda p: ugrid(p, nodes=np.where(WIDE < 0, 2**32 - 1, WIDE).astype("u4"),
                                                     fill=2**32 - 1),
    "ugrid of floats": lambda p: ugrid(p, nodes=np.where(WIDE < 0, np.nan, WIDE)),
    "esmf": esmf, "esmf in a row": lambda p: esmf(p, ragged=True), "mpas": mpas,
    "mpas in space": lambda p: mpas(p, sphere="NO"), "scrip": scrip,
    "scrip in radians": lambda p: scrip(p, units="radians"), "scrip in single precision": lambda p: scrip(p, kind="f4"),
    "scrip round again": lambda p: scrip(p, by=np.arange(len(CELLS))[:, None] % 3 * 360.0),
    "icon": icon, "cf": cf, "cf in rows": lambda p: cf(p, flat=False), "axes": axes,
}

FUZZED = ("ugrid", "esmf", "mpas", "scrip", "cf in rows", "axes")


def edges(mesh: Mesh) -> set[tuple[int, int]]:
    u, v, _ = dual_graph(mesh).edges()
    return set(zip(u.tolist(), v.tolist(), strict=True))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_layouts_give_the_same_cells_in_the_same_order(tmp_path, layout):
    found = read_mesh(LAYOUTS[layout](tmp_path / "grid.nc"))
    assert (found.ncells, found.npoints, found.dimension) == (len(CELLS), len(POINTS), 2)
    assert [len(cell) for _, block in found.blocks for cell in block] == [len(cell) for cell in CELLS]
    lon, lat = np.radians(POINTS).T
    places = np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    size = 7 if layout == "mpas in space" else 1
    expected = [size * places[cell].mean(axis=0) for cell in CELLS]
    assert np.allclose(found.centres(), expected, atol=1e-6)
    # one row of triangles at each pole, four of quadrilaterals between them, all closed around the axis
    assert len(edges(found)) == 6 * 12 + 5 * 12


def test_arrays_of_cells_are_kept_and_masks_are_told(tmp_path):
    assert read_mesh(ugrid(tmp_path / "a.nc")).cell_data["levels"].tolist() == list(range(1, len(CELLS) + 1))
    assert read_mesh(cf(tmp_path / "b.nc", flat=False)).cell_data["depth"].tolist() == list(range(len(CELLS)))
    for path, name in ((scrip(tmp_path / "c.nc"), "grid_imask"), (esmf(tmp_path / "d.nc"), "elementMask")):
        found = read_mesh(path)
        idle = int((~MASK).sum())
        assert found.remarks == (f"{idle} of {len(CELLS)} cells have {name} 0: {path.name}:{name}=1 leaves them out",)
        assert found.select((name, 1)).ncells == MASK.sum()


@pytest.mark.parametrize("first", [False, True])
def test_grids_of_oasis_are_groups_by_their_prefixes(tmp_path, first):
    """Corners in the first or the last dimension; what the masks say is an array."""
    corners = POINTS[FULL].reshape(6, 12, 4, 2)
    dims = ("y", "x", "crn")
    if first:
        corners, dims = np.moveaxis(corners, 2, 0), ("crn", "y", "x")
    save(tmp_path / "grids.nc", [(f"{name}.{key}", tuple(f"{d}_{name}" for d in dims), corners[..., i], {})
                                 for name in ("nemo", "ifs") for i, key in enumerate(("clo", "cla"))])
    found = read_mesh(tmp_path / "grids.nc")
    assert {name: cells.tolist() for name, cells in found.cell_groups.items()} == {
        "ifs": list(range(72)), "nemo": list(range(72, 144))}
    assert len(edges(found)) == 2 * len(edges(found.select("nemo"))) == 2 * 132
    save(tmp_path / "masks.nc", [("nemo.msk", ("y", "x"), (~MASK).astype("i4").reshape(6, 12), {})])
    found = read_mesh(tmp_path / "grids.nc")
    assert found.cell_data["msk"].tolist() == [-1] * 72 + (~MASK).astype(int).tolist()
    assert (found.select("nemo").cell_data["msk"] == ~MASK).all()


def test_grids_of_oasis_with_cells_without_area(tmp_path):
    corners = POINTS[FULL]
    corners[5] = 0
    save(tmp_path / "grids.nc", [(f"{name}.{key}", (f"n_{name}", "crn"), corners[:last, :, i], {})
                                 for name, last in (("a", 30), ("b", 72)) for i, key in enumerate(("clo", "cla"))])
    found = read_mesh(tmp_path / "grids.nc")
    assert {name: cells.tolist() for name, cells in found.cell_groups.items()} == {
        "a": list(range(29)), "b": list(range(29, 100))}


def test_cells_without_area_are_left_out_and_told(tmp_path):
    corners = POINTS[FULL]
    corners[[3, 40]] = 0
    path = save(tmp_path / "m.nc", [("grid_corner_lon", ("n", "k"), corners[..., 0], {}),
                                    ("grid_corner_lat", ("n", "k"), corners[..., 1], {}),
                                    ("number", ("n",), np.arange(len(CELLS)), {})])
    found = read_mesh(path)
    assert found.cell_data["number"].tolist() == [i for i in range(len(CELLS)) if i not in (3, 40)]
    assert found.remarks == (f"2 of {len(CELLS)} cells have no three corners apart and are left out: lines of parts "
                             f"files are those of the others",)


@pytest.mark.parametrize(("write", "told"), [
    (lambda p: save(p, [("T", ("time",), [1.0], {})]), "holds no grid with corners of cells as UGRID, MPAS, ESMF, "
                                                       "SCRIP, OASIS or CF (bounds) have it; its variables: T"),
    (lambda p: ugrid(p, node_coordinates=None), "topology mesh has no node_coordinates"),
    (lambda p: ugrid(p, nodes=WIDE + 1), f"a cell has corner {len(POINTS)}, counted from 0; there are {len(POINTS)}"),
    (lambda p: save(p, [("verticesOnCell", ("n",), [1, 2, 3], {}), ("nEdgesOnCell", ("n",), [3, 3, 3], {}),
                        *((f"{axis}Vertex", ("v",), [0.0], {}) for axis in ("lon", "lat"))]),
     "variable verticesOnCell needs two dimensions, has 1"),
    (lambda p: listed(p, [[91.0, 0.0, 0.0]]), "latitude 91.0 is beyond the poles (units degrees)"),
    (lambda p: listed(p, [[0.0, 1.0, np.nan]]), "latitude nan is beyond the poles"),
    (lambda p: listed(p, [[0.0, 1.0, 0.0]], [[0.0, np.inf, 1.0]]), "longitude inf is not a number"),
    (lambda p: save(p, [("grid_corner_lat", ("n",), [1.0], {}), ("grid_corner_lon", ("n",), [1.0], {})]),
     "grid_corner_lon and grid_corner_lat of shapes (1,) and (1,) are no corners of cells"),
    (lambda p: save(p, [("nodeCoords", ("a", "b"), POINTS, {"units": "degrees"}),
                        ("elementConn", ("c",), [1, 2, 3, 4], {}), ("numElementConn", ("d",), [3], {})]),
     "elementConn has 4 entries, numElementConn adds up to 3"),
    (lambda p: save(p, [("lat", ("lat",), [0.0], {**NORTH, "bounds": "b"}),
                        ("lon", ("lon",), [0.0], {**EAST, "bounds": "b"}),
                        ("b", ("lat", "k"), [[0.0, 1.0, 2.0]], {})]), "bounds of lon and lat need two entries each"),
    (lambda p: p.write_bytes(b"no netCDF"), "cannot be read as netCDF"),
    (lambda p: listed(p, [[1.0, 1.0, 1.0]], [[2.0, 2.0, 2.0]]), "no cell has three corners apart"),
], ids=range(12))
def test_what_is_wrong_is_said(tmp_path, write, told):
    write(tmp_path / "bad.nc")
    with pytest.raises(FormatError) as caught:
        read_mesh(tmp_path / "bad.nc")
    assert told in str(caught.value)
    assert "bad.nc" in str(caught.value)


def test_grids_in_the_plane_may_be_small(tmp_path):
    x, y = (1e-7 * np.array(v) for v in ([0.0, 1, 2, 0, 1, 2], [0.0, 0, 0, 1, 1, 1]))
    path = save(tmp_path / "m.nc", [
        ("mesh", (), np.int32(0), {"cf_role": "mesh_topology", "topology_dimension": 2,
                                   "face_node_connectivity": "corners", "node_coordinates": "x y"}),
        ("x", ("node",), x, {"units": "m"}), ("y", ("node",), y, {"units": "m"}),
        ("corners", ("face", "k"), np.array([[0, 1, 4, 3], [1, 2, 5, 4]], "i4"), {"start_index": 0})])
    mesh = read_mesh(path)
    assert (mesh.ncells, mesh.npoints, dual_graph(mesh).nedges) == (2, 6, 1)


def test_exodus_by_another_name_is_read_as_such(tmp_path):
    from .test_exodus import case

    mesh, path = case(tmp_path)
    assert read_mesh(path.rename(tmp_path / "m.nc")).ncells == mesh.ncells


def test_a_plan_of_an_ocean_and_an_atmosphere(tmp_path):
    """Every cell of both is coupled to what lies over it: no area is lost."""
    ocean, air = ugrid(tmp_path / "ocean.nc"), scrip(tmp_path / "air.nc")
    assert main(["plan", str(ocean), str(air), "--parts", "4", "3", "--interedges", "overlap", "-q",
                 "-o", str(tmp_path / "out")]) == 0
    assert main(["check", str(tmp_path / "out"), "-q"]) == 0
    made = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert [one["coupled_cells"] for one in made["metrics"]["components"].values()] == [len(CELLS)] * 2
    met = made["interface"]
    assert met["overlap"] == pytest.approx(met["a"]["size"]) == pytest.approx(met["b"]["size"])


# ---- corners
@given(st.lists(st.lists(st.integers(-1, 3), min_size=1, max_size=6), min_size=1, max_size=8))
def test_repeated_corners_are_dropped(rows):
    width = max(map(len, rows))
    table = np.array([[*row, *[-1] * (width - len(row))] for row in rows])
    corners, size = _without_repeats(table)
    for row, made, count in zip(table.tolist(), corners.tolist(), size.tolist(), strict=True):
        there = [x for x in row if x >= 0]
        expected = [x for i, x in enumerate(there) if len(there) == 1 or x != there[(i + 1) % len(there)]]
        assert made[:count] == expected
        assert set(made[count:]) <= {-1}


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2)), min_size=1, max_size=30),
       st.sampled_from([0.0, 0.5]) | st.floats(0.0, 1.0))
def test_points_that_are_near_are_one(places, offset):
    """Five places far apart, and points around them, on both sides of the boxes that are looked at first."""
    which = np.array([p for p, _ in places])
    points = np.column_stack([which + 1e-6 * offset + 1e-8 * np.array([d for _, d in places])] * 3)
    kept, number = same_places(points, 1e-6)
    assert len(kept) == len(set(which.tolist()))
    assert (np.abs(kept[number] - points) < 1e-7).all()


def test_points_far_out_are_what_they_are():
    points = np.array([[1e300, 0, 0], [-1e300, 0, 0], [1e300, 0, 1]])
    kept, number = same_places(points, 1e-6)
    assert number.tolist() in ([0, 1, 0], [1, 0, 1])
    assert len(kept) == 2


def test_points_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="not finite"):
        same_places(np.array([[0.0, np.inf, 0.0]]), 1.0)
