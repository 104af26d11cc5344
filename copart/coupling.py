"""Components, the interedges between them, and co-partitions.

:class:`~copart.interedges.Interedges` relates the cells of two components that exchange data,
`CoupledProblem` holds n named components with the interedges of each coupled
pair, `CoPartition` one part array per component.  Two components are the common
case: ``problem.a``, ``problem.b``, ``problem.interedges``.
(Predari & Esnard 2014, Sections II-III.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import VERTEX, Frozen, frozen, part_array, plain, weights, whole
from .errors import CouplingError, did_you_mean
from .graph import Graph, as_graph
from .interedges import Interedges


@dataclass(frozen=True, eq=False, repr=False)
class CoupledProblem(Frozen):
    """n named component graphs and the interedges of each coupled pair.

    Parameters
    ----------
    components : mapping of str to Graph
        In order; anything :func:`copart.graph.as_graph` takes.
    pairs : mapping of (str, str) to Interedges
        By ordered pair of names, each pair once.
    coupled_weights : mapping of str to (nvtxs,) array_like of int, optional
        Work of the cells of a component in a coupling phase, not negative, kept as int64; what cells off the interface
        have plays no role.  A component that is not named has the weights of its cells.

    Raises
    ------
    CouplingError
        Unknown names, a pair given twice or with itself, shapes that do not match, or coupled weights that are
        negative or all 0.

    Examples
    --------
    >>> line = Graph.from_edges(2, [0], [1])
    >>> problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(2, 2, [1], [0]))
    >>> problem.names, len(problem.interedges)
    (('a', 'b'), 1)
    """

    components: Mapping[str, Graph]
    pairs: Mapping[tuple[str, str], Interedges] = field(default_factory=dict)
    coupled_weights: Mapping[str, NDArray[np.int64]] | None = None

    def __post_init__(self) -> None:
        graphs = {name: as_graph(g) for name, g in _by_name("components", self.components).items()}
        if not graphs:
            raise CouplingError("components: at least one is needed")
        if not isinstance(self.pairs, Mapping):
            raise CouplingError(f"pairs: need a mapping from two names to interedges, got {type(self.pairs).__name__}")
        pairs: dict[tuple[str, str], Interedges] = {}
        for pair, inter in self.pairs.items():
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise CouplingError(f"pairs: the key of interedges is a tuple of two names, got {pair!r:.60}")
            p, q = map(str, pair)
            if not isinstance(inter, Interedges):
                raise CouplingError(f"interedges ({p}, {q}): need copart.Interedges, got {type(inter).__name__}; "
                                    f"Interedges.from_pairs and from_scipy make them")
            for name in (p, q):
                if name not in graphs:
                    raise CouplingError(f"interedges ({p}, {q}): no component {name!r}; known: {', '.join(graphs)}"
                                        + did_you_mean(str(name), graphs))
            if p == q:
                raise CouplingError(f"interedges ({p}, {q}): join {p} with itself; what its cells exchange with each "
                                    f"other is edges of its graph, interedges are between two components")
            if (q, p) in pairs:
                raise CouplingError(f"interedges ({p}, {q}): a pair of two components may be given once")
            want = (graphs[p].nvtxs, graphs[q].nvtxs)
            if inter.shape != want:
                raise CouplingError(f"interedges ({p}, {q}): have shape {inter.shape}, "
                                    f"the components have {want} cells")
            pairs[p, q] = inter
        object.__setattr__(self, "components", MappingProxyType(graphs))
        object.__setattr__(self, "pairs", MappingProxyType(pairs))
        own: dict[str, NDArray[np.int64]] = {}
        given = {} if self.coupled_weights is None else self.coupled_weights
        for name, values in _by_name("coupled weights", given).items():
            if name not in graphs:
                raise CouplingError(f"coupled weights: no component {name!r}; known: {', '.join(graphs)}"
                                    + did_you_mean(str(name), graphs))
            own[name] = frozen(weights(f"coupled weights of {name}", values, graphs[name].nvtxs, CouplingError).copy())
            cells = self.coupled(name)
            if len(cells) and not own[name][cells].any():
                raise CouplingError(f"coupled weights of {name}: are 0 in all {len(cells)} coupled cells; give "
                                    f"some of them work, or leave the weights out")
        object.__setattr__(self, "coupled_weights", MappingProxyType(own))

    @classmethod
    def of_two(cls, a: Any, b: Any, interedges: Interedges, names: tuple[str, str] = ("a", "b"),
               coupled_weights: Mapping[str, NDArray[np.int64]] | None = None) -> CoupledProblem:
        """The common case: two components and the interedges between them.

        Parameters
        ----------
        a, b : Graph or graph-like
            The components; anything :func:`copart.graph.as_graph` takes.
        interedges : Interedges
            Cells of `a` by cells of `b`.
        names : (str, str)
            Of the components, two different ones.
        coupled_weights : mapping of str to (nvtxs,) array_like of int, optional
            Work of cells in a coupling phase, by the names of components.
        """
        try:
            p, q = map(str, names)
        except (TypeError, ValueError):
            raise CouplingError(f"names: needs two names, got {names!r:.60}") from None
        if p == q:
            raise CouplingError(f"names: the two components need different names, both are {p!r}")
        return cls({p: a, q: b}, {(p, q): interedges}, coupled_weights)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the components, in order."""
        return tuple(self.components)

    @property
    def a(self) -> Graph:
        """The first component."""
        return self.components[self.names[0]]

    @property
    def b(self) -> Graph:
        """The second component (error when there is none)."""
        if len(self.names) < 2:
            raise CouplingError("problem.b: this problem has one component")
        return self.components[self.names[1]]

    @property
    def interedges(self) -> Interedges:
        """The interedges of the only pair."""
        if len(self.pairs) != 1:
            raise CouplingError(f"problem.interedges: this problem has {len(self.pairs)} coupled pairs, "
                                f"use problem.pairs")
        return next(iter(self.pairs.values()))

    @property
    def ordered_pairs(self) -> list[tuple[str, str]]:
        """The pairs as figures and files list them: in the order of the components, whatever they were given in."""
        rank = {name: i for i, name in enumerate(self.components)}
        return sorted(self.pairs, key=lambda pair: sorted((rank[pair[0]], rank[pair[1]])))

    def coupled(self, name: str) -> NDArray[np.int32]:
        """Vertices of component `name` with an interedge to any other component, ascending.

        Parameters
        ----------
        name : str
            Of the component.
        """
        if name not in self._coupled:
            _known(name, self.components)
            found = [inter.coupled_a if name == p else inter.coupled_b
                     for (p, q), inter in self.pairs.items() if name in (p, q)]
            cells = np.unique(np.concatenate(found)).astype(VERTEX) if found else np.zeros(0, VERTEX)
            self._coupled[name] = frozen(cells)
        return self._coupled[name]

    @cached_property
    def _coupled(self) -> dict[str, NDArray[np.int32]]:
        """What :meth:`coupled` has found."""
        return {}

    def own_weights(self, name: str) -> bool:
        """Whether the coupled cells of component `name` have weights of their own, beside those of its cells.

        Parameters
        ----------
        name : str
            Of the component.
        """
        _known(name, self.components)
        return name in (self.coupled_weights or ())

    def coupled_load(self, name: str) -> NDArray[np.int64]:
        """(ncoupled cells,) int64 work of the cells :meth:`coupled` of component `name` in a coupling phase.

        Their coupled weights where there are some, else the weights of the cells.

        Parameters
        ----------
        name : str
            Of the component.
        """
        cells = self.coupled(name)
        every = (self.coupled_weights or {}).get(name)
        return (self.components[name].weights if every is None else every)[cells]

    def facing(self, name: str, other: str) -> Interedges | None:
        """The interedges of two components, cells of `name` by cells of `other`; None where they have none.

        Parameters
        ----------
        name, other : str
            Of two components.
        """
        if (name, other) in self.pairs:
            return self.pairs[name, other]
        _known(name, self.components)
        _known(other, self.components)
        return self.pairs[other, name].transposed if (other, name) in self.pairs else None

    def spanning_tree(self) -> tuple[tuple[str, str | None], ...]:
        """A maximum spanning tree of the coupling graph, whose edges weigh as many interedges as a pair has.

        Built by Prim's algorithm: the pair with the most interedges first, then again and again the component with
        the most interedges to one that is in the tree already.  Of equal ones the first in the order of components
        and pairs is taken.

        Returns
        -------
        tuple of (str, str or None)
            The components in the order in which they join the tree, each with its parent: the neighbour through
            which it joins, None for the root of each connected group of components.

        Examples
        --------
        >>> one, meet = Graph.from_edges(3, [], []), Interedges.from_pairs
        >>> problem = CoupledProblem({"a": one, "b": one, "c": one},
        ...                          {("a", "b"): meet(3, 3, [0], [0]), ("b", "c"): meet(3, 3, [0, 1], [0, 1])})
        >>> problem.spanning_tree()
        (('b', None), ('c', 'b'), ('a', 'b'))
        """
        tree: dict[str, str | None] = {}
        rank = {name: i for i, name in enumerate(self.names)}
        pairs = sorted((pair for pair in self.pairs if len(self.pairs[pair])), key=lambda p: -len(self.pairs[p]))
        while len(tree) < len(rank):
            link = next((pair for pair in pairs if (pair[0] in tree) != (pair[1] in tree)), None)
            if link is not None:
                known, new = link if link[0] in tree else (link[1], link[0])
                tree[new] = known
            else:
                fresh = next((pair for pair in pairs if pair[0] not in tree), None)
                names = [n for n in self.names if n not in tree] if fresh is None else list(fresh)
                tree[min(names, key=rank.__getitem__)] = None
        return tuple(tree.items())

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}: {g.nvtxs} cells" for name, g in self.components.items())
        links = ", ".join(f"{p}-{q}: {len(i)}" for (p, q), i in self.pairs.items())
        return f"CoupledProblem({parts}; interedges {links or 'none'})"


