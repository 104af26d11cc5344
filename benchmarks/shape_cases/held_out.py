"""Other geometries, which nobody looks at while choosing settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from copart.mesh import Mesh

from .building import (
    Mask,
    Points,
    axis,
    bent,
    cut,
    extruded,
    grid,
    joined,
    six_tetrahedra,
    tetrahedra,
    triangles,
    within,
)
from .case import Collection, Meshes, hot_spot
from .rounds import annulus, ball, box_with_ball, circle, disc, patch, ring, square_to_disc, tile, twisted
from .unstructured import meshed

HELD_OUT = Collection()


def _few(value: float, least: int = 2) -> int:
    return max(least, round(value))


@HELD_OUT.add("torus-in-box", "a torus inside a box, tetrahedra that match", 3, 2, unstructured=True)
def torus_in_box(n: float) -> Meshes:
    def shapes(gmsh: Any) -> dict[str, Sequence[int]]:
        occ = gmsh.model.occ
        box, torus = (3, occ.addBox(-2, -2, -1, 4, 4, 2)), (3, occ.addTorus(0, 0, 0, 1.2, 0.45))
        found, _ = occ.fragment([box], [torus])
        inner, outer = sorted((tag for _, tag in found), key=lambda tag: occ.getMass(3, tag))[:2]
        return {"torus": [inner], "box": [outer]}

    return meshed(shapes, 1 / n, 3)


@HELD_OUT.add("cross-in-cylinder", "a rod with the section of a cross in a cylinder", 3, 4)
def cross_in_cylinder(n: float) -> Meshes:
    lines = (-1, -0.7, -0.2, 0.2, 0.7, 1)

    def cross(flat: Mesh) -> Mask:
        return within(flat, (-0.7, 0.7), (-0.2, 0.2)) | within(flat, (-0.2, 0.2), (-0.7, 0.7))

    def body(fine: float, mine: bool) -> Mesh:
        flat = grid(axis(lines, fine), axis(lines, fine))
        flat = cut(flat, cross(flat) == mine)
        flat = bent(flat, lambda x, y, z: (*square_to_disc(x, y), z))
        return extruded(flat, axis((0, 3), fine))

    return {"cross": body(1.3 * n, True), "cylinder": body(n, False)}


@HELD_OUT.add("helix-in-cylinder", "a channel that winds through a cylinder, of the section of a square", 3, 5)
def helix_in_cylinder(n: float) -> Meshes:
    lines = (-1, -0.1, 0.2, 0.75, 1)
    across, up = axis((-1, -0.25, 0.25, 1), n), axis(lines, n)

    def body(mine: bool) -> Mesh:
        flat = grid(up, across)
        flat = cut(flat, within(flat, (0.2, 0.75), (-0.25, 0.25)) == mine)
        flat = bent(flat, lambda x, y, z: (*square_to_disc(x, y), z))
        return twisted(extruded(flat, axis((0, 6), 1.5 * n)), 1.6)

    return {"channel": body(True), "cylinder": body(False)}


@HELD_OUT.add("comb", "a heat sink: seven fins on a base, in a fluid", 3, 5)
def comb(n: float) -> Meshes:
    lines = [0.0]
    for i in range(7):
        lines += [0.3 + 0.4 * i, 0.45 + 0.4 * i]
    lines.append(lines[-1] + 0.3)

    def body(fine: float, solid: bool, least: int) -> Mesh:
        whole = grid(axis(lines, fine, least=least), axis((-0.2, 0, 0.8, 1.2), fine), axis((0, 1.2), fine))
        metal = within(whole, (0, 9), (-1, 0))
        for low, high in zip(lines[1:-1:2], lines[2::2], strict=True):
            metal |= within(whole, (low, high), (-1, 0.8))
        return cut(whole, metal == solid)

    return {"sink": body(1.2 * n, True, 2), "air": body(n, False, 2)}


@HELD_OUT.add("balls-in-box", "five balls of small boxes in a box: a scanned sample, its surface in steps", 3, 4,
              pieces={"balls": 5})
def balls_in_box(n: float) -> Meshes:
    centres = ((-0.5, -0.5, -0.5), (0.5, -0.4, -0.3), (-0.4, 0.5, 0.1), (0.5, 0.5, 0.5), (-0.3, -0.4, 0.5))
    line = axis((-1, 1), 2.5 * n)
    coarse = grid(line, line, line)
    # of the coarse grid, so that both sides have the same steps
    far = np.min([np.linalg.norm(coarse.centres() - c, axis=1) for c in centres], axis=0)
    solid = far < 0.36
    # every box in eight
    fine = axis(line.tolist(), 0, least=2)
    side = len(line) - 1
    k, j, i = np.unravel_index(np.arange((2 * side) ** 3), (2 * side,) * 3)
    parent = (k // 2 * side + j // 2) * side + i // 2
    return {"balls": cut(grid(fine, fine, fine), solid[parent]), "box": cut(coarse, ~solid)}


@HELD_OUT.add("journal-bearing", "a film of oil between a shaft and a bearing, thicker on one side", 3, 5)
def journal_bearing(n: float) -> Meshes:
    shaft = disc(_few(1.2 * n), _few(0.4 * n), 1.0, (0.03, 0.0))
    count = 4 * _few(2.2 * n)
    oil = ring(circle(count, 1.0, (0.03, 0.0)), circle(count, 1.08), 2)
    bearing = annulus(4 * _few(1.6 * n), _few(0.4 * n), 1.08, 1.5)
    return {"shaft": extruded(shaft, axis((0, 1.5), n)), "oil": extruded(oil, axis((0, 1.5), 1.5 * n)),
            "bearing": extruded(bearing, axis((0, 1.5), n))}


@HELD_OUT.add("annular-gap-2d", "a thin ring of triangles around a disc", 2, 8)
def annular_gap(n: float) -> Meshes:
    gap = annulus(4 * _few(2.5 * n), 4, 1.0, 1.06)
    return {"gap": triangles(gap), "disc": disc(_few(1.3 * n), _few(0.6 * n))}


@HELD_OUT.add("staircase", "two bodies that meet at a staircase of five steps, tetrahedra on hexahedra", 3, 4)
def staircase(n: float) -> Meshes:
    along = [0.4 * i for i in range(6)]
    up = [0.0, *np.arange(0.2, 2, 0.4).tolist(), 2.4]

    def boxes(fine: float) -> tuple[Mesh, Mask]:
        whole = grid(axis(along, fine), axis(up, fine), axis((0, 1), fine))
        x, y, _ = whole.centres().T
        return whole, y < 0.4 * (5 - np.floor(x / 0.4)) - 0.2

    (under, low), (over, high) = boxes(n), boxes(0.6 * n)
    return {"under": cut(under, low), "over": six_tetrahedra(cut(over, ~high))}


@HELD_OUT.add("disc-in-cylinder", "a thin disc across a cylinder of fluid, wetted on both faces and its rim", 3, 4)
def disc_in_cylinder(n: float) -> Meshes:
    side, around = _few(n), _few(0.4 * n)
    inside = disc(side, around, 0.7)
    rim = ring(circle(4 * side, 0.7), circle(4 * side, 1.0), _few(0.3 * n))
    z = axis((0, 0.99, 1.03, 2.5), n, {1: 2})
    whole = extruded(joined(inside, rim), z)
    far = np.linalg.norm(whole.centres()[:, :2], axis=1)
    # chords of the rim are a little inside of it
    hole = within(whole, (-1, 1), (-1, 1), (0.99, 1.03)) & (far < 0.7)
    thin = extruded(disc(_few(1.8 * n), _few(0.7 * n), 0.7), np.linspace(0.99, 1.03, 4))
    return {"disc": thin, "fluid": cut(whole, ~hole)}


@HELD_OUT.add("y-junction-2d", "a channel that forks, in a block: unstructured triangles that do not match", 2, 8,
              pieces={"block": 3}, unstructured=True)
def y_junction(n: float) -> Meshes:
    fork = [(0, 0.85), (1.5, 0.85), (3.0, 0.1), (3.0, 0.5), (2.0, 1.0), (3.0, 1.5), (3.0, 1.9), (1.5, 1.15), (0, 1.15)]

    def shapes(lines: dict[str, list[list[tuple[float, float]]]]) -> Any:
        def make(gmsh: Any) -> dict[str, Sequence[int]]:
            occ, made = gmsh.model.occ, {}
            for name, polygons in lines.items():
                made[name] = []
                for polygon in polygons:
                    points = [occ.addPoint(x, y, 0) for x, y in polygon]
                    edges = [occ.addLine(a, b) for a, b in zip(points, points[1:] + points[:1], strict=True)]
                    made[name].append(occ.addPlaneSurface([occ.addCurveLoop(edges)]))
            return made
        return make

    block = [[(0, 0), (3, 0), (3.0, 0.1), (1.5, 0.85), (0, 0.85)], [(3.0, 0.5), (3.0, 1.5), (2.0, 1.0)],
             [(0, 1.15), (1.5, 1.15), (3.0, 1.9), (3, 2), (0, 2)]]
    return {**meshed(shapes({"channel": [fork]}), 0.7 / n, 2), **meshed(shapes({"block": block}), 1 / n, 2)}


@HELD_OUT.add("inclined-plates-2d", "two thin plates that lean towards one another in a channel", 2, 10,
              pieces={"plates": 2})
def inclined_plates(n: float) -> Meshes:
    lines = (0, 1, 1.05, 2, 2.05, 3)
    y = (0, 0.2, 0.8, 1)

    def lean(x: Points, y: Points, z: Points) -> tuple[Points, Points, Points]:
        shift = np.interp(x, [0, 1, 1.05, 2, 2.05, 3], [0, 0.5, 0.5, -0.5, -0.5, 0])
        return x + shift * (y - 0.5), y, z

    def body(fine: float, across: int, mine: bool) -> Mesh:
        whole = grid(axis(lines, fine, {1: across, 3: across}), axis(y, fine))
        plates = within(whole, (1, 1.05), (0.2, 0.8)) | within(whole, (2, 2.05), (0.2, 0.8))
        return bent(cut(whole, plates == mine), lean)

    return {"plates": body(2 * n, 5, True), "channel": triangles(body(n, 2, False))}


@HELD_OUT.add("cap-on-wall", "half a ball on the wall of a box of tetrahedra that do not match it", 3, 3,
              unstructured=True)
def cap_on_wall(n: float) -> Meshes:
    def box(gmsh: Any) -> dict[str, Sequence[int]]:
        occ = gmsh.model.occ
        left, _ = occ.cut([(3, occ.addBox(-2, -2, 0, 4, 4, 1.6))], [(3, occ.addSphere(0, 0, 0, 0.8))])
        return {"box": [tag for _, tag in left]}

    whole = ball(2 * _few(0.6 * n, 1), _few(0.5 * n), 0.8)
    # the middle of the ball is a plane of its nodes
    return {"cap": cut(whole, whole.centres()[:, 2] > 0), **meshed(box, 1 / n, 3)}


@HELD_OUT.add("ball-in-cube", "a ball of tetrahedra inside a cube of hexahedra", 3, 4)
def ball_in_cube(n: float) -> Meshes:
    return {"ball": tetrahedra(ball(_few(0.8 * n), _few(0.3 * n), 0.6)),
            "cube": box_with_ball(_few(1.6 * n), _few(0.6 * n), 0.6, 1.0)}


@HELD_OUT.add("saw-tooth-2d", "quadrilaterals over triangles at a saw-tooth wall", 2, 8)
def saw_tooth(n: float) -> Meshes:
    tips = [0.25 * i for i in range(17)]

    def saw(x: Points, y: Points, z: Points) -> tuple[Points, Points, Points]:
        return x, y + np.interp(x, tips, [0.15 * (i % 2) for i in range(17)]) * (1 - np.abs(y)), z

    over = grid(axis(tips, n), axis((0, 1), n))
    under = triangles(grid(axis(tips, 1.4 * n), axis((-0.6, 0), 1.4 * n)))
    return {"wall": bent(under, saw), "fluid": bent(over, saw)}


@HELD_OUT.add("rod-bundle", "nine rods on a plate in a box of coolant, tetrahedra in the rods", 3, 4)
def rod_bundle(n: float) -> Meshes:
    places = [(i, j) for j in range(3) for i in range(3)]

    def corners(i: int, j: int) -> Points:
        return np.array([(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)], float) - 1.5

    side, layers = _few(1.2 * n), _few(0.6 * n)
    coolant = joined(*(tile(corners(i, j), side, layers, 0.32) for i, j in places))
    thick, few = _few(0.45 * n), _few(0.15 * n, 1)
    rods = joined(*(disc(thick, few, 0.32, (i - 1, j - 1)) for i, j in places))
    plate = joined(rods, *(tile(corners(i, j), thick, few, 0.32) for i, j in places))
    solid = joined(extruded(plate, axis((-0.3, 0), 0.6 * n)), extruded(rods, axis((0, 3), 0.5 * n)))
    return {"rods": tetrahedra(solid), "coolant": extruded(coolant, axis((0, 3), n))}


@HELD_OUT.add("wedge-in-notch", "a wedge in the notch of a block", 3, 5)
def wedge_in_notch(n: float) -> Meshes:
    def taper(x: Points, y: Points, z: Points) -> tuple[Points, Points, Points]:
        # between the flanks the width shrinks with depth, outside the block fills up what is left
        depth = np.clip(y / 1.5, 0, 1)
        half = 0.1 + 0.5 * depth
        ends = np.interp(x, [-2, -1, 1, 2], [-2, -1, 1, 2])
        flank = np.where(np.abs(x) <= 1, half * x, np.sign(x) * (half + (np.abs(ends) - 1) * (2 - half)))
        return flank, y, z

    x, y = (-2, -1, 1, 2), (-0.5, 0, 1.5)
    block = grid(axis(x, n), axis(y, n), axis((0, 1.5), n))
    block = cut(block, ~within(block, (-1, 1), (0, 1.5)))
    wedge = grid(axis(x[1:3], 0.8 * n), axis(y[1:], 1.2 * n), axis((0, 1.5), 1.2 * n))
    return {"wedge": bent(wedge, taper), "block": bent(block, taper)}


@HELD_OUT.add("hot-spot-lid", "a lid on a box of tiles, loads of 10 under one corner", 3, 4,
              load=hot_spot((1.5, 1.5, 1.0), 0.5))
def hot_spot_lid(n: float) -> Meshes:
    corners = ((0, 0), (2, 0.2), (1.8, 2), (0.1, 1.7))
    lid, box = patch(corners, _few(2.4 * n)), patch(corners, _few(2 * n))
    return {"lid": extruded(lid, axis((1, 1.3), 2 * n, least=2)), "box": extruded(box, axis((0, 1), n))}
