"""PaToH hypergraph files (``.patoh``, ``.u``): one line per net, its cost and its pins.

The header is ``base nvtxs nnets npins [scheme [ncon]]``: vertices are counted from `base` (0 or 1); scheme 1 and 3 add
the vertex weights behind the nets, ncon numbers per vertex on any lines; 2 and 3 put a cost before the pins of each
net.  Empty lines and those that start with ``%`` are skipped.  The first pin of a net is read as its source.
(PaToH manual, section on the input file.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..hypergraph import Hypergraph
from .hgr import assembled, filled_lines, lines_of_nets, not_negative
from .output import write_text_atomic
from .text import Numbers, PathLike, read_numbers


def read_patoh(path: PathLike) -> Hypergraph:
    """Read a PaToH hypergraph file (``.patoh``, ``.u``, each also with ``.gz``).

    A vertex that a net lists more than once is kept once, where it comes first; how many were left out is logged as a
    warning.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    FormatError
        The first rule the file breaks, with its line.
    """
    numbers = read_numbers(path)
    rows = filled_lines(numbers)
    line = int(numbers.number[rows[0]])
    base, nvtxs, nnets, npins, has_cost, ncon = _header(numbers, int(rows[0]))
    rows = rows[1:]
    if len(rows) < nnets:
        raise numbers.error(f"{nnets} nets are announced in line {line}, only {len(rows)} follow",
                            line=numbers.last_line())
    first = int(numbers.first[rows[0]]) if len(rows) else len(numbers.values)
    behind = int(numbers.first[rows[nnets]]) if len(rows) > nnets else len(numbers.values)
    found = behind - first - (nnets if has_cost else 0)
    if found != npins:
        raise numbers.error(f"{npins} pins are announced, the nets have {found}", line=line)
    vwgt = _vertex_weights(numbers, behind, nvtxs, ncon, line)
    return assembled(numbers, rows[:nnets], has_cost, nvtxs, base, vwgt)


def write_patoh(path: PathLike, hypergraph: Hypergraph, base: int = 0) -> None:
    """Write a PaToH file, the source of each net first; costs and weights only where some are not 1."""
    has_cost, has_vwgt = bool((hypergraph.cost != 1).any()), hypergraph.ncon > 1 or bool((hypergraph.vwgt != 1).any())
    head = [base, hypergraph.nvtxs, hypergraph.nnets, hypergraph.npins]
    if has_cost or has_vwgt:
        head += [has_vwgt + 2 * has_cost] + [hypergraph.ncon] * (hypergraph.ncon > 1)
    out = [" ".join(str(int(x)) for x in head), *lines_of_nets(hypergraph, base, has_cost)]
    if has_vwgt:
        out += [" ".join(map(str, row)) for row in hypergraph.vwgt.reshape(hypergraph.nvtxs, -1).tolist()]
    write_text_atomic(path, "\n".join(out) + "\n")


def _header(numbers: Numbers, head: int) -> tuple[int, int, int, int, bool, int]:
    """base, nvtxs, nnets, npins, whether nets have costs, and the number of weights per vertex."""
    line = int(numbers.number[head])
    given = [int(x) for x in numbers.line(head)]
    if not 4 <= len(given) <= 6:
        raise numbers.error(f"the header needs 4 to 6 numbers (base, vertices, nets, pins, scheme, constraints), "
                            f"has {len(given)}", line=line)
    base, nvtxs, nnets, npins, scheme, ncon = given + [0, 1][len(given) - 4:]
    if base not in (0, 1):
        raise numbers.error(f"base, the number of the first vertex, must be 0 or 1, is {base}", line=line)
    if min(nnets, npins) < 0 or not 0 <= nvtxs < 2**31:
        raise numbers.error(f"the header announces {nvtxs} vertices, {nnets} nets and {npins} pins, needs numbers "
                            f">= 0, fewer than 2^31 vertices", line=line)
    if scheme not in (0, 1, 2, 3):
        raise numbers.error(f"scheme must be 0, 1 (vertex weights), 2 (net costs) or 3 (both), is {scheme}", line=line)
    if not 1 <= ncon <= 64:
        raise numbers.error(f"the number of weights per vertex must be 1 to 64, is {ncon}", line=line)
    return base, nvtxs, nnets, npins, scheme >= 2, ncon if scheme % 2 else 0


def _vertex_weights(numbers: Numbers, behind: int, nvtxs: int, ncon: int, line: int) -> NDArray[np.int64] | None:
    """The weights behind the nets: (nvtxs, ncon), None where there are none."""
    found, needed = len(numbers.values) - behind, nvtxs * ncon
    if found < needed:
        raise numbers.error(f"the header in line {line} demands {needed} vertex weights, only {found} follow the nets",
                            line=numbers.last_line())
    if found > needed:
        what = f"{needed} vertex weights follow the nets" if ncon else "no vertex weights follow the nets"
        raise numbers.error(f"as the header in line {line} says {what}, here is one more number", token=behind + needed)
    if not ncon:
        return None
    values = numbers.values[behind:]
    not_negative(numbers, values, np.arange(behind, len(numbers.values)), "vertex weight")
    return values.reshape(nvtxs, ncon)
