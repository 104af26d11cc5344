"""Network topologies of Slurm: ``topology.conf`` and ``topology.yaml``, trees of switches and blocks of nodes.

The cluster models of topograph, which generates such files, are read, too (``switches`` and ``blocks`` in YAML).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError, FormatError, MappingError
from .hostfile import AROUND, expand
from .text import PathLike, read_bytes


@dataclass
class Network:
    """Hosts in a tree of switches.

    Parameters
    ----------
    hosts : list of str
    levels : list of str
        What the sons are at each level, root first; the last is the hosts.
    path : (nhosts, nlevels) int64
        Which son of its father each host is below.
    """

    hosts: list[str]
    levels: list[str]
    path: NDArray[np.int64]


@dataclass
class _Switches:
    """Sons of each switch, by names, and where it is said."""

    switches: dict[str, list[str]] = field(default_factory=dict)
    nodes: dict[str, list[str]] = field(default_factory=dict)
    line: dict[str, int | None] = field(default_factory=dict)


def read_topology(path: PathLike, name: str | None = None) -> Network:
    """Read a ``topology.conf`` or ``topology.yaml``.

    Parameters
    ----------
    path : path-like
    name : str, optional
        Which of the topologies of a YAML file; the default of the cluster, else the first, where not given.

    Raises
    ------
    FormatError
        The file is ill-formed; switches form a cycle, have two fathers or are not defined; a node is at two places; the
        network is in several pieces.
    ConfigError
        A name, and the file holds one topology without any.
    """
    text = _text(path)
    if re.search(r"^\s*(SwitchName|BlockName|BlockSizes)\s*=", text, re.IGNORECASE | re.MULTILINE):
        _refuse_name(path, name)
        return _conf(path, text)
    return _yaml(path, text, name)


def _refuse_name(path: PathLike, name: str | None) -> None:
    if name is not None:
        raise ConfigError(f"topology: has no effect on {path}, which holds one topology without a name")


def is_topology(data: bytes) -> bool:
    """Whether a file looks like a ``topology.conf``."""
    return re.search(rb"^\s*(SwitchName|BlockName)\s*=", data, re.IGNORECASE | re.MULTILINE) is not None


def _text(path: PathLike) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(path, "is no text file") from None


def _conf(path: PathLike, text: str) -> Network:
    found, blocks, sizes = _Switches(), {}, []
    for i, line in _whole_lines(text):
        pairs = [word.partition("=") for word in AROUND.sub("=", line).split()]
        if not all(equals and value for _, equals, value in pairs):
            raise FormatError(path, f"needs Key=Value, found {line[:60]!r}", i)
        entry = {key.lower(): value.strip('"') for key, _, value in pairs}
        if "switchname" in entry:
            sons = [_names(path, i, entry[key]) if key in entry else [] for key in ("switches", "nodes")]
            for switch in _names(path, i, entry["switchname"]):
                _add(path, found, switch, sons[0], sons[1], i)
        elif "blockname" in entry:
            if entry["blockname"] in blocks:
                raise FormatError(path, f"block {entry['blockname']} is defined more than once", i)
            blocks[entry["blockname"]] = _names(path, i, entry.get("nodes", ""))
        elif "blocksizes" in entry:
            sizes = _sizes(path, entry["blocksizes"].split(","), i)
        else:
            raise FormatError(path, f"unknown key {pairs[0][0][:40]!r}; known: SwitchName, BlockName, BlockSizes", i)
    if blocks and found.line:
        raise FormatError(path, "mixes switches and blocks")
    return _blocks(path, blocks, sizes) if blocks else _tree(path, found)


def _whole_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that say something, without comments, each with its number; a backslash at the end goes on in the next."""
    said, first = "", 0
    for i, raw in enumerate(text.splitlines(), 1):
        line, first = raw.split("#")[0].rstrip(), first or i
        said += line.removesuffix("\\")
        if not line.endswith("\\"):
            if said.strip():
                yield first, said.strip()
            said, first = "", 0
    if said.strip():
        yield first, said.strip()


def _names(path: PathLike, line: int | None, text: str) -> list[str]:
    try:
        return expand(text)
    except MappingError as error:
        raise FormatError(path, str(error), line) from None


