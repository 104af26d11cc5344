"""Examples in docstrings show what they say; documents name commands and files that exist."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path
from pkgutil import walk_packages

import pytest

import copart

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


def test_readme_lists_every_command():
    from copart.cli import COMMANDS

    for name in COMMANDS:
        assert f"| `copart {name}" in README, name


def test_documents_name_files_that_exist():
    for path in [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        named = r"`((?:tests|copart|examples|benchmarks|docs)/[\w./]+)`"
        for name in re.findall(named, path.read_text(encoding="utf-8")):
            assert Path(ROOT / name).exists(), f"{path.name}: {name}"
