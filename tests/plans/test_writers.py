"""OpenFOAM decompositions and hints for preCICE."""

from __future__ import annotations

import re
from xml.parsers import expat

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import ConfigError, PartitionError
from copart.formats.openfoam import write_decomposition
from copart.formats.precice import TWO_LEVEL_RANKS, channel, precice_hints

from ..file_readers import read_foam
from ..helpers import grid
from ..reference import four_by_three


# ---- OpenFOAM
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 4), max_size=30), st.sampled_from([None, "fluid", "solid-2"]))
def test_a_decomposition_is_read_back(tmp_path, part, region):
    files = write_decomposition(tmp_path, part, 5, region)
    inner = "" if region is None else f"/{region}"
    assert files == [f"constant{inner}/cellDecomposition", f"system{inner}/decomposeParDict"]
    header, labels = read_foam(tmp_path / files[0])
    assert labels == part
    assert header == {"version": "2.0", "format": "ascii", "class": "labelList", "location": f"constant{inner}",
                      "object": "cellDecomposition", "note": f"nCells: {len(part)} nParts: 5"}
    header, entries = read_foam(tmp_path / files[1])
    assert header == {"version": "2.0", "format": "ascii", "class": "dictionary", "location": f"system{inner}",
                      "object": "decomposeParDict"}
    assert entries == {"numberOfSubdomains": "5", "method": "manual", "manualCoeffs": {"dataFile": "cellDecomposition"}}


def test_the_layout_is_openfoams(tmp_path):
    """Header first, keys in column 5 and values in column 17, rules of 79 signs, one label a line."""
    write_decomposition(tmp_path, [1, 0], 2)
    lines = (tmp_path / "constant/cellDecomposition").read_text().splitlines()
    assert lines[:4] == ["FoamFile", "{", "    version     2.0;", "    format      ascii;"]
    rule = lines.index("}") + 1
    assert re.fullmatch(r"// (\* ){37}//", lines[rule])
    assert lines[rule + 1:-1] == ["", "2", "(", "1", "0", ")", ""]
    assert re.fullmatch(r"// \*{73} //", lines[-1])
    assert len(lines[rule]) == len(lines[-1]) == 79


@pytest.mark.parametrize(("part", "region", "error", "message"), [
    ([0, 3], None, PartitionError, "part: 1 of 2 entries are outside 0..2"),
    ([0, -1], None, PartitionError, "part: 1 of 2 entries are outside 0..2"),
    ([0], "a b", ConfigError, "region: 'a b' is no OpenFOAM word"),
    ([0], "../x", ConfigError, "region: '../x' is no OpenFOAM word"),
])
def test_bad_decompositions_are_not_written(tmp_path, part, region, error, message):
    with pytest.raises(error, match=re.escape(message)):
        write_decomposition(tmp_path, part, 3, region)
    assert list(tmp_path.iterdir()) == []


# ---- preCICE
def parsed(text):
    """Elements with their attributes, in order, and the comments; expat takes prefixes that no one has declared."""
    elements, comments = [], []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, attributes: elements.append((name, attributes))
    parser.CommentHandler = comments.append
    parser.Parse(text, True)
    return elements, " ".join(" ".join(comments).split())


def test_the_side_with_fewer_coupled_ranks_accepts():
    (root, line), told = parsed(precice_hints(*four_by_three()))
    assert root == ("precice-configuration", {})
    assert line == ("m2n:sockets", {"acceptor": "a", "connector": "b", "exchange-directory": "..",
                                    "use-two-level-initialization": "false"})
    assert "a: 4 ranks, of them 2 at the interface with 4 coupled cells: ranks 1, 3" in told
    assert "b: 3 ranks, of them 3 at the interface with 3 coupled cells: ranks 0-2" in told
    assert "between 4 pairs of ranks of 6 at the interface; a rank of a has up to 2 partners, one of b up to 2" in told
    problem, cop = four_by_three()
    swapped = CoupledProblem.of_two(problem.b, problem.a, problem.interedges.transposed, ("b", "a"))
    assert channel(swapped, cop, "b", "a")._replace(cells={}, coupled={}, ranks={}, busiest={}) == \
        channel(problem, cop, "a", "b")._replace(cells={}, coupled={}, ranks={}, busiest={})