def _add(path: PathLike, found: _Switches, switch: str, switches: list[str], nodes: list[str],
         line: int | None = None) -> None:
    if switch in found.line:
        raise FormatError(path, f"switch {switch} is defined more than once", line)
    if switches and nodes:
        raise FormatError(path, f"switch {switch} has switches and nodes, it may have one of them", line)
    found.switches[switch], found.nodes[switch], found.line[switch] = switches, nodes, line


def _tree(path: PathLike, found: _Switches) -> Network:
    """Walk the switches from the top; where branches differ in depth, hosts still come last."""
    father: dict[str, str] = {}
    for switch, sons in found.switches.items():
        for son in sons:
            if son not in found.line:
                raise FormatError(path, f"switch {switch} leads to switch {son}, which is not defined",
                                  found.line[switch])
            if son in father:
                raise FormatError(path, f"switch {son} is below both {father[son]} and {switch}, which is no tree",
                                  found.line[switch])
            father[son] = switch
    _refuse_cycles(path, found, father)
    roots = [switch for switch in found.line if switch not in father]
    hosts: list[str] = []
    paths: list[list[int]] = []
    tops: dict[str, str] = {}
    seen: set[str] = set()
    todo: list[tuple[str, str, list[int]]] = [(root, root, []) for root in reversed(roots)]
    while todo:
        switch, root, at = todo.pop()
        for i, node in enumerate(found.nodes[switch]):
            if node in seen:
                raise FormatError(path, f"node {node} is below more than one switch, or twice below {switch}",
                                  found.line[switch])
            seen.add(node)
            hosts.append(node)
            paths.append([*at, i])
            tops.setdefault(root, node)
        todo += [(son, root, [*at, i]) for i, son in reversed(list(enumerate(found.switches[switch])))]
    if not hosts:
        raise FormatError(path, "holds no nodes")
    if len(tops) > 1:
        (a, m), (b, n) = list(tops.items())[:2]
        raise FormatError(path, f"is not connected: nothing leads from switch {a} (node {m}) to switch {b} (node {n}); "
                                f"add a switch above both")
    depth = max(map(len, paths))
    # shorter branches get switches of one son in front of their hosts
    padded = [[*p[:-1], *[0] * (depth - len(p)), p[-1]] for p in paths]
    return Network(hosts, [*["switch"] * (depth - 1), "node"], np.array(padded, np.int64))


def _refuse_cycles(path: PathLike, found: _Switches, father: dict[str, str]) -> None:
    done: set[str] = set()
    for start in found.line:
        trail: list[str] = []
        switch: str | None = start
        while switch is not None and switch not in done:
            if switch in trail:
                cycle = trail[trail.index(switch):][::-1]
                top = min(range(len(cycle)), key=lambda i: list(found.line).index(cycle[i]))
                cycle = cycle[top:] + cycle[:top]
                raise FormatError(path, f"switches form a cycle: {' -> '.join([*cycle, cycle[0]])}",
                                  found.line[cycle[0]])
            trail.append(switch)
            switch = father.get(switch)
        done.update(trail)


def _sizes(path: PathLike, words: Iterable[Any], line: int | None = None) -> list[int]:
    try:
        sizes = sorted({int(str(word)) for word in words})
    except ValueError:
        raise FormatError(path, "block sizes must be whole numbers", line) from None
    if sizes and (sizes[0] < 1 or any(b % a for a, b in pairwise(sizes))):
        raise FormatError(path, f"each block size must divide the next larger one, are {sizes}", line)
    return sizes


