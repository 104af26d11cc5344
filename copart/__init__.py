"""copart: partition coupled simulations with one another in view.

The names below are loaded when they are first used, so ``import copart`` costs
next to nothing; submodules (``copart.operators``, ``copart.mesh``, ...) are
reached the same way.

==============  =============================================================================
values          `Graph`, `Hypergraph`, `Interedges`, `CoupledProblem`, `CoPartition`, `Mesh`; `read_mesh`
the whole job   `plan`, `compare`, `replan`; what they take: `Options`, `Meeting`, `Sharing`,
                `Site`; what they give: `Plan`, `Comparison`, `Replan`
the schemes     `joint`, `auto`, `naive`, `aware`, `projrepart`, `multiconstraint`, `monolithic`;
                run again after a change: `corepartition`
one graph       `part`, `repart`; `copart.operators` has Part, Repart, Rest, Ext, Proj
figures         `evaluate`; `copart.checks` verifies independently
errors          `CopartError` and its subclasses
==============  =============================================================================
"""

from __future__ import annotations

import sys
from types import ModuleType
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
    from .errors import ExchangeError as ExchangeError
    from .errors import FormatError as FormatError
    from .errors import GraphError as GraphError
    from .errors import MappingError as MappingError
    from .errors import MeshError as MeshError
    from .errors import PartitionError as PartitionError
    from .graph import Graph as Graph
    from .hypergraph import Hypergraph as Hypergraph
    from .mesh import Mesh as Mesh
    from .mesh import read_mesh as read_mesh
    from .metrics import evaluate as evaluate
    from .operators import part as part
    from .operators import repart as repart
    from .options import Options as Options
    from .plans.compare import Comparison as Comparison
    from .plans.compare import compare as compare
    from .plans.plan import Plan as Plan
    from .plans.plan import plan as plan
    from .plans.replan import Replan as Replan
    from .plans.replan import replan as replan
    from .plans.requests import Meeting as Meeting
    from .plans.requests import Sharing as Sharing
    from .plans.requests import Site as Site
    from .schemes.auto import auto as auto
    from .schemes.corepartition import corepartition as corepartition
    from .schemes.joint import joint as joint
    from .schemes.monolithic import monolithic as monolithic
    from .schemes.multiconstraint import multiconstraint as multiconstraint

__version__ = "0.1.0"

_HOME = {
    "algorithms": ("aware", "naive", "projrepart"),
    "coupling": ("CoPartition", "CoupledProblem", "Interedges"),
    "errors": ("ConfigError", "CopartError", "CouplingError", "ExchangeError", "FormatError", "GraphError",
               "MappingError", "MeshError", "PartitionError"),
    "graph": ("Graph",),
    "hypergraph": ("Hypergraph",),
    "mesh": ("Mesh", "read_mesh"),
    "metrics": ("evaluate",),
    "operators": ("part", "repart"),
    "options": ("Options",),
    "plans.compare": ("Comparison", "compare"),
    "plans.plan": ("Plan", "plan"),
    "plans.replan": ("Replan", "replan"),
    "plans.requests": ("Meeting", "Sharing", "Site"),
    "schemes.corepartition": ("corepartition",),
    "schemes.joint": ("joint",),
    "schemes.monolithic": ("monolithic",),
    "schemes.auto": ("auto",),
    "schemes.multiconstraint": ("multiconstraint",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", *sorted(_MODULE_OF)]


class _Package(ModuleType):
    """This package, whose public names are never hidden by a submodule of the same name (``copart.repart``)."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _MODULE_OF and isinstance(value, ModuleType):
            return  # the import system binds a submodule here as soon as it is loaded
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


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
