"""Bodies inside others: balls, rods, tubes, plates, blades, flaps, pipes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from copart.mesh import Mesh

from .building import (
    Points,
    axis,
    bent,
    cut,
    extruded,
    graded,
    grid,
    joined,
    six_tetrahedra,
    tetrahedra,
    triangles,
    within,
)
from .case import Collection, Meshes
from .rounds import annulus, ball, circle, disc, patch, shell, tile
from .unstructured import meshed, polygon_with_holes

IMMERSED = Collection()


def _few(value: float, least: int = 2) -> int:
    return max(least, round(value))


# ---- balls and rods
@IMMERSED.add("ball-in-shell", "a ball inside a thick shell, hexahedra, finer in the ball", 3, 4)
def ball_in_shell(n: float) -> Meshes:
    return {"ball": ball(_few(1.5 * n), _few(0.6 * n)), "shell": shell(_few(1.1 * n), _few(0.5 * n), 1, 1.6)}


@IMMERSED.add("ball-in-shell-tetra", "a ball inside a shell, tetrahedra that match", 3, 3, unstructured=True)
def ball_in_shell_tetra(n: float) -> Meshes:
    def shapes(gmsh: Any) -> dict[str, Sequence[int]]:
        occ = gmsh.model.occ
        found, _ = occ.fragment([(3, occ.addSphere(0, 0, 0, 1.6))], [(3, occ.addSphere(0, 0, 0, 1))])
        # the smaller of the two volumes is the ball
        inner, outer = sorted((tag for _, tag in found), key=lambda tag: occ.getMass(3, tag))[:2]
        return {"ball": [inner], "shell": [outer]}

    return meshed(shapes, 1 / n, 3)


@IMMERSED.add("rod-in-block", "a rod stands in a block and ends inside it", 3, 4)
def rod_in_block(n: float) -> Meshes:
    corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    side, layers = _few(1.2 * n), _few(0.7 * n)
    hole = tile(corners, side, layers, 0.5)
    bottom = joined(hole, disc(side, _few(0.3 * n), 0.5))
    block = joined(extruded(bottom, axis((0, 0.6), n)), extruded(hole, axis((0.6, 2), n)))
    fine = disc(_few(1.8 * n), _few(0.45 * n), 0.5)
    return {"rod": extruded(fine, axis((0.6, 2, 2.4), 1.4 * n)), "block": block}


# ---- tubes: rhombic tiles, which put their holes on a triangular lattice
_STEPS = np.array([[1.0, 0.0], [0.5, np.sqrt(0.75)]])
_TURN = -np.pi / 12
"""The diagonals of a rhombus are square to one another: its corners see the hole in four equal quarters."""


def _rhombus(i: int, j: int) -> Points:
    centre = i * _STEPS[0] + j * _STEPS[1]
    return np.stack([centre + a * _STEPS[0] / 2 + b * _STEPS[1] / 2 for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))])


def _hexagon(reach: int) -> list[tuple[int, int]]:
    """The places at most `reach` steps from the middle: 7 for 1, 19 for 2."""
    every = range(-reach, reach + 1)
    return [(i, j) for i in every for j in every if abs(i + j) <= reach]


@IMMERSED.add("tubes-7", "seven straight tubes through a block, their fluid one component", 3, 4, pieces={"tubes": 7})
def tubes_7(n: float) -> Meshes:
    holes, radius = _hexagon(1), 0.3
    side, layers = _few(0.9 * n), _few(0.6 * n)
    tiles = [tile(_rhombus(i, j), side, layers, radius, _TURN) if (i, j) in holes else patch(_rhombus(i, j), side)
             for j in range(-1, 2) for i in range(-1, 2)]
    fluid = [disc(_few(n), _few(0.25 * n), radius, _rhombus(*at).mean(axis=0), _TURN) for at in holes]
    return {"block": extruded(joined(*tiles), axis((0, 3), n)),
            "tubes": extruded(joined(*fluid), axis((0, 3), 1.2 * n))}


@IMMERSED.add("tubes-19", "19 tubes through a round block of wedges, cells that match around the tubes", 3, 4,
              pieces={"tubes": 19}, unstructured=True)
def tubes_19(n: float) -> Meshes:
    side, radius = _few(0.7 * n), 0.3
    centres = [i * _STEPS[0] + j * _STEPS[1] for i, j in _hexagon(2)]
    holes = [circle(4 * side, radius, c) for c in centres]
    flat = polygon_with_holes(circle(24, 2.9), holes, 1 / n)
    fluid = joined(*(disc(side, _few(0.2 * n, 1), radius, c) for c in centres))
    return {"block": extruded(flat, axis((0, 3), n)), "tubes": extruded(fluid, axis((0, 3), n))}


@IMMERSED.add("hollow-solid", "a pipe's wall between the fluid inside it and the fluid around it", 3, 4)
def hollow_solid(n: float) -> Meshes:
    along = axis((0, 4), n)
    corners = ((-1.5, -1.5), (1.5, -1.5), (1.5, 1.5), (-1.5, 1.5))
    return {"inner": extruded(disc(_few(n), _few(0.4 * n), 0.7), along),
            "wall": tetrahedra(extruded(annulus(4 * _few(0.7 * n), _few(0.15 * n), 0.7, 0.9), axis((0, 4), 0.7 * n))),
            "outer": extruded(tile(corners, _few(1.2 * n), _few(0.6 * n), 0.9), axis((0, 4), 1.3 * n))}


# ---- plates, flaps, blades
def _strips(low: float, bottom: float, top: float, high: float, across: int, n: float, growth: float) -> Points:
    """Coordinates across a thin body and the fluid on both its sides, whose cells grow away from it."""
    step = (top - bottom) / across
    count = 2 + round(np.log1p((growth - 1) * (bottom - low) / step) / np.log(growth))
    fine = growth if count < 2 * n * (bottom - low) else 1 + (growth - 1) / 2
    return np.concatenate([graded(bottom, low, step, fine)[:0:-1], np.linspace(bottom, top, across + 1),
                           graded(top, high, step, fine)[1:]])


@IMMERSED.add("plate-2d", "a thin plate in a channel, wetted on both sides and at its ends", 2, 10)
def plate_2d(n: float) -> Meshes:
    x, y = axis((0, 1, 3, 4), n), _strips(0, 0.49, 0.51, 1, 2, n, 1.15)
    channel = grid(x, y)
    plate = grid(axis((1, 3), 2.5 * n), axis((0.49, 0.51), n, {0: 4}))
    return {"plate": plate, "channel": cut(channel, ~within(channel, (1, 3), (0.49, 0.51)))}


@IMMERSED.add("plate-3d", "a thin plate across a channel, wetted on both sides; tetrahedra in the plate", 3, 6)
def plate_3d(n: float) -> Meshes:
    x, y, z = axis((0, 0.7, 2.3, 3), n), _strips(0, 0.49, 0.51, 1, 1, n, 1.35), axis((0, 1), n)
    channel = grid(x, y, z)
    plate = grid(axis((0.7, 2.3), 0.8 * n), axis((0.49, 0.51), n, {0: 1}), axis((0, 1), 0.8 * n))
    return {"plate": six_tetrahedra(plate), "channel": cut(channel, ~within(channel, (0.7, 2.3), (0.49, 0.51)))}


@IMMERSED.add("plates-2d-mixed", "two parallel plates in a channel of triangles and quadrilaterals", 2, 10,
              pieces={"plates": 2})
def plates_mixed(n: float) -> Meshes:
    y = axis((0, 0.32, 0.35, 0.65, 0.68, 1), n, {1: 3, 3: 3})
    channel = grid(axis((0, 1, 3, 4), n), y)
    both = within(channel, (1, 3), (0.32, 0.35)) | within(channel, (1, 3), (0.65, 0.68))
    flat = cut(channel, ~both)
    plates = grid(axis((1, 3), 2 * n), y)
    return {"plates": cut(plates, within(plates, (1, 3), (0.32, 0.35)) | within(plates, (1, 3), (0.65, 0.68))),
            "channel": triangles(flat, ~within(flat, (0.8, 3.2), (0.2, 0.8)))}


def _profile(x: Points, y: Points, z: Points) -> tuple[Points, Points, Points]:
    """Bends a straight plate of thickness 0.1 to a blade: a camber, and ends thinner than its middle."""
    at = np.clip(x - 1, 0, 2) / 2
    thickness = 0.25 + 3 * at * (1 - at) ** 1.5
    # the walls of the duct stay where they are
    near = np.abs(y) <= 0.05
    inside = y * thickness
    edge = np.sign(y) * 0.05 * thickness
    outside = edge + (np.sign(y) - edge) * (np.abs(y) - 0.05) / 0.95
    camber = 0.25 * np.sin(np.pi * at) * (1 - np.where(near, 0.05, np.abs(y)))
    return x + 0 * y, np.where(near, inside, outside) + camber, z


@IMMERSED.add("blade-2d", "a thin curved profile in a duct, triangles around quadrilaterals", 2, 10)
def blade_2d(n: float) -> Meshes:
    lines = (-1, -0.05, 0.05, 1)
    duct = grid(axis((0, 1, 3, 4.5), n), axis(lines, 0.7 * n, {1: 2}))
    blade = grid(axis((1, 3), 2.5 * n), axis(lines[1:3], n, {0: 6}))
    duct = triangles(cut(duct, ~within(duct, (1, 3), (-0.05, 0.05))))
    return {"blade": bent(blade, _profile), "duct": bent(duct, _profile)}


@IMMERSED.add("blade-3d", "a curved, twisted blade on the wall of a duct", 3, 5)
def blade_3d(n: float) -> Meshes:
    def shaped(x: Points, y: Points, z: Points) -> tuple[Points, Points, Points]:
        x, y, z = _profile(x, y, z)
        return x, y + 0.3 * z * (1 - np.abs(y)) * (np.clip(x, 1, 3) - 2), z

    lines = (-1, -0.05, 0.05, 1)
    duct = grid(axis((0, 1, 3, 4.5), n), axis(lines, 0.7 * n, {1: 2}), axis((0, 1.2, 1.6), n))
    blade = grid(axis((1, 3), 1.4 * n), axis(lines[1:3], n, {0: 3}), axis((0, 1.2), 1.4 * n))
    return {"blade": bent(blade, shaped),
            "duct": bent(cut(duct, ~within(duct, (1, 3), (-0.05, 0.05), (0, 1.2))), shaped)}


@IMMERSED.add("flap-2d", "a thin beam on the floor of a channel, wetted on three sides", 2, 10)
def flap_2d(n: float) -> Meshes:
    x, y = axis((0, 1, 1.06, 4), n, {1: 2}), axis((0, 0.6, 1), n)
    channel = grid(x, y)
    flap = grid(axis((1, 1.06), n, {0: 6}), axis((0, 0.6), 3 * n))
    return {"flap": flap, "channel": triangles(cut(channel, ~within(channel, (1, 1.06), (0, 0.6))))}


@IMMERSED.add("flap-2d-free", "a leaning beam on the floor of a channel of unstructured triangles", 2, 8,
              unstructured=True)
def flap_free(n: float) -> Meshes:
    def channel(gmsh: Any) -> dict[str, Sequence[int]]:
        occ = gmsh.model.occ
        corners = [(0, 0), (1, 0), (1.3, 0.6), (1.36, 0.6), (1.06, 0), (4, 0), (4, 1), (0, 1)]
        points = [occ.addPoint(x, y, 0) for x, y in corners]
        edges = [occ.addLine(a, b) for a, b in zip(points, points[1:] + points[:1], strict=True)]
        return {"channel": [occ.addPlaneSurface([occ.addCurveLoop(edges)])]}

    flap = grid(axis((1, 1.06), n, {0: 6}), axis((0, 0.6), 3 * n))
    return {"flap": bent(flap, lambda x, y, z: (x + 0.5 * y, y, z)), **meshed(channel, 1 / n, 2)}


@IMMERSED.add("flap-3d", "a thin wall across half of a channel, wetted on four sides", 3, 6)
def flap_3d(n: float) -> Meshes:
    x, y, z = axis((0, 1, 1.08, 3), n, {1: 1}), axis((0, 0.6, 1), n), axis((0, 0.7, 1), n)
    channel = grid(x, y, z)
    flap = grid(axis((1, 1.08), n, {0: 3}), axis((0, 0.6), 1.7 * n), axis((0, 0.7), 1.7 * n))
    return {"flap": flap, "channel": cut(channel, ~within(channel, (1, 1.08), (0, 0.6), (0, 0.7)))}


# ---- chains and rings
@IMMERSED.add("pipe-5", "five pieces of a long round bar in a row, hexahedra and tetrahedra by turns", 3, 4)
def pipe_5(n: float) -> Meshes:
    out: dict[str, Mesh] = {}
    for i, fine in enumerate((1.0, 0.5, 1.2, 0.55, 0.9)):
        flat = disc(_few(fine * n), _few(0.5 * fine * n), 0.6)
        piece = extruded(flat, axis((2 * i, 2 * i + 2), fine * n))
        out[f"piece{i + 1}"] = tetrahedra(piece) if i % 2 else piece
    return out


@IMMERSED.add("pipe-halves", "a long pipe cut along its axis: two strips of wall that meet at two long faces", 3, 5)
def pipe_halves(n: float) -> Meshes:
    upper = annulus(_few(3 * n), _few(0.35 * n), 0.8, 1.1, (0, np.pi))
    lower = annulus(_few(4 * n), _few(0.5 * n), 0.8, 1.1, (np.pi, 2 * np.pi))
    return {"upper": extruded(upper, axis((0, 6), n)), "lower": extruded(lower, axis((0, 6), 1.4 * n))}


@IMMERSED.add("ring-quadrants-2d", "a disc inside four quarters of a ring: five components", 2, 10)
def ring_quadrants(n: float) -> Meshes:
    out = {"disc": disc(_few(1.2 * n), _few(0.6 * n))}
    for i, fine in enumerate((0.8, 1.0, 1.2, 0.7)):
        part = (i * np.pi / 2, (i + 1) * np.pi / 2)
        quarter = annulus(_few(1.6 * fine * n), _few(0.6 * fine * n), 1.0, 1.6, part)
        out[f"quarter{i + 1}"] = triangles(quarter) if i % 2 else quarter
    return out


@IMMERSED.add("quadrants-3d", "four quarters of a thick tube, each beside two others", 3, 4)
def quadrants_3d(n: float) -> Meshes:
    out = {}
    for i, fine in enumerate((1.0, 1.2, 0.9, 1.1)):
        part = (i * np.pi / 2, (i + 1) * np.pi / 2)
        flat = annulus(_few(1.6 * fine * n), _few(fine * n), 0.5, 1.5, part)
        out[f"quarter{i + 1}"] = extruded(flat, axis((0, 2), fine * n))
    return out
