"""Damaged inputs for every reader and command: ``python -m tests.fuzz --count 20000``.

Each input either works or ends in one `CopartError` that names the file; never
in another exception, an exit of the process, a crash, a hang or a full memory.
The inputs are read in a process of its own with little memory, which is started
anew after the ones that kill it.  Mutant number i is the same for a given seed,
whatever came before it.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import json
import logging
import os
import queue
import resource
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .helpers import ROOT

#: Processor seconds that a mutant may take.
SLOW = 2.0
#: Seconds of the clock after which a process is ended.
PATIENCE = 20.0
#: Characters that a message may have.
LONG = 2000
#: Bytes beyond what the sound inputs need: of address space, and of memory in use.
ROOM = 2**30
MOST = 400 * 2**20


@dataclass(frozen=True)
class Result:
    """What became of one mutant.

    Parameters
    ----------
    number : int
    case : str
    done : str
        What was damaged, and how.
    verdict : str
        "read" or "refused", or what is wrong: "exception", "unnamed", "noise", "memory", "slow", "died".
    said : str
        The message, or the trace.
    seconds : float
        Of processors, which others on the machine do not make longer.
    """

    number: int
    case: str
    done: str
    verdict: str
    said: str
    seconds: float

    @property
    def good(self) -> bool:
        """Whether it is as it must be."""
        return self.verdict in ("read", "refused") and self.seconds <= SLOW


# ---- the process that reads
def use(case: Any, folder: Path) -> tuple[str, str]:
    """Read an input or run a command; returns verdict and message."""
    target = folder if case.target == "." else folder / case.target
    out, err = io.StringIO(), io.StringIO()
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(out), \
            contextlib.redirect_stderr(err):
        warnings.simplefilter("always")
        verdict, said = _outcome(case, target, folder)
    if verdict in ("read", "refused"):
        if len(said) > LONG:
            return "noise", f"a message of {len(said)} characters: {said[:500]}"
        noise = [f"{w.category.__name__}: {w.message} ({w.filename}:{w.lineno})" for w in warned
                 if w.category is not ResourceWarning]
        if case.kind == "command":
            lines = err.getvalue().splitlines()
            last = lines[-1] if lines else ""
            if last.startswith("copart ") != (said == "2") or "not enough memory" in last:
                noise.append(f"status {said}: {err.getvalue()}")
            said = err.getvalue().strip()
        elif out.getvalue() or err.getvalue():
            noise.append(out.getvalue() + err.getvalue())
        if noise:
            return "noise", "\n".join(noise)
    return verdict, said


def _outcome(case: Any, target: Path, folder: Path) -> tuple[str, str]:
    from copart.cli import main
    from copart.errors import CopartError

    if case.kind == "command":
        try:
            status = main([word.replace("{}", str(folder)) for word in case.command])
        except BaseException:
            return "exception", traceback.format_exc()
        return ("read" if status in (0, 1) else "refused"), str(status)
    try:
        try:
            value = _read(case, target)
        except CopartError as error:
            return ("refused" if str(folder) in str(error) else "unnamed"), str(error)
        _work(case.kind, value)
    except CopartError as error:
        return "refused", str(error)
    except BaseException:
        return "exception", traceback.format_exc()
    return "read", ""


def _read(case: Any, target: Path) -> Any:
    from copart.formats import read_coupling, read_graph, read_hypergraph, read_part
    from copart.formats.costs_file import read_costs
    from copart.formats.interedges_file import read_interedges
    from copart.formats.migration_file import read_migration
    from copart.formats.times_file import read_times
    from copart.mesh import read_mesh

    from .fuzz_other_files import read as read_other

    readers = {"mesh": read_mesh, "graph": read_graph, "hypergraph": read_hypergraph, "part": read_part,
               "coupling": read_coupling, "interedges": read_interedges, "migration": read_migration,
               "costs": read_costs, "times": read_times}
    if case.kind == "other":
        return read_other(case.name, target)
    return readers[case.kind](target)  # type: ignore[operator]


def _work(kind: str, value: Any) -> None:
    """What is done with everything that was read."""
    from copart.checks import check_graph
    from copart.errors import MeshError
    from copart.mesh import dual_graph
    from copart.mesh.interfaces.surface import boundary_surface

    if kind == "graph":
        assert check_graph(value).ok
    elif kind == "hypergraph":
        assert value.xpins[-1] == value.xnets[-1] == len(value.pins)
        assert not value.npins or 0 <= value.pins.min() <= value.pins.max() < value.nvtxs
        assert (value.sizes > 0).all()
    elif kind == "mesh":
        assert np.isfinite(value.points).all()
        assert check_graph(dual_graph(value)).ok
        boundary_surface(value)
        for names in (value.cell_groups, value.facet_groups, value.point_groups):
            for name in list(names)[:2]:
                with contextlib.suppress(MeshError):  # a group may be empty, or have no facet of any cell
                    boundary_surface(value.select(name))
        repr(value)


def _put(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def mutant(case: Any, seed: int, number: int) -> tuple[dict[str, bytes], str]:
    """The damaged files of a case, and what was done."""
    from .mutations import mutate

    rng = np.random.default_rng([seed, number])
    names = [name for name in case.files if name not in case.fixed]
    name = names[rng.integers(len(names))]
    files = dict(case.files)
    if rng.random() < 0.01:
        del files[name]
        return files, f"{name}: removed"
    files[name], done = mutate(files[name], rng)
    return files, f"{name}: {done}"


def _cases(work: Path, most: int) -> list[Any]:
    from .fuzz_cases import made, real

    small = made(work)
    return [*small, *small, *real(most)]


def worker(first: int, stop: int, step: int, seed: int, most: int, only: str) -> None:
    """Print a line before and after each mutant, JSON."""
    out = os.fdopen(os.dup(1), "w")

    def say(*what: Any) -> None:
        print(json.dumps(what), file=out, flush=True)

    # messages of logging are no noise
    logging.getLogger().addHandler(logging.NullHandler())
    with tempfile.TemporaryDirectory(prefix="copart-fuzz-") as root:
        (work := Path(root) / "work").mkdir()
        cases = [c for c in _cases(work, most) if only in c.name or only == c.kind]
        for i, case in enumerate(cases):
            folder = Path(root) / f"sound{i}"
            _put(folder, case.files)
            verdict, said = use(case, folder)
            if verdict != "read" and not case.damaged:
                say("sound", case.name, verdict, said)
        say("ready", len(cases))
        limit = ROOM + int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for number in range(first, stop, step):
            case = cases[number % len(cases)]
            files, done = mutant(case, seed, number)
            with tempfile.TemporaryDirectory(prefix=f"m{number}-", dir=root) as folder:
                _put(Path(folder), files)
                say("begin", number, case.name, done)
                begin = time.process_time()
                used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                faulthandler.dump_traceback_later(PATIENCE, exit=True)
                verdict, said = use(case, Path(folder))
                faulthandler.cancel_dump_traceback_later()
                seconds = time.process_time() - begin
            now = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if (now - used) * 1024 > MOST and verdict != "exception":
                verdict, said = "memory", f"{(now - used) / 1024:.0f} MB more in use; {verdict}: {said}"
            if seconds > SLOW and verdict in ("read", "refused"):
                verdict = "slow"
            say("end", number, case.name, done, verdict, said[-4000:], seconds)


# ---- the process that watches
def run(first: int, stop: int, *, step: int = 1, seed: int = 1, most: int = 250_000, only: str = "",
        budget: float = float("inf")) -> Iterator[Result]:
    """The results of mutants ``first .. stop - 1``; ends after `budget` seconds, too.

    Raises
    ------
    AssertionError
        An undamaged input is not read.
    """
    over = time.monotonic() + budget
    while first < stop and time.monotonic() < over:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        with tempfile.TemporaryFile("w+") as errors:
            child = subprocess.Popen([sys.executable, "-m", "tests.fuzz", "--worker", str(first), str(stop), str(step),
                                      "--seed", str(seed), "--most", str(most), "--only", only], cwd=ROOT,
                                     stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
            begun = None
            try:
                for line in _lines(child, over):
                    kind, *what = json.loads(line)
                    if kind == "sound":
                        raise AssertionError("undamaged, but not read: " + " ".join(map(str, what)))
                    if kind == "begin":
                        begun = what
                    elif kind == "end":
                        begun, first = None, what[0] + step
                        yield Result(*what)
            finally:
                child.kill()
                child.wait()
            if begun is not None and time.monotonic() < over:
                errors.seek(0)
                yield Result(begun[0], begun[1], begun[2], "died", f"{child.returncode}: {errors.read()[-6000:]}",
                             PATIENCE)
                first = begun[0] + step
            elif begun is None and first < stop and time.monotonic() < over:
                errors.seek(0)
                raise AssertionError(f"the process ended by itself: {child.returncode} {errors.read()[-6000:]}")


def _lines(child: subprocess.Popen[str], over: float) -> Iterator[str]:
    """Lines of a process until it ends, is silent for too long, or the time is over."""
    lines: queue.Queue[str | None] = queue.Queue()

    def pump() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=pump, daemon=True).start()
    ready = False
    while True:
        # compiling kernels takes its time
        wait = min(over - time.monotonic(), 2 * PATIENCE if ready else 600)
        try:
            line = lines.get(timeout=max(wait, 0))
        except queue.Empty:
            return
        if line is None:
            return
        ready = ready or line.startswith('["ready"')
        yield line


def main() -> int:
    """Run many and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=250_000, help="size of the largest real file in bytes")
    parser.add_argument("--only", default="", help="a kind of case, or a part of names of cases")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds")
    parser.add_argument("--worker", type=int, nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        worker(*args.worker, args.seed, args.most, args.only)
        return 0
    begin = time.monotonic()
    verdicts: Counter[str] = Counter()
    slowest: list[Result] = []
    bad: list[Result] = []
    for result in run(args.first, args.first + args.count, seed=args.seed, most=args.most, only=args.only,
                      budget=args.budget):
        verdicts[result.verdict] += 1
        slowest = sorted([*slowest, result], key=lambda r: -r.seconds)[:3]
        if not result.good:
            bad.append(result)
            print(f"--- {result.number} {result.case}: {result.done}: {result.verdict}, {result.seconds:.2f} s\n"
                  f"{result.said}\n", flush=True)
    print(f"{sum(verdicts.values())} mutants in {time.monotonic() - begin:.0f} s: {dict(verdicts)}; {len(bad)} wrong")
    for result in slowest:
        print(f"{result.seconds:.2f} s: {result.number} {result.case}: {result.done}: {result.verdict} "
              f"{result.said[:200]}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
