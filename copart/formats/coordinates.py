"""Where nodes are in a network: lists of coordinates, as plain CSV or columns.

The first line names the network, then follow the nodes of a job or of the whole machine, one per line::

    torus 17 8 24               or mesh; routers in each dimension, up to 6 of them and more
    bandwidth 9.4 4.7 9.4       if links differ: one number per dimension
    nid00012 3 0 7 16           node, its coordinates, and how many processes it takes if not 1
    nid00013 3 0 7 16           nodes of one router have the same ones

Commas, semicolons and blanks separate; ``#`` begins a comment; a line of column names is passed over.  Other networks:
``dragonfly GROUPS ROUTERS PORTS``, whose coordinates are group and router, and ``fattree ARITY ...``, root first, with
the number of the host below it as coordinate and ``uplinks NUMBER ...`` as a line of its own.  ``undirected`` on a line
means that both directions of a cable share its bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CopartError, FormatError
from ..mapping.congestion.networks import Dragonfly, FatTree, MeshNetwork, Network, TorusNetwork
from .hostfile import MOST
from .text import PathLike, read_bytes

KINDS = ("torus", "mesh", "dragonfly", "fattree")
#: Words of a first column that name columns instead of a node.
_TITLES = ("host", "node", "name", "nid")


@dataclass
class Places:
    """Nodes at points of a network.

    Parameters
    ----------
    network : Network
    hosts : list of str
    point : (nhosts,) int64
    slots : list of int or None
        None where the file does not say it.
    """

    network: Network
    hosts: list[str]
    point: NDArray[np.int64]
    slots: list[int | None]


@dataclass
class _Said:
    """What the lines before the nodes say."""

    kind: str
    sizes: list[int]
    line: int
    options: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    """Of the options."""


def is_coordinates(data: bytes) -> bool:
    """Whether a file begins with the name of a network."""
    for line in data.decode("latin-1").splitlines():
        words = _words(line)
        if words:
            return words[0].lower() in KINDS
    return False


def read_coordinates(path: PathLike) -> Places:
    """Read a list of coordinates.

    Raises
    ------
    FormatError
        No network is named, a line has too few or too many numbers, coordinates are outside the network, or a node is
        listed more than once.
    """
    try:
        lines = read_bytes(path).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise FormatError(path, "is no text file") from None
    said: _Said | None = None
    network: Network | None = None
    hosts: dict[str, tuple[int, int | None]] = {}
    for i, line in enumerate(lines, 1):
        words = _words(line)
        if not words:
            continue
        word = words[0].lower()
        if said is None:
            said = _first(path, words, i)
        elif network is None and word in ("bandwidth", "uplinks", "undirected"):
            _option(path, said, words, i)
        elif network is None and word in _TITLES and not any(w.lstrip("-").isdecimal() for w in words[1:]):
            continue
        else:
            network = network or _network(path, said)
            if words[0] in hosts:
                raise FormatError(path, f"node {words[0][:60]} is listed more than once", i)
            hosts[words[0]] = _place(path, said, network, words, i)
        if len(hosts) > MOST:
            raise FormatError(path, f"lists more than {MOST} nodes", i)
    if network is None:
        raise FormatError(path, "lists no nodes" if said else f"is empty; its first line must name a network: "
                                                               f"{', '.join(KINDS)}")
    point, slots = zip(*hosts.values(), strict=True)
    return Places(network, list(hosts), np.array(point, np.int64), list(slots))


def _words(line: str) -> list[str]:
    return line.split("#")[0].replace(",", " ").replace(";", " ").split()


def _whole(path: PathLike, words: list[str], line: int, what: str) -> list[int]:
    if not all(word.isdecimal() and word.isascii() and len(word) < 16 for word in words):
        raise FormatError(path, f"{what} must be whole numbers, are {' '.join(words)[:60]!r}", line)
    return [int(word) for word in words]


def _first(path: PathLike, words: list[str], line: int) -> _Said:
    kind = words[0].lower()
    if kind not in KINDS:
        raise FormatError(path, f"the first line must name a network ({', '.join(KINDS)}) and its sizes, as torus 17 8 "
                                f"24; it begins with {words[0][:40]!r}", line)
    sizes = _whole(path, words[1:], line, "sizes of the network")
    if not sizes or (kind == "dragonfly" and len(sizes) != 3):
        needed = "groups, routers of a group and ports of a router" if kind == "dragonfly" else "at least one size"
        raise FormatError(path, f"{kind} needs {needed}, has {len(sizes)} numbers", line)
    return _Said(kind, sizes, line)


def _option(path: PathLike, said: _Said, words: list[str], line: int) -> None:
    word, rest = words[0].lower(), words[1:]
    said.lines[word] = line
    if word == "undirected":
        if rest:
            raise FormatError(path, "undirected stands alone on its line", line)
        said.options["directed"] = False
        return
    if word == "uplinks":
        if said.kind != "fattree":
            raise FormatError(path, f"uplinks are of a fattree, the network is a {said.kind}", line)
        said.options["uplinks"] = _whole(path, rest, line, "uplinks")
        return
    try:
        numbers = [float(w) for w in rest]
    except ValueError:
        raise FormatError(path, f"bandwidths must be numbers, are {' '.join(rest)[:60]!r}", line) from None
    said.options["bandwidth"] = numbers[0] if len(numbers) == 1 else numbers


def _network(path: PathLike, said: _Said) -> Network:
    kind: Any = {"torus": TorusNetwork, "mesh": MeshNetwork, "fattree": FatTree}.get(said.kind)
    try:
        return Dragonfly(*said.sizes, **said.options) if kind is None else kind(said.sizes, **said.options)
    except CopartError as error:
        # they begin with what is wrong
        raise FormatError(path, str(error), said.lines.get(str(error).partition(":")[0], said.line)) from None


def _place(path: PathLike, said: _Said, network: Network, words: list[str], line: int) -> tuple[int, int | None]:
    """Point and slots of a node."""
    extents = {"dragonfly": said.sizes[:2], "fattree": [network.npoints]}.get(said.kind, said.sizes)
    ncoords = len(extents)
    numbers = _whole(path, words[1:], line, "coordinates and slots")
    if not ncoords <= len(numbers) <= ncoords + 1:
        raise FormatError(path, f"node {words[0][:60]} needs {ncoords} coordinates in a {said.kind} and may have a "
                                f"number of slots, has {len(numbers)} numbers", line)
    at, slots = numbers[:ncoords], numbers[ncoords:]
    if any(x >= extent for x, extent in zip(at, extents, strict=True)):
        raise FormatError(path, f"node {words[0][:60]} is at {tuple(at)}, outside the {said.kind} of "
                                f"{' x '.join(map(str, extents))}", line)
    if slots and not 1 <= slots[0] <= MOST:
        raise FormatError(path, f"node {words[0][:60]} has {slots[0]} slots; needs 1 to {MOST}", line)
    if said.kind == "dragonfly":
        return at[0] * said.sizes[1] + at[1], slots[0] if slots else None
    strides = np.concatenate([[1], np.cumprod(extents)[:-1]])
    return int(np.dot(at, strides)), slots[0] if slots else None
