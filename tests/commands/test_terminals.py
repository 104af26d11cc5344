"""Commands in terminals of 80, 100 and 120 columns: every figure is there, and none is cut."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from copart.cli import main
from copart.commands.console import Console
from copart.formats import write_metis, write_part
from copart.mesh import cube, write_vtu

from ..helpers import ROOT, grid

THREE = ["a.vtu", "b.vtu", "c.vtu"]
#: Commands that show a table, and the others that show figures.
LINES = {
    "compare": ["compare", *THREE, "--parts", "6", "12", "4", "--seeds", "1"],
    "compare on hosts": ["compare", *THREE, "--parts", "6", "12", "4", "--seeds", "1", "--hierarchy", "4:2:3"],
    "compare two": ["compare", *THREE[:2], "--parts", "6", "12", "--seeds", "1"],
    "plan": ["plan", *THREE, "--parts", "6", "12", "4", "-o", "o"],
    "plan a total": ["plan", *THREE, "--total", "22", "-o", "o", "--hierarchy", "4:2:3"],
    "replan": ["replan", "plan", "--parts", "4", "6", "5", "-o", "o"],
    "check": ["check", "plan"],
    "advise": ["advise", "--total", "640", *(word for name in ("fluid", "structure", "acoustics") for word in
               ("--component", name, "1000000", "2.1e-6", "10", "--coupled-cells", f"{name}=10000"))],
    "part": ["part", "g.graph", "7", "-o", "parts"],
    "repart": ["repart", "g.graph", "g.part.6", "7", "-o", "parts"],
    "map": ["map", "g.graph", "--hierarchy", "4:2:3", "-o", "parts"],
    "grid": ["grid", "--dims", "12x11x8", "--nodes", "33"],
}


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Three components in a row, their plan, and a graph."""
    folder = tmp_path_factory.mktemp("three")
    before = Path.cwd()
    os.chdir(folder)
    for i, name in enumerate(THREE):
        write_vtu(name, cube("hexa", 7, offset=(float(i), 0.0, 0.0)))
    assert main(["plan", *THREE, "--parts", "6", "12", "4", "-o", "plan", "-q"]) == 0
    write_metis("g.graph", grid(12, 12))
    write_part("g.part.6", [i // 24 for i in range(144)])
    yield folder
    os.chdir(before)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def words(text: str) -> Counter[str]:
    return Counter(re.split(r"[\s│┃┏┓┗┛┡┩├┤└┘┌┐─━]+", text))


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("line", LINES, ids=str)
def test_no_figure_is_cut(three, monkeypatch, line, width):
    monkeypatch.chdir(three)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    tables, show = [], Console.table
    monkeypatch.setattr(Console, "table", lambda self, table, **more: (tables.append(table), show(self, table, **more)))
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert main(LINES[line]) == 0
    shown = re.sub(r"\x1b\[[0-9;]*m", "", sys.stdout.getvalue())
    assert "…" not in shown
    assert all(len(text) <= width for text in shown.splitlines() if set(text) & set("│┃─━"))
    found = words(shown)
    for table in tables:
        wanted = words(" ".join([*table.header, *(cell for row in table.rows for cell in row)]))
        assert not wanted - found, f"not shown: {wanted - found}"
    # the commands that show no table say their figures in lines, which a terminal breaks by itself
    assert bool(tables) == (line in ("compare", "compare on hosts", "compare two", "plan", "plan a total", "replan",
                                     "advise", "grid"))
    assert any(character.isdigit() for character in shown) or line == "check"


@pytest.mark.skipif(sys.platform == "win32", reason="no terminals of this kind")
@pytest.mark.parametrize("width", [80, 100, 120])
def test_in_a_terminal_that_says_its_width_itself(three, width):
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")} | {"TERM": "xterm", "NO_COLOR": "1"}
    process = subprocess.Popen([sys.executable, "-m", "copart", *LINES["plan a total"]], stdin=theirs, stdout=theirs,
                               stderr=subprocess.DEVNULL, cwd=three, env={**env, "PYTHONPATH": str(ROOT)})
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert "…" not in text
    assert all(word in words(text) for word in ("343", "component", "placement", "T_step"))
    assert all(len(one) <= width for one in text.splitlines() if set(one) & set("│┃─━"))
