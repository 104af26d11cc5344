"""What `plan` and `compare` are asked for, checked before the work and kept as JSON types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import fraction, whole
from .config import preset as check_preset
from .coupling import CoupledProblem
from .errors import ConfigError, PartitionError

if TYPE_CHECKING:
    from .mesh import Mesh

Counts = Sequence[int] | Mapping[str, int] | int
"""Counts in the order of the components, by name, or one for a pool that all share."""


def partitioning(eps: float, seed: int, threads: int, preset: str) -> dict[str, Any]:
    """Options of the partitioner."""
    check_preset(preset)
    return {"eps": fraction("eps", eps), "seed": whole("seed", seed, low=0),
            "threads": whole("threads", threads, low=1), "preset": preset}


def meeting(tolerance: float | None, gap: float | None, scale_b: float, shift_b: Sequence[float] | None,
            periodic_b: Sequence[float] | None, several: bool, max_interedges: int | None) -> dict[str, Any]:
    """How meshes are brought together."""
    def plain(vector: Sequence[float] | None) -> list[float] | None:
        return None if vector is None else [float(x) for x in vector]

    out = {"tolerance": tolerance, "gap": gap, "scale_b": scale_b, "shift_b": plain(shift_b),
           "periodic_b": plain(periodic_b), "several": bool(several)}
    return out if max_interedges is None else {**out, "max_interedges": max_interedges}


def counts(label: str, values: Counts, components: int | Sequence[str], pool: bool = False) -> list[int]:
    """Counts in the order of the components, each at least 1.

    Parameters
    ----------
    label : str
        What they are called.
    values : sequence, mapping or int
    components : int or sequence of str
        How many there are, or their names where these are known.
    pool : bool
        Whether one number alone is accepted, for the size of a pool that all share.

    Raises
    ------
    ConfigError
    """
    many = components if isinstance(components, int) else len(components)
    if isinstance(values, Mapping):
        if isinstance(components, int):
            # the names are not known yet
            return counts(label, list(values.values()), components)
        if set(values) != set(components):
            raise ConfigError(f"{label}: needs one integer for each of {', '.join(components)}, "
                              f"got {', '.join(map(str, values))}")
        return [whole(label, values[name], low=1) for name in components]
    found = list(values) if isinstance(values, Sequence | np.ndarray) else [values]
    if len(found) != many and not (pool and len(found) == 1):
        some = "two" if many == 2 else str(many)
        raise ConfigError(f"{label}: needs {some} integers, one for each component, got {values!r}")
    return [whole(label, value, low=1) for value in found]


def parts_or_total(parts: Counts | None, total: int | None, costs: Any, pool: bool) -> Counts | None:
    """The numbers of parts, None where they follow from `total`.

    Raises
    ------
    ConfigError
        Both are given, or costs without a total.
    """
    if total is None:
        if costs is not None:
            raise ConfigError("costs: share out a total of processes; give it, too")
        return (16, 64) if parts is None else parts
    if parts is not None:
        raise ConfigError("parts, total: give one of the two, not both")
    return whole("total", total, low=1) if pool else None


def iterations(values: Counts, names: Sequence[str]) -> dict[str, int]:
    """Halo exchanges in a coupling step by component, from one number for all, numbers in order, or by name.

    Raises
    ------
    ConfigError
    """
    found = list(values) if isinstance(values, Sequence | np.ndarray) else values
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if not isinstance(found, list | Mapping):
        found = [found] * len(names)
    return dict(zip(names, counts("iterations", found, names), strict=True))


def described(interedges: Any) -> str:
    """Interedges as a setting: their kind, or that they were given."""
    return interedges if isinstance(interedges, str) else "given"


def placed_meshes(names: Sequence[str], meshes: Mapping[str, Mesh], settings: Mapping[str, Any]) -> dict[str, Mesh]:
    """The meshes in one coordinate system: the second component scaled and moved as it was to meet the others."""
    from .mesh.transform import Placement

    move = Placement(settings["scale_b"], settings["shift_b"] or (0.0, 0.0, 0.0))
    return {name: move.apply(mesh) if name == names[1] else mesh for name, mesh in meshes.items()}


def check_fit(problem: CoupledProblem, parts: Sequence[int]) -> None:
    """Refuse more parts than a component (or all of them, for one pool) has cells.

    Raises
    ------
    PartitionError
    """
    cells = {name: graph.nvtxs for name, graph in problem.components.items()}
    if len(parts) == 1 < len(cells):
        cells = {"all components": sum(cells.values())}
    for (name, n), count in zip(cells.items(), parts, strict=True):
        if count > n:
            raise PartitionError(f"parts of {name}: {count} parts of {n} cells would leave parts empty; "
                                 f"ask for at most {n}")


def check_components(components: Sequence[Any]) -> None:
    """Refuse what cannot be components: none, or counts of parts.

    Raises
    ------
    ConfigError
    """
    if not components:
        raise ConfigError("components: needs two or more, or one file with several zones")
    for thing in components:
        if isinstance(thing, int) or (isinstance(thing, list | tuple) and len(thing) and
                                      all(isinstance(x, int | np.integer) for x in thing)):
            raise ConfigError(f"components: {thing!r} is none; numbers of parts are given as parts={thing!r}")


__all__ = ["Counts", "check_components", "check_fit", "counts", "described", "meeting", "partitioning",
           "placed_meshes"]
