"""What an XDMF file names: its arrays stand in other files, and the file says in which.

A mesh from elsewhere could name any file of this machine.  Those beside it or below are read; others only where
``COPART_OUTSIDE_FILES`` is set in the environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from ...errors import FormatError

ALLOWED = "COPART_OUTSIDE_FILES"


def check_references(path: Path) -> None:
    """Refuse an XDMF file that names files elsewhere than beside it.

    Raises
    ------
    FormatError
        Names the first, and how it is allowed.
    """
    if os.environ.get(ALLOWED):
        return
    home = Path(os.path.realpath(path.parent))
    for base, name in _named(path):
        try:
            found = Path(os.path.realpath(base / name))
        except ValueError:
            raise FormatError(path, f"names the file {name!r:.80}, which can be none") from None
        if not found.is_relative_to(home):
            raise FormatError(path, f"names {name!r:.80}, which is not beside it; put it there, or set {ALLOWED}=1 "
                                    f"where it can be trusted")


def _named(path: Path) -> Iterator[tuple[Path, str]]:
    """The files named in HDF and binary items and in inclusions, each with the folder it is looked for in."""
    try:
        for _, element in ElementTree.iterparse(path):
            tag = str(element.tag).rpartition("}")[2]
            text = (element.text or "").strip()
            kind = element.get("Format", "").upper()
            if tag == "DataItem" and kind == "HDF":
                yield path.parent, text.partition(":")[0]
            elif tag == "DataItem" and kind == "BINARY":
                yield Path(), text  # meshio looks for these where the program runs
            elif tag == "include":
                yield path.parent, element.get("href", "").partition("#")[0]
    except (ElementTree.ParseError, OSError, ValueError):
        return  # reading it will say what is wrong


__all__ = ["ALLOWED", "check_references"]
