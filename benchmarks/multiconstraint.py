"""Two balance constraints: copart beside METIS (C library ``libmetis``, through ctypes).

``python -m benchmarks.multiconstraint [--shared FOLDER] [--seeds 3] [--sides 25 50] [--csv FILE]`` prints a table of
cuts, imbalances of both constraints and CPU times, means over the seeds, of ``test.mgraph`` and of cubes
of hexahedra in which some cells carry a second load: half of the cube, a ball, a corner, one face.
"""

from __future__ import annotations

import argparse
import csv
import ctypes as C
import sys
import time
from collections.abc import Callable, Iterator
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copart import Graph, part
from copart.formats import read_graph
from copart.metrics import edge_cut

EPS = 0.05
FIELDS = ("graph", "k", "tool", "cut", "ub_0", "ub_1", "allowed_0", "allowed_1", "seconds")
_SEED = 8
"""Index of the seed among METIS' options."""

Row = dict[str, Any]


def two_phase_cube(side: int, where: str) -> Graph:
    """A cube of `side`^3 hexahedra of weight 1, with a second weight of 1 in its half, ball, corner or face."""
    ids = np.arange(side**3).reshape((side,) * 3)
    pairs = [(np.delete(ids, -1, axis).ravel(), np.delete(ids, 0, axis).ravel()) for axis in range(3)]
    u, v = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
    x = np.stack(np.unravel_index(np.arange(side**3), (side,) * 3), axis=1) / (side - 1)
    inside = {"half": x[:, 0] < 0.5, "ball": ((x - 0.5) ** 2).sum(axis=1) < 0.09,
              "corner": (x**2).sum(axis=1) < 0.25, "face": x[:, 0] == 0}[where]
    return Graph.from_edges(side**3, u, v, vwgt=np.stack([np.ones(side**3, np.int64), inside], axis=1))


def metis_library() -> Any:
    """METIS' C library with 32-bit integers, None where it is not installed."""
    name = find_library("metis")
    return None if name is None else C.CDLL(name)


def metis(library: Any, graph: Graph, k: int, seed: int, recursive: bool = False) -> NDArray[np.int32]:
    """The partition of METIS_PartGraphKway or METIS_PartGraphRecursive, tolerance :data:`EPS` in each constraint."""
    def array(values: Any) -> Any:
        return np.ascontiguousarray(values, np.int32)

    def pointer(values: Any, kind: Any = C.c_int) -> Any:
        return values.ctypes.data_as(C.POINTER(kind))

    xadj, adjncy, vwgt, ewgt = (array(a) for a in (graph.xadj, graph.adjncy, graph.vwgt, graph.edge_weights))
    tolerance, choices = np.full(graph.ncon, 1 + EPS, np.float32), array(np.zeros(40))
    library.METIS_SetDefaultOptions(pointer(choices))
    choices[_SEED] = seed
    found, cut = array(np.zeros(graph.nvtxs)), C.c_int()
    call = library.METIS_PartGraphRecursive if recursive else library.METIS_PartGraphKway
    status = call(C.byref(C.c_int(graph.nvtxs)), C.byref(C.c_int(graph.ncon)), pointer(xadj), pointer(adjncy),
                  pointer(vwgt), None, pointer(ewgt), C.byref(C.c_int(k)), None, pointer(tolerance, C.c_float),
                  pointer(choices), C.byref(cut), pointer(found))
    if status != 1:
        raise RuntimeError(f"METIS returned {status}")
    return found


def allowed(graph: Graph, k: int) -> list[float]:
    """Largest imbalance of each constraint within the tolerance, the next whole share where that is more."""
    totals = [int(w) for w in graph.weight_vectors.sum(axis=0)]
    return [max(int((1 + EPS) * w / k), -(-w // k)) * k / w - 1 for w in totals]


def measured(graph: Graph, k: int, seeds: int, call: Callable[[int], NDArray[np.int32]]) -> Row:
    """Means over the seeds; CPU time of this process."""
    cuts, ubs, seconds = [], [], []
    for seed in range(1, seeds + 1):
        begin = time.process_time()
        found = call(seed)
        seconds.append(time.process_time() - begin)
        cuts.append(edge_cut(graph, found))
        ubs.append([np.bincount(found, w, k).max() * k / w.sum() - 1 for w in graph.weight_vectors.T])
    ub, room = np.mean(ubs, axis=0).round(4), np.round(allowed(graph, k), 4)
    return {"cut": round(float(np.mean(cuts)), 1), "ub_0": ub[0], "ub_1": ub[1],
            "allowed_0": room[0], "allowed_1": room[1], "seconds": round(float(np.mean(seconds)), 4)}


def rows(graphs: dict[str, Graph], seeds: int) -> Iterator[Row]:
    """One row a graph, number of parts and tool."""
    library = metis_library()
    tools: dict[str, Callable[[Graph, int, int], NDArray[np.int32]]] = {
        "copart": lambda g, k, s: part(g, k, eps=EPS, seed=s, strict=False),
    }
    if library is None:
        print("METIS is not measured: libmetis is not installed (Debian: libmetis5)", file=sys.stderr)
    else:
        tools["METIS k-way"] = lambda g, k, s: metis(library, g, k, s)
        tools["METIS recursive"] = lambda g, k, s: metis(library, g, k, s, recursive=True)
    part(two_phase_cube(12, "ball"), 4)  # compiled, or read from the cache, before the clock starts
    for name, graph in graphs.items():
        for k in (4, 16, 64):
            for tool, run in tools.items():
                yield {"graph": name, "k": k, "tool": tool,
                       **measured(graph, k, seeds, lambda s, run=run, k=k, graph=graph: run(graph, k, s))}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"), help="folder of the outside data")
    parser.add_argument("--sides", type=int, nargs="*", default=[25, 50], help="cells along an edge of the cubes")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--csv", type=Path, help="write the rows there, too")
    args = parser.parse_args(arguments)
    graphs = {}
    file = args.shared / "data/graphs/test.mgraph"
    if file.exists():
        graphs["test.mgraph"] = read_graph(file)
    else:
        print(f"test.mgraph is not measured: {file} is not present", file=sys.stderr)
    graphs |= {f"hexa-{side} {where}": two_phase_cube(side, where)
               for side in args.sides for where in ("half", "ball", "corner", "face")}
    found = []
    print("| graph | k | tool | cut | imbalance | allowed | seconds |\n| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows(graphs, args.seeds):
        found.append(row)
        print("| {graph} | {k} | {tool} | {cut:.0f} | {ub_0:.1%}, {ub_1:.1%} | {allowed_0:.1%}, {allowed_1:.1%} "
              "| {seconds:.3f} |".format(**row), flush=True)
    if args.csv:
        with args.csv.open("w", newline="") as out:
            writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)


if __name__ == "__main__":
    main()
