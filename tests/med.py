"""MED files written for tests, as the library of MED lays them out in HDF5; no code of copart's readers."""

from __future__ import annotations

import numpy as np

STEP = "-0000000000000000001-0000000000000000001"
# a cube, and on its right side a polyhedron: a cube with a pyramid on it
POINTS = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 0], [0, 0, 1], [1, 0, 1], [2, 0, 1],
                   [0, 1, 1], [1, 1, 1], [2, 1, 1], [3, 0.5, 0.5]], float)
HEXA = [[1, 4, 5, 2, 7, 10, 11, 8]]
CELL = [[2, 5, 6, 3], [8, 9, 12, 11], [2, 3, 9, 8], [5, 11, 12, 6], [2, 8, 11, 5], [3, 6, 13], [6, 12, 13], [12, 9, 13],
        [9, 3, 13]]


def save(path, meshes, version=(4, 1, 0), fields=()):
    """Write meshes, a tuple (dimension, points, elements, families) by name.

    Elements are rows of nodes from 1 and a family each, by type, rows of polygons (``POG``), or lists of faces
    (``POE``).  Families are lists of groups by number, those of nodes larger than 0.
    """
    import h5py

    with h5py.File(path, "w") as data:
        info = data.create_group("INFOS_GENERALES")
        for key, value in zip(("MAJ", "MIN", "REL"), version, strict=True):
            info.attrs[key] = value
        for name, (dimension, points, elements, families) in meshes.items():
            group = data.create_group(f"ENS_MAA/{name}")
            for key, value in (("DIM", dimension), ("ESP", points.shape[1]), ("TYP", 0)):
                group.attrs[key] = value
            step = group.create_group(STEP)
            coordinates = step.create_dataset("NOE/COO", data=points.ravel(order="F"))
            coordinates.attrs["NBR"] = len(points)
            if any(number > 0 for number in families):
                step["NOE/FAM"] = np.where(points[:, 0] == points[:, 0].min(), max(families), 0)
            for kind, (rows, tags) in elements.items():
                _elements(step.create_group(f"MAI/{kind}"), kind, rows, tags)
            for number, groups in families.items():
                family = data.create_group(f"FAS/{name}/{'NOEUD' if number > 0 else 'ELEME'}/F{number}")
                family.attrs["NUM"] = number
                family["GRO/NOM"] = np.array([list(g.encode().ljust(80, b"\0")) for g in groups], np.int8)
        for label, mesh, values in fields:
            group = data.create_group(f"CHA/{label}")
            group.attrs["MAI"] = np.bytes_(mesh)
            for kind, numbers in values.items():
                support = group.create_group(f"{STEP}/{kind}")
                support.attrs["PFL"] = np.bytes_("MED_NO_PROFILE_INTERNAL")
                support["MED_NO_PROFILE_INTERNAL/CO"] = np.asarray(numbers, float)
                support["MED_NO_PROFILE_INTERNAL"].attrs["NGA"] = 1
    return path


def _elements(group, kind, rows, tags):
    """Elements of a type; polygons and polyhedra with offsets from 1."""
    def index(sizes):
        return np.concatenate([[1], 1 + np.cumsum(sizes)])

    group["FAM"] = np.array(tags)
    if kind == "POE":
        faces = [face for cell in rows for face in cell]
        group["IFN"] = index([len(cell) for cell in rows])
        rows = faces
    if kind in ("POG", "POE"):
        group["INN"] = index([len(row) for row in rows])
        group["NOD"] = np.array([n for row in rows for n in row])
    else:
        group["NOD"] = np.array(rows).ravel(order="F")


def solid(shift=0.0):
    """The cube and the polyhedron, with polygons on the outer sides and families."""
    return (3, POINTS + np.array([0, shift, 0]), {"HE8": (HEXA, [0]), "POE": ([CELL], [-2]),
                                        "POG": ([[1, 4, 10, 7], [2, 3, 9, 8]], [-1, 0])},
            {-1: ["wall"], -2: ["hot zone", "other"], 3: ["left"]})
