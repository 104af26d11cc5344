"""SCOTCH target files (``.tgt``): a word for the architecture, then its numbers.

Read: ``cmplt``, ``cmpltw``, ``hcub``, ``mesh2D``, ``mesh3D``, ``meshXD``, ``torus2D``, ``torus3D``, ``torusXD``,
``tleaf``, ``ltleaf``, ``deco`` of kinds 0, 1 and 2, and ``sub`` of any of them.  Written: all of these, decompositions
as kind 0.  Processors of a decomposition whose numbers have gaps, as those of a list of vertices by ``amk_grf -l``, are
numbered anew in their order.  The link costs of a tree add up from the leaves to the lowest common node, so that they
are the steps by which distances grow from level to level.  (SCOTCH user's guide, section on target files.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX
from ..errors import CopartError, FormatError, MappingError
from ..graph import Graph
from ..mapping.architectures.architecture import MATRIX_LIMIT, BaseArchitecture, Complete, WeightedComplete
from ..mapping.architectures.deco1 import Decomposition, tree_numbers
from ..mapping.architectures.deco2 import MultilevelDecomposition
from ..mapping.architectures.decomposed import Decomposed
from ..mapping.architectures.regular import Grid, Hypercube, Torus
from ..mapping.architectures.subset import Subset, subset
from ..mapping.architectures.tree import TreeLeaf
from .output import write_text_atomic
from .text import PathLike, read_bytes

#: Subsets of subsets that are read.
DEEPEST = 100


class Tokens:
    """The words of a file, one after the other, with the lines they stand on."""

    def __init__(self, path: PathLike):
        self.path = path
        try:
            lines = read_bytes(path).decode("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise FormatError(path, "is no text file") from None
        self._words = [(word, i) for i, line in enumerate(lines, 1) for word in line.split()]
        self._at = 0
        self.depth = 0

    @property
    def left(self) -> int:
        """How many words are left."""
        return len(self._words) - self._at

    def error(self, rule: str) -> FormatError:
        """A FormatError where the last word stands."""
        line = self._words[max(self._at - 1, 0)][1] if self._words else 1
        return FormatError(self.path, rule, line)

    def word(self, what: str) -> str:
        """The next word."""
        if not self.left:
            raise self.error(f"ends where {what} is expected")
        self._at += 1
        return self._words[self._at - 1][0]

    def number(self, what: str, low: int = 0) -> int:
        """The next word as a whole number of at least `low`."""
        word = self.word(what)
        try:
            found = int(word)
        except ValueError:
            raise self.error(f"{what} must be a whole number, is {word[:40]!r}") from None
        if found < low or found >= 2**62:
            raise self.error(f"{what} must be at least {low} and below 2^62, is {found}")
        return found

    def numbers(self, count: int, what: str, low: int = 0) -> list[int]:
        """The next `count` whole numbers."""
        if count > self.left:
            raise self.error(f"{count} numbers are announced ({what}), {self.left} are left")
        return [self.number(what, low) for _ in range(count)]


def read_target(path: PathLike) -> BaseArchitecture:
    """Read a SCOTCH target file.

    Raises
    ------
    FormatError
        The architecture is unknown or of variable size, or its numbers break a rule; with the line.
    """
    tokens = Tokens(path)
    found = _architecture(tokens)
    if tokens.left:
        tokens.word("")
        raise tokens.error(f"has more numbers than architecture {found.name} takes")
    return found


def _architecture(tokens: Tokens) -> BaseArchitecture:
    word = tokens.word("the name of an architecture")
    if word.startswith("var"):
        raise tokens.error(f"architecture {word} has no fixed number of processors, nothing can be mapped onto it one "
                           f"to one; use {word[3:]} N")
    if word not in READERS:
        raise tokens.error(f"unknown architecture {word[:40]!r}; known: {', '.join(READERS)}")
    try:
        return READERS[word](tokens)
    except FormatError:
        raise
    except CopartError as error:
        raise tokens.error(f"{word}: {error}") from None


def _cube(kind: type[Grid], ndims: int | None) -> Callable[[Tokens], BaseArchitecture]:
    def read(tokens: Tokens) -> BaseArchitecture:
        count = tokens.number("number of dimensions", 1) if ndims is None else ndims
        return kind(tokens.numbers(count, "extents", 1))
    return read


def _tree_leaf(tokens: Tokens) -> TreeLeaf:
    depth = tokens.number("number of levels", 0)
    pairs = tokens.numbers(2 * depth, "arity and link cost of each level", 1)
    links = np.array(pairs[1::2], np.int64)
    return TreeLeaf(pairs[::2], links[::-1].cumsum()[::-1].tolist())


def _labelled_tree(tokens: Tokens) -> TreeLeaf:
    tree = _tree_leaf(tokens)
    labels = tokens.numbers(tokens.number("number of labels", 1), "labels")
    return TreeLeaf(tree.arities, tree.costs, labels)


def _weighted(tokens: Tokens) -> WeightedComplete:
    return WeightedComplete(tokens.numbers(tokens.number("number of processors", 1), "compute power"))


def _subset(tokens: Tokens) -> BaseArchitecture:
    vertices = tokens.numbers(tokens.number("number of processors", 1), "processors")
    tokens.depth += 1
    if tokens.depth > DEEPEST:
        raise tokens.error(f"nests more than {DEEPEST} subsets")
    return subset(_architecture(tokens), vertices)


def _decomposition(tokens: Tokens) -> BaseArchitecture:
    kind = tokens.number("kind of decomposition")
    if kind == 2:
        return _multilevel(tokens)
    if kind > 2:
        raise tokens.error(f"kind of decomposition must be 0, 1 or 2, is {kind}")
    count, most = tokens.number("number of processors", 1), tokens.number("largest domain number", 1)
    if kind == 0:
        entries = np.array(tokens.numbers(3 * count, "processor, power and domain number")).reshape(-1, 3)
        label, power, number = entries.T
        below = np.array(tokens.numbers(count * (count - 1) // 2, "distances"), np.float64)
    else:
        found = np.array(tokens.numbers(3 * most, "processor, size and power of each domain", -1)).reshape(-1, 3)
        leaf = np.flatnonzero(found[:, 1] == 1)
        if len(leaf) != count:
            raise tokens.error(f"{count} processors are announced, {len(leaf)} domains are terminal")
        label, _, power = found[leaf].T
        number = leaf + 1
        every = np.array(tokens.numbers(most * (most - 1) // 2, "distances"), np.float64)
        a, b = np.tril_indices(count, -1)
        below = every[leaf[a] * (leaf[a] - 1) // 2 + leaf[b]]
    if (np.diff(np.sort(label)) == 0).any() or label.min() < 0:
        raise tokens.error("processors must have numbers of their own, from 0")
    if not power.all():
        raise tokens.error(f"processor {label[int(np.argmin(power))]} has compute power 0")
    table = np.zeros((count, count))
    table[np.tril_indices(count, -1)] = below
    # by rank: amk_grf numbers the processors of a list of vertices as these
    place = np.argsort(label)
    return Decomposition(number[place].tolist(), (table + table.T)[np.ix_(place, place)], power[place])


def _multilevel(tokens: Tokens) -> MultilevelDecomposition:
    """The target graph of a multilevel decomposition, which is coarsened anew."""
    count, nlevels, nvnum = (tokens.number(what, 1) for what in ("number of processors", "number of levels",
                                                                 "number of vertex numbers"))
    terminals = np.array(tokens.numbers(2 * count, "domain and processor")).reshape(-1, 2)[:, 0]
    domains = np.array(tokens.numbers(9 * (2 * count - 1), "domains", -1)).reshape(-1, 9)
    graph = None
    for _ in range(nlevels):
        found = _graph(tokens)
        graph = graph or found
        tokens.number("diameter")
    vnum = np.array(tokens.numbers(nvnum, "vertex numbers"))
    assert graph is not None
    if (terminals >= len(domains)).any() or not ((domains[terminals, 8] >= 0) & (domains[terminals, 8] < nvnum)).all():
        raise tokens.error("a processor names a domain or vertex that is not there")
    return MultilevelDecomposition(graph, vnum[domains[terminals, 8]])


def _graph(tokens: Tokens) -> Graph:
    """A graph as ``.grf`` files have it, without labels."""
    if tokens.number("version"):
        raise tokens.error("version of the graph must be 0")
    nvtxs, narcs = tokens.number("number of vertices", 1), tokens.number("number of arcs")
    base, flags = tokens.number("base"), tokens.number("flags")
    if flags not in (0, 1, 10, 11) or base > 1:
        raise tokens.error(f"the graph must count from 0 or 1 and have no labels, base is {base}, flags {flags:03}")
    if nvtxs > tokens.left:
        raise tokens.error(f"{nvtxs} vertices are announced, {tokens.left} numbers are left")
    degree, load, rows = np.zeros(nvtxs, np.int64), np.ones(nvtxs, np.int64), []
    for v in range(nvtxs):
        load[v] = tokens.number("vertex load") if flags % 10 else 1
        degree[v] = tokens.number("degree")
        rows += tokens.numbers(int(degree[v]) * (2 if flags >= 10 else 1), "arcs")
    arcs = np.array(rows, np.int64).reshape(-1, 2 if flags >= 10 else 1)
    if len(arcs) != narcs:
        raise tokens.error(f"{narcs} arcs are announced, the graph has {len(arcs)}")
    return Graph(np.concatenate([[0], np.cumsum(degree)]), (arcs[:, -1] - base).astype(VERTEX),
                 arcs[:, 0] if flags >= 10 else None, vwgt=load)


#: What reads the numbers behind each word.
READERS: dict[str, Callable[[Tokens], BaseArchitecture]] = {
    "cmplt": lambda tokens: Complete(tokens.number("number of processors", 1)),
    "cmpltw": _weighted,
    "hcub": lambda tokens: Hypercube(tokens.number("dimension")),
    "mesh2D": _cube(Grid, 2), "mesh3D": _cube(Grid, 3), "meshXD": _cube(Grid, None),
    "torus2D": _cube(Torus, 2), "torus3D": _cube(Torus, 3), "torusXD": _cube(Torus, None),
    "tleaf": _tree_leaf, "ltleaf": _labelled_tree, "deco": _decomposition, "sub": _subset,
}


def write_target(path: PathLike, machine: BaseArchitecture) -> None:
    """Write a SCOTCH target file.

    Raises
    ------
    MappingError
        Distances are not whole numbers, or a graph given multilevel has more than 4,096 processors.
    """
    write_text_atomic(path, target_text(machine) + "\n")


def target_text(machine: BaseArchitecture) -> str:
    """The content of a target file."""
    once = isinstance(machine, Subset) and len(np.unique(machine.vertices)) == machine.nprocs
    if isinstance(machine, Subset) and once and not isinstance(machine.base, Decomposed):
        return f"sub\n{machine.nprocs} {_joined(machine.vertices)}\n{target_text(machine.base)}"
    if isinstance(machine, WeightedComplete):
        return f"cmpltw\n{machine.nprocs} {_joined(machine.weights)}"
    if isinstance(machine, Complete):
        return f"cmplt\n{machine.nprocs}"
    if isinstance(machine, Hypercube):
        return f"hcub\n{machine.dimension}"
    if isinstance(machine, Grid):
        count = len(machine.dims)
        kind = f"{count}D\n" if count in (2, 3) else f"XD\n{count} "
        return f"{machine.name}{kind}{' '.join(map(str, machine.dims))}"
    if isinstance(machine, TreeLeaf):
        links = _whole(-np.diff(np.append(machine.costs, 0.0)), 1, "steps of the distance from level to level")
        pairs = " ".join(f"{a} {c}" for a, c in zip(machine.arities, links, strict=True))
        labels = "" if machine.labels is None else f" {len(machine.labels)} {_joined(machine.labels)}"
        return f"{machine.name}\n{len(machine.arities)} {pairs}{labels}"
    if isinstance(machine, Decomposed):
        return _decomposition_text(machine)
    raise MappingError(f"architecture {machine.name} has no SCOTCH target file")


def _decomposition_text(machine: Decomposed) -> str:
    if machine.nprocs > MATRIX_LIMIT:
        raise MappingError(f"a target file lists all distances, up to {MATRIX_LIMIT} processors, this machine has "
                           f"{machine.nprocs}; keep its graph (.grf) and list of vertices instead")
    numbers = tree_numbers(machine)
    lines = [f"deco\n0\n{machine.nprocs} {max(numbers)}"]
    lines += [f"{p} {w} {number}" for p, (w, number) in enumerate(zip(machine.weights, numbers, strict=True))]
    table = _whole(machine.matrix(), 0, "distances")
    return "\n".join([*lines, *(_joined(table[p, :p]) for p in range(1, machine.nprocs))])


def _whole(values: NDArray[np.float64], low: int, what: str) -> NDArray[np.int64]:
    bad = (values != np.floor(values)) | (values < low)
    if bad.any():
        raise MappingError(f"SCOTCH's target files take {what} that are whole and at least {low}, one is "
                           f"{values[bad][0]:g}")
    return values.astype(np.int64)


def _joined(values: NDArray[np.int64]) -> str:
    return " ".join(map(str, values.tolist()))
