"""What an XDMF file names: its arrays stand in other files, and the file says in which.

A mesh from elsewhere could name any file of this machine.  Those beside it or below are read, as are those that were
moved here together with it; others only where ``COPART_OUTSIDE_FILES`` is set in the environment.
"""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

from ...errors import FormatError

ALLOWED = "COPART_OUTSIDE_FILES"


def with_own_files(path: Path, folder: Path) -> Path:
    """The file to read instead of `path`: itself, or a copy in `folder` which names the files that may be opened.

    Binary items are looked for beside the file, and not where the program runs, as meshio does.

    Raises
    ------
    FormatError
        It names files elsewhere; says the first, and how it is allowed. Or it does not count nodes from 0.
    """
    try:
        tree = ElementTree.parse(path)
    except (ElementTree.ParseError, OSError, ValueError):
        return path  # reading it will say what is wrong
    changed = False
    for element in tree.iter():
        tag, kind = str(element.tag).rpartition("}")[2], element.get("Format", "").upper()
        if tag == "Topology" and element.get("BaseOffset", "0").strip() != "0":
            raise FormatError(path, f"counts nodes from {element.get('BaseOffset', ''):.20} (BaseOffset), which is not "
                                    f"read; ParaView saves it as .vtu")
        if tag == "include":
            _own(path, element.get("href", "").partition("#")[0])
        elif tag == "DataItem" and kind in ("HDF", "BINARY"):
            text = (element.text or "").strip()
            name, colon, inside = text.partition(":") if kind == "HDF" else (text, "", "")
            found = _own(path, name)
            if kind == "BINARY" or found != Path(os.path.realpath(path.parent / name)):
                changed = True
            element.text = f"{found}{colon}{inside}"
    if not changed:
        return path
    copy = folder / path.name
    tree.write(copy)
    return copy


def _own(path: Path, name: str) -> Path:
    """The file of this name beside the XDMF file or below; one moved here with it, by its last name."""
    try:
        home = Path(os.path.realpath(path.parent))
        named = Path(os.path.realpath(home / name))
        if os.environ.get(ALLOWED) or named.is_relative_to(home):
            return named
        moved = home / Path(name).name
        if moved.is_file() and not moved.is_symlink():
            return moved
    except ValueError:
        raise FormatError(path, f"names the file {name!r:.80}, which can be none") from None
    raise FormatError(path, f"names {name!r:.80}, which is not beside it; put it there, or set {ALLOWED}=1 where it "
                            f"can be trusted")


__all__ = ["ALLOWED", "with_own_files"]
