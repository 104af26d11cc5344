"""copart: partition coupled simulations with one another in view.

The names below are loaded when they are first used, so ``import copart`` costs
next to nothing; submodules (``copart.operators``, ``copart.mesh``, ...) are
reached the same way.

==============  =============================================================
values          `Graph`, `Interedges`, `CoupledProblem`, `CoPartition`, `Mesh`
the whole job   `plan`, `compare`
one graph       `part`; `copart.operators` has Part, Repart, Rest, Ext, Proj
the schemes     `naive`, `aware`, `projrepart`
figures         `evaluate`; `copart.checks` verifies independently
errors          `CopartError` and its subclasses
==============  =============================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .algorithms import aware as aware
    from .algorithms import naive as naive
    from .algorithms import projrepart as projrepart
    from .coupling import CoPartition as CoPartition
    from .coupling import CoupledProblem as CoupledProblem
    from .coupling import Interedges as Interedges
    from .errors import ConfigError as ConfigError
    from .errors import CopartError as CopartError
    from .errors import CouplingError as CouplingError
    from .errors import FormatError as FormatError
    from .errors import GraphError as GraphError
    from .errors import MappingError as MappingError
    from .errors import MeshError as MeshError
    from .errors import PartitionError as PartitionError
    from .graph import Graph as Graph
    from .mesh import Mesh as Mesh
    from .mesh import read_mesh as read_mesh
    from .metrics import evaluate as evaluate
    from .operators import part as part
    from .plans.compare import Comparison as Comparison
    from .plans.compare import compare as compare
    from .plans.plan import Plan as Plan
    from .plans.plan import plan as plan

__version__ = "0.1.0"

_HOME = {
    "algorithms": ("aware", "naive", "projrepart"),
    "comparing": ("Comparison", "compare"),
    "coupling": ("CoPartition", "CoupledProblem", "Interedges"),
    "errors": ("ConfigError", "CopartError", "CouplingError", "FormatError", "GraphError",
               "MappingError", "MeshError", "PartitionError"),
    "graph": ("Graph",),
    "mesh": ("Mesh", "read_mesh"),
    "metrics": ("evaluate",),
    "operators": ("part",),
    "planning": ("Plan", "plan"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", *sorted(_MODULE_OF)]


def __getattr__(name: str) -> Any:
    from importlib import import_module
    from importlib.util import find_spec

    if name in _MODULE_OF:
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'copart' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
