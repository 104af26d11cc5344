"""Architectures of machines: domains, distances and subsets against explicit graphs and the spec's numbers."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from copart.errors import MappingError
from copart.graph import Graph
from copart.kernels import kernel
from copart.kernels.distances import processor_distance
from copart.mapping.architectures.architecture import Architecture, Complete, WeightedComplete, table_code
from copart.mapping.architectures.deco1 import Decomposition, decompose, tree_numbers
from copart.mapping.architectures.deco2 import MultilevelDecomposition
from copart.mapping.architectures.regular import Grid, Hypercube, Torus
from copart.mapping.architectures.subset import Subset, subset
from copart.mapping.architectures.tree import TreeLeaf

from ...conftest import NO_JIT
from ...helpers import grid


@kernel
def pair_distances(code, p, q, out):
    for i in range(len(out)):
        out[i] = processor_distance(code, p[i], q[i])


def torus(*shape: int) -> Graph:
    """The graph of a torus, first axis slowest."""
    ids = np.arange(int(np.prod(shape))).reshape(shape)
    ends = [(ids.ravel(), np.roll(ids, -1, axis).ravel()) for axis, size in enumerate(shape) if size > 2]
    ends += [(np.take(ids, 0, axis).ravel(), np.take(ids, 1, axis).ravel())
             for axis, size in enumerate(shape) if size == 2]
    u, v = (np.concatenate(x) for x in zip(*ends, strict=True))
    return Graph.from_edges(ids.size, u, v)


def de_bruijn(k: int) -> Graph:
    """The undirected de Bruijn graph UB(2, k)."""
    pairs = {(min(i, j), max(i, j)) for i in range(2**k) for j in (2 * i % 2**k, (2 * i + 1) % 2**k) if i != j}
    u, v = zip(*sorted(pairs), strict=True)
    return Graph.from_edges(2**k, u, v)


def star(leaves: int) -> Graph:
    return Graph.from_edges(leaves + 1, np.zeros(leaves, int), np.arange(1, leaves + 1))


def shortest(graph: Graph) -> np.ndarray:
    return dijkstra(graph.to_scipy().astype(float))


def ring_of_costs() -> Graph:
    return Graph.from_edges(6, [0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0], [5, 1, 3, 1, 9, 2])


RNG = np.random.default_rng(4)
EXAMPLES = {
    "one": lambda: Complete(1), "complete": lambda: Complete(7), "weighted": lambda: WeightedComplete([3, 1, 1, 9, 2]),
    "grid": lambda: Grid([3, 4, 2]), "line": lambda: Grid([5]), "torus": lambda: Torus([5, 4, 3]),
    "hypercube": lambda: Hypercube(5), "tree": lambda: TreeLeaf([3, 1, 4, 2], [9, 8, 3, 1]),
    "labelled": lambda: TreeLeaf([2, 4], [5, 1], [2, 0, 3, 1]),
    "sub of grid": lambda: subset(Grid([4, 2]), [0, 1, 4, 5, 7]),
    "sub of torus": lambda: subset(Torus([8, 8, 8]), np.random.default_rng(1).permutation(512)[:50]),
    "sub of labelled": lambda: subset(TreeLeaf([2, 4], [5, 1], [2, 0, 3, 1]), [5, 0, 7]),
    "sub of sub": lambda: subset(subset(Torus([8, 8]), np.arange(63, 3, -2)), [3, 2, 1, 20, 29]),
    "sub of weighted": lambda: subset(WeightedComplete([3, 1, 1, 9, 2]), [3, 0]),
    "deco": lambda: decompose(de_bruijn(4)), "deco of costs": lambda: decompose(ring_of_costs(), [5, 0, 2]),
    "sub of deco": lambda: subset(decompose(grid(4, 4)), [9, 3, 0, 15, 7]),
    "deco2": lambda: MultilevelDecomposition(grid(9, 7)), "deco2 of a star": lambda: MultilevelDecomposition(star(40)),
    "deco2 of some": lambda: MultilevelDecomposition(star(40), np.arange(40, 0, -3)),
    "sub of deco2": lambda: subset(MultilevelDecomposition(grid(9, 7)), [60, 3, 31, 5]),
}


@pytest.fixture(params=EXAMPLES, scope="module")
def machine(request):
    return EXAMPLES[request.param]()


def leaves(machine, domain):
    """Terminal domains below a domain, checking every cut on the way."""
    todo, out = [domain], []
    while todo:
        domain = todo.pop()
        if machine.size(domain) == 1:
            out.append(domain)
            continue
        first, second = machine.sons(domain)
        assert machine.size(first) > 0
        assert machine.size(second) > 0
        assert machine.size(first) + machine.size(second) == machine.size(domain)
        assert machine.weight(first) + machine.weight(second) == machine.weight(domain)
        assert len(first) == len(second) == len(domain)
        todo += [second, first]
    return out


def test_domains_are_cut_down_to_every_processor_once(machine):
    assert isinstance(machine, Architecture)
    ends = leaves(machine, machine.root)
    found = [machine.processor(domain) for domain in ends]
    assert sorted(found) == list(range(machine.nprocs))
    assert [machine.terminal(p) for p in found] == ends
    assert [machine.weight(domain) for domain in ends] == machine.weights[found].tolist()
    assert machine.weight(machine.root) == machine.weights.sum()


def test_distances_agree_in_every_form(machine):
    n = machine.nprocs
    p, q = RNG.integers(0, n, 60), RNG.integers(0, n, 60)
    wanted = machine.distances(p, q)
    assert (wanted == machine.distances(q, p)).all()
    assert ((wanted == 0) == (p == q)).all()
    assert (machine.matrix()[p, q] == wanted).all()
    assert (machine.distances(p[:, None], q[None, :6])[:, 3] == machine.distances(p, q[3])).all()
    ends = [machine.terminal(x) for x in q]
    for i in range(0, 60, 10):
        assert machine.domain_distances(machine.terminal(p[i]), ends) == pytest.approx(machine.distances(p[i], q))
    for code in (machine.code(), table_code(machine.matrix())):
        out = np.empty(60)
        pair_distances(code, p, q, out)
        assert (out == wanted).all()


def test_codes_are_of_one_type(machine):
    if NO_JIT:
        pytest.skip("kernels are not compiled in this run")
    pair_distances(machine.code(), np.zeros(1, int), np.zeros(1, int), np.zeros(1))
    assert len(pair_distances.nopython_signatures) == 1


@pytest.mark.parametrize(("machine", "graph"), [
    (Grid([4, 3, 2]), lambda: grid(2, 3, 4)), (Torus([5, 4, 2]), lambda: torus(2, 4, 5)),
    (Torus([6]), lambda: torus(6)), (Hypercube(4), lambda: torus(2, 2, 2, 2))])
def test_formulas_against_shortest_paths(machine, graph):
    """The first dimension of a machine runs fastest, as SCOTCH numbers its meshes."""
    assert (machine.matrix() == shortest(graph())).all()


def test_tree_distance_is_the_cost_of_the_lowest_common_level():
    machine = TreeLeaf([3, 2, 2], [7.5, 2, 1])
    for p, q in itertools.product(range(12), repeat=2):
        wanted = 0 if p == q else 1 if p // 2 == q // 2 else 2 if p // 4 == q // 4 else 7.5
        assert machine.distances(p, q) == wanted


def test_labels_of_a_tree_are_repeated():
    """Leaf i is processor labels[i % m] of its turn: 1, 2, 3, 0, 5, 6, 7, 4."""
    machine = TreeLeaf([4, 2], [5, 1], [1, 2, 3, 0])
    assert machine.distances([1, 3, 5, 7], [2, 0, 6, 4]).tolist() == [1, 1, 1, 1]
    assert machine.distances([0, 2, 4], [1, 3, 5]).tolist() == [5, 5, 5]
    assert machine.processor(machine.terminal(6)) == 6


def test_estimates_between_domains():
    """The formulas of the spec's table."""
    box = Grid([8, 4])
    west, east = box.sons(box.root)
    assert (west, east) == ((0, 3, 0, 3), (4, 7, 0, 3))
    assert box.domain_distances(west, [east, box.terminal(31)]).tolist() == [4, 5.5 + 1.5]
    ring = Torus([8])
    assert ring.domain_distances((0, 1), [(6, 7), (2, 3), (4, 5)]).tolist() == [2, 2, 4]
    cube = Hypercube(4)
    # two bits fixed differently, two free; one fixed, three free
    assert cube.domain_distances((0b00, 2), [(0b11, 2), (0b1, 3)]).tolist() == [2 + 1, 1 + 1.5]
    tree = TreeLeaf([2, 4], [10, 1])
    left, right = tree.sons(tree.root)
    assert tree.domain_distances(left, [right]).tolist() == [10]
    assert tree.domain_distances(*[tree.sons(left)[0], [tree.sons(left)[1], right]]).tolist() == [1, 10]


