"""Files that are read are never written over: one rule for the command line and for calls from Python.

A call knows the files of its components.  What else it was made from (a machine, loads, costs) only the
caller knows, who says so by :func:`reading`; :func:`refuse_inputs` then knows all of them.  Files are
compared by what they are and not by name, so that links, also hard ones, and other spellings count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ..errors import ConfigError, FormatError
from .sources import split_region

StrPath = str | os.PathLike[str]
Named = tuple[str, StrPath]
"""What a file is called in messages (an option, a component), and its path, which may name a region."""

_reading: ContextVar[tuple[Named, ...]] = ContextVar("reading", default=())


@contextmanager
def reading(files: Iterable[Named]) -> Iterator[None]:
    """While this lasts, :func:`refuse_inputs` also knows `files`."""
    token = _reading.set((*_reading.get(), *files))
    try:
        yield
    finally:
        _reading.reset(token)


def file_of(source: StrPath) -> str:
    """The file of a source, without what is chosen of it."""
    return split_region(os.fspath(source))[0]


def refuse_inputs(targets: Iterable[Path], inputs: Iterable[Named] = (), output: str = "output") -> None:
    """Refuse to write over a file that is read, or where a folder is.

    Parameters
    ----------
    targets : iterable of Path
        What is going to be written.
    inputs : iterable of (str, path)
        What is read, beside what :func:`reading` tells.
    output : str
        What the targets are called in messages.

    Raises
    ------
    ConfigError
        Names both.
    """
    read: dict[tuple[int, int], str] = {}
    for name, source in (*inputs, *_reading.get()):
        for file in _files(file_of(source)):
            found = _identity(file)
            if found is not None:
                read.setdefault(found, name)
    for target in targets:
        if target.is_dir():
            raise ConfigError(f"{output}: {target} is a folder")
        found = _identity(target)
        if found in read:
            raise ConfigError(f"{output}: {target} is also read ({read[found]}); name another one")


def same_file(one: StrPath, other: StrPath) -> bool:
    """Whether two names, of files that need not exist, mean one file."""
    found = _identity(one)
    return os.path.realpath(one) == os.path.realpath(other) or (found is not None and found == _identity(other))


def _identity(path: StrPath) -> tuple[int, int] | None:
    """What tells a file from all others, links resolved; None where there is none."""
    try:
        # a folder on the way may be made before it is written: `new/../mesh.vtu` is `mesh.vtu` then
        found = os.stat(os.path.realpath(path))
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


#: Where formats name the files with their arrays or pieces, and in how much of a file that is looked for: arrays may
#: stand in it, too.
_NAMED_WITHIN = 1 << 22
_NAMING = {".xdmf": re.compile(r"([^\s<>\"':]+\.h(?:5|df5?))\s*:"), ".pvtu": re.compile(r"Source\s*=\s*[\"']([^\"']+)")}


def _files(path: str) -> list[StrPath]:
    """The files that are read for one path: those of a plan's folder or of an OpenFOAM case, else the file itself and
    those that it stands for.
    """
    from ..mesh.readers.calculix import deck_files
    from ..mesh.readers.openfoam import is_openfoam, mesh_folders

    place = Path(path)
    try:
        if place.is_dir() and (place / "metrics.json").exists():
            return list(place.iterdir())
        if place.is_dir() or is_openfoam(place):
            known = [folder / "regionProperties" for folder in (place, place / "constant", *place.parents[:2])]
            return [place, *known, *(file for _, folder in mesh_folders(place) for file in folder.iterdir())]
        if place.suffix.lower() in _NAMING:
            with open(place, "rb") as file:
                text = file.read(_NAMED_WITHIN).decode("utf-8", "replace")
            named = _NAMING[place.suffix.lower()].findall(text)
            # arrays of an XDMF file mostly stand beside it, under its name
            return [path, place.with_suffix(".h5"), *(place.parent / name for name in named)]
        if place.suffix.lower() in (".ele", ".node"):
            return [place.with_suffix(".ele"), place.with_suffix(".node")]
        if place.suffix.lower() in (".inp", ".msh") and place.is_file():
            with open(place, "rb") as file:
                # CalculiX users call their meshes .msh, too
                deck = file.read(4096).lstrip().startswith(b"*")
            return [*deck_files(place)] if deck else [path]
    except (FormatError, OSError, ValueError):
        # reading it will say what is wrong
        return [path]
    return [path]


__all__ = ["Named", "file_of", "reading", "refuse_inputs", "same_file"]
