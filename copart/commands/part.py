"""``copart part``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import objective, options, writing
from .console import Console
from .effects import Effect
from .numbers import integer
from .paths import Paths, sources

if TYPE_CHECKING:
    from ..graph import Graph
    from ..mesh import Mesh

EPILOG = """\
examples:
  copart part wing.graph 8                        writes wing.graph.part.8
  copart part mesh.msh 16 --preset strong -o parts.vtu
  copart part mesh.msh 16 --preset best --time-limit 60 --threads 8
  copart part case:air 32 --write openfoam        one region of a case; also files for decomposePar
  copart part two-phase.graph 8                   several weights per vertex (ncon in the header): each is balanced
  copart part wing.graph 8 --fixed pinned.txt     one number per line: a part, or -1 for a free vertex
  copart part mesh.msh 64 --objective max-volume  the part that sends most sends little

Graphs: METIS .graph, SCOTCH .grf, Matrix Market .mtx, each also with .gz; hypergraphs: hMETIS .hgr, PaToH .patoh and
.u; meshes: SU2, OpenFOAM cases, CalculiX,
gmsh and whatever else meshio reads, FILE:NAME or FILE:ARRAY=VALUE for one region.
"""



def target(args: argparse.Namespace) -> list[str]:
    """The file of the parts."""
    return [args.output or default_output(args.source, args.nparts)]


EFFECTS = (Effect(("time_limit",), lambda args: args.preset == "best", "without --preset best"), objective.EFFECT)
PATHS = Paths(dict.fromkeys(("source", "fixed", "tpwgts"), sources), {"output": target},
              frozenset({"load", "write"}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="GRAPH_OR_MESH", help="graph file, mesh file or OpenFOAM case")
    parser.add_argument("nparts", type=integer, metavar="K", help="number of parts")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="part file, or .vtu for a mesh with cell array part (default GRAPH_OR_MESH.part.K)")
    parser.add_argument("--fixed", metavar="FILE", help="part of each vertex that may not move, -1 for the others")
    parser.add_argument("--tpwgts", metavar="FILE", help="share of the load of each part, one number per line")
    parser.add_argument("--load", metavar="ARRAY", help="cell array with the load of each cell of a mesh")
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
    from ..formats import read_part
    from ..kernels import timed
    from ..kgggp_ml import partition
    from ..partitioner.multiconstraint import partition_multiconstraint
    from ..partitioner.umpa import partition_hypergraph
    from ..plans.writers import SINGLE_KINDS, checked_kinds
    from .console import first_use

    nparts = whole("K", args.nparts, low=1)
    kinds = checked_kinds(args.write, SINGLE_KINDS) or ()
    file = Path(*target(args))
    check_target(file)
    with console.progress() as progress:
        first_use(progress, "part")
        progress(f"reading {args.source}")
        nets, graph, mesh = objective.read(args)
        check_kind(file, mesh)
        n = next(one.nvtxs for one in (graph, nets) if one is not None)
        if graph is not None and graph.ncon > 1 and (args.contiguous or args.time_limit is not None):
            raise ConfigError(f"contiguous, time-limit: are not available with {graph.ncon} weights per vertex")
        if kinds:
            writing.check_single(kinds, args.source, mesh)
        fixed = None if args.fixed is None else read_part(args.fixed, n, nparts, free=True)
        shares = None if args.tpwgts is None else read_shares(args.tpwgts)
        progress(f"partitioning {n} vertices")
        asked = {"fixed": fixed, "tpwgts": shares, "strict": not args.best_balance, **options.partitioning(args)}
        with timed() as took:
            if nets is not None:
                part = partition_hypergraph(nets, nparts, objective=args.objective or "volume", **asked)
            elif graph is not None and graph.ncon == 1:
                part = partition(graph, nparts, contiguous=args.contiguous, time_limit=args.time_limit, **asked)
            else:
                part = partition_multiconstraint(graph, nparts, **asked)
        progress(f"writing {file}")
        # these are the first to be refused, with nothing written then
        more = writing.write_single(kinds, args.source, file.parent, part, nparts, mesh) if kinds else []
        write_parts(file, part, mesh)
    figures = {**({} if nets is None else objective.describe(nets, part, nparts, shares)),
               **({} if graph is None else describe(graph, part, nparts, shares)),
               "seconds": round(took.seconds, 3), "file": str(file)}
    each = figures.get("ub_by_constraint", [figures["ub"]])
    what = f"cut {figures['cut']}" if nets is None else objective.told(figures)
    pieces = "" if graph is None else f"{figures['pieces']} connected pieces, "
    console.say(f"{n} vertices in {nparts} parts: {what}, imbalance {' and '.join(f'{ub:.2%}' for ub in each)}, "
                f"{pieces}{took.seconds:.2f} s{progress.remark}")
    writing.tell_written(console, [str(file), *more])
    console.result({**figures, "more": more} if more else figures)
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
    from ..plans.components import split_region

    path, region = split_region(source)
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


def check_kind(target: Path, mesh: Mesh | None) -> None:
    """Refuse a mesh file for the parts of a graph, before the work."""
    from ..errors import ConfigError

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