@pytest.mark.parametrize("build", [lambda: Torus([8, 8, 8]), lambda: Hypercube(9),
                                   lambda: TreeLeaf([8, 8, 8], [9, 4, 1]), lambda: decompose(grid(8, 8)),
                                   lambda: MultilevelDecomposition(grid(8, 8, 8)),
                                   lambda: subset(Torus([8, 8, 8]), np.arange(0, 512, 3))])
def test_estimates_near_the_mean_between_the_processors(build):
    """For the two halves, and the halves of one half; centres of boxes that touch are nearer than their contents."""
    machine = build()
    for domain in (machine.root, machine.sons(machine.root)[0]):
        first, second = machine.sons(domain)
        a, b = ([machine.processor(leaf) for leaf in leaves(machine, son)] for son in (first, second))
        mean = machine.distances(np.array(a)[:, None], np.array(b)[None, :]).mean()
        estimate = machine.domain_distances(first, [second])[0]
        assert 0.4 * mean < estimate < 1.2 * mean, f"{estimate} for a mean of {mean}"


def test_weights_halve_a_weighted_complete_graph():
    machine = WeightedComplete([1, 1, 1, 1, 4])
    assert machine.sons(machine.root) == ((0, 4), (4, 5))
    assert [machine.weight(son) for son in machine.sons(machine.root)] == [4, 4]


