"""Arrays of all kinds at the public face: what is refused by name, and what is kept of them."""

from __future__ import annotations

import numpy as np
import pytest

import copart
from copart import Graph, Hypergraph, Interedges, Mesh
from copart.mapping.cartesian import Stencil
from copart.mapping.ranks.communication import Messages
from copart.mesh.polyhedra import Polyhedra
from copart.mpi import fields
from copart.mpi.results import Rows
from copart.operators import ext, rest
from copart.partitioner.multijagged import multijagged

SQUARE = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
TRIANGLES = [("triangle", [[0, 1, 2], [1, 3, 2]])]
PATH = Graph.from_edges(4, range(3), range(1, 4))

#: What takes an array of four numbers, and what it calls them.
TAKES = {
    "vwgt": lambda x: PATH.replace(vwgt=x),
    "coords": lambda x: PATH.replace(coords=np.ma.stack([x, x], axis=1)),
    "interedges weights": lambda x: Interedges.from_pairs(4, 4, range(4), range(4), x),
    "interedges to A": lambda x: Interedges.from_pairs(9, 9, x, range(4)),
    "cost": lambda x: Hypergraph.from_nets(4, [[0, 1]] * 4, cost=x),
    "points": lambda x: Mesh(np.ma.stack([x, x], axis=1), TRIANGLES),
    "cell data 'load'": lambda x: Mesh(SQUARE, [("vertex", []), ("line", [[0, 1]] * 4)], {"load": x}),
    "tpwgts": lambda x: copart.part(PATH, 4, tpwgts=x),
    "weights": lambda x: multijagged(SQUARE, 2, weights=x),
    "bytes": lambda x: Messages(4, range(4), range(4), x),
    "values": lambda x: fields.given(x, 4, "cells"),
}


@pytest.mark.parametrize("name", TAKES)
def test_masked_entries_are_refused_and_not_read(name):
    TAKES[name](np.ma.array([1, 1, 1, 1]))
    with pytest.raises(copart.CopartError, match=rf"^{name}: \d of \d entries are masked; fill them in"):
        TAKES[name](np.ma.array([1, 1, 1, 1], mask=[0, 1, 0, 0]))


@pytest.mark.parametrize(("name", "make"), [
    ("vertices", PATH.subgraph),
    ("vertices", lambda x: rest(PATH, x)),
    ("vertices", lambda x: ext(PATH, x, [0] * 4, 1, 2)),
    ("u", lambda x: Graph.from_edges(4, x, range(4))),
    ("interedges to B", lambda x: Interedges.from_pairs(4, 4, range(4), x)),
    ("point group 'left'", lambda x: Mesh(SQUARE, TRIANGLES, point_groups={"left": x})),
    ("cells", lambda x: Mesh(SQUARE, TRIANGLES).centres(x)),
    ("cells of a", lambda x: Rows.of("a", np.arange(2, dtype=np.int32), x)),
])
def test_a_mask_is_no_list_of_numbers(name, make):
    with pytest.raises(copart.CopartError, match=rf"^{name}: needs numbers, has a mask of 4 entries; numpy"):
        make(np.array([False, True, True, False]))


def test_centres_of_cells_that_are_there():
    mesh = Mesh(SQUARE, TRIANGLES)
    assert np.allclose(mesh.centres([1, 0])[:, :2], [[2 / 3, 2 / 3], [1 / 3, 1 / 3]])
    for lost in (2, -1):
        with pytest.raises(copart.MeshError, match=rf"cells: 1 of 2 .* outside 0\.\.1, first at index 1: {lost}"):
            mesh.centres(np.array([0, lost]))


def kept(thing) -> list[np.ndarray]:
    """All arrays that a value holds."""
    if isinstance(thing, np.ndarray):
        return [thing]
    if isinstance(thing, (tuple, list)):
        return [array for one in thing for array in kept(one)]
    values = thing if hasattr(thing, "values") else getattr(thing, "__dict__", None)
    return [] if values is None else [array for one in values.values() for array in kept(one)]


@pytest.mark.parametrize(("make", "given"), [
    (Graph, {"xadj": [0, 1, 2], "adjncy": [1, 0], "ewgt": [2, 2], "vwgt": [1, 3], "vsize": [1, 2],
             "coords": np.zeros((2, 3))}),
    (Graph, {"xadj": [0, 1, 2], "adjncy": [1, 0], "vwgt": [[1, 3], [2, 1]]}),
    (Hypergraph, {"nvtxs": 3, "xpins": [0, 3], "pins": [1, 0, 2], "cost": [2], "vwgt": [1, 3, 2]}),
    (Interedges, {"shape": (2, 2), "indptr": [0, 1, 2], "indices": [1, 0], "weights": [0.5, 2.0]}),
    (Messages, {"nranks": 2, "source": [0], "target": [1], "nbytes": [8.0], "count": [3]}),
    (Polyhedra, {"start": [0, 3, 6, 9, 12], "nodes": [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2], "owner": [0] * 4,
                 "neighbour": [-1] * 4}),
    (Stencil, {"offsets": [[1, 0], [-1, 0]], "weights": [2, 3]}),
    (lambda **one: Mesh(one["points"], [("triangle", one["nodes"])], {"load": one["load"]},
                        facet_groups={"left": one["facets"]}, point_groups={"corner": one["corner"]}),
     {"points": np.zeros((3, 3)) + np.eye(3), "nodes": [[0, 1, 2]], "load": [7], "facets": [[0, 2]], "corner": [0, 2]}),
])
def test_what_is_written_to_given_arrays_later_on_changes_nothing(make, given):
    kinds = {"adjncy": np.int32, "pins": np.int32, "indices": np.int32, "source": np.int32, "target": np.int32}
    given = {name: np.array(values, kinds.get(name)) if isinstance(values, (list, np.ndarray)) else values
             for name, values in given.items()}
    made = make(**given)
    before = [array.copy() for array in kept(made)]
    for array in given.values():
        if isinstance(array, np.ndarray):
            array[...] = 0 if array.any() else 1
    for array, was in zip(kept(made), before, strict=True):
        assert not array.flags.writeable
        assert np.array_equal(array, was)


def test_arrays_that_nobody_can_write_to_are_kept_as_they_are():
    vwgt = np.arange(1, 5)
    vwgt.flags.writeable = False
    assert np.shares_memory(PATH.replace(vwgt=vwgt).vwgt, vwgt)