def _blocks(path: PathLike, blocks: dict[str, list[str]], sizes: list[int]) -> Network:
    """Base blocks side by side, gathered into larger ones of the sizes given."""
    seen: set[str] = set()
    for name, nodes in blocks.items():
        if not nodes:
            raise FormatError(path, f"block {name} holds no nodes")
        for node in nodes:
            if node in seen:
                raise FormatError(path, f"node {node} is in more than one block, or twice in {name}")
            seen.add(node)
    # how many base blocks a block of each size gathers, the base first
    gathers = [size // sizes[0] for size in sizes] or [1]
    rows = []
    for block, nodes in enumerate(blocks.values()):
        at = [block // gathers[-1]]
        for inner, outer in zip(gathers[-2::-1], gathers[:0:-1], strict=True):
            at.append(block % outer // inner)
        rows += [[*at, i] for i in range(len(nodes))]
    levels = [*(f"block of {size}" for size in reversed(sizes[1:])), "block", "node"]
    return Network([node for nodes in blocks.values() for node in nodes], levels, np.array(rows, np.int64))


def _yaml(path: PathLike, text: str, name: str | None) -> Network:
    try:
        import yaml
    except ImportError:
        raise MappingError(f"{path}: reading YAML needs PyYAML; install copart[machine]") from None
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise FormatError(path, f"is no YAML: {getattr(error, 'problem', None) or error}",
                          mark.line + 1 if mark else None) from None
    except RecursionError:
        raise FormatError(path, "is nested too deeply") from None
    if isinstance(found, dict) and isinstance(found.get("switches", found.get("blocks")), (dict, list)):
        _refuse_name(path, name)
        return _model(path, found)
    topologies = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    if not topologies:
        raise FormatError(path, "is neither a topology.yaml of Slurm (a list of topologies) nor a model with switches "
                                "and blocks")
    chosen = _chosen(path, topologies, name)
    if "tree" in chosen:
        return _tree(path, _yaml_tree(path, chosen["tree"]))
    if "block" in chosen:
        body = _mapping(path, chosen["block"], "block")
        entries = [_mapping(path, each, "blocks") for each in _list(path, body.get("blocks"), "blocks")]
        blocks = {str(each.get("block")): _all_names(path, each.get("nodes")) for each in entries}
        if len(blocks) < len(entries):
            raise FormatError(path, "a block is defined more than once")
        return _blocks(path, blocks, _sizes(path, _list(path, body.get("block_sizes", []), "block_sizes")))
    raise FormatError(path, f"topology {chosen.get('topology')} is of no kind that tells distances; known: tree, block")


def _chosen(path: PathLike, topologies: list[dict[str, Any]], name: str | None) -> dict[str, Any]:
    if name is None:
        return next((each for each in topologies if each.get("cluster_default") is True), topologies[0])
    for each in topologies:
        if each.get("topology") == name:
            return each
    known = ", ".join(str(each.get("topology")) for each in topologies)
    raise FormatError(path, f"holds no topology {name}; it has {known}")


def _yaml_tree(path: PathLike, body: Any) -> _Switches:
    found = _Switches()
    for each in _list(path, _mapping(path, body, "tree").get("switches"), "switches"):
        entry = _mapping(path, each, "switches")
        if "switch" not in entry:
            raise FormatError(path, f"a switch has no name: {str(entry)[:60]}")
        _add(path, found, str(entry["switch"]), _all_names(path, entry.get("children")),
             _all_names(path, entry.get("nodes")))
    return found


def _model(path: PathLike, body: dict[str, Any]) -> Network:
    """A topograph model: switches by name, and blocks of nodes below them; switches without nodes are left out."""
    found = _Switches()
    for switch, entry in _mapping(path, body.get("switches", {}), "switches").items():
        sons = _mapping(path, entry or {}, str(switch)).get("switches", [])
        _add(path, found, str(switch), [str(son) for son in _list(path, sons, "switches")], [])
    for each in _list(path, body.get("blocks", []), "blocks"):
        entry = _mapping(path, each, "blocks")
        switch = str(entry.get("switch", entry.get("name")))
        if switch in found.line:
            raise FormatError(path, f"switch {switch} is defined more than once")
        _add(path, found, switch, [], _all_names(path, entry.get("nodes")))
    for sons in list(found.switches.values()):
        for son in sons:
            if son not in found.line:
                _add(path, found, son, [], [])
    return _tree(path, found)


def _all_names(path: PathLike, value: Any) -> list[str]:
    """Names of a string with ranges, or of a list of such."""
    items = [] if value is None else value if isinstance(value, list) else [value]
    return [name for item in items for name in _names(path, None, str(item))]


def _mapping(path: PathLike, value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FormatError(path, f"{what} must hold keys and values, is {str(value)[:60]!r}")
    return value


def _list(path: PathLike, value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(path, f"{what} must be a list, is {str(value)[:60]!r}")
    return value
