"""Bodies that lie against one another, in each other's corners or in one another."""

from __future__ import annotations

import numpy as np

from copart.mesh import cube

from .building import axis, bent, cut, extruded, graded, grid, six_tetrahedra, triangles, within
from .case import Collection, Meshes, hot_spot
from .rounds import disc

CONTACTS = Collection()


@CONTACTS.add("cubes-hexa", "two cubes share a face, twice as fine in B", 3, 6)
def cubes_hexa(n: float) -> Meshes:
    side = round(n)
    return {"a": cube("hexa", side), "b": cube("hexa", 2 * side, offset=(1, 0, 0))}


@CONTACTS.add("cubes-tetra-hexa", "a cube of tetrahedra and one of hexahedra share a face", 3, 6)
def cubes_tetra_hexa(n: float) -> Meshes:
    side = round(n)
    return {"a": cube("tetra", max(100, round(0.5 * n**3))), "b": cube("hexa", side, offset=(1, 0, 0))}


@CONTACTS.add("hot-spot", "two cubes share a face; loads are 10 near one edge of it, 1 elsewhere", 3, 8,
              load=hot_spot((1.0, 0.0, 0.5), 0.3))
def hot_spot_cubes(n: float) -> Meshes:
    return {"a": cube("hexa", round(n)), "b": cube("hexa", round(1.25 * n), offset=(1, 0, 0))}


@CONTACTS.add("l-contact", "a box in the corner of an L of tetrahedra: two faces of it are wetted", 3, 5)
def l_contact(n: float) -> Meshes:
    body = grid(*(axis(b, 0.7 * n) for b in ((0, 1, 2), (0, 1, 2), (0, 1))))
    box = grid(*(axis(b, 1.2 * n) for b in ((1, 2), (1, 2), (0, 1))))
    return {"box": box, "angle": six_tetrahedra(cut(body, ~within(body, (1, 2), (1, 2))))}


@CONTACTS.add("t-contact", "the stem of a T is in a slot of a block, and its bar lies on the block", 3, 5)
def t_contact(n: float) -> Meshes:
    lines = ((0, 1.2, 1.8, 3), (0, 0.5, 1, 1.5), (0, 1))
    x, y, z = (axis(b, n) for b in lines)
    block = grid(x, y[y < 1 + 1e-9], z)
    block = cut(block, ~within(block, (1.2, 1.8), (0.5, 1)))
    tee = grid(*(axis(b, 1.4 * n) for b in lines))
    tee = cut(tee, within(tee, (0, 3), (1, 1.5)) | within(tee, (1.2, 1.8), (0.5, 1)))
    return {"block": block, "tee": tee}


@CONTACTS.add("wavy-wall-2d", "a channel of quadrilaterals over a wavy wall of triangles", 2, 10)
def wavy_wall(n: float) -> Meshes:
    def wave(x, y, z):
        return x, y + 0.12 * np.sin(2 * np.pi * x) * (1 - np.abs(y)), z

    over = grid(axis((0, 4), n), axis((0, 1), n))
    under = grid(axis((0, 4), 0.8 * n), axis((-0.5, 0), 0.8 * n))
    return {"wall": bent(triangles(under), wave), "fluid": bent(over, wave)}


@CONTACTS.add("patch-on-box", "a small body under one wall of a large box, whose cells are small near it", 3, 4)
def patch_on_box(n: float) -> Meshes:
    # the same distribution of sizes at every resolution
    step, growth = 1 / n, 1 + 1.5 / n
    middle = axis((0, 1), n)
    line = np.concatenate([graded(0, -6, step, growth)[:0:-1], middle, graded(1, 7, step, growth)[1:]])
    body = grid(*(axis(b, 1.2 * n) for b in ((0, 1), (0, 1), (-0.6, 0))))
    return {"body": body, "box": grid(line, line, graded(0, 8, step, growth))}


@CONTACTS.add("patch-on-box-2d", "a small body of triangles under the wall of a large graded channel", 2, 8)
def patch_on_box_2d(n: float) -> Meshes:
    step, growth = 1 / n, 1 + 2 / n
    line = np.concatenate([graded(0, -10, step, growth)[:0:-1], axis((0, 1), n), graded(1, 20, step, growth)[1:]])
    body = triangles(grid(axis((0, 1), n), axis((-0.5, 0), n)))
    return {"body": body, "channel": grid(line, graded(0, 10, step, growth))}


@CONTACTS.add("sizes-1-200", "a small box inside a very large one, cells of one size: 1 : 200", 3, 3)
def sizes(n: float) -> Meshes:
    side = axis((-2.43, 0, 1, 3.42), n)
    large = grid(side, side, side)
    hole = within(large, (0, 1), (0, 1), (0, 1))
    return {"small": cut(large, hole), "large": cut(large, ~hole)}


@CONTACTS.add("overlap-cubes", "two boxes share a third of their volumes, hexahedra and tetrahedra", 3, 6,
              kinds=("overlap",))
def overlap_cubes(n: float) -> Meshes:
    a, b = axis((0, 1), n), axis((0, 1), 0.45 * n)
    return {"a": grid(a, a, a), "b": six_tetrahedra(grid(b + 0.6, b + 0.11, b + 0.07))}


@CONTACTS.add("overlap-discs-2d", "a disc over the end of a strip: two bodies share an area", 2, 10,
              kinds=("overlap",))
def overlap_discs(n: float) -> Meshes:
    return {"disc": disc(max(2, round(0.8 * n)), max(2, round(0.5 * n))),
            "strip": triangles(grid(axis((0.3, 3.3), n), axis((-0.4, 0.4), n)))}


@CONTACTS.add("overlap-rod-cylinder", "a coarse box around a fine cylinder: a source term in a volume", 3, 4,
              kinds=("overlap",))
def overlap_rod(n: float) -> Meshes:
    flat = disc(max(2, round(0.7 * n)), max(1, round(0.4 * n)), 0.45, (0.1, 0.05))
    return {"heater": extruded(flat, axis((0.5, 2.5), 1.5 * n)),
            "box": grid(axis((-1, 1), n), axis((-1, 1), n), axis((0, 3), n))}


@CONTACTS.add("step-and-lid", "three boxes: two side by side, a third on both", 3, 5)
def step_and_lid(n: float) -> Meshes:
    left = grid(axis((0, 1), n), axis((0, 1), n), axis((0, 1), n))
    right = grid(axis((1, 2.5), 0.8 * n), axis((0, 1), 0.8 * n), axis((0, 1), 0.8 * n))
    lid = six_tetrahedra(grid(axis((0.3, 2), 0.6 * n), axis((0, 1), 0.6 * n), axis((1, 1.5), 0.6 * n)))
    return {"left": left, "right": right, "lid": lid}
