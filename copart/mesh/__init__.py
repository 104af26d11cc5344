"""Meshes in and out: reading, dual graphs, interedges by geometry, generated meshes, files with parts."""

from .cubes import cube
from .detection import Interface
from .dual import dual_graph
from .foreign import from_meshio
from .gmsh_parts import write_gmsh
from .groups import extract, regions, select
from .interface import find_interedges, find_interface
from .pieces import write_aste, write_pieces
from .polyhedra import Polyhedra
from .reading import read_mesh
from .transform import Placement
from .tubes import cylinder, tube
from .value import Mesh
from .writing import write_mesh, write_vtu

__all__ = ["Interface", "Mesh", "Placement", "Polyhedra", "cube", "cylinder", "dual_graph", "extract",
           "find_interedges", "find_interface", "from_meshio", "read_mesh", "regions", "select", "tube", "write_aste",
           "write_gmsh", "write_mesh", "write_pieces", "write_vtu"]
