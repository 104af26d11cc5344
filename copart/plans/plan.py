"""The whole job in one call: components in, co-partition, figures and files out.

`plan` runs one scheme, `compare` (:mod:`copart.plans.compare`) all of them over several seeds.  A component
is a mesh (a file, ``FILE:ARRAY=VALUE`` or ``FILE:NAME`` for a region or boundary
of it, a mesh of another package, arrays, a `copart.mesh.Mesh`) or a graph (a `Graph`, a scipy.sparse
matrix, a networkx graph, ``(xadj, adjncy)``).  Meshes find their interedges
themselves; graphs come with an `Interedges`.

Arguments are checked before the work begins, and the output folder is tried;
files appear there together, after the last of them is complete.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ..coupling import CoPartition, CoupledProblem, Interedges
from ..errors import ConfigError
from ..formats import prepare_folder
from ..interface.counts import Counts, CoupledCounts, coupled_rule
from ..kernels import timed
from ..metrics import CoupledMetrics, evaluate
from ..metrics.parts import part_metrics
from ..metrics.promise import natural_numbers
from ..names import InteredgeKind, InterfaceRule, SchemeName
from ..options import Options, Settings
from ..parallel import side_by_side
from ..resources import Advice
from ..schemes import registry
from ..schemes.contiguous import bodies_shared
from ..schemes.registry import DEFAULT
from . import requests
from .allot import counted
from .cases import uneven_regions, write_into_cases
from .components import Pair, Progress, coupled_problem, interfaces_dict, only_interface, silent
from .output import SCHEMA, VERSION, check_file_names, component_inputs, usual_files, write_plan
from .overwriting import refuse_inputs
from .placing import need_room, place_processes
from .requests import Meeting, Sharing, Site
from .weighing import CoupledWeights, priced
from .worth import figures_alone, worth_remarks
from .writers import PAGES, check_meshes, kinds_and_pages

if TYPE_CHECKING:
    from ..mapping.coupled.placed import Placed
    from ..mesh import Mesh
    from ..mesh.interfaces.detection import Interface


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
        Time of the partitioning alone, kernels compiled.
    files : tuple of Path
        What was written, empty without an output folder.
    sources : mapping of str to str
        What each component was read from, as given, where that was a file.
    interfaces : mapping of (str, str) to Interface
        Where each pair of meshes meets: what matched of how much, areas, the largest gap; empty where interedges
        were given.
    remarks : tuple of str
        What the files lost when they were read, which other components they hold, and in what the plan is worse than
        partitioning each component alone.
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

    def write(self, output: str | os.PathLike[str], write: str | Sequence[str] | None = None, *,
              more: Mapping[str, Callable[[Path], object]] | None = None) -> tuple[Path, ...]:
        """Write meshes with parts, part files, ``coupling.json`` and ``metrics.json`` into folder `output`.

        They take the place of a plan that is there; files which are not of a plan stay.  `write` names more kinds of
        files; see :func:`plan`.  `more` are further files by their names, each with what writes it to a path.

        Parameters
        ----------
        output : path-like
            The folder; made where it is missing.
        write : str or sequence of str, optional
            More kinds of files; see :func:`plan`.
        more : mapping of str to callable, optional
            Further files by their names, each with what writes it to a path.
        """
        kinds, asked = kinds_and_pages(write)
        pages = {PAGES[page]: getattr(self, page) for page in asked}
        return write_plan(Path(output), self.problem, self.copartition, self.meshes, self.to_dict(),
                          kinds, self.sources, self.placed(), self.placement, {**(more or {}), **pages})

    def write_into_cases(self) -> list[Path]:
        """Put the decompositions into the OpenFOAM cases that all components come from, for ``decomposePar``.

        Returns the files; a ``decomposeParDict`` that copart did not write is kept as ``decomposeParDict.before``.

        Raises
        ------
        ConfigError
            A component comes from elsewhere; nothing is written then.
        """
        return write_into_cases(self.copartition, self.meshes, self.sources)

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
        """The meshes in one coordinate system: scaled and moved as they were to meet one another."""
        return requests.placed_meshes(self.meshes, self.settings)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one self-contained HTML page with figures, pictures and charts; returns its path.

        Parameters
        ----------
        path : path-like
            The page; replaced where it exists.
        """
        from ..report.coupled import page_of
        from ..report.page import write_page

        return write_page(path, page_of(self))

    def picture(self, path: str | os.PathLike[str]) -> Path:
        """Draw parts, coupled parts and who exchanges with whom (PNG, PDF or SVG); returns its path.

        Parameters
        ----------
        path : path-like
            Its suffix says which of the formats.

        Raises
        ------
        ConfigError
            matplotlib (``copart[plot]``) is not installed.
        """
        from ..report.pictures import draw_coupled

        scheme = self.settings["scheme"]
        return draw_coupled(path, self.problem, self.placed(), {scheme: self.copartition}, scheme)

    def machine_picture(self, path: str | os.PathLike[str]) -> Path:
        """Draw the machine, its links by load in linear order and as placed (PNG, PDF or SVG); returns its path.

        Parameters
        ----------
        path : path-like
            Its suffix says which of the formats.

        Raises
        ------
        ConfigError
            The plan was made without a machine, or matplotlib (``copart[plot]``) is not installed.
        NotApplicableError
            The machine has no static routes.
        """
        from ..report.machine_picture import draw_machine
        from ..report.placement import before_and_after

        if not self.placements:
            raise ConfigError("picture: the plan was made without a machine; give one as site=copart.Site(machine)")
        return draw_machine(path, before_and_after(self.placements, self.settings.get("placement")))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row per part of every component: ready for ``pandas.DataFrame``."""
        return [row for parts in part_metrics(self.problem, self.copartition).values() for row in parts.to_dicts()]

    def to_dict(self) -> dict[str, Any]:
        """Settings, time and figures as plain JSON types: the content of ``metrics.json``."""
        return {"schema": SCHEMA, "version": VERSION, "settings": dict(self.settings),
                "seconds": round(self.seconds, 3), "metrics": self.metrics.to_dict(),
                "uncoupled_parts": self.uncoupled_parts, **interfaces_dict(self.problem, self.interfaces),
                "remarks": list(self.remarks), **({"advice": self.advice.to_dict()} if self.advice else {}),
                **({"placements": [one.to_dict() for one in self.placements]} if self.placements else {})}

    def __repr__(self) -> str:
        return f"Plan with {self.settings['scheme']} in {self.seconds:.2f} s\n{self.metrics!r}"

    def _repr_html_(self) -> str:
        """The figures as tables, for notebooks."""
        return f"<p>Plan with {self.settings['scheme']} in {self.seconds:.2f} s</p>{self.metrics._repr_html_()}"


def plan(*components: Any, parts: Counts | None = None, coupled: CoupledCounts | None = None,
         total: int | Sharing | None = None, scheme: SchemeName = DEFAULT,
         scheme_options: Mapping[str, Any] | None = None, interface: InterfaceRule = "spread",
         interedges: InteredgeKind | Interedges | Mapping[Pair, Any] = "facet", meeting: Meeting | None = None,
         names: Sequence[str] | None = None, load: str | None = None, coupled_weights: CoupledWeights | None = None,
         contiguous: bool = False, options: Options | None = None, site: Site | None = None,
         output: str | os.PathLike[str] | None = None, write: str | Sequence[str] | None = None,
         progress: Progress | None = None, **settings: Unpack[Settings]) -> Plan:
    """Co-partition coupled components.

    Parameters
    ----------
    *components : path, Mesh, meshio.Mesh, pyvista grid, (points, cells), Graph, sparse matrix, networkx graph \
            or (xadj, adjncy)
        Two or more.  A path may end in ``:ARRAY=VALUE`` or ``:NAME`` for a region of that mesh or the boundary
        at which it is coupled, or in several of these, from left to right: ``case.su2:zone=2:wall``.  One file
        alone stands for all its zones (SU2), regions (OpenFOAM), volumes, blocks or element sets.
    parts : sequence of int, mapping of str to int, or int
        Number of parts of each, in order or by name.  One number for several components is a pool of processes that
        they share; only ``monolithic`` makes such plans.  This or `total` is needed.
    coupled : sequence of int, mapping of str to int or "paper", optional
        Number of parts that may own coupled cells, or "paper" for ``floor(N^(2/3))``; natural counts where not given,
        see :func:`copart.interface.counts.coupled_counts`.
    total : int or Sharing, optional
        Instead of `parts`: processes in all, shared out by :func:`copart.plans.allot.allot`.
    scheme : str
        One of :data:`copart.schemes.registry.SCHEMES`; "joint" unless told.  "auto" runs those that apply and
        takes the one with the lowest ``T_step`` of those that are in no figure worse than "naive".
    scheme_options : mapping, optional
        By name, what only this scheme knows: `price`, `directions` and `fix` of :func:`copart.joint`, `balance` of
        :func:`copart.monolithic`; and `objective` of any, see :mod:`copart.schemes.exchange`.
    interface : {"spread", "gather", "uncut"}
        Where `coupled` is not given, over how many parts the coupled cells of a component go: natural counts, as few
        as can hold them, or such that what faces one other component is in one part, where it fits.
    interedges : {"facet", "touch", "overlap"} or Interedges
        How meshes find their coupled cells: boundary facets that overlap (weighted by the overlap), cells
        that share at least a point, or cells that cover the same space (weighted by what they share).
        Graphs need an `Interedges` (or a sparse matrix, cells of A by cells of B), several of them a mapping from
        pairs of names.
    meeting : Meeting, optional
        How the meshes meet: gaps allowed, units, shifts and periods of any component.
    names : sequence of str, optional
        Names of the components; from the files where not given.
    load : str, optional
        Cell array with the load of each cell of the meshes; 1 each where not given.
    coupled_weights : str or mapping of str to (ncells,) array_like of int, optional
        Work of each cell in a coupling phase: "area" (weight of its interedges, scaled to whole numbers),
        "partners" (number of its interedges), the name of a cell array, or numbers by component
        (:mod:`copart.plans.weighing`).  That of its load where not given.
    contiguous : bool
        Every part connected, as far as the meshes are; see :mod:`copart.schemes.contiguous`.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    site : Site, optional
        Where to run: the machine, how the processes are placed on it, and what a coupled step costs there.
    output : path, optional
        Folder to write to; see :meth:`Plan.write`.
    write : str or sequence of str, optional
        More kinds of files for that folder: ``pvtu``, ``gmsh``, ``openfoam``, ``aste``, ``precice``, in one string
        with commas between or in a list (:mod:`copart.plans.writers`).  Where none is named, those that go with the
        files read: ``openfoam`` for OpenFOAM cases, ``gmsh`` for gmsh files; "none" for not even these.  Beside them
        ``report`` (``report.html``, one page with all of it) and ``picture`` (``plan.png``; needs matplotlib).
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
    run = requests.options_of(options, settings, meeting, site)
    pool = registry.scheme(scheme).shares_pool
    registry.own_options([scheme], scheme_options)
    requests.check_components(components)
    rule = coupled_rule(coupled, interface, "coupled")
    parts, sharing = requests.parts_or_total(parts, total, pool)
    if parts is not None and len(components) > 1:
        requests.counts("parts", parts, len(components), pool)
    kinds, pages = kinds_and_pages(write)
    if "picture" in pages:
        from ..report.pictures import need_matplotlib

        need_matplotlib()
    if output is not None:
        prepare_folder(output)
    tell = progress or silent
    found = coupled_problem(*components, interedges=interedges, names=names, load=load, meeting=meeting, progress=tell,
                            coupled_weights=coupled_weights, threads=run.threads)
    problem = found.problem
    count, limits, rule, advice = counted(problem, parts, sharing, coupled, rule, pool, run.eps, found.unit)
    where = Site() if site is None else site
    cost = priced(where.priced(problem.names), found.unit)
    need_room(where, count[0] if pool and len(count) == 1 else sum(count))
    if output is not None:
        check_file_names(problem.names)
        check_meshes(kinds or (), found.meshes, problem.names)
        usual = [*usual_files(problem.names, found.meshes, count), *(PAGES[page] for page in pages)]
        refuse_inputs([Path(output) / name for name in usual], component_inputs(found.sources))
    tell(f"partitioning with {scheme}", 0, 0)
    with timed() as took:
        copartition = registry.run_scheme(scheme, problem, count, limits, run, interface=interface,
                                          scheme_options=scheme_options, cost=cost, contiguous=contiguous)
    tell("measuring", 0, 0)
    kept = {"scheme": scheme, "scheme_options": dict(scheme_options or {}), "names": list(problem.names),
            "parts": list(copartition.nparts.values()), "coupled": [copartition.ncoupled[n] for n in problem.names],
            "coupled_rule": rule if registry.scheme(scheme).knows_interface else None,
            "interface": interface, "interedges": requests.described(interedges), "load": load,
            **found.settings, **requests.settings_of(run)}
    if kept["coupled_rule"] == "natural" and (natural := natural_numbers(problem, copartition)):
        kept["natural"] = [natural[name] for name in problem.names]
    if copartition.shared:
        kept["shared"] = True
    if contiguous:
        kept["contiguous"] = True
    if where.machine is not None:
        tell(f"placing {copartition.nprocs} processes", 0, 0)
    placed = place_processes(where, problem, copartition, kept, run)
    judged: list[Any] = side_by_side([partial(figures_alone, problem, copartition, scheme, count, run, contiguous),
                                      partial(evaluate, problem, copartition, cost, threads=run.threads)], run.threads)
    alone, metrics = judged
    worth = worth_remarks(problem, copartition, metrics, alone, run.eps)
    if copartition.scheme is not None:
        worth = [f"{scheme} took {copartition.scheme}", *worth]
    if contiguous:
        worth += bodies_shared(problem, copartition)
    worth += uneven_regions(copartition, found.meshes, found.sources)
    made = Plan(problem, copartition, metrics, found.meshes, kept, took.seconds, sources=found.sources,
                interfaces=found.interfaces, remarks=(*found.remarks, *worth), advice=advice,
                placements=placed)
    if output is None:
        return made
    tell(f"writing to {os.fspath(output)}", 0, 0)
    return replace(made, files=made.write(output, write))


__all__ = ["Plan", "plan"]