# ---- deco 1

def test_de_bruijn_decomposition():
    """UB(2, 3): 8 terminal domains, 15 domains in all, distances equal to breadth-first search."""
    machine = decompose(de_bruijn(3))
    assert sorted(tree_numbers(machine)) == list(range(8, 16))
    todo, domains = [machine.root], []
    while todo:
        domains.append(todo.pop())
        if machine.size(domains[-1]) > 1:
            todo += machine.sons(domains[-1])
    assert len(domains) == 15
    assert sum(machine.size(domain) == 1 for domain in domains) == 8
    assert (machine.matrix() == shortest(de_bruijn(3))).all()


@pytest.mark.parametrize("build", [lambda: decompose(ring_of_costs()), lambda: decompose(grid(3, 5), [14, 0, 7, 2, 5])])
def test_mean_over_the_sons(build):
    """At most four values per step, down to the processors."""
    machine = build()

    def mean(a, b):
        sons_a = machine.sons(a) if machine.size(a) > 1 else (a,)
        sons_b = machine.sons(b) if machine.size(b) > 1 else (b,)
        if sons_a == (a,) and sons_b == (b,):
            return machine.matrix()[machine.processor(a), machine.processor(b)]
        return np.mean([mean(x, y) for x in sons_a for y in sons_b])

    first, second = machine.sons(machine.root)
    others = [second, *machine.sons(second), *leaves(machine, second)]
    for domain in (first, *leaves(machine, first)):
        assert machine.domain_distances(domain, others) == pytest.approx([mean(domain, other) for other in others])


def test_both_halves_even_and_passage_left_out():
    machine = decompose(grid(6, 6), np.arange(0, 36, 2))
    assert [machine.size(son) for son in machine.sons(machine.root)] == [9, 9]
    wanted = shortest(grid(6, 6))[::2, ::2]
    assert (machine.matrix() == wanted).all()


# ---- deco 2

GRAPHS = {"grid 32 x 32": (lambda: grid(32, 32), 0.15), "torus 16 x 16 x 16": (lambda: torus(16, 16, 16), 0.2),
          "path of 300": (lambda: grid(300), 0.05), "UB(2, 9)": (lambda: de_bruijn(9), 0.65),
          "torus 7 x 13 x 5": (lambda: torus(7, 13, 5), 0.25)}


