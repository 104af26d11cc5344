"""Ranks that call a function of copart.mpi with arguments of which those of one rank are wrong, or others.

The cases, and the job that tries all those of one function: ``mpiexec -n 3 python -m tests.mpi.disagreements NAME``
prints a line of JSON per case.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from copart.mapping.cartesian import Grid, as_stencil
from copart.mapping.ranks.message_costs import CostModel

RANKS = 3
MODULES = {"cart_create": "cartesian", "cart_position": "cartesian", "new_rank": "reordering", "reorder": "reordering"}


class Broken:
    """Raises whatever is asked of it."""

    def __iter__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no luck")

    __array__ = __iter__
    __index__ = __iter__


class Case(NamedTuple):
    """One call.  kind: wrong, other (valid, but not that of the others), own (may differ), alike (the same in other
    words), missing, unknown, call (another function), communicator (of all ranks) or inside (fails later on)."""

    function: str
    argument: str
    kind: str
    rank: int
    gives: Any = None
    error: str | None = None
    all_give: dict[str, Any] = {}  # noqa: RUF012 -- never written to

    @property
    def name(self) -> str:
        what = type(self.gives).__name__ if isinstance(self.gives, (Broken, Grid)) else self.gives
        return f"{self.argument}-{self.kind}-{what}-{'-'.join(map(str, self.all_give.values()))}"


def right(function: str, rank: int) -> dict[str, Any]:
    """Arguments, next to the communicator, with which a call succeeds."""
    nodes = {"method": "best", "objective": "total", "node": rank % 2}
    if function == "cart_create":
        return {"dims": (3, 1), "periods": (True, False), "stencil": "five-point", "weights": None, **nodes}
    if function == "cart_position":
        return {"grid": Grid((3, 1), (True, False)), "stencil": as_stencil("five-point", 2), **nodes}
    return {"neighbours": [(rank + 1) % RANKS], "nbytes": [1000.0], "model": "lucia-network", "duplex": "full",
            "method": "greedy", "seed": 1, "root": 0, "node": rank % 2, "exchange": "auto"}


WORD, NUMBER, SHAPE = "ConfigError", "ConfigError", "MappingError"
_NODE = [(-1, NUMBER), ("a", NUMBER), (2**31, NUMBER), (0.5, NUMBER), (Broken(), "RuntimeError")]
_PLACE_WRONG = {
    "method": [("bst", WORD), (None, WORD), (["best"], WORD), (3, WORD)],
    "objective": [("sum", WORD), (None, WORD), (["total"], WORD)],
    "node": _NODE,
}
_GRAPH_WRONG = {
    "neighbours": [([7], SHAPE), (["a"], SHAPE), ([0.5], SHAPE), ([0, 1], SHAPE), ([[0]], SHAPE), (None, SHAPE),
                   ([[0], [1, 2]], SHAPE), (np.ma.array([0], mask=[1]), SHAPE),
                   (Broken(), "RuntimeError")],
    "nbytes": [([-1.0], NUMBER), (["many"], NUMBER), ([1, 2], SHAPE), ([float("nan")], NUMBER), (None, NUMBER),
               ({}, NUMBER), (np.ma.array([1.0], mask=[1]), NUMBER), (Broken(), "RuntimeError")],
    "model": [("none", WORD), ((1.0,), WORD), ((-1.0, 5.0), NUMBER), (None, WORD), (("a", "b"), WORD),
              (Broken(), "RuntimeError")],
    "duplex": [("both", WORD), (None, WORD), (1, WORD)],
    "method": [("bst", WORD), (None, WORD), (["greedy"], WORD)],
    "seed": [(-1, NUMBER), ("one", NUMBER), (None, NUMBER), (0.5, NUMBER)],
    "root": [(7, NUMBER), (-1, NUMBER), ("0", NUMBER), (None, NUMBER), (0.5, NUMBER)],
    "node": _NODE,
    "exchange": [("mail", WORD), (None, WORD), (["auto"], WORD)],
}
_GRAPH_OTHER = {"model": ["meluxina-network", (1.0, 100.0)], "duplex": ["half"], "method": ["bisection", "best", len],
                "seed": [2], "root": [1, 2], "node": [None], "exchange": ["allgather", "messages"]}
_GRAPH_OWN = {"neighbours": [[], [0, 1, 2, 0]], "nbytes": [[5.0], 7], "node": [9]}
_GRAPH_ALIKE = {"seed": [np.int64(1)], "root": [np.int8(0)], "method": [np.str_("greedy")], "nbytes": [(1000,)],
                "model": [CostModel.named("lucia-network")]}
WRONG: dict[str, dict[str, list[tuple[Any, str]]]] = {
    "cart_create": {
        "dims": [((2, 2), SHAPE), ((0, 2), SHAPE), (3, "TypeError"), (None, "TypeError"), (("a", 1), NUMBER),
                 ((), SHAPE), ((-3, -1), NUMBER), ((3,), SHAPE), (Broken(), "RuntimeError")],
        "periods": [((True,), SHAPE), (1, "TypeError"), (("no", "yes"), SHAPE), ((0, 2), SHAPE),
                    (Broken(), "RuntimeError")],
        "stencil": [("six-point", WORD), ([[0, 0]], SHAPE), ([1, 2, 3], SHAPE), (None, SHAPE), ([["a", "b"]], SHAPE),
                    ([[1, 0], [1]], SHAPE), (Broken(), "RuntimeError")],
        "weights": [([1], SHAPE), ([-1, 1, 1, 1], SHAPE), ("x", SHAPE), (Broken(), "RuntimeError")],
        **_PLACE_WRONG},
    "cart_position": {
        "grid": [(None, "TypeError"), ((3, 1), "TypeError"), (Grid((2, 2)), SHAPE), (Grid((3,)), SHAPE)],
        "stencil": [(None, "TypeError"), ("five-point", "TypeError"), (as_stencil("five-point", 3), SHAPE)],
        **_PLACE_WRONG},
    "new_rank": _GRAPH_WRONG, "reorder": _GRAPH_WRONG,
}
_PLACE_OTHER = {"method": ["hyperplane", "central-greedy", "distributed-greedy"], "objective": ["max"], "node": [None]}
OTHER: dict[str, dict[str, list[Any]]] = {
    "cart_create": {"dims": [(1, 3)], "periods": [(False, False), None], "stencil": ["nine-point", [1, 0]],
                    "weights": [[2, 1, 1, 1]], **_PLACE_OTHER},
    "cart_position": {"grid": [Grid((1, 3)), Grid((3, 1))],
                      "stencil": [as_stencil("nine-point", 2), as_stencil("five-point", 2, [1, 1, 1, 2])],
                      **_PLACE_OTHER},
    "new_rank": _GRAPH_OTHER, "reorder": _GRAPH_OTHER,
}
OWN: dict[str, dict[str, list[Any]]] = {"cart_create": {"node": [9]}, "cart_position": {"node": [9]},
                                        "new_rank": _GRAPH_OWN, "reorder": _GRAPH_OWN}
ALIKE: dict[str, dict[str, list[Any]]] = {
    "cart_create": {"dims": [np.array([3, 1]), [0, 1]], "periods": [[1, 0]], "weights": [np.ones(4)],
                    "stencil": [[-1, 0, 1, 0, 0, -1, 0, 1]], "method": [np.str_("best")]},
    "cart_position": {"grid": [Grid([3, 1], [1, 0])], "stencil": [as_stencil([[-1, 0], [1, 0], [0, -1], [0, 1]], 2)]},
    "new_rank": _GRAPH_ALIKE, "reorder": _GRAPH_ALIKE,
}
#: Function that fails later, the ranks on which it may, and arguments with which it is called.
_PLACE_INSIDE = [("rank_local", (0, 1, 2), {}), ("rank_local", (0, 1, 2), {"method": "hyperplane"}),
                 ("central_greedy", (0,), {"method": "central-greedy"}),
                 ("greedy_seeds", (0, 1), {"method": "distributed-greedy"}),
                 ("check_up", (1,), {"method": "distributed-greedy"})]
_GRAPH_INSIDE = [("reorder_ranks", (0,), {}), ("reorder_ranks", (2,), {"root": 2}), ("block_of", (1,), {"root": 1}),
                 ("_room", (0,), {})]


def cases(function: str) -> list[Case]:
    """All cases of a function; the rank that stands out takes turns."""
    found: list[Case] = []

    def add(argument: str, kind: str, gives: Any = None, error: str | None = None) -> None:
        found.append(Case(function, argument, kind, len(found) % RANKS, gives, error))

    for argument, values in WRONG[function].items():
        for value, error in values:
            add(argument, "wrong", value, error)
    for kind, table, problem in (("other", OTHER, "ConfigError"), ("own", OWN, None), ("alike", ALIKE, None)):
        for argument, several in table[function].items():
            for value in several:
                add(argument, kind, value, problem)
    for argument in ("surprise", "reorder"):
        add(argument, "unknown", 1, "TypeError")
    for argument in list(right(function, 0))[:1 if function == "cart_create" else 2]:
        add(argument, "missing", None, "TypeError")
    for other, module in MODULES.items():
        if module == MODULES[function] and other != function:
            add("", "call", other, "ConfigError")
    add("comm", "communicator", "none", "TypeError")
    add("comm", "communicator", "word", "TypeError")
    add("comm", "communicator", "null", "ConfigError")
    add("comm", "communicator", "freed", "ConfigError")
    add("comm", "communicator", "duplicate")
    add("comm", "communicator", "self", SHAPE)
    for inner, ranks, arguments in _PLACE_INSIDE if MODULES[function] == "cartesian" else _GRAPH_INSIDE:
        found += [Case(function, inner, "inside", rank, None, "MemoryError", arguments) for rank in ranks]
    return found


def communicator(which: str, comm: Any) -> Any:
    """Another communicator for all ranks."""
    from mpi4py import MPI

    if which in ("duplicate", "freed"):
        made = comm.Dup()
        if which == "freed":
            made.Free()
        return made
    return {"none": None, "word": "world", "null": MPI.COMM_NULL, "self": MPI.COMM_SELF}[which]


def call(case: Case, comm: Any) -> Any:
    """What this rank gets."""
    module = importlib.import_module(f"copart.mpi.{MODULES[case.function]}")
    given, function, where = {**right(case.function, comm.rank), **case.all_give}, case.function, comm
    if case.kind == "communicator":
        where = communicator(case.gives, comm)
        if case.gives == "self" and MODULES[function] == "reordering":
            given["neighbours"] = [1]
    elif comm.rank == case.rank:
        if case.kind in ("wrong", "other", "own", "alike", "unknown"):
            given[case.argument] = case.gives
        if case.kind == "own" and case.argument == "neighbours":
            given["nbytes"] = [8.0] * len(case.gives)
        if case.kind == "missing":
            del given[case.argument]
        if case.kind == "call":
            function, given = case.gives, right(case.gives, comm.rank)
        if case.kind == "inside":
            with mock.patch.object(module, case.argument, side_effect=MemoryError("no room")):
                return getattr(module, function)(where, **given)
    return getattr(module, function)(where, **given)


def outcome(case: Case, comm: Any) -> list[Any]:
    """Type and message of the error of this rank, or its new rank."""
    try:
        got = call(case, comm)
    except Exception as error:
        return [type(error).__name__, str(error)]
    if hasattr(got, "Free"):
        rank = got.rank
        got.Free()
        return [None, rank]
    return [None, int(got[0])]


def main(function: str, first: int = 0) -> None:
    """Try the cases; after each of them a right call must give what it gave at first."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    usual = Case(function, "", "right", 0)
    before = outcome(usual, comm)
    for i, case in enumerate(cases(function)[first:], first):
        mine = outcome(case, comm)
        comm.Barrier()
        told = comm.gather((mine, outcome(usual, comm) == before))
        if told:
            print(json.dumps([i, [m for m, _ in told], all(same for _, same in told)]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
