"""``copart part``."""

from __future__ import annotations

import argparse
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import objective, options, writing
from .console import Console, Progress
from .effects import Effect
from .numbers import integer
from .paths import Paths, sources

if TYPE_CHECKING:
    from ..graph import Graph
    from ..hypergraph import Hypergraph
    from ..kernels.stages import Stages
    from ..mesh import Mesh

log = logging.getLogger(__name__)

EPILOG = """\
examples:
  copart part wing.graph 8                        writes wing.graph.part.8
  copart part mesh.msh 16 --preset strong -o parts.vtu
  copart part mesh.msh 16 --preset best --time-limit 60 --threads 8
  copart part case:air 32 --write openfoam        one region of a case; also files for decomposePar
  copart part two-phase.graph 8                   several weights per vertex (ncon in the header): each is balanced
  copart part wing.graph 8 --fixed pinned.txt     one number per line: a part, or -1 for a free vertex
  copart part particles.npy 64 --method multijagged      boxes of equal weight, from coordinates alone
  copart part mesh.msh 64 --method multijagged+refine    a quick start from the cell centres, then refined
  copart part mesh.msh 64 --objective max-volume  the part that sends most sends little

Points: .npy of shape (n, d), or text (.csv, .txt, .xyz) with the coordinates of one per line.
Graphs: METIS .graph, SCOTCH .grf, Matrix Market .mtx, each also with .gz; hypergraphs: hMETIS .hgr, PaToH .patoh and
.u, and with an --objective other than cut Matrix Market of any shape (rows are vertices, columns are nets);
meshes: SU2, OpenFOAM cases, CalculiX, gmsh and whatever else meshio reads, FILE:NAME or FILE:ARRAY=VALUE for one
region.
"""


def target(args: argparse.Namespace) -> list[str]:
    """The file of the parts."""
    return [args.output or default_output(args.source, args.nparts)]


GRAPH, REFINED = "graph", "multijagged+refine"
#: As in :mod:`copart.plans.by_coordinates`, which is slow to import.
METHODS = (GRAPH, "multijagged", "rcb", "rib", "hsfc", "morton", REFINED)

EFFECTS = (Effect(("time_limit",), lambda args: args.preset == "best", "without --preset best"),
           Effect(("contiguous", "time_limit"), lambda args: args.method == GRAPH, "with --method, which makes no "
                  "connected pieces and takes the time it takes"),
           Effect(("objective",), lambda args: args.method == GRAPH, "with --method, which goes by coordinates"),
           Effect(("seed", "preset", "fixed"), lambda args: args.method in (GRAPH, REFINED),
                  f"with a --method that goes by coordinates alone; take {REFINED}"), objective.EFFECT)
