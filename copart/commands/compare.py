"""``copart compare``."""

from __future__ import annotations

import argparse

from . import options, site
from .console import Console
from .effects import Effect
from .numbers import integer
from .parsing import Parser, add_page
from .paths import Paths, given

#: What ``--help`` shows; the rest is shown by ``--help-all``.
FIRST_LOOK = ("parts", "total", "coupled", "interedges", "schemes", "seeds", "scale", "report", "legend", "eps",
              "threads", "preset")

FIRST_EXAMPLES = """\
examples:
  copart compare fluid.vtu solid.msh --parts 16 64 --seeds 5
"""

EPILOG = """\
examples:
  copart compare fluid.vtu solid.msh --parts 16 64 --seeds 5
  copart compare fluid.vtu solid.msh --parts 16 64 --hierarchy 8:2:5     and placed on 5 hosts

Figures are means over the seeds; the best of a column is marked.
"""

EFFECTS = (*options.COMPONENT_EFFECTS, *site.EFFECTS,
           Effect(("legend",), lambda args: not (args.quiet or args.json), "with --quiet or --json"))
#: What is printed with --quiet.
KEPT = "the tables and errors"
PATHS = options.COMPONENT_PATHS | site.PATHS | Paths(
    writes={"picture": given("picture"), "report": given("report")})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    options.add_components(parser)
    options.add_scheme(parser, "--schemes", "which to run: %(choices)s (default: all that apply)", nargs="+")
    if isinstance(parser, Parser):
        parser.elsewhere = {"--seed": "several seeds are compared, 1 to N; give --seeds N"}
    parser.add_argument("--seeds", type=integer, default=5, metavar="N", help="run with seeds 1 to N (default 5)")
    add_page(parser, "picture", "picture.png", "also draw meshes, interface and coupling matrices")
    add_page(parser, "report", "report.html", "also write one page with tables, pictures and charts")
    parser.add_argument("--legend", action="store_true", help="say what each column means")
    options.add_safe(parser)
    options.add_partitioning(parser, seed=False)
    options.add_scheme_options(parser)
    site.add_machine(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Run the schemes and show the table."""
    from ..metrics.columns import comparison_columns, halo_columns, letter_of, paid_columns
    from ..plans.compare import compare
    from ..report import comparison_table, halo_table, paid_table
    from ..report.words import rule_words, some
    from .console import first_use
    from .telling import tell_interfaces

    if args.picture:
        from ..report.pictures import need_matplotlib

        need_matplotlib(args.picture)
    if args.report:
        from ..report.page import need_page

        need_page(args.report)
    settings = {"scheme_options": options.scheme_options(args), **options.components(args),
                **options.partitioning(args)}
    meshes, where = options.meshes(args), site.site(args)
    with console.progress() as progress:
        first_use(progress, "compare", meshes)
        made = compare(*meshes, schemes=args.schemes, seeds=args.seeds, site=where, progress=progress, **settings)
        if args.picture:
            from ..report.ordering import best_shown
            from ..report.pictures import draw_coupled

            progress("drawing")
            draw_coupled(args.picture, made.problem, made.placed(), made.copartitions,
                         best_shown(made.copartitions))
        if args.report:
            progress("writing the report")
            made.report(args.report)
    parts = made.settings["parts"]
    sizes = [f"{letter_of(i).upper()} = {name}" + (f" in {some(parts[i], 'part')}" if len(parts) > 1 else "")
             for i, name in enumerate(made.problem.names)]
    pool = [some(parts[0], "process")] if len(parts) == 1 else []
    title = ", ".join([*sizes, *pool, f"mean of {args.seeds} seeds" if args.seeds > 1 else "one seed"])
    tell_interfaces(console, made.interfaces, made.remarks)
    console.table(comparison_table(made.rows(), title), result=True)
    console.say()
    console.table(paid_table(made.rows(), made.cost), result=True)
    for line in rule_words(made.settings["coupled_rule"]):
        console.say(line)
    console.say()
    console.table(halo_table(made.rows()), result=True)
    if made.placements:
        from ..report.placement import placement_table, route_table

        console.say()
        console.table(placement_table(made.placements), result=True)
        routes = route_table(made.placements)
        if routes is not None:
            console.say()
            console.table(routes, result=True)
    if args.legend:
        console.say()
        rows = made.rows()
        for column in (*comparison_columns(rows), *paid_columns(rows), *halo_columns(rows)):
            console.say(f"{column.title:<12} {column.meaning}")
    if args.picture:
        console.say(f"wrote {args.picture}")
    if args.report:
        console.say(f"wrote {args.report}")
    console.result(made.to_dict())
    return 0
