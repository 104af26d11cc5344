"""Charts as SVG: coupling and migration matrices, load bars, message sizes.

Colours come from the page's style sheet but for those of parts, so that charts
follow the reader's light or dark screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metrics.columns import plural
from .palette import COLOURS

Tell = Callable[[int], str]

#: Numbers are written into a matrix of at most so many entries.
_WRITTEN = 420
#: A chart over the full width of the page.
WIDE = 1080


def matrix_chart(matrix: Any, rows: NDArray[np.int64], columns: NDArray[np.int64], axes: tuple[str, str],
                 keys: tuple[str, str], colours: tuple[NDArray[np.int64], NDArray[np.int64]],
                 tell: Callable[[int, int, int], str], stays: bool = False) -> str:
    """A sparse matrix between parts; the darker, the larger.

    Parameters
    ----------
    matrix : scipy.sparse array
    rows, columns : (n,) int
        Which, in their order.
    axes : (str, str)
        What a row and a column is.
    keys : (str, str)
        Prefixes of the parts' keys on the page.
    colours : (array, array)
        Number of the colour of each part.
    tell : callable
        Text for row, column and value of an entry, which appears when it is pointed at.
    stays : bool
        Entries with equal numbers stay where they are and are drawn paler.
    """
    csr = matrix.tocsr()[rows][:, columns].tocoo()
    n, m = len(rows), len(columns)
    cell = float(np.clip(520 / max(n, m, 1), 3.0, 26.0))
    left, top = 32.0 + 6 * _digits(rows), 8.0
    # room for what stands below, and beside it
    width, height = left + max(m * cell, 7 * len(axes[1])) + 8, top + max(n * cell, 7 * len(axes[0])) + 44
    largest = max(float(csr.data.max(initial=1)), 2.0)
    written = csr.nnz and max(n, m) * cell / max(n, m) >= 17 and csr.nnz <= _WRITTEN
    out = [f'<rect class="ground" x="{left}" y="{top}" width="{m * cell:.1f}" height="{n * cell:.1f}"/>']
    for i, j, value in zip(csr.row.tolist(), csr.col.tolist(), csr.data.tolist(), strict=True):
        x, y = left + j * cell, top + i * cell
        strength = 0.16 + 0.84 * float(np.log1p(value) / np.log1p(largest))
        r, c = int(rows[i]), int(columns[j])
        kind = "stay" if stays and r == c else "entry"
        out.append(f'<g data-part="{keys[0]}{r}" data-other="{keys[1]}{c}"><title>{escape(tell(r, c, value))}</title>'
                   f'<rect class="{kind}" x="{x + 0.5:.1f}" y="{y + 0.5:.1f}" width="{cell - 1:.1f}" '
                   f'height="{cell - 1:.1f}" fill-opacity="{strength:.2f}"/>')
        if written:
            tone = "over" if strength > 0.68 else "under"
            small = ' style="font-size:7.5px"' if value > 999 else ""
            out.append(f'<text class="{tone}"{small} x="{x + cell / 2:.1f}" y="{y + cell / 2:.1f}">{value}</text>')
        out.append("</g>")
    out += _chips(rows, keys[0], colours[0], left, top, cell, vertical=True)
    out += _chips(columns, keys[1], colours[1], left, top + n * cell, cell, vertical=False)
    out.append(f'<text class="axis start" x="{left}" y="{top + n * cell + 38:.1f}">'
               f"{escape(axes[1])}</text>"
               f'<text class="axis end" transform="translate(11 {top}) rotate(-90)">'
               f"{escape(axes[0])}</text>")
    alt = f"matrix of {csr.nnz} entries; {n} rows: {axes[0]}; {m} columns: {axes[1]}"
    return _svg("matrix", width, height, out, alt)


def _chips(parts: NDArray[np.int64], key: str, colour: NDArray[np.int64], left: float, top: float, cell: float,
           vertical: bool) -> list[str]:
    """Colour and number of each part beside its row, or below its column."""
    out = []
    every = max(1, int(np.ceil((11 if vertical else 5 + 6 * _digits(parts)) / cell)))
    for i, p in enumerate(parts.tolist()):
        x, y = (left - 8, top + i * cell) if vertical else (left + i * cell, top + 3)
        w, h = (5.0, cell) if vertical else (cell, 5.0)
        out.append(f'<rect data-part="{key}{p}" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" '
                   f'fill="{COLOURS[colour[p]]}"/>')
        if i % every == 0:
            at = f'class="tick end" x="{x - 3:.1f}" y="{y + cell / 2:.1f}"' if vertical else \
                f'class="tick" x="{x + cell / 2:.1f}" y="{y + 15:.1f}"'
            out.append(f"<text {at}>{p}</text>")
    return out


def _digits(parts: NDArray[np.int64]) -> int:
    return len(str(int(parts.max(initial=0))))


def bar_chart(values: ArrayLike, mean: float, key: str, colour: NDArray[np.int64], tell: Tell, alt: str,
              limit: float | None = None, height: float = 132) -> str:
    """A bar per part against the mean.

    Parameters
    ----------
    values : (nparts,) int
    mean : float
        What the line at 1 stands for.
    key, colour, tell
        As for the pictures.
    alt : str
        What it shows.
    limit : float, optional
        Imbalance allowed, drawn as a second line.
    """
    ratio = np.asarray(values, float) / mean if mean else np.zeros(np.size(values))
    highest = max(1.15, float(ratio.max(initial=0)) * 1.06, 0 if limit is None else 1 + 1.4 * limit)
    left, foot = 34.0, 20.0
    tall, step = height - foot - 8, (WIDE - left - 70) / max(len(ratio), 1)
    out = [f'<line class="rule" x1="{left}" x2="{WIDE - 70}" y1="{8 + tall}" y2="{8 + tall}"/>']
    gap = 1.0 if step > 5 else 0.0
    kind = "bars wide" if step > 3 else "bars wide thin"
    for p, r in enumerate(ratio.tolist()):
        h = tall * r / highest
        if r > 0:
            out.append(f'<rect data-part="{key}{p}" x="{left + p * step + gap / 2:.2f}" y="{8 + tall - h:.2f}" '
                       f'width="{max(step - gap, 0.5):.2f}" height="{h:.2f}" fill="{COLOURS[colour[p]]}">'
                       f"<title>{escape(tell(p))}: {times_mean(r)}</title></rect>")
    lines = [(1.0, "mean", "mean")]
    if limit:
        lines.append((1 + limit, f"+{limit:.0%}", "limit"))
    for at, text, name in lines:
        y = 8 + tall - tall * at / highest
        below = 11 if name == "mean" else -3
        out.append(f'<line class="{name}" x1="{left}" x2="{WIDE - 70}" y1="{y:.1f}" y2="{y:.1f}"/>'
                   f'<text class="note" x="{WIDE - 64}" y="{y + below if limit else y + 4:.1f}">{text}</text>')
    # as many numbers as there is room for, a round count apart
    every = next(e for d in range(9) for e in (10**d, 2 * 10**d, 5 * 10**d)
                 if e * step >= 8 + 7 * len(str(len(ratio) - 1)))
    out += [f'<text class="tick" x="{left + (p + 0.5) * step:.1f}" y="{height - 6}">{p}</text>'
            for p in range(0, len(ratio), every)]
    out += [f'<text class="tick end" x="{left - 4}" y="{8 + tall - tall * v / highest + 1:.1f}">{v:g}</text>'
            for v in _steps(highest)]
    return _svg(kind, WIDE, height, out, alt)


def times_mean(ratio: float) -> str:
    """``1.05 x the mean`` of a ratio."""
    return f"{ratio:.2f} x the mean"


def _steps(highest: float) -> list[float]:
    """A few round values up to `highest`."""
    step = next((s for s in (0.5, 1, 2, 5, 10, 20, 50, 100) if highest / s <= 4), highest)
    return [float(v) for v in np.arange(0, highest, step)]


def histogram(sizes: ArrayLike, edges: NDArray[np.float64], tallest: int, alt: str) -> str:
    """How many messages are of what size; `edges` and `tallest` make several of them comparable."""
    count = np.histogram(np.asarray(sizes, float), edges)[0]
    width, height, left, foot = 380.0, 170.0, 8.0, 34.0
    tall, step = height - foot - 18, (width - 2 * left) / len(count)
    out = [f'<line class="rule" x1="{left}" x2="{width - left}" y1="{18 + tall}" y2="{18 + tall}"/>']
    for i, n in enumerate(count.tolist()):
        h = tall * n / max(tallest, 1)
        x = left + i * step
        low, high = int(edges[i]), int(edges[i + 1]) - 1
        if n:
            out.append(f'<rect class="entry" x="{x + 1:.1f}" y="{18 + tall - h:.1f}" width="{step - 2:.1f}" '
                       f'height="{h:.1f}"><title>{n} {plural(n, "message")} of {low} to {high}</title></rect>'
                       f'<text class="tick" x="{x + step / 2:.1f}" y="{18 + tall - h - 6:.1f}">{n}</text>')
        if i % 2 == 0:
            out.append(f'<text class="tick" x="{x:.1f}" y="{height - 23:.1f}">{low}</text>')
    out.append(f'<text class="axis" x="{width / 2}" y="{height - 8}">size of a message</text>')
    return _svg("histogram", width, height, out, alt)


def histogram_edges(sizes: Sequence[Any], bins: int = 12) -> NDArray[np.float64]:
    """Whole-number edges of bins that hold all sizes, 1 or more, of several histograms."""
    largest = max((int(np.max(s)) for s in sizes if np.size(s)), default=1)
    raw = max(1.0, largest / bins)
    unit = 10.0 ** np.floor(np.log10(raw))
    step = next(s * unit for s in (1, 2, 2.5, 5, 10) if s * unit >= raw and float(s * unit).is_integer())
    return np.asarray(np.arange(0, largest // step + 2) * step, np.float64)


def share_bars(names: Sequence[str], amounts: Sequence[Sequence[float]], kinds: Sequence[str], alt: str) -> str:
    """One horizontal bar a name, divided by kinds in proportion to the amounts; pale to dark, first to last kind."""
    width, high, gap, head = 560.0, 26.0, 12.0, 22.0
    left = 30.0 + 7.0 * max(map(len, names), default=0)
    out = []
    for i, (name, row) in enumerate(zip(names, amounts, strict=True)):
        y, x, total = head + i * (high + gap), left, max(float(sum(row)), 1e-300)
        out.append(f'<text class="axis end" x="{left - 8}" y="{y + high / 2:.1f}">{escape(name)}</text>')
        for j, (kind, amount) in enumerate(zip(kinds, row, strict=True)):
            wide = (width - left - 8) * amount / total
            if amount:
                strength = 0.2 + 0.8 * j / max(len(kinds) - 1, 1)
                out.append(f'<rect class="entry" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high}" '
                           f'fill-opacity="{strength:.2f}"><title>{escape(name)}, distance {escape(kind)}: {amount:,} '
                           f"({amount / total:.0%})</title></rect>")
                if wide > 34:
                    tone = "over" if strength > 0.68 else "under"
                    out.append(f'<text class="{tone}" x="{x + wide / 2:.1f}" y="{y + high / 2:.1f}">{escape(kind)}: '
                               f"{amount / total:.0%}</text>" if wide > 62 else
                               f'<text class="{tone}" x="{x + wide / 2:.1f}" y="{y + high / 2:.1f}">'
                               f"{escape(kind)}</text>")
            x += wide
    out.append(f'<text class="axis start" x="{left}" y="{head - 10}">distance: share of the data</text>')
    return _svg("matrix", width, head + len(names) * (high + gap), out, alt)


def _svg(kind: str, width: float, height: float, body: Sequence[str], alt: str) -> str:
    return (f'<svg class="chart {kind}" viewBox="0 0 {width:.0f} {height:.0f}" style="--w:{width:.0f}px" '
            f'role="img" aria-label="{escape(alt)}">{"".join(body)}</svg>')


__all__ = ["WIDE", "bar_chart", "histogram", "histogram_edges", "matrix_chart", "share_bars", "times_mean"]
