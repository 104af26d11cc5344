"""What checks hand back: findings and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import PartitionError


@dataclass(frozen=True)
class Finding:
    """One rule that is broken: what, where, the rule, and what was found."""

    what: str
    where: str
    rule: str
    found: str

    def __str__(self) -> str:
        return f"{self.what}: {self.where}: {self.rule}, found {self.found}"


@dataclass(frozen=True)
class Report:
    """Everything a check found, and the figures it derived on the way."""

    findings: tuple[Finding, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    unchecked: tuple[str, ...] = ()
    """What was stated and could not be derived again, and why."""

    @property
    def ok(self) -> bool:
        """Nothing was found."""
        return not self.findings

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings)) if self.findings else "no findings"

    def raise_if_broken(self) -> Report:
        """Raise PartitionError with the first finding and how many more there are, else return the report."""
        if self.findings:
            more = len(self.findings) - 1
            raise PartitionError(str(self.findings[0]) + (f" ({more} more finding{'s' * (more > 1)})" if more else ""))
        return self


class Notes:
    """Collects findings under one heading."""

    def __init__(self, what: str):
        self.what = what
        self.list: list[Finding] = []

    def add(self, where: str, rule: str, found: Any) -> None:
        self.list.append(Finding(self.what, where, rule, str(found)))


def first_of(notes: Notes, entries: list[tuple[str, str, Any]]) -> None:
    """Note the first of equal offences, and how many more there are."""
    if entries:
        where, rule, found = entries[0]
        more = len(entries) - 1
        notes.add(where, rule, f"{found}" + (f" ({more} more)" if more else ""))
