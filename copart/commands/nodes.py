"""``--nodes``, in every command the nodes of a job: by name, or by number where their names play no role."""

from __future__ import annotations

#: More nodes are no job, but a damaged number; each is listed.
MOST = 2**24

NODES = "the nodes of the job: a hostfile, or names as n[001-004,7]"
NODES_OR_NUMBER = "the nodes of the job: how many, a hostfile, or names as n[001-004,7] or n[1-4]:16"


def node_slots(nodes: str) -> list[int | None]:
    """What each node takes, None where nothing says it; parameters and errors of :func:`told_nodes`."""
    return told_nodes(nodes)[1]


def told_nodes(nodes: str) -> tuple[list[str], list[int | None]]:
    """Names of the nodes, none where only their number is told, and what each takes, None where nothing says it.

    Parameters
    ----------
    nodes : str
        A number, a hostfile, or names.

    Raises
    ------
    ConfigError, FormatError, MappingError
        It is none of these.
    """
    from ..arrays import whole
    from ..formats.hostfile import read_hosts

    if nodes.lstrip("-").isdecimal():
        return [], [None] * whole("--nodes", int(nodes[:20]), low=1, high=MOST)
    names, slots = zip(*read_hosts(nodes), strict=True)
    return list(names), list(slots)


def named_nodes(nodes: str | None) -> str | None:
    """The same where the names matter.

    Raises
    ------
    ConfigError
        It is a number.
    """
    from ..errors import ConfigError

    if nodes is not None and nodes.lstrip("-").isdecimal():
        raise ConfigError(f"--nodes: needs names or a hostfile here, got the number {nodes[:20]}; nodes without a name "
                          f"are told as --hierarchy SLOTS:{nodes[:20]}")
    return nodes


__all__ = ["NODES", "NODES_OR_NUMBER", "named_nodes", "node_slots", "told_nodes"]
