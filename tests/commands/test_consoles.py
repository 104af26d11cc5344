"""Names that a terminal would obey, closed and narrow consoles, interrupts, and the last resort of ``main``."""

from __future__ import annotations

import ctypes
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from copart.cli import COMMANDS, main
from copart.commands.console import visible
from copart.mesh import cube, write_vtu
from copart.plans.sources import Opened
from copart.report.tables import Table
from copart.report.terminal import drawn

from ..helpers import ROOT
from .lines import line_of, told

EVIL = "a\x1b[2J\nb\u202e\x9b1m"


def test_names_are_shown_as_they_are_written_in_python(folder, capsys):
    mesh = cube("hexa", 3)
    write_vtu("evil.vtu", mesh)
    assert main(["plan", "evil.vtu", "b.vtu", "--names", EVIL, "b", "--parts", "2", "2", "-o", "o"]) == 0
    out, err = capsys.readouterr()
    assert r"a\x1b[2J\nb\u202e\x9b1m" in out
    assert all(line.isprintable() for line in (out + err).split("\n"))
    assert main(["plan", "evil.vtu", "b.vtu", "--names", EVIL, "b", "--parts", "2", "2", "-o", "o", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["names"] == [EVIL, "b"]


def test_groups_and_errors_are_shown_so_too(folder, capsys, monkeypatch):
    mesh = cube("hexa", 3).replace(cell_groups={EVIL: np.arange(3)})
    monkeypatch.setattr("copart.plans.sources.open_source", lambda source: Opened(mesh, None, mesh, ()))
    assert main(["mesh", "info", "a.vtu"]) == 0
    out = capsys.readouterr().out
    assert r"a\x1b[2J\nb\u202e\x9b1m" in out
    assert all(line.isprintable() for line in out.split("\n"))
    assert r"\x1b[2J" in line_of(capsys, "part", f"no{EVIL}where.graph", 2)
    assert r"\x1b[2J" in line_of(capsys, "part", "g.graph", 2, EVIL)
    assert r"\x1b[2J" in line_of(capsys, "plan", "a.vtu", "b.vtu", "--parts", 2, 2, "--scale", f"{EVIL}=2")


def test_names_are_no_markup():
    table = Table(["[red]name"], [["[bold]x"]], title="[link]t")
    with io.StringIO() as out:
        Console(file=out, width=60).print(drawn(table))
        shown = out.getvalue()
    assert all(word in shown for word in ("[link]t", "[red]name", "[bold]x"))


def test_what_is_visible_stays():
    assert visible("Wärme é 漢 [x]") == "Wärme é 漢 [x]"
    assert visible("\t\udcff\r") == r"\t\udcff\r"


# ---- consoles: in processes of their own
def ran(*arguments: str, shell: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "copart", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "", **environment}
    line = ["sh", "-c", f'exec "$@" {shell}', "sh", *command]
    return subprocess.run(line, capture_output=True, text=True, env=env, check=False, encoding="utf-8")


def test_closed_output(folder):
    done = ran("part", "g.graph", "2", shell=">&-")
    assert done.returncode == 2
    assert done.stderr == ("copart part: standard output: is closed, nothing could be shown; open it, or ask for "
                           "--quiet\n")
    assert not Path("g.graph.part.2").exists()
    assert ran("part", "g.graph", "2", "-q", shell=">&-").returncode == 0
    for words in (["part", "g.graph", "0"], ["part"]):
        done = ran(*words, shell="2>&-")
        assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
def test_full_output(folder):
    done = ran("part", "g.graph", "2", shell=">/dev/full")
    assert done.returncode == 2
    assert told(done.stderr).count("\n") == 1
    assert "No space left" in done.stderr


@pytest.mark.parametrize("console", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0",
                                                                      "PYTHONCOERCECLOCALE": "0"}], ids=str)
