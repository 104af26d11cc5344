"""The registry: what it says of a scheme is what the scheme does."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from copart.checks import check_copartition
from copart.coupling import CoupledProblem, Interedges
from copart.errors import ConfigError, PartitionError
from copart.schemes.corepartition import corepartition
from copart.schemes.registry import COMMON, DEFAULT, SCHEMES, own_options, run_scheme

from ..helpers import grid


@pytest.fixture(scope="module")
def problem() -> CoupledProblem:
    ids = np.arange(400).reshape(20, 20)
    side = Interedges.from_pairs(400, 400, ids[:, -1], ids[:, 0])
    return CoupledProblem.of_two(grid(20, 20), grid(20, 20), side)


@pytest.mark.parametrize("name", SCHEMES)
def test_a_record_tells_the_truth(name):
    """The registry is read by the commands; nothing looks at signatures at run time."""
    scheme = SCHEMES[name]
    taken, again = (set(inspect.signature(f).parameters) for f in (scheme.run, scheme.again))
    assert ("interface" in taken) == scheme.knows_interface
    assert ("processes" in taken) == scheme.shares_pool
    assert ("cost" in taken) == scheme.chooses
    assert ("contiguous" in taken) == scheme.connects
    common = {"problem", "nparts", "ncoupled", "options", "settings", "interface", "processes", "cost", "contiguous"}
    assert taken - common == set(scheme.own)
    assert again - {"run"} == set(scheme.own_again)


@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_runs_and_runs_again(name, problem):
    nparts = 6 if SCHEMES[name].shares_pool else (4, 5)
    made = run_scheme(name, problem, nparts, seed=2)
    assert made.shared == SCHEMES[name].shares_pool
    assert check_copartition(problem, made, 0.05).ok
    again = corepartition(problem, made, scheme=name)
    assert check_copartition(problem, again, 0.05).ok
    assert dict(again.nparts) == dict(made.nparts)


def test_the_default_is_one_of_them():
    assert DEFAULT in SCHEMES


def test_own_options_go_to_those_that_know_them():
    given = {"price": (1, 2, 3), "balance": "each"}
    assert own_options(["joint", "monolithic", "naive"], given) == {
        "joint": {"price": (1, 2, 3)}, "monolithic": {"balance": "each"}, "naive": {}}
    with pytest.raises(ConfigError, match="'balance' is no option of joint, but of monolithic"):
        own_options(["joint"], given)
    with pytest.raises(ConfigError, match="'speed' is no option of joint; there are joint: price, directions, fix"):
        own_options(["joint"], {"speed": 1})


def test_options_of_a_run_again(problem):
    pool = run_scheme("monolithic", problem, 6, scheme_options={"balance": "each"})
    again = corepartition(problem, pool, scheme="monolithic", scheme_options={"balance": "each"})
    loads = [np.bincount(again[name], minlength=6) for name in problem.names]
    assert max(load.max() for load in loads) <= 70, "400 cells over 6 processes, each component by itself"
    with pytest.raises(ConfigError, match="'fix' is no option of joint when it is run again; there are none"):
        corepartition(problem, run_scheme("joint", problem, 4), scheme="joint", scheme_options={"fix": "soft"})


def test_every_option_is_in_reach_of_the_command_line():
    from copart.cli import parser
    from copart.commands.options import scheme_options

    words = ["plan", "a", "b", "--parts", "2", "2", "--price", "1", "2", "3", "--directions", "both", "--fix", "soft",
             "--balance", "each", "--objective", "volume"]
    reached = scheme_options(parser().parse_args(words))
    assert set(reached) == {option for scheme in SCHEMES.values() for option in scheme.own} | set(COMMON)


@pytest.mark.parametrize(("scheme", "options", "said"), [
    ("naive", {}, "component c: vwgt: vertex 2 weighs 9, more than a part may (6)"),
    ("monolithic", {}, "pool: vwgt: cell 2 of c weighs 9, more than a part may (7)"),
    ("monolithic", {"balance": "each"}, "component c: vwgt: vertex 2 weighs 9, more than a part may (4)"),
])
def test_a_refusal_names_the_component_and_its_cell(scheme, options, said):
    """And no way out that a scheme has not: partitions beyond the limits are made of one graph alone."""
    heavy = grid(4, 1, vwgt=[1, 1, 9, 1])
    problem = CoupledProblem({"a": grid(2, 2), "b": grid(5, 1), "c": heavy},
                             {("b", "c"): Interedges.from_pairs(5, 4, [4], [0])})
    with pytest.raises(PartitionError) as error:
        run_scheme(scheme, problem, 3 if scheme == "monolithic" else 2, scheme_options=options)
    assert str(error.value).startswith(said), error.value
    assert "strict" not in str(error.value)


@pytest.mark.parametrize("scheme", ["aware", "projrepart"])
def test_a_refusal_about_coupled_cells_names_the_cell(scheme):
    """Coupled cells are partitioned as a graph of their own, in which they have other numbers."""
    one = grid(12, 1, vwgt=[1] * 10 + [7, 1])
    problem = CoupledProblem.of_two(one, grid(12, 1), Interedges.from_pairs(12, 12, [9, 10, 11], [0, 1, 2]))
    with pytest.raises(PartitionError, match=r"component a: vwgt: cell 10 weighs 7, more than a part may"):
        run_scheme(scheme, problem, 2, (2, 2))


@pytest.mark.parametrize("scheme", ["naive", "multiconstraint", "monolithic"])
@pytest.mark.parametrize("interface", ["gather", "uncut"])
def test_no_number_of_coupled_parts_is_sought_for_who_leaves_them_to_chance(scheme, interface):
    """All cells of a are coupled, and c with no other: no number of coupled parts is right for all of them."""
    problem = CoupledProblem({name: grid(4, 3) for name in "abc"},
                             {("a", "b"): Interedges.from_pairs(12, 12, range(12), range(12))})
    made = run_scheme(scheme, problem, (2, 3, 2), interface=interface)
    plain = run_scheme(scheme, problem, (2, 3, 2))
    assert all(np.array_equal(made[name], plain[name]) for name in "abc")
