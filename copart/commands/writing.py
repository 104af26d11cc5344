"""``--write``: the files for solvers, couplers and viewers that a command makes beside its own."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .console import Console
from .parsing import listed

if TYPE_CHECKING:
    from ..mesh import Mesh

#: Words that are kinds of files: what follows them are components.
_KIND = "(pvtu|gmsh|openfoam|aste|precice|report|picture|none)"
_KINDS = rf"{_KIND}(,{_KIND})*,?"
#: More files than these in one folder are counted instead of listed.
FEW = 16


def add_write(parser: argparse.ArgumentParser, *, single: bool = False) -> None:
    """Declare ``--write KIND,...``; `single` for one mesh without a coupling."""
    if single:
        text = "also write these, comma separated, beside the part file: pvtu, gmsh, openfoam"
    else:
        text = "also write these, comma separated: pvtu (pieces with ghosts), gmsh (partition tags), openfoam " \
               "(cellDecomposition), aste (pieces of the interface), precice (m2n hints), report, picture " \
               "(default: openfoam or gmsh for components read from such files; none for nothing)"
    listed(parser.add_argument("--write", metavar="KIND,...", help=text), _KINDS)


def tell_written(console: Console, files: Sequence[str]) -> None:
    """A line for each file; one for a folder that has received more than a few, and for ``exchange/``."""
    from ..formats.exchange_files import EXCHANGE

    count = Counter(os.path.dirname(name) for name in files)
    told = set()
    for name in files:
        folder = os.path.dirname(name)
        if count[folder] <= FEW and os.path.basename(folder) != EXCHANGE:
            console.say(f"wrote {name}")
        elif folder not in told:
            told.add(folder)
            console.say(f"wrote {os.path.join(folder, '')} with {count[folder]} files")


def check_single(kinds: Sequence[str], source: str, mesh: Mesh | None) -> None:
    """Refuse kinds of files that need a mesh where there is none, before the work."""
    from ..plans.writers import check_meshes

    check_meshes(kinds, {source: mesh}, [source])


def write_single(kinds: Sequence[str], source: str, folder: Path, part: Any, nparts: int,
                 mesh: Mesh | None) -> list[str]:
    """Write the files of one component into `folder`, all or none of them; returns their paths."""
    from ..formats.output import file_name
    from ..plans.components import split_region
    from ..plans.folder import write_folder
    from ..plans.writers import Parted, write_parted

    path, region = split_region(source)
    stem = os.path.basename(os.path.normpath(path)).split(".")[0]
    label = stem if region is None else f"{stem}-{region.replace('=', '-')}"
    component = Parted(file_name(label), part, nparts, mesh, {"part": part},
                       source=source)
    made = write_folder(folder, lambda scratch: write_parted(scratch, component, kinds), [("the mesh", path)])
    return [str(file) for file in made]
