"""Write the meshes of this folder again: ``python meshes/make_meshes.py [FOLDER]``.

They are generated here from formulas and seeds; nothing comes from elsewhere.
"""

from __future__ import annotations

import sys
from pathlib import Path

import meshio
import numpy as np

from copart.mesh import Mesh, cube, cylinder, tube, write_vtu


def blocks(folder: Path) -> None:
    """Two unit cubes that share the face x = 1; the tetrahedra carry a load that grows towards it."""
    tetra = cube("tetra", 2000, seed=4, name="block-tetra")
    load = 1 + np.floor(9 * tetra.centres()[:, 0]).astype(np.int64)
    write_vtu(folder / "block-tetra.vtu", tetra, {"load": load})
    write_vtu(folder / "block-hexa.vtu", cube("hexa", 9, offset=(1, 0, 0)))


def pipe(folder: Path) -> None:
    """The wall of a pipe and the fluid in it: a curved interface of meshes that do not match."""
    write_vtu(folder / "pipe-wall.vtu", tube(0.5, 0.6, 5.0, (2, 20, 24)))
    write_vtu(folder / "pipe-fluid.vtu", cylinder(0.5, 5.0, (8, 31)))


def plate_in_channel() -> Mesh:
    """2D: a plate of quadrilaterals (solid) under a channel of triangles (fluid), each with its own points."""
    def grid(nx: int, ny: int, x: tuple[float, float], y: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
        gy, gx = np.meshgrid(np.linspace(*y, ny + 1), np.linspace(*x, nx + 1), indexing="ij")
        j, i = np.meshgrid(np.arange(ny), np.arange(nx), indexing="ij")
        first = (i + (nx + 1) * j).ravel()
        return np.column_stack([gx.ravel(), gy.ravel()]), first[:, None] + np.array([0, 1, nx + 2, nx + 1])

    fluid, quads = grid(40, 10, (0.0, 4.0), (0.0, 1.0))
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    solid, plate = grid(23, 4, (1.0, 3.0), (-0.25, 0.0))
    return Mesh(np.concatenate([fluid, solid]), [("triangle", triangles), ("quad", plate + len(fluid))],
                {"gmsh:physical": np.repeat([1, 2], [len(triangles), len(plate)])}, "channel-plate")


def write_gmsh(path: Path, mesh: Mesh) -> None:
    """Gmsh 2.2 text with physical groups."""
    cuts = np.cumsum([len(c) for _, c in mesh.blocks])[:-1]
    physical = np.split(np.asarray(mesh.cell_data["gmsh:physical"], np.int32), cuts)
    out = meshio.Mesh(mesh.points, list(mesh.blocks),
                      cell_data={"gmsh:physical": physical, "gmsh:geometrical": physical},
                      field_data={"fluid": np.array([1, 2]), "solid": np.array([2, 2])})
    meshio.write(path, out, file_format="gmsh22", binary=False)


def main(folder: Path) -> None:
    """Write everything into `folder`."""
    blocks(folder)
    pipe(folder)
    write_gmsh(folder / "channel-plate.msh", plate_in_channel())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
