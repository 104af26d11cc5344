"""Meshes in and out: reading, dual graphs, interedges by geometry, generated meshes, files with parts."""

from .dual import dual_graph
from .generated.cubes import cube
from .generated.tubes import cylinder, tube
from .groups import extract, regions, select
from .interfaces.detection import Interface
from .interfaces.interface import find_interedges, find_interface
from .polyhedra import Polyhedra
from .readers.foreign import from_meshio
from .readers.reading import read_mesh
from .readers.safely import reading_safely
from .transform import Transform
from .value import Mesh
from .writing.gmsh_parts import write_gmsh
from .writing.pieces import write_aste, write_pieces
from .writing.vtu import write_mesh, write_vtu

__all__ = [
           "Interface",
           "Mesh",
           "Polyhedra",
           "Transform",
           "cube",
           "cylinder",
           "dual_graph",
           "extract",
           "find_interedges",
           "find_interface",
           "from_meshio",
           "read_mesh",
           "reading_safely",
           "regions",
           "select",
           "tube",
           "write_aste",
           "write_gmsh",
           "write_mesh",
           "write_pieces",
           "write_vtu",
]
