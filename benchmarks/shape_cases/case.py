"""What a case is, how its resolution is found, and how it becomes a coupled problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from copart.coupling import CoupledProblem
from copart.mesh import Mesh
from copart.plans.components import coupled_problem
from copart.plans.requests import Meeting

from .building import oriented

Meshes = dict[str, Mesh]
Loads = Callable[[Mapping[str, Mesh]], dict[str, NDArray[np.int64]]]
_TRIES = 6


@dataclass(frozen=True)
class ShapeCase:
    """Two or more meshes of bodies that meet.

    Attributes
    ----------
    name : str
    meaning : str
        What it is, in one line.
    build : callable
        From about the number of cells in all to the meshes by component, in one coordinate system.
    kinds : tuple of str
        Ways in which the interface is found.
    load : callable, optional
        From the meshes to the load of each cell of each component; all 1 where there is none.
    gap : float, optional
        Largest gap of the two surfaces; the tolerance of copart where not given.
    pieces : mapping of str to int
        Components that are meant to consist of several pieces, and of how many.
    unstructured : bool
        The meshes are made with gmsh.
    """

    name: str
    meaning: str
    build: Callable[[int], Meshes]
    kinds: tuple[str, ...] = ("facet", "touch")
    load: Loads | None = None
    gap: float | None = None
    pieces: Mapping[str, int] = field(default_factory=dict)
    unstructured: bool = False


Make = Callable[[float], Meshes]


class Collection(dict[str, ShapeCase]):
    """Cases by name."""

    def add(self, name: str, meaning: str, dimension: int, start: float, **more: object) -> Callable[[Make], Make]:
        """Enter a case.

        The function below makes its meshes for a number of cells per unit of length; `start` is one that gives few
        cells, and the number of cells grows with its power `dimension`.
        """
        def enter(make: Make) -> Make:
            slack = 0.2 if more.get("unstructured") else 0.1
            self[name] = ShapeCase(name, meaning, partial(fitted, make, dimension, start, slack), **more)  # type: ignore[arg-type]
            return make
        return enter


def fitted(make: Make, dimension: int, start: float, slack: float, cells: int) -> Meshes:
    """Meshes of about `cells` cells: the first of a few tries within the `slack` (a logarithm), or else the nearest."""
    n, best = start, None
    for _ in range(_TRIES):
        meshes = make(n)
        miss = float(np.log(cells / sum(mesh.ncells for mesh in meshes.values())))
        if best is None or abs(miss) < abs(best[0]):
            best = (miss, meshes)
        if abs(miss) < slack:
            break
        n *= float(np.exp(miss / dimension))
    assert best is not None
    return {name: oriented(mesh).replace(name=name) for name, mesh in best[1].items()}


def problem(case: ShapeCase, cells: int, kind: str) -> CoupledProblem:
    """The coupled problem of a case.

    Parameters
    ----------
    case : ShapeCase
    cells : int
        About how many in all.
    kind : str
        How the interface is found: one of ``case.kinds``.
    """
    if kind not in case.kinds:
        raise ValueError(f"kind: the interface of {case.name} is found by {', '.join(case.kinds)}, got {kind!r}")
    return coupled(case, case.build(cells), kind)


def coupled(case: ShapeCase, meshes: Mapping[str, Mesh], kind: str) -> CoupledProblem:
    """The same of meshes that are there already."""
    load = None
    if case.load is not None:
        loads = case.load(meshes)
        meshes = {name: mesh.replace(cell_data={"load": loads[name]}) for name, mesh in meshes.items()}
        load = "load"
    meeting = Meeting(gap=None if kind == "overlap" else case.gap, several=kind != "overlap")
    return coupled_problem(*meshes.values(), interedges=kind, names=tuple(meshes), load=load, meeting=meeting).problem


def hot_spot(centre: tuple[float, float, float], radius: float, factor: int = 10) -> Loads:
    """Loads that are `factor` within a ball and 1 elsewhere."""
    def loads(meshes: Mapping[str, Mesh]) -> dict[str, NDArray[np.int64]]:
        return {name: np.where(np.linalg.norm(mesh.centres() - np.array(centre), axis=1) < radius, factor, 1)
                for name, mesh in meshes.items()}
    return loads
