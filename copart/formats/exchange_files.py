"""``exchange/``: what each process of a coupled run exchanges, so that it reads its own share and nothing else.

===========================  ====================================================  ==========================
lists                        keys of a list                                        rows of a list
===========================  ====================================================  ==========================
``A-B.interedges``           part of A, part of B that share interedges            cell of A, cell of B, weight
``A.halo``                   part of A, neighbouring part that needs its cells     cell
``A.owned``                  part of A, the same part                              cell
===========================  ====================================================  ==========================

Each is two arrays of NumPy's format: ``NAME.index.npy``, (nlists, 3) int64 with the two keys and the number of rows,
ascending by keys, and ``NAME.rows.npy`` with the rows of all lists one after the other, ascending in each list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition, CoupledProblem, Interedges
from ..errors import FormatError
from ..graph import Graph
from ..metrics.traffic import halo_cells
from .npy import read_npy
from .output import file_name
from .text import PathLike

#: The folder in that of a plan.
EXCHANGE = "exchange"
#: A row of interedges: cell of A, cell of B, overlap.
INTEREDGE = np.dtype([("a", "<i4"), ("b", "<i4"), ("weight", "<f8")])
#: A row of the other lists.
CELL = np.dtype("<i4")


class Lists:
    """Lists of rows, each with two numbers of parts as its key.

    Parameters
    ----------
    index : (nlists, 3) int64
        First key, second key and number of rows of each list, ascending by keys.
    rows : (nrows,) array
        The lists one after the other; may be mapped from a file, of which only what is asked for is read.
    """

    def __init__(self, index: NDArray[np.int64], rows: NDArray[Any]):
        self.index, self.rows = index, rows

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """(nlists + 1,) int64 where each list begins in `rows`."""
        return np.concatenate([[0], np.cumsum(self.index[:, 2])])

    def of_first(self, key: int) -> dict[int, NDArray[Any]]:
        """The lists with this first key, by their second one."""
        return {int(self.index[i, 1]): self._list(i) for i in np.flatnonzero(self.index[:, 0] == key).tolist()}

    def of_second(self, key: int) -> dict[int, NDArray[Any]]:
        """The lists with this second key, by their first one."""
        return {int(self.index[i, 0]): self._list(i) for i in np.flatnonzero(self.index[:, 1] == key).tolist()}

    def items(self) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """All lists, each after its keys."""
        for i, (one, other, _) in enumerate(self.index.tolist()):
            yield one, other, self._list(i)

    def _list(self, i: int) -> NDArray[Any]:
        return np.array(self.rows[self.first[i]:self.first[i + 1]])


def interedge_lists(interedges: Interedges, part_a: NDArray[np.int32], part_b: NDArray[np.int32], nb: int) -> Lists:
    """The interedges between each part of A and each of the `nb` parts of B."""
    u, v, w = interedges.pairs()
    rows = np.empty(len(u), INTEREDGE)
    rows["a"], rows["b"], rows["weight"] = u, v, w
    return _grouped(part_a[u], part_b[v], nb, rows)


def halo_lists(graph: Graph, part: NDArray[np.int32], nparts: int) -> Lists:
    """The cells of each part that have a neighbour in another one, by that one."""
    sender, receiver, cell = halo_cells(graph, part)
    return _grouped(sender, receiver, nparts, cell.astype(CELL))


def owned_lists(part: NDArray[np.int32], nparts: int) -> Lists:
    """The cells of each part."""
    return _grouped(part, part, nparts, np.arange(len(part), dtype=CELL))


def _grouped(one: NDArray[Any], other: NDArray[Any], count: int, rows: NDArray[Any]) -> Lists:
    """Rows in lists by their keys; rows come in ascending order."""
    key = one.astype(np.int64) * count + other
    if key.max(initial=0) < 1 << 16:
        key = key.astype(np.uint16)  # which is sorted in linear time
    order = np.argsort(key, kind="stable")
    key = key[order].astype(np.int64)
    first = np.flatnonzero(np.diff(key, prepend=-1))
    found, number = key[first], np.diff(first, append=len(key))
    return Lists(np.column_stack([found // count, found % count, number]), rows[order])


# ---- files
def pair_name(a: str, b: str) -> str:
    """Name of the interedges of a pair of components in the folder."""
    return f"{file_name(a)}-{file_name(b)}.interedges"


def component_name(name: str, what: str) -> str:
    """Name of the lists ``halo`` or ``owned`` of a component in the folder."""
    return f"{file_name(name)}.{what}"


def exchange_files(names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[str]:
    """The files in the folder of a plan, by their names there."""
    lists = [pair_name(*pair) for pair in pairs]
    lists += [component_name(name, what) for name in names for what in ("halo", "owned")]
    return [f"{EXCHANGE}/{name}.{half}.npy" for name in lists for half in ("index", "rows")]


def write_exchange(folder: PathLike, problem: CoupledProblem, copartition: CoPartition) -> list[str]:
    """Write all lists of a co-partition into ``exchange/`` in a folder; returns the files.

    Raises
    ------
    FormatError
        A file cannot be written.
    """
    place, parts = Path(folder), copartition.nparts
    for (a, b), interedges in problem.pairs.items():
        _write(place, pair_name(a, b), interedge_lists(interedges, copartition[a], copartition[b], parts[b]))
    for name, graph in problem.components.items():
        _write(place, component_name(name, "halo"), halo_lists(graph, copartition[name], parts[name]))
        _write(place, component_name(name, "owned"), owned_lists(copartition[name], parts[name]))
    return exchange_files(problem.names, problem.pairs)


def _write(folder: Path, name: str, lists: Lists) -> None:
    target = folder / EXCHANGE
    try:
        target.mkdir(parents=True, exist_ok=True)
        np.save(target / f"{name}.index.npy", lists.index)
        np.save(target / f"{name}.rows.npy", lists.rows)
    except OSError as e:
        raise FormatError(target / name, f"cannot be written: {(e.strerror or str(e)).lower()}") from None


def read_lists(folder: PathLike, name: str, parts: tuple[int, int]) -> Lists:
    """Open the lists `name` in the folder of a plan; rows are read when a list is asked for.

    Parameters
    ----------
    folder : path
        Of the plan.
    name : str
        From :func:`pair_name` or :func:`component_name`.
    parts : (int, int)
        How many parts the first and the second key count.

    Raises
    ------
    FormatError
        A file is missing or ill-formed.
    """
    place = Path(folder) / EXCHANGE
    index = _array(place / f"{name}.index.npy", np.dtype("<i8"), 2, False)
    rows = _array(place / f"{name}.rows.npy", INTEREDGE if name.endswith(".interedges") else CELL, 1, True)
    path = place / f"{name}.index.npy"
    if index.shape[1] != 3:
        raise FormatError(path, f"needs three columns, has {index.shape[1]}")
    for column, count in enumerate(parts):
        key = index[:, column]
        if len(key) and not 0 <= key.min() <= key.max() < count:
            raise FormatError(path, f"names part {int(key.max() if key.min() >= 0 else key.min())}, the plan has "
                                    f"0..{count - 1}")
    key = index[:, 0] * parts[1] + index[:, 1]
    if (np.diff(key) <= 0).any():
        raise FormatError(path, "must ascend by its keys")
    if (index[:, 2] < 1).any() or int(index[:, 2].sum()) != len(rows):
        raise FormatError(path, f"counts {int(index[:, 2].sum())} rows, the file beside has {len(rows)}")
    return Lists(index, rows)


def _array(path: Path, dtype: np.dtype[Any], ndim: int, mapped: bool) -> NDArray[Any]:
    out = read_npy(path, mapped=mapped)
    if out.dtype != dtype or out.ndim != ndim:
        raise FormatError(path, f"needs {ndim} dimension(s) of {dtype}")
    return out


__all__ = ["CELL", "EXCHANGE", "INTEREDGE", "Lists", "component_name", "exchange_files", "halo_lists",
           "interedge_lists", "owned_lists", "pair_name", "read_lists", "write_exchange"]