@given(st.integers(0, 2**32 - 1))
def test_the_figures_against_their_definition(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(0, 30))
    inter = Interedges.from_pairs(9, 12, rng.integers(0, 9, m), rng.integers(0, 12, m))
    problem = CoupledProblem.of_two(grid(9), grid(12), inter, ("x", "y"))
    cop = CoPartition({"x": rng.integers(0, 4, 9), "y": rng.integers(0, 4, 12)}, {"x": 4, "y": 4})
    met = {(int(cop.a[u]), int(cop.b[v])) for u, v, _ in zip(*inter.pairs(), strict=True)}
    found = channel(problem, cop, "x", "y")
    sides = {"x": sorted({p for p, _ in met}), "y": sorted({q for _, q in met})}
    assert found.coupled == sides
    assert found.messages == len(met)
    assert found.busiest["x"] == max((sum(p == r for p, _ in met) for r in range(4)), default=0)
    assert found.busiest["y"] == max((sum(q == r for _, q in met) for r in range(4)), default=0)
    assert found.acceptor == ("x" if len(sides["x"]) <= len(sides["y"]) else "y")
    parsed(precice_hints(problem, cop))
    for name in ("a--b", "a---b", "--x----"):  # no comment of XML holds two hyphens
        parsed(precice_hints(CoupledProblem.of_two(problem.components["x"], problem.components["y"], inter,
                                                   names=(name, "y")),
                             CoPartition({name: cop.a, "y": cop.b}, {name: 4, "y": 4})))


@pytest.mark.parametrize(("na", "nb", "expected", "why"), [
    (TWO_LEVEL_RANKS - 1, 2, "true", "on: 5001 ranks"), (TWO_LEVEL_RANKS - 2, 2, "false", "off: 5000 ranks"),
    (TWO_LEVEL_RANKS + 9, 1, "false", "off: it needs two parallel participants")])
def test_two_levels_for_many_ranks_on_both_sides(na, nb, expected, why):
    inter = Interedges.from_pairs(3, 3, [0, 1, 2], [0, 1, 2])
    problem = CoupledProblem.of_two(grid(3), grid(3), inter, ("x", "y"))
    (_, (_, attributes)), told = parsed(precice_hints(problem, CoPartition({"x": [0, 1, 2], "y": [0, nb - 1, 0]},
                                                                           {"x": na, "y": nb})))
    assert attributes["use-two-level-initialization"] == expected
    assert f"two-level initialisation {why}" in told
    assert attributes["acceptor"] == "y"


def test_awkward_names_stay_xml():
    inter = Interedges.from_pairs(2, 2, [0], [1])
    names = ('flow--"x" & <y>', "b")
    problem = CoupledProblem.of_two(grid(2), grid(2), inter, names)
    cop = CoPartition({names[0]: [0, 1], "b": [0, 0]}, {names[0]: 2, "b": 1})
    (_, (_, attributes)), _ = parsed(precice_hints(problem, cop))
    assert {attributes["acceptor"], attributes["connector"]} == set(names)


def test_a_line_for_each_pair():
    inter = Interedges.from_pairs(3, 3, [0, 1], [0, 1])
    problem = CoupledProblem({n: grid(3) for n in "abc"}, {("a", "b"): inter, ("b", "c"): inter})
    cop = CoPartition({n: [0, 1, 1] for n in "abc"}, dict.fromkeys("abc", 2))
    (_, *lines), _ = parsed(precice_hints(problem, cop))
    assert [(a["acceptor"], a["connector"]) for _, a in lines] == [("a", "b"), ("b", "c")]
