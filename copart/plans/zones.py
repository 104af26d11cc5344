"""Groups of cells that share out a mesh: gmsh's volumes, blocks of Exodus, families of MED, element sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ..mesh import Mesh


def shared_out(mesh: Mesh) -> list[str]:
    """The groups of cells among which every cell is in just one, as their names are typed; none where there are none.

    Groups of all cells do not count, of two with the same cells the first. Where some groups are made of others, it is
    the small ones; where small ones only mark some cells of others, it is the large ones.

    Examples
    --------
    >>> from copart.mesh import cube
    >>> mesh = cube("hexa", 2)
    >>> shared_out(mesh.replace(cell_groups={"low": range(4), "high": range(4, 8), "probe": [3, 4], "all": range(8)}))
    ['low', 'high']
    """
    groups = {name: cells for name, cells in mesh.cell_groups.items() if 0 < len(cells) < mesh.ncells}
    small = sorted(groups, key=lambda name: len(groups[name]))
    for names in (small, sorted(groups, key=lambda name: -len(groups[name]))):
        found = _disjoint(groups, names, mesh.ncells)
        if found is not None:
            return [typed(mesh, name) for name in groups if name in found]
    return []


def _disjoint(groups: Mapping[str, NDArray[np.int64]], names: Iterable[str], ncells: int) -> set[str] | None:
    """Groups taken in the order of `names`, but for those whose cells are all taken already; None where two overlap
    in part, or where cells are left."""
    taken = np.zeros(ncells, bool)
    out = set()
    for name in names:
        there = taken[groups[name]]
        if there.all():
            continue
        if there.any():
            return None
        taken[groups[name]] = True
        out.add(name)
    return out if taken.all() else None


def typed(mesh: Mesh, name: str) -> str:
    """The name of a group of cells as it is typed behind a colon: with its kind where a boundary is called the same."""
    return f"cells={name}" if name in mesh.facet_groups or name in mesh.point_groups else name


def why_not(mesh: Mesh, most: int) -> str:
    """Why the groups of cells of a mesh do not stand for components, and what to do; empty where there are no groups.

    Parameters
    ----------
    mesh : Mesh
    most : int
        Names listed at most.
    """
    groups = [name for name, cells in mesh.cell_groups.items() if 0 < len(cells) < mesh.ncells]
    if not groups:
        return ""
    count: Any = np.zeros(mesh.ncells, np.int64)
    for name in groups:
        count[mesh.cell_groups[name]] += 1
    none, several = int((count == 0).sum()), int((count > 1).sum())
    said = [f"{none} of its {mesh.ncells} cells are in none"] * (none > 0) + [f"{several} in several"] * (several > 0)
    listed = ", ".join(typed(mesh, name) for name in groups[:most]) + (", ..." if len(groups) > most else "")
    return f" (its regions do not share out its cells, {' and '.join(said)}; say which with --only: {listed})"


__all__ = ["shared_out", "typed", "why_not"]
