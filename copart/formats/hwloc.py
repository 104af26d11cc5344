"""hwloc's XML files, as ``lstopo --of xml`` writes them: the cores of a host, and what they share.

Both generations are read: in files of hwloc 1.x NUMA nodes stand between machine and cores, in those of 2.x they hang
beside them with the memory.  Devices are passed over.  Hardware threads that are offline or not allowed are left out,
as are levels of one son.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from ..errors import FormatError
from ..mapping.machine import Inside
from ..names import SlotUnit
from .text import PathLike, read_bytes

_WORD = re.compile("[0-9a-fA-F]{0,8}")
"""Of a set of processors: 32 of them in hexadecimal, nothing for none."""

#: Objects that processes can share, by their type in the file.
SHARED = {"Group": "group", "Package": "package", "Socket": "package", "NUMANode": "NUMA node", "Die": "die",
          "Module": "module", "Cache": "cache", "L5Cache": "L5 cache", "L4Cache": "L4 cache", "L3Cache": "L3 cache",
          "L2Cache": "L2 cache", "L1Cache": "L1 cache", "Core": "core"}
#: Objects that may be around processors but say nothing about what is shared beyond the others.
PASSED = ("L3iCache", "L2iCache", "L1iCache", "Misc", "System")
UNITS: tuple[SlotUnit, ...] = get_args(SlotUnit)


@dataclass(frozen=True)
class _Leaf:
    """A hardware thread: names and numbers of the objects it is in, outermost first, and what it is called."""

    chain: tuple[tuple[str, int], ...]
    core: int
    core_number: int
    pu_number: int


def read_hwloc(path: PathLike, unit: SlotUnit = "core") -> tuple[list[str], list[Inside]]:
    """Read a topology in hwloc's XML.

    Parameters
    ----------
    path : path-like
    unit : {"core", "pu"}
        What a processor is: a core, or a hardware thread of it.

    Returns
    -------
    names : list of str
        Name of each machine in the file, its number where it has none.
    inside : list of Inside
        Slots of each, with the same levels.

    Raises
    ------
    FormatError
        The file is no topology, declares entities of its own, or leaves no processor to use.
    """
    from xml.etree import ElementTree

    data = read_bytes(path)
    if b"<!ENTITY" in data:
        raise FormatError(path, "declares entities, which a topology has no use for and which are not read")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise FormatError(path, f"is no XML: {error}", error.position[0]) from None
    if root.tag not in ("topology", "root"):
        raise FormatError(path, f"is no hwloc topology: the outermost element is {root.tag[:40]!r}")
    machines = [each for each in root.iter("object") if each.get("type") == "Machine"]
    if not machines:
        raise FormatError(path, "holds no object of type Machine")
    found = [_leaves(path, each) for each in machines]
    for i, leaves in enumerate(found):
        if not leaves:
            raise FormatError(path, f"leaves no processor of machine {i} to use: all are offline or not allowed")
    levels = _level_order(path, [leaf for leaves in found for leaf in leaves])
    names = [_host_name(each) or f"node{i}" for i, each in enumerate(machines)]
    return names, [_inside(leaves, levels, unit) for leaves in found]


def _host_name(machine: Any) -> str | None:
    return next((info.get("value") for info in machine.findall("info") if info.get("name") == "HostName"), None)


def _leaves(path: PathLike, machine: Any) -> list[_Leaf]:
    """The usable hardware threads below a machine, in the order of the file."""
    usable = _bits(path, machine, "allowed_cpuset") & _bits(path, machine, "online_cpuset")
    out = []
    for element, chain, core, core_number in _walk(path, machine):
        number = _number(path, element)
        own = _bits(path, element, "allowed_cpuset") & _bits(path, element, "online_cpuset")
        if number >= 0 and usable >> number & own >> number & 1:
            out.append(_Leaf(chain, core, core_number, number))
    return out


def _walk(path: PathLike, machine: Any) -> Iterator[tuple[Any, tuple[tuple[str, int], ...], int, int]]:
    """Every hardware thread below a machine with what it is in; objects are numbered as they are met."""
    count = 0
    todo: list[tuple[Any, tuple[tuple[str, int], ...], int, int]] = [(machine, (), -1, -1)]
    while todo:
        element, chain, core, number = todo.pop()
        kind = element.get("type")
        if kind == "PU":
            yield element, chain, core if core >= 0 else count, number
            count += 1
            continue
        if element is not machine:
            if kind not in SHARED and kind not in PASSED:
                continue  # bridges, PCI and operating system devices
            count += 1
            if kind == "Core":
                core, number = count, _number(path, element)
            elif kind in SHARED:
                above = [name for name, _ in chain]
                depth = element.get("depth") if kind == "Cache" else None
                name = f"L{depth} cache" if depth else SHARED[kind]
                # groups stand anywhere: named by what is around them, they keep one order
                nested = name in above or (kind == "Group" and above)
                chain = (*chain, (f"{name} in {above[-1]}" if nested else name, count))
        todo += [(son, chain, core, number) for son in reversed(element.findall("object"))]


def _number(path: PathLike, element: Any) -> int:
    text = element.get("os_index", "-1")
    try:
        return int(text)
    except ValueError:
        rule = f"os_index of a {element.get('type')} must be a whole number, is {text[:40]!r}"
        raise FormatError(path, rule) from None


def _bits(path: PathLike, element: Any, name: str) -> int:
    """A set of processors as the bits of a number; all (-1) where the attribute is absent or endless."""
    text = element.get(name)
    if text is None or "0xf...f" in text:
        return -1
    words = [word.strip().removeprefix("0x") for word in text.split(",")]
    if not all(_WORD.fullmatch(word) for word in words):
        raise FormatError(path, f"{name} must be hexadecimal words of 32 bits, is {text[:40]!r}")
    # read as one number: to shift word by word takes the square of their number
    return int("".join(word.zfill(8) for word in words), 16)


def _level_order(path: PathLike, leaves: list[_Leaf]) -> list[str]:
    """All kinds of shared objects, those outside before those inside."""
    below: dict[str, set[str]] = {}
    for chain in {tuple(name for name, _ in leaf.chain) for leaf in leaves}:
        for i, name in enumerate(chain):
            below.setdefault(name, set()).update(chain[i + 1:])
    out: list[str] = []
    while below:
        inner = set().union(*below.values())
        first = next((name for name in below if name not in inner), None)
        if first is None:
            raise FormatError(path, f"nests {' and '.join(sorted(below))} in more than one order")
        out.append(first)
        del below[first]
    return out


def _inside(leaves: list[_Leaf], levels: list[str], unit: str) -> Inside:
    """The tree of one machine: objects numbered among their brothers, level by level."""
    if unit == "core":
        first: dict[int, _Leaf] = {}
        for leaf in leaves:
            first.setdefault(leaf.core, leaf)
        chosen = list(first.values())
        ends: list[tuple[int, ...]] = [(leaf.core,) for leaf in chosen]
        number = [leaf.core_number if leaf.core_number >= 0 else leaf.pu_number for leaf in chosen]
        names = [*levels, "core"]
    else:
        chosen = leaves
        ends = [(leaf.core, leaf.pu_number) for leaf in chosen]
        number = [leaf.pu_number for leaf in chosen]
        names = [*levels, "core", "pu"]
    path = np.zeros((len(chosen), len(names)), np.int64)
    brothers: dict[tuple[tuple[int, ...], int], int] = {}
    sons: dict[tuple[int, ...], int] = {}
    for row, (leaf, end) in enumerate(zip(chosen, ends, strict=True)):
        objects = dict(leaf.chain)
        above: tuple[int, ...] = ()
        for column, name in enumerate([*(objects.get(level, -1) for level in levels), *end]):
            if (above, name) not in brothers:
                brothers[above, name] = sons.get(above, 0)
                sons[above] = brothers[above, name] + 1
            path[row, column] = brothers[above, name]
            above = (*above, name)
    return Inside(tuple(names), path, np.array(number, np.int64), unit)
