"""Other partitioners behind one convention: ``adapter(task)`` builds the tool's own graph and returns the call.

The call takes no arguments, partitions and returns the labels; only it is timed.
SCOTCH and KaHIP are called through ctypes, KaHIP because its Python call wants lists.
"""

from __future__ import annotations

import ctypes as C
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import metadata, util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .graphs import BenchmarkGraph, grid, write_metis_file

Call = Callable[[], Any]


@dataclass(frozen=True)
class Task:
    """What a tool is asked for."""

    graph: BenchmarkGraph
    k: int
    eps: float
    seed: int
    threads: int
    fixed: NDArray[np.int32] | None = None


@dataclass(frozen=True)
class Tool:
    """A partitioner with its settings, and how many threads it is measured with."""

    adapter: Callable[[Task], Call]
    threads: tuple[int, ...] = (1,)
    module: str = "copart"
    """What has to be importable."""
    fixes: bool = False
    """Takes fixed vertices."""
    only_fixed: bool = False


def ours(task: Task, preset: str) -> Call:
    from . import plugin

    run = getattr(plugin, preset)
    xadj, adjncy = grid(12)  # compiled, or read from the cache, before the clock starts
    small = None if task.fixed is None else np.where(np.arange(12**3) < 4, np.arange(12**3), -1).astype(np.int32)
    run(xadj, adjncy, 4, eps=0.05, seed=1, threads=task.threads, fixed=small)
    return partial(run, task.graph.xadj, task.graph.adjncy, task.k, eps=task.eps, seed=task.seed,
                   threads=task.threads, fixed=task.fixed)


def metis(task: Task, recursive: bool) -> Call:
    import pymetis

    word = pymetis.zero_copy_dtype()
    rows = pymetis.CSRAdjacency(task.graph.xadj.astype(word), task.graph.adjncy.astype(word))
    options = pymetis.Options(ufactor=round(1000 * task.eps), seed=task.seed)
    return lambda: pymetis.part_graph(task.k, rows, recursive=recursive, options=options)[1]


def metis_contracted(task: Task) -> Call:
    """METIS has no fixed vertices: every fixed part becomes one heavy vertex.

    Where METIS puts two of those into one part, this is no answer, and the row says so (``fixed_bad``).
    """
    import pymetis
    from scipy.sparse import coo_array

    assert task.fixed is not None
    pinned = task.fixed >= 0
    nfixed = int(task.fixed.max()) + 1
    vertex = np.where(pinned, task.fixed, nfixed - 1 + np.cumsum(~pinned)).astype(np.int64)
    n = int(vertex.max()) + 1
    u = vertex[np.repeat(np.arange(task.graph.nvtxs), np.diff(task.graph.xadj))]
    v = vertex[task.graph.adjncy]
    apart = u != v
    matrix = coo_array((np.ones(int(apart.sum()), np.int64), (u[apart], v[apart])), shape=(n, n)).tocsr()
    word = pymetis.zero_copy_dtype()
    rows = pymetis.CSRAdjacency(matrix.indptr.astype(word), matrix.indices.astype(word))
    weights = {"vweights": np.bincount(vertex, minlength=n).astype(word), "eweights": matrix.data.astype(word)}
    options = pymetis.Options(ufactor=round(1000 * task.eps), seed=task.seed)

    def call() -> Any:
        found = np.asarray(pymetis.part_graph(task.k, rows, recursive=False, options=options, **weights)[1])
        name = np.full(task.k, -1)
        for label in range(nfixed):
            if name[found[label]] < 0:
                name[found[label]] = label
        name[name < 0] = np.setdiff1d(np.arange(task.k), name)[:int((name < 0).sum())]
        return name[found][vertex]

    return call


def _pointer(array: NDArray[np.int32] | None) -> Any:
    return None if array is None else array.ctypes.data_as(C.POINTER(C.c_int))


def kahip(task: Task, mode: int) -> Call:
    import kahip.kahip as module

    library = C.CDLL(module.__file__)
    n = task.graph.nvtxs
    vwgt, ewgt = np.ones(n, np.int32), np.ones(2 * task.graph.nedges, np.int32)
    part, cut = np.zeros(n, np.int32), C.c_int(0)

    def call() -> Any:
        library.kaffpa(C.byref(C.c_int(n)), _pointer(vwgt), _pointer(task.graph.xadj), _pointer(ewgt),
                       _pointer(task.graph.adjncy), C.byref(C.c_int(task.k)), C.byref(C.c_double(task.eps)),
                       C.c_bool(True), C.c_int(task.seed), C.c_int(mode), C.byref(cut), _pointer(part))
        return part

    return call


def kaminpar(task: Task, preset: str) -> Call:
    import kaminpar as module

    write_metis_file(task.graph)
    graph = module.load_graph(str(task.graph.metis_file), module.GraphFileFormat.METIS)
    solver = module.KaMinPar(task.threads, module.context_by_name(preset))
    module.reseed(task.seed)
    return lambda: solver.compute_partition(graph, task.k, task.eps)


