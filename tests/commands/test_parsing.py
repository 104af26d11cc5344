"""Lists with commas, spaces or both mean the same for every option that takes one."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.cli import main, parser
from copart.commands import parsing

from .lines import line_of

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
    """Those that do not are quadruples of a name and numbers, and names where a comma makes one of several."""
    def below(one: argparse.ArgumentParser):
        for action in one._actions:
            if isinstance(action, argparse._SubParsersAction):
                for inner in action.choices.values():
                    yield from below(inner)
            elif action.option_strings and action.nargs not in (None, 0, "?"):
                yield action
    assert {action.dest for action in below(parser()) if not hasattr(action, "listed")} == {"component", "only"}


def test_pages_are_where_plans_have_them():
    from copart.plans import writers

    assert parsing.PAGES == writers.PAGES


PAGED = {"plan": "plan a.vtu b.vtu --parts 2 2 -o out", "compare": "compare a.vtu b.vtu --parts 2 2 --seeds 1",
         "replan": "replan plan -o out", "repart": "repart g.graph g.part.2 3 -o out/p",
         "grid": "grid --dims 4x3 --nodes 3",
         "advise": "advise --total 9 --component x 100 1e-6 1 --component y 100 1e-6 1"}


@pytest.mark.parametrize("command", PAGED)
@pytest.mark.parametrize("option", ["--report", "--picture"])
def test_pages_have_a_usual_place_or_a_name(planned, capsys, command, option):
    """In the folder of a plan, in the current one where there is none; behind the option or not."""
    line = PAGED[command].split()
    if f"[{option} [FILE]]" not in " ".join(parser_of(command).format_usage().split()):
        assert (command, option) in {("repart", "--picture"), ("grid", "--report"), ("advise", "--report")}
        return
    if option == "--picture":
        pytest.importorskip("matplotlib")
    usual = "report.html" if option == "--report" else "plan.png" if command in ("plan", "replan") else "picture.png"
    usual = Path("out", usual) if command in ("plan", "replan") else Path(usual)
    every = command == "plan"  # the others have it from the same function
    for place in (len(line), 1)[:2 if every else 1]:  # at the end, or before what the command reads
        assert main([*line[:place], option, *line[place:]]) == 0
        assert f"wrote {usual}" in capsys.readouterr().out
        usual.unlink()
    named = Path("of-my-own.html" if option == "--report" else "of-my-own.svg")
    for words in ([option, str(named)], [f"{option}={named}"])[0 if every else 1:]:
        assert main([*line[:1], *words, *line[1:]]) == 0
        assert f"wrote {named}" in capsys.readouterr().out
        assert not usual.exists()
        named.unlink()


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of a command, with its whole help."""
    commands = next(action for action in parser()._actions if action.dest == "command")
    one = commands.choices[command]
    for action in one._actions:
        action.help = "" if action.help == argparse.SUPPRESS else action.help
    return one


def test_a_page_of_another_kind_is_refused_before_the_work(folder, capsys):
    for command in ("plan", "compare"):
        line = [*PAGED[command].split(), "--report"]
        assert "give a name that ends in .html" in line_of(capsys, *line, "page.pdf")
        assert not Path("out").exists()


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


@pytest.mark.parametrize("counts", ["paper paper", "paper 3", "3 paper"])
def test_the_word_for_coupled_counts_stands_for_all_components(folder, capsys, counts):
    line = line_of(capsys, *TWO.split(), "--coupled", *counts.split())
    assert "--coupled: needs whole numbers, or paper alone" in line


def test_a_list_that_is_given_again_grows():
    args = parser().parse_args(["plan", "a", "b", "--parts", "2", "2", "--write", "pvtu", "-q", "--write", "gmsh,aste"])
    assert args.write == "pvtu,gmsh,aste"


@pytest.mark.parametrize(("line", "said"), [
    ("compare a.vtu b.vtu --parts 2 2 --seed 7", "--seed: several seeds are compared, 1 to N; give --seeds N"),
    ("-q doctor", "-q: options go after the command, as in copart doctor -q"),
    (f"{TWO} --scale a=1 --scale a=2", "--scale: is given twice for a"),
    ("part a.vtu 2 -o parts.pvtu", "parts.pvtu would be a list of numbers"),
    ("part a.vtu 2 -o parts.vtu.gz", "parts.vtu.gz would be a list of numbers"),
])
def test_what_would_mean_something_else_is_refused(folder, capsys, line, said):
    assert said in line_of(capsys, *line.split())


def test_parts_of_the_current_folder_have_its_name(tmp_path, monkeypatch):
    from copart.commands.part import default_output

    (tmp_path / "plate").mkdir()
    monkeypatch.chdir(tmp_path / "plate")
    assert default_output(".", 3) == "./plate.part.3"
    assert default_output("../plate", 3) == "../plate.part.3"


def test_a_page_named_as_in_the_plan_goes_with_it(folder, capsys):
    line = ["plan", "a.vtu", "b.vtu", "--parts", "2", "2", "-o", "out", "-q"]
    assert main([*line, "--report", "out/report.html"]) == 0
    assert Path("out/report.html").exists()
    assert main(line) == 0
    assert not Path("out/report.html").exists()


def test_a_name_that_is_no_utf_8(folder, capsys):
    strange = os.fsdecode(b"f\xfc.vtu")
    Path("a.vtu").rename(strange)
    assert main(["plan", strange, "b.vtu", "--parts", "2,2", "-o", "out", "-q", "--report", "--write", "precice"]) == 0
    assert Path("out/f_.vtu").exists()
    assert "f_" in Path("out/report.html").read_text("utf-8")