def test_names_under_an_ascii_console(folder, console):
    os.rename("a.vtu", "wärme.vtu")
    done = ran("plan", "wärme.vtu", "b.vtu", "--parts", "2", "2", "-o", "o", **console)
    assert (done.returncode, told(done.stderr)) == (0, "")
    # the second kind of console does not know the names of files either
    assert r"w\xe4rme" in done.stdout or r"w\udcc3\udca4rme" in done.stdout
    done = ran("part", "wörter.graph", "2", **console)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("module", ["argparse", "copart.cli", "copart.commands.mesh"])
def test_an_interrupt_at_any_time(folder, module):
    """While a module is being loaded: some milliseconds after the start, or before the work."""
    code = f"""
import os, runpy, signal, sys
class Hook:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in [m for m in sys.modules if m == {module!r}]:
    del sys.modules[name]
sys.meta_path.insert(0, Hook())
sys.argv = ["copart", "plan", "a.vtu", "b.vtu", "--parts", "2", "2", "-o", "o"]
runpy.run_module("copart", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 130, done.stderr
    assert done.stderr in ("copart: interrupted\n", "copart plan: interrupted\n")
    assert not Path("o").exists()


@pytest.mark.parametrize("then", ["while True: time.sleep(0.01)", "threading.Event().wait()", "return 0",
                                  "raise RuntimeError('nothing was handed over')",
                                  "for _ in range(100): called(lambda: time.sleep(0.001))"])
def test_an_interrupt_in_a_callback(folder, then):
    """Python drops it there; what comes of that may be anything."""
    code = f"""
import ctypes, os, signal, sys, threading, time
import copart.commands.doctor as d, copart.cli as c
signal.signal(signal.SIGINT, signal.default_int_handler)
def called(function):
    ctypes.CFUNCTYPE(None)(function)()
def run(*_):
    called(lambda: os.kill(os.getpid(), signal.SIGINT))
    {then}
d.run, former = run, sys.unraisablehook
status = c.main(["doctor"])
raise SystemExit(status if sys.unraisablehook is former else 1)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stderr) == (130, "copart doctor: interrupted\n")


@pytest.mark.parametrize("swallow", ["numpy.array(Like())", "type('Made', (), dict(like=Like()))"])
def test_an_interrupt_that_is_lost(folder, swallow):
    """Where C asks for something and takes any exception for a no, or makes one of another kind of it."""
    code = f"""
import os, signal, numpy
from contextlib import suppress
import copart.commands.doctor as d, copart.cli as c
signal.signal(signal.SIGINT, signal.default_int_handler)
class Like:
    def __len__(self):
        os.kill(os.getpid(), signal.SIGINT)
        return 0
    __getitem__ = None
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGINT)
def run(*_):
    with suppress(Exception):
        {swallow}
    return 0
d.run = run
status = c.main(["doctor"])
raise SystemExit(status if signal.getsignal(signal.SIGINT) is signal.default_int_handler else 1)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stderr) == (130, "copart doctor: interrupted\n")


def test_what_else_is_dropped_in_a_callback_is_told(folder, capsys, monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: told.append(what.exc_type))
    monkeypatch.setattr(COMMANDS["doctor"][0], "run", lambda *_: ctypes.CFUNCTYPE(None)(lambda: 1 // 0)() or 0)
    assert main(["doctor"]) == 0
    assert told == [ZeroDivisionError]


# ---- the last resort
def test_an_error_of_copart_itself_is_one_line_too(folder, capsys, monkeypatch):
    def broken(args, console):
        raise KeyError("x\x1b")

    monkeypatch.setattr(COMMANDS["doctor"][0], "run", broken)
    assert main(["doctor"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "copart doctor: unexpected KeyError: 'x\\x1b'; please report this, with what -vv shows\n"


def test_twice_verbose_shows_where_it_comes_from(folder):
    code = ("import copart.commands.doctor as d, copart.cli as c\n"
            "def broken(*_): raise KeyError('x')\n"
            "d.run = broken\nraise SystemExit(c.main(['doctor', '-vv']))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert "in broken" in done.stderr

