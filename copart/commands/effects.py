"""Options that only mean something beside others: where these are missing, the command says so and stops.

Every command declares its own once, as ``EFFECTS`` beside its arguments; :func:`refuse_idle` compares them with what
was written on the line, before the command begins. What depends on the content of files is refused where they are read.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .paths import labels

if TYPE_CHECKING:
    from ..errors import ConfigError


@dataclass(frozen=True)
class Effect:
    """When options have an effect.

    Parameters
    ----------
    options : tuple of str
        The names under which they are kept (``dest``).
    when : callable
        Takes all arguments: do these options mean something?
    missing : str
        Stands behind "has no effect": what would give them one.
    """

    options: tuple[str, ...]
    when: Callable[[argparse.Namespace], bool]
    missing: str


Effects = tuple[Effect, ...]


def needs(options: Sequence[str], *others: str) -> Effect:
    """These options need one of the others, which have no value where they are not given."""
    words = " or ".join("--" + ("machine" if other == "source" else other.replace("_", "-")) for other in others)
    return Effect(tuple(options), lambda args: any(getattr(args, other) is not None for other in others),
                  f"without {words}")


def refuse_idle(declared: Effects, args: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Refuse options that were given and mean nothing beside the others.

    Raises
    ------
    ConfigError
        Names the options, and what is missing or in the way.
    """
    called = labels(parser)
    for effect in (*declared, _VERBOSE):
        idle = [option for option in called if option in args.given and option in effect.options]
        if idle and not effect.when(args):
            raise no_effect([called[option] for option in idle], effect.missing)


def no_effect(options: Sequence[str], missing: str) -> ConfigError:
    """The error that these options, as they are typed, mean nothing here."""
    from ..errors import ConfigError

    have = "has" if len(options) == 1 else "have"
    return ConfigError(f"{', '.join(options)}: {have} no effect {missing}")


_VERBOSE = Effect(("verbose",), lambda args: not args.quiet, "with --quiet")

__all__ = ["Effect", "Effects", "needs", "no_effect", "refuse_idle"]
