"""How to partition: checked once, replaced and never changed."""

from __future__ import annotations

import dataclasses

import pytest

import copart
from copart.errors import ConfigError
from copart.options import PRESETS, Config, Options

from .helpers import grid


def test_defaults_keywords_and_values_meet():
    assert Options.of(None, {}) == Options()
    assert Options.of(None, {"seed": 3, "eps": 0}) == Options(eps=0.0, seed=3)
    given = Options(eps=0.1, threads=2, preset="fast")
    assert Options.of(given, {}) is given, "passed on as itself"
    assert Options.of(given, {"seed": 7}) == Options(0.1, 7, 2, "fast")
    assert given.seed == 1


def test_it_cannot_be_changed_and_says_what_it_holds():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Options().seed = 2
    assert Options(seed=4).to_dict() == {"eps": 0.05, "seed": 4, "threads": 1, "preset": "default"}


def test_presets_by_name_or_of_ones_own():
    assert Options(preset="strong").config is PRESETS["strong"]
    mine = Config(bisections=9)
    assert Options(preset=mine).config is mine


@pytest.mark.parametrize(("fields", "message"), [
    ({"eps": -0.1}, "eps: must be at least 0"), ({"eps": float("nan")}, "eps: must be at least 0"),
    ({"eps": "some"}, "eps: needs a number"), ({"seed": -1}, "seed: must be at least 0"),
    ({"seed": 2**31}, "seed: must be at most"), ({"seed": 1.5}, "seed: needs an integer"),
    ({"threads": 0}, "threads: must be at least 1"), ({"threads": 2000}, "threads: must be at most 1024"),
    ({"preset": "slow"}, "preset: 'slow' is not known; choose one of fast, default, strong, best")])
def test_what_is_out_of_range_is_refused_wherever_it_comes_in(fields, message):
    with pytest.raises(ConfigError, match=message):
        Options(**fields)
    for call in (copart.part, lambda g, k, **more: copart.repart(g, [0, 0, 1, 1] * 4, 2, k, **more)):
        with pytest.raises(ConfigError, match=message):
            call(grid(4, 4), 2, **fields)


def test_unknown_keywords_and_wrong_values():
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'; options are eps, seed, threads, preset"):
        copart.part(grid(4, 4), 2, speed=3)
    with pytest.raises(TypeError, match=r"options: needs copart.Options, got dict"):
        copart.part(grid(4, 4), 2, {"seed": 3})


def test_one_value_serves_every_entry():
    run = Options(eps=0.1, seed=5, preset="fast")
    graph = grid(9, 9)
    by_name = copart.part(graph, 4, eps=0.1, seed=5, preset="fast")
    assert (copart.part(graph, 4, run) == by_name).all()
    side = [i * 9 for i in range(9)]
    problem = copart.CoupledProblem.of_two(graph, graph, copart.Interedges.from_pairs(81, 81, side, side))
    for scheme in (copart.naive, copart.aware, copart.projrepart, copart.joint, copart.multiconstraint,
                   copart.monolithic):
        one, other = scheme(problem, 3, None, run), scheme(problem, 3, eps=0.1, seed=5, preset="fast")
        assert all((one[name] == other[name]).all() for name in "ab"), scheme
