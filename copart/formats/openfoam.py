"""OpenFOAM's manual decomposition: the list of processors and the dictionary that names it.

``decomposePar`` reads ``constant/cellDecomposition`` (for a region
``constant/REGION/cellDecomposition``), one processor per cell in the order of the
mesh, when ``system/decomposeParDict`` (``system/REGION/decomposeParDict``) says
``method manual`` and names the file in ``manualCoeffs``.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import part_array
from ..errors import ConfigError, PartitionError
from .output import write_text_atomic
from .text import PathLike

DATA_FILE = "cellDecomposition"
"""Name of the list, the one that ``decomposePar -cellDist`` gives it."""

DICTIONARY = "decomposeParDict"
"""Name of what ``decomposePar`` reads first."""

_RULE = "// " + "* " * 37 + "//"
_END = "// " + "*" * 73 + " //"


def write_decomposition(folder: PathLike, part: ArrayLike, nparts: int, region: str | None = None) -> list[str]:
    """Write both files of a manual decomposition into a case, each atomically.

    Parameters
    ----------
    folder : path-like
        The case, or a folder to be copied into one.
    part : (ncells,) array_like of int
        Part of each cell, in the order of the mesh.
    nparts : int
        Number of parts, also where the last ones are empty.
    region : str, optional
        Mesh region of a case with several.

    Returns
    -------
    list of str
        The files, relative to `folder`.

    Raises
    ------
    PartitionError
        A part is outside ``0..nparts-1``.
    ConfigError
        The region is no OpenFOAM word.
    FormatError
        A file cannot be written.
    """
    if region is not None and not re.fullmatch(r"[^\s/\"';{}()$]+", region):
        raise ConfigError(f"region: {region!r} is no OpenFOAM word (no blanks, slashes, quotes, brackets or ; in it)")
    parts = part_array("part", part, np.size(part), nparts, PartitionError)
    inner = f"/{region}" if region else ""
    where = Path(folder)
    names = [f"constant{inner}/{DATA_FILE}", f"system{inner}/{DICTIONARY}"]
    rows = "".join(f"{p}\n" for p in parts.tolist())
    write_text_atomic(where / names[0], _file("labelList", f"constant{inner}", DATA_FILE,
                                              f"{len(parts)}\n(\n{rows})\n", f"nCells: {len(parts)} nParts: {nparts}"))
    write_dictionary(where, nparts, region)
    return names


def write_dictionary(folder: PathLike, nparts: int, region: str | None = None) -> str:
    """Write the ``decomposeParDict`` of a manual decomposition, atomically; returns its name, relative to `folder`.

    Raises
    ------
    FormatError
        The file cannot be written.
    """
    inner = f"system/{region}" if region else "system"
    write_text_atomic(Path(folder) / inner / DICTIONARY, _dictionary(inner, nparts))
    return f"{inner}/{DICTIONARY}"


def is_own(dictionary: Path) -> bool:
    """Whether a ``decomposeParDict`` in a case is what :func:`write_dictionary` writes, to the letter."""
    text = dictionary.read_text(errors="replace")
    told = re.search(r"^numberOfSubdomains (\d+);", text, re.MULTILINE)
    inner = re.search(r'^ +location +"([^"\n]*)";', text, re.MULTILINE)
    return told is not None and inner is not None and text == _dictionary(inner[1], int(told[1]))


def _dictionary(inner: str, nparts: int) -> str:
    return _file("dictionary", inner, DICTIONARY, decomposition(nparts))


def decomposition(nparts: int) -> str:
    """The lines of a ``decomposeParDict`` that ask for the decomposition in :data:`DATA_FILE`."""
    return (f"numberOfSubdomains {nparts};\n\n"
            f"method          manual;\n\n"
            f"manualCoeffs\n{{\n    dataFile        \"{DATA_FILE}\";\n}}\n")


def _file(kind: str, location: str, name: str, body: str, note: str | None = None) -> str:
    """An OpenFOAM text file: header, rule, content, rule."""
    entries = {"version": "2.0", "format": "ascii", "class": kind, "note": None if note is None else f'"{note}"',
               "location": f'"{location}"', "object": name}
    lines = "".join(f"    {key:<11} {value};\n" for key, value in entries.items() if value is not None)
    return f"FoamFile\n{{\n{lines}}}\n{_RULE}\n\n{body}\n{_END}\n"


__all__ = ["DATA_FILE", "DICTIONARY", "decomposition", "is_own", "write_decomposition", "write_dictionary"]
