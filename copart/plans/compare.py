"""The schemes side by side: every one over several seeds on one coupled problem."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from .. import warm
from ..arrays import whole
from ..coupling import CoPartition, CoupledProblem, Interedges
from ..errors import ConfigError, CopartError, NotApplicableError, PartitionError
from ..interface.counts import Counts, CoupledCounts, coupled_rule
from ..mapping.coupled.placed import check_room
from ..mapping.coupled.placements import place
from ..mapping.coupled.processes import process_graph
from ..metrics import CoupledMetrics, StepCost, copartition_limit, evaluate
from ..metrics.columns import letter_of
from ..metrics.promise import PromiseFigures, promised, remarks_on
from ..names import InteredgeKind, InterfaceRule, SchemeName
from ..options import Options, Settings
from ..report import halo_html, paid_html, scheme_table
from ..schemes.contiguous import bodies_shared
from ..schemes.registry import SCHEMES, own_options, run_scheme, scheme
from . import requests
from .allot import counted
from .components import Pair, Progress, coupled_problem, interfaces_dict, only_interface, silent
from .requests import Meeting, Sharing, Site
from .weighing import CoupledWeights, priced
from .worth import ALONE

if TYPE_CHECKING:
    from ..mapping.coupled.placed import Placed
    from ..mesh import Mesh
    from ..mesh.interfaces.detection import Interface


@dataclass(frozen=True)
class Run:
    """One scheme with one seed."""

    scheme: str
    seed: int
    seconds: float
    metrics: CoupledMetrics = field(repr=False)

    def figures(self) -> dict[str, float]:
        """The figures of the published tables, ub as fractions.

        Each component has its letter (``ub_a``, ``ub_b``, ``ub_c``, ... in order).  ``totV`` and ``totZ`` are sums over
        the pairs, from the first of each to the second.  Of more than two components there are also
        the largest imbalances and the sums of the others: ``ub``, ``ub_cpl``, ``cut``, ``cut_cpl``, ``ncoupled``.

        What is paid for, of all components: ``extra_pieces`` beyond one per part, ``max_coupled`` (coupled weight of
        the part that has most, also by letter), ``maxV`` and ``maxZ`` over all pairs and both ways, ``T_step``, its two
        phases ``T_reg`` and ``T_cpl``, and the share ``waits``.

        What parts send their neighbours in a halo exchange, by letter: ``MSV_a`` (data of the part that sends most),
        ``TM_a`` (messages), ``MSM_a`` (messages of the part that sends most of them); and the largest ``MSV`` and
        ``MSM`` and the sum ``TM`` of all components.
        """
        each = list(self.metrics.components.values())
        out: dict[str, float] = {}
        for key in ("ub", "ub_cpl", "cut", "cut_cpl"):
            out |= {f"{key}_{letter_of(i)}": getattr(c, key) for i, c in enumerate(each)}
        out |= {"totV": sum(p.totV_ab for p in self.metrics.pairs.values()),
                "totZ": sum(p.totZ for p in self.metrics.pairs.values())}
        out |= {f"ncoupled_{letter_of(i)}": c.ncoupled for i, c in enumerate(each)}
        if len(each) != 2:
            out |= {"ub": max(c.ub for c in each), "ub_cpl": max(c.ub_cpl for c in each)}
            out |= {key: sum(getattr(c, key) for c in each) for key in ("cut", "cut_cpl", "ncoupled")}
        out |= {f"max_coupled_{letter_of(i)}": c.max_coupled for i, c in enumerate(each)}
        out |= {"max_coupled": max(c.max_coupled for c in each),
                "extra_pieces": sum(c.pieces - (c.parts - c.empty) for c in each),
                "maxV": self.metrics.maxV, "maxZ": self.metrics.maxZ, **self.metrics.step.row()}
        for key, together in (("MSV", max), ("TM", sum), ("MSM", max)):
            out |= {f"{key}_{letter_of(i)}": getattr(c, key) for i, c in enumerate(each)}
            out[key] = together(getattr(c, key) for c in each)
        return {**out, "seconds": self.seconds}


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
    interfaces : mapping of (str, str) to Interface
    remarks : tuple of str
        What the files lost or also hold, which schemes were left out because they do not apply, and in what each is
        worse than partitioning each component alone, where `naive` ran.
    placements : tuple of Placed
        The first co-partition of every scheme on the machine that was given, in linear order and placed.
    """

    problem: CoupledProblem
    runs: tuple[Run, ...]
    copartitions: Mapping[str, CoPartition]
    meshes: Mapping[str, Mesh]
    settings: Mapping[str, Any]
    interfaces: Mapping[Pair, Interface] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    placements: tuple[Placed, ...] = ()

    @property
    def schemes(self) -> tuple[str, ...]:
        """The schemes that ran, in order."""
        return tuple(self.copartitions)

    @property
    def interface(self) -> Interface | None:
        """Where the meshes meet, of two components; None where interedges were given."""
        return only_interface(self.interfaces)

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

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row per run, with scheme and seed: ready for ``pandas.DataFrame``."""
        return [{"scheme": r.scheme, "seed": r.seed, **r.figures()} for r in self.runs]

    def _repr_html_(self) -> str:
        """The schemes' tables, for notebooks."""
        return scheme_table(self.rows()) + paid_html(self.rows(), f"T: {self.cost}") + halo_html(self.rows())

    @property
    def cost(self) -> StepCost:
        """What work and messages cost in a coupled step."""
        return self.runs[0].metrics.step.cost

    def rows(self) -> list[dict[str, Any]]:
        """One row per scheme: ``scheme``, the mean over the seeds of every figure, and whether limits are ``kept``."""
        out: list[dict[str, Any]] = []
        eps = float(self.settings["eps"])
        for name in self.schemes:
            runs = [run for run in self.runs if run.scheme == name]
            figures = [run.figures() for run in runs]
            out.append({"scheme": name, **{key: float(np.mean([f[key] for f in figures])) for key in figures[0]},
                        "kept": all(within_limits(self.problem, run.metrics, eps) for run in runs)})
        return out

    def to_dict(self) -> dict[str, Any]:
        """Settings, mean figures and single runs as plain JSON types."""
        return {"schema": "copart-comparison", "version": 1, "settings": dict(self.settings),
                "step_cost": self.cost.to_dict(),
                **interfaces_dict(self.problem, self.interfaces), "mean": self.rows(), "runs": self.to_dicts(),
                "remarks": list(self.remarks),
                **({"placements": [one.to_dict() for one in self.placements]} if self.placements else {})}

    def __repr__(self) -> str:
        each = [letter_of(i) for i in range(len(self.problem.names))]

        def listed(row: Mapping[str, Any], key: str, form: str) -> str:
            said = [format(row[f"{key}_{letter}"], form) for letter in each]
            return " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)

        return "\n".join(f"{row['scheme']}: cut {listed(row, 'cut', '.0f')}, coupled ub "
                         f"{listed(row, 'ub_cpl', '.1%')}, totV {row['totV']:.0f}, totZ {row['totZ']:.1f}"
                         for row in self.rows())


