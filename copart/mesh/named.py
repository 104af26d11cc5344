"""The named groups of a mesh as field data of a VTU file, so that they survive being written and read.

VTU files have no place for boundaries and regions by name.  Each group becomes
an array of whole numbers called ``KIND:NAME``, KIND being ``facets`` (nodes of
each facet, padded with -1), ``points`` or ``cells``; those that are offered for
coupling have ``interface:`` before that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MeshError
from .value import Mesh

_KINDS = {"facets": "facet_groups", "points": "point_groups", "cells": "cell_groups"}
_CHOSEN = "interface:"


def group_fields(mesh: Mesh) -> dict[str, NDArray[np.int64]]:
    """The groups of `mesh` as arrays for the field data of a VTU file; empty groups are left out."""
    out = {}
    for kind, attribute in _KINDS.items():
        for name, members in getattr(mesh, attribute).items():
            chosen = name in mesh.offered and (kind == "facets" or
                                                 (kind == "points" and name not in mesh.facet_groups))
            if len(members):
                out[f"{_CHOSEN if chosen else ''}{kind}:{name}"] = members
    return out


def is_group_field(name: str) -> bool:
    """Whether field data of that name is a group."""
    kind, colon, _ = name.removeprefix(_CHOSEN).partition(":")
    return bool(colon) and kind in _KINDS


def with_group_fields(mesh: Mesh, fields: Mapping[str, Any]) -> Mesh:
    """`mesh` with the groups that the field data of its file hold; other field data is passed over.

    Raises
    ------
    MeshError
        A group names nodes or cells that the mesh does not have.
    """
    groups: dict[str, dict[str, NDArray[np.int64]]] = {a: dict(getattr(mesh, a)) for a in _KINDS.values()}
    interface = list(mesh.offered)
    for key, values in fields.items():
        if not is_group_field(key):
            continue
        kind, _, name = key.removeprefix(_CHOSEN).partition(":")
        members = np.asarray(values)
        if members.dtype.kind not in "iu" or (members.ndim != 1 + (kind == "facets") and members.size):
            raise MeshError(f"field data {key!r}: needs whole numbers, "
                            f"{'the nodes of one facet per row' if kind == 'facets' else 'one per row'}")
        groups[_KINDS[kind]][name] = members.astype(np.int64)
        if key.startswith(_CHOSEN):
            interface.append(name)
    return mesh.replace(**groups, interface=tuple(interface)) if any(map(is_group_field, fields)) else mesh


__all__ = ["group_fields", "is_group_field", "with_group_fields"]
