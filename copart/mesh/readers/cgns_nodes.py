"""The nodes of a CGNS file in HDF5: a name, a label that says what a node is, data, and the nodes below it.

Each node is a group of HDF5 with attributes ``name``, ``label`` and ``type``, its data the array `` data`` in that
group, with the dimensions the other way round than CGNS counts them.  A node of type ``LK`` stands for another one, in
this file or in another.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError
from ..polyhedra import Ints

_MOST_TEXT = 10_000
"""Letters that a name is read with at most."""


class Node:
    """One node of the tree.

    Parameters
    ----------
    path : Path
        Of the file, for messages.
    group : h5py.Group
    where : str
        Names from the root, with slashes between.
    """

    def __init__(self, path: Path, group: Any, where: str = "") -> None:
        self.path, self.group, self.where = path, group, where
        self.name = where.rpartition("/")[2]

    def __iter__(self) -> Iterator[Node]:
        """The nodes below."""
        import h5py

        for name in self.group:
            link = self.group.get(name, getlink=True)
            if str(name).startswith(" ") or not isinstance(link, h5py.HardLink):
                continue
            item = self.group.get(name)
            if isinstance(item, h5py.Group):
                yield Node(self.path, self._aim(item, str(name)), f"{self.where}/{name}".lstrip("/"))

    def _aim(self, item: Any, name: str) -> Any:
        """What a node of type ``LK`` stands for; others themselves."""
        import h5py

        for _ in range(20):
            if _text(item.attrs.get("type")) != "LK":
                return item
            link = item.get(" link", getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise FormatError(self.path, f"{self.where}/{name} is in another file, {link.filename!r:.80}: give "
                                             f"that one")
            item = item.get(" link")
            if not isinstance(item, h5py.Group):
                break
        raise FormatError(self.path, f"{self.where}/{name} is a link to a node that is not there")

    @property
    def label(self) -> str:
        """What the node is, such as ``Zone_t``."""
        return _text(self.group.attrs.get("label"))

    def all(self, label: str) -> list[Node]:
        """The nodes below that have a label."""
        return [node for node in self if node.label == label]

    def one(self, name: str) -> Node | None:
        """The node below of this name."""
        return next((node for node in self if node.name == name), None)

    def first(self, label: str) -> Node | None:
        """The first node below that has a label."""
        return next((node for node in self if node.label == label), None)

    def data(self) -> NDArray[Any]:
        """The data as an array; empty where the node has none."""
        import h5py

        found = self.group.get(" data", getlink=True)
        item = self.group.get(" data") if isinstance(found, h5py.HardLink) else None
        if not isinstance(item, h5py.Dataset) or item.shape is None:
            return np.zeros(0, np.int32)
        return np.asarray(item[()])

    def integers(self) -> Ints:
        """The data as whole numbers.

        Raises
        ------
        FormatError
            They are of another type.
        """
        values = self.data()
        if values.dtype.kind not in "iu":
            raise FormatError(self.path, f"{self.where}: needs whole numbers, has {values.dtype}")
        return values.astype(np.int64)

    def reals(self) -> NDArray[np.float64]:
        """The data as numbers.

        Raises
        ------
        FormatError
            They are of another type.
        """
        values = self.data()
        if values.dtype.kind not in "iuf":
            raise FormatError(self.path, f"{self.where}: needs numbers, has {values.dtype}")
        return values.astype(np.float64)

    def text(self) -> str:
        """The data as a text."""
        values = self.data()
        if values.dtype.kind in "iu" and values.dtype.itemsize == 1:
            return bytes(values.astype(np.uint8).ravel()[:_MOST_TEXT]).decode("utf-8", "replace").strip(" \0")
        return _text(values[()] if values.ndim == 0 else b"".join(values.ravel()[:1])) if values.dtype.kind == "S" \
            else ""

    def said(self, label: str, otherwise: str = "") -> str:
        """The text of the first node below that has a label."""
        node = self.first(label)
        return otherwise if node is None else node.text() or otherwise

    def numbers(self, name: str) -> Ints | None:
        """The whole numbers of the node below of this name; None where there is none."""
        node = self.one(name)
        return None if node is None else node.integers()


def _text(value: Any) -> str:
    """An attribute as text, without what fills it up."""
    if isinstance(value, bytes):
        return value.split(b"\0")[0].decode("utf-8", "replace").strip()
    return value.strip() if isinstance(value, str) else ""


__all__ = ["Node"]
