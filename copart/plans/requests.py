"""What `plan` and `compare` are asked for, in a few values, checked before the work and kept as JSON types.

=========  ====================================================================================
`Meeting`  how the meshes meet: gaps allowed, and where each mesh is put first
`Options`  how to partition (:mod:`copart.options`)
`Sharing`  how many processes to share out, instead of numbers of parts
`Site`     where to run: the machine, how processes are placed on it, and what a step costs there
=========  ====================================================================================
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from ..arrays import fraction, whole
from ..coupling import CoupledProblem
from ..errors import ConfigError, PartitionError, did_you_mean
from ..graph import Graph
from ..metrics import StepCost
from ..metrics.columns import letter_of
from ..names import Bound, CouplingOrder, PlacementName, TaskMethod, check_method, known_name
from ..options import Options, Settings

if TYPE_CHECKING:
    from ..interface.counts import Counts
    from ..mapping.machine import Machine
    from ..mesh import Mesh
    from ..mesh.transform import Transform

Costs = str | os.PathLike[str] | Sequence[float] | Mapping[str, float]
"""A table of costs or times (see :mod:`copart.formats.costs_file`), or what a unit of load costs in each component."""

Vector = Sequence[float]


@dataclass(frozen=True)
class Meeting:
    """How the meshes of components meet.

    Parameters
    ----------
    tolerance : float, optional
        Largest gap between two surfaces, as a fraction of the facet size; see :func:`copart.mesh.find_interedges`.
    gap : float, optional
        The same in the unit of the coordinates, instead of `tolerance`.
    scale : mapping of str to float
        What the coordinates of a component are multiplied by first: 0.001 where it is in millimetres and the others
        are in metres.  A component is named, or meant by its letter: a, b, c in the order given.
    shift : mapping of str to (float, float, float)
        Added to the coordinates of a component, after scaling.
    periodic : mapping of str to (float, float, float)
        A component is also where this vector and its multiples, forward and back, put it.
    several : bool
        Couple all surfaces that match.  Otherwise two or more of comparable size are refused where no boundary
        is named.  Refused for interedges by overlap, which are of all cells.
    max_interedges : int, optional
        Keep at most so many interedges per cell, the heaviest; a remark says how many are left out.

    Raises
    ------
    ConfigError
        A value is out of range.

    Examples
    --------
    >>> Meeting(scale={"solid": 0.001}).transforms(["fluid", "solid"])["solid"].scale
    0.001
    """

    tolerance: float | None = None
    gap: float | None = None
    scale: Mapping[str, float] = field(default_factory=dict)
    shift: Mapping[str, Vector] = field(default_factory=dict)
    periodic: Mapping[str, Vector] = field(default_factory=dict)
    several: bool = False
    max_interedges: int | None = None

    def __post_init__(self) -> None:
        for label in ("tolerance", "gap"):
            value = getattr(self, label)
            if value is not None:
                fraction(label, value)
        if self.tolerance is not None and self.gap is not None:
            raise ConfigError("tolerance, gap: give one of the two, not both")
        if self.max_interedges is not None:
            whole("max_interedges", self.max_interedges, low=1)
        for label in ("scale", "shift", "periodic"):
            if not isinstance(getattr(self, label), Mapping):
                raise ConfigError(f"{label}: needs a mapping from components, as in {label}={{'b': ...}}, got "
                                  f"{getattr(self, label)!r}")
        self.transforms([*self.scale, *self.shift, *self.periodic])  # what is wrong is said before files are read

    def transforms(self, names: Sequence[str]) -> dict[str, Transform]:
        """Where each component is put first.

        Parameters
        ----------
        names : sequence of str
            Of all components, in order.

        Raises
        ------
        ConfigError
            A name is of no component, or a value is out of range.
        """
        from ..mesh.transform import Transform

        scale, shift = self._of("scale", names), self._of("shift", names)
        periodic = self._of("periodic", names)
        return {name: Transform(scale.get(name, 1.0), shift.get(name, (0.0, 0.0, 0.0)), periodic.get(name))
                for name in names}

    def named(self, names: Sequence[str]) -> Meeting:
        """The same with components by their names instead of letters.

        Parameters
        ----------
        names : sequence of str
            Of all components, in order.
        """
        return Meeting(self.tolerance, self.gap, self._of("scale", names), self._of("shift", names),
                       self._of("periodic", names), self.several, self.max_interedges)

    def _of(self, label: str, names: Sequence[str]) -> dict[str, Any]:
        """A field by the names of components."""
        letters = {letter_of(i): name for i, name in enumerate(names)}
        found: dict[str, Any] = {}
        for key, value in getattr(self, label).items():
            name = key if key in names else letters.get(key)
            if name is None:
                raise ConfigError(f"{label}: no component {key!r}; known: {', '.join(names)}"
                                  + did_you_mean(str(key), names))
            if name in found:
                raise ConfigError(f"{label}: is given twice for {name}")
            found[name] = value
        return found

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain JSON types; the number of interedges only where it is limited."""
        out = {"tolerance": self.tolerance, "gap": self.gap,
               "scale": {name: float(f) for name, f in self.scale.items()},
               **{label: {name: [float(x) for x in vector] for name, vector in getattr(self, label).items()}
                  for label in ("shift", "periodic")}, "several": bool(self.several)}
        return out if self.max_interedges is None else {**out, "max_interedges": self.max_interedges}

    @classmethod
    def of_settings(cls, settings: Mapping[str, Any]) -> Meeting:
        """From the settings of a plan or comparison.

        Parameters
        ----------
        settings : mapping
            As :meth:`to_dict` gives them, among others.
        """
        # earlier plans may have it beside overlap, where it had no effect
        several = bool(settings.get("several")) and settings.get("interedges") != "overlap"
        return cls(settings.get("tolerance"), settings.get("gap"), settings.get("scale") or {},
                   settings.get("shift") or {}, settings.get("periodic") or {}, several,
                   settings.get("max_interedges"))


