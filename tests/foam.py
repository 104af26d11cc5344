"""OpenFOAM meshes written for tests, in every form that OpenFOAM writes; no code of copart's readers."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np


def header(kind: str, name: str, binary: bool = False, arch: str = "") -> bytes:
    text = f"""/*--------------------------------*- C++ -*----------------------------------*\\
| {{ a banner with braces; and (parentheses) }} |
\\*---------------------------------------------------------------------------*/
FoamFile
{{
    version     2.0; // a comment }}
    format      {"binary" if binary else "ascii"};
    {f'arch        "{arch}";' if arch else ""}
    class       {kind};
    object      {name};
}}
// * * * * * //

"""
    return text.encode()


def brick(nx, ny, nz, lengths=(1.0, 1.0, 1.0)):
    """Points, faces (n, 4), owner, neighbour and patches of a brick of hexahedra, faces in OpenFOAM's order."""
    axes = [np.linspace(0, length, n + 1) for length, n in zip(lengths, (nx, ny, nz), strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).transpose(2, 1, 0, 3).reshape(-1, 3)
    node = np.arange(len(points)).reshape(nz + 1, ny + 1, nx + 1)
    cell = np.arange(nx * ny * nz).reshape(nz, ny, nx)
    inner, outer = [], {}
    for axis, name in ((2, "x"), (1, "y"), (0, "z")):
        # the four corners of the faces across an axis, turned towards larger coordinates
        grid = np.moveaxis(node, axis, 0)
        # cyclic permutations of (z, y, x) keep the turn, the others change it
        a, b, c, d = grid[:, :-1, :-1], grid[:, 1:, :-1], grid[:, 1:, 1:], grid[:, :-1, 1:]
        quads = np.stack([a, d, c, b] if axis in (0, 2) else [a, b, c, d], axis=-1)
        cells = np.moveaxis(cell, axis, 0)
        inner.append((quads[1:-1].reshape(-1, 4), cells[:-1].ravel(), cells[1:].ravel()))
        outer[f"{name}Min"] = quads[0].reshape(-1, 4)[:, ::-1], cells[0].ravel()
        outer[f"{name}Max"] = quads[-1].reshape(-1, 4), cells[-1].ravel()
    faces, owner, neighbour = (np.concatenate([part[i] for part in inner]) for i in range(3))
    order = np.lexsort((neighbour, owner))
    faces, owner, neighbour = faces[order], owner[order], neighbour[order]
    patches, first = [], len(faces)
    for name, (quads, _) in outer.items():
        patches.append((name, "patch", first, len(quads)))
        first += len(quads)
    faces = np.concatenate([faces, *(q for q, _ in outer.values())])
    owner = np.concatenate([owner, *(c for _, c in outer.values())])
    return points, faces, owner, neighbour, patches


def write(folder: Path, points, faces, owner, neighbour, patches, *, binary=False, label=32, scalar=64, order="LSB",
          compact=None, zipped=False, arch=True, cell_zones=None):
    """Write a polyMesh; faces are a (n, w) array or a list of lists."""
    folder.mkdir(parents=True, exist_ok=True)
    sign = "<" if order == "LSB" else ">"
    said = f"{order};label={label};scalar={scalar}" if binary and arch else ""
    compact = binary if compact is None else compact

    def put(name, kind, body):
        data = header(kind, name, binary, said) + body
        if zipped:
            (folder / f"{name}.gz").write_bytes(gzip.compress(data, 1))
        else:
            (folder / name).write_bytes(data)

    def labels(values):
        values = np.asarray(values)
        if binary:
            raw = values.astype(f"{sign}i{label // 8}").tobytes()
            return b"%d\n(%b)\n" % (len(values), raw) if len(values) else b"0\n"
        return b"%d\n(\n%b\n)\n" % (len(values), "\n".join(map(str, values.tolist())).encode())

    if binary:
        raw = np.asarray(points).astype(f"{sign}f{scalar // 8}").tobytes()
        put("points", "vectorField", b"%d\n(%b)" % (len(points), raw))
    else:
        rows = "\n".join(f"({x!r} {y!r} {z!r})" for x, y, z in np.asarray(points).tolist())
        put("points", "vectorField", b"%d\n(\n%b\n)\n" % (len(points), rows.encode()))
    rows = faces.tolist() if isinstance(faces, np.ndarray) else faces
    if compact:
        start = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
        put("faces", "faceCompactList", labels(start) + b"\n" + labels(np.concatenate([np.array(r) for r in rows])))
    elif binary:
        put("faces", "faceList", b"%d\n(\n%b)\n" % (len(rows), b"".join(labels(r) for r in rows)))
    else:
        body = "\n".join(f"{len(r)}({' '.join(map(str, r))})" for r in rows)
        put("faces", "faceList", b"%d\n(\n%b\n)\n" % (len(rows), body.encode()))
    put("owner", "labelList", labels(owner))
    put("neighbour", "labelList", labels(neighbour))
    entries = "".join(f"    {n}\n    {{\n        type {k};\n        inGroups 1({k});\n        nFaces {c};\n"
                      f"        startFace {s};\n    }}\n" for n, k, s, c in patches)
    put("boundary", "polyBoundaryMesh", f"{len(patches)}\n(\n{entries})\n".encode())
    if cell_zones:
        zone = b"%b\n{\n    type cellZone;\n    cellLabels      List<label> \n%b;\n}\n\n"
        body = b"".join(zone % (n.encode(), labels(c)) for n, c in cell_zones.items())
        put("cellZones", "regIOobject", b"%d\n(\n%b)\n" % (len(cell_zones), body))
