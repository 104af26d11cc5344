"""Writing: whole files or nothing, and a look at the output folder before the work."""

from __future__ import annotations

import gzip
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from ..errors import ConfigError, FormatError
from .text import PathLike


def file_name(component: str) -> str:
    """The name of a component as a file name: everything unusual becomes an underscore."""
    return re.sub(r"[^\w.+-]", "_", component).lstrip(".") or "_"


def write_text_atomic(path: PathLike, text: str) -> None:
    """Write `text` (UTF-8, LF) to `path` so that the file is either complete or untouched.

    Packed where the name ends in ``.gz``, as it is read.  The folder is made where it does not exist.

    Raises
    ------
    FormatError
        The file cannot be written.
    """
    target = Path(path)
    try:
        target = place_of(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode()
        data = gzip.compress(data, mtime=0) if Path(path).name.endswith(".gz") else data
        if is_stream(target):
            target.write_bytes(data)
            return
        scratch = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            scratch.write_bytes(data)
            os.replace(scratch, target)
        finally:
            scratch.unlink(missing_ok=True)
    except (OSError, ValueError) as e:
        # no name of a file holds a null byte
        raise FormatError(path, f"cannot be written: {(getattr(e, 'strerror', None) or str(e)).lower()}") from None


def is_stream(path: Path) -> bool:
    """Whether there is a device or a pipe, which is written to and never replaced by a file."""
    return path.exists() and not path.is_file() and not path.is_dir()


def place_of(path: Path) -> Path:
    """Where a file is written: a link is followed, as what it names is meant; not that to a device or a pipe."""
    return Path(os.path.realpath(path)) if path.is_symlink() and not is_stream(path) else path


def attribute(text: str) -> str:
    """`text` in quotes, as the value of an attribute in XML; Python's own function loads all of urllib."""
    for char in "&<>\"\n\r\t":
        text = text.replace(char, f"&#{ord(char)};")
    return f'"{text}"'


def write_json(path: PathLike, value: Any) -> None:
    """Write plain JSON types, atomically; a number that JSON does not know (NaN) is an error."""
    try:
        text = _json(value, "")
    except (TypeError, ValueError) as e:
        raise FormatError(path, f"cannot be written as JSON: {e}") from None
    write_text_atomic(path, text + "\n")


def _json(value: Any, indent: str) -> str:
    """JSON text with one entry per line, but lists of numbers in one line."""
    inner = indent + " "
    if isinstance(value, dict) and value:
        if not all(isinstance(key, str) for key in value):
            raise TypeError("keys must be strings")
        rows = [f"{json.dumps(key)}: {_json(entry, inner)}" for key, entry in value.items()]
        return "{\n" + ",\n".join(inner + row for row in rows) + f"\n{indent}}}"
    if isinstance(value, list) and not {dict, list}.isdisjoint(map(type, value)):
        return "[\n" + ",\n".join(inner + _json(entry, inner) for entry in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)


def prepare_folder(path: PathLike) -> Path:
    """Check that files can be written to folder `path`, which need not exist yet; returns it.

    Nothing is left behind: a missing folder is made by the first file that is
    written, so that a run which fails leaves no empty one.

    Raises
    ------
    ConfigError
        `path` or what leads to it is no folder, or cannot be written to.
    """
    folder = Path(path)
    try:
        there = folder
        while not there.exists() and there != there.parent:
            there = there.parent
        if not there.is_dir():
            raise ConfigError(f"output folder {folder}: {there} is no folder")
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as e:
        raise ConfigError(f"output folder {folder}: cannot be written to: {(e.strerror or str(e)).lower()}") from None
    return folder
