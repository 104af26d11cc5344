"""Meshes in: reading, dual graphs, interedges by geometry, generated meshes, VTU out."""

from .cubes import cube
from .dual import dual_graph
from .foreign import from_meshio
from .groups import extract, regions, select
from .interface import find_interedges, find_interface
from .polyhedra import Polyhedra
from .reading import read_mesh
from .tubes import cylinder, tube
from .value import Mesh
from .writing import write_mesh, write_vtu

__all__ = ["Mesh", "Polyhedra", "cube", "cylinder", "dual_graph", "extract", "find_interedges", "find_interface",
           "from_meshio", "read_mesh", "regions", "select", "tube", "write_mesh", "write_vtu"]
