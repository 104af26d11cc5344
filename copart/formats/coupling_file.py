"""``coupling.json``: who sends which cells to whom, for the code that does the exchange.

:func:`coupling_schedule` makes the plain value, :func:`read_coupling` checks one
that comes from a file; the schema is described in ``docs/formats.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..coupling import CoPartition, CoupledProblem
from ..errors import FormatError
from ..metrics.pairs import check_fits, pair_metrics
from .exchange_files import interedge_lists
from .output import write_json
from .text import PathLike, is_document, read_json

SCHEMA = "copart-coupling"
VERSION = 1

_COMPONENT = ("name", "cells", "parts", "rank_offset", "coupled_cells", "coupled_parts")
_PAIR = ("a", "b", "interedges", "totV_ab", "totV_ba", "totZ")
_EXCHANGE = ("part_a", "part_b", "interedges", "a_cells", "b_cells")


def coupling_schedule(problem: CoupledProblem, copartition: CoPartition) -> dict[str, Any]:
    """The exchange schedule of a co-partition as plain JSON types.

    For each pair of components and each pair of parts that share interedges:
    the cells of A whose data part `part_a` sends, and the cells of B whose data
    part `part_b` sends back.  Cells are numbered as in the component's mesh,
    from 0, ascending.

    Parameters
    ----------
    problem : CoupledProblem
    copartition : CoPartition

    Returns
    -------
    dict
        See ``docs/formats.md``.
    """
    check_fits(problem, copartition)
    components = [{"name": name, "cells": graph.nvtxs, "parts": copartition.nparts[name],
                   "rank_offset": copartition.offset(name), "coupled_cells": len(problem.coupled(name)),
                   "coupled_parts": np.unique(copartition[name][problem.coupled(name)]).tolist()}
                  for name, graph in problem.components.items()]
    pairs = []
    for a, b in problem.ordered_pairs:
        f = pair_metrics(a, b, problem, copartition)
        lists = interedge_lists(problem.pairs[a, b], copartition[a], copartition[b], copartition.nparts[b])
        pairs.append({"a": a, "b": b, "interedges": f.interedges, "totV_ab": f.totV_ab, "totV_ba": f.totV_ba,
                      "totZ": f.totZ, "matrix_ab": _triples(f.matrix), "matrix_ba": _triples(f.matrix_ba),
                      "exchanges": [{"part_a": p, "part_b": q, "interedges": len(rows),
                                     "a_cells": np.unique(rows["a"]).tolist(), "b_cells": np.unique(rows["b"]).tolist()}
                                    for p, q, rows in lists.items()]})
    return {"schema": SCHEMA, "version": VERSION, "components": components, "pairs": pairs}


def _triples(matrix: Any) -> list[list[int]]:
    m = matrix.tocoo()
    return np.column_stack([m.row, m.col, m.data]).astype(np.int64).tolist()  # type: ignore[no-any-return]


def write_coupling(path: PathLike, problem: CoupledProblem, copartition: CoPartition) -> dict[str, Any]:
    """Write ``coupling.json`` atomically; returns what was written.

    Parameters
    ----------
    path : path-like
    problem : CoupledProblem
    copartition : CoPartition
    """
    schedule = coupling_schedule(problem, copartition)
    write_json(path, schedule)
    return schedule


def read_coupling(path: PathLike) -> dict[str, Any]:
    """Read and check a ``coupling.json``.

    Checked are schema, names, types, and that parts and cells exist; whether the
    lists fit a problem is the business of :func:`copart.checks.check_copartition`.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    FormatError
        The first rule the file breaks, with the place in the document.
    """
    value = read_json(path)

    def need(good: bool, where: str, rule: str) -> None:
        if not good:
            raise FormatError(path, f"{where}: {rule}")

    def record(thing: Any, where: str, keys: tuple[str, ...]) -> None:
        need(isinstance(thing, dict), where, "needs an object")
        for key in keys:
            need(key in thing, where, f"has no {key!r}")
        for key in thing:
            need(key in keys, where, f"has an unknown entry {key!r:.40}")

    def whole(thing: Any, where: str, high: int | None = None) -> None:
        need(isinstance(thing, int) and not isinstance(thing, bool) and thing >= 0, where,
             f"needs a whole number >= 0, has {thing!r:.40}")
        need(high is None or thing < high, where, f"{thing!r} is outside 0..{(high or 1) - 1}")

    def rising(thing: Any, where: str, high: int) -> None:
        need(isinstance(thing, list), where, "needs a list")
        for i, x in enumerate(thing):
            whole(x, f"{where}[{i}]", high)
            need(i == 0 or thing[i - 1] < x, f"{where}[{i}]", f"must ascend, has {x} after {thing[i - 1]}")

    record(value, "document", ("schema", "version", "components", "pairs"))
    need(value["schema"] == SCHEMA, "schema", f"must be {SCHEMA!r}, is {value['schema']!r:.40}")
    need(is_document(value, SCHEMA, VERSION), "version", f"must be {VERSION}, is {value['version']!r:.40}")
    need(isinstance(value["components"], list), "components", "needs a list")
    need(isinstance(value["pairs"], list), "pairs", "needs a list")
    known: dict[str, Any] = {}
    for i, c in enumerate(value["components"]):
        record(c, f"components[{i}]", _COMPONENT)
        need(isinstance(c["name"], str) and c["name"] not in known, f"components[{i}].name", "needs a name of its own")
        for key in _COMPONENT[1:5]:
            whole(c[key], f"components[{i}].{key}")
        rising(c["coupled_parts"], f"components[{i}].coupled_parts", c["parts"])
        known[c["name"]] = c
    for i, pair in enumerate(value["pairs"]):
        where = f"pairs[{i}]"
        record(pair, where, (*_PAIR, "matrix_ab", "matrix_ba", "exchanges"))
        for key in ("a", "b"):
            need(isinstance(pair[key], str) and pair[key] in known, f"{where}.{key}",
                 f"names no component, known are {', '.join(known)}")
        for key in _PAIR[2:]:
            whole(pair[key], f"{where}.{key}")
        a, b = known[pair["a"]], known[pair["b"]]
        for key, rows, columns in (("matrix_ab", a, b), ("matrix_ba", b, a)):
            need(isinstance(pair[key], list), f"{where}.{key}", "needs a list")
            for j, triple in enumerate(pair[key]):
                need(isinstance(triple, list) and len(triple) == 3, f"{where}.{key}[{j}]",
                     "needs three numbers: from part, to part, volume")
                whole(triple[0], f"{where}.{key}[{j}][0]", rows["parts"])
                whole(triple[1], f"{where}.{key}[{j}][1]", columns["parts"])
                whole(triple[2], f"{where}.{key}[{j}][2]")
        need(isinstance(pair["exchanges"], list), f"{where}.exchanges", "needs a list")
        for j, x in enumerate(pair["exchanges"]):
            at = f"{where}.exchanges[{j}]"
            record(x, at, _EXCHANGE)
            whole(x["part_a"], f"{at}.part_a", a["parts"])
            whole(x["part_b"], f"{at}.part_b", b["parts"])
            whole(x["interedges"], f"{at}.interedges")
            rising(x["a_cells"], f"{at}.a_cells", a["cells"])
            rising(x["b_cells"], f"{at}.b_cells", b["cells"])
    return value  # type: ignore[no-any-return]


__all__ = ["SCHEMA", "VERSION", "coupling_schedule", "read_coupling", "read_json", "write_coupling"]
