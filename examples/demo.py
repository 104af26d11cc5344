"""The demonstration that ``make demo`` runs: two cubes that share a face, from nothing to files and a picture.

About 40,000 tetrahedra against 27,000 hexahedra, the third published experiment
in small.  Each step is a command that can be typed as it is shown.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from copart.cli import main as copart


def run(*arguments: object) -> None:
    """Show a command and run it."""
    words = [str(a) for a in arguments]
    print(f"\n$ copart {shlex.join(words)}", flush=True)
    status = copart(words)
    if status:
        raise SystemExit(status)


def main(folder: str | Path = "demo-out", tetra: int = 40_630, hexa: int = 30, parts: tuple[int, int] = (16, 64),
         seeds: int = 3) -> dict[str, Path]:
    """Run the demonstration; returns the files it made, by what they are."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    a, b, plan = out / "tetra.vtu", out / "hexa.vtu", out / "plan"
    picture, page = out / "compare.png", out / "compare.html"
    run("doctor")
    run("mesh", "cube", "--cells", "tetra", "--about", tetra, "-o", a)
    run("mesh", "cube", "--cells", "hexa", hexa, "--offset", 1, 0, 0, "-o", b)
    run("compare", a, b, "--parts", *parts, "--interedges", "touch", "--seeds", seeds, "--legend", "--picture", picture,
        "--report", page)
    run("plan", a, b, "--parts", *parts, "--interedges", "touch", "-o", plan)
    run("check", plan)
    print(f"""
The report:              {page} (open it in a browser)
The picture:             {picture}
Meshes with their parts: {plan / 'tetra.vtu'} and {plan / 'hexa.vtu'} (cell arrays part and coupled)
Who sends what to whom:  {plan / 'coupling.json'}
All figures:             {plan / 'metrics.json'}""")
    return {"picture": picture, "report": page, "plan": plan}


if __name__ == "__main__":
    main(*sys.argv[1:2])
