"""The layers of the package, read from the import statements: nothing imports upward."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from .helpers import ROOT

PACKAGE = ROOT / "copart"

#: Folders and single modules of the package, lowest first; each may import from the lines above its own, and from
#: its own line as long as no circle comes of it.  CONTRIBUTING.md shows the same list.
LAYERS = [
    "errors names parallel",
    "arrays kernels",
    "graph hypergraph interedges coupling options",
    "metrics checks",
    "partitioner kgggp_ml",
    "migration repart",
    "operators interface",
    "algorithms",
    "dynamic schemes mapping",
    "mesh formats resources report mpi",
    "warm doctor metis",
    "plans",
    "cli commands __main__",
]
RANK = {name: i for i, layer in enumerate(LAYERS) for name in layer.split()}

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


def imports(path: Path, typing: bool = False) -> Iterator[tuple[str, bool, int]]:
    """Imports of a file, with `typing` also those for types: absolute dotted name, whether at module level, line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = ("copart", *path.relative_to(PACKAGE).parts[:-1])
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    nested = {id(node) for outer in ast.walk(tree) if isinstance(outer, functions) for node in ast.walk(outer)}
    typing_only = {id(node) for outer in ast.walk(tree) if isinstance(outer, ast.If)
                   and isinstance(outer.test, ast.Name) and outer.test.id == "TYPE_CHECKING"
                   for node in ast.walk(outer)}
    for node in ast.walk(tree):
        if not typing and id(node) in typing_only:
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


def module_of(path: Path) -> str:
    """Dotted name of a file of the package."""
    return ".".join(("copart", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def import_graph(typing: bool = True) -> dict[str, set[str]]:
    """Which modules of the package each of them imports, at module level, inside functions, and for types."""
    known = {module_of(path) for path in sources()}
    graph: dict[str, set[str]] = {}
    for path in sources():
        me = module_of(path)
        names = [name for name, _, _ in imports(path, typing)]
        found = {name if name in known else name.rpartition(".")[0] for name in names}
        graph[me] = (found & known) - {me}
    return graph


def circle(graph: dict[str, set[str]]) -> tuple[str, ...]:
    """The nodes of a circle; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return tuple(error.args[1])
    return ()


def test_every_module_has_a_layer():
    unknown = {top(p) for p in sources()} - set(RANK) - {"__init__"}
    assert not unknown, f"no layer is given for {sorted(unknown)}"
    gone = set(RANK) - {top(p) for p in sources()}
    assert not gone, f"a layer is given for {sorted(gone)}, which do not exist"


def test_the_root_holds_what_a_reader_needs_first():
    modules = sorted(path.name for path in PACKAGE.glob("*.py"))
    assert len(modules) <= 17, f"{len(modules)} modules in the root: {modules}; which folder do the new ones belong to?"


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_nothing_imports_upward(path):
    me = top(path)
    if me == "__init__":
        return  # the public names; they are imported lazily, tested below
    for name, _, line in imports(path, typing=True):
        parts = name.split(".")
        if parts[0] != "copart" or len(parts) == 1:
            continue
        other = parts[1]
        if other in RANK:
            assert RANK[other] <= RANK[me], f"{path.name}:{line}: {me} imports {other}, which lies above it"
        else:
            assert other == "__version__", f"{path.name}:{line}: imports {name}, which has no layer"


def test_no_import_circle():
    """Neither between modules nor between folders, be it inside functions or for types only."""
    graph = import_graph()
    graph.pop("copart")
    assert not circle(graph)
    folders: dict[str, set[str]] = {}
    for module, others in graph.items():
        mine = module.split(".")[1]
        folders.setdefault(mine, set()).update({o.split(".")[1] for o in others if o != "copart"} - {mine})
    assert not circle(folders)


def test_a_circle_is_seen():
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == {"a", "b", "c"}
    assert circle({"a": {"b"}, "b": set()}) == ()


def test_the_layers_are_shown_to_contributors():
    shown = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "\n".join(LAYERS) in shown, "CONTRIBUTING.md shows other layers than those tested here"


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
            allowed = {"llvmlite", "numba", "numpy", *sys.stdlib_module_names}
            assert name.split(".")[0] in allowed or name.startswith("copart.kernels"), \
                f"{path.name}:{line}: kernels import numpy, numba with its llvmlite, and other kernels only, not {name}"


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


def test_ranks_that_exchange_fields_need_no_compiler():
    loaded = loaded_after("from copart.mpi import Exchange, Halo")
    assert not loaded & {"numba", "scipy", "meshio", "matplotlib", "rich"}


def test_a_plan_of_vtu_files_loads_what_it_needs(tmp_path):
    """Of the second that a small plan takes, three tenths were modules that it did not use."""
    from copart.mesh import cube, write_vtu

    for name, x in (("a", 0.0), ("b", 1.0)):
        write_vtu(tmp_path / f"{name}.vtu", cube("hexa", 4, offset=(x, 0, 0)))
    code = ("import sys; from copart.cli import main\n"
            f"main(['plan', *{[str(tmp_path / f'{one}.vtu') for one in 'ab']!r}, '--parts', '2', '2', '-q', "
            f"'-o', {str(tmp_path / 'out')!r}])\n"
            "known = {'copart.plans.plan', 'copart.mapping.topology', 'meshio', 'scipy.sparse.csgraph', "
            "'urllib.request'}\n"
            "print(known & set(sys.modules))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "{'copart.plans.plan'}\n", done.stderr


def test_public_names_exist():
    import copart

    for name in copart.__all__:
        assert getattr(copart, name) is not None
    assert copart.operators.part is copart.part
    for name in copart.mpi.__all__:
        assert callable(getattr(copart.mpi, name)), name
    with pytest.raises(AttributeError, match="nonsense"):
        _ = copart.nonsense
    with pytest.raises(AttributeError, match="nonsense"):
        _ = copart.mpi.nonsense
