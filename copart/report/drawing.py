"""Scenes coloured by a partition, as SVG: shaded pixels below, outlines of parts and their numbers above."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from .palette import COLOURS
from .scene import FINE, Scene

#: Brightness levels of each colour in the palette of a picture.
_LEVELS = 20
_DARKEST = 0.40
#: First entries of the palette: nothing, borders between parts, and two of borders without areas.
NOTHING, BORDER, STRONG, WEAK, _FIRST = 0, 1, 2, 3, 4


def palette() -> NDArray[np.uint8]:
    """(n, 3) colours that the pixels of a picture refer to."""
    base = np.array([[int(c[i:i + 2], 16) for i in (1, 3, 5)] for c in COLOURS])
    level = np.linspace(_DARKEST, 1.0, _LEVELS)
    shaded = (base[:, None, :] * level[None, :, None]).round().reshape(-1, 3)
    fixed = np.array([[255, 255, 255], [20, 28, 36], [104, 120, 134], [150, 163, 175]])
    return np.concatenate([fixed, shaded]).astype(np.uint8)


def png(pixels: NDArray[np.uint8], colours: NDArray[np.uint8]) -> bytes:
    """A PNG file of palette numbers; number 0 is transparent."""
    height, width = pixels.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = pixels
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
            + chunk(b"PLTE", colours.tobytes()) + chunk(b"tRNS", b"\0")
            + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b""))


def parts_seen(scene: Scene, part: NDArray[np.int32]) -> NDArray[np.int32]:
    """(height, width) part of what is seen, -1 where nothing is."""
    return np.where(scene.cell >= 0, part[scene.cell], -1).astype(np.int32)


def borders(seen: NDArray[np.int32], thick: int = 1) -> NDArray[np.bool_]:
    """Pixels between two parts, `thick` on either side."""
    between = np.zeros(seen.shape, bool)
    across = (seen[:, :-1] != seen[:, 1:]) & (seen[:, :-1] >= 0) & (seen[:, 1:] >= 0)
    down = (seen[:-1] != seen[1:]) & (seen[:-1] >= 0) & (seen[1:] >= 0)
    for step in range(thick):
        between[:, step:][:, :across.shape[1] - step] |= across[:, :across.shape[1] - step]
        between[:, 1 + step:] |= across[:, :across.shape[1] - step]
        between[step:][:down.shape[0] - step] |= down[:down.shape[0] - step]
        between[1 + step:] |= down[:down.shape[0] - step]
    return between & (seen >= 0)


def shaded(scene: Scene, seen: NDArray[np.int32], colour: NDArray[np.int64],
           other: NDArray[np.int32] | None = None) -> NDArray[np.uint8]:
    """Palette numbers of a scene.

    Parameters
    ----------
    scene : Scene
    seen : (height, width) int32
        From :func:`parts_seen`.
    colour : (nparts,) int
        Number of the colour of each part.
    other : (height, width) int32, optional
        Parts whose borders are drawn in place of those of `seen`.
    """
    level = np.where(scene.lines, scene.shade * 0.80, scene.shade)
    step = np.clip(((level - _DARKEST) / (1 - _DARKEST) * (_LEVELS - 1)).round(), 0, _LEVELS - 1).astype(np.int64)
    pixels = np.where(seen >= 0, _FIRST + colour[seen] * _LEVELS + step, NOTHING)
    pixels[borders(seen) if other is None else borders(other, 2) & (seen >= 0)] = BORDER
    return pixels.astype(np.uint8)


def outlines(seen: NDArray[np.int32]) -> dict[int, str]:
    """SVG path of the area of each part, along the pixels of a page (every second of the picture's)."""
    label = np.pad(seen[::FINE, ::FINE], 1, constant_values=-1)
    # sides of pixels between two parts, walked with the part on the right: start and direction
    sides: dict[int, dict[tuple[int, int], list[tuple[int, int]]]] = {}
    for dx, dy, here, there, shift in ((1, 0, label[1:], label[:-1], (0, 1)), (-1, 0, label[:-1], label[1:], (1, 1)),
                                       (0, -1, label[:, 1:], label[:, :-1], (1, 1)),
                                       (0, 1, label[:, :-1], label[:, 1:], (1, 0))):
        i, j = np.nonzero((here != there) & (here >= 0))
        for p, y, x in zip(here[i, j].tolist(), (i + shift[1]).tolist(), (j + shift[0]).tolist(), strict=True):
            sides.setdefault(p, {}).setdefault((x, y), []).append((dx, dy))
    return {p: "".join(_loops(at)) for p, at in sorted(sides.items())}


def _loops(at: dict[tuple[int, int], list[tuple[int, int]]]) -> list[str]:
    """Closed walks along sides, each as a path of straight runs."""
    out = []
    while at:
        x, y = start = next(iter(at))
        dx, dy = at[start][-1]
        path, run = [f"M{x - 1} {y - 1}"], 0
        while (x, y) in at:
            ahead = at[x, y]
            # where four sides meet, turn right: the areas that touch in a corner stay apart
            turn = (-dy, dx) if (-dy, dx) in ahead else ahead[-1]
            if turn != (dx, dy):
                path.append(_step(dx, dy, run))
                run = 0
            ahead.remove(turn)
            if not ahead:
                del at[x, y]
            dx, dy = turn
            x, y, run = x + dx, y + dy, run + 1
        out.append("".join(path) + "z")
    return out


def _step(dx: int, dy: int, run: int) -> str:
    return "" if run == 0 else f"h{dx * run}" if dx else f"v{dy * run}"


def part_areas(seen: NDArray[np.int32], key: str, tell: Callable[[int], str]) -> str:
    """Transparent areas over the parts of a picture, which say what they are when pointed at."""
    return "".join(f'<path data-part="{key}{p}" d="{d}"><title>{escape(tell(p))}</title></path>'
                   for p, d in outlines(seen).items())


def numbers(seen: NDArray[np.int32]) -> str:
    """The number of each part, where its area on the picture has most room, if it has enough."""
    from scipy.ndimage import distance_transform_edt

    label = np.pad(seen[::FINE, ::FINE], 1, constant_values=-1)
    edge = np.zeros(label.shape, bool)
    for axis in (0, 1):
        for step in (-1, 1):
            edge |= np.roll(label, step, axis) != label
    room = distance_transform_edt(~edge)
    order = np.argsort(-room.ravel(), kind="stable")
    part, first = np.unique(label.ravel()[order], return_index=True)
    out = []
    for p, at in zip(part.tolist(), order[first].tolist(), strict=True):
        y, x = divmod(int(at), label.shape[1])
        if p >= 0 and room[y, x] >= max(7.0, 2 + 3.4 * len(str(p))):
            out.append(f'<text x="{x - 1}" y="{y - 1}">{p}</text>')
    return f'<g class="number">{"".join(out)}</g>'


def picture(pixels: NDArray[np.uint8], over: Sequence[str], alt: str) -> str:
    """An SVG picture of pixels, with more SVG over them."""
    height, width = pixels.shape
    data = base64.b64encode(png(pixels, palette())).decode()
    w, h = width / FINE, height / FINE
    return (f'<svg class="picture" viewBox="0 0 {w:g} {h:g}" role="img" aria-label="{escape(alt)}">'
            f'<image href="data:image/png;base64,{data}" width="{w:g}" height="{h:g}"/>{"".join(over)}</svg>')


__all__ = ["BORDER", "NOTHING", "STRONG", "WEAK", "borders", "numbers", "outlines", "palette", "part_areas",
           "parts_seen", "picture", "png", "shaded"]
