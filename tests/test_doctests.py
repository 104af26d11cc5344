"""Examples in docstrings show what they say; the README's commands and code run."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
from pathlib import Path
from pkgutil import walk_packages

import pytest

import copart
from copart.cli import main

from .helpers import ROOT

MODULES = sorted(info.name for info in walk_packages(copart.__path__, "copart.") if not info.name.endswith("__main__"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_some_modules_have_examples():
    finder = doctest.DocTestFinder()
    having = [n for n in MODULES if any(t.examples for t in finder.find(importlib.import_module(n)))]
    assert len(having) >= 8, having


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


def test_the_readme_runs_from_top_to_bottom(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = [line.split("#")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    ran = [shlex.split(line)[1:] for line in commands if line.startswith("copart ")]
    assert len(ran) == 4
    for arguments in ran:
        assert main(arguments) == 0
    for name in ("a.vtu", "b.vtu", "a.part.16", "b.part.64", "coupling.json", "metrics.json"):
        assert f"`{name}`" in README
        assert (tmp_path / "out" / name).exists()
    (code,) = blocks("python")
    scope: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), scope)
    assert scope["plan"].metrics.pair.totZ == 3  # type: ignore[attr-defined]


def test_readme_links_lead_somewhere():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert len(links) >= 6
    missing = [link for link in links if not (ROOT / link).exists()]
    assert not missing, missing


def test_readme_lists_every_command():
    from copart.cli import COMMANDS

    for name in COMMANDS:
        assert f"| `copart {name}" in README, name


def test_documents_name_files_that_exist():
    for path in [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        named = r"`((?:tests|copart|examples|benchmarks|docs)/[\w./]+)`"
        for name in re.findall(named, path.read_text(encoding="utf-8")):
            assert Path(ROOT / name).exists(), f"{path.name}: {name}"
