"""``copart completion``: what a shell needs to complete commands, options and their choices, made from the parsers."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator

from .console import Console
from .options import offered
from .paths import Paths

EPILOG = """\
examples:
  source <(copart completion bash)                                  in ~/.bashrc
  source <(copart completion zsh)                                   in ~/.zshrc, after compinit
  copart completion fish > ~/.config/fish/completions/copart.fish
"""

EFFECTS = ()
PATHS = Paths()

_BASH = """\
_copart() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=copart last= words= word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$command $word" in
            {paths}) command="$command $word" ;;
        esac
        case $word in -*) last=$word ;; esac
    done
    COMPREPLY=()
    case "$command $prev" in
{single}
    esac
    case "$command $last" in
{several}
    esac
    if [[ -z $words ]]; then
        case $command in
{words}
        esac
        case $command in
            {groups}) ;;
            *) [[ $cur == -* ]] || words= ;;
        esac
    fi
    if [[ -n $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}}
complete -o filenames -F _copart copart
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", choices=sorted(_SCRIPTS), help="the shell that reads it")


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the script."""
    script = _SCRIPTS[args.shell](args.parser)
    if not args.json:
        print(script, end="")
    console.result({"shell": args.shell, "script": script})
    return 0


def _below(parser: argparse.ArgumentParser, path: str = "copart") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every parser with the words that lead to it."""
    yield path, parser
    for name, sub in _commands(parser).items():
        yield from _below(sub, f"{path} {name}")


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of a parser by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _choices(action: argparse.Action) -> list[str]:
    return [] if action.choices is None or not action.option_strings else [str(choice) for choice in action.choices]


def bash(parser: argparse.ArgumentParser) -> str:
    """The script for bash: a function that knows in which command it is."""
    found = list(_below(parser))
    single: list[str] = []
    several: list[str] = []
    words: list[str] = []
    for path, one in found:
        for action in offered(one):
            if not _choices(action):
                continue
            where = "|".join(f'"{path} {option}"' for option in action.option_strings)
            line = f"        {where}) words={shlex.quote(' '.join(_choices(action)))} ;;"
            (single if action.nargs is None else several).append(line)
        options = [option for action in offered(one) for option in action.option_strings]
        known = [*_commands(one), *(["help"] if path == "copart" else []), *options]
        words.append(f'            "{path}") words={shlex.quote(" ".join(known))} ;;')
    return _BASH.format(paths="|".join(f'"{path}"' for path, _ in found[1:]), single="\n".join(single),
                        several="\n".join(several), words="\n".join(words),
                        groups="|".join(f'"{path}"' for path, one in found if _commands(one)))


def zsh(parser: argparse.ArgumentParser) -> str:
    """The same function, which zsh takes by way of ``bashcompinit``."""
    return "autoload -U +X bashcompinit && bashcompinit\n" + bash(parser)


def fish(parser: argparse.ArgumentParser) -> str:
    """One ``complete`` for every command and option."""
    lines = []
    for path, one in _below(parser):
        names = path.split()[1:]
        seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in names)
        here = _commands(one)
        free = f"not __fish_seen_subcommand_from {' '.join(here)}"
        for name, sub in here.items():
            where = f"{seen}; and {free}" if seen else "__fish_use_subcommand"
            lines.append(f"complete -c copart -f -n {_quoted(where)} -a {name} -d {_quoted(_brief(sub.description))}")
        for action in offered(one) if seen else ():
            if not action.option_strings:
                continue
            spelled = [f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
                       for option in action.option_strings]
            value = [] if action.nargs == 0 else ["-r"]
            if _choices(action):
                value = ["-x", "-a", _quoted(" ".join(_choices(action)))]
            lines.append(" ".join(["complete -c copart", f"-n {_quoted(seen)}", *spelled, *value]))
    return "\n".join(lines) + "\n"


def _brief(text: str | None) -> str:
    return (text or "").rstrip(".")


def _quoted(text: str) -> str:
    """As fish quotes: between single quotes, with a backslash before such a quote and before a backslash."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SCRIPTS = {"bash": bash, "fish": fish, "zsh": zsh}

__all__ = ["bash", "fish", "zsh"]