@dataclass(frozen=True)
class Sharing:
    """Processes to be shared out among the components, instead of numbers of parts.

    Parameters
    ----------
    total : int
        Processes in all.
    costs : path, sequence of float or mapping of str to float, optional
        A table of costs or times (:mod:`copart.formats.costs_file`), or what a unit of load costs in each component;
        the same everywhere where not given.
    coupling : {"concurrent", "serial"}
        Components compute at once, or one after the other; see :func:`copart.resources.distribute`.
    """

    total: int
    costs: Costs | None = None
    coupling: CouplingOrder = "concurrent"

    def __post_init__(self) -> None:
        whole("total", self.total, low=1)


@dataclass(frozen=True)
class Site:
    """Where to run: processes are placed on the slots of a machine, and a coupled step is priced.

    Parameters
    ----------
    machine : Machine, optional
        From :func:`copart.formats.machines.read_machine`; one process per slot.  Nothing is placed without it.
    placement : {"shared", "disjoint", "linear"}
        How they are placed there; see :func:`copart.mapping.coupled.placements.place`.  All that apply are measured.
    iterations : int, sequence of int or mapping of str to int, optional
        Halo exchanges of each component in a coupling step, to weigh its traffic by; the sub-steps of `cost` where not
        given.
    cost : StepCost
        What work and messages cost, for the figures of a coupled step.
    method : str, optional
        As of :func:`copart.mapping.coupled.placements.place`: how ``shared`` is made.
    bound : {"bandwidth", "latency", "volume"}
        What "auto" goes by.

    Raises
    ------
    ConfigError
        A name is not known, or a method is given for another placement than ``shared``.
    """

    machine: Machine | None = None
    placement: PlacementName = "shared"
    iterations: Counts | None = None
    cost: StepCost = field(default_factory=StepCost)
    method: TaskMethod | None = None
    bound: Bound = "bandwidth"

    def __post_init__(self) -> None:
        known_name("placement", self.placement, get_args(PlacementName))
        check_method(self.method, self.bound)
        if self.method is not None and self.placement != "shared":
            raise ConfigError(f"method: is how placement shared is made, not {self.placement}; leave out one of "
                              f"the two")

    @property
    def settings(self) -> dict[str, Any]:
        """How processes are placed, as settings of a plan."""
        method = {} if self.method is None else {"method": self.method}
        return {"placement": self.placement, **method, **({"bound": self.bound} if self.method == "auto" else {})}

    def times(self, names: Sequence[str]) -> dict[str, int]:
        """Iterations by component.

        Parameters
        ----------
        names : sequence of str
            Of all components, in order.
        """
        found: Any = self.cost.named(names).substeps if self.iterations is None else self.iterations
        if not isinstance(found, Mapping):
            found = np.atleast_1d(found).tolist()
            found = found * len(names) if len(found) == 1 else found
        return dict(zip(names, counts("iterations", found, names), strict=True))

    def priced(self, names: Sequence[str]) -> StepCost:
        """The constants of a coupled step by component, with `iterations` sub-steps where these are given.

        Parameters
        ----------
        names : sequence of str
            Of all components, in order.
        """
        named = self.cost.named(names)
        return named if self.iterations is None else replace(named, substeps=self.times(names)).named(names)


def options_of(options: Options | None, settings: Settings, meeting: Any = None, site: Any = None) -> Options:
    """The options of a call that also takes a meeting, a total and a site; TypeError says what belongs where."""
    check_kind("meeting", meeting, Meeting)
    check_kind("site", site, Site)
    places = {"site=copart.Site(machine, ": Site.__dataclass_fields__, "meeting=copart.Meeting(":
              Meeting.__dataclass_fields__, "total=copart.Sharing(total, ": ("costs", "coupling")}
    for name, (place, known) in itertools.product(settings, places.items()):
        if name in known:
            raise TypeError(f"{name} is given as {place}{name}=...)")
    return Options.of(options, settings)


def check_kind(label: str, value: Any, kind: type[Meeting] | type[Site]) -> None:
    """TypeError where a meeting or a site is given as something else; None is none."""
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{label}: needs copart.{kind.__name__}, got {type(value).__name__}")


