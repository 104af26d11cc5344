"""Times explained by metrics: planted coefficients found again, what is redundant, what bounds the runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.errors import ConfigError, MappingError
from copart.mapping.congestion import TorusNetwork
from copart.mapping.fitting import METRICS, fit_times, metrics_of, telling
from copart.mapping.fitting.metrics import ADVICE, OF_MESSAGES
from copart.mapping.machine import attached
from copart.mapping.tasks import TaskGraph
from copart.mapping.topology import evaluate_tasks, map_tasks

NAMES = [*METRICS]


def design(n: int, k: int, seed: int) -> np.ndarray:
    """Metrics that do not depend on one another, of quite different sizes."""
    rng = np.random.default_rng(seed)
    return rng.random((n, k)) * 10.0 ** rng.integers(0, 6, k) + 10.0 ** rng.integers(0, 6, k)


def columns(x: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(NAMES, x.T, strict=False))


planted = st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0]), min_size=1, max_size=8).filter(any)


@settings(deadline=None, max_examples=60)
@given(planted, st.integers(0, 20), st.integers(0, 2**16))
def test_planted_coefficients_are_found(weight, more, seed):
    x = design(len(weight) + 2 + more, len(weight), seed)
    slope = np.array(weight) / x.std(0)
    found = fit_times(7.0 + x @ slope, columns(x))
    assert found.per_unit == pytest.approx(slope, abs=1e-7 * slope.max(), rel=1e-6)
    assert found.coefficients == pytest.approx(np.array(weight) / (x @ slope).std(), abs=1e-7, rel=1e-6)
    assert found.r_squared == pytest.approx(1)
    assert found.residual == pytest.approx(0, abs=1e-6)


@settings(deadline=None, max_examples=60)
@given(planted, st.integers(0, 20), st.integers(0, 2**16), st.floats(0, 2))
def test_the_fit_is_the_best_of_all_that_are_not_negative(weight, more, seed, noise):
    k = len(weight)
    x, rng = design(k + 4 + more, k, seed), np.random.default_rng(seed + 1)
    t = x @ (np.array(weight) / x.std(0))
    t = 50 + t + noise * rng.normal(size=len(t))
    found = fit_times(t, columns(x))
    v, u = (x - x.mean(0)) / x.std(0), (t - t.mean()) / t.std()
    rest = u - v @ found.coefficients
    assert (found.coefficients >= 0).all()
    # optimality: no slope anywhere, none downwards where a coefficient is 0 (Karush, Kuhn and Tucker)
    slope = v.T @ rest
    assert slope.max() <= 1e-8 * len(t)
    assert np.abs(slope[found.coefficients > 0]).max(initial=0) <= 1e-8 * len(t)
    assert found.residual == pytest.approx(np.linalg.norm(rest), abs=1e-6)
    assert found.r_squared == pytest.approx(1 - rest @ rest / len(t), abs=1e-8)
    assert sum(found.shares.values()) == pytest.approx(found.r_squared, abs=1e-8)
    assert found.correlation == pytest.approx(np.corrcoef(x.T, t)[-1, :-1])
    assert found.between == pytest.approx(np.atleast_2d(np.corrcoef(x.T)))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**16), st.floats(1e-6, 1e6), st.floats(0, 100))
def test_units_do_not_matter(seed, factor, more):
    x = design(9, 3, seed)
    t = np.random.default_rng(seed).random(9) + x[:, 0] / x[:, 0].max()
    one, other = fit_times(t, columns(x)), fit_times(factor * (t + more), columns(x * [1, factor, 5]))
    assert one.coefficients == pytest.approx(other.coefficients, abs=1e-6)
    assert one.bound == other.bound


def test_what_lowers_times_gets_nothing():
    x = design(20, 2, 3)
    found = fit_times(100 + x[:, 0] / x[:, 0].std() - 2 * x[:, 1] / x[:, 1].std(), columns(x))
    assert found.coefficients[1] == 0
    assert found.correlation[1] < -0.5


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**16), st.lists(st.tuples(st.floats(0, 1e3), st.floats(1e-3, 1e3)), min_size=2, max_size=4))
def test_cases_are_compared_within(seed, cases):
    """The same runs in larger and smaller cases: as one of them."""
    x = design(8, 3, seed)
    t = 1 + x @ (np.array([1.0, 0.5, 0.0]) / x.std(0))
    alone = fit_times(t, columns(x))
    found = fit_times(np.concatenate([low + factor * t for low, factor in cases]),
                      columns(np.concatenate([low + factor * x for low, factor in cases])),
                      np.repeat(np.arange(len(cases)), 8).tolist())
    assert found.coefficients == pytest.approx(alone.coefficients, abs=1e-5)
    assert (found.ncases, found.per_unit) == (len(cases), None)


def test_cases_of_one_value_count_nothing():
    x = design(12, 2, 1)
    t = 1 + x @ (1 / x.std(0))
    more, case = np.concatenate([x, [[5, 6]] * 4]), ["a"] * 12 + ["b"] * 4
    assert fit_times(np.concatenate([t, [9, 8, 7, 6]]), columns(more), case).coefficients == pytest.approx(
        fit_times(np.concatenate([t, [9, 9, 9, 9]]), columns(more), case).coefficients)


@pytest.mark.parametrize("same", ["TH", "seconds"])
def test_shares_add_up_where_a_case_has_one_value(same):
    rng = np.random.default_rng(3)
    x = {"TH": rng.random(12), "MC": rng.random(12)}
    t = x["TH"] + 2 * x["MC"]
    (t if same == "seconds" else x[same])[:6] = 4.0
    found = fit_times(t, x, ["a"] * 6 + ["b"] * 6)
    assert sum(found.shares.values()) == pytest.approx(found.r_squared)
    assert 0 < found.r_squared < 1


@pytest.mark.parametrize("metric", NAMES)
def test_the_metric_that_times_follow_leads(metric):
    x = dict(zip(NAMES, design(30, 14, 5).T, strict=True))
    found = fit_times(2 + x[metric], x)
    assert found.leading == metric
    assert found.bound == ("latency" if metric in OF_MESSAGES else "bandwidth")
    assert found.advice == ADVICE[metric]
    assert found.doubt is None


def test_advice_is_what_the_commands_take():
    from copart.cli import parser

    for line in set(ADVICE.values()):
        words = line.rpartition("copart ")[2].split()
        parser().parse_args([words[0], "g.graph", *(["2"] if words[0] == "part" else []), *words[1:]])


def test_metrics_that_say_the_same_are_told():
    rng = np.random.default_rng(1)
    wh = rng.random(30)
    th, mc = wh + 0.05 * rng.random(30), rng.random(30)
    exact = fit_times(1 + wh, {"TH": th, "WH": wh, "MC": mc})
    assert (exact.redundant, exact.bound, exact.doubt) == ({"TH": "WH"}, "bandwidth", None)
    found = fit_times(1 + wh + 0.2 * rng.random(30), {"TH": th, "WH": wh, "MC": mc})
    assert found.redundant == {"TH": "WH"}
    assert (found.bound, found.doubt) == ("bandwidth", "TH")
    assert "TH goes up and down with WH" in found.text()
    assert "nearly the same as WH" in found.text()
    assert found.to_dict()["metrics"]["TH"]["like"] == "WH"


def test_opposites_say_different_things():
    """Two mappings, some runs of each: one has fewer hops, the other less data on the busiest link, and is faster."""
    t = [8.1, 8.0, 8.2, 4.1, 4.0, 3.9]
    x = {"TH": [10] * 3 + [20] * 3, "WH": [11] * 3 + [21] * 3, "MC": [8] * 3 + [4] * 3}
    kept, left_out = telling(x)
    assert ([*kept], left_out) == (["TH", "MC"], {"WH": ("TH",)})
    for metrics in (kept, {name: kept[name] for name in ("MC", "TH")}):
        found = fit_times(t, metrics)
        assert (found.leading, found.redundant) == ("MC", {})
        assert found.r_squared > 0.99
    with pytest.raises(MappingError, match="AC: says just what MC says in these runs"):
        fit_times(t, {**kept, "AC": [9] * 3 + [8] * 3})


def test_what_goes_down_as_another_goes_up_is_not_the_same():
    rng = np.random.default_rng(4)
    mc = rng.random(12)
    found = fit_times(1 + mc, {"TH": 3 - mc + 0.1 * rng.random(12), "MC": mc})
    assert found.between[0, 1] < -0.95
    assert (found.redundant, found.leading) == ({}, "MC")


def test_noise_has_no_bound():
    rng = np.random.default_rng(2)
    found = fit_times(rng.random(40), {"TH": rng.random(40), "MC": rng.random(40)})
    assert (found.bound, found.leading, found.advice, found.doubt) == (None,) * 4
    assert "bound by neither" in found.text()


X = {"TH": [1, 2, 3, 5, 4], "WH": [5, 1, 2, 2, 9]}
T = [1.0, 2, 3, 4, 5]


@pytest.mark.parametrize(("seconds", "metrics", "case", "error", "said"), [
    (T, {}, None, ConfigError, "metrics: needs at least one of TH, WH"),
    (T, {**X, "hops": [1] * 5}, None, ConfigError, "'hops' is not known"),
    (T[:3], {k: v[:3] for k, v in X.items()}, None, MappingError, "3 runs are too few for 2 metrics, needs at least 4"),
    (T, X, list("aabbb"), None, None),
    (T[:4], {k: v[:4] for k, v in X.items()}, list("aabb"), MappingError,
     "4 runs of 2 cases are too few for 2 metrics, needs at least 5"),
    (T, X, list("aab"), MappingError, "case: needs one for each of 5 runs, has 3"),
    (T, {**X, "MC": [1, 2]}, None, MappingError, "MC: needs a number for each of 5 runs"),
    ([[1.0]], {"MC": [1]}, None, MappingError, r"seconds: needs a number for each run, has shape \(1, 1\)"),
    (T, {"MC": ["a"] * 5}, None, MappingError, "MC: needs a number for each run"),
    (T, {"MC": [1, 2, np.nan, 4, 5]}, None, MappingError, "MC: needs numbers of at least 0, has nan for run 3 of 5"),
    (T, {"MC": [1, 2, 3, -4, 5]}, None, MappingError, "has -4.0 for run 4"),
    ([1, 2, np.inf, 4, 5], X, None, MappingError, "seconds: needs numbers of at least 0, has inf for run 3"),
    ([3] * 5, X, None, MappingError, "seconds: is the same in all runs"),
    (T, {"MC": [7.7] * 5}, None, MappingError, "MC: is the same in all runs, so that it explains nothing; leave"),
    (T, {"MC": [7, 7, 9, 9, 9]}, list("aabbb"), MappingError, "MC: is the same in all runs of each case"),
    (T, {**X, "MC": [3, 5, 7, 11, 9]}, None, MappingError, "MC: says just what TH says in these runs"),
    ([*T, 6, 8], {"TH": [*X["TH"], 1, 7], "WH": [*X["WH"], 8, 3], "MC": [6, 3, 5, 7, 13, 9, 10]}, None, MappingError,
     "MC: says just what TH and WH say together in these runs"),
])
def test_bad_input_is_one_clear_error(seconds, metrics, case, error, said):
    if error is None:
        fit_times(seconds, metrics, case)
    else:
        with pytest.raises(error, match=said):
            fit_times(seconds, metrics, case)


def test_what_can_tell_nothing_is_left_out():
    kept, left_out = telling({"TH": [1, 2, 4], "WH": [10, 20, 40], "MC": [5, 5, 5], "AC": [1, 0, 9]})
    assert [*kept] == ["TH", "AC"]
    assert left_out == {"WH": ("TH",), "MC": ()}


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 12), st.integers(0, 2**16))
def test_metrics_are_those_of_the_mapping(ntasks, seed):
    rng = np.random.default_rng(seed)
    tasks = TaskGraph(ntasks, *rng.integers(0, ntasks, (2, 30)), rng.integers(1, 9, 30))
    job = attached(TorusNetwork([4, 3]), rng.permutation(12)[:4], 3)
    place = map_tasks(tasks, job, "random", seed=seed)
    found, known = metrics_of(tasks, job, place), evaluate_tasks(tasks, job, place).to_dict()
    assert [*found] == NAMES
    for short, name in METRICS.items():
        if name in known:
            assert found[short] == known[name]
    sent = [tasks.volume[tasks.source == p] for p in range(ntasks)]
    assert found["MSV"] == max(one.sum() for one in sent)
    assert found["MSM"] == max(map(len, sent))
