"""``--write``: the files for solvers, couplers and viewers that a command makes beside its own."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError
from .console import Console
from .parsing import PAGES, add_page, listed
from .paths import Written

if TYPE_CHECKING:
    from ..mesh import Mesh
    from ..plans.plan import Plan

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


def add_pages(parser: argparse.ArgumentParser) -> None:
    """``--picture [FILE]`` and ``--report [FILE]`` of a plan."""
    add_page(parser, "picture", True, "also draw parts and interface with matplotlib (copart[plot])")
    add_page(parser, "report", True, "also write one page with all of it")


def _page_file(option: str) -> Written:
    """The file of such an option, in the folder of the plan or where it was asked for."""
    def files(args: argparse.Namespace) -> list[str]:
        value = getattr(args, option)
        return [os.path.join(args.output, PAGES[option]) if value is True else value] if value else []
    return files


#: What the options of :func:`add_pages` write.
PAGE_PATHS: dict[str, Written] = {option: _page_file(option) for option in PAGES}


def kinds_with_pages(args: argparse.Namespace) -> str | None:
    """``--write`` with the pages that go into the folder; those with files of their own are refused before the work.

    Raises
    ------
    ConfigError
        A page cannot be written where it is to be.
    """
    for page, name in PAGES.items():
        given, own = getattr(args, page), os.path.join(args.output or "", name)
        if isinstance(given, str) and args.output and os.path.realpath(given) == os.path.realpath(own):
            # one of the files of the plan, which goes with it
            setattr(args, page, True)
    if isinstance(args.report, str):
        from ..report.page import need_page

        need_page(args.report)
    if isinstance(args.picture, str):
        from ..report.pictures import need_matplotlib

        need_matplotlib(args.picture)
    pages = [page for page in PAGES if getattr(args, page) is True]
    return ",".join([*([args.write] if args.write else []), *pages]) or args.write


def write_pages(args: argparse.Namespace, plan: Plan) -> list[str]:
    """Write the pages that have files of their own; returns their paths."""
    return [str(getattr(plan, page)(getattr(args, page))) for page in PAGES if isinstance(getattr(args, page), str)]


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


def write_single(kinds: Sequence[str], source: str, output: Path, part: Any, nparts: int,
                 mesh: Mesh | None) -> list[str]:
    """Write the files of one component beside `output`, the file of the parts, all or none; returns their paths."""
    from ..formats.output import file_name
    from ..plans.folder import write_folder
    from ..plans.overwriting import same_file
    from ..plans.sources import split_region
    from ..plans.writers import Parted, write_parted

    path, region = split_region(source)
    stem = os.path.basename(os.path.normpath(path)).split(".")[0]
    label = stem if region is None else f"{stem}-{region.replace('=', '-')}"
    component = Parted(file_name(label), part, nparts, mesh, {"part": part},
                       source=source)

    def write(scratch: Path) -> list[str]:
        names = write_parted(scratch, component, kinds)
        if any(same_file(output.parent / name, output) for name in names):
            raise ConfigError(f"output: {output} is also the name of a file of --write {','.join(kinds)}; name another "
                              f"one")
        return names

    made = write_folder(output.parent, write, [("the mesh", path)])
    return [str(file) for file in made]