def within_limits(problem: CoupledProblem, metrics: CoupledMetrics, eps: float) -> bool:
    """Whether all components are within the limits of balance, and no part is empty."""
    return not any(c.empty or c.max_weight > copartition_limit(problem.components[name].total_weight, c.parts, eps)
                   for name, c in metrics.components.items())


#: More runs than these are taken for a mistake.
MOST_SEEDS = 10**6


def compare(*components: Any, parts: Counts | None = None, coupled: CoupledCounts | None = None,
            total: int | Sharing | None = None, schemes: Sequence[SchemeName] | None = None,
            scheme_options: Mapping[str, Any] | None = None, seeds: int | Sequence[int] = 5,
            interface: InterfaceRule = "spread", interedges: InteredgeKind | Interedges | Mapping[Pair, Any] = "facet",
            meeting: Meeting | None = None, names: Sequence[str] | None = None, load: str | None = None,
            coupled_weights: CoupledWeights | None = None, contiguous: bool = False,
            options: Options | None = None, site: Site | None = None, progress: Progress | None = None,
            **settings: Unpack[Settings]) -> Comparison:
    """Run the schemes over several seeds on one coupled problem.

    Parameters
    ----------
    *components, parts, coupled, total, interface, interedges, meeting, names, load, coupled_weights, contiguous, \
            options, site, progress
        As for :func:`copart.plan`; the seed of `options` plays no role.
    schemes : sequence of str, optional
        Which schemes to run, of :data:`copart.schemes.registry.SCHEMES`; where not given all, without those that do
        not apply or find no partition, which `remarks` name.
    scheme_options : mapping, optional
        Options of single schemes and `objective`, by name; each goes to the schemes that know it.
    seeds : int or sequence of int
        How many seeds (1, 2, ...), or which.

    Returns
    -------
    Comparison
        Times are of the partitioning alone; kernels are compiled before the first is measured.

    Raises
    ------
    NotApplicableError, PartitionError
        A scheme that was asked for is not made for the problem, or finds no partition.
    ConfigError
        An argument is missing or out of range.
    """
    usual = [name for name, one in SCHEMES.items() if not one.chooses]
    if isinstance(schemes, str):
        raise ConfigError(f"schemes: needs a sequence of names, as in [{schemes!r}]")
    chosen = usual if schemes is None else list(dict.fromkeys(schemes))
    if not chosen:
        raise ConfigError(f"schemes: needs at least one of {', '.join(SCHEMES)}")
    pool = all(scheme(name).shares_pool for name in chosen)
    own = own_options(chosen, scheme_options)
    numbers = list(range(1, whole("seeds", seeds, low=1, high=MOST_SEEDS) + 1)) if np.ndim(seeds) == 0 else \
        [whole("seeds", s, low=0) for s in seeds]  # type: ignore[union-attr]
    if not numbers:
        raise ConfigError("seeds: needs at least one")
    run = requests.options_of(options, settings, meeting, site).replace(seed=numbers[0])
    requests.check_components(components)
    rule = coupled_rule(coupled, interface, "coupled")
    parts, sharing = requests.parts_or_total(parts, total, pool)
    if parts is not None and len(components) > 1:
        requests.counts("parts", parts, len(components), pool)
    tell = progress or silent
    found = coupled_problem(*components, interedges=interedges, names=names, load=load, meeting=meeting, progress=tell,
                            coupled_weights=coupled_weights, threads=run.threads)
    problem = found.problem
    count, limits, rule, _ = counted(problem, parts, sharing, coupled, rule, pool, run.eps, found.unit)
    where = Site() if site is None else site
    cost = priced(where.priced(problem.names), found.unit)
    if where.machine is not None:
        check_room(sum(count), where.machine)
    tell("compiling kernels", 0, 0)
    warm.schemes_once(tuple(chosen), run.replace(seed=1))
    runs: list[Run] = []
    first: dict[str, CoPartition] = {}
    left_out: dict[str, CopartError] = {}
    paid: dict[tuple[str, int], PromiseFigures] = {}
    for i, name in enumerate(chosen):
        for j, number in enumerate(numbers):
            tell(f"{name}, seed {number}", i * len(numbers) + j, len(chosen) * len(numbers))
            begin = time.perf_counter()
            try:
                copartition = run_scheme(name, problem, count, limits, run.replace(seed=number), interface=interface,
                                         scheme_options=own[name], cost=cost, contiguous=contiguous)
            except (NotApplicableError, PartitionError) as error:
                if schemes is not None:
                    raise
                left_out[name] = error
                break
            seconds = time.perf_counter() - begin
            metrics = evaluate(problem, copartition, cost)
            runs.append(Run(name, number, seconds, metrics))
            if not copartition.shared:
                paid[name, number] = promised(problem, copartition, metrics)
            first.setdefault(name, copartition)
    runs = [one for one in runs if one.scheme not in left_out]
    first = {name: made for name, made in first.items() if name not in left_out}
    if not runs:
        raise next(iter(left_out.values()))
    kept = {"schemes": list(first), "scheme_options": dict(scheme_options or {}), "seeds": numbers,
            "names": list(problem.names), "parts": count, "coupled": limits,
            "coupled_rule": rule if any(scheme(name).knows_interface for name in first) else None,
            "interface": interface, "interedges": requests.described(interedges), "load": load,
            **found.settings,
            **{key: value for key, value in requests.settings_of(run).items() if key != "seed"}}
    if contiguous:
        kept["contiguous"] = True
    said = [f"{name} is left out: {str(error).removeprefix(f'{name}: ')}" for name, error in left_out.items()]
    said += [line for name in first for line in _worse(name, numbers, paid, run.eps)]
    if contiguous:
        said += [f"{name}: {line}" for name, made in first.items() for line in bodies_shared(problem, made)]
    return Comparison(problem, tuple(runs), first, found.meshes, kept, found.interfaces, (*found.remarks, *said),
                      _placed(problem, first, where, kept, run.replace(seed=numbers[0]), tell))


