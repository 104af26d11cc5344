"""How to partition: checked once, replaced and never changed."""

from __future__ import annotations

import dataclasses

import pytest

import copart
from copart.checks import check_copartition, check_partition
from copart.errors import ConfigError
from copart.mapping.architectures.architecture import Complete
from copart.mapping.mapper import map_graph
from copart.options import PRESETS, Config, Loose, Options

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
    ({"eps": "some"}, "eps: needs a number"), ({"eps": "x%"}, "eps: needs a number, got 'x'"),
    ({"eps": 5}, r"eps: must be below 1, .*\(0.05 or 5%\), got 5; did you mean 0.05, which is 5%\?"),
    ({"eps": 30.0}, "did you mean 0.3, which is 30%"), ({"eps": 1}, "did you mean 0.01, which is 1%"),
    ({"eps": 1.05}, r"did you mean 0.05 \(parts up to 1.05 times the average\), or 1.05%\?"),
    ({"eps": "100%"}, "eps: must be below 1, .* got 100%$"), ({"eps": 1e12}, "got 1000000000000.0$"),
    ({"seed": -1}, "seed: must be at least 0"),
    ({"seed": 2**31}, "seed: must be at most"), ({"seed": 1.5}, "seed: needs an integer"),
    ({"threads": 0}, "threads: must be at least 1"), ({"threads": 2000}, "threads: must be at most 1024"),
    ({"preset": "slow"}, "preset: 'slow' is not known; choose one of fast, default, strong, best")])
def test_what_is_out_of_range_is_refused_wherever_it_comes_in(fields, message):
    with pytest.raises(ConfigError, match=message):
        Options(**fields)
    for call in (copart.part, lambda g, k, **more: copart.repart(g, [0, 0, 1, 1] * 4, 2, k, **more)):
        with pytest.raises(ConfigError, match=message):
            call(grid(4, 4), 2, **fields)


@pytest.mark.parametrize(("text", "number"), [("5%", 0.05), ("0.05", 0.05), (" 7.3 % ", 0.073), ("99.9%", 0.999)])
def test_a_tolerance_in_per_cent_is_the_fraction_as_it_is_written(text, number):
    assert Options(eps=text).eps == number
    assert copart.part(grid(4, 4), 2, eps=text).tolist() == copart.part(grid(4, 4), 2, eps=number).tolist()


def test_every_call_that_takes_a_tolerance_refuses_one_that_is_none():
    graph, two = grid(4, 4), grid(4, 4, vwgt=[[1, 2]] * 16)
    parts = [0, 1] * 8
    problem = copart.CoupledProblem.of_two(graph, graph, copart.Interedges.from_pairs(16, 16, range(4), range(4)))
    made = copart.naive(problem, 2)
    for call in (lambda e: copart.naive(problem, 2, eps=e), lambda e: copart.joint(problem, 2, eps=e),
                 lambda e: copart.projrepart(problem, 2, eps=e), lambda e: copart.part(two, 2, eps=[0.1, e]),
                 lambda e: map_graph(graph, Complete(2), eps=e),
                 lambda e: check_partition(graph, parts, 2, e),
                 lambda e: check_copartition(problem, made, e)):
        with pytest.raises(ConfigError, match="eps: must be below 1"):
            call(5)
        call("80%")


def test_subproblems_of_schemes_may_be_looser():
    run = Loose(eps=2.5, seed=3)
    assert run.replace(seed=4).eps == 2.5
    assert Options.of(run, {}) is run
    with pytest.raises(ConfigError, match="eps: must be at least 0"):
        Loose(eps=-1)


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