@dataclass(frozen=True, eq=False, repr=False)
class CoPartition(Frozen):
    """One part array per component, with the counts that were asked for.

    Parameters
    ----------
    parts : mapping of str to (nvtxs,) array_like of int
        Part of every vertex, ``0..nparts-1``, kept as int32.
    nparts : mapping of str to int
        Number of parts of each component.
    ncoupled : mapping of str to int or None, optional
        Number of parts that may own coupled cells, where it was asked for.
    shared : bool
        The components share one pool of processes: part k of each is process k, which may own cells of several
        or none of some.  All have the same number of parts then.
    alone : mapping of str to (nvtxs,) array_like of int, optional
        The partition of each component alone that it began with, to be measured by.
    scheme : str, optional
        Who made it, where the best of several schemes was taken.

    Notes
    -----
    It knows nothing else of how it was made; :func:`copart.metrics.evaluate`
    computes every figure from it and the problem.  Each component numbers its
    parts from 0; as processes of one world, component i starts at
    ``offset(name)``, which is 0 for all in a shared pool.
    """

    parts: Mapping[str, NDArray[np.int32]]
    nparts: Mapping[str, int]
    ncoupled: Mapping[str, int | None] = field(default_factory=dict)
    shared: bool = False
    alone: Mapping[str, NDArray[np.int32]] | None = None
    scheme: str | None = None

    def __post_init__(self) -> None:
        given, asked = _by_name("parts", self.parts), _by_name("nparts", self.nparts)
        if set(given) != set(asked):
            raise CouplingError(f"parts and nparts name different components: {sorted(given)} and {sorted(asked)}")
        count = {name: whole(f"nparts of {name}", asked[name], low=1) for name in given}
        if self.shared and len(set(count.values())) > 1:
            raise CouplingError(f"nparts: a shared pool has one size, got {', '.join(map(str, count.values()))}")
        parts = {}
        for name, part in given.items():
            parts[name] = _parts(f"parts of {name}", part, count[name])
        some = _by_name("ncoupled", {} if self.ncoupled is None else self.ncoupled)
        coupled: dict[str, int | None] = dict.fromkeys(parts)
        for name, n in some.items():
            _known(name, parts)
            coupled[name] = None if n is None else whole(f"ncoupled of {name}", n, low=0)
        put = object.__setattr__
        put(self, "parts", MappingProxyType(parts))
        put(self, "nparts", MappingProxyType(count))
        put(self, "ncoupled", MappingProxyType(coupled))
        if self.alone is not None:
            put(self, "alone", MappingProxyType(self._began(_by_name("alone", self.alone))))

    def _began(self, given: Mapping[str, Any]) -> dict[str, NDArray[np.int32]]:
        """The partitions of the components alone, checked as the parts are."""
        for name in given:
            _known(name, self.parts)
        return {name: _parts(f"alone of {name}", part, self.nparts[name], len(self.parts[name]))
                for name, part in given.items()}

    def __getitem__(self, name: str) -> NDArray[np.int32]:
        _known(name, self.parts)
        return self.parts[name]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the components, in order."""
        return tuple(self.parts)

    @property
    def a(self) -> NDArray[np.int32]:
        """Parts of the first component."""
        return self.parts[self.names[0]]

    @property
    def b(self) -> NDArray[np.int32]:
        """Parts of the second component (error when there is none)."""
        if len(self.names) < 2:
            raise CouplingError(f"copartition.b: there are {len(self.names)} components, needs two")
        return self.parts[self.names[1]]

    def offset(self, name: str) -> int:
        """Rank of part 0 of `name` when all components run in one world, in order (0 in a shared pool).

        Parameters
        ----------
        name : str
            Of the component.
        """
        _known(name, self.parts)
        if self.shared:
            return 0
        before = self.names[:self.names.index(name)]
        return sum(self.nparts[n] for n in before)

    @property
    def nprocs(self) -> int:
        """Number of processes of all components together."""
        return next(iter(self.nparts.values())) if self.shared else sum(self.nparts.values())

    def __repr__(self) -> str:
        said = ["shared pool"] if self.shared else []
        for name in self.names:
            size = np.bincount(self.parts[name], minlength=self.nparts[name])
            coupled = f" ({self.ncoupled[name]} coupled)" if self.ncoupled[name] else ""
            said.append(f"{name}: {self.nparts[name]} parts of {size.min()} to {size.max()} vertices{coupled}")
        return f"CoPartition({', '.join(said)})"


def _by_name(what: str, given: Any) -> dict[str, Any]:
    """A mapping from components, by their names as text.

    Raises
    ------
    CouplingError
        It is none, or two keys are the same name.
    """
    if not isinstance(given, Mapping):
        raise CouplingError(f"{what}: need a mapping from components, got {given!r:.60}")
    named = {str(name): value for name, value in given.items()}
    if len(named) < len(given):
        raise CouplingError(f"{what}: two components have the same name; there are {', '.join(map(str, given))}")
    return named


def _parts(what: str, given: Any, nparts: int, size: int | None = None) -> NDArray[np.int32]:
    """A frozen copy of the part of every vertex."""
    array = plain(what, given, CouplingError)
    size = (array.shape[0] if array.ndim else 0) if size is None else size
    return frozen(part_array(what, array, size, nparts, CouplingError).copy())


def _known(name: str, names: Iterable[str]) -> None:
    """CouplingError where there is no such component."""
    if name not in names:
        raise CouplingError(f"no component {name!r}; known: {', '.join(names)}" + did_you_mean(str(name), names))


__all__ = ["CoPartition", "CoupledProblem", "Interedges"]
