"""The whole job in one call: components in, co-partition, figures and files out.

`plan` runs one scheme, `compare` all of them over several seeds.  A component
is a mesh (a file, ``FILE:ARRAY=VALUE`` or ``FILE:NAME`` for a region or boundary
of it, a mesh of another package, arrays, a `copart.mesh.Mesh`) or a graph (a `Graph`, a scipy.sparse
matrix, a networkx graph, ``(xadj, adjncy)``).  Meshes find their interedges
themselves; graphs come with an `Interedges`.

Arguments are checked before the work begins, and the output folder is tried;
files appear there together, after the last of them is complete.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import warm
from .algorithms import SCHEMES
from .algorithms import scheme as scheme_called
from .arrays import fraction, whole
from .components import Progress, coupled_problem, silent
from .config import preset as check_preset
from .coupling import CoPartition, CoupledProblem, Interedges
from .errors import ConfigError, PartitionError
from .formats import prepare_folder
from .metrics import CoupledMetrics, evaluate
from .output import SCHEMA, VERSION, check_file_names, file_name, write_plan
from .part_metrics import part_metrics
from .report import scheme_table
from .writers import check_meshes, checked_kinds, file_of, refuse_inputs

if TYPE_CHECKING:
    from .mesh import Mesh
    from .mesh.detection import Interface


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """A co-partition with everything that belongs to it.

    Attributes
    ----------
    problem : CoupledProblem
    copartition : CoPartition
    metrics : CoupledMetrics
        Computed from scratch from the two above.
    meshes : mapping of str to Mesh
        The components that came as meshes.
    settings : mapping
        Scheme and options, as JSON types.
    seconds : float
        Time of the partitioning alone.
    files : tuple of Path
        What was written, empty without an output folder.
    sources : mapping of str to str
        What each component was read from, as given, where that was a file.
    interface : Interface or None
        Where the meshes meet: what matched of how much, areas, the largest gap; None where interedges were given.
    remarks : tuple of str
        What the files lost when they were read, and which other components they hold.
    """

    problem: CoupledProblem
    copartition: CoPartition
    metrics: CoupledMetrics
    meshes: Mapping[str, Mesh]
    settings: Mapping[str, Any]
    seconds: float
    files: tuple[Path, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    interface: Interface | None = None
    remarks: tuple[str, ...] = ()

    def write(self, output: str | os.PathLike[str], write: str | Sequence[str] | None = None) -> tuple[Path, ...]:
        """Write meshes with parts, part files, ``coupling.json`` and ``metrics.json`` into folder `output`.

        `write` names more kinds of files; see :func:`plan`.
        """
        return write_plan(Path(output), self.problem, self.copartition, self.meshes, self.to_dict(),
                          checked_kinds(write), self.sources, self.placed())

    def placed(self) -> dict[str, Mesh]:
        """The meshes in one coordinate system: B scaled and moved as it was to meet A."""
        return _placed(self.problem, self.meshes, self.settings)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one self-contained HTML page with figures, pictures and charts; returns its path."""
        from .report.coupled import page_of
        from .report.page import write_page

        return write_page(path, page_of(self))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row a part of either component: ready for ``pandas.DataFrame``."""
        return [row for parts in part_metrics(self.problem, self.copartition).values() for row in parts.to_dicts()]

    def to_dict(self) -> dict[str, Any]:
        """Settings, time and figures as plain JSON types: the content of ``metrics.json``."""
        return {"schema": SCHEMA, "version": VERSION, "settings": dict(self.settings),
                "seconds": round(self.seconds, 3), "metrics": self.metrics.to_dict(),
                "interface": self.interface and self.interface.to_dict(), "remarks": list(self.remarks)}

    def __repr__(self) -> str:
        return f"Plan by {self.settings['scheme']} in {self.seconds:.2f} s\n{self.metrics!r}"

    def _repr_html_(self) -> str:
        """The figures as tables, for notebooks."""
        return f"<p>Plan by {self.settings['scheme']} in {self.seconds:.2f} s</p>{self.metrics._repr_html_()}"


@dataclass(frozen=True)
class Run:
    """One scheme with one seed."""

    scheme: str
    seed: int
    seconds: float
    metrics: CoupledMetrics = field(repr=False)

    def figures(self) -> dict[str, float]:
        """The figures of the published tables, ub as fractions."""
        a, b, pair = self.metrics.a, self.metrics.b, self.metrics.pair
        return {"ub_a": a.ub, "ub_b": b.ub, "ub_cpl_a": a.ub_cpl, "ub_cpl_b": b.ub_cpl, "cut_a": a.cut, "cut_b": b.cut,
                "cut_cpl_a": a.cut_cpl, "cut_cpl_b": b.cut_cpl, "totV": pair.totV_ab, "totZ": pair.totZ,
                "ncoupled_a": a.ncoupled, "ncoupled_b": b.ncoupled, "seconds": self.seconds}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Every scheme over several seeds.

    Attributes
    ----------
    problem : CoupledProblem
    runs : tuple of Run
        In order of scheme, then seed.
    copartitions : mapping of str to CoPartition
        By scheme, of the first seed.
    meshes : mapping of str to Mesh
    settings : mapping
    interface : Interface or None
    remarks : tuple of str
    """

    problem: CoupledProblem
    runs: tuple[Run, ...]
    copartitions: Mapping[str, CoPartition]
    meshes: Mapping[str, Mesh]
    settings: Mapping[str, Any]
    interface: Interface | None = None
    remarks: tuple[str, ...] = ()

    @property
    def schemes(self) -> tuple[str, ...]:
        """The schemes that ran, in order."""
        return tuple(self.copartitions)

    def placed(self) -> dict[str, Mesh]:
        """The meshes in one coordinate system: B scaled and moved as it was to meet A."""
        return _placed(self.problem, self.meshes, self.settings)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one self-contained HTML page with figures, pictures and charts; returns its path."""
        from .report.coupled import page_of
        from .report.page import write_page

        return write_page(path, page_of(self))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row a run, with scheme and seed: ready for ``pandas.DataFrame``."""
        return [{"scheme": r.scheme, "seed": r.seed, **r.figures()} for r in self.runs]

    def _repr_html_(self) -> str:
        """The schemes' table, for notebooks."""
        return scheme_table(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """One row a scheme: ``scheme`` and the mean over the seeds of every figure."""
        out: list[dict[str, Any]] = []
        for scheme in self.schemes:
            figures = [run.figures() for run in self.runs if run.scheme == scheme]
            out.append({"scheme": scheme, **{key: float(np.mean([f[key] for f in figures])) for key in figures[0]}})
        return out

    def to_dict(self) -> dict[str, Any]:
        """Settings, mean figures and single runs as plain JSON types."""
        return {"schema": "copart-comparison", "version": 1, "settings": dict(self.settings),
                "interface": self.interface and self.interface.to_dict(), "mean": self.rows(),
                "runs": self.to_dicts()}

    def __repr__(self) -> str:
        lines = [f"{row['scheme']}: cut {row['cut_a']:.0f} and {row['cut_b']:.0f}, "
                 f"coupled ub {row['ub_cpl_a']:.1%} and {row['ub_cpl_b']:.1%}, "
                 f"totV {row['totV']:.0f}, totZ {row['totZ']:.1f}" for row in self.rows()]
        return "\n".join(lines)


def plan(mesh_a: Any, mesh_b: Any, parts: Sequence[int] = (16, 64), coupled: Sequence[int] | None = None,
         scheme: str = "projrepart", *, interedges: str | Interedges = "facet", eps: float = 0.05, seed: int = 1,
         threads: int = 1, preset: str = "default", names: Sequence[str] | None = None, weights: str | None = None,
         tolerance: float | None = None, gap: float | None = None, scale_b: float = 1.0,
         shift_b: Sequence[float] | None = None, periodic_b: Sequence[float] | None = None, several: bool = False,
         output: str | os.PathLike[str] | None = None,
         write: str | Sequence[str] | None = None, progress: Progress | None = None) -> Plan:
    """Co-partition two coupled components.

    Parameters
    ----------
    mesh_a, mesh_b : path, Mesh, meshio.Mesh, pyvista grid, (points, cells), Graph, sparse matrix, networkx graph \
            or (xadj, adjncy)
        The two components.  A path may end in ``:ARRAY=VALUE`` or ``:NAME`` for a region of that mesh or the boundary
        at which it is coupled, or in several of these, from left to right: ``case.su2:zone=2:wall``.
    parts : (int, int)
        Number of parts of each.
    coupled : (int, int), optional
        Number of parts that may own coupled cells; see :func:`copart.algorithms.coupled_counts` where not given.
    scheme : str
        ``naive``, ``aware`` or ``projrepart``.
    interedges : {"facet", "touch", "overlap"} or Interedges
        How meshes find their coupled cells: boundary facets that overlap (weighted by the overlap), cells
        that share at least a point, or cells that cover the same space (weighted by what they share).
        Graphs need an `Interedges` (or a sparse matrix, cells of A by cells of B).
    eps : float
        Imbalance allowed, a fraction.
    seed : int
        Same seed, same result, on any number of threads.
    threads : int
    preset : str
        ``fast``, ``default`` or ``strong``.
    names : (str, str), optional
        Names of the components; from the files where not given.
    weights : str, optional
        Cell array with the load of each cell of the meshes; 1 each where not given.
    tolerance : float, optional
        Largest gap between the two surfaces, as a fraction of the facet size; see
        :func:`copart.mesh.find_interedges`.
    gap : float, optional
        The same in the unit of the coordinates, instead of `tolerance`.
    scale_b : float
        Coordinates of B are multiplied by this first: 0.001 where B is in millimetres and A in metres.
    shift_b : (float, float, float), optional
        Added to the coordinates of B, after scaling.
    periodic_b : (float, float, float), optional
        B is also where this vector and its multiples, forward and back, put it.
    several : bool
        Couple all surfaces that match.  Otherwise two or more of comparable size are refused where no boundary
        is named.
    output : path, optional
        Folder to write to; see :meth:`Plan.write`.
    write : str or sequence of str, optional
        More kinds of files for that folder: ``pvtu``, ``gmsh``, ``openfoam``, ``aste``, ``precice``, in one string
        with commas between or in a list (:mod:`copart.writers`).  Where not given, those that go with the files
        read: ``openfoam`` for OpenFOAM cases, ``gmsh`` for gmsh files.
    progress : callable, optional
        Called as ``progress(step, done, total)`` when a step begins.

    Returns
    -------
    Plan

    Raises
    ------
    ConfigError, MeshError, FormatError, GraphError, CouplingError, PartitionError
        One clear message; nothing is written then.

    Examples
    --------
    >>> line = ([0, 1, 3, 4], [1, 0, 2, 1])
    >>> coupling = Interedges.from_pairs(3, 3, [0, 1, 2], [0, 1, 2])
    >>> p = plan(line, line, parts=(1, 3), coupled=(1, 3), interedges=coupling)
    >>> sorted(p.copartition.b.tolist()), p.metrics.pair.totZ
    ([0, 1, 2], 3)
    """
    options = _options(eps, seed, threads, preset)
    run = scheme_called(scheme)
    counts = _counts("parts", parts)
    limits = None if coupled is None else _counts("coupled", coupled)
    kinds = checked_kinds(write)
    if output is not None:
        prepare_folder(output)
    tell = progress or silent
    where = _where(tolerance, gap, scale_b, shift_b, periodic_b, several)
    problem, meshes, interface, remarks = coupled_problem(
        mesh_a, mesh_b, interedges=interedges, names=names, weights=weights, **where, progress=tell)
    _fits(problem, counts)
    sources = {name: os.fspath(source) for name, source in zip(problem.names, (mesh_a, mesh_b), strict=True)
               if isinstance(source, str | os.PathLike)}
    if output is not None:
        check_file_names(problem.names)
        check_meshes(kinds or (), meshes, problem.names)
        refuse_inputs([Path(output) / f"{file_name(name)}.vtu" for name in meshes],
                      map(file_of, sources.values()))
    tell(f"partitioning with {scheme}", 0, 0)
    begin = time.perf_counter()
    copartition = run(problem, counts, limits, **options)
    seconds = time.perf_counter() - begin
    tell("measuring", 0, 0)
    settings = {"scheme": scheme, "names": list(problem.names), "parts": list(counts),
                "coupled": [copartition.ncoupled[n] for n in problem.names], "interedges": _described(interedges),
                "weights": weights, **where, **options}
    made = Plan(problem, copartition, evaluate(problem, copartition), meshes, settings, seconds, sources=sources,
                interface=interface, remarks=remarks)
    if output is None:
        return made
    tell(f"writing to {os.fspath(output)}", 0, 0)
    return replace(made, files=made.write(output, kinds))


def compare(mesh_a: Any, mesh_b: Any, parts: Sequence[int] = (16, 64), coupled: Sequence[int] | None = None,
            schemes: Sequence[str] | None = None, seeds: int | Sequence[int] = 5, *,
            interedges: str | Interedges = "facet", eps: float = 0.05, threads: int = 1, preset: str = "default",
            names: Sequence[str] | None = None, weights: str | None = None, tolerance: float | None = None,
            gap: float | None = None, scale_b: float = 1.0, shift_b: Sequence[float] | None = None,
            periodic_b: Sequence[float] | None = None, several: bool = False,
            progress: Progress | None = None) -> Comparison:
    """Run the schemes over several seeds on one coupled problem.

    Parameters
    ----------
    mesh_a, mesh_b, parts, coupled, interedges, eps, threads, preset, names, weights, tolerance, gap, scale_b
    shift_b, periodic_b, several, progress
        As for :func:`plan`.
    schemes : sequence of str, optional
        Which schemes to run; all where not given.
    seeds : int or sequence of int
        How many seeds (1, 2, ...), or which.

    Returns
    -------
    Comparison
        Times are of the partitioning alone; kernels are compiled before the first is measured.
    """
    chosen = list(SCHEMES) if schemes is None else list(dict.fromkeys(schemes))
    if not chosen:
        raise ConfigError(f"schemes: needs at least one of {', '.join(SCHEMES)}")
    todo = [(name, scheme_called(name)) for name in chosen]
    numbers = list(range(1, whole("seeds", seeds, low=1) + 1)) if np.ndim(seeds) == 0 else \
        [whole("seeds", s, low=0) for s in seeds]  # type: ignore[union-attr]
    if not numbers:
        raise ConfigError("seeds: needs at least one")
    options = _options(eps, numbers[0], threads, preset)
    counts = _counts("parts", parts)
    limits = None if coupled is None else _counts("coupled", coupled)
    tell = progress or silent
    where = _where(tolerance, gap, scale_b, shift_b, periodic_b, several)
    problem, meshes, interface, remarks = coupled_problem(
        mesh_a, mesh_b, interedges=interedges, names=names, weights=weights, **where, progress=tell)
    _fits(problem, counts)
    tell("compiling kernels", 0, 0)
    warm.schemes(chosen, **options)
    runs: list[Run] = []
    first: dict[str, CoPartition] = {}
    for i, (name, run) in enumerate(todo):
        for j, number in enumerate(numbers):
            tell(f"{name}, seed {number}", i * len(numbers) + j, len(todo) * len(numbers))
            begin = time.perf_counter()
            copartition = run(problem, counts, limits, **{**options, "seed": number})
            seconds = time.perf_counter() - begin
            runs.append(Run(name, number, seconds, evaluate(problem, copartition)))
            first.setdefault(name, copartition)
    settings = {"schemes": chosen, "seeds": numbers, "names": list(problem.names), "parts": list(counts),
                "coupled": limits and list(limits), "interedges": _described(interedges),
                "weights": weights, **where, **{k: v for k, v in options.items() if k != "seed"}}
    return Comparison(problem, tuple(runs), first, meshes, settings, interface, remarks)


def _options(eps: float, seed: int, threads: int, preset: str) -> dict[str, Any]:
    check_preset(preset)
    return {"eps": fraction("eps", eps), "seed": whole("seed", seed, low=0),
            "threads": whole("threads", threads, low=1), "preset": preset}


def _where(tolerance: float | None, gap: float | None, scale_b: float, shift_b: Sequence[float] | None,
           periodic_b: Sequence[float] | None, several: bool) -> dict[str, Any]:
    """How meshes are brought together, as JSON types."""
    def plain(vector: Sequence[float] | None) -> list[float] | None:
        return None if vector is None else [float(x) for x in vector]

    return {"tolerance": tolerance, "gap": gap, "scale_b": scale_b, "shift_b": plain(shift_b),
            "periodic_b": plain(periodic_b), "several": bool(several)}


def _placed(problem: CoupledProblem, meshes: Mapping[str, Mesh], settings: Mapping[str, Any]) -> dict[str, Mesh]:
    from .mesh.transform import Placement

    second = problem.names[1]
    move = Placement(settings["scale_b"], settings["shift_b"] or (0.0, 0.0, 0.0))
    return {name: move.apply(mesh) if name == second else mesh for name, mesh in meshes.items()}


def _counts(name: str, values: Sequence[int]) -> tuple[int, int]:
    try:
        a, b = values
    except (TypeError, ValueError):
        raise ConfigError(f"{name}: needs two integers, one for each component, got {values!r}") from None
    return whole(name, a, low=1), whole(name, b, low=1)


def _described(interedges: Any) -> str:
    return interedges if isinstance(interedges, str) else "given"


def _fits(problem: CoupledProblem, counts: tuple[int, int]) -> None:
    for (name, graph), count in zip(problem.components.items(), counts, strict=True):
        if count > graph.nvtxs:
            raise PartitionError(f"parts of {name}: {count} parts of {graph.nvtxs} cells would leave parts empty; "
                                 f"ask for at most {graph.nvtxs}")


__all__ = ["Comparison", "Plan", "Run", "compare", "plan"]
