"""How to partition: one frozen value of what every scheme and operator takes, and the presets behind it.

Made and checked once where a caller comes in (:meth:`Options.of`), and handed down as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict, Unpack

from .arrays import fraction, tolerance, whole
from .names import PresetName, known_name


@dataclass(frozen=True, slots=True)
class Config:
    """How the multilevel partitioner works.

    Attributes
    ----------
    coarse_per_part, coarse_least : int
        Coarsening stops near ``max(coarse_per_part * nparts, coarse_least)`` vertices; `coarse_least` is 200 at most on
        rough bodies of voxels, as foams.
    tries : int
        Initial partitions grown by KGGGP where recursive bisection does not apply; the best is kept.
    warmth : float
        How much of its own connectivity a vertex may lose in a tentative move, at first.
    cooling : int
        Rounds of refinement per level over which the warmth falls; twice as many, up to 24, where minimum cuts are
        sought between parts of 8,000 vertices and more.
    cooling_fine : int
        The same on the three finest levels, which take most of the time, where minimum cuts are sought after it; six at
        least between such parts in space, and where parts have fewer than 1,000 vertices.
    patience : int
        Rounds of refinement without improvement before a level is left.
    bisections : int
        Initial partitions by recursive bisection, up to eight times as many where the graph is large, and twice as many
        where it has hubs.
    halving_least : int
        Vertices at which coarsening stops within a bisection; fewer where the graph has hubs, and 48 at most on grids
        in space.
    halving_passes : int
        Passes of FM on each level of a bisection, at most.
    grid_least : int
        Vertices at which coarsening of a grid stops, unless an eighth of it is more; half as many in the plane and
        where rows end inside.
    reach : int
        Edges from a border within which minimum cuts between pairs of parts are sought, five at most in space, four
        where neighbours have neighbours in common, half as many on grids whose rows end inside, and seven more, up to
        13, between parts of 8,000 vertices and more in the plane; 0 for none.
    flow_levels : int
        Finest levels on which they are sought.
    flow_degree : float
        Neighbours of a vertex, on average, up to which they are sought (fewer on grids): networks of more edges take
        longer, and win less.  Meshes in the plane may have any.
    flow_width : int
        Vertices of a part, on average, from which minimum cuts are sought in space, once, where `rounds` are 0; 0 for
        never.
    rounds : int
        Times that a pair is looked at on a level, at most; once more on meshes in the plane, and there twice more, up
        to four times, where parts have 8,000 vertices and more; between such parts twice as often in space, on meshes
        smaller than `brief_below`.
    share : float
        Share of a part's weight that may take part in a minimum cut.
    hub_rounds : int
        Rounds of k-way FM under looser limits on the input graph, where it has hubs; a quarter of them on others.
    hub_cycles : int
        V-cycles on graphs with hubs.
    members, generations : int
        Partitions made, and then combined so many times; the best is returned.
    ample : bool
        Coarsen less far, be warmer and cool more slowly where that takes little of the time: on graphs of two hundred
        times the vertices at which coarsening stops.
    brief_below : int
        `part` makes less effort on meshes in space of fewer vertices, but for grids and rough bodies, and for parts of
        8,000 vertices and more.
    explore_below : int
        `joint` makes all its efforts on problems of fewer vertices, and one on larger ones.
    """

    coarse_per_part: int = 30
    coarse_least: int = 700
    tries: int = 4
    warmth: float = 0.7
    cooling: int = 12
    cooling_fine: int = 0
    patience: int = 2
    bisections: int = 1
    halving_least: int = 80
    halving_passes: int = 4
    grid_least: int = 16_000
    reach: int = 4
    flow_levels: int = 1
    flow_degree: float = 8.0
    flow_width: int = 0
    rounds: int = 1
    share: float = 0.2
    hub_rounds: int = 4
    hub_cycles: int = 0
    members: int = 1
    generations: int = 0
    ample: bool = False
    brief_below: int = 200_000
    explore_below: int = 50_000


_DEFAULT = Config()
_STRONG = replace(_DEFAULT, brief_below=0, explore_below=500_000, bisections=2, grid_least=45_000, tries=8, cooling=24,
                  cooling_fine=12, reach=8, flow_levels=2, flow_degree=99.0, rounds=2, share=0.35, hub_rounds=8,
                  hub_cycles=1)
QUICK = replace(_DEFAULT, brief_below=0, coarse_per_part=20, tries=2, patience=1, warmth=0.6, cooling=4, reach=3,
                rounds=0, hub_rounds=1)
"""For partitions on the way to something else: natural counts, subgraphs of a map, starts of UMPa."""
PRESETS: dict[PresetName, Config] = {
    "fast": replace(QUICK, cooling=5, halving_least=40, halving_passes=2, grid_least=8000, ample=True,
                    flow_width=5000),
    "default": _DEFAULT,
    "strong": _STRONG,
    "best": replace(_STRONG, explore_below=10**12, flow_levels=3, members=4, generations=8),
}


class Effort(TypedDict, total=False):
    """The fields of `Options` but eps as keywords of a call, where limits are given in another way."""

    seed: int
    threads: int
    preset: PresetName | Config


class Settings(Effort, total=False):
    """The fields of `Options` as keywords of a call."""

    eps: float | str


@dataclass(frozen=True, slots=True)
class Options:
    """How to partition.

    Parameters
    ----------
    eps : float
        Imbalance tolerance, a fraction from 0 up and below 1: 0.05 allows parts 5 % above the average. Text may be in
        per cent: ``"5%"`` is kept as 0.05.
    seed : int
        Source of all pseudo-random choices, 0 to 2^31 - 1; the same seed gives the same parts.
    threads : int
        Threads to use, 1 to 1024; the result does not depend on it.
    preset : {"fast", "default", "strong", "best"} or Config
        How much time to spend on the cut.

    Raises
    ------
    ConfigError
        A value is out of range.

    Examples
    --------
    >>> Options(eps=0.03).replace(seed=2)
    Options(eps=0.03, seed=2, threads=1, preset='default')
    """

    eps: float = 0.05
    seed: int = 1
    threads: int = 1
    preset: PresetName | Config = "default"

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "eps", self._checked(self.eps))
        put(self, "seed", whole("seed", self.seed, low=0, high=2**31 - 1))
        put(self, "threads", whole("threads", self.threads, low=1, high=1024))
        if not isinstance(self.preset, Config):
            known_name("preset", self.preset, PRESETS)

    @staticmethod
    def _checked(eps: Any) -> float:
        return tolerance("eps", eps)

    @classmethod
    def of(cls, given: Options | None, settings: Settings | Effort) -> Options:
        """`given`, or the defaults, with the keywords of a call in place of its fields.

        Parameters
        ----------
        given : Options, optional
        settings : mapping
            Fields by name.

        Raises
        ------
        TypeError
            A keyword is none of the fields.
        ConfigError
            A value is out of range.
        """
        names = [field.name for field in fields(cls)]
        unknown = [name for name in settings if name not in names]
        if unknown:
            raise TypeError(f"unexpected keyword argument {unknown[0]!r}; options are {', '.join(names)}")
        if given is not None and not isinstance(given, Options):
            raise TypeError(f"options: needs copart.Options, got {type(given).__name__}; give eps, seed, threads and "
                            f"preset by name")
        chosen = cls() if given is None else given
        return replace(chosen, **settings) if settings else chosen  # type: ignore[arg-type]

    @property
    def config(self) -> Config:
        """The settings that the preset stands for."""
        return self.preset if isinstance(self.preset, Config) else PRESETS[self.preset]

    def replace(self, **changes: Unpack[Settings]) -> Options:
        """A copy with other fields, checked again.

        Parameters
        ----------
        **changes : object
            Fields by name: eps, seed, threads, preset.
        """
        return replace(self, **changes)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, as files keep them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Thorough(Options):
    """Options of a plan, for graphs of any size: what :attr:`Config.brief_below` saves is next to nothing of one."""

    __slots__ = ()

    @property
    def config(self) -> Config:
        """The settings of the preset, without it."""
        found = super().config
        return replace(found, brief_below=0) if found.brief_below else found

    @classmethod
    def of(cls, given: Options | None, settings: Settings | Effort) -> Options:
        """As :meth:`Options.of`, but that plain options become options of this kind."""
        run = Options.of(given, settings)
        return cls(run.eps, run.seed, run.threads, run.preset) if type(run) is Options else run


class Loose(Options):
    """Options of a subproblem of a scheme, whose few parts may have to be any factor out of balance for a while."""

    __slots__ = ()

    @staticmethod
    def _checked(eps: Any) -> float:
        return fraction("eps", eps)


__all__ = ["PRESETS", "QUICK", "Config", "Effort", "Loose", "Options", "Settings", "Thorough"]