PATHS = Paths(dict.fromkeys(("source", "fixed", "tpwgts", "weights"), sources), {"output": target},
              frozenset({"load", "write"}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="GRAPH_OR_MESH", help="graph file, mesh file, OpenFOAM case or points")
    parser.add_argument("nparts", type=integer, metavar="K", help="number of parts")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="part file, or .vtu for a mesh with cell array part (default GRAPH_OR_MESH.part.K)")
    parser.add_argument("--fixed", metavar="FILE", help="part of each vertex that may not move, -1 for the others")
    parser.add_argument("--tpwgts", metavar="FILE", help="share of the load of each part, one number per line")
    parser.add_argument("--load", metavar="ARRAY", help="cell array with the load of each cell of a mesh")
    parser.add_argument("--weights", metavar="FILE", help="weight of each point, one number per line (default 1)")
    parser.add_argument("--method", choices=METHODS, default=GRAPH,
                        help="graph: small cut (default); by coordinates: jagged boxes, recursive bisection by "
                             "coordinate or inertia, Hilbert's or Morton's curve; or jagged boxes, refined")
    parser.add_argument("--best-balance", action="store_true",
                        help="where no balanced partition is found, take the best balance instead of stopping")
    parser.add_argument("--contiguous", action="store_true", help="every part in one piece where the graph is")
    parser.add_argument("--time-limit", type=float, metavar="S",
                        help="seconds that --preset best may take, about (default: a fixed amount of work)")
    objective.add_objective(parser)
    writing.add_write(parser, single=True)
    options.add_safe(parser)
    options.add_partitioning(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Partition one graph or mesh and write the parts."""
    from ..arrays import whole
    from ..errors import ConfigError
    from ..formats import is_points, read_part
    from ..kernels import timed
    from ..kernels.stages import stage, watched
    from ..metrics.columns import plural
    from ..plans.writers import SINGLE_KINDS, checked_kinds
    from .console import first_use

    nparts = whole("K", args.nparts, low=1)
    kinds = checked_kinds(args.write, SINGLE_KINDS) or ()
    file = Path(*target(args))
    check_target(file)
    if is_points(args.source):
        return run_points(args, console, nparts, kinds, file)
    with console.progress() as progress, watched() as stages:
        with stage("compiling"):
            first_use(progress, "part", [args.source])
        progress(f"reading {args.source}")
        with stage("reading"):
            nets, graph, mesh = objective.read(args)
        check_kind(file, mesh)
        if args.weights is not None:
            raise ConfigError(f"--weights: has no effect on {args.source}, which is no file of points")
        n = next(one.nvtxs for one in (graph, nets) if one is not None)
        if graph is not None and graph.ncon > 1 and (args.contiguous or args.time_limit is not None):
            raise ConfigError(f"contiguous, time-limit: are not available with {graph.ncon} weights per vertex")
        if kinds:
            writing.check_single(kinds, args.source, mesh)
        fixed = None if args.fixed is None else read_part(args.fixed, n, nparts, free=True)
        shares = None if args.tpwgts is None else read_shares(args.tpwgts)
        progress(f"partitioning {n} vertices")
        with timed() as took, stage("partitioning"):
            part = partitioned(graph, nets, nparts, args, fixed, shares, progress)
        progress(f"writing {file}")
        with stage("writing"):
            # these are the first to be refused, with nothing written then
            more = writing.write_single(kinds, args.source, file, part, nparts, mesh) if kinds else []
            write_parts(file, part, mesh)
        with stage("figures"):
            figures = {**({} if nets is None else objective.describe(nets, part, nparts, shares)),
                       **({} if graph is None else describe(graph, part, nparts, shares)),
                       "seconds": round(took.seconds, 3), "file": str(file)}
    tell_stages(stages)
    each = figures.get("ub_by_constraint", [figures["ub"]])
    what = f"cut {figures['cut']}" if nets is None else objective.told(figures)
    pieces = "" if graph is None else f"{figures['pieces']} connected {plural(figures['pieces'], 'piece')}, "
    console.say(f"{n} vertices in {nparts} {plural(nparts, 'part')}: {what}, "
                f"imbalance {' and '.join(f'{ub:.2%}' for ub in each)}, {pieces}{took.seconds:.2f} s{progress.remark}")
    writing.tell_written(console, [str(file), *more])
    console.result({**figures, "more": more} if more else figures)
    return 0


def tell_stages(stages: Stages) -> None:
    """Say where the time went, to those who asked for more (``-v``)."""
    for line in stages.lines():
        log.info("%s", line)


def partitioned(graph: Graph | None, nets: Hypergraph | None, nparts: int, args: argparse.Namespace, fixed: Any,
                shares: Any, progress: Progress) -> Any:
    """The parts, with the method or for the objective asked for."""
    asked = {"fixed": fixed, "tpwgts": shares, "strict": not args.best_balance}
    if nets is not None:
        from ..partitioner.umpa import partition_hypergraph

        return partition_hypergraph(nets, nparts, objective=args.objective or "volume", **asked,
                                    **options.partitioning(args))
    assert graph is not None
    if args.method != GRAPH:
        from ..options import Options
        from ..plans.by_coordinates import partition_graph_by_coordinates

        return partition_graph_by_coordinates(graph, nparts, args.method, Options(**options.partitioning(args)),
                                              source=args.source, **asked)
    if graph.ncon > 1:
        from ..partitioner.multiconstraint import partition_multiconstraint

        return partition_multiconstraint(graph, nparts, **asked, **options.partitioning(args))
    from ..kgggp_ml import partition

    return partition(graph, nparts, contiguous=args.contiguous, time_limit=args.time_limit, progress=progress, **asked,
                     **options.partitioning(args))


def run_points(args: argparse.Namespace, console: Console, nparts: int, kinds: Any, file: Path) -> int:
    """Partition a file of points and write the parts."""
    from ..errors import ConfigError
    from ..formats import read_points
    from ..kernels import timed
    from ..kernels.stages import stage, watched
    from ..metrics.columns import plural
    from ..partitioner.geometric.methods import partition_points
    from ..plans.by_coordinates import check_balance, describe_points, needs_graph

    if needs_graph(args.method):
        raise ConfigError(f"method: {args.method} needs neighbours, which the points in {args.source} have not; take "
                          f"--method multijagged, or another one that goes by coordinates alone")
    if args.load is not None:
        raise ConfigError(f"--load: has no effect on {args.source}, points; give their weights as --weights FILE")
    if kinds:
        writing.check_single(kinds, args.source, None)
    check_kind(file, None)
    with console.progress() as progress, watched() as stages:
        # the kernels of the graph partitioner, which the others of this command need, are not wanted here
        progress(f"reading {args.source}")
        with stage("reading"):
            points = read_points(args.source)
            weights = None if args.weights is None else read_shares(args.weights)
        shares = None if args.tpwgts is None else read_shares(args.tpwgts)
        progress(f"partitioning {len(points)} points")
        with timed() as took, stage("partitioning"):
            made = partition_points(points, nparts, args.method, weights=weights, tpwgts=shares, threads=args.threads)
        check_balance(made, args.eps, shares, not args.best_balance, weights)
        progress(f"writing {file}")
        with stage("writing"):
            write_parts(file, made.part, None)
    tell_stages(stages)
    figures = {**describe_points(made, shares), "seconds": round(took.seconds, 3), "file": str(file)}
    most = figures.get("max_messages", 0)
    sent = f"at most {most} {plural(most, 'neighbour')} each, " if "messages" in figures else ""
    console.say(f"{len(points)} points in {nparts} {plural(nparts, 'part')}: imbalance {figures['ub']:.2%}, {sent}"
                f"{took.seconds:.2f} s")
    writing.tell_written(console, [str(file)])
    console.result(figures)
    return 0


def describe(graph: Graph, part: Any, nparts: int, shares: Any = None) -> dict[str, Any]:
    """The figures of one partition, computed from scratch; ``ub`` is the largest of all constraints."""
    from ..metrics import edge_cut, imbalance, pieces

    found = pieces(graph, part, nparts)
    each = [imbalance(graph.replace(vwgt=w), part, nparts, shares) for w in graph.weight_vectors.T]
    several = {"ub_by_constraint": each} if graph.ncon > 1 else {}
    return {"vertices": graph.nvtxs, "edges": graph.nedges, "parts": nparts, "cut": edge_cut(graph, part),
            "ub": max(each), **several, "pieces": int(found.sum()), "empty": int((found == 0).sum())}


def default_output(source: str, nparts: int) -> str:
    """``SOURCE.part.K``, the name METIS' users expect."""
    from ..formats.output import file_name
    from ..plans.sources import split_region

    path, region = split_region(source)
    if Path(path).name in ("", ".."):
        # a folder by where it is: `.` is no name
        path = os.path.join(path, os.path.basename(os.path.realpath(path)))
    if region is None:
        return f"{path}.part.{nparts}"
    return f"{path}.{file_name(region.replace('=', '-'))}.part.{nparts}"


def check_target(target: Path) -> None:
    """Refuse a file that cannot be written, before the work."""
    from ..errors import ConfigError
    from ..formats import prepare_folder

    if target.is_dir():
        raise ConfigError(f"output: {target} is a folder, a file name is needed")
    prepare_folder(target.parent)


#: Suffixes of meshes and arrays that no list of numbers should have.
_MESHES = (".pvtu", ".msh", ".vtk", ".vtu.gz", ".med", ".cgns", ".xdmf", ".su2", ".npy")


def check_kind(target: Path, mesh: Mesh | None) -> None:
    """Refuse a mesh file for the parts of a graph, and a list of numbers under the name of a mesh, before the work."""
    from ..errors import ConfigError

    suffix = "".join(target.suffixes[-2:]).lower() if target.suffix.lower() == ".gz" else target.suffix.lower()
    if suffix in _MESHES:
        raise ConfigError(f"output: {target} would be a list of numbers; meshes are written as .vtu or by --write pvtu "
                          f"and gmsh; name another one")
    if mesh is None and target.suffix.lower() == ".vtu":
        raise ConfigError(f"output: {target} is a mesh file, but the input is a graph")


def write_parts(target: Path, part: Any, mesh: Mesh | None) -> None:
    """Write a part file, or the mesh with its parts."""
    from ..formats import write_part

    if mesh is None or target.suffix.lower() != ".vtu":
        write_part(target, part)
    else:
        from ..mesh import write_vtu

        os.makedirs(target.parent, exist_ok=True)
        write_vtu(target, mesh, {"part": part})


def read_shares(path: str) -> list[float]:
    """Numbers, one per line; lines may be empty."""
    from ..errors import FormatError

    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(path, f"cannot be read: {getattr(error, 'strerror', None) or 'is no text file'}") from None
    shares = []
    for i, line in enumerate(lines, 1):
        if line.strip():
            try:
                shares.append(float(line))
            except ValueError:
                raise FormatError(path, f"needs one number per line, found {line.strip()!r:.40}", i) from None
    return shares
