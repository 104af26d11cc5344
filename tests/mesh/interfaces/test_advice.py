"""What is said where two meshes do not meet: the next step helps."""

from __future__ import annotations

import numpy as np
import pytest

from copart.errors import MeshError
from copart.mesh import Mesh, cube, find_interedges, find_interface


def flat(low, high, cells, z=0.0):
    """Quadrilaterals between two corners of the plane at z."""
    (x, y), (nx, ny) = (np.linspace(low[k], high[k], cells[k] + 1) for k in (0, 1)), cells
    points = np.stack([*np.meshgrid(x, y, indexing="ij"), np.full((nx + 1, ny + 1), z)], axis=-1).reshape(-1, 3)
    i = (np.arange(nx)[:, None] * (ny + 1) + np.arange(ny)).reshape(-1)
    return Mesh(points, [("quad", np.stack([i, i + ny + 1, i + ny + 2, i + 1], axis=1))])


def test_what_to_do_about_a_gap_helps():
    a, b = flat((0, 0), (2, 0.2), (100, 10)), flat((0, 0.204), (2, 0.404), (130, 13))
    for kind in ("facet", "touch"):
        with pytest.raises(MeshError, match=r"with --gap 0\.004 130 facets of '\w+' match$") as told:
            find_interedges(a, b, kind)
        # the other two kinds do not reach over a gap
        assert "--interedges" not in str(told.value)
        assert len(find_interedges(a, b, kind, gap=0.004).coupled_b) == 130
    # where rounding makes the gap a hair wider
    with pytest.raises(MeshError, match=r"with --gap 0\.00401 130 facets"):
        find_interedges(a, b.translated((0, 1e-15, 0)))
    with pytest.raises(MeshError, match=r", or try --interedges facet$"):
        find_interedges(a, b.translated((0, -0.003, 0)), "touch", tolerance=1e-3)
    # surfaces side by side in one plane share nothing, whatever the gap
    with pytest.raises(MeshError, match=r"; move or scale one mesh \(--shift, --scale\)$"):
        find_interedges(a, b, "overlap", gap=0.1)
    with pytest.raises(MeshError, match=r"; raise gap \(0\.1 now\)"):
        find_interedges(a, flat((0, 0), (2, 0.2), (50, 5), 0.2), "overlap", gap=0.1)


def test_a_shell_over_the_end_of_a_body_is_apart_and_not_inside():
    shell, body = flat((0, 0), (1, 1), (6, 6)).replace(name="shell"), cube("hexa", 4, offset=(0, 0, 0.3), name="body")
    for kind in ("facet", "touch"):
        with pytest.raises(MeshError, match=r"no cells meet .*with --gap 0\.3 16 facets of 'body' match$"):
            find_interface(shell, body, kind)
    with pytest.raises(MeshError, match="face the same way, so the bodies overlap there"):
        find_interface(shell, body.translated((0, 0, -0.8)))


def test_cells_that_touch_a_sheet_inside_a_body_are_not_told_as_its_sides():
    sheet = flat((0, 0), (1, 1), (6, 6), 0.5).replace(name="sheet")
    inter, found = find_interface(sheet, cube("hexa", 4, name="body"), "touch")
    assert (len(inter.coupled_a), len(inter.coupled_b)) == (36, 32)
    assert found.lines() == ["sheet: 36 cells touch", "body: 32 cells touch"]
