"""What kind of graph it is, which tells how to coarsen and refine it."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..graph import Graph
from ..kernels import Level, survey

Array = np.ndarray[Any, Any]

#: A graph is skewed where the vertex at the end of an edge has this many times the mean degree on average: 1 on grids,
#: at most 1.25 on meshes and on graphs with edges at random, 2 to 20 on networks of people, pages and routers.
_SKEWED = 1.5

#: Edges looked at to tell what kind of graph it is.
_SAMPLES = 1000

#: Balls that are looked at; vertices of one from which on its radius is doubled, and at most; and how many times more
#: are within twice the radius where the graph is flat: 3.2 to 4.2 in the plane, 5.2 to 6.4 in space, more where there
#: are edges at random.
_BALLS, _BALL, _LARGEST, _FLAT = 8, 32, 512, 4.7

#: Meshes in the plane have so many edges per vertex at most, counted twice: quadrilaterals, and others, as the nodes of
#: triangles.  Few hexahedra are no deeper than a ball.
_QUADRILATERALS, _PLANE = 4.8, 6.5

#: From so many triangles per edge on, in the plane and in space, the rows of a grid end inside; and where it has less
#: than this share of the squares of one whose rows go through.  Meshes of quadrilaterals as mesh generators make them
#: have .02 to .1 triangles per edge, where three meet at a point; blocks of rows have none.
_TRIANGLES, _SQUARES = (0.01, 0.02), 0.88

#: Grids with more corners than this times the 1/2 or 2/3 power of their vertices, in the plane and in space, are rough:
#: seas with coasts and islands have 3.2 to 13, sheets that cross 3 to 11, pores 3.4 to 5; discs, rings, diamonds and
#: spherical shells, with steps, 1.3 to 2.5; others next to none.  Clusters cut rough ones up to a quarter better, in
#: two thirds of the time.  In space tips tell as much, cells with two neighbours or fewer: foams and pores have .13 to
#: .7 times the 2/3 power of their vertices, balls, shells and other bodies with steps 0 to .1.  Clusters cut foams and
#: pores 10 to 20 % better in 4 and 8 parts, 5 % better in 32 and as well in 100, in four fifths of the time
#: (`default`).
_ROUGH, _TIPS = 2.8, 0.15

#: Hexahedra have a surface of steps, as balls, pipes and oblique plates of voxels, where cells at edges and corners,
#: with four neighbours or fewer, are more than this times the 2/3 power of all vertices, besides the edges of a cube:
#: these have .6 to 3, boxes and what is put together of boxes 0 to .2.  So have thin rods, which take a seventh longer
#: for it, and prisms and octrees, for which it pays, too.
_STEPPED, _CUBE_EDGES = 0.5, 12

#: Where weights differ from cell to cell, opposite sides of more than this share of the squares, or the ends of so many
#: edges, it is taken for no grid: boxes are cut up to 60 % dearer than clusters there, which avoid heavy edges, in as
#: much time.  Weights may differ by direction, or from place to place.
_UNLIKE_SIDES, _UNLIKE_ENDS = 0.1, 0.2

#: Sheets meet in fewer of their cells than this share.
_FEW = 0.1

#: In a grid that is numbered along its rows the numbers of neighbours differ by one of so many values nearly always:
#: for four fifths of the edges and more, also where there are several blocks.  Two thirds are most where an earlier run
#: has put the cells of each part together, and a third where the cells of a layer are in any order.
_STEPS, _ALONG_ROWS = 8, 0.7

#: A large grid in space of which this share does so, with one of so many values, is coarsened in boxes as it is, even
#: where it has few layers, so that those are far apart: boxes, and blocks of rows.  Cuts are as low as in
#: breadth-first order, in a fifth less time; on small ones in a tenth less, but .5 % higher with much effort.
#: Cylinders of layers of voxels, of which .86 to .95 does, are cut 5 to 13 % better in that order.
_BLOCK_STEPS, _IN_BLOCKS = 16, 0.97

#: Graphs of fewer edges, counted twice, stay in the caches: to number them anew takes longer than it saves (a tenth of
#: the time of ``fast``), and cuts are the same in any order.  But where neighbours have neighbours in common, clusters
#: are worse if these are in another block, and around hubs neighbours are anywhere.
_SMALL = 1 << 19


class Shape(NamedTuple):
    """What kind of graph it is.

    grid: quadrilaterals in rows, or hexahedra, of about the same weight as their neighbours; dense: neighbours have
    neighbours in common; far: vertices of a large graph are numbered far from their neighbours, but in blocks of rows
    in space, or those of a grid across its rows; skewed: a few vertices, the hubs, have most of the edges; flat: cells
    of a mesh in the plane or of a surface; uneven: rows of cells end inside, as where cells of an octree are divided,
    or weights differ along them; rough: cells of a body in space whose surface is everywhere, as in foams and porous
    rock; grows_flat: dense, and of whatever degree, but balls grow as in the plane; stepped: hexahedra in rows, with a
    surface of steps.
    """

    grid: bool
    dense: bool
    far: bool
    skewed: bool = False
    flat: bool = False
    uneven: bool = False
    rough: bool = False
    grows_flat: bool = False
    stepped: bool = False


class _Degrees(NamedTuple):
    """Of how many vertices there are 2 neighbours or fewer, 3 or fewer, more than 4 and 6; the number of all vertices,
    the sum of their degrees, and of their squares.
    """

    up_to_2: int
    up_to_3: int
    above_4: int
    above_6: int
    vertices: int
    entries: int
    squares: int

    @classmethod
    def of(cls, g: Level) -> _Degrees:
        """Counted over the free vertices of a graph."""
        found = np.empty(7, np.int64)
        survey.count_degrees(g, found)
        return cls(*found.tolist())

    @property
    def skewed(self) -> bool:
        """Whether a few vertices have most of the edges."""
        return self.squares * self.vertices > _SKEWED * self.entries**2

    def rough(self, flat: bool) -> bool:
        """Whether many cells of a grid are corners, with half of the neighbours or fewer, so that hardly a row is long.

        In space many tips are enough.  In the plane sheets may meet, in a few cells with more neighbours than sides.
        Those count twice.  Where they are many, it is a rod or a small body.
        """
        n, dims = self.vertices, 2 if flat else 3
        corners, joints = (self.up_to_2, self.above_4) if flat else (self.up_to_3, self.above_6)
        if flat and joints < _FEW * n:
            corners += 2 * joints
        tips = 0 if flat else self.up_to_2
        return bool(max(corners / _ROUGH, tips / _TIPS) > n ** (1 - 1 / dims))

    @property
    def stepped(self) -> bool:
        """Whether a grid in space has a surface of steps."""
        n = self.vertices
        return bool(n - self.above_4 - _CUBE_EDGES * n ** (1 / 3) > _STEPPED * n ** (2 / 3))


#: Of graphs that were looked at before: schemes partition the same ones again and again.
_SEEN: WeakKeyDictionary[Graph, Shape] = WeakKeyDictionary()


def known_shape(graph: Graph, level: Level) -> Shape:
    """The shape of a graph, of which `level` is what kernels see; looked at once.

    Fixed vertices are no hubs: what stands for a part, or for all that it holds, has many neighbours in any graph.
    """
    if (shape := _SEEN.get(graph)) is None:
        _SEEN[graph] = shape = look_at(level)
    if shape.skewed and len(level.fixed):
        return shape._replace(skewed=_Degrees.of(level).skewed)
    return shape


def look_at(g: Level) -> Shape:
    """The shape of a graph, from a sample of its edges and from its degrees."""
    degrees = _Degrees.of(g._replace(fixed=g.fixed[:0]))
    skewed = degrees.skewed
    seen = np.zeros(6, np.int64)
    survey.sample_shape(g, _SAMPLES, seen)
    triangles, squares, on_grid, far, unlike_sides, unlike_ends = seen
    dense = triangles * 2 > _SAMPLES
    cells = not skewed and not dense and squares * 5 > on_grid * 3
    few = degrees.entries <= (_QUADRILATERALS if cells else _PLANE) * degrees.vertices
    grows_flat = not skewed and (few or dense) and _grows_flat(g)
    flat = bool(few and grows_flat)
    uneven = cells and (triangles > _TRIANGLES[0 if flat else 1] * _SAMPLES or squares < _SQUARES * on_grid)
    # boxes are worth keeping where quadrilaterals are in rows (elsewhere cuts are as low without, in a sixth less
    # time); hexahedra of any kind are matched better than clustered, but in rough ones
    rough = cells and degrees.rough(flat)
    weighted = cells and (unlike_sides > _UNLIKE_SIDES * squares or unlike_ends > _UNLIKE_ENDS * _SAMPLES)
    grid = cells and not (flat and uneven) and not rough and not weighted
    small = len(g.adjncy) < _SMALL
    apart = far * 4 > _SAMPLES and not (small and not (grid or dense or skewed))
    if grid:
        steps = _steps(g)
        in_blocks = not small and not flat and steps[:_BLOCK_STEPS].sum() >= _IN_BLOCKS
        apart = (apart and not in_blocks) or steps[:_STEPS].sum() < _ALONG_ROWS
    stepped = grid and not flat and degrees.stepped
    found = grid, dense, apart, skewed, flat, uneven or weighted, rough and not flat, dense and grows_flat, stepped
    return Shape(*(bool(one) for one in found))


def _grows_flat(g: Level) -> bool:
    """Whether balls around vertices grow as in the plane, with the square of their radius, or more slowly."""
    n, inner, outer = len(g.vwgt), 0, 0
    ball, seen = np.empty(min(n, _LARGEST), np.int32), np.zeros(n, np.uint8)
    within = np.empty(2 * _BALL, np.int64)
    for i in range(_BALLS):
        survey.breadth_first(g, i * n // _BALLS, ball, seen, within)
        seen[ball] = 0
        # paths need most edges for a ball; what ends before is all within the radius
        radius = int(np.argmax(within >= min(_BALL, within[-1])))
        inner, outer = inner + int(within[radius]), outer + int(within[min(2 * radius, len(within) - 1)])
    return outer < _FLAT * inner


def _steps(g: Level) -> Array:
    """How often the numbers of neighbours in a grid differ by a value, the most frequent first, as shares of a sample.

    Matching in order keeps boxes where few values are frequent, as along rows.  Elsewhere clusters are of any form:
    cuts are up to 13 % higher there, and take up to four times as long, than on the same grid in breadth-first order.
    """
    v = np.arange(_SAMPLES) * len(g.vwgt) // _SAMPLES
    degree = g.xadj[v + 1] - g.xadj[v]
    # the entries of their rows, one row after the other
    edges = np.arange(degree.sum()) + np.repeat(g.xadj[v] - np.cumsum(degree) + degree, degree)
    steps = np.abs(g.adjncy[edges] - np.repeat(v, degree))
    return np.sort(np.unique(steps, return_counts=True)[1])[::-1] / len(steps)
