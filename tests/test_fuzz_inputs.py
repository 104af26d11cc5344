"""Hundreds of damaged inputs: each is read, or refused by one error that names the file; ``python -m tests.fuzz``."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest

from .fuzz import SLOW, run
from .mutations import PLAIN, mutate

COUNT = 600


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
def test_damaged_inputs_are_read_or_refused():
    results = list(run(0, COUNT))
    wrong = [f"{r.number} {r.case}: {r.done}: {r.verdict} in {r.seconds:.1f} s: {r.said}"
             for r in results if not r.good]
    assert not wrong, "\n\n".join(wrong)
    assert [r.number for r in results] == list(range(COUNT))
    assert max(r.seconds for r in results) < SLOW
    # the damage is real, but some of it harmless
    verdicts = Counter(r.verdict for r in results)
    assert verdicts["refused"] > COUNT // 2
    assert verdicts["read"] > COUNT // 10


def test_damage_is_repeatable():
    data = b"4 5\n1 2\n1 3 4\n2 4\n2 3\n" * 20
    first, again = (mutate(data, np.random.default_rng([1, 7])) for _ in range(2))
    assert first == again


@pytest.mark.parametrize("operation", dict.fromkeys(PLAIN), ids=lambda f: f.__name__)
def test_every_kind_of_damage_changes_something_and_bears_nothing(operation):
    data = b"Header 3\n1 2 3\n4 5 6\n7 8 9\n" * 10
    assert any(operation(data, np.random.default_rng(i)) != data for i in range(20))
    assert isinstance(operation(b"", np.random.default_rng(1)), bytes)
