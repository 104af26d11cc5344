"""The process that reads a mesh file for another: ``python -m copart.mesh.readers.child FILE ANSWER GIGABYTES``."""

from __future__ import annotations

import pickle
import resource
import sys
from pathlib import Path

from ...errors import CopartError, FormatError


def main(path: str, answer: str, gigabytes: str) -> None:
    """Write the mesh, or the error of reading it, to the file `answer`."""
    most = int(float(gigabytes) * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    found: object
    try:
        from .reading import read_mesh

        found = read_mesh(path)
    except CopartError as error:
        found = error
    except MemoryError:
        found = FormatError(path, f"needs more than {gigabytes} GB to be read")
    partial = Path(answer + ".part")
    partial.write_bytes(pickle.dumps(found))
    partial.replace(answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