def counts(label: str, values: Counts, components: int | Sequence[str], pool: bool = False) -> list[int]:
    """Counts in the order of the components, each at least 1.

    Parameters
    ----------
    label : str
        What they are called.
    values : sequence, mapping or int
    components : int or sequence of str
        How many there are, or their names where these are known.
    pool : bool
        Whether one number alone is accepted, for the size of a pool that all share.

    Raises
    ------
    ConfigError
    """
    many = components if isinstance(components, int) else len(components)
    if isinstance(values, Mapping):
        if isinstance(components, int):
            # the names are not known yet
            return counts(label, list(values.values()), components)
        if set(values) != set(components):
            raise ConfigError(f"{label}: needs one integer for each of {', '.join(components)}, "
                              f"got {', '.join(map(str, values))}")
        return [whole(label, values[name], low=1) for name in components]
    found = list(values) if isinstance(values, Sequence | np.ndarray) else [values]
    if len(found) != many and not (pool and len(found) == 1):
        some = "two" if many == 2 else str(many)
        raise ConfigError(f"{label}: needs {some} integers, one for each component, got {values!r}")
    return [whole(label, value, low=1) for value in found]


def parts_or_total(parts: Counts | None, total: int | Sharing | None, pool: bool) -> tuple[Counts | None,
                                                                                         Sharing | None]:
    """The numbers of parts, or what is to be shared out.

    Raises
    ------
    ConfigError
        Neither is given, or both are; or costs of components are, and all components share the processes.
    """
    if parts is None and total is None:
        raise ConfigError("parts: is missing; give the number of parts of each component, as in parts=(16, 64), or the "
                          "total of processes to share out")
    if parts is not None and total is not None:
        raise ConfigError("parts, total: give one of the two, not both")
    if total is None:
        return parts, None
    sharing = total if isinstance(total, Sharing) else Sharing(total)
    if pool and (sharing.costs is not None or sharing.coupling != "concurrent"):
        raise ConfigError("total: a pool of processes is not shared out among the components, so that costs and "
                          "coupling have no effect; leave them out, or give cells loads that say what they cost")
    return (sharing.total, None) if pool else (None, sharing)


def described(interedges: Any) -> str:
    """Interedges as a setting: their kind, or that they were given."""
    return interedges if isinstance(interedges, str) else "given"


def settings_of(options: Options) -> dict[str, Any]:
    """Options as JSON types; a preset of one's own by its fields."""
    from dataclasses import asdict

    out = options.to_dict()
    return out if isinstance(options.preset, str) else {**out, "preset": asdict(options.preset)}


def placed_meshes(meshes: Mapping[str, Mesh], settings: Mapping[str, Any]) -> dict[str, Mesh]:
    """The meshes in one coordinate system: scaled and moved as they were to meet one another."""
    where = Meeting.of_settings(settings).transforms(settings["names"])
    return {name: where[name].apply(mesh) for name, mesh in meshes.items()}


def placed_coords(problem: CoupledProblem, settings: Mapping[str, Any]) -> dict[str, NDArray[np.float64]] | None:
    """Coordinates of all cells in one coordinate system; None where some component has none."""
    where = Meeting.of_settings(settings).transforms(problem.names)
    found = {name: graph.coords * where[name].scale + np.array(where[name].shift)[:graph.coords.shape[1]]
             for name, graph in problem.components.items() if graph.coords is not None}
    return found if len(found) == len(problem.components) else None


def check_fit(problem: CoupledProblem, parts: Sequence[int]) -> None:
    """Refuse more parts than a component (or all of them, for one pool) has cells.

    Raises
    ------
    PartitionError
    """
    cells = {name: graph.nvtxs for name, graph in problem.components.items()}
    if len(parts) == 1 < len(cells):
        cells = {"all components": sum(cells.values())}
    for (name, n), count in zip(cells.items(), parts, strict=True):
        if count > n:
            raise PartitionError(f"parts of {name}: {count} parts of {n} cells would leave parts empty; "
                                 f"ask for at most {n}")


def check_components(components: Sequence[Any]) -> None:
    """Refuse what cannot be components: none, counts of parts, or all of them in one value.

    Raises
    ------
    ConfigError
    """
    if not components:
        raise ConfigError("components: needs two or more, or one file with several zones")
    for thing in components:
        if isinstance(thing, int) or (isinstance(thing, list | tuple) and len(thing) and
                                      all(isinstance(x, int | np.integer) for x in thing)):
            raise ConfigError(f"components: {thing!r} is none; numbers of parts are given as parts={thing!r}")
        if isinstance(thing, Mapping):
            raise ConfigError("components: a mapping is none; give its values one by one, and its keys as names: "
                              f"*components.values(), names={tuple(thing)!r}")
        if isinstance(thing, list | tuple) and any(isinstance(x, str | os.PathLike | Graph) or hasattr(x, "points")
                                                   for x in thing):
            raise ConfigError(f"components: a {type(thing).__name__} is none; give what it holds one by one: "
                              "*components")


__all__ = ["Costs", "Meeting", "Sharing", "Site", "check_components", "check_fit", "counts", "described",
           "options_of", "parts_or_total", "placed_coords", "placed_meshes", "settings_of"]
