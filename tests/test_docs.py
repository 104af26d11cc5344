"""The documents: every code block runs, shown outputs are what comes out, links and pictures are there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from .documents import PAGES, Missing, blocks, run_block, without_numbers, workplace
from .helpers import ROOT

WITH_CODE = [page for page in PAGES if any(block.runs for block in blocks(page))]
#: Blocks of these languages are output, data or another program's code.
NOT_CODE = {"text", "json", "xml", "c", "cpp", "diff", ""}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", WITH_CODE, ids=name)
def test_every_block_runs_and_says_what_is_shown(page):
    scope: dict[str, object] = {"__name__": "__main__"}
    missing = []
    with workplace():
        for block in blocks(page):
            if not block.runs:
                continue
            try:
                said = run_block(block, scope)
            except Missing as case:
                missing.append(str(case))
                continue
            except Exception as error:
                raise AssertionError(f"{name(page)}:{block.line}: {type(error).__name__}: {error}") from error
            if block.output is not None:
                start, end = block.output
                shown = page.read_text(encoding="utf-8").splitlines()[start:end]
                assert without_numbers(said) == without_numbers("\n".join(shown)), \
                    f"{name(page)}:{start}: shows another output; python -m tests.documents {name(page)} writes it anew"
    if missing:
        pytest.skip(f"all blocks ran but those for the cases {', '.join(sorted(set(missing)))}, which are not present")


def test_blocks_that_are_not_run_say_why():
    left_out = []
    for page in PAGES:
        for block in blocks(page):
            where = f"{name(page)}:{block.line}"
            assert block.language in {"bash", "python"} | NOT_CODE, f"{where}: {block.language} is never run"
            if "not run" in block.remarks:
                left_out.append(where)
                assert len(block.remarks["not run"].split()) >= 2, f"{where}: give a reason"
    runs = sum(block.runs for page in PAGES for block in blocks(page))
    assert len(left_out) <= runs / 4, f"{len(left_out)} blocks are not run, only {runs} are"


def test_the_parser_sees_blocks_remarks_and_outputs(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("a\n```bash\necho 1\n```\n\n```text\n2\n```\n\n<!-- not run: installs something -->\n"
                    "``` { .bash }\npip\n```\n\n- item\n\n    ```python\n    print(3)\n    ```\n\nwords\n\n"
                    "```text\nno output\n```\n<!-- fails: 3 -->\n```bash\nexit 3\n```\n")
    first, second, third, fourth, fifth = blocks(page)
    assert (first.language, first.text, first.line, first.output, first.runs) == ("bash", "echo 1", 2, (6, 7), True)
    assert (second.text, second.remarks, second.runs) == ("pip", {"not run": "installs something"}, False)
    assert (third.text, third.output) == ("print(3)", None)
    assert (fourth.language, fourth.runs) == ("text", False)
    with workplace():
        assert run_block(first, {}) == "1\n"
        assert run_block(third, {}) == "3\n"
        assert run_block(fifth, {}) == ""
        with pytest.raises(AssertionError, match="ended with 0, not 3"):
            run_block(type(fifth)("bash", "true", 1, {"fails": "3"}), {})
        with pytest.raises(Missing):
            run_block(type(fifth)("bash", "true", 1, {"needs": "no-such-case"}), {})
    assert without_numbers("cut 1,234  of *5.6e-3\n----") == without_numbers("cut 7 of 8\n---") == ["cut # of #", ""]


def test_the_readme_links_and_pictures_lead_somewhere():
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
        for link in [*re.findall(r"\]\(([^)#\s]+)[^)]*\)", text), *re.findall(r"src(?:set)?=\"([^\"#]+)", text)]:
            if "://" not in link:
                assert (page.parent / link).exists(), f"{name(page)}: {link}"


def test_nothing_is_cut_in_the_session():
    shown = [line for block in blocks(ROOT / "docs" / "session.md") if "terminal" in block.remarks
             for line in (ROOT / "docs" / "session.md").read_text(encoding="utf-8").splitlines()[slice(*block.output)]]
    assert len(shown) > 60
    assert "…" not in "".join(shown)
    # what is no table is prose and names of files, which a terminal breaks by itself
    assert all(len(line) <= 80 for line in shown if set(line) & set("│┃─━"))


def test_pictures_are_small_and_used():
    texts = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = [p for p in (ROOT / "docs").rglob("*") if p.suffix in (".png", ".svg")]
    assert len(pictures) >= 6
    for picture in pictures:
        assert picture.stat().st_size < 300_000, f"{name(picture)} has {picture.stat().st_size} bytes"
        assert picture.name in texts, f"{name(picture)} is in no page"


def test_pictures_on_pages_of_both_kinds_come_in_pairs():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        light, dark = (re.findall(rf"\(([^)\s]+)\.png#only-{kind}\)", text) for kind in ("light", "dark"))
        assert light == [one.removesuffix("-dark") for one in dark], name(page)


def test_pages_of_the_site_fetch_nothing():
    sys.path.insert(0, str(ROOT / "docs"))
    import hooks

    page = SimpleNamespace(url="api/errors.html")
    fetched = '<head><script src="https://unpkg.com/iframe-worker/shim"></script></head>'
    assert hooks.on_post_page(fetched, page) == '<head><script src="../offline.js"></script></head>'
    assert hooks.on_post_template(fetched) == "<head></head>"
    assert "unpkg" not in (ROOT / "docs" / "offline.js").read_text(encoding="utf-8")


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r"[\w./-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert listed == {str(p.relative_to(ROOT / "docs")) for p in PAGES if p.is_relative_to(ROOT / "docs")}


def test_every_command_and_public_name_is_told():
    import copart
    from copart.cli import COMMANDS

    texts = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for command in COMMANDS:
        assert f"copart {command}" in texts, command
    for public in set(copart.__all__) - {"__version__"}:
        assert re.search(rf"\b{public}\b", texts), public


def test_commands_in_the_table_of_the_readme_are_called_as_they_are(capsys):
    from copart.cli import parser

    rows = re.findall(r"^\| `copart (\w+)(.*)$", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.M)
    assert len(rows) > 10
    for command, told in rows:
        usage = told.split("`")[0]
        with pytest.raises(SystemExit):
            parser().parse_args([command, "--help-all" if command == "plan" else "--help"])
        known = capsys.readouterr().out
        options = set(re.findall(r"--[\w-]+", told))
        assert all(re.search(rf"{option}\b", known) for option in options), (command, options)
        meshes = re.search(r" A B ", usage)
        assert not meshes or re.search(r"\[?A B \.\.\.", known), f"{command} takes no meshes"


def test_every_public_name_and_folder_has_an_api_page():
    import copart

    told: set[str] = set()
    for page in (ROOT / "docs" / "api").glob("*.md"):
        for block in page.read_text(encoding="utf-8").split("\n::: ")[1:]:
            module = block.split()[0]
            told.add(module)
            members = re.search(r"members: \[(.*)\]", block)
            told |= {f"{module}.{name.strip()}" for name in members.group(1).split(",")} if members else set()
    for name in set(copart.__all__) - {"__version__"}:
        thing = getattr(copart, name)
        assert f"{thing.__module__}.{thing.__name__}" in told, f"{name} ({thing.__module__}) is on no page of docs/api"
    # what runs inside, and what people look at rather than call
    inside = {"kernels", "commands", "report"}
    folders = {path.parent.name for path in (ROOT / "copart").glob("*/__init__.py")} - inside
    assert folders == {module.split(".")[1] for module in told} & folders, "a folder has no page in docs/api"
