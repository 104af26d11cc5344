"""The command line: one subcommand a job, light until a job is chosen.

Exit status: 0 done, 1 ``copart check`` found something wrong, 2 bad input or
arguments (one line on stderr says what; also an error of copart itself), 130 interrupted.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

from . import __version__
from .commands import (
    advise,
    check,
    compare,
    completion,
    doctor,
    grid,
    machine,
    map,
    mesh,
    part,
    plan,
    ranks,
    repart,
    replan,
)
from .commands.console import Console, complain, drop_output, print_anything
from .commands.effects import refuse_idle
from .commands.interrupts import heeded
from .commands.options import add_output, safety, shorten_help
from .commands.parsing import Parser, chosen, where_told, with_help
from .commands.paths import guarded
from .errors import ConfigError, CopartError

COMMANDS = {
    "plan": (plan, "co-partition coupled meshes and write everything a coupled run needs"),
    "advise": (advise, "choose how many processes each component gets"),
    "compare": (compare, "run every scheme over several seeds and show one table"),
    "part": (part, "partition one graph or mesh"),
    "repart": (repart, "repartition from M to N parts with little migration"),
    "replan": (replan, "repartition a plan whose loads, counts or interedges have changed"),
    "check": (check, "verify partitions made by anyone"),
    "grid": (grid, "give the processes of a Cartesian grid positions near one another"),
    "ranks": (ranks, "number the ranks of an MPI job anew so that those who talk share a node"),
    "machine": (machine, "tell what a description of a machine says"),
    "map": (map, "map a graph onto the processors of a machine"),
    "mesh": (mesh, "list what a mesh file holds, or generate a mesh"),
    "doctor": (doctor, "show versions, threads, kernel cache and MPI"),
    "completion": (completion, "print what a shell needs to complete commands and options"),
}


def parser() -> argparse.ArgumentParser:
    """The parser of all subcommands."""
    out = Parser(prog="copart", description="Partition coupled simulations with one another in view.",
                 epilog="copart help COMMAND, or copart COMMAND --help, shows what a command takes")
    out.add_argument("--version", action="version", version=f"copart {__version__}")
    commands = out.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    # for the command that tells shells about all of them
    out.set_defaults(parser=out)
    for name, (module, what) in COMMANDS.items():
        sub = commands.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".", epilog=module.EPILOG,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
        # a command with commands of its own says where its options belong
        for target in module.add_arguments(sub) or [sub]:
            add_output(target, getattr(module, "KEPT", "errors"))
        if hasattr(module, "FIRST_LOOK"):
            shorten_help(sub, module.FIRST_LOOK, module.FIRST_EXAMPLES)
    return out


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status (wrong arguments raise ``SystemExit(2)``).

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments without the program's name; ``sys.argv[1:]`` where not given.
    """
    command, verbose, reader = "copart", 0, None
    log = logging.getLogger("copart")
    former = log.level
    try:
        print_anything()
        made = parser()
        args = made.parse_args(with_help(sys.argv[1:] if argv is None else argv))
        reader = chosen(made, args)
        command, verbose = f"copart {args.command}", args.verbose
        level = [logging.WARNING, logging.INFO, logging.DEBUG][min(verbose, 2)]
        logging.basicConfig(level=level, format="%(message)s", stream=sys.stderr)
        log.setLevel(logging.ERROR if args.quiet else level)
        if sys.stdout is None and (args.json or not args.quiet):
            raise ConfigError("standard output: is closed, nothing could be shown; open it, or ask for --quiet")
        module = COMMANDS[args.command][0]
        with heeded(), guarded(module.PATHS, args, reader), safety(args):
            refuse_idle(module.EFFECTS, args, reader)
            status: int = module.run(args, Console(args.quiet, args.json))
        tell_compiling(verbose)
        if sys.stdout is not None:
            # what cannot be written is said here and not when the interpreter ends
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        # the reader of our output left; what is still buffered has no place to go
        drop_output()
        return 0
    except (CopartError, OSError) as error:
        tell_traceback(verbose)
        if sys.stdout is not None and isinstance(error, OSError):
            drop_output()
        complain(command, str(error) + (where_told(str(error), reader) if isinstance(error, ConfigError) else ""))
        return 2
    except MemoryError:
        complain(command, "not enough memory")
        return 2
    except KeyboardInterrupt:
        complain(command, "interrupted")
        return 130
    except Exception as error:  # whatever no check at the border has caught
        tell_traceback(verbose)
        complain(command, f"unexpected {type(error).__name__}: {error}; please report this, with what -vv shows")
        return 2
    finally:
        # a program that calls us in its own process keeps its remarks
        log.setLevel(former)


def tell_compiling(verbose: int) -> None:
    """The time that went into compiling kernels in this process, for those who ask for more."""
    if verbose and f"{__package__}.kernels.clock" in sys.modules:
        from .kernels.clock import CLOCK

        if CLOCK.kernels:
            logging.getLogger(__name__).info("compiled %d kernels in %.1f s, not part of other times", CLOCK.kernels,
                                             CLOCK.seconds)


def tell_traceback(verbose: int) -> None:
    """Where an error comes from, for those who ask twice for more."""
    if verbose > 1:
        logging.getLogger(__name__).debug("", exc_info=True)


__all__ = ["COMMANDS", "main", "parser"]
