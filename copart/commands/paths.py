"""Which options name files that are read, and which name files that are written.

Every command declares its own once, as ``PATHS`` beside its arguments; :func:`guarded` compares them
before the command begins, and lets the writers below know what is read while it runs.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..errors import ConfigError

StrPath = str | os.PathLike[str]
Read = Callable[[Any], Iterable[str]]
Written = Callable[[argparse.Namespace], Iterable[StrPath]]


@dataclass(frozen=True)
class Paths:
    """What the options of a command mean as paths, by the names under which they are kept (``dest``).

    Parameters
    ----------
    reads : mapping of str to callable
        Takes the value of the option, which is not None, and returns the files it names.
    writes : mapping of str to callable
        Takes all arguments and returns the files that are written for this option, also where it is not given and
        has a default; of a folder those whose names do not depend on what is read.
    words : collection of str
        Options that take text which is never a path.
    """

    reads: Mapping[str, Read] = field(default_factory=dict)
    writes: Mapping[str, Written] = field(default_factory=dict)
    words: frozenset[str] = frozenset()

    def __or__(self, other: Paths) -> Paths:
        """The declarations of both."""
        return Paths({**self.reads, **other.reads}, {**self.writes, **other.writes}, self.words | other.words)


def sources(value: Any) -> list[str]:
    """One path or several, each as it is, with or without a region."""
    return [value] if isinstance(value, str) else list(value)


def named_sources(values: Any) -> list[str]:
    """The paths of ``NAME=FILE``; what has no equals sign is none."""
    return [text.rpartition("=")[2] for text in values if "=" in text]


def unless(*words: str) -> Read:
    """A path, unless the value is one of these words (before a colon, if there is one)."""
    return lambda value: [] if value.partition(":")[0] in words else [value]


def given(option: str) -> Written:
    """The file that an option names, where it is given."""
    def files(args: argparse.Namespace) -> list[str]:
        value = getattr(args, option, None)
        return [value] if value else []
    return files


def in_folder(option: str, *names: str) -> Written:
    """Files that are always written into the folder that an option names."""
    def files(args: argparse.Namespace) -> list[str]:
        return [os.path.join(getattr(args, option), name) for name in names]
    return files


@contextmanager
def guarded(declared: Paths, args: argparse.Namespace, parser: argparse.ArgumentParser) -> Iterator[None]:
    """Refuse arguments that would write over what they read; while a command runs, its writers know what it reads.

    Raises
    ------
    ConfigError
        Names the option that writes, the file, and the option that reads; or an option whose name of a file is empty,
        as that of a variable of the shell that is not set.
    """
    called = labels(parser)
    for option in {**declared.reads, **declared.writes}:
        value = getattr(args, option, None)
        if value == "" or (isinstance(value, (list, tuple)) and "" in value):
            raise ConfigError(f"{called.get(option, option)}: the name is empty; is a variable of the shell not set?")
    read = [(called.get(option, option), path) for option, files in declared.reads.items()
            for path in files(getattr(args, option, None) or []) if path]
    written = [(called.get(option, option), path) for option, files in declared.writes.items() if hasattr(args, option)
               for path in files(args)]
    if written:
        _compare(read, written)
        from ..plans.overwriting import reading

        with reading(read):
            yield
    else:
        yield


def _compare(read: list[tuple[str, str]], written: list[tuple[str, StrPath]]) -> None:
    """Refuse a file that is both, or that is written twice."""
    from pathlib import Path

    from ..plans.overwriting import refuse_inputs, same_file

    for i, (option, path) in enumerate(written):
        refuse_inputs([] if os.path.isdir(path) else [Path(path)], read, option)
        for other, second in written[:i]:
            if same_file(path, second):
                raise ConfigError(f"{option}: {path} is also written ({other}); name another one")


def labels(parser: argparse.ArgumentParser) -> dict[str, str]:
    """What options are called in messages, by the names under which they are kept."""
    out = {}
    for action in parser._actions:
        name = action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)
        out[action.dest] = "output" if name == "--output" else name
    return {**out, "behind": out.get("meshes", "behind")}


__all__ = ["Paths", "given", "guarded", "in_folder", "labels", "named_sources", "sources", "unless"]