def mtkahypar(task: Task, preset: str) -> Call:
    import mtkahypar as module

    write_metis_file(task.graph)
    library = module.initialize(task.threads, False)
    context = library.context_from_preset(getattr(module.PresetType, preset))
    context.set_partitioning_parameters(task.k, task.eps, module.Objective.CUT)
    context.logging = False
    module.set_seed(task.seed)
    graph = library.graph_from_file(str(task.graph.metis_file), context)
    if task.fixed is not None:
        graph.add_fixed_vertices(task.fixed.tolist(), task.k)
    return lambda: graph.partition(context).get_partition()


def _scotch_library() -> Any:
    return C.CDLL(os.environ.get("SCOTCH_LIB", "libscotch-7.0.so"))


def scotch(task: Task, at_limit: bool) -> Call:
    """`at_limit`: the tolerance is `eps`; otherwise SCOTCH's own default, 1 %."""
    os.environ["SCOTCH_PTHREAD_NUMBER"] = str(task.threads)
    library = _scotch_library()
    void, number, numbers = C.c_void_p, C.c_int, C.POINTER(C.c_int)
    library.SCOTCH_graphAlloc.restype = library.SCOTCH_stratAlloc.restype = void
    library.SCOTCH_graphInit.argtypes = library.SCOTCH_stratInit.argtypes = [void]
    library.SCOTCH_graphBuild.argtypes = [void, number, number, *[numbers] * 4, number, numbers, numbers]
    library.SCOTCH_stratGraphMapBuild.argtypes = [void, number, number, C.c_double]
    run = library.SCOTCH_graphPart if task.fixed is None else library.SCOTCH_graphPartFixed
    run.argtypes = [void, number, void, numbers]
    graph, strategy = library.SCOTCH_graphAlloc(), library.SCOTCH_stratAlloc()
    library.SCOTCH_graphInit(graph)
    library.SCOTCH_stratInit(strategy)
    failed = library.SCOTCH_graphBuild(graph, 0, task.graph.nvtxs, _pointer(task.graph.xadj), None, None, None,
                                       2 * task.graph.nedges, _pointer(task.graph.adjncy), None)
    if at_limit:
        failed = failed or library.SCOTCH_stratGraphMapBuild(strategy, 0, task.k, task.eps)
    if failed:
        raise RuntimeError("SCOTCH does not take the graph or the strategy")
    library.SCOTCH_randomSeed(number(2 * task.seed - 1))  # it sets the lowest bit: 2 and 3 would be one seed
    library.SCOTCH_randomReset()
    part = np.full(task.graph.nvtxs, -1, np.int32) if task.fixed is None else task.fixed.copy()

    def call() -> Any:
        if run(graph, task.k, strategy, _pointer(part)):
            raise RuntimeError("SCOTCH failed")
        return part

    return call


TOOLS: dict[str, Tool] = {
    **{f"copart-{p}": Tool(partial(ours, preset=p), (1, 2), fixes=True) for p in ("fast", "default", "strong")},
    "copart-best": Tool(partial(ours, preset="best"), (2,), fixes=True),
    "metis-kway": Tool(partial(metis, recursive=False), module="pymetis"),
    "metis-rb": Tool(partial(metis, recursive=True), module="pymetis"),
    "metis-contracted": Tool(metis_contracted, module="pymetis", fixes=True, only_fixed=True),
    "scotch": Tool(partial(scotch, at_limit=False), module="scotch"),
    "scotch-b5": Tool(partial(scotch, at_limit=True), (1, 2), module="scotch", fixes=True),
    **{f"kaminpar-{p}": Tool(partial(kaminpar, preset=p), (1, 2), module="kaminpar")
       for p in ("fast", "default", "largek", "eco", "strong")},
    **{f"kahip-{p}": Tool(partial(kahip, mode=i), module="kahip") for i, p in enumerate(("fast", "eco", "strong"))},
    **{f"mtkahypar-{p}": Tool(partial(mtkahypar, preset=name), threads, module="mtkahypar", fixes=True)
       for p, name, threads in (("default", "DEFAULT", (1, 2)), ("det", "DETERMINISTIC", (2,)),
                                ("quality", "QUALITY", (2,)))},
}


def available() -> list[str]:
    """The tools that can be called here."""
    def there(module: str) -> bool:
        if module != "scotch":
            return util.find_spec(module) is not None
        with suppress(OSError):
            return bool(_scotch_library())
        return False

    return [name for name, tool in TOOLS.items() if there(tool.module)]


def versions() -> dict[str, str]:
    """The version of each tool that is installed here."""
    found = {}
    for shown, package in (("pymetis", "pymetis"), ("KaMinPar", "kaminpar"), ("KaHIP", "kahip"),
                           ("Mt-KaHyPar", "mtkahypar"), ("numba", "numba"), ("numpy", "numpy")):
        with suppress(metadata.PackageNotFoundError):
            found[shown] = metadata.version(package)
    with suppress(OSError):
        numbers = [C.c_int() for _ in range(3)]
        _scotch_library().SCOTCH_version(*map(C.byref, numbers))
        found["SCOTCH"] = ".".join(str(x.value) for x in numbers)
    return found
