"""Meshes in: reading, dual graphs, interedges by geometry, generated meshes, VTU out."""

from .cubes import cube
from .dual import dual_graph
from .interface import find_interedges
from .reading import extract, from_meshio, read_mesh, regions, select
from .tubes import cylinder, tube
from .value import Mesh
from .writing import write_mesh, write_vtu

__all__ = ["Mesh", "cube", "cylinder", "dual_graph", "extract", "find_interedges", "from_meshio", "read_mesh",
           "regions", "select", "tube", "write_mesh", "write_vtu"]
