"""Places of points on space-filling curves.

Coordinates become whole numbers of a few bits; their bits, interleaved, are the place on the Morton curve.  The Hilbert
curve turns and mirrors the cell of every level first.  (J. Skilling, Programming the Hilbert curve, AIP Conference
Proceedings 707, 2004.)
"""

import numpy as np

from . import inner, kernel


@inner
def _to_hilbert(cell, bits):
    """Turn the whole coordinates of a cell into those whose interleaved bits are its place on the Hilbert curve.

    cell : (d,) int64, in and out
    bits : int                  of each coordinate
    """
    dim = len(cell)
    q = np.int64(1) << (bits - 1)
    while q > 1:
        p = q - 1
        for c in range(dim):
            if cell[c] & q:
                cell[0] ^= p
            else:
                t = (cell[0] ^ cell[c]) & p
                cell[0] ^= t
                cell[c] ^= t
        q >>= 1
    for c in range(1, dim):
        cell[c] ^= cell[c - 1]
    t = np.int64(0)
    q = np.int64(1) << (bits - 1)
    while q > 1:
        if cell[dim - 1] & q:
            t ^= q - 1
        q >>= 1
    for c in range(dim):
        cell[c] ^= t


@kernel
def places(lo, hi, coords, corners, bits, hilbert, cell, place):
    """Place of points lo..hi on a curve through the box around all of them, a whole number.

    lo, hi : int
    coords : (n, d) float64, in
    corners : (2, d) float64, in    of the box
    bits : int                      of each coordinate; d * bits is at most 53
    hilbert : bool                  the Hilbert curve instead of Morton's
    cell : (d,) int64, scratch
    place : (n,) float64, out
    """
    dim = coords.shape[1]
    cells = np.int64(1) << bits
    for i in range(lo, hi):
        for c in range(dim):
            half = 0.5 * corners[1, c] - 0.5 * corners[0, c]
            f = (0.5 * coords[i, c] - 0.5 * corners[0, c]) / half if half > 0.0 else 0.0
            cell[c] = min(np.int64(f * cells), cells - 1)
        if hilbert:
            _to_hilbert(cell, bits)
        number = np.int64(0)
        for b in range(bits - 1, -1, -1):
            for c in range(dim):
                number = (number << 1) | ((cell[c] >> b) & 1)
        place[i] = number
