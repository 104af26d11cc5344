"""``copart ranks``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ..names import RankObjective
from .console import Console
from .effects import Effect, no_effect
from .nodes import NODES_OR_NUMBER, told_nodes
from .numbers import integer, real
from .parsing import listed
from .paths import Paths, sources, unless

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..mapping.ranks.message_costs import CostModel

EPILOG = """\
examples:
  copart ranks profile.prof --nodes 8 --slots 16                  writes profile.prof.ranks
  copart ranks bytes.csv --counts messages.csv --nodes 4 --slots 32 --placement cyclic
  copart ranks pairs.txt --nodes 3 --slots 16 16 8 --latency 1.5 --bandwidth 12000 -o new.txt
  copart ranks profile.prof --nodes 8 --slots 16 --objective max-volume      what the busiest node sends

Profiles: Open MPI monitoring, Matrix Market, a matrix of bytes, or lines 'source target bytes [messages]'.
Line r + 1 of the written file is the new rank of the process that has rank r now.
"""


def target(args: argparse.Namespace) -> list[str]:
    """The file of the new ranks."""
    return [args.output or f"{args.profile}.ranks"]


EFFECTS = (Effect(("model",), lambda args: args.latency is None and args.bandwidth is None,
                  "beside --latency and --bandwidth, which stand for a table"),)
PATHS = Paths({"profile": sources, "counts": sources, "placement": unless("block", "cyclic"), "model": sources,
               "nodes": sources},
              {"output": target}, frozenset({"method"}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("profile", metavar="PROFILE", help="bytes that each rank sent to each other")
    parser.add_argument("--counts", metavar="FILE", help="numbers of messages in a file of their own, in the same form")
    parser.add_argument("--kind", choices=["auto", "matrix", "list"], default="auto", help="what rows of numbers are")
    parser.add_argument("--nranks", type=integer, metavar="N", help="ranks of the job (default: those in the profile)")
    group = parser.add_argument_group("machine")
    group.add_argument("--nodes", required=True, metavar="NODES", help=NODES_OR_NUMBER)
    listed(group.add_argument("--slots", type=integer, nargs="+", metavar="S",
                              help="processes that a node can run where --nodes does not say it: one number, or one "
                                   "per node"))
    group.add_argument("--placement", default="block", metavar="WHERE",
                       help="where the ranks run: block fills one node after another (default), cyclic or cyclic:B "
                            "deals them one or B at a time to nodes with room, or a file with the node of each rank, "
                            "one per line: its number from 0, or its name where --nodes lists names")
    group.add_argument("--model", default="lucia-network", metavar="TABLE",
                       help="time of a message by size: lucia-network (default), meluxina-network, lucia-local, "
                            "meluxina-local, or a file with lines 'bytes latency bandwidth'")
    group.add_argument("--latency", type=real, metavar="US", help="constant latency in microseconds, not a table")
    group.add_argument("--bandwidth", type=real, metavar="MBS", help="constant bandwidth in 10^6 bytes/s, not a table")
    group.add_argument("--duplex", choices=["full", "half"], default="full",
                       help="both directions at a time (default), or one after the other")
    group = parser.add_argument_group("partitioning")
    group.add_argument("--method", default="best", metavar="NAME",
                       help="best (default), greedy, greedy-seeds, rhem, louvain, louvain-queue, label-propagation, "
                            "bisection, spectral, kgggp or metis")
    group.add_argument("--objective", choices=get_args(RankObjective), default="time",
                       help="what to have least of: the time of all messages between nodes (default), the same with "
                            "both directions added (volume), the time that the busiest node sends (max-volume), how "
                            "often one node sends to another (messages), or to how many others one does (max-messages)")
    group.add_argument("--seed", type=integer, default=1, metavar="N", help="same seed, same result (default 1)")
    parser.add_argument("-o", "--output", metavar="FILE", help="new rank of each process (default PROFILE.ranks)")


def run(args: argparse.Namespace, console: Console) -> int:
    """Reorder the ranks of a profile and write their new numbers."""
    import numpy as np

    from ..formats import write_part
    from ..formats.profiles import read_profile
    from ..kernels import timed
    from ..mapping.ranks.communication import communication_graph
    from ..mapping.ranks.reorder import reorder_ranks
    from ..metrics.columns import plural
    from .console import first_use
    from .part import check_target

    names, room = slots_of(args.nodes, args.slots)
    file = Path(*target(args))
    check_target(file)
    model = cost_model(args.model, args.latency, args.bandwidth)
    with console.progress() as progress:
        first_use(progress, "ranks")
        progress(f"reading {args.profile}")
        messages = read_profile(args.profile, counts=args.counts, nranks=args.nranks, kind=args.kind)
        node = placed(args.placement, messages.nranks, room, names)
        progress(f"partitioning {messages.nranks} ranks")
        with timed() as took:
            communication = communication_graph(messages, model, args.duplex)
            found = reorder_ranks(communication, node, method=args.method, objective=args.objective,
                                  seed=args.seed)
        progress(f"writing {file}")
        write_part(file, found.rank)
    moved = int(np.count_nonzero(found.rank != np.arange(messages.nranks)))
    figures: dict[str, Any] = {
        "ranks": messages.nranks, "nodes": len(room), "pairs": communication.graph.nedges, "method": args.method,
        "objective": args.objective, "cut_before_us": found.cut_before, "cut_after_us": found.cut_after,
        "renumbered": moved,
        "seconds": round(took.seconds, 3), "file": str(file)}
    assert found.before is not None
    assert found.after is not None
    for when, traffic in (("before", found.before), ("after", found.after)):
        figures |= {f"busiest_{when}_us": traffic.largest, f"node_pairs_{when}": traffic.pairs,
                    f"most_nodes_{when}": traffic.most}
    saved = 1 - found.cut_after / found.cut_before if found.cut_before else 0.0
    pairs = communication.graph.nedges
    console.say(f"{messages.nranks} {plural(messages.nranks, 'rank')} on {len(room)} {plural(len(room), 'node')}, "
                f"{pairs} {plural(pairs, 'pair')} that {'talks' if pairs == 1 else 'talk'}, {took.seconds:.2f} s")
    console.say(f"time between nodes: {found.cut_before:.1f} us before, {found.cut_after:.1f} us after "
                f"({saved:.1%} less)")
    console.say(f"busiest node sends for {found.before.largest:.1f} us before, {found.after.largest:.1f} us after; one "
                f"node sends to another {found.before.pairs} times before, {found.after.pairs} after (one to at most "
                f"{found.before.most}, {found.after.most})")
    console.say(f"{moved} processes get another rank" if moved else "no better order was found, all keep their ranks")
    console.say(f"wrote {file}")
    console.result(figures)
    return 0


def slots_of(nodes: str, slots: list[int] | None) -> tuple[list[str], list[int]]:
    """Names of the nodes where they are told, and how many processes each can run, as their list says or as given."""
    from ..arrays import whole
    from ..errors import ConfigError, MappingError

    names, said = told_nodes(nodes)
    if slots is None:
        told = [one for one in said if one is not None]
        if len(told) < len(said):
            raise ConfigError("--slots: are missing; give the processes that a node can run, or say them with --nodes, "
                              "as n[1-4]:16")
        return names, told
    k = len(said)
    if any(one is not None for one in said):
        raise no_effect(["--slots"], "beside --nodes that say how many processes each runs")
    if len(slots) not in (1, k):
        raise MappingError(f"--slots: needs one number, or one for each of the {k} nodes, got {len(slots)}")
    return names, [whole("--slots", s, low=1) for s in slots] * (k if len(slots) == 1 else 1)


def placed(placement: str, nranks: int, slots: list[int], names: list[str]) -> NDArray[Any]:
    """Node of each rank, none with more ranks than slots."""
    import numpy as np

    from ..arrays import whole
    from ..errors import MappingError
    from ..formats.placement_file import read_placement

    k, total = len(slots), sum(slots)
    if total < nranks:
        raise MappingError(f"--slots: {nranks} ranks need as many slots, {k} nodes have {total}; add some")
    room = np.array([min(one, nranks) for one in slots])
    kind, _, size = placement.partition(":")
    if kind == "block" and not size:
        return np.searchsorted(np.cumsum(room), np.arange(nranks), "right")
    if kind == "cyclic" and (not size or size.isdecimal()):
        return dealt(nranks, room, whole("--placement", int((size or "1")[:20]), low=1, high=2**31 - 1))
    node = read_placement(placement, nranks, names or k)
    used = np.bincount(node, minlength=k)
    if (used > room).any():
        p = int(np.argmax(used > room))
        raise MappingError(f"--placement: puts {used[p]} ranks on node {names[p] if names else p}, which has {room[p]} "
                           f"slots")
    return node


def dealt(nranks: int, room: NDArray[Any], block: int) -> NDArray[Any]:
    """Node of each rank where nodes get `block` of them in turn; full ones are passed over, as launchers do."""
    import numpy as np

    found, left, open_ = [np.zeros(0, np.int64)], room.copy(), np.arange(len(room))
    missing = nranks
    while missing:
        share = np.minimum(left[open_], block)
        turn = int(np.searchsorted(np.cumsum(share), missing)) + 1
        found.append(np.repeat(open_[:turn], share[:turn])[:missing])
        missing -= len(found[-1])
        left[open_] -= share
        open_ = open_[left[open_] > 0]
    return np.concatenate(found)


def cost_model(table: str, latency: float | None, bandwidth: float | None) -> CostModel:
    """The model of constants where they are given, a table by name, or one from a file."""
    from ..errors import ConfigError, FormatError
    from ..formats.text import read_bytes
    from ..mapping.ranks.message_costs import TABLES, CostModel

    if latency is not None or bandwidth is not None:
        if latency is None or bandwidth is None:
            raise ConfigError("--latency and --bandwidth go together, only one is given")
        return CostModel.standard(latency, bandwidth)
    if table in TABLES:
        return CostModel.named(table)
    if not Path(table).exists():
        raise ConfigError(f"--model: {table!r} is no file and no known table; there are {', '.join(TABLES)}")
    rows = []
    for i, line in enumerate(read_bytes(table).decode("utf-8", "replace").splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words or words[0].startswith("#"):
            continue
        try:
            size, microseconds, rate = map(float, words)
        except ValueError:
            raise FormatError(table, f"needs 'bytes latency bandwidth', found {line.strip()!r:.40}", i) from None
        rows.append((size, microseconds, rate))
    if not rows:
        raise FormatError(table, "holds no step")
    try:
        return CostModel(*zip(*rows, strict=True))  # type: ignore[arg-type]
    except ConfigError as error:
        raise FormatError(table, str(error)) from None
