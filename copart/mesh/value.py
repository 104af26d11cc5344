"""`Mesh`: points and cells, frozen and validated."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Frozen, frozen, own, places, plain, spanned
from ..errors import MeshError
from ..names import NAMELESS
from .cells import CellShape, shape_of
from .fields import (
    Block,
    Groups,
    block_of,
    facet_groups_of,
    index_groups_of,
    mapping_of,
    pairs_of,
    points_of,
    texts_of,
    vector,
)
from .groups import Grouped, select
from .polyhedra import Polyhedra, Rows


@dataclass(frozen=True, eq=False, repr=False)
class Mesh(Frozen, Grouped):
    """Points and cells, as read from a file or generated.

    The blocks given may mix dimensions: those of the largest dimension are the
    *cells* of the mesh, numbered over the blocks in order; the others are left
    out.  The boundaries they stood for are facet groups.

    Parameters
    ----------
    points : (npoints, d) array_like of float
        Coordinates, d = 1, 2 or 3; kept as float64 with three columns.
    blocks : sequence of (str, (n, k) array_like of int)
        meshio cell type and the nodes of each cell; empty blocks are dropped.  Empty where there are `polyhedra`.
    cell_data : mapping of str to (ncells, ...) array, optional
        Values on the cells.
    name : str
        What to call the mesh in files and messages.
    facet_groups : mapping of str to (n, w) array_like of int, optional
        Corner nodes of the facets of each named boundary, in cyclic order, padded with -1 at the end.
    point_groups : mapping of str to (n,) array_like of int, optional
        Named sets of nodes; a facet belongs to one when all its corners do.
    cell_groups : mapping of str to (n,) array_like of int, optional
        Named sets of cells.
    interface : str or sequence of str, optional
        The facet or point groups that are offered for coupling; the whole boundary where not given. One is kept as str,
        several as tuple; `offered` has them as a tuple in any case.
    remarks : sequence of str, optional
        What was lost when the mesh was read.
    polyhedra : Polyhedra, optional
        Cells of any shape, instead of `blocks`.

    Raises
    ------
    MeshError
        Not finite coordinates, nodes outside the points, no cells, data of the wrong length, or an unknown interface.

    Examples
    --------
    >>> m = Mesh([[0, 0], [1, 0], [0, 1], [1, 1]], [("triangle", [[0, 1, 2], [1, 3, 2]])],
    ...          facet_groups={"left": [[0, 2]]})
    >>> m
    Mesh('mesh': 2 triangle in 2D, 4 points, facet group left)
    >>> m.ncells, m.dimension, m.select("left").interface
    (2, 2, 'left')
    """

    points: NDArray[np.float64]
    blocks: Sequence[Block] = ()
    cell_data: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    name: str = NAMELESS
    facet_groups: Groups = field(default_factory=dict)
    point_groups: Groups = field(default_factory=dict)
    cell_groups: Groups = field(default_factory=dict)
    interface: str | tuple[str, ...] | None = None
    remarks: Sequence[str] = ()
    polyhedra: Polyhedra | None = None

    def __post_init__(self) -> None:
        points = points_of(self.points)
        checked = [block_of(t, cells, len(points)) for t, cells in pairs_of(self.blocks)]
        if not isinstance(self.name, str):
            raise MeshError(f"name: needs text, got {self.name!r:.60}")
        if self.polyhedra is not None:
            if checked:
                raise MeshError(f"mesh {self.name!r}: has both blocks and polyhedra")
            if int(self.polyhedra.nodes.max()) >= len(points):
                raise MeshError(f"mesh {self.name!r}: faces point outside the {len(points)} points, "
                                f"first at node {int(self.polyhedra.nodes.max())}")
        dims = [shape_of(t, c.shape[1]).dimension if len(c) else 0 for t, c in checked]
        top = 3 if self.polyhedra is not None else max(dims, default=0)
        if top == 0:
            what = "points only, no cells" if len(points) else "empty: neither points nor cells"
            raise MeshError(f"mesh {self.name!r}: {what}")
        main = [i for i, d in enumerate(dims) if d == top]
        data = self._cells_only([len(c) for _, c in checked], main)
        put = object.__setattr__
        put(self, "points", own(points, self.points))
        put(self, "blocks", tuple((checked[i][0], frozen(checked[i][1])) for i in main))
        put(self, "cell_data", MappingProxyType(data))
        put(self, "facet_groups", facet_groups_of(mapping_of("facet_groups", self.facet_groups), len(points), top))
        nodes, cells = mapping_of("point_groups", self.point_groups), mapping_of("cell_groups", self.cell_groups)
        put(self, "point_groups", index_groups_of("point", nodes, len(points)))
        put(self, "cell_groups", index_groups_of("cell", cells, self.ncells))
        put(self, "remarks", texts_of("remarks", self.remarks))
        if self.interface is not None:
            put(self, "interface", texts_of("interface", self.interface))
        offered = tuple(dict.fromkeys(self.offered))
        put(self, "interface", None if not offered else offered[0] if len(offered) == 1 else offered)
        for name in offered:
            if name not in self.facet_groups and name not in self.point_groups:
                raise MeshError(f"interface: mesh {self.name!r} has no facet or point group {name!r}; "
                                f"it has: {', '.join([*self.facet_groups, *self.point_groups]) or 'none'}")

    def _cells_only(self, sizes: list[int], main: list[int]) -> dict[str, NDArray[Any]]:
        """The cell arrays, cut to the cells of the largest dimension where they cover all blocks given."""
        cells = self.polyhedra.ncells if self.polyhedra is not None else sum(sizes[i] for i in main)
        start = np.concatenate([[0], np.cumsum(sizes)])
        data: dict[str, NDArray[Any]] = {}
        for name, values in mapping_of("cell_data", self.cell_data).items():
            array = plain(f"cell data {name!r}", values, MeshError)
            if array.ndim == 0 or len(array) not in (sum(sizes), cells):
                raise MeshError(f"cell data {name!r}: needs {cells} entries, one per cell, has shape {array.shape}")
            if len(array) != cells:
                array = np.concatenate([array[start[i]:start[i + 1]] for i in main])
            data[name] = own(array, values)
        return data

    # ---- what a reader asks first
    @cached_property
    def ncells(self) -> int:
        """Number of cells (of the largest dimension)."""
        return self.polyhedra.ncells if self.polyhedra is not None else sum(len(c) for _, c in self.blocks)

    @property
    def npoints(self) -> int:
        """Number of points."""
        return len(self.points)

    @cached_property
    def dimension(self) -> int:
        """Dimension of the cells, 1, 2 or 3; that of the space may be larger."""
        if self.polyhedra is not None:
            return 3
        t, c = self.blocks[0]
        return shape_of(t, c.shape[1]).dimension

    def shapes(self) -> list[tuple[CellShape, NDArray[np.int64]]]:
        """Shape and nodes of each block, in cell order.

        Raises
        ------
        MeshError
            The cells are polyhedra, which have no shape; `corners` knows their nodes.
        """
        if self.polyhedra is not None:
            raise MeshError(f"mesh {self.name!r}: cells that are polyhedra have no shape")
        return [(shape_of(t, c.shape[1]), c) for t, c in self.blocks]

    @cached_property
    def corners(self) -> Rows:
        """Corner nodes of each cell: offsets (ncells + 1,) int64 and the nodes one after the other."""
        if self.polyhedra is not None:
            return self.polyhedra.corners
        shapes = self.shapes()
        size = np.repeat([s.ncorners for s, _ in shapes], [len(c) for _, c in shapes])
        nodes = np.concatenate([c[:, :s.ncorners].ravel() for s, c in shapes])
        return np.concatenate([[0], np.cumsum(size)]), nodes

    def centres(self, cells: NDArray[np.integer[Any]] | None = None, threads: int = 1) -> NDArray[np.float64]:
        """(n, 3) mean of the corner points of each cell.

        Parameters
        ----------
        cells : (n,) array of int, optional
            Only of these; of all where not given.
        threads : int
            Threads to use for all.

        Raises
        ------
        MeshError
            There is no such cell.
        """
        from ..kernels.mesh_dual import cell_centres
        from ..partitioner.rounds import Team

        if cells is not None:
            cells = places("cells", cells, np.int64, MeshError, high=self.ncells)
        if self.polyhedra is not None:
            start, nodes = self.corners
            each = np.empty((self.ncells, 3))
            for k in range(3):
                each[:, k] = np.add.reduceat(self.points[nodes, k], start[:-1]) / np.diff(start)
            return each if cells is None else each[cells]

        def piece(lo: int, hi: int, nodes: NDArray[np.int64], ncorners: int, out: NDArray[np.float64]) -> None:
            cell_centres(self.points, nodes[lo:hi], ncorners, out[lo:hi])

        out = np.empty((self.ncells if cells is None else len(cells), 3))
        at = 0
        for shape, nodes in self.shapes():
            upto = at + len(nodes)
            if cells is None:
                with Team(threads) as team:
                    team.run(piece, len(nodes), nodes, shape.ncorners, out[at:upto])
            else:
                mine = np.flatnonzero((cells >= at) & (cells < upto))
                some = np.empty((len(mine), 3))
                # read-only as whole blocks are, so that the kernel is compiled once
                cell_centres(self.points, frozen(nodes[cells[mine] - at]), shape.ncorners, some)
                out[mine] = some
            at = upto
        return out

    @cached_property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3) smallest and largest coordinates of the points that cells use."""
        from ..kernels.mesh_dual import mark_corners

        used = np.zeros(self.npoints, bool)
        if self.polyhedra is not None:
            used[self.polyhedra.nodes] = True
        else:
            for shape, nodes in self.shapes():
                mark_corners(nodes, shape.ncorners, used)
        return frozen(spanned(self.points if used.all() else self.points[used]))

    def select(self, name: Any) -> Mesh:
        """One region of the mesh, or the mesh with one boundary offered for coupling.

        Parameters
        ----------
        name : str, (str, value), or list of these
            A cell group: only its cells. A facet or point group: the same mesh with that `interface`, beside those
            it has already. (cell array, value): only the cells where the array has that value. Where a name is
            that of groups of two kinds: ("cells", name), ("facets", name) or ("points", name). A name with ``*`` or
            ``?`` that no group has stands for all groups that fit. A list: all its cells, or all its boundaries.

        Raises
        ------
        MeshError
            No such group, array or value, the message lists those there are; or a list of cells and boundaries.
        """
        return select(self, name)

    def replace(self, **changes: Any) -> Mesh:
        """A copy with other fields, validated again.

        Parameters
        ----------
        **changes : object
            Fields of the mesh by name, as in ``name="fluid"``.
        """
        return dataclasses.replace(self, **changes)

    def translated(self, offset: Sequence[float]) -> Mesh:
        """The mesh moved by `offset` (3 numbers).

        Parameters
        ----------
        offset : (float, float, float)
            In the unit of the coordinates.
        """
        return self.replace(points=self.points + vector("offset", offset))

    def scaled(self, factor: float) -> Mesh:
        """The mesh with all coordinates multiplied by `factor`.

        Parameters
        ----------
        factor : float
            0.001 turns millimetres into metres.
        """
        f = float(factor)
        if not np.isfinite(f) or f <= 0:
            raise MeshError(f"factor: must be finite and positive, got {factor!r}")
        return self.replace(points=self.points * f)

    def __repr__(self) -> str:
        kinds: dict[str, int] = {} if self.polyhedra is None else {"polyhedron": self.ncells}
        for t, c in self.blocks:
            kinds[t] = kinds.get(t, 0) + len(c)
        cells = " + ".join(f"{n} {t}" for t, n in kinds.items())
        said = [f"{cells} in {self.dimension}D", f"{self.npoints} points"]
        if self.cell_data:
            said.append(f"data {', '.join(self.cell_data)}")
        for kind, groups in (("cell", self.cell_groups), ("facet", self.facet_groups), ("point", self.point_groups)):
            if groups:
                more = f", {len(groups) - 6} more" if len(groups) > 6 else ""
                said.append(f"{kind} group{'s' * (len(groups) > 1)} {', '.join(list(groups)[:6])}{more}")
        if self.interface is not None:
            said.append(f"coupled at {', '.join(self.offered)}")
        return f"Mesh({self.name!r}: {', '.join(said)})"
