"""Random command lines, sensible and not: ``python -m tests.hostile --count 5000``.

Each ends with status 0, 1 or 2, in the last case with one line; no input is changed, and nothing hidden stays behind.
Options, their values and the files are drawn from what the parser knows, and from a list of what goes wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import logging
import os
import shutil
import signal
import tempfile
import time
import traceback
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np

import copart
from copart.cli import main, parser
from copart.formats import write_metis
from copart.mesh import cube, write_vtu

from .helpers import grid

Random = np.random.Generator
#: Seconds that a call may take.
SLOW = 60
BAD = ("nan", "inf", "-1", "0", "1e308", "1e-320", "", " ", "x", "9" * 30, "-" + "9" * 30, "²", "1.5", "0x10", "None",
       "\n", "a=", "=", "a,b", ":", "../x", "/", ".", "none", "block", "cyclic:0", "\x1b[2J", "ä", "plan", "empty",
       "missing.vtu", "junk.vtu", "junk.json", "a.vtu:", "a.vtu:x=1", "1:2:3", "n[1-3]", "2x2", "1,0,-1,0")
FILES = ("a.vtu", "b.vtu", "c.vtu", "g.graph", "g.part.2", "p.txt", "plan", "plan/metrics.json", "plan/coupling.json",
         "plan/interedges.mtx", "plan/a.part.2", "plan/a.vtu", "hcub.tgt", "hosts", "times.csv")
NUMBERS = ("1", "2", "3", "4", "0.05", "0.1", "7")
#: Lines that are right, to begin with.
RIGHT = (
    "part g.graph 2", "part a.vtu 3 -o x.part", "part a.vtu 2 --write pvtu", "repart g.graph g.part.2 3 -o y",
    "plan a.vtu b.vtu --parts 2 2 -o out", "plan a.vtu b.vtu --total 4 -o out",
    "plan a.vtu b.vtu c.vtu --parts 2 2 2 -o out",
    "plan a.vtu b.vtu --parts 2 2 --machine hcub.tgt -o out --report", "compare a.vtu b.vtu --parts 2 2 --seeds 1",
    "replan plan --parts 2 3 -o next", "check plan", "check g.graph g.part.2 --eps 0.05", "check a.vtu plan/a.part.2",
    "map g.graph --machine hcub.tgt -o m", "mesh info a.vtu", "mesh cube 3 -o n.vtu", "machine info hcub.tgt",
    "machine fit times.csv --metrics TH,MC",
    "ranks p.txt --machine hcub.tgt -o r", "grid --dims 4x3 --nodes 3 -o r", "advise --total 4 a.vtu b.vtu", "doctor",
)


def options_of_commands() -> dict[str, list[argparse.Action]]:
    """Every command's options, from the parser; those of commands within commands count as the command's."""
    def below(one: argparse.ArgumentParser) -> list[argparse.Action]:
        out = []
        for action in one._actions:
            if isinstance(action, argparse._SubParsersAction):
                for inner in action.choices.values():
                    out += below(inner)
            elif action.option_strings and action.dest != "help":
                out.append(action)
        return out
    commands = next(action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    return {name: below(inner) for name, inner in commands.choices.items()}


def place() -> None:
    """The files that commands read, in the current folder."""
    for name, at in (("a", 0.0), ("b", 1.0), ("c", 2.0)):
        write_vtu(f"{name}.vtu", cube("hexa", 2, offset=(at, 0.0, 0.0)))
    write_metis("g.graph", grid(4, 4))
    Path("g.part.2").write_text("0\n" * 8 + "1\n" * 8)
    Path("p.txt").write_text("0 1 100 1\n1 2 50 1\n2 3 9 1\n3 0 7 1\n4 5 7 1\n")
    Path("hcub.tgt").write_text("hcub 3\n")
    Path("hosts").write_text("n1 slots=4\nn2 slots=4\n")
    Path("times.csv").write_text("seconds,TH,MC\n3,1,5\n4,2,9\n2,2,2\n5,7,9\n")
    Path("empty").write_text("")
    Path("junk.vtu").write_bytes(bytes(range(256)))
    Path("junk.json").write_text('{"schema": "copart-metrics"')
    copart.plan("a.vtu", "b.vtu", parts=(2, 2), output="plan")


def drawn(rng: Random, options: dict[str, list[argparse.Action]]) -> list[str]:
    """A right line with some words exchanged, left out or doubled, and options of its command, rarely of another."""
    line = str(rng.choice(RIGHT)).split()
    for _ in range(int(rng.integers(0, 4))):
        kind, at = rng.random(), int(rng.integers(1, len(line) + 1))
        pool = BAD if rng.random() < 0.5 else FILES if rng.random() < 0.5 else NUMBERS
        if kind < 0.3 and at < len(line):
            line[at] = str(rng.choice(pool))
        elif kind < 0.4 and at < len(line):
            del line[at]
        else:
            known = options[line[0] if line[0] in options and rng.random() < 0.95 else str(rng.choice(list(options)))]
            action = known[int(rng.integers(len(known)))]
            values = [str(v) for v in action.choices] if action.choices and rng.random() < 0.7 else list(pool)
            count = 0 if action.nargs == 0 else int(rng.integers(1, 4)) if action.nargs in ("+", "*") else 1
            line += [str(rng.choice(action.option_strings)), *(str(rng.choice(values)) for _ in range(count))]
    return line


def state() -> dict[str, str]:
    """Every file here but those that lines write, and what is in it."""
    named = [Path(name) for name in (*FILES, "empty", "junk.vtu", "junk.json")]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for one in named
            for file in ([one] if one.is_file() else one.rglob("*")) if file.is_file()}


def written(line: list[str]) -> set[str]:
    """What follows the options that name an output: files that are not read may be written over."""
    return {Path(value).parts[0] for option, value in pairwise(line)
            if option in ("-o", "--output", "--tgt", "--picture", "--report") and value.strip()}


def call(line: list[str]) -> tuple[object, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status: object = main(line)
        except SystemExit as stop:
            status = stop.code
    return status, out.getvalue(), err.getvalue()


def wrong(line: list[str]) -> str | None:
    """What is wrong with how this line ended."""
    try:
        status, _, err = call(line)
    except TimeoutError:
        return f"took over {SLOW} seconds"
    except BaseException:
        return traceback.format_exc()
    said = [one for one in err.splitlines() if not one.endswith(" ...")]
    if status not in (0, 1, 2):
        return f"status {status!r}: {err}"
    if status == 2 and len(said) != 1:
        return f"status 2 with {len(said)} lines: {err}"
    if "unexpected" in err or "Traceback" in err:
        return err
    return None


def run() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=5000)
    arguments.add_argument("--seed", type=int, default=1)
    args = arguments.parse_args()
    logging.getLogger("copart").handlers.clear()

    def late(*_: object) -> None:
        raise TimeoutError
    signal.signal(signal.SIGALRM, late)
    options, seen, faults = options_of_commands(), Counter[str](), 0
    begin, home = time.perf_counter(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        place()
        before = state()
        for i in range(args.count):
            line = drawn(np.random.default_rng([args.seed, i]), options)
            signal.alarm(SLOW)
            fault = wrong(line)
            signal.alarm(0)
            after = state()
            changed = {name for name, sum_ in before.items() if after.get(name) != sum_}
            if changed:
                if not {Path(name).parts[0] for name in changed} <= written(line):
                    fault = f"{fault or ''} changed {changed}"
                for name in ("plan", "out", "next"):
                    shutil.rmtree(name, ignore_errors=True)
                place()
                before = state()
            elif left := list(Path().glob(".copart-unfinished-*")):
                fault = f"{fault or ''} left {left}"
                shutil.rmtree(left[0])
            seen[line[0]] += 1
            if fault:
                faults += 1
                print(f"line {i}: {line}\n{fault}", flush=True)
        os.chdir(home)
    print(f"{args.count} lines in {time.perf_counter() - begin:.0f} s, {faults} wrong: {dict(seen)}")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(run())
