"""``copart doctor --warm`` beside the tests: begun by one process of a session, waited for by all of them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent

#: Longest time in seconds that compiling every kernel may take.
LONGEST = 900


class Warming:
    """A process that compiles every kernel, as all processes of a session see it.

    Parameters
    ----------
    session : Path
        Folder of the session: what the process says is left there.
    cache : str
        Its folder of compiled kernels.
    """

    def __init__(self, session: Path, cache: str):
        self.folder = cache
        self._said = session
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Start it; one process of the session does."""
        with open(self._said / "out", "w") as out, open(self._said / "err", "w") as err:
            self._process = subprocess.Popen([sys.executable, "-m", "copart", "doctor", "--warm", "--json"], cwd=ROOT,
                                             stdout=out, stderr=err,
                                             env={**os.environ, "NUMBA_CACHE_DIR": self.folder})
        threading.Thread(target=self._note_end, args=(self._process,), daemon=True).start()

    def _note_end(self, process: subprocess.Popen[bytes]) -> None:
        code = process.wait()
        (self._said / "code.part").write_text(str(code))
        (self._said / "code.part").rename(self._said / "code")

    def wait(self) -> int:
        """Its exit status, when it has ended."""
        end = time.monotonic() + LONGEST
        while not (self._said / "code").exists():
            assert time.monotonic() < end, f"compiling every kernel takes more than {LONGEST} s"
            time.sleep(0.1)
        return int((self._said / "code").read_text())

    def outcome(self) -> tuple[str, str]:
        """Output and errors, when it has ended well."""
        code = self.wait()
        out, err = ((self._said / name).read_text() for name in ("out", "err"))
        assert code == 0, err
        return out, err

    def end(self) -> None:
        """Stop it, where this process has started it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