def _worse(name: str, seeds: Sequence[int], paid: Mapping[tuple[str, int], PromiseFigures], eps: float) -> list[str]:
    """In what a scheme is worse than partitioning each component alone: the first seed where it is."""
    both = [seed for seed in seeds if name != ALONE and (name, seed) in paid and (ALONE, seed) in paid]
    lines = {seed: line for seed in both for line in remarks_on(paid[name, seed], paid[ALONE, seed], eps)}
    if not lines:
        return []
    seed = next(iter(lines))
    many = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    return [f"{name}, seed {seed}{many}: {lines[seed]}"]


def _placed(problem: CoupledProblem, made: Mapping[str, CoPartition], site: Site, settings: Mapping[str, Any],
            run: Options, tell: Progress) -> tuple[Placed, ...]:
    """One co-partition of every scheme on the machine, in linear order and placed; none without a machine."""
    if site.machine is None:
        return ()
    placed: list[Placed] = []
    times, coords = site.times(problem.names), requests.placed_coords(problem, settings)
    for name, copartition in made.items():
        tell(f"placing {name}", 0, 0)
        of = process_graph(problem, copartition, times, coords=coords)
        for kind in dict.fromkeys(["linear", site.placement]):
            if kind != "disjoint" or not copartition.shared:
                one = place(of, site.machine, kind, method=site.method if kind == "shared" else None, bound=site.bound,
                            seed=run.seed, threads=run.threads)
                placed.append(replace(one, name=f"{name}, {kind}"))
    return tuple(placed)


__all__ = ["Comparison", "Run", "compare"]
