"""Every kernel tells what it takes: each argument is named in its docstring, with its type; and there are few."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import copart.kernels

FILES = sorted(Path(copart.kernels.__file__).parent.glob("*.py"))
MOST = 12
"""Arguments of a kernel, at most: what belongs together comes as one workspace."""


def kernels(file: Path) -> list[ast.FunctionDef]:
    tree = ast.parse(file.read_text())
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)
            and any(getattr(mark, "id", "") in ("kernel", "inner", "allocating", "inlined")
                    for mark in node.decorator_list)]


def untold(function: ast.FunctionDef) -> list[str]:
    """Arguments without a line ``name : type`` or ``name, name : type`` in the docstring."""
    text = ast.get_docstring(function) or ""
    told = {name for names in re.findall(r"^([\w, ]+) : \S", text, re.M) for name in names.split(", ")}
    return [argument.arg for argument in function.args.args if argument.arg not in told]


def test_there_are_kernels():
    assert sum(len(kernels(file)) for file in FILES) > 150


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_argument_is_told(file):
    assert {f.name: untold(f) for f in kernels(file) if untold(f)} == {}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_few_arguments(file):
    assert {f.name: len(f.args.args) for f in kernels(file) if len(f.args.args) > MOST} == {}


def test_an_argument_left_out_is_found():
    tree = ast.parse('def f(g, v, out):\n    """Do it.\n\n    g : Level, in\n    out : (n,) int32, out\n    """')
    assert isinstance(tree.body[0], ast.FunctionDef)
    assert untold(tree.body[0]) == ["v"]
