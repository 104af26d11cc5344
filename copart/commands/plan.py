"""``copart plan``."""

from __future__ import annotations

import argparse
from typing import Any

from . import options, site, writing
from .console import Console
from .paths import Paths, in_folder

#: The scheme without ``--scheme``, and the one for ``--pool``; as in :mod:`copart.schemes.registry`, which is slow to
#: import.
DEFAULT, POOLED = "joint", "monolithic"
#: What ``--help`` shows; the rest is shown by ``--help-all``.
FIRST_LOOK = ("parts", "total", "coupled", "interedges", "scheme", "scale", "output", "write", "report", "eps", "seed",
              "threads")

FIRST_EXAMPLES = """\
examples:
  copart plan fluid.su2:flowbound solid.su2:feabound --parts 16 4
  copart plan flow.vtu wall-in-mm.vtu --parts 16 8 --scale wall-in-mm=0.001 --report
  copart mesh info case.su2                         shows the names in a file
"""

EPILOG = """\
examples:
  copart plan fluid.vtu solid.msh --parts 16 64
  copart plan case.msh:fluid case.msh:solid --parts 8 24 --scheme aware -o out
  copart plan all.vtu:zone=1 all.vtu:zone=2 --parts 4 4 --interedges touch
  copart plan fluid.su2:flowbound solid.su2:feabound --parts 16 4
  copart plan flow.vtu wall-in-mm.vtu --parts 16 8 --scale wall-in-mm=0.001
  copart plan fluid-case:interface solid.inp --parts 64 16 --write openfoam,precice,pvtu
  copart plan fluid.su2 wall.su2 coolant.su2 --parts 32 4 16
  copart plan fluid.su2 wall.su2 --total 128 --costs times.csv      see copart advise
  copart plan fluid.su2 wall.su2 --total 128 --costs 2e-6,5e-6      seconds per cell
  copart plan four-zones.su2 --parts 24 4 4 4        all zones of one file
  copart plan volumes.msh --only fluid pipe --parts 24 4     two volumes of one file
  copart plan blade.su2:suction_side,pressure_side blade.inp --parts 16 4
  copart plan fluid.su2 wall.su2 --parts 96 32 --coupled-weights area   by what cells overlap
  copart plan fluid.su2 wall.su2 --parts 96 32 --machine topology.conf --nodes "n[1-4]" --slots 32
  copart plan fluid.su2 wall.su2 --parts 96 32 --hierarchy 16:2:4 --placement disjoint
  copart plan fluid.su2 wall.su2 --parts 96 32 --machine torus-nodes.csv --method auto
  copart mesh info case.su2                         shows the names in a file

The folder receives NAME.vtu with the cell arrays part and coupled, NAME.part.K
(one number per line), interedges.mtx (pairs of coupled cells; of more than two
components A-B.interedges.mtx for each pair that meets), coupling.json (who sends
which cells to whom) and metrics.json; with --write also NAME.K.pvtu and its
pieces, NAME.K.msh, NAME.K.openfoam/, NAME.K.aste/ and precice.xml; with --machine
or --hierarchy also launch/ with the files that mpirun, mpiexec and srun read.
"""

EFFECTS = options.COMPONENT_EFFECTS + site.EFFECTS + site.PICTURE_EFFECTS
PATHS = options.COMPONENT_PATHS | site.PATHS | site.PICTURE_PATHS | Paths(
    writes={"output": in_folder("output", "coupling.json", "metrics.json"), **writing.PAGE_PATHS},
    words=frozenset({"write"}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    options.add_components(parser, pool=True)
    options.add_scheme(parser, "--scheme", f"how the components are partitioned: %(choices)s (default {DEFAULT})")
    parser.add_argument("-o", "--output", default="copart-out", metavar="DIR",
                        help="folder to write (default copart-out)")
    writing.add_write(parser)
    parser.add_argument("--into-case", action="store_true",
                        help="also put the decompositions into the OpenFOAM cases themselves, where decomposePar reads "
                             "them; a decomposeParDict that was there is kept as decomposeParDict.before")
    writing.add_pages(parser)
    options.add_safe(parser)
    options.add_partitioning(parser)
    options.add_scheme_options(parser)
    site.add_picture(site.add_machine(parser))


def run(args: argparse.Namespace, console: Console) -> int:
    """Make the plan, write its files, show its figures."""
    from ..plans.plan import plan
    from ..report import component_table, pair_table, step_table
    from ..report.words import rule_words, uncoupled_words
    from .console import first_use
    from .telling import tell_interfaces, tell_placements

    kinds = writing.kinds_with_pages(args)
    if args.into_case:
        from ..plans.cases import check_sources

        check_sources(options.meshes(args))
    where = site.site(args)
    site.need_picture(args, where)
    settings = {"scheme_options": options.scheme_options(args), **_in_pool(args), **options.partitioning(args)}
    meshes = options.meshes(args)
    with console.progress() as progress:
        first_use(progress, "plan", meshes)
        made = plan(*meshes, site=where, output=args.output, write=kinds, progress=progress, **settings)
        into = made.write_into_cases() if args.into_case else []
        files = [*(str(path) for path in (*made.files, *into)), *writing.write_pages(args, made)]
        files += site.write_picture(args, made)
    tell_interfaces(console, made.interfaces, made.remarks)
    if made.advice is not None:
        from ..report.processes import choices_table

        console.table(choices_table(made.advice, "s" if args.costs else "load"))
        for remark in made.advice.remarks:
            console.say(f"note: {remark}")
        console.say()
    console.table(component_table(made.metrics))
    console.say()
    console.table(pair_table(made.metrics))
    console.say()
    console.table(step_table(made.metrics))
    console.say()
    tell_placements(console, made)
    for line in (*rule_words(made.settings["coupled_rule"], made.metrics, made.settings.get("natural")),
                 *uncoupled_words(made.uncoupled_parts, made.copartition.nparts)):
        console.say(line)
    console.say(f"partitioned with {made.settings['scheme']} in {made.seconds:.2f} s{progress.remark}")
    writing.tell_written(console, files)
    console.result({**made.to_dict(), "files": files})
    return 0


def _in_pool(args: argparse.Namespace) -> dict[str, Any]:
    """The scheme and the components, which ``--pool`` stands for as well."""
    from ..errors import ConfigError

    if args.pool is None:
        return {"scheme": args.scheme or DEFAULT, **options.components(args)}
    if args.parts is not None or args.total is not None:
        raise ConfigError("--pool is the number of processes that all components share: leave out --parts and --total")
    if args.scheme not in (None, POOLED):
        raise ConfigError(f"--pool: {args.scheme} gives each component processes of its own, only {POOLED} shares them")
    args.parts = [args.pool]
    return {"scheme": POOLED, **options.components(args)}
