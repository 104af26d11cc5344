"""The names in ``copart`` itself: callables that no submodule hides, light to import, documented."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

import copart

from .helpers import ROOT, grid


def fresh(code: str) -> str:
    """What a new interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("first", ["import copart.repart", "from copart.repart import repartition",
                                   "import copart.schemes.joint, copart.schemes.monolithic",
                                   "from copart import repart", "import copart.operators", "import copart.plans.plan"])
def test_no_submodule_hides_a_function(first):
    names = "joint repart monolithic multiconstraint naive aware projrepart part plan compare replan corepartition"
    code = f"import copart; {first}; print(all(callable(getattr(copart, n)) for n in {names.split()!r}))"
    assert fresh(code) == "True"


def test_submodules_are_reached_as_well():
    assert fresh("import copart; print(copart.operators.part is copart.part, copart.kgggp_ml.__name__)") \
        == "True copart.kgggp_ml"
    assert fresh("from copart.repart import repartition; print(repartition.__module__)") == "copart.repart"
    assert fresh("import copart, sys; copart.repart; print(type(sys.modules['copart.repart']).__name__)") == "module"


def test_every_public_name_says_what_it_is():
    for name in copart.__all__:
        thing = getattr(copart, name)
        if callable(thing):
            assert inspect.getdoc(thing), name
        assert name in dir(copart)
    table = inspect.getdoc(copart)
    for name in set(copart.__all__) - {"__version__"}:
        assert re.search(rf"`{name}`", table) or name.endswith("Error"), f"{name} is not in the table of the package"


def test_signatures_are_typed_and_short():
    for name in ("plan", "compare", "joint", "naive", "aware", "projrepart", "monolithic", "multiconstraint", "repart"):
        parameters = inspect.signature(getattr(copart, name)).parameters
        assert len(parameters) <= 19, (name, len(parameters))
        anything = [p.name for p in parameters.values() if p.kind is p.VAR_KEYWORD]
        assert anything == ["settings"], name
        assert parameters["settings"].annotation in ("Unpack[Settings]", "Unpack[Effort]"), name


def test_repart_as_naive():
    graph = grid(6, 6)
    new = copart.repart(graph, copart.part(graph, 3), 3, 4, seed=2)
    assert sorted(set(new.tolist())) == [0, 1, 2, 3]
