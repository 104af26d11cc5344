"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, get_args

from ..names import ExchangeObjective
from .effects import Effect, Effects, needs
from .numbers import integer, real, tolerance
from .parsing import listed
from .paths import Paths, sources

if TYPE_CHECKING:
    from ..plans.requests import Meeting, Sharing

#: What the options of :func:`add_meeting` and :func:`add_components` mean as paths.
MEETING_PATHS = Paths(words=frozenset({"scale", "shift", "periodic"}))
COMPONENT_PATHS = MEETING_PATHS | Paths(dict.fromkeys(("meshes", "behind", "costs"), sources),
                                        words=frozenset({"parts", "coupled", "load", "coupled_weights", "names",
                                                         "only"}))


def _knows_interface(args: argparse.Namespace) -> bool:
    """Does a scheme that is run take counts of coupled parts?"""
    from ..schemes.registry import SCHEMES

    if getattr(args, "pool", None) is not None:
        return SCHEMES["monolithic"].knows_interface
    names = getattr(args, "schemes", None) or ([args.scheme] if getattr(args, "scheme", None) else SCHEMES)
    return any(SCHEMES[name].knows_interface for name in names)


def _only_pools(args: Any) -> bool:
    """Whether all schemes are of those that share a pool of processes."""
    from ..schemes.registry import SCHEMES

    names = getattr(args, "schemes", None) or ([args.scheme] if getattr(args, "scheme", None) else [])
    return bool(names) and all(SCHEMES[name].shares_pool for name in names)


#: The schemes alone decide how many parts own coupled cells.
COUNTS_EFFECT = Effect(("coupled", "interface"), _knows_interface,
                       "with schemes that leave the coupled cells to chance (naive, multiconstraint, monolithic); take "
                       "another scheme")
COMPONENT_EFFECTS: Effects = (
    needs(("costs", "serial"), "total"),
    Effect(("costs", "serial"), lambda args: not _only_pools(args),
           "on a pool that all components share; give cells loads that say what they cost (--load)"),
    Effect(("several",), lambda args: args.interedges != "overlap", "with --interedges overlap, of all cells"),
    Effect(("interface",), lambda args: args.coupled is None, "beside --coupled, which says how many; leave one out"),
    COUNTS_EFFECT)


def add_partitioning(parser: argparse.ArgumentParser, *, seed: bool = True, eps: str = "0.05") -> None:
    """``--eps --seed --threads --preset``."""
    group = parser.add_argument_group("partitioning")
    group.add_argument("--eps", type=tolerance, default=0.05, metavar="F",
                       help="imbalance allowed, as a fraction or in per cent: 0.05 or 5%% "
                            f"(default {eps})")
    if seed:
        group.add_argument("--seed", type=integer, default=1, metavar="N", help="same seed, same result (default 1)")
    group.add_argument("--threads", type=integer, default=1, metavar="N",
                       help="threads to use; the result does not depend on it (default 1)")
    group.add_argument("--preset", choices=["fast", "default", "strong", "best"], default="default",
                       help="time against quality (default: default)")


def partitioning(args: argparse.Namespace) -> dict[str, Any]:
    """The options of :func:`add_partitioning` that were given or have a default, as keyword arguments."""
    names = ("eps", "seed", "threads", "preset")
    return {name: getattr(args, name) for name in names if getattr(args, name, None) is not None}


def add_output(parser: argparse.ArgumentParser, kept: str = "errors") -> None:
    """``-q -v --json``; `kept` is what is printed with the first."""
    group = parser.add_argument_group("output")
    group.add_argument("-q", "--quiet", action="store_true", help=f"print nothing but {kept}")
    group.add_argument("-v", "--verbose", action="count", default=0, help="say what happens; twice for more")
    group.add_argument("--json", action="store_true", help="print the result as JSON")


def add_safe(parser: argparse.ArgumentParser) -> None:
    """``--safe``, of commands that read meshes."""
    parser.add_argument("--safe", action="store_true", help="read mesh files in processes of their own, each within "
                        "300 seconds and 8 GB: for files of unknown origin")


def safety(args: argparse.Namespace) -> AbstractContextManager[None]:
    """What ``--safe`` asks for, while a command runs."""
    if not getattr(args, "safe", False):
        return nullcontext()
    from ..mesh.readers.safely import reading_safely

    return reading_safely()


