"""``copart replan``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from . import options, site, writing
from .console import Console
from .effects import no_effect
from .numbers import integer, real
from .options import named
from .parsing import listed
from .paths import Paths, in_folder, named_sources, sources

EPILOG = """\
examples:
  copart replan copart-out --load fluid=fluid-load.txt -o next      one whole number per line
  copart replan copart-out --parts 32 8 -o next                     other numbers of parts
  copart replan copart-out --source fluid=new.vtu --load work       loads as a cell array of the meshes
  copart replan next --load fluid=later.txt -o after-next
  copart replan copart-out --parts 96 32 --machine "n[1-4]" --slots 32 -o next     places the new processes

The new folder holds what that of copart plan does, and migration.json: who sends which cells
to whom.  A part keeps its number, which is its process.
"""

EFFECTS = (options.COUNTS_EFFECT, *site.EFFECTS, *site.PICTURE_EFFECTS)
PATHS = site.PATHS | site.PICTURE_PATHS | Paths(
    {"folder": sources, "load": named_sources, "sources": named_sources, "interedges": named_sources},
    {"output": in_folder("output", "coupling.json", "metrics.json", "migration.json"), **writing.PAGE_PATHS},
    frozenset({"write"}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", metavar="DIR", help="output folder of copart plan, or of copart replan")
    parser.add_argument("-o", "--output", default="copart-next", metavar="DIR",
                        help="folder to write (default copart-next)")
    group = parser.add_argument_group("what has changed")
    group.add_argument("--load", action="append", default=[], metavar="NAME=FILE",
                       help="new load of every cell of a component, one whole number per line; or an ARRAY, the cell "
                            "array of the meshes with the load of each cell (default: as before)")
    group.add_argument("--source", dest="sources", action="append", default=[], metavar="NAME=FILE",
                       help="mesh or graph to read a component from, with the same cells (default: the folder's mesh)")
    # what --new-interedges was called before; elsewhere it says how interedges are found
    group.add_argument("--interedges", action="append", default=[], help=argparse.SUPPRESS)
    group.add_argument("--new-interedges", dest="interedges", action="append", default=[], metavar="A,B=FILE",
                       help="new interedges of a pair (.mtx, as in the folder)")
    listed(group.add_argument("--parts", type=integer, nargs="+", metavar="N",
                              help="new numbers of parts, or of a shared pool (default: as before)"))
    listed(group.add_argument("--coupled", type=options.coupled_word, nargs="+", metavar="K",
                              help="parts that may own coupled cells, or paper for floor(N^(2/3)) (default: as before, "
                                   "if they can hold them, else natural counts)"))
    options.add_scheme(parser, "--scheme", "%(choices)s (default: that of the plan)")
    parser.add_argument("--alpha", type=real, default=5.0, metavar="F",
                        help="what a cut edge costs until the next time, beside 1 for a cell that moves (default 5)")
    writing.add_write(parser)
    writing.add_pages(parser)
    options.add_safe(parser)
    options.add_partitioning(parser, eps="that of the plan")
    options.add_scheme_options(parser, again=True)
    site.add_picture(site.add_machine(parser))
    parser.set_defaults(eps=None)


def run(args: argparse.Namespace, console: Console) -> int:
    """Make the new plan, write its files, say what moves."""
    from ..errors import ConfigError
    from ..formats.interedges_file import read_interedges
    from ..plans.output import read_summary
    from ..plans.replan import replan
    from ..report import component_table, pair_table
    from ..report.words import rule_words
    from ..schemes.registry import SCHEMES
    from .console import first_use
    from .telling import tell_placements

    arrays = [text for text in args.load if "=" not in text]
    if len(arrays) > 1:
        raise ConfigError(f"--load: needs one cell array, got {', '.join(arrays)}")
    files = [text for text in args.load if "=" in text]
    loads = {name: _loads(path) for name, path in named("--load", files, str).items()}
    given = [(_pair(names), path) for names, path in named("--new-interedges", args.interedges, str).items()]
    relations = {pair: read_interedges(path) for pair, path in given}
    own = options.scheme_options(args)
    kinds = writing.kinds_with_pages(args)
    where = site.site(args)
    site.need_picture(args, where)
    coupled = _coupled(args.coupled)
    if args.coupled is not None:
        scheme = read_summary(Path(args.folder))["settings"]["scheme"] if args.scheme is None else args.scheme
        if not SCHEMES[scheme].knows_interface:
            raise no_effect(["--coupled"], f"on a plan of {scheme}, which leaves the coupled cells to chance; take "
                                           f"another --scheme")
    with console.progress() as progress:
        first_use(progress, "replan")
        again = replan(args.folder, loads=loads, load=arrays[0] if arrays else None,
                       sources=named("--source", args.sources, str), interedges=relations, parts=args.parts,
                       coupled=coupled, scheme=args.scheme, alpha=args.alpha,
                       price=own.pop("price", None), scheme_options=own or None, output=args.output, write=kinds,
                       site=where, progress=progress, **options.partitioning(args))
        files = [*(str(path) for path in again.plan.files), *writing.write_pages(args, again.plan),
                 *site.write_picture(args, again.plan)]
    made, before = again.plan, again.former
    console.table(component_table(made.metrics))
    console.say()
    console.table(pair_table(made.metrics))
    console.say()
    tell_placements(console, made)
    for name, moves in again.migration.moves.items():
        was, now = before.components[name], made.metrics.components[name]
        console.say(f"{name}: imbalance {was.ub:.1%} -> {now.ub:.1%}, coupled {was.ub_cpl:.1%} -> {now.ub_cpl:.1%}, "
                    f"cut {was.cut} -> {now.cut}; {moves!r}")
    if before.pool_ub is not None and made.metrics.pool_ub is not None:
        console.say(f"shared pool: imbalance {before.pool_ub:.1%} -> {made.metrics.pool_ub:.1%}")
    for line in rule_words(made.settings["coupled_rule"], made.metrics):
        console.say(line)
    console.say(f"repartitioned with {made.settings['scheme']} in {made.seconds:.2f} s")
    writing.tell_written(console, files)
    console.result({**made.to_dict(), "former": before.to_dict(), "migration": migration(again.migration),
                    "files": files})
    return 0


def migration(plan: Any) -> dict[str, Any]:
    """Volume and messages of every component, without the lists."""
    return {"volume": plan.volume, "messages": plan.messages, "components": {
        name: {"cells": len(moves.cells), "volume": int(moves.volume.sum()), "messages": len(moves.source)}
        for name, moves in plan.moves.items()}}


def _coupled(given: list[int | str] | None) -> Any:
    """Numbers, or the word alone."""
    from ..errors import ConfigError

    word = next((one for one in given or () if isinstance(one, str)), None)
    if word is None:
        return given
    if given != [word]:
        raise ConfigError(f"--coupled: needs whole numbers, or {word} alone")
    return word


def _pair(names: str) -> tuple[str, str]:
    from ..errors import ConfigError

    found = names.split(",")
    if len(found) != 2:
        raise ConfigError(f"--new-interedges: needs two names with a comma between, got {names!r}")
    return found[0], found[1]


def _loads(path: str) -> Any:
    """Whole numbers, one per line."""
    from ..formats.text import read_numbers

    numbers = read_numbers(path)
    if (numbers.values < 0).any():
        raise numbers.error("loads must not be negative", token=int((numbers.values < 0).argmax()))
    return numbers.values
