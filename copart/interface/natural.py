"""Natural counts: how many parts of a component its interface meets where it is partitioned alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import WEIGHT
from ..coupling import CoupledProblem
from ..errors import of_component
from ..operators import part
from ..options import QUICK, Options


def shares_alone(problem: CoupledProblem, name: str, nparts: int, options: Options) -> NDArray[np.int64]:
    """Coupled weight of each part where a component is partitioned alone: by NAIVE, with :data:`copart.options.QUICK`.

    Parameters
    ----------
    problem : CoupledProblem
    name : str
        The component; all its coupled cells count, whichever other component they face.
    nparts : int
    options : Options
        As for the scheme, whatever its preset.

    Returns
    -------
    (nparts,) int64
        Coupled cells, where none of them weighs anything.

    Raises
    ------
    PartitionError
        No balanced partition of the component alone was found.
    """
    graph, cells = problem.components[name], problem.coupled(name)
    with of_component(name):
        made = part(graph, nparts, options.replace(preset=QUICK))
    weights = problem.coupled_load(name)
    out = np.zeros(nparts, WEIGHT)
    np.add.at(out, made[cells], weights if weights.any() else 1)
    return out


__all__ = ["shares_alone"]