class _HelpAll(argparse.Action):
    """``--help-all``: every option, where ``--help`` shows those of a first look."""

    def __init__(self, option_strings: Sequence[str], dest: str, shown: dict[argparse.Action, str | None],
                 described: dict[Any, str | None], epilog: str | None, **rest: Any):
        super().__init__(option_strings, dest, nargs=0, **rest)
        self.shown, self.described, self.epilog = shown, described, epilog

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option: str | None = None) -> None:
        """Show everything."""
        for action, text in self.shown.items():
            action.help = text
        for group, text in self.described.items():
            group.description = text
        parser.epilog = self.epilog
        parser.print_help()
        parser.exit()


def offered(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The options that ``--help-all`` shows; former spellings are understood, but shown nowhere."""
    shown = next((action.shown for action in parser._actions if isinstance(action, _HelpAll)), {})
    return [action for action in parser._actions if shown.get(action, action.help) != argparse.SUPPRESS]


def shorten_help(parser: argparse.ArgumentParser, first_look: Sequence[str], examples: str) -> None:
    """Let ``--help`` show the options in `first_look` and these examples only, and ``--help-all`` everything.

    Parameters
    ----------
    first_look : sequence of str
        Names under which the options are kept (``dest``); positional arguments are always shown.
    examples : str
        Shown below the options.
    """
    hidden = {action: action.help for action in parser._actions
              if action.option_strings and action.dest not in (*first_look, "help")}
    groups = {group: group.description for group in parser._action_groups
              if set(group._group_actions) <= set(hidden)}
    parser.add_argument("--help-all", action=_HelpAll, shown=hidden, described=groups, epilog=parser.epilog,
                        help=f"show the other {len(hidden)} options, too")
    for action in hidden:
        action.help = argparse.SUPPRESS
    for group in groups:
        group.description = None
    parser.epilog = examples


class _Schemes:
    """The names of the schemes, looked up when they are needed so that the parser stays light."""

    def __iter__(self) -> Iterator[str]:
        from ..schemes.registry import SCHEMES

        return iter(SCHEMES)

    def __contains__(self, name: object) -> bool:
        return name in list(self)


def add_scheme(parser: argparse.ArgumentParser, flag: str, text: str, **more: Any) -> None:
    """An option that takes names of schemes; `text` may hold %(choices)s."""
    made = parser.add_argument(flag, choices=_Schemes(), metavar="SCHEME", help=text, **more)
    if made.nargs is not None:
        listed(made, r"[a-z]+(,[a-z]+)*,?")


def add_scheme_options(parser: argparse.ArgumentParser, *, again: bool = False) -> None:
    """What single schemes know; with `again` only what they take when they are run again."""
    group = parser.add_argument_group("options of single schemes")
    listed(group.add_argument(
        "--price", type=real, nargs="+", metavar="COST",
        help="joint: what a cut edge, a datum sent and a message cost (default 1 16 120)"
             + ("" if again else "; two more numbers: data and messages of the busiest process")))
    if not again:
        group.add_argument("--directions", choices=["forward", "both"],
                           help="joint: whose data count, from the first of each two components to the second "
                                "(default), or both ways")
        group.add_argument("--fix", choices=["hard", "soft"],
                           help="joint: soft anneals the coupled cells once more in the refined components")
        group.add_argument("--objective", choices=get_args(ExchangeObjective),
                           help="any scheme but monolithic: cells that are not coupled are laid out anew, "
                                "such that the parts of a component send little to one another: data in all, from the "
                                "part that sends most, or messages of either")
    group.add_argument("--balance", choices=["total", "each"],
                       help="monolithic: what is balanced over the pool, the load of all components together (default) "
                            "or that of each")


def scheme_options(args: argparse.Namespace) -> dict[str, Any]:
    """The options of :func:`add_scheme_options` that were given."""
    names = ("price", "directions", "fix", "balance", "objective")
    return {name: getattr(args, name) for name in names if getattr(args, name, None) is not None}


#: Words that are whole numbers: what follows them are components.
COUNTS = r"-?\d+(,-?\d+)*,?"
#: The word that stands for the rule of the source instead of numbers of coupled parts.
PAPER = "paper"


def coupled_word(word: str) -> int | str:
    """A number of coupled parts, or the word for the rule of the source."""
    if word == PAPER:
        return word
    if word.isalpha():
        raise argparse.ArgumentTypeError(f"needs whole numbers or {PAPER}, got {word[:40]!r}")
    return integer(word)


class _WholeNumbers(argparse.Action):
    """Whole numbers; what follows them is taken for components, so that these may stand behind."""

    wanted = "whole numbers"

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option: str | None = None) -> None:
        """Split the words."""
        words = list(values)
        n = next((i for i, word in enumerate(words) if not word.lstrip("-").isdecimal()), len(words))
        if n == 0:
            parser.error(f"argument {option}: needs {self.wanted}, got {words[0]!r}")
        try:
            setattr(namespace, self.dest, [integer(word) for word in words[:n]])
        except argparse.ArgumentTypeError as error:
            parser.error(f"argument {option}: {error}")
        namespace.behind = [*namespace.behind, *words[n:]]


class _CoupledCounts(_WholeNumbers):
    """Whole numbers or the word for the rule of the source, with components behind."""

    wanted = f"whole numbers or {PAPER}"

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option: str | None = None) -> None:
        """Split the words."""
        counts = [word for word in values if word == PAPER or word.lstrip("-").isdecimal()]
        if PAPER in counts and len(counts) > 1:
            parser.error(f"argument {option}: needs whole numbers, or {PAPER} alone")
        if values[0] != PAPER:
            super().__call__(parser, namespace, values, option)
            return
        setattr(namespace, self.dest, PAPER)
        namespace.behind = [*namespace.behind, *values[1:]]


def add_components(parser: argparse.ArgumentParser, *, pool: bool = False) -> None:
    """The components, their numbers of parts or what to share out, and how to find the interedges."""
    parser.add_argument("meshes", metavar="A B", nargs="*", help="mesh files or OpenFOAM cases, two or more; "
                        "FILE:NAME or FILE:ARRAY=VALUE for one region of it, or the boundary where it is coupled; "
                        "FILE:REGION:BOUNDARY for both, FILE:A,B for several at once, FILE:A* for all that fit; "
                        "one file alone stands for all its zones, regions, volumes, blocks or element sets")
    # components that stand behind counts
    parser.set_defaults(behind=[])
    group = parser.add_argument_group("coupling")
    # a comma between two makes one component of them
    group.add_argument("--only", nargs="+", metavar="NAME", help="of one file, these of its zones or regions, as mesh "
                       "info lists them (the same as FILE:NAME for each)")
    listed(group.add_argument("--parts", nargs="+", action=_WholeNumbers, metavar="N",
                              help="parts of each component, in order (with --scheme monolithic also the size of the "
                                   "pool)"), COUNTS)
    group.add_argument("--total", type=integer, metavar="N", help="processes in all, instead of --parts: shared out so "
                       "that the slowest component is as fast as can be (see copart advise)")
    if pool:
        group.add_argument("--pool", type=integer, metavar="N", help="processes that all components share, one after "
                           "the other, as in multi-region solvers: --scheme monolithic; see --balance each")
    listed(group.add_argument("--costs", metavar="COSTS",
                              help="with --total: a table of measured times or of costs (.csv), or what a unit of load "
                                   "costs in each component, as numbers (default: the same)"))
    group.add_argument("--serial", action="store_true",
                       help="with --total: components compute one after the other, not at once")
    listed(group.add_argument("--coupled", nargs="+", action=_CoupledCounts, metavar="K",
                              help="parts of each that may own coupled cells, or paper for floor(N^(2/3)), as for a "
                                   "cube's face (default: natural counts, as many as the interface meets where each "
                                   "component is partitioned alone)"), COUNTS)
    group.add_argument("--interface", choices=["spread", "gather", "uncut"], default="spread",
                       help="without --coupled: spread coupled cells over natural counts of parts (default), gather "
                            "them in as few parts as can hold them, or leave the interface of each two components "
                            "uncut where it fits")
    group.add_argument("--contiguous", action="store_true",
                       help="every part connected as far as the mesh is; coupled cells move where they have to")
    add_meeting(group)
    group.add_argument("--load", metavar="ARRAY", help="cell array with the load of each cell (default: 1 each)")
    add_coupled_weights(group)
    listed(group.add_argument("--names", nargs="+", metavar="NAME", help="names of the components in the output"),
           "[^-].*")


def meshes(args: argparse.Namespace) -> list[str]:
    """The components as given, before or behind the counts; with ``--only`` those of one file."""
    given = [*args.meshes, *args.behind]
    if not args.only:
        return given
    if len(given) != 1:
        from ..errors import ConfigError

        raise ConfigError(f"--only: names zones or regions of one file, got {len(given)} files before it")
    twice = next((name for name in args.only if args.only.count(name) > 1), None)
    if twice is not None:
        from ..errors import ConfigError

        raise ConfigError(f"--only: names {twice} twice")
    return [f"{given[0]}:{name}" for name in args.only]


def components(args: argparse.Namespace) -> dict[str, Any]:
    """The options of :func:`add_components` as keyword arguments of ``plan`` and ``compare``."""
    from ..errors import ConfigError

    if args.parts is None and args.total is None:
        raise ConfigError("needs --parts, or --total for processes to share out")
    return {"parts": args.parts, "total": _total(args), "coupled": args.coupled, "interface": args.interface,
            "contiguous": args.contiguous, "load": args.load, "coupled_weights": args.coupled_weights,
            "names": args.names, "interedges": args.interedges, "meeting": meeting(args)}


def add_coupled_weights(group: argparse._ArgumentGroup) -> None:
    """``--coupled-weights``."""
    group.add_argument("--coupled-weights", metavar="ARRAY",
                       help="work of each cell in a coupling phase: a cell array, or area (how much of others it "
                            "overlaps) or partners (how many) (default: its load)")


def _total(args: argparse.Namespace) -> Sharing | None:
    """``--total``, ``--costs`` and ``--serial``."""
    from ..errors import ConfigError
    from ..plans.requests import Sharing

    if args.total is None:
        return None
    costs: Any = args.costs
    if costs is not None and not os.path.exists(costs):
        try:
            costs = [float(word) for word in costs.split(",")]
        except ValueError:
            raise ConfigError(f"--costs: is no file, nor numbers with commas between: {costs!r}") from None
    return Sharing(args.total, costs, "serial" if args.serial else "concurrent")


def add_meeting(group: argparse._ArgumentGroup) -> None:
    """How the interedges are found, and where components are put first."""
    group.add_argument("--interedges", choices=["facet", "touch", "overlap"], default="facet",
                       help="which cells are coupled: boundary facets overlap (default), the cells share at least a "
                            "point, or they cover the same space")
    group.add_argument("--tolerance", type=real, metavar="F",
                       help="largest gap between the two surfaces, as a fraction of the facet size (default 0.1)")
    group.add_argument("--gap", type=real, metavar="LENGTH", help="the same in the unit of the coordinates")
    group.add_argument("--scale", action="append", default=[], metavar="NAME=F",
                       help="multiply the coordinates of a component first: 0.001 for millimetres against metres; "
                            "components are named, or meant by a, b, c in their order")
    group.add_argument("--shift", action="append", default=[], metavar="NAME=DX,DY,DZ", help="then move it")
    group.add_argument("--periodic", action="append", default=[], metavar="NAME=DX,DY,DZ",
                       help="it is repeated periodically, at every multiple of this vector, forward and back")
    group.add_argument("--several", action="store_true",
                       help="couple all surfaces that match, where there are several and none is named")
    group.add_argument("--max-interedges", type=integer, metavar="N",
                       help="keep at most the N heaviest interedges of a cell")


def meeting(args: argparse.Namespace) -> Meeting:
    """The options of :func:`add_meeting` but the kind of interedges."""
    from ..plans.requests import Meeting

    return Meeting(args.tolerance, args.gap, named("--scale", args.scale, float), named("--shift", args.shift, _vector),
                   named("--periodic", args.periodic, _vector), args.several, args.max_interedges)


def named(option: str, given: Sequence[str], read: Callable[[str], Any]) -> dict[str, Any]:
    """The values of an option ``NAME=VALUE`` that may be repeated, by name.

    Raises
    ------
    ConfigError
        There is no name, or the value cannot be read.
    """
    from ..errors import ConfigError

    out = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        if name in out:
            raise ConfigError(f"{option}: is given twice for {name}")
        try:
            out[name] = read(value)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise ConfigError(f"{option}: needs NAME=VALUE, got {text!r}")
    return out


def _vector(text: str) -> list[float]:
    return [float(word) for word in text.split(",")]
