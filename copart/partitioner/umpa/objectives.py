"""What a partition of a hypergraph is to have least of, first things first."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import ConfigError
from ...kernels import umpa_gains as kernels
from ...names import ExchangeObjective, known_name

#: Metrics by the letters of their names, and their numbers in kernels.
METRICS = {"TV": kernels.TV, "MSV": kernels.MSV, "MSRV": kernels.MSRV, "TM": kernels.TM, "MSM": kernels.MSM}


@dataclass(frozen=True, slots=True)
class Objective:
    """Metrics of the exchange in the order of their priority.

    Parameters
    ----------
    metrics : tuple of {"TV", "MSV", "MSRV", "TM", "MSM"}
        One to three of them, each once: total volume, largest volume sent, largest volume sent and received, all
        messages, most messages sent by a part.
    by_load : bool
        Whether the lighter part breaks ties of all metrics.

    Raises
    ------
    ConfigError
        A metric is unknown, or given twice.
    """

    metrics: tuple[str, ...]
    by_load: bool = True

    def __post_init__(self) -> None:
        try:
            several = (self.metrics,) if isinstance(self.metrics, str) else tuple(self.metrics)
        except TypeError:
            raise ConfigError(f"objective: needs one to three metrics, got {self.metrics!r:.40}") from None
        object.__setattr__(self, "metrics", several)
        unknown = [name for name in self.metrics if name not in METRICS]
        if unknown:
            raise ConfigError(f"objective: {unknown[0]!r} is no metric; choose among {', '.join(METRICS)}")
        if not 1 <= len(set(self.metrics)) == len(self.metrics) <= 3:
            raise ConfigError(f"objective: needs one to three metrics, each once, got {self.metrics}")

    @property
    def messages(self) -> bool:
        """Whether messages matter, and nets between parts have to be counted."""
        return "TM" in self.metrics or "MSM" in self.metrics

    @property
    def primary(self) -> str:
        """The metric that comes first."""
        return self.metrics[0]

    @classmethod
    def of(cls, given: ExchangeObjective | Objective) -> Objective:
        """An objective by its name, or as it is.

        Raises
        ------
        ConfigError
            There is none of that name.
        """
        if isinstance(given, Objective):
            return given
        known_name("objective", given, OBJECTIVES)
        return OBJECTIVES[given]


#: The variants of UMPa by what they are for (Deveci 2015, chapter 4).
OBJECTIVES = {
    "volume": Objective(("TV",)),
    "max-volume": Objective(("MSV", "MSRV", "TV")),
    "messages": Objective(("TM", "TV")),
    "max-messages": Objective(("MSM", "TM", "TV")),
}

__all__ = ["METRICS", "OBJECTIVES", "Objective"]
