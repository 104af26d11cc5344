"""The way from the coarsest levels to the cells, and the coupled vertices of all components on it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from copart.coupling import CoupledProblem, Interedges
from copart.options import Options
from copart.partitioner.rounds import Team
from copart.schemes.joint.annealing import Annealing
from copart.schemes.joint.descent import Descent
from copart.schemes.joint.stages import GROWTH, stages

from ...helpers import grid


@pytest.fixture(scope="module")
def descent():
    """A fine grid against a coarse one: 120 coupled cells that face 60."""
    fine, coarse = grid(60, 120), grid(60, 60)
    face = np.arange(120)
    problem = CoupledProblem.of_two(fine, coarse, Interedges.from_pairs(7200, 3600, 59 * 120 + face, face // 2))
    price = np.array([1.0, 16.0, 120.0, 0.0, 0.0])
    task = Annealing(problem, {"a": 8, "b": 6}, {"a": 4, "b": 3}, False, price, Options())
    with Team(1) as team:
        yield Descent(task, team)


def test_the_way_goes_down_one_level_at_a_time_where_fewest_are_coupled(descent):
    components = descent.components
    way, _ = stages(descent.base, components)
    assert len(way) == sum(c.at for c in components.values()) > 2
    at = {name: c.at for name, c in components.items()}
    for name in way:
        size = {n: len(c.coupled[at[n] - 1]) for n, c in components.items() if at[n]}
        assert size[name] == min(size.values()), "the level that is entered has the fewest coupled vertices"
        at[name] -= 1
    assert not any(at.values())


def test_stages_begin_coarsest_grow_and_end_with_the_cells(descent):
    _, found = stages(descent.base, descent.components)
    levels = list(found)
    assert levels[0] == tuple(c.at for c in descent.components.values())
    assert levels[-1] == (0, 0)
    sizes = [len(stage.blocks.weight) for stage in found.values()]
    assert sizes[-1] == descent.base.n == 180
    assert sizes == sorted(sizes)
    assert all(b >= GROWTH * a for a, b in list(pairwise(sizes))[:-1]), sizes


def test_nothing_is_lost_between_stages(descent):
    base, components = descent.base, descent.components
    _, found = stages(base, components)
    for stage in found.values():
        assert stage.blocks.weight.sum() == base.cells.weight.sum()
        assert stage.blocks.imul.sum() == len(base.cells.iadj), "each interedge from both ends"
        spans = [stage.span(name) for name in components]
        assert [s.stop - s.start for s in spans] == [stage.count[name] for name in components]
        assert stage.size == pytest.approx(np.sqrt(base.n / len(stage.blocks.weight)))


def test_parts_come_back_as_they_were_given(descent):
    stage = next(iter(descent.stages.values()))
    for component in descent.components.values():
        component.start()
    rng = np.random.default_rng(3)
    given = np.concatenate([rng.integers(0, c.ncoupled, stage.count[name]) + descent.base.offset[name]
                            for name, c in descent.components.items()])
    stage.give_back(descent.components, given)
    assert stage.parts(descent.components).tolist() == given.tolist()
    only = given.copy()
    only[stage.span("b")] = descent.base.offset["b"]
    stage.give_back(descent.components, only, ["b"])
    assert stage.parts(descent.components).tolist() == only.tolist()
    # what surrounds a loose component pulls nowhere
    drawn, loose = stage.cells(descent.components), stage.cells(descent.components, {"a", "b"})
    assert len(drawn.bidx) > 0
    assert len(loose.bidx) == 0
    assert drawn.bidx.max() < descent.base.k


def test_limits_are_loosened_for_blocks_but_not_for_cells(descent):
    _, found = stages(descent.base, descent.components)
    coarsest, *_, cells = found.values()
    assert (cells.loosened(descent.limit) == descent.limit).all()
    assert (coarsest.loosened(descent.limit) >= descent.limit).all()
