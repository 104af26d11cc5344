"""Lists with commas, spaces or both mean the same for every option that takes one."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.cli import main, parser

TWO = "plan a.vtu b.vtu --parts 2 2"
SAME = [
    ("parts", ["plan a b --parts 16 64", "plan a b --parts 16,64", "plan a b --parts=16,64", "plan --parts 16,64 a b",
               "plan --parts 16, 64 a b", "plan --part 16,64 a b"]),
    ("coupled", [f"{TWO} --coupled 2 3", f"{TWO} --coupled 2,3"]),
    ("iterations", [f"{TWO} --iterations 2 3", f"{TWO} --iterations=2,3"]),
    ("price", [f"{TWO} --price 1 2.5 -3", f"{TWO} --price 1,2.5,-3", f"{TWO} --price 1, 2.5, -3"]),
    ("names", [f"{TWO} --names one two", f"{TWO} --names one,two"]),
    ("costs", [f"{TWO} --costs 2e-6 5e-6", f"{TWO} --costs 2e-6,5e-6", "plan --costs 2e-6 5e-6 a b --parts 2 2"]),
    ("write", [f"{TWO} --write pvtu precice", f"{TWO} --write pvtu,precice", "plan --write pvtu precice a b"]),
    ("schemes", ["compare a b --schemes naive aware", "compare a b --schemes naive,aware"]),
    ("slots", ["ranks p --nodes 3 --slots 16 16 8", "ranks p --nodes 3 --slots 16,16,8"]),
    ("offset", ["mesh cube 3 -o o --offset 1 0 -2.5", "mesh cube 3 -o o --offset 1,0,-2.5",
                "mesh cube -o o --offset 1,0,-2.5 3"]),
    ("cells", ["mesh tube -o o --cells 2 24 40", "mesh tube -o o --cells=2,24,40"]),
    ("weights", ["grid --weights 8 8 1", "grid --weights 8,8,1"]),
    ("node_sizes", ["grid --node-sizes 20 20 8", "grid --node-sizes 20,20,8"]),
    ("periodic", ["grid --periodic yes no", "grid --periodic yes,no"]),
    ("parts", ["replan d --parts 3 4", "replan d --parts 3,4"]),
    ("coupled", ["replan d --coupled 3 4", "replan d --coupled 3,4"]),
    ("parts", ["check a p b q --parts 3 4", "check a p b q --parts 3,4"]),
    ("names", ["check a p b q --names x y", "check a p b q --names x,y"]),
]


@pytest.mark.parametrize(("dest", "lines"), SAME, ids=[lines[0] for _, lines in SAME])
def test_commas_and_spaces(dest, lines):
    found = [vars(parser().parse_args(line.split())) for line in lines]
    assert len({repr(one[dest]) for one in found}) == 1
    for one in found:
        assert [*one.get("meshes", []), *one.get("behind", [])] in ([], ["a", "b"], ["a.vtu", "b.vtu"])


def test_every_option_of_several_values_takes_both():
    """Those that do not are quadruples of a name and numbers."""
    def below(one: argparse.ArgumentParser):
        for action in one._actions:
            if isinstance(action, argparse._SubParsersAction):
                for inner in action.choices.values():
                    yield from below(inner)
            elif action.option_strings and action.nargs not in (None, 0, "?"):
                yield action
    assert {action.dest for action in below(parser()) if not hasattr(action, "listed")} == {"component"}


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=6), st.lists(st.sampled_from([",", " ", ", "]), max_size=6))
def test_any_mixture(numbers, between):
    text = "".join(f"{number}{mark}" for number, mark in zip(numbers, [*between, *[" "] * 6], strict=False))
    args = parser().parse_args(["plan", "--parts", *text.split(), "a,b.vtu", "7.vtu"])
    assert args.parts == numbers
    assert args.behind == ["a,b.vtu", "7.vtu"]


def test_what_was_written_is_known():
    args = parser().parse_args(["plan", "a", "b", "--parts", "2", "2", "--placement", "shared", "-q"])
    assert args.given == {"parts", "placement", "quiet"}


def test_files_with_commas_stay(folder, capsys):
    Path("a.vtu").rename("2,3.vtu")
    assert main(["plan", "--parts", "2", "2", "2,3.vtu", "b.vtu", "-o", "o", "-q"]) == 0
