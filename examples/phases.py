"""Where the time of a coupled run goes: phases of every rank, as a table, as JSON and as bars over time.

Used by ``conjugate_heat``; a driver of your own can use it as it is.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PHASES = ("compute", "halo", "coupling", "waiting")
#: Share of the run that is drawn over time: single messages are to be seen.
SHOWN = 0.02
_COLOURS = dict(zip(PHASES, ("#2b6cb0", "#81b29a", "#e07a3f", "#d9d9d9"), strict=True))


class Clock:
    """What a rank does when: (phase, begin, end) in seconds since a moment that all ranks share.

    `comm` are all ranks of the run, which are here at the same time.
    """

    def __init__(self, comm: Any, name: str):
        self.name, self.spans = name, list[tuple[str, float, float]]()
        comm.Barrier()
        self._zero = time.perf_counter()

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.spans.append((phase, begin - self._zero, time.perf_counter() - self._zero))

    def meet(self, comm: Any) -> None:
        """Wait for the others, so that what follows is the time of messages alone."""
        with self("waiting"):
            comm.Barrier()


def totals(spans: Sequence[tuple[str, float, float]]) -> dict[str, float]:
    """Seconds of each phase."""
    return {phase: sum(end - begin for what, begin, end in spans if what == phase) for phase in PHASES}


def table(clocks: Sequence[tuple[str, Sequence[tuple[str, float, float]]]]) -> str:
    """Milliseconds by rank and phase, and the slowest of each."""
    rows = [(f"{rank} {name}", totals(spans)) for rank, (name, spans) in enumerate(clocks)]
    rows.append(("most", {phase: max(row[phase] for _, row in rows) for phase in PHASES}))
    width = max(len(name) for name, _ in rows)
    lines = [" " * width + "".join(f"{phase:>10}" for phase in PHASES) + "  ms"]
    return "\n".join(lines + [f"{name:{width}}" + "".join(f"{row[phase] * 1e3:10.1f}" for phase in PHASES)
                              for name, row in rows])


def save(path: Path, clocks: Sequence[tuple[str, Sequence[tuple[str, float, float]]]], title: str) -> None:
    """`path` with ``.json`` and ``.png``: a bar for each rank, coloured by phase, of the whole run and over time."""
    told = [{"rank": rank, "component": name, "seconds": totals(spans), "spans": spans}
            for rank, (name, spans) in enumerate(clocks)]
    path.with_name(f"{path.name}.json").write_text(json.dumps(told))
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (sums, bars) = plt.subplots(1, 2, figsize=(11, 1.4 + 0.3 * len(clocks)), width_ratios=(1, 2), sharey=True)
    end = max(spans[-1][2] for _, spans in clocks)
    window = (end * (1 - SHOWN), end)
    for rank, (_, spans) in enumerate(clocks):
        left = 0.0
        for phase, seconds in totals(spans).items():
            sums.barh(rank, seconds, 0.8, left, color=_COLOURS[phase], label=phase if rank == 0 else None)
            left += seconds
        for phase in PHASES:
            inside = [((begin - window[0]) * 1e3, (stop - begin) * 1e3) for what, begin, stop in spans
                      if what == phase and stop > window[0]]
            bars.broken_barh(inside, (rank - 0.4, 0.8), color=_COLOURS[phase], linewidth=0)
    sums.set_yticks(range(len(clocks)), [f"{name} (rank {rank})" for rank, (name, _) in enumerate(clocks)])
    sums.invert_yaxis()
    sums.set_xlabel("sum over the run, s")
    bars.set_xlim(0, (window[1] - window[0]) * 1e3)
    bars.set_xlabel(f"the last {SHOWN:.0%} of the run, ms")
    figure.suptitle(title)
    figure.tight_layout()
    figure.legend(ncols=len(PHASES), loc="upper center", bbox_to_anchor=(0.5, 0.0), frameon=False)
    figure.savefig(path.with_name(f"{path.name}.png"), dpi=120, bbox_inches="tight")
    plt.close(figure)
