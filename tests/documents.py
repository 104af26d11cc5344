"""The code blocks of the documents, and how they are run.

A page's ``bash`` and ``python`` blocks run in order in a folder of their own,
which holds the ``examples`` and ``meshes`` of the project; ``copart`` is called in
this process, everything else by a shell.  A ``text`` block right after one that
ran is its output: it is compared with the numbers left out, as these may change
with every improvement of the partitioner; what goes to stderr (progress, which depends on
the time) is shown only where a command fails.  A comment on the line above a block
says what is different about it:

``<!-- not run: REASON -->``   truly cannot run here (installs something, needs another program)
``<!-- needs: NAME -->``       a case of the outside test data, linked into the folder; skipped where absent
``<!-- fails: STATUS -->``     the last command ends with this exit status
``<!-- terminal: WIDTH -->``   commands of copart write to a terminal of so many columns

``python -m tests.documents [PAGE ...]`` runs the pages and writes the present outputs into them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from copart.cli import main

from .helpers import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CASES = ROOT.parent / "shared" / "data" / "coupled"

_FENCE = re.compile(r"^(?P<indent> *)```+ *\{? *\.?(?P<language>\w*)")
_REMARK = re.compile(r"^ *<!-- (?P<key>not run|needs|fails|terminal): (?P<value>.+?) -->$")
_SHELL = set("|<>&;$*`(")


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, text, first line in the file, and remarks."""

    language: str
    text: str
    line: int
    remarks: dict[str, str]
    output: tuple[int, int] | None = None

    @property
    def runs(self) -> bool:
        return self.language in ("bash", "python") and "not run" not in self.remarks


class Missing(Exception):
    """Outside data that a block needs is not here."""


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, each with the lines of the output shown below it."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found: list[Block] = []
    remarks: dict[str, str] = {}
    i = end_of_last = 0
    while i < len(lines):
        fence, remark = _FENCE.match(lines[i]), _REMARK.match(lines[i])
        if remark:
            remarks[remark["key"]] = remark["value"]
        if not fence:
            remarks = remarks if remark or not lines[i].strip() else {}
            i += 1
            continue
        end = next(j for j in range(i + 1, len(lines)) if lines[j].strip().startswith("```"))
        text = "\n".join(line.removeprefix(fence["indent"]) for line in lines[i + 1:end])
        between = "".join(lines[end_of_last + 1:i]).strip() if found else "x"
        if fence["language"] == "text" and found and found[-1].runs and not between:
            last = found.pop()
            found.append(Block(last.language, last.text, last.line, last.remarks, (i + 1, end)))
        else:
            found.append(Block(fence["language"], text, i + 1, remarks))
        remarks, end_of_last = {}, end
        i = end + 1
    return found


class Terminal(io.StringIO):
    """Takes what is printed, and says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@contextlib.contextmanager
def columns(width: str | None) -> Iterator[None]:
    """Output as in a terminal of this width, without colours; None changes nothing."""
    if width is None:
        yield
        return
    wanted = {"COLUMNS": width, "TERM": "xterm", "NO_COLOR": "1"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """A folder like a clone of the project, where blocks may write."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="copart-docs-") as scratch:
        for name in ("examples", "meshes"):
            (Path(scratch) / name).symlink_to(ROOT / name)
        os.chdir(scratch)
        try:
            yield Path(scratch)
        finally:
            os.chdir(before)


def run_block(block: Block, scope: dict[str, object]) -> str:
    """Run a block in the current folder; returns what it printed.

    Raises
    ------
    Missing
        The outside data it needs is not here.
    AssertionError
        A command did not end with the status it should.
    """
    case = block.remarks.get("needs")
    if case is not None and not Path(case).exists():
        if not (CASES / case).exists():
            raise Missing(case)
        Path(case).symlink_to(CASES / case)
    if block.language == "python":
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile("\n" * block.line + block.text, "<document>", "exec"), scope)
        return out.getvalue()
    said = ""
    commands = list(_commands(block.text))
    for number, command in enumerate(commands, 1):
        with columns(block.remarks.get("terminal")):
            status, out_text = _run(command, Terminal() if "terminal" in block.remarks else io.StringIO())
        said += out_text
        wanted = int(block.remarks.get("fails", 0)) if number == len(commands) else 0
        assert status == wanted, f"line {block.line}: {command}\nended with {status}, not {wanted}:\n{out_text}"
    return said


def _commands(text: str) -> Iterator[str]:
    """The commands of a block, one per line but for lines that end with a backslash."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line


def _run(command: str, out: io.StringIO) -> tuple[int, str]:
    words = shlex.split(command, comments=True)
    bare = re.sub(r"'[^']*'|\"[^\"]*\"|#.*", "", command)
    if words[0] == "copart" and not set(bare) & _SHELL:
        err = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = main(words[1:])
            except SystemExit as stop:
                status = int(stop.code or 0)
        said = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
        return status, said + (err.getvalue() if status else "")
    paths = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    env = {**os.environ, "PATH": os.pathsep.join(paths), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], capture_output=True, text=True, check=False,
                          env=env)
    return done.returncode, done.stdout + (done.stderr if done.returncode else "")


def without_numbers(text: str) -> list[str]:
    """Words of each line, with every number, rule and mark of the best made alike."""
    plain = re.sub(r", after [\d.]+ s of compiling kernels, done once", "", text)
    plain = re.sub(r"\d+(?:[.,]\d+)*(?:e[+-]?\d+)?", "#", plain)
    plain = re.sub(r"[-─━]{2,}|\*", " ", plain)
    return [" ".join(line.split()) for line in plain.strip("\n").splitlines()]


def refresh(page: Path) -> bool:
    """Run a page and write the present outputs into it; whether it changed."""
    lines = page.read_text(encoding="utf-8").splitlines()
    fresh: list[tuple[tuple[int, int], str]] = []
    scope: dict[str, object] = {"__name__": "__main__"}
    with workplace():
        for block in blocks(page):
            if block.runs:
                with contextlib.suppress(Missing):
                    out = run_block(block, scope)
                    if block.output is not None:
                        fresh.append((block.output, out))
    before = list(lines)
    for (start, end), out in reversed(fresh):
        lines[start:end] = [line.rstrip() for line in out.strip("\n").splitlines()]
    if lines != before:
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lines != before


if __name__ == "__main__":
    for page in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        print(page.relative_to(ROOT), "written" if refresh(page) else "as it was")
