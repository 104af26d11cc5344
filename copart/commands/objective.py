"""``--objective`` of ``copart part``: what parts send in place of the cut, and hypergraph files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, get_args

from ..names import ExchangeObjective
from .effects import Effect

if TYPE_CHECKING:
    from ..graph import Graph
    from ..hypergraph import Hypergraph
    from ..mesh import Mesh

#: The cut, and the objectives of hypergraphs by their names (:mod:`copart.partitioner.umpa`).
CHOICES = ("cut", *get_args(ExchangeObjective))


def add_objective(parser: argparse.ArgumentParser) -> None:
    """``--objective``."""
    parser.add_argument("--objective", choices=CHOICES,
                        help="what to have least of: the edges cut (default), the data sent by all parts or by the one "
                             "that sends most, or the messages of either")


def by_exchange(args: argparse.Namespace) -> bool:
    """Whether the parts are made for what they send; a hypergraph file allows nothing else."""
    return args.objective not in (None, "cut") or _is_hypergraph(args.source)


def _is_hypergraph(source: str) -> bool:
    """Whether a file holds a hypergraph and no graph, by its name."""
    from ..formats import graph_suffix, hypergraph_suffix

    return graph_suffix(source) is None and hypergraph_suffix(source) is not None


EFFECT = Effect(("contiguous", "time_limit"), lambda args: not by_exchange(args),
                "with an --objective other than cut, or on a hypergraph")


def read(args: argparse.Namespace) -> tuple[Hypergraph | None, Graph | None, Mesh | None]:
    """What is partitioned: a hypergraph, where parts are made for what they send, and its graph and mesh, if any.

    Raises
    ------
    ConfigError
        The cut is asked for on a hypergraph file, a load on anything but a mesh, or vertices have several weights.
    """
    from ..errors import ConfigError, FormatError
    from ..formats import hypergraph_suffix
    from ..hypergraph import Hypergraph
    from ..plans.opening import single

    if _is_hypergraph(args.source):
        return _read_nets(args), None, None
    try:
        graph, mesh = single(args.source, args.load, args.threads)
    except FormatError:
        if not by_exchange(args) or hypergraph_suffix(args.source) is None:
            raise
        # a matrix that is no graph: its rows are vertices, its columns nets
        return _read_nets(args), None, None
    if not by_exchange(args):
        return None, graph, mesh
    if graph.ncon > 1:
        raise ConfigError(f"--objective: only the cut goes with {graph.ncon} weights per vertex")
    return Hypergraph.column_net(graph), graph, mesh


def _read_nets(args: argparse.Namespace) -> Hypergraph:
    """The hypergraph of a file that holds one."""
    from ..errors import ConfigError
    from ..formats import read_hypergraph

    if args.objective == "cut":
        raise ConfigError(f"--objective: {args.source} is a hypergraph, whose parts have no cut edges; choose one of "
                          f"{', '.join(CHOICES[1:])}")
    if args.method != "graph":
        raise ConfigError(f"--method: {args.method} needs coordinates, which {args.source} has not, a hypergraph")
    if args.load is not None:
        raise ConfigError(f"--load: has no effect on {args.source}, a hypergraph, which brings the weights of its "
                          f"vertices")
    return read_hypergraph(args.source)


def describe(hypergraph: Hypergraph, part: Any, nparts: int, shares: Any = None) -> dict[str, Any]:
    """The figures of what the parts send, computed from scratch."""
    from ..graph import Graph
    from ..metrics import evaluate_hypergraph, imbalance

    found = evaluate_hypergraph(hypergraph, part, nparts)
    loads = Graph.from_edges(hypergraph.nvtxs, [], [], vwgt=hypergraph.weights)
    return {"vertices": hypergraph.nvtxs, "nets": hypergraph.nnets, "parts": nparts, "volume": found.total_volume,
            "max_volume": found.max_send, "messages": found.total_messages, "max_messages": found.max_messages,
            "ub": imbalance(loads, part, nparts, shares)}


def told(figures: dict[str, Any]) -> str:
    """The figures of :func:`describe` for a reader."""
    return (f"volume {figures['volume']} (at most {figures['max_volume']} from a part), "
            f"messages {figures['messages']} (at most {figures['max_messages']})")