@pytest.mark.parametrize("name", GRAPHS)
def test_multilevel_distances(name):
    """Exact for neighbours; the mean relative error from 40 vertices to all was 0.090, 0.148, 0.020, 0.505, 0.150."""
    graph, bound = GRAPHS[name][0](), GRAPHS[name][1]
    machine = MultilevelDecomposition(graph)
    sources = np.linspace(0, graph.nvtxs - 1, 8).astype(int)
    exact = dijkstra(graph.to_scipy().astype(float), indices=sources)
    found = machine.distances(sources[:, None], np.arange(graph.nvtxs)[None, :])
    assert (found[exact == 1] == 1).all()
    assert (found[exact == 2] == 2).all()
    error = np.abs(found - exact)[exact > 0] / exact[exact > 0]
    assert error.mean() < bound, f"{name}: mean relative error {error.mean():.3f}"


def test_neighbours_over_links_of_different_cost():
    """A way around may be shorter than a direct link."""
    rng = np.random.default_rng(7)
    graph = grid(12, 12)
    u, v, _ = graph.edges()
    graph = Graph.from_edges(144, u, v, rng.integers(1, 9, len(u)))
    machine = MultilevelDecomposition(graph)
    assert (machine.distances(u, v) == shortest(graph)[u, v]).all()


def test_a_star_is_decomposed_in_few_levels():
    """Leaves are matched below their common neighbour; otherwise each level would take one leaf away."""
    machine = MultilevelDecomposition(star(300), np.arange(1, 301))
    assert len(machine.levels.first) - 1 <= 12
    assert set(machine.matrix()[0, 1:]) == {2.0}
    depth = machine.leaf_depths()
    assert depth.max() <= 12


