"""``copart check``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import options
from .console import Console, Progress
from .effects import Effect, Effects
from .numbers import integer, tolerance
from .parsing import listed
from .paths import Paths, sources

if TYPE_CHECKING:
    from ..checks import Report
    from ..plans.requests import Meeting

EPILOG = """\
three forms:
  copart check DIR                                  the output folder of copart plan
  copart check GRAPH_OR_MESH PARTFILE --eps 0.05    one partition
  copart check A PART_A B PART_B --coupled 6 16     coupled meshes, two or more, and their parts

The check has its own code for every rule and figure and takes none from the
partitioner.  Exit status 1 where a rule is broken or a claimed figure is wrong.
"""

_ONE, _MANY = ("nparts", "fixed", "tpwgts"), ("parts", "coupled", "names", "coupling", "metrics", "coupled_weights",
                                              "interedges", "tolerance", "gap", "scale", "shift", "periodic", "several",
                                              "max_interedges")
EFFECTS: Effects = (
    Effect((*_ONE, *_MANY, "load"), lambda args: len(args.files) != 1,
           "on the folder of a plan, which says everything"),
    Effect(_MANY, lambda args: len(args.files) != 2, "on one partition; give coupled meshes, each with its parts"),
    Effect(_ONE, lambda args: len(args.files) == 2, "on coupled meshes; they are for one partition"))
PATHS = options.MEETING_PATHS | Paths(
    dict.fromkeys(("files", "fixed", "tpwgts", "coupling", "metrics"), sources),
    words=frozenset({"load", "coupled_weights", "names"}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="one, two, four or more: see below")
    parser.add_argument("--eps", type=tolerance, metavar="F", help="imbalance allowed, as a fraction or in per cent "
                        "(default: of the plan; else balance is reported and not judged)")
    group = parser.add_argument_group("one partition")
    group.add_argument("--nparts", type=integer, metavar="K", help="number of parts (default: from the name .part.K, "
                       "else the largest number plus one)")
    group.add_argument("--fixed", metavar="FILE", help="part of each vertex that may not move, -1 for the others")
    group.add_argument("--tpwgts", metavar="FILE", help="share of the load of each part, one number per line")
    group.add_argument("--load", metavar="ARRAY", help="cell array with the load of each cell of a mesh")
    group = parser.add_argument_group("coupled meshes")
    listed(group.add_argument("--parts", type=integer, nargs="+", metavar="N",
                              help="numbers of parts (default as above)"))
    listed(group.add_argument("--coupled", type=integer, nargs="+", metavar="K",
                              help="numbers of parts that must own coupled cells, in balance"))
    options.add_meeting(group)
    options.add_coupled_weights(group)
    listed(group.add_argument("--names", nargs="+", metavar="NAME", help="names in the files below"), "[^-].*")
    group.add_argument("--coupling", metavar="FILE", help="coupling.json to compare")
    group.add_argument("--metrics", metavar="FILE", help="metrics.json to compare; also says --coupled where not given")
    options.add_safe(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Check, and list everything that is wrong."""
    from ..errors import ConfigError
    from ..metrics.columns import plural
    from .console import first_use

    many = len(args.files)
    if many > 2 and many % 2:
        raise ConfigError(f"needs one folder, a graph with its parts, or meshes each with its parts; got {many} files")
    form = {1: _folder, 2: _single}.get(many, _meshes)
    with console.progress() as progress:
        first_use(progress, "check")
        report = form(args, progress)
    for finding in report.findings:
        console.say(str(finding))
    if report.unchecked:
        console.say(f"checked by checksum only: {'; '.join(report.unchecked)}")
    count = len(report.findings)
    console.say("accepted: every rule holds" if report.ok else f"{count} {plural(count, 'finding')}")
    console.result({"ok": report.ok, "findings": [vars(f) for f in report.findings], "figures": dict(report.figures),
                    "unchecked": list(report.unchecked)})
    return 0 if report.ok else 1


def _single(args: argparse.Namespace, progress: Progress) -> Report:
    """One graph or mesh and its parts."""
    from ..arrays import whole
    from ..checks import check_partition
    from ..formats import read_part
    from ..plans.opening import single
    from .part import read_shares

    if args.nparts is not None:
        whole("--nparts", args.nparts, low=1, high=2**31 - 1)
    progress(f"reading {args.files[0]}")
    graph, _ = single(args.files[0], args.load)
    part = read_part(args.files[1], graph.nvtxs, args.nparts)
    nparts = _count(args.files[1], part, args.nparts)
    fixed = None if args.fixed is None else read_part(args.fixed, graph.nvtxs, nparts, free=True)
    shares = None if args.tpwgts is None else read_shares(args.tpwgts)
    progress("checking")
    return check_partition(graph, part, nparts, args.eps, fixed, shares)


