"""The folder a plan leaves behind: written all together, and opened again to be checked.

===================  ====================================================================
``NAME.vtu``         the mesh of a component with cell arrays ``part`` and ``coupled``
``NAME.part.K``      part of every cell, one number per line
``interedges.mtx``   which cells of A and of B are coupled, and their weights; of more than two components
                     ``A-B.interedges.mtx`` for each pair that meets
``coupling.json``    who sends which cells to whom in a coupling phase
``exchange/``        the same for :mod:`copart.mpi`, and halos: arrays of which each process reads its own share
``metrics.json``     settings and figures, and the checksums of all files
===================  ====================================================================

and what :mod:`copart.plans.writers` makes for solvers, couplers and viewers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..coupling import CoPartition, CoupledProblem
from ..errors import ConfigError, FormatError
from ..formats import prepare_folder, write_coupling, write_json, write_part, write_text_atomic
from ..formats.exchange_files import exchange_files, write_exchange
from ..formats.interedges_file import write_interedges
from ..formats.launch import Program, Seat, launch_files, permutation, start_files
from ..formats.output import file_name
from ..formats.precice import write_precice
from ..formats.text import is_document, read_json
from ..parallel import side_by_side
from .folder import METRICS, WRITTEN, listed, write_folder
from .kept import check_interfaces, check_settings
from .overwriting import Named
from .seal import sealed
from .writers import Parted, check_meshes, native_kinds, write_parted

if TYPE_CHECKING:
    from ..mapping.coupled.placed import Placed
    from ..mesh import Mesh

SCHEMA = "copart-metrics"
VERSION = 1
MIGRATION = "migration.json"
"""The way to a plan from a former one, where there is one."""


def interedges_files(components: Sequence[str]) -> dict[tuple[str, str], str]:
    """The file of the interedges of each pair of components, whether they meet or not."""
    pairs = list(combinations(components, 2))
    return {pair: "interedges.mtx" if len(pairs) == 1 else f"{'-'.join(map(file_name, pair))}.interedges.mtx"
            for pair in pairs}


def check_file_names(components: Sequence[str]) -> None:
    """Refuse names of components that would share their files.

    Raises
    ------
    ConfigError
        Two names are the same as file names (also where only capitals differ).
    """
    seen: dict[str, str] = {}
    for name in components:
        other = seen.setdefault(file_name(name).lower(), name)
        if other != name:
            raise ConfigError(f"names: {other!r} and {name!r} would be written to the same file; choose other names")
    files = [file.lower() for file in interedges_files(components).values()]
    if len(set(files)) < len(files):
        raise ConfigError(f"names: the interedges of two pairs of {', '.join(components)} would be written to the same "
                          f"file; choose other names")


def usual_files(components: Sequence[str], meshes: Collection[str], counts: Sequence[int]) -> list[str]:
    """The files of every plan whose names are known before the work.

    Parameters
    ----------
    components : sequence of str
        Their names.
    meshes : collection of str
        The names of those that came as meshes.
    counts : sequence of int
        Number of parts of each, or one number of parts for all; empty where they are not known yet.
    """
    every = [*counts] * len(components) if len(counts) == 1 else counts
    return [*(f"{file_name(name)}.vtu" for name in components if name in meshes),
            *(f"{file_name(name)}.part.{n}" for name, n in zip(components, every, strict=False)),
            *interedges_files(components).values(), "coupling.json",
            *exchange_files(components, list(combinations(components, 2))), METRICS]


def former_files(folder: Path) -> set[str]:
    """The files in a folder that belong to the plan there, and go when another takes its place; none without a plan."""
    try:
        summary = read_json(folder / METRICS)
        if summary["schema"] != SCHEMA:
            return set()
        # plans of before the list of files
        names, counts = summary["settings"]["names"], summary["settings"]["parts"]
        return {METRICS, *(listed(folder) or usual_files(names, names, counts))}
    except (FormatError, KeyError, TypeError, AttributeError):
        return set()


def component_inputs(sources: Mapping[str, str]) -> list[Named]:
    """The sources of components, each with what it is called where it would be written over."""
    return [(f"component {name}", source) for name, source in sources.items()]


def write_plan(folder: Path, problem: CoupledProblem, copartition: CoPartition, meshes: Mapping[str, Mesh],
               summary: Mapping[str, Any], kinds: Sequence[str] | None = None,
               sources: Mapping[str, str] | None = None,
               placed: Mapping[str, Mesh] | None = None, placement: Placed | None = None,
               more: Mapping[str, Callable[[Path], object]] | None = None) -> tuple[Path, ...]:
    """Write all files of a plan; they appear together and take the place of a former plan's (:mod:`.folder`).

    Parameters
    ----------
    folder : Path
        Made where it does not exist.
    problem, copartition
    meshes : mapping of str to Mesh
        Components without one get no VTU file.
    summary : mapping
        The content of ``metrics.json``, plain JSON types.
    kinds : sequence of str, optional
        What to write beside, see :mod:`copart.plans.writers`; where not given, what goes with the files in `sources`.
    sources : mapping of str to str, optional
        What a component was read from, as given; these files are never written over.
    placed : mapping of str to Mesh, optional
        The meshes where they meet, if they had to be scaled or moved.
    placement : Placed, optional
        Where the processes go on a machine, for the files in ``launch/``.
    more : mapping of str to callable, optional
        Further files by their names, each with what writes it to a path.

    Returns
    -------
    tuple of Path
        The files: meshes, part files, those of `kinds`, ``interedges.mtx``, ``coupling.json``, ``exchange/``,
        ``launch/``, ``metrics.json``, `more`.

    Raises
    ------
    ConfigError, FormatError, MeshError
        The folder cannot be written to, or a format cannot hold a mesh; the folder is then as it was.
    """
    files = sources or {}
    check_file_names(problem.names)
    check_meshes(kinds or (), meshes, problem.names)
    prepare_folder(folder)

    def write(scratch: Path) -> list[str]:
        made = _write_all(scratch, problem, copartition, meshes, summary, kinds, files, placed or meshes, placement)
        for name, write_one in (more or {}).items():
            write_one(scratch / name)
        last = [name for name in more or {} if (scratch / name).exists()]
        write_json(scratch / METRICS, sealed(summary, scratch, [*made, "coupling.json", *last]))
        return [*made, "coupling.json", METRICS, *last]

    return write_folder(folder, write, component_inputs(files), former_files)


def _write_all(scratch: Path, problem: CoupledProblem, copartition: CoPartition, meshes: Mapping[str, Mesh],
               summary: Mapping[str, Any], kinds: Sequence[str] | None, sources: Mapping[str, str],
               placed: Mapping[str, Mesh], placement: Placed | None) -> list[str]:
    from ..mesh import write_vtu

    if "precice" in (kinds or ()) and copartition.shared:
        raise ConfigError("write: precice needs processes of its own for every component, these share them")
    made, parted = [], []
    settings = summary.get("settings", {})
    search = {key: settings.get(key) for key in ("tolerance", "gap")} if settings.get("interedges") == "facet" else None
    for name in problem.names:
        coupled = problem.coupled(name)
        flags = np.zeros(len(copartition[name]), np.int8)
        flags[coupled] = 1
        others = [placed[q if name == p else p] for p, q in problem.pairs
                  if name in (p, q) and (q if name == p else p) in placed]
        parted.append(Parted(file_name(name), copartition[name], copartition.nparts[name], meshes.get(name),
                             dict(zip(WRITTEN, (copartition[name], flags), strict=True)), coupled,
                             placed.get(name), others, sources.get(name), search))
    threads = int(settings.get("threads") or 1)
    work: list[Callable[[], object]] = []
    for c, name in zip(parted, problem.names, strict=True):
        if name in meshes:
            made.append(f"{c.name}.vtu")
            work.append(partial(write_vtu, scratch / made[-1], meshes[name], c.cell_data, threads))
    for c in parted:
        made.append(f"{c.name}.part.{c.nparts}")
        work.append(partial(write_part, scratch / made[-1], c.part))
    files = interedges_files(problem.names)
    meeting = {files[pair]: relation for pair in files if (relation := problem.facing(*pair)) is not None}
    work += [partial(write_interedges, scratch / file, relation) for file, relation in meeting.items()]
    work += [partial(write_coupling, scratch / "coupling.json", problem, copartition),
             partial(write_exchange, scratch, problem, copartition)]
    exchange: Any = side_by_side(work, threads)[-1]
    for c, name in zip(parted, problem.names, strict=True):
        made += write_parted(scratch, c, native_kinds(sources.get(name), c.mesh) if kinds is None else kinds)
    if "precice" in (kinds or ()):
        write_precice(scratch / "precice.xml", problem, copartition)
        made.append("precice.xml")
    made += [*meeting, *exchange]
    return [*made, *write_launch(scratch, copartition, placement)]


def programs_of(copartition: CoPartition) -> list[Program]:
    """The programs of the launch files, in the order of their ranks: one each, or one for a shared pool."""
    if copartition.shared:
        return [Program("./coupled", copartition.nprocs)]
    return [Program(f"./{file_name(name)}", copartition.nparts[name]) for name in copartition.names]


def write_launch(scratch: Path, copartition: CoPartition, placement: Placed | None) -> list[str]:
    """The launch files, in ``launch/``: the commands, and of a placement what they read.

    Where hosts have no names, that is the processor of each rank.
    """
    programs = programs_of(copartition)
    if placement is not None and placement.machine.hosts:
        on, where = placement.machine, placement.processor
        # launchers count cores as they lie; numbers of the operating system begin anew in every package
        seats = [Seat(on.hosts[on.host[p]], int(on.local[p])) for p in where]
        files = launch_files(seats, where, programs, unit=on.unit_name)
    else:
        files = start_files(programs)
        if placement is not None:
            files["processors.txt"] = permutation(placement.processor)
    for name, text in files.items():
        write_text_atomic(scratch / "launch" / name, text)
    return [f"launch/{name}" for name in files]


def read_summary(folder: Path) -> dict[str, Any]:
    """Content of the ``metrics.json`` of a plan's folder.

    Raises
    ------
    FormatError
        There is none, or it is not of a plan.
    """
    path = folder / METRICS
    if not folder.is_dir():
        raise FormatError(folder, "is no folder")
    if not path.exists():
        raise FormatError(folder, "has no metrics.json, so it is not the output folder of copart plan")
    summary = read_json(path)
    if not is_document(summary, SCHEMA, VERSION) or not isinstance(summary.get("settings"), dict):
        raise FormatError(path, f"is no {SCHEMA} document of version {VERSION}")
    check_settings(path, summary["settings"])
    check_interfaces(path, summary["interfaces"] if "interfaces" in summary else [summary.get("interface")])
    return dict(summary)


__all__ = ["MIGRATION", "SCHEMA", "VERSION", "check_file_names", "former_files", "interedges_files", "read_summary",
           "write_plan"]
