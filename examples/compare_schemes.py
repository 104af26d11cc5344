"""What the schemes do to the coupling: volume and messages of all on two cubes that share a face.

The faces are nested (each face of A covers nine of B), the case in which
projecting one partition onto the other pays.
"""

from __future__ import annotations

import sys

import copart
from copart.mesh import cube
from copart.report import comparison_table


def main(size: int = 12, seeds: int = 3) -> dict[str, dict[str, float]]:
    """Compare on a cube of size^3 cells against one of (3 size)^3; returns the mean figures by scheme."""
    a, b = cube("hexa", size, name="coarse"), cube("hexa", 3 * size, offset=(1, 0, 0), name="fine")
    comparison = copart.compare(a, b, parts=(7, 17), seeds=seeds)
    print(comparison_table(comparison.rows(), "two cubes, nested faces").text())
    return {row["scheme"]: row for row in comparison.rows()}


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