def _meshes(args: argparse.Namespace, progress: Progress) -> Report:
    """Coupled meshes and their parts."""
    from ..arrays import whole
    from ..errors import ConfigError
    from ..formats import read_coupling

    unknown = [None] * (len(args.files) // 2)
    for label in ("parts", "coupled", "names"):
        given = getattr(args, label) or unknown
        if len(given) != len(unknown):
            raise ConfigError(f"--{label}: needs one for each of {len(unknown)} meshes, got {len(given)}")
    for count in args.parts or ():
        whole("--parts", count, low=1, high=2**31 - 1)

    coupling = None if args.coupling is None else read_coupling(args.coupling)
    claimed = None if args.metrics is None else _figures(Path(args.metrics))
    names = args.names
    if names is None and coupling is not None:
        names = [c["name"] for c in coupling["components"]]
    elif names is None and claimed is not None:
        names = list(claimed["components"])
    if names is not None and args.names is None and len(names) != len(unknown):
        raise ConfigError(f"{'--metrics' if coupling is None else '--coupling'}: is of {len(names)} components, "
                          f"{', '.join(names)}; give all of their meshes, each with its parts")
    return _coupled(args.files[0::2], args.files[1::2], progress, names=names, parts=args.parts or unknown,
                    coupled=args.coupled or _asked(claimed, names) or unknown, interedges=args.interedges,
                    meeting=options.meeting(args), load=args.load, coupled_weights=args.coupled_weights,
                    eps=args.eps, claimed=claimed, coupling=coupling)


def _asked(claimed: Any, names: Any) -> list[int | None] | None:
    """How many parts were to own coupled cells, as the figures of a plan have it; None where they do not say."""
    told = [(claimed or {"components": {}})["components"].get(name) for name in names or ()]
    counts = [one.get("ncoupled_requested") if isinstance(one, dict) else None for one in told]
    return [k if type(k) is int and k > 0 else None for k in counts] or None


def _folder(args: argparse.Namespace, progress: Progress) -> Report:
    """Everything a plan wrote, as its own metrics.json names it."""
    from ..plans.verify import check_plan

    return check_plan(args.files[0], args.eps, progress)


def _coupled(meshes: Any, partfiles: Any, progress: Progress, *, names: Any, parts: Any, coupled: Any,
             interedges: Any, meeting: Meeting, load: str | None, coupled_weights: str | None, eps: float | None,
             claimed: Any, coupling: Any) -> Report:
    from ..checks import check_copartition
    from ..coupling import CoPartition
    from ..formats import read_part
    from ..plans.components import coupled_problem

    problem, *_ = coupled_problem(*meshes, names=names, load=load, interedges=interedges, meeting=meeting,
                                  progress=progress, coupled_weights=coupled_weights)
    found, count = {}, {}
    for name, path, wanted in zip(problem.names, partfiles, parts, strict=True):
        found[name] = read_part(path, problem.components[name].nvtxs, wanted)
        count[name] = _count(path, found[name], wanted)
    # of a pool, all ranks begin at 0; with other numbers of parts it can be none, and that is found
    pool = len(set(count.values())) == 1 and len(count) > 1 and _pooled(claimed, coupling)
    made = CoPartition(found, count, dict(zip(problem.names, coupled, strict=True)), shared=pool)
    progress("checking")
    return check_copartition(problem, made, eps, claimed, coupling)


def _pooled(claimed: Any, coupling: Any) -> bool:
    """Whether the components share their processes, as the files of a plan have it."""
    step = (claimed or {}).get("step")
    told = isinstance(step, dict) and step.get("pool") is True
    return told or (coupling is not None and not any(c["rank_offset"] for c in coupling["components"]))


def _count(path: Any, part: Any, wanted: int | None) -> int:
    """The number of parts: as told, as the file's name says, or as the numbers show."""
    from ..formats import count_in_name

    return wanted or count_in_name(path) or int(part.max(initial=0)) + 1


def _figures(path: Path) -> dict[str, Any]:
    """The figures of a metrics.json, or of a file that holds nothing else."""
    from ..errors import FormatError
    from ..formats.coupling_file import read_json

    value = read_json(path)
    figures = value.get("metrics", value) if isinstance(value, dict) else None
    if not isinstance(figures, dict) or not isinstance(figures.get("components"), dict) \
            or not isinstance(figures.get("pairs"), list):
        raise FormatError(path, "holds no figures: needs components and pairs")
    return figures
