"""The layers of the package, read from the import statements: nothing imports upward."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .helpers import ROOT

PACKAGE = ROOT / "copart"

#: Lowest first; a module may import from its own line and from the lines above it.
LAYERS = [
    {"errors"},
    {"arrays", "kernels", "columns"},
    {"graph", "interedges", "coupling", "config"},
    {"metrics", "coupling_metrics", "part_metrics", "checks"},
    {"kgggp_ml", "multilevel", "evolution", "feasibility", "flows", "contiguity", "coarsening", "growing", "bisection",
     "refinement", "settling", "rounds", "coordinates", "repart", "adaptive", "migration",
     "migration_groups", "migration_trees"},
    {"operators", "counts", "coupled_cells", "coupled_first", "coupled_levels", "coupled_stages", "coupled_annealing",
     "coupled_descent", "coupled_finish", "coupled_subgraphs", "reannealing", "adaptive_multiconstraint", "uncut",
     "mapping", "multiconstraint", "resources"},
    {"algorithms", "joint", "monolithic", "dynamic", "migration_plan"},
    {"mesh", "formats", "report", "mpi"},
    {"warm"},
    {"planning", "replanning", "allotting", "comparing", "requests", "components", "sources", "output", "writers",
     "doctor", "metis"},
    {"cli", "commands", "__main__"},
]
RANK = {name: i for i, layer in enumerate(LAYERS) for name in layer}

#: Foreign packages with one owner.
OWNERS = {
    "meshio": {"mesh"},
    "h5py": {"mesh"},
    "netCDF4": {"mesh"},
    "numba": {"kernels", "doctor"},
    "mpi4py": {"mpi", "doctor"},
    "matplotlib": {"report"},
    "rich": {"report", "commands"},
}
#: Packages that even their owners import inside functions only, so that they stay optional or lazy.
INSIDE_FUNCTIONS = {"meshio", "h5py", "netCDF4", "mpi4py", "matplotlib", "rich"}
MAY_PRINT = {"cli", "commands", "__main__"}


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def top(path: Path) -> str:
    """The layer name of a file: its module, or its folder directly below the package."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, bool, int]]:
    """Every import of a file: absolute dotted name, whether at module level, line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = ("copart", *path.relative_to(PACKAGE).parts[:-1])
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    nested = {id(node) for outer in ast.walk(tree) if isinstance(outer, functions) for node in ast.walk(outer)}
    typing_only = {id(node) for outer in ast.walk(tree) if isinstance(outer, ast.If)
                   and isinstance(outer.test, ast.Name) and outer.test.id == "TYPE_CHECKING"
                   for node in ast.walk(outer)}
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        outermost = id(node) not in nested
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, outermost, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[:len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, [base, node.module or ""]))
            for alias in node.names:
                yield f"{module}.{alias.name}", outermost, node.lineno


def test_every_module_has_a_layer():
    unknown = {top(p) for p in sources()} - set(RANK) - {"__init__"}
    assert not unknown, f"no layer is given for {sorted(unknown)}"


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_nothing_imports_upward(path):
    me = top(path)
    if me == "__init__":
        return  # the public names; they are imported lazily, tested below
    for name, _, line in imports(path):
        parts = name.split(".")
        if parts[0] != "copart" or len(parts) == 1:
            continue
        other = parts[1]
        if other in RANK:
            assert RANK[other] <= RANK[me], f"{path.name}:{line}: {me} imports {other}, which lies above it"
        else:
            assert other == "__version__", f"{path.name}:{line}: imports {name}, which has no layer"


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_single_owners(path):
    for name, outermost, line in imports(path):
        package = name.split(".")[0]
        if package in OWNERS:
            assert top(path) in OWNERS[package], f"{path.name}:{line}: only {OWNERS[package]} may import {package}"
        if package in INSIDE_FUNCTIONS:
            assert not outermost, f"{path.name}:{line}: {package} must be imported inside a function"


def test_kernels_know_nothing_of_the_package():
    for path in (PACKAGE / "kernels").glob("*.py"):
        for name, _, line in imports(path):
            allowed = {"numba", "numpy", *sys.stdlib_module_names}
            assert name.split(".")[0] in allowed or name.startswith("copart.kernels"), \
                f"{path.name}:{line}: kernels import numpy, numba and other kernels only, not {name}"


def test_checks_are_independent_of_what_they_check():
    allowed = {"errors", "arrays", "graph", "coupling", "checks"}
    files = [path for path in sources() if top(path) == "checks"]
    assert files
    for path in files:
        for name, _, line in imports(path):
            if name.startswith("copart."):
                assert name.split(".")[1] in allowed, f"{path.name}:{line}: imports {name}"


def calls_that_print_or_exit(path: Path) -> Iterator[str]:
    forbidden = {"print", "exit", "quit", "sys.exit", "os._exit", "os.abort"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in forbidden:
            yield f"{path.name}:{node.lineno}: {ast.unparse(node.func)}()"
        if isinstance(node, ast.Raise) and node.exc is not None and "SystemExit" in ast.dump(node.exc):
            yield f"{path.name}:{node.lineno}: raises SystemExit"


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_only_the_command_line_prints_or_exits(path):
    if top(path) not in MAY_PRINT:
        assert not list(calls_that_print_or_exit(path))


def test_the_print_scan_sees_what_it_looks_for(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("import sys\nprint(1)\nsys.exit(2)\nraise SystemExit(3)\n")
    assert len(list(calls_that_print_or_exit(bad))) == 3


def loaded_after(statement: str) -> set[str]:
    """Top-level packages a fresh interpreter holds after `statement`."""
    code = f"import sys, json; {statement}; print(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(json.loads(out.stdout.splitlines()[-1]))


HEAVY = {"numpy", "scipy", "numba", "meshio", "matplotlib", "rich", "mpi4py", "networkx"}


def test_import_is_light():
    assert not loaded_after("import copart") & HEAVY


def test_the_command_line_parser_is_light():
    assert not loaded_after("import copart.cli as c; c.parser()") & HEAVY


def test_values_need_no_compiler_and_no_mesh_library():
    loaded = loaded_after("import copart; copart.Graph, copart.Interedges")
    assert not loaded & {"numba", "meshio", "matplotlib", "rich"}


def test_public_names_exist():
    import copart

    for name in copart.__all__:
        assert getattr(copart, name) is not None
    assert copart.operators.part is copart.part
    with pytest.raises(AttributeError, match="nonsense"):
        _ = copart.nonsense
