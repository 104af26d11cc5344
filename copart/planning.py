"""The whole job in one call: components in, co-partition, figures and files out.

`plan` runs one scheme, `compare` (:mod:`copart.comparing`) all of them over several seeds.  A component
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

from . import requests
from .algorithms import run_scheme, shares_pool
from .allotting import Costs, allot
from .arrays import whole
from .comparing import Comparison, Run, compare
from .components import Pair, Progress, coupled_problem, interfaces_dict, only_interface, silent
from .coupling import CoPartition, CoupledProblem, Interedges
from .formats import prepare_folder
from .mapping.placements import check_placement, place, placements
from .mapping.processes import check_room, process_graph
from .metrics import CoupledMetrics, evaluate
from .output import SCHEMA, VERSION, check_file_names, file_name, write_plan
from .part_metrics import part_metrics
from .resources import Advice
from .writers import check_meshes, checked_kinds, file_of, refuse_inputs

if TYPE_CHECKING:
    from .mapping.machine import Machine
    from .mapping.processes import Placed
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
    interfaces : mapping of (str, str) to Interface
        Where each pair of meshes meets: what matched of how much, areas, the largest gap; empty where interedges
        were given.
    remarks : tuple of str
        What the files lost when they were read, and which other components they hold.
    advice : Advice or None
        How the processes were shared out, where only their total was given.
    placements : tuple of Placed
        The ways to place the processes on the machine that was given, with their figures.
    """

    problem: CoupledProblem
    copartition: CoPartition
    metrics: CoupledMetrics
    meshes: Mapping[str, Mesh]
    settings: Mapping[str, Any]
    seconds: float
    files: tuple[Path, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    interfaces: Mapping[Pair, Interface] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    advice: Advice | None = None
    placements: tuple[Placed, ...] = ()

    def write(self, output: str | os.PathLike[str], write: str | Sequence[str] | None = None) -> tuple[Path, ...]:
        """Write meshes with parts, part files, ``coupling.json`` and ``metrics.json`` into folder `output`.

        `write` names more kinds of files; see :func:`plan`.
        """
        return write_plan(Path(output), self.problem, self.copartition, self.meshes, self.to_dict(),
                          checked_kinds(write), self.sources, self.placed(), self.placement)

    @property
    def interface(self) -> Interface | None:
        """Where the meshes meet, of two components; None where interedges were given."""
        return only_interface(self.interfaces)

    @property
    def placement(self) -> Placed | None:
        """Where the processes go on the machine that was given; None without one."""
        wanted = self.settings.get("placement")
        return next((one for one in self.placements if one.name == wanted), None)

    @property
    def uncoupled_parts(self) -> dict[str, list[int]]:
        """Parts of each component without a cell on any interface: they wait in a coupling phase."""
        return {name: np.setdiff1d(np.arange(n), self.copartition[name][self.problem.coupled(name)]).tolist()
                for name, n in self.copartition.nparts.items()}

    def placed(self) -> dict[str, Mesh]:
        """The meshes in one coordinate system: the second scaled and moved as it was to meet the others."""
        return requests.placed_meshes(self.problem.names, self.meshes, self.settings)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one self-contained HTML page with figures, pictures and charts; returns its path."""
        from .report.coupled import page_of
        from .report.page import write_page

        return write_page(path, page_of(self))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row a part of every component: ready for ``pandas.DataFrame``."""
        return [row for parts in part_metrics(self.problem, self.copartition).values() for row in parts.to_dicts()]

    def to_dict(self) -> dict[str, Any]:
        """Settings, time and figures as plain JSON types: the content of ``metrics.json``."""
        return {"schema": SCHEMA, "version": VERSION, "settings": dict(self.settings),
                "seconds": round(self.seconds, 3), "metrics": self.metrics.to_dict(),
                "uncoupled_parts": self.uncoupled_parts, **interfaces_dict(self.problem, self.interfaces),
                "remarks": list(self.remarks), **({"advice": self.advice.to_dict()} if self.advice else {}),
                **({"placements": [one.to_dict() for one in self.placements]} if self.placements else {})}

    def __repr__(self) -> str:
        return f"Plan by {self.settings['scheme']} in {self.seconds:.2f} s\n{self.metrics!r}"

    def _repr_html_(self) -> str:
        """The figures as tables, for notebooks."""
        return f"<p>Plan by {self.settings['scheme']} in {self.seconds:.2f} s</p>{self.metrics._repr_html_()}"


def plan(*components: Any, parts: requests.Counts | None = None, coupled: requests.Counts | None = None,
         scheme: str = "joint", interface: str = "spread",
         interedges: str | Interedges | Mapping[Pair, Any] = "facet", eps: float = 0.05, seed: int = 1,
         threads: int = 1, preset: str = "default", names: Sequence[str] | None = None, weights: str | None = None,
         tolerance: float | None = None, gap: float | None = None, scale_b: float = 1.0,
         shift_b: Sequence[float] | None = None, periodic_b: Sequence[float] | None = None, several: bool = False,
         max_interedges: int | None = None, total: int | None = None, costs: Costs | None = None,
         coupling: str = "concurrent", machine: Machine | None = None, placement: str = "shared",
         iterations: int | Sequence[int] | Mapping[str, int] = 1, output: str | os.PathLike[str] | None = None,
         write: str | Sequence[str] | None = None, progress: Progress | None = None) -> Plan:
    """Co-partition coupled components.

    Parameters
    ----------
    *components : path, Mesh, meshio.Mesh, pyvista grid, (points, cells), Graph, sparse matrix, networkx graph \
            or (xadj, adjncy)
        Two or more.  A path may end in ``:ARRAY=VALUE`` or ``:NAME`` for a region of that mesh or the boundary
        at which it is coupled, or in several of these, from left to right: ``case.su2:zone=2:wall``.  One file
        alone stands for all its zones (SU2) or regions (OpenFOAM).
    parts : sequence of int, mapping of str to int, or int
        Number of parts of each, in order or by name; 16 and 64 where neither this nor `total` is given.  One
        number for several components is a pool of processes that they share; only ``monolithic`` makes such plans.
    coupled : sequence of int or mapping of str to int, optional
        Number of parts that may own coupled cells; see :func:`copart.counts.coupled_counts` where not given.
    scheme : str
        One of :data:`copart.algorithms.SCHEMES`; "joint" unless told.
    interface : {"spread", "gather", "uncut"}
        Where `coupled` is not given, over how many parts the coupled cells of a component go: ``floor(N^(2/3))``, as
        few as can hold them, or such that what faces one other component is in one part, where it fits.
    interedges : {"facet", "touch", "overlap"} or Interedges
        How meshes find their coupled cells: boundary facets that overlap (weighted by the overlap), cells
        that share at least a point, or cells that cover the same space (weighted by what they share).
        Graphs need an `Interedges` (or a sparse matrix, cells of A by cells of B), several of them a mapping from
        pairs of names.
    eps : float
        Imbalance allowed, a fraction.
    seed : int
        Same seed, same result, on any number of threads.
    threads : int
    preset : str
        ``fast``, ``default`` or ``strong``.
    names : sequence of str, optional
        Names of the components; from the files where not given.
    weights : str, optional
        Cell array with the load of each cell of the meshes; 1 each where not given.
    tolerance : float, optional
        Largest gap between the two surfaces, as a fraction of the facet size; see
        :func:`copart.mesh.find_interedges`.
    gap : float, optional
        The same in the unit of the coordinates, instead of `tolerance`.
    scale_b : float
        Coordinates of B, the second component, are multiplied by this first: 0.001 where B is in millimetres
        and the others are in metres.
    shift_b : (float, float, float), optional
        Added to the coordinates of B, after scaling.
    periodic_b : (float, float, float), optional
        B is also where this vector and its multiples, forward and back, put it.
    several : bool
        Couple all surfaces that match.  Otherwise two or more of comparable size are refused where no boundary
        is named.
    max_interedges : int, optional
        Keep at most so many interedges a cell, the heaviest; a remark says how many are left out.
    total, costs, coupling
        Instead of `parts`: processes in all, shared out by :func:`copart.allotting.allot`.
    machine : Machine, optional
        From :func:`copart.formats.machines.read_machine`: where the processes are to run, one a slot.
    placement : {"shared", "disjoint", "linear"}
        How they are placed there; see :func:`copart.mapping.placements.place`.  All that apply are measured.
    iterations : int, sequence of int or mapping of str to int
        Halo exchanges of each component in a coupling step, to weigh its traffic by.
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
    options = requests.partitioning(eps, seed, threads, preset)
    pool = shares_pool(scheme)
    requests.check_components(components)
    parts = requests.parts_or_total(parts, total, costs, pool)
    if parts is not None and len(components) > 1:
        requests.counts("parts", parts, len(components), pool)
    kinds = checked_kinds(write)
    if machine is not None:
        check_placement(placement)
    if output is not None:
        prepare_folder(output)
    tell = progress or silent
    where = requests.meeting(tolerance, gap, scale_b, shift_b, periodic_b, several, max_interedges)
    problem, meshes, interfaces, remarks, sources = coupled_problem(
        *components, interedges=interedges, names=names, weights=weights, **where, progress=tell)
    advice = None
    if parts is None:
        advice = allot(problem, whole("total", total, low=1), costs, coupling, eps)
        parts, coupled = advice.parts, advice.ncoupled if coupled is None else coupled
    count = requests.counts("parts", parts, problem.names, pool)
    limits = None if coupled is None else requests.counts("coupled", coupled, problem.names)
    requests.check_fit(problem, count)
    if machine is not None:
        check_room(count[0] if pool and len(count) == 1 else sum(count), machine)
    if output is not None:
        check_file_names(problem.names)
        check_meshes(kinds or (), meshes, problem.names)
        refuse_inputs([Path(output) / f"{file_name(name)}.vtu" for name in meshes],
                      map(file_of, sources.values()))
    tell(f"partitioning with {scheme}", 0, 0)
    begin = time.perf_counter()
    copartition = run_scheme(scheme, problem, count, limits, interface=interface, **options)
    seconds = time.perf_counter() - begin
    tell("measuring", 0, 0)
    settings = {"scheme": scheme, "names": list(problem.names), "parts": list(copartition.nparts.values()),
                "coupled": [copartition.ncoupled[n] for n in problem.names], "interface": interface,
                "interedges": requests.described(interedges), "weights": weights, **where, **options}
    if copartition.shared:
        settings["shared"] = True
    placed: tuple[Placed, ...] = ()
    if machine is not None:
        tell(f"placing {copartition.nprocs} processes", 0, 0)
        times = requests.iterations(iterations, problem.names)
        settings |= {"placement": placement, "iterations": list(times.values())}
        placed = placements(process_graph(problem, copartition, times), machine, seed=seed)
        if placement not in [one.name for one in placed]:
            place(placed[0].processes, machine, placement)  # which says why it does not apply
    made = Plan(problem, copartition, evaluate(problem, copartition), meshes, settings, seconds, sources=sources,
                interfaces=interfaces, remarks=remarks, advice=advice, placements=placed)
    if output is None:
        return made
    tell(f"writing to {os.fspath(output)}", 0, 0)
    return replace(made, files=made.write(output, kinds))


__all__ = ["Comparison", "Plan", "Run", "compare", "plan"]
