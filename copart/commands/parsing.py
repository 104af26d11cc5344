"""How words of the command line become arguments: near misses are named, and lists take commas and spaces alike."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from ..errors import did_you_mean
from .console import complain

#: A word that is a number, or several with commas between.
NUMBERS = r"[-+]?[\d.][\d.eE+-]*(,[-+]?[\d.][\d.eE+-]*)*,?"


def listed(action: argparse.Action, pattern: str = NUMBERS) -> argparse.Action:
    """Let an option take a list with commas, spaces or both, in as many words as match `pattern` from its first on.

    Options of several values get one each, others the values with commas between.
    """
    action.listed = re.compile(pattern)  # type: ignore[attr-defined]
    return action


def add_page(parser: argparse.ArgumentParser, option: str, default: str | bool, text: str) -> None:
    """``--report [FILE]`` or ``--picture [FILE]``.

    Parameters
    ----------
    default : str or bool
        What stands for the file where none is named; True for the usual place in the output folder.
    text : str
        What it is for; where it goes is added.
    """
    usual = f"in DIR ({PAGES[option]})" if default is True else default
    action = parser.add_argument(f"--{option}", nargs="?", const=default, metavar="FILE",
                                 help=f"{text} ({'.html' if option == 'report' else '.png, .pdf or .svg'}; default "
                                      f"{usual})")
    action.names_page = True  # type: ignore[attr-defined]


#: Where pages of a plan are in its folder; as in :mod:`copart.plans.writers`, which is slow to import.
PAGES = {"picture": "plan.png", "report": "report.html"}
_PAGE = re.compile(r".*\.(html?|png|pdf|svgz?|jpe?g|e?ps|tiff?|webp)", re.IGNORECASE)


def _is_page(word: str) -> bool:
    """Does the word behind such an option name its file, or something that is read?"""
    return not word.startswith("-") and (_PAGE.fullmatch(word) is not None
                                         or not os.path.exists(word.partition(":")[0]))


class Parser(argparse.ArgumentParser):
    """Reports a wrong argument in one line with what may have been meant, and knows which options were written.

    It takes -1e-3 for a number as later versions of argparse do.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._negative_number_matcher = re.compile(r"-(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$", re.IGNORECASE)
        #: Options of other commands that would be taken for the beginning of another one here, and what to do instead.
        self.elsewhere: dict[str, str] = {}

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does it; what is left over is an error of the command that was named."""
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            last = chosen(self, found)
            known = [option for action in last._actions for option in action.option_strings]
            word = rest[0].partition("=")[0]
            if word in known:
                last.error(f"{word}: options go after the command, as in {last.prog} {word}")
            last.error(f"unrecognized arguments: {' '.join(rest)}"
                       + (did_you_mean(word, known) if word.startswith("-") else ""))
        return found

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """As argparse does it; ``given`` holds the names of the options that were written."""
        self._given: set[str] = set()
        for word in args or ():
            if (option := str(word).partition("=")[0]) in self.elsewhere:
                self.error(f"{option}: {self.elsewhere[option]}")
        words = None if args is None else self._spread(list(args))
        found, rest = super().parse_known_args(words, namespace)
        found.given = frozenset(self._given) | getattr(found, "given", frozenset())
        return found, rest

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if action.option_strings:
            self._given.add(action.dest)
        return super()._get_values(action, arg_strings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            raise argparse.ArgumentError(action, f"invalid choice: {value!r} (choose from {', '.join(known)})"
                                         + did_you_mean(str(value), known))

    def _spread(self, words: list[str]) -> list[str]:
        """The words with every list as its option takes it: a word per value, or one with commas."""
        out: list[str] = []
        # what has no file of its own goes last, where it takes nothing that is meant for others
        bare: list[str] = []
        earlier: dict[str, list[str]] = {}
        i = 0
        while i < len(words):
            word, i = words[i], i + 1
            option, equals, value = word.partition("=")
            action = self._called(option)
            pattern = getattr(action, "listed", None)
            if word == "--":
                return [*out, *bare, word, *words[i:]]
            if hasattr(action, "names_page") and not equals:
                if i < len(words) and _is_page(words[i]):
                    out.append(f"{option}={words[i]}")
                    i += 1
                else:
                    bare.append(option)
                continue
            if action is None or pattern is None:
                out.append(word)
                continue
            values = [value] if equals else []
            while not equals and i < len(words) and (self._called(words[i].partition("=")[0]) is None
                                                     and pattern.fullmatch(words[i])):
                values.append(words[i])
                i += 1
            if not values:
                out.append(word)
            elif action.nargs is None:
                # given again, it adds to the list
                values = [*earlier.get(action.dest, []), *(one.strip(",") for one in values)]
                earlier[action.dest] = values
                out.append(f"{option}={','.join(values)}")
            else:
                out += [option, *(part for one in values for part in one.split(",") if part)]
        return out + bare

    def _called(self, option: str) -> argparse.Action | None:
        """The option of this name, or of the only one that begins so."""
        known = self._option_string_actions
        if option in known or not option.startswith("--") or len(option) < 3:
            return known.get(option)
        found = {id(action): action for name, action in known.items() if name.startswith(option)}
        return next(iter(found.values())) if len(found) == 1 else None

    def error(self, message: str) -> NoReturn:
        """One line on stderr, and exit status 2."""
        complain(self.prog, f"{message} (see {self.prog} --help)")
        raise SystemExit(2)


def chosen(parser: argparse.ArgumentParser, args: argparse.Namespace) -> argparse.ArgumentParser:
    """The parser of the command, or of the command's own command, that read these arguments."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            name = getattr(args, action.dest, None)
            return parser if name is None else chosen(action.choices[name], args)
    return parser


def where_told(message: str, parser: argparse.ArgumentParser | None) -> str:
    """Where an option that a message is about is described, as errors of the parser end; empty where it is of none.

    Examples
    --------
    >>> one = Parser(prog="copart plan")
    >>> _ = one.add_argument("--parts")
    >>> where_told("parts: needs two integers, one for each component, got [3]", one)
    ' (see copart plan --help)'
    >>> where_told("a.msh: is missing", one)
    ''
    """
    # of files and streams the options say nothing more
    if parser is None or parser.prog in message or message.startswith("standard") or message.endswith("another one"):
        return ""
    about = re.match(r"[a-z][a-z_-]*(?=:|, [a-z_-]+:)", message)
    named = set(re.findall(r"--[a-z][a-z-]*", message))
    if about:
        named.add("--" + about[0].replace("_", "-"))
    known = {option for action in parser._actions for option in action.option_strings}
    return f" (see {parser.prog} --help)" if named & known else ""


def with_help(words: Sequence[str]) -> list[str]:
    """``help plan`` as ``plan --help``, no words at all as ``--help``."""
    if words and words[0] == "help":
        return [*words[1:], "--help"]
    return list(words) or ["--help"]


__all__ = ["NUMBERS", "PAGES", "Parser", "add_page", "chosen", "listed", "where_told", "with_help"]
