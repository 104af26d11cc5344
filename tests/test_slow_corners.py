"""Inputs that took minutes or all memory: each has an answer, or a refusal, after work in proportion to its size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import copart
from copart.cli import main
from copart.formats.hwloc import _bits
from copart.mesh import cube
from copart.metrics import edge_cut, max_part_weight
from copart.options import PRESETS, Loose, Options, Thorough
from copart.partitioner.coarsening import coarsest_size, fitted, fitted_to_small
from copart.partitioner.shape import Shape
from copart.resources.interface import CouplingCost, coupled_processes

from .helpers import grid


def test_many_parts_over_their_limits_find_room_together():
    """Parts of ten vertices without any slack, thousands of them."""
    g = grid(230, 230)
    k = g.nvtxs // 10
    part = copart.part(g, k, eps=0.05, preset="fast")
    weight = np.bincount(part, minlength=k)
    assert weight.min() > 0
    assert weight.max() <= max_part_weight(g.nvtxs, k, 0.05)
    # no dearer than the strips that come to mind
    strips = np.minimum(np.arange(g.nvtxs) // 10, k - 1)
    assert edge_cut(g, part) < edge_cut(g, strips)


def test_less_effort_only_for_thousands_of_small_parts():
    default = PRESETS["default"]
    assert fitted(default, 10**6, 1000) is default
    assert fitted(default, 10**6, 6000) is default
    assert fitted(default, 1000, 900) is default
    assert fitted(default, 10**6, 10**5).bisections == 1


def test_more_effort_only_where_it_is_asked_for_and_the_graph_is_large():
    fast = PRESETS["fast"]
    assert fitted(fast, 10**5, 16) is fast
    assert fitted(fast, 10**6, 1000) is fast
    assert coarsest_size(fitted(fast, 10**6, 16), 16) == 2 * coarsest_size(fast, 16)
    assert fitted(fast, 10**6, 16).warmth > fast.warmth
    assert fitted(replace(fast, ample=False), 10**6, 16) == replace(fast, ample=False)


def test_less_effort_on_small_meshes_in_space_and_more_where_parts_are_wide():
    default, space = PRESETS["default"], Shape(False, False, False)
    brief = fitted_to_small(default, 199_999, 32, space)
    assert (brief.reach, brief.patience, brief.warmth) == (3, 1, default.warmth)
    assert fitted_to_small(default, 100, 2, space) == brief
    assert fitted_to_small(replace(default, reach=0), 199_999, 32, space).reach == 0
    assert fitted_to_small(default, 200_000, 2, space) is default
    assert fitted_to_small(default, 16_000, 2, space) == replace(default, rounds=2 * default.rounds)
    assert fitted_to_small(replace(default, rounds=0), 16_000, 2, space).rounds == 0
    assert fitted_to_small(default, 15_999, 2, space) == brief
    for other in (Shape(True, False, False), Shape(False, True, False), Shape(False, False, False, skewed=True),
                  Shape(False, False, False, flat=True), Shape(False, False, False, rough=True)):
        assert fitted_to_small(default, 100, 2, other) is default
    for name in ("fast", "strong", "best"):
        assert fitted_to_small(PRESETS[name], 100, 2, space) is PRESETS[name]


def test_plans_make_the_whole_effort():
    default = Options()
    assert default.config.brief_below
    run = Thorough.of(default, {"seed": 3})
    assert (run.config, run.seed, run.preset) == (replace(default.config, brief_below=0), 3, "default")
    assert run.replace(threads=2).config == run.config
    assert Thorough.of(Options(preset="strong"), {}).config is PRESETS["strong"]
    loose = Loose(3.0, 1, 1, "default")
    assert Thorough.of(loose, {}) is loose


def test_hops_are_limited(capsys):
    assert main(["grid", "--dims", "12x11x8", "--nodes", "33", "--stencil", "hops-first", "--hops", "999999999"]) == 2
    assert "hops: must be at most 4096" in capsys.readouterr().err


def test_cpusets_of_any_length():
    """200,000 words in a moment: shifted one by one they take the square of their number."""
    text = {"cpuset": ",".join(["0xffffffff"] * 200_000)}
    assert _bits("x", text, "cpuset") == (1 << 32 * 200_000) - 1
    assert _bits("x", {"cpuset": "0x1,,0x00000002"}, "cpuset") == 1 << 64 | 2
    for wrong in ("0x1ffffffff", "0xg", "-1", "1 2"):
        with pytest.raises(copart.errors.FormatError, match="hexadecimal words"):
            _bits("x", {"cpuset": wrong}, "cpuset")


def test_totals_are_limited(capsys, tmp_path):
    with pytest.raises(SystemExit):
        main(["plan", "a.vtu", "b.vtu", "--total", str(10**20), "-o", str(tmp_path)])
    assert "--total: must be at most" in capsys.readouterr().err
    a, b = cube("hexa", 2), cube("hexa", 2, offset=(1, 0, 0))
    with pytest.raises(copart.errors.ConfigError, match="total: must be at most"):
        copart.plan(a, b, total=10**10)


@pytest.mark.parametrize("aligned", [False, True])
def test_coupled_processes_of_a_large_machine_are_weighed_together(aligned, monkeypatch):
    """Each number of coupled processes was weighed by itself: with 100,000 processes for minutes."""
    calls, terms = [], CouplingCost.terms
    monkeypatch.setattr(CouplingCost, "terms", lambda self, *more: (calls.append(self.name), terms(self, *more))[1])
    loads = [CouplingCost(name, n, 10**7, 10**5, cost=1e-6) for name, n in zip("abc", (30, 4000, 9000), strict=True)]
    found = coupled_processes(loads, [("a", "b"), ("b", "c")], aligned).ncoupled
    assert len(calls) < 600
    # no other number for one of them costs less
    for one in loads:
        k = np.arange(1, one.last + 1)
        faced = {"a": "b", "b": "ac", "c": "b"}

        def cost(name, counts, faced=faced):
            here = next(load for load in loads if load.name == name)
            return sum(here.terms(counts[name], [(counts[o], 10**5) for o in faced[name]], aligned).values())

        total = sum(cost(name, {**found, one.name: k}) for name in (one.name, *faced[one.name]))
        assert total[found[one.name] - 1] <= total.min() * (1 + 1e-9)
