"""Where the nodes and links of a machine are drawn: tori and meshes plane by plane, trees and dragonflies as boxes.

A link between nodes of one plane is a line between them; links around the torus and those that leave the plane are
stubs.  In boxes, the line at the top of each is what leads out of it: of a host, a switch, or a group.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import NotApplicableError
from ..mapping.congestion.networks import Dragonfly, FatTree, Network, TorusNetwork
from ..mapping.coupled.placed import Placed
from ..mapping.sites import Sites

Array = np.ndarray[Any, Any]

#: More nodes and routers than these are not drawn on a page, and not at all.
MOST, MOST_ALONE = 4096, 2**18
#: Side of a node, of which the next one is 1 away.
SIDE = 0.58
#: Room between planes and boxes, and how wide pictures are for their height.
_GAP, _ASPECT = 0.9, 1.5


@dataclass(frozen=True, eq=False)
class Layout:
    """A drawing of a machine, without what it carries.

    Attributes
    ----------
    size : (float, float)
        Width and height.
    point : (n,) int64
        Points of the network that are drawn.
    at : (n, 2) float64
        Middle of each; y goes down.
    line : (m, 4) float64
        Ends of lines: x, y, x, y.
    cable : (m,) int64
        Which of the loads of :func:`cable_loads` each line shows.
    frame : (k, 4) float64
        Boxes of planes, switches and groups: x, y, width, height.
    names : tuple of str
        Of the planes; empty for boxes.
    """

    size: tuple[float, float]
    point: NDArray[np.int64]
    at: NDArray[np.float64]
    line: NDArray[np.float64]
    cable: NDArray[np.int64]
    frame: NDArray[np.float64]
    names: tuple[str, ...] = ()


def need_drawable(sites: Sites) -> None:
    """Refuse what cannot be drawn, before the work.

    Raises
    ------
    NotApplicableError
        The machine has no static routes, or very many nodes.
    """
    if sites.network is None:
        instead = "give the machine as coordinates of nodes, topology.conf or a hierarchy" if sites.nsites > 1 else \
            "leave it out"
        raise NotApplicableError(f"picture: {sites.no_routes}; {instead}")
    count = sites.network.npoints if isinstance(sites.network, TorusNetwork) else sites.nsites
    if count > MOST_ALONE:
        raise NotApplicableError(f"picture: {count} nodes and routers are more than the {MOST_ALONE} that are drawn")


def layout_of(sites: Sites, loads: Sequence[Array], most: int = MOST) -> Layout | None:
    """How to draw a network; None where there is none, or too many points would be drawn.

    Parameters
    ----------
    sites : Sites
    loads : sequence of (ncables,) array
        By :func:`cable_loads`: planes and routers without hosts and without load are left out.
    most : int
        Points that are drawn at most.
    """
    network = sites.network
    if isinstance(network, TorusNetwork):
        return _planes(network, sites, loads, most) if network.npoints <= MOST_ALONE else None
    used = np.unique(sites.point)
    if isinstance(network, Dragonfly):
        # routers without hosts may lie on the way
        used = np.union1d(used, [p for load in loads for p in np.flatnonzero(load[:network.npoints])]).astype(np.int64)
    if len(used) > most:
        return None
    if isinstance(network, FatTree):
        return _tree(network, used)
    return _groups(network, used) if isinstance(network, Dragonfly) else None


def cable_loads(network: Network, load: Array) -> NDArray[np.float64]:
    """What is drawn of the load of every link: of both directions of a cable, and of cables side by side, the largest.

    Parameters
    ----------
    network : Network
    load : (nlinks,) array

    Returns
    -------
    (ncables,) float64
        Of a torus or mesh: in each dimension up from each point, (npoints, 3): along the first, along the second, and
        all others.  Of a tree: up from each block of each level, hosts first.  Of a dragonfly: local links of each
        router, then global ones of each group.
    """
    load = np.asarray(load, np.float64)
    if isinstance(network, TorusNetwork):
        up = load.reshape(network.npoints, len(network.dims), -1)
        cables = np.zeros((network.npoints, 3))
        at = network.coordinates(np.arange(network.npoints))
        for axis, length in enumerate(network.dims):
            there = at.copy()
            there[:, axis] = (there[:, axis] + 1) % length
            back = up[network.point(there), axis, 1] if network.directed else 0.0
            cables[:, min(axis, 2)] = np.maximum(cables[:, min(axis, 2)], np.maximum(up[:, axis, 0], back))
        return cables.ravel()
    if isinstance(network, FatTree):
        both = load.reshape(-1, 2 if network.directed else 1).max(axis=1)
        ends = [*network.code.first.tolist()[1:], len(both)]
        return np.concatenate([both[lo:hi].reshape(-1, ways).max(axis=1) for lo, hi, ways in
                               zip(network.code.first.tolist(), ends, network.code.ways.tolist()[1:], strict=True)])
    assert isinstance(network, Dragonfly)
    nlocal = network.npoints * network.routers
    local = load[:nlocal].reshape(network.groups, network.routers, network.routers)
    far = np.zeros((network.groups, network.groups))
    group, channel = np.divmod(np.arange(network.nlinks - nlocal), max(network.groups - 1, 1))
    far[group, (group + channel + 1) % network.groups] = load[nlocal:]
    return np.concatenate([np.maximum(local.max(axis=2), local.max(axis=1)).ravel(),
                           np.maximum(far.max(axis=1), far.max(axis=0))])


def shares(one: Placed) -> NDArray[np.float64]:
    """(npoints, ncomponents + 1) float64 share of the slots of each point by component, and that of free ones.

    Points without hosts of the job have zeros alone.  Processes of a pool count for the first component.
    """
    sites, count = one.sites, len(one.processes.ranges)
    assert sites.network is not None
    out = np.zeros((sites.network.npoints, count + 1))
    slots = np.bincount(sites.point, sites.slots, minlength=len(out))
    np.add.at(out, (sites.point[one.site], one.processes.owner()), 1.0)
    out[:, count] = slots - out.sum(axis=1)
    return out / np.maximum(slots, 1)[:, None]


def _planes(network: TorusNetwork, sites: Sites, loads: Sequence[Array], most: int) -> Layout | None:
    """Planes of the first two dimensions, in rows."""
    dims = (*network.dims, 1) if len(network.dims) == 1 else network.dims
    wide, high = dims[0], dims[1]
    area, nplanes = wide * high, network.npoints // (wide * high)
    busy = np.zeros(network.npoints, bool)
    busy[sites.point] = True
    for load in loads:
        busy |= load.reshape(-1, 3).any(axis=1)
    shown = np.flatnonzero(busy.reshape(nplanes, area).any(axis=1))
    if len(shown) * area > most:
        return None
    pitch = (wide + _GAP, high + _GAP)
    across = _columns(len(shown), *pitch)
    corner = np.stack([np.arange(len(shown)) % across * pitch[0], np.arange(len(shown)) // across * pitch[1]], 1)
    corner += _GAP / 2
    inside = np.stack([np.arange(area) % wide, np.arange(area) // wide], 1) + 0.5
    at = (corner[:, None, :] + inside[None]).reshape(-1, 2)
    point = (shown[:, None] * area + np.arange(area)).ravel()
    lines, cables = [], []
    for axis in (0, 1):
        step = np.eye(2)[axis]
        last = point // (wide if axis else 1) % dims[axis] == dims[axis] - 1
        if dims[axis] > 1:
            lines.append(_line(at[~last] + step * SIDE / 2, at[~last] + step * (1 - SIDE / 2)))
            cables.append(point[~last] * 3 + axis)
        if dims[axis] > 1 and network.around:
            # the cable from the last one around to the first, as a stub at either end
            first = at[last] - step * (dims[axis] - 1)
            lines += [_line(at[last] + step * SIDE / 2, at[last] + step * 0.75),
                      _line(first - step * SIDE / 2, first - step * 0.75)]
            cables += [point[last] * 3 + axis] * 2
    if len(dims) > 2:
        out = np.array([0.21, -0.21])
        lines.append(_line(at + SIDE / 2 * np.array([1, -1]), at + SIDE / 2 * np.array([1, -1]) + out))
        cables.append(point * 3 + 2)
    frame = np.concatenate([corner, np.broadcast_to([wide, high], corner.shape)], axis=1)
    names = [", ".join(map(str, network.coordinates(p * area)[2:].tolist())) for p in shown.tolist()]
    size = (across * pitch[0], math.ceil(len(shown) / across) * pitch[1] + _GAP / 2)
    return Layout(size, point, at, np.concatenate(lines) if lines else np.zeros((0, 4)),
                  np.concatenate(cables) if cables else np.zeros(0, np.int64), frame,
                  tuple(names) if len(dims) > 2 else ())


def _tree(network: FatTree, used: NDArray[np.int64]) -> Layout:
    """Hosts of the job in the boxes of their switches, each of which is in the box of the one above."""
    below, levels = network.code.dims, len(network.arities)
    start = np.concatenate([[0], np.cumsum(network.npoints // below[:-1])])
    boxes = {int(p): _Box.leaf(i, int(start[0] + p)) for i, p in enumerate(used.tolist())}
    for level in range(1, levels + 1):
        inner: dict[int, list[_Box]] = {}
        for block, box in boxes.items():
            inner.setdefault(int(block * below[level - 1] // below[level]), []).append(box)
        boxes = {block: _Box.around(some, int(start[level] + block) if level < levels else -1)
                 for block, some in inner.items()}
    return _boxed(boxes[0], used)


def _groups(network: Dragonfly, used: NDArray[np.int64]) -> Layout:
    """Routers with hosts of the job, or with messages that pass, in the boxes of their groups."""
    inner: dict[int, list[_Box]] = {}
    for i, p in enumerate(used.tolist()):
        inner.setdefault(p // network.routers, []).append(_Box.leaf(i, p))
    return _boxed(_Box.around([_Box.around(some, network.npoints + g) for g, some in inner.items()], -1), used)


@dataclass(frozen=True, eq=False)
class _Box:
    """A box and what is in it, from its upper left corner: nodes, boxes, and the lines at the tops of both."""

    size: tuple[float, float]
    node: list[tuple[int, float, float]]
    frame: list[tuple[float, float, float, float]]
    line: list[tuple[int, float, float, float]]

    @staticmethod
    def leaf(number: int, cable: int) -> _Box:
        edge = (1 - SIDE) / 2
        return _Box((1.0, 1.0), [(number, 0.5, 0.5)], [], [(cable, edge, 1 - edge, edge / 2)])

    @staticmethod
    def around(boxes: Sequence[_Box], cable: int) -> _Box:
        """Boxes in rows inside another one, whose link out is `cable`, or -1 for none."""
        edge = _GAP / 4
        # rows of about the wanted width, each as high as its highest box
        wanted = max(math.sqrt(_ASPECT * sum(w * h for w, h in (box.size for box in boxes))),
                     *(box.size[0] for box in boxes))
        corners, x, y, high, wide = [], 0.0, 0.0, 0.0, 0.0
        for w, h in (box.size for box in boxes):
            if x and x + w > wanted * 1.01:
                x, y, high = 0.0, y + high, 0.0
            corners.append((1.5 * edge + x, 2.5 * edge + y))
            x, high = x + w, max(high, h)
            wide = max(wide, x)
        size = (wide + 2 * edge, y + high + 3 * edge)
        made = _Box((size[0] + edge, size[1] + edge), [], [(edge / 2, edge / 2, *size)], [])
        if cable >= 0:
            made.line.append((cable, edge / 2, size[0] + edge / 2, edge / 2))
        for box, (x, y) in zip(boxes, corners, strict=True):
            made.node.extend((n, x + a, y + b) for n, a, b in box.node)
            made.frame.extend((x + a, y + b, w, h) for a, b, w, h in box.frame)
            made.line.extend((c, x + a, x + b, y + d) for c, a, b, d in box.line)
        return made


def _boxed(box: _Box, used: NDArray[np.int64]) -> Layout:
    order = np.array([n for n, _, _ in box.node], np.int64)
    at = np.array([(x, y) for _, x, y in box.node])
    line = np.array([(a, y, b, y) for _, a, b, y in box.line]).reshape(-1, 4)
    return Layout(box.size, used[order], at, line, np.array([c for c, *_ in box.line], np.int64), np.array(box.frame))


def _columns(count: int, wide: float, high: float) -> int:
    """How many of `count` pictures stand side by side, so that all of them have about the wanted shape."""
    return min(count, max(1, round(math.sqrt(count * _ASPECT * high / wide))))


def _line(one: Array, other: Array) -> NDArray[np.float64]:
    return np.concatenate([one, other], axis=1)


__all__ = ["MOST", "MOST_ALONE", "SIDE", "Layout", "cable_loads", "layout_of", "need_drawable", "shares"]
