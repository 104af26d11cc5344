"""Completion as the shells do it: the script for bash is run by bash, the others are read."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from copart.cli import COMMANDS, main, parser
from copart.commands.completion import fish, zsh
from copart.schemes.registry import SCHEMES

BASH = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    from copart.commands.completion import bash

    path = tmp_path_factory.mktemp("shell") / "copart.bash"
    path.write_text(bash(parser()))
    return path


def offered(script, line: str, folder) -> set[str]:
    """What bash offers for the last word of a line; a space at its end begins a new one."""
    words = line.split() + ([""] if line.endswith(" ") else [])
    code = (f"source {script}; COMP_WORDS=({' '.join(w or chr(39) * 2 for w in words)}); "
            f"COMP_CWORD={len(words) - 1}; _copart; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    done = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stderr == ""
    return set(done.stdout.split())


@BASH
@pytest.mark.parametrize(("line", "wanted"), [
    ("copart ", {*COMMANDS, "help", "-h", "--help", "--version"}),
    ("copart pl", {"plan"}), ("copart help re", {"repart", "replan"}), ("copart mesh c", {"cases", "cube", "cylinder"}),
    ("copart plan --sch", {"--scheme"}), ("copart plan --scheme ", set(SCHEMES)),
    ("copart plan a.vtu b.vtu --scheme pro", {"projrepart"}), ("copart compare --schemes naive aw", {"aware"}),
    ("copart plan --scheme naive --pres", {"--preset"}), ("copart part --preset s", {"strong"}),
    ("copart mesh cube --ce", {"--cells"}), ("copart mesh cube --cells ", {"hexa", "tetra"}),
    ("copart plan wi", {"wing.vtu"}), ("copart plan --scheme naive wi", {"wing.vtu"}), ("copart completion --js",
                                                                                       {"--json"})])
def test_bash(script, tmp_path, line, wanted):
    (tmp_path / "wing.vtu").write_text("")
    assert offered(script, line, tmp_path) == wanted


@BASH
@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_bash_knows_every_option(script, tmp_path, name):
    commands = next(action for action in parser()._actions if action.dest == "command")
    known = {option for action in commands.choices[name]._actions for option in action.option_strings
             if option.startswith("--")}
    former = {"advise": {"--coupling"}, "replan": {"--interedges"}}.get(name, set())
    assert former <= known
    assert known - offered(script, f"copart {name} --", tmp_path) == former, "former spellings are not offered"


@BASH
def test_bash_is_told_to_use_it(script, tmp_path):
    done = subprocess.run(["bash", "--norc", "-c", f"source {script}; complete -p copart"], capture_output=True,
                          text=True, check=True)
    assert "-F _copart copart" in done.stdout


def test_the_command_prints_it(script, capsys):
    assert main(["completion", "bash"]) == 0
    assert capsys.readouterr().out == script.read_text()
    assert main(["completion", "zsh"]) == 0
    assert capsys.readouterr().out == zsh(parser()) == \
        "autoload -U +X bashcompinit && bashcompinit\n" + script.read_text()


def test_fish_has_every_command_and_option():
    lines = fish(parser()).splitlines()
    assert all(line.startswith("complete -c copart ") for line in lines)
    assert all(len(re.findall(r"(?<!\\)'", line)) % 2 == 0 for line in lines), "quotes are closed"
    assert any("-a plan -d 'Co-partition" in line for line in lines)
    assert any("seen_subcommand_from plan' -l scheme -x -a 'naive " in line for line in lines)
    assert any("seen_subcommand_from mesh; and __fish_seen_subcommand_from cube' -l cells" in line for line in lines)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_theirs(tmp_path, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    path = tmp_path / "script"
    path.write_text({"zsh": zsh, "fish": fish}[shell](parser()))
    subprocess.run([shell, "-n", str(path)], check=True)