def test_levels_end_with_one_vertex_and_keep_all_links():
    machine = MultilevelDecomposition(torus(6, 5, 4))
    fields = machine.levels
    assert fields.first[-1] - fields.first[-2] == 1
    for level in range(len(fields.first) - 2):
        low, high = fields.first[level], fields.first[level + 1]
        father = fields.father[low:high]
        assert father.min() == high
        assert np.bincount(father - high).max() <= 2
        rows = np.repeat(np.arange(low, high), np.diff(fields.xadj[low:high + 1]))
        arcs = slice(fields.xadj[low], fields.xadj[high])
        above = {(int(a), int(b)) for a, b in zip(fields.father[rows], fields.father[fields.adjncy[arcs]], strict=True)
                 if a != b}
        end = fields.first[level + 2]
        rows = np.repeat(np.arange(high, end), np.diff(fields.xadj[high:end + 1]))
        arcs = slice(fields.xadj[high], fields.xadj[end])
        assert above == set(zip(rows.tolist(), fields.adjncy[arcs].tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.skipif(NO_JIT, reason="a million vertices need compiled kernels")
def test_a_million_processors():
    """Built in 1.0 s of CPU time with 56 bytes a link; the algorithmic ones in nothing."""
    begin = time.process_time()
    machine = MultilevelDecomposition(torus(100, 100, 100))
    assert time.process_time() - begin < 30
    fields = machine.levels
    kept = sum(array.nbytes for array in (fields.father, fields.xadj, fields.adjncy, fields.edge))
    assert kept < 100 * 3_000_000
    assert [machine.size(son) for son in machine.sons(machine.root)] == pytest.approx([5e5, 5e5], rel=0.35)
    formula = Torus([100, 100, 100])
    held = sum(np.asarray(value).nbytes for value in vars(formula).values())
    assert held < 200
    # 555555 stands at (55, 55, 55)
    assert formula.distances(0, 555_555) == 45 + 45 + 45


# ---- sub

def test_five_of_eight():
    """The 4 x 2 grid of the source: vertex 7 alone in a corner is split off first."""
    machine = subset(Grid([4, 2]), [0, 1, 4, 5, 7])
    first, second = machine.sons(machine.root)
    assert sorted([machine.size(first), machine.size(second)]) == [1, 4]
    lone = first if machine.size(first) == 1 else second
    assert machine.processor(lone) == 4


def test_order_of_the_list_is_the_numbering():
    chosen = np.random.default_rng(3).permutation(64**3)[:26_214]
    base = Torus([64, 64, 64])
    machine = subset(base, chosen)
    p, q = RNG.integers(0, len(chosen), 500), RNG.integers(0, len(chosen), 500)
    assert (machine.distances(p, q) == base.distances(chosen[p], chosen[q])).all()
    ends = leaves(machine, machine.root)
    assert sorted(machine.processor(domain) for domain in ends) == list(range(len(chosen)))
    assert machine.leaf_depths().max() <= 18
    assert [machine.size(son) for son in machine.sons(machine.root)] == pytest.approx([13_107] * 2, rel=0.05)


@pytest.mark.parametrize(("base", "cut"), [(Grid([5, 1]), [2, 3]), (Grid([6, 1]), [2, 4]), (Grid([7]), [4, 3])])
def test_lines_of_odd_size_stay_balanced(base, cut):
    """The line left alone changes sides with every visit: 5 -> 3 -> 2, halves 2 and 3, not 4 and 1."""
    machine = subset(base, np.arange(base.nprocs))
    assert sorted(machine.size(son) for son in machine.sons(machine.root)) == sorted(cut)


def test_matchings_of_hypercube_and_tree():
    cube = subset(Hypercube(4), np.arange(16))
    # merged along bit i at stage i: the last cut tells the highest bit
    assert {p >> 3 for p in map(cube.processor, leaves(cube, cube.sons(cube.root)[0]))} == {0}
    tree = subset(TreeLeaf([2, 4], [10, 1]), [7, 0, 6, 1, 5])
    first, second = tree.sons(tree.root)
    assert {tree.vertices[tree.processor(leaf)] // 4 for leaf in leaves(tree, first)} == {0}
    assert {tree.vertices[tree.processor(leaf)] // 4 for leaf in leaves(tree, second)} == {1}


@given(st.data())
def test_any_subset_of_any_box(data):
    dims = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    base = data.draw(st.sampled_from([Grid, Torus]))(dims)
    chosen = data.draw(st.lists(st.integers(0, base.nprocs - 1), min_size=1, max_size=30, unique=True))
    machine = subset(base, chosen)
    assert isinstance(machine, Subset)
    ends = leaves(machine, machine.root)
    assert sorted(map(machine.processor, ends)) == list(range(len(chosen)))
    assert (machine.matrix() == base.distances(np.array(chosen)[:, None], np.array(chosen)[None, :])).all()


# ---- refused

@pytest.mark.parametrize(("make", "match"), [
    (lambda: WeightedComplete([1, 0, 2]), "power: must be at least 1, is 0 for 1 processors, first for processor 1"),
    (lambda: WeightedComplete([]), "at least one processor"),
    (lambda: MultilevelDecomposition(Graph.from_edges(4, [0, 2], [1, 3])), "not connected .2 pieces; vertices 0 and 2"),
    (lambda: decompose(Graph.from_edges(4, [0, 2], [1, 3])), "not connected"),
    (lambda: decompose(Graph.from_edges(2, [0], [1], [0])), "a link must cost at least 1"),
    (lambda: decompose(Graph.from_edges(2, [0], [1], vwgt=[1, 0])), "compute power 0, first vertex 1"),
    (lambda: decompose(grid(3, 3), [1, 1]), "vertex 1 is listed more than once"),
    (lambda: decompose(grid(3, 3), [9]), "outside 0..8"),
    (lambda: decompose(grid(3, 3), []), "at least one processor"),
    (lambda: decompose(Graph.from_edges(0, [], [])), "at least one processor"),
    (lambda: decompose(grid(5000)), "up to 4096 processors"),
    (lambda: subset(Grid([3]), [0, 0]), "processor 0 is listed more than once"),
    (lambda: subset(Grid([3]), [3]), "outside 0..2"),
    (lambda: subset(Grid([3]), []), "the list is empty"),
    (lambda: TreeLeaf([2, 2], [1]), "needs one per level"),
    (lambda: TreeLeaf([2, 2], [2, 1], [0, 0]), "every number of 0..1 once"),
    (lambda: TreeLeaf([3], [2], [1, 0]), "do not divide"),
    (lambda: Grid([]), "at least one dimension"),
    (lambda: Grid([2**40, 2**40]), "at most 2.62 processors"),
    (lambda: Torus([100, 100, 100]).matrix(), "up to 4096 processors"),
    (lambda: Decomposition([1, 2], [[0, 1], [1, 0]], np.ones(2, int)), "domain 2 is part of terminal domain 1"),
    (lambda: Decomposition([2, 3], [[0, 1], [2, 0]], np.ones(2, int)), "symmetric"),
])
def test_refused(make, match):
    with pytest.raises(MappingError, match=match):
        make()
