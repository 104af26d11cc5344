"""Two meshio meshes in, VTU files with parts out.

A channel of triangles lies on a plate of quadrilaterals; the meshes do not
match.  Triangles with an edge on the plate have no edge in common, so ``touch``
couples those with a corner on it too: then neighbours can stay together.  Open
the files in ParaView and colour them by ``part``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import meshio
import numpy as np

import copart


def channel(n: int = 48, m: int = 16) -> meshio.Mesh:
    """Triangles over [0, 3] x [0, 1]."""
    points, quads = lattice(n, m, 3.0, 0.0, 1.0)
    return meshio.Mesh(points, [("triangle", np.vstack([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]))])


def plate(n: int = 70, m: int = 8) -> meshio.Mesh:
    """Quadrilaterals over [0, 3] x [-0.25, 0]."""
    points, quads = lattice(n, m, 3.0, -0.25, 0.0)
    return meshio.Mesh(points, [("quad", quads)])


def lattice(n: int, m: int, length: float, bottom: float, top: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and cells of n x m rectangles."""
    x, y = np.meshgrid(np.linspace(0, length, n + 1), np.linspace(bottom, top, m + 1))
    first = (np.arange(m)[:, None] * (n + 1) + np.arange(n)).ravel()
    return np.column_stack([x.ravel(), y.ravel()]), np.column_stack([first, first + 1, first + n + 2, first + n + 1])


def main(folder: str | Path | None = None) -> dict[str, float]:
    """Plan, write, read back; returns numbers to look at."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(folder or scratch)
        plan = copart.plan(channel(), plate(), parts=(8, 4), coupled=(4, 3), interedges="touch",
                           names=("channel", "plate"), output=out)
        print(plan)
        print("wrote", *[path.name for path in plan.files])
        part = np.concatenate(meshio.read(out / "channel.vtu").cell_data["part"])
        coupled = np.concatenate(meshio.read(out / "channel.vtu").cell_data["coupled"])
    return {"channel_cells": len(part), "channel_parts": len(np.unique(part)), "coupled_cells": int(coupled.sum()),
            "coupled_parts": len(np.unique(part[coupled == 1])), "totZ": plan.metrics.pair.totZ,
            "ub": max(plan.metrics.a.ub, plan.metrics.b.ub)}


if __name__ == "__main__":
    print(main(*sys.argv[1:2]))
