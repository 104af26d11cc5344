"""Meshes and interedges of any shape and name are read back as they were written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copart.coupling import Interedges
from copart.formats.interedges_file import read_interedges, write_interedges
from copart.mesh import Mesh, read_mesh, write_mesh, write_vtu
from copart.mesh.writing.gmsh_parts import write_gmsh

WIDTHS = {2: {"triangle": 3, "quad": 4, "triangle6": 6}, 3: {"tetra": 4, "pyramid": 5, "wedge": 6, "hexahedron": 8,
                                                              "tetra10": 10}}
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
folder_is_shared = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def meshes(draw):
    """Cells of one dimension on scattered points, far from and near to zero, with groups of all kinds."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dimension = draw(st.sampled_from([2, 3]))
    points = rng.standard_normal((draw(st.integers(10, 30)), 3)) * 10.0 ** draw(st.integers(-12, 12))
    points[:, dimension:] = 0
    blocks = [(kind, np.array([rng.permutation(len(points))[:WIDTHS[dimension][kind]] for _ in range(count)]))
              for kind, count in draw(st.lists(st.tuples(st.sampled_from(sorted(WIDTHS[dimension])),
                                                         st.integers(1, 4)), min_size=1, max_size=4))]
    ncells = sum(len(cells) for _, cells in blocks)
    names = draw(st.lists(NAMES, min_size=3, max_size=3, unique_by=str.casefold))
    facets = blocks[0][1][:1, :dimension]
    return Mesh(points, blocks, {"load": rng.integers(0, 9, ncells)}, "m", {names[0]: facets},
                {names[1]: np.arange(draw(st.integers(1, 9)))}, {names[2]: np.arange(draw(st.integers(1, ncells)))})


def same_cells(found, mesh):
    """Cells, blocks put together where they are of one type."""
    def cells(m):
        return [(kind, row) for kind, rows in m.blocks for row in rows.tolist()]

    assert cells(found) == cells(mesh)


def same_groups(found, mesh, kinds=("facet_groups", "point_groups", "cell_groups")):
    for kind in kinds:
        assert {k: v.tolist() for k, v in getattr(found, kind).items()} == \
            {k: v.tolist() for k, v in getattr(mesh, kind).items()}, kind


@folder_is_shared
@given(meshes())
def test_vtu(tmp_path, mesh):
    write_vtu(tmp_path / "m.vtu", mesh)
    found = read_mesh(tmp_path / "m.vtu")
    assert np.array_equal(found.points, mesh.points)
    same_cells(found, mesh)
    same_groups(found, mesh)
    assert np.array_equal(found.cell_data["load"], mesh.cell_data["load"])


@folder_is_shared
@given(meshes())
def test_gmsh(tmp_path, mesh):
    write_gmsh(tmp_path / "m.msh", mesh, np.zeros(mesh.ncells, np.int32))
    found = read_mesh(tmp_path / "m.msh")
    assert np.array_equal(found.points, mesh.points)
    same_cells(found, mesh)
    same_groups(found, mesh, ("cell_groups",))


@pytest.mark.parametrize("suffix", ["vtk", "med", "xdmf"])
@folder_is_shared
@given(meshes())
def test_what_meshio_writes(tmp_path, suffix, mesh):
    pytest.importorskip("h5py") if suffix in ("med", "xdmf") else None
    kind, cells = mesh.blocks[0]
    mesh = Mesh(mesh.points, [(kind, cells)])  # several blocks of a type are no longer in order in some formats
    found = read_mesh(write_mesh(tmp_path / f"m.{suffix}", mesh))
    assert np.allclose(found.points, mesh.points, rtol=1e-12, atol=0)
    same_cells(found, mesh)


@folder_is_shared
@given(st.data())
def test_interedges(tmp_path, data):
    na, nb = data.draw(st.integers(1, 10**6)), data.draw(st.integers(1, 20))
    pairs = data.draw(st.dictionaries(st.tuples(st.integers(0, na - 1), st.integers(0, nb - 1)),
                                      st.floats(1e-300, 1e300), max_size=20))
    made = Interedges.from_pairs(na, nb, [a for a, _ in pairs], [b for _, b in pairs], list(pairs.values()))
    write_interedges(tmp_path / "interedges.mtx", made)
    found = read_interedges(tmp_path / "interedges.mtx")
    assert found.shape == (na, nb)
    assert all(np.array_equal(a, b) for a, b in zip(found.pairs(), made.pairs(), strict=True))
