"""A folder of results that changes all at once: whenever a reader looks, there is the former plan or the new one.

What is new is made in a hidden folder beside (:data:`HIDDEN`) and changes places with the old one in one step of the
file system.  Files that are not the former plan's stay: they get a second name in the new folder first, and lose the
first one afterwards.  Where folders cannot change places (a process works in it, the file system does not know how, no
right to write beside it, thousands of other files), files are moved one by one, ``metrics.json`` first away and last
in: half a move is no plan.

A run that was killed leaves a hidden folder behind, which the next run in the same place removes; runs at work hold a
lock on theirs.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import ConfigError, FormatError
from .overwriting import Named, refuse_inputs

#: What hidden folders are called, with some letters after it.
HIDDEN = ".copart-unfinished-"
#: The file that makes a folder a plan and lists the others.
METRICS = "metrics.json"
#: The cell arrays of a plan, which take the place of a mesh's own of the same names.
WRITTEN = ("part", "coupled")
#: A folder with more files than these beside the plan's is more than a plan's folder: it keeps its place.
_OTHERS = 1000
_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)


def write_folder(folder: Path, write: Callable[[Path], list[str]], inputs: Iterable[Named] = (),
                 former: Callable[[Path], set[str]] | None = None) -> tuple[Path, ...]:
    """Let `write` fill a hidden folder, then put it in the place of `folder`: nothing appears before all is complete.

    Parameters
    ----------
    folder : Path
        Made where it does not exist.
    write : callable
        Takes the hidden folder and returns the names of the files it made there.
    inputs : iterable of (str, path), optional
        What is read and must be neither written over nor removed, each with what it is called.
    former : callable, optional
        The names of the files in a folder that belong to a former plan, and go with it.  Where not given, `folder` is
        one of many things, which keeps its place.

    Raises
    ------
    ConfigError, FormatError
        The folder is then as it was.
    """
    place = Path(os.path.realpath(folder))
    above = [one for one in (place, *place.parents) if not one.exists()]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        aside = former is not None and _may_change_places(place)
        room = place.parent if aside else place
        room.mkdir(exist_ok=True)
        for around in {place.parent, place}:
            sweep(around)
        with _hidden_folder(room) as scratch:
            made = write(scratch)
            old = former(place) if former is not None else set()
            _refuse(folder, place, made, old - set(made), inputs)
            if not (aside and _change_places(scratch, place, old | set(made))):
                _move_in(scratch, place, made, old)
    except OSError as error:
        raise FormatError(folder, f"cannot be written: {(error.strerror or str(error)).lower()}") from None
    finally:
        for one in above:
            with suppress(OSError):
                one.rmdir()  # only what was made for nothing is empty
    return tuple(folder / name for name in made)


def sweep(room: Path) -> None:
    """Remove what killed runs left in `room`, as far as it is only theirs."""
    with suppress(OSError):
        for left in [one for one in room.glob(f"{HIDDEN}*") if one.is_dir() and not one.is_symlink()]:
            with _lock(left) as free:
                if free:
                    _discard(left)


def _discard(left: Path) -> list[Path]:
    """Remove a hidden folder but for files of others that have no second name; returns these.

    Before a plan's ``metrics.json`` is written there is nothing of others without a second name.
    """
    whole = (left / METRICS).exists()
    own = listed(left) | {METRICS} if whole else set()
    kept = []
    for inner, _, files in os.walk(left, topdown=False):
        for name in files:
            file = Path(inner, name)
            with suppress(FileNotFoundError):
                if whole and file.relative_to(left).as_posix() not in own and file.lstat().st_nlink == 1:
                    kept.append(file)
                else:
                    file.unlink()
        with suppress(OSError):
            os.rmdir(inner)
    return kept


def listed(folder: Path) -> set[str]:
    """The files that the ``metrics.json`` in `folder` lists; none where there is no list."""
    try:
        files = json.loads((folder / METRICS).read_bytes())["files"]
        return {name for name in files if isinstance(name, str) and not Path(name).is_absolute()
                and ".." not in Path(name).parts}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()


def _refuse(folder: Path, place: Path, made: Iterable[str], gone: Iterable[str], inputs: Iterable[Named]) -> None:
    """Refuse to write over, or remove, what is read, and to write below a file or over a folder."""
    going = set(gone)
    refuse_inputs([folder / name for name in (*made, *sorted(going))], inputs)
    for name in made:
        for inner in list(Path(name).parents)[:-1]:
            if inner.as_posix() not in going and (place / inner).exists() and not (place / inner).is_dir():
                raise ConfigError(f"output: {folder / inner} is a file, and {name} is to be written")


@contextmanager
def _hidden_folder(room: Path) -> Iterator[Path]:
    """A hidden folder in `room`, locked; it is gone afterwards, or has become what it was made for."""
    scratch = Path(tempfile.mkdtemp(prefix=HIDDEN, dir=room))
    try:
        with _lock(scratch):
            yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _lock(folder: Path) -> Iterator[bool]:
    """Hold the lock of a folder; False where another run holds it, or there are no locks here."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def _may_change_places(place: Path) -> bool:
    """Whether another folder may take this one's name: nobody works in it, and its parent can be written to."""
    if not place.exists():
        return os.access(place.parent, os.W_OK)
    at_work = {Path(os.path.realpath(os.curdir))}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            at_work.add(Path(os.readlink(process / "cwd")))
    return not any(place in (here, *here.parents) for here in at_work) and not os.path.ismount(place) \
        and os.access(place.parent, os.W_OK)


def _change_places(scratch: Path, place: Path, own: set[str]) -> bool:
    """Put `scratch` where `place` is, with all files there that are not of the plan; False where that cannot be."""
    mask = os.umask(0)
    os.umask(mask)
    scratch.chmod(0o777 & ~mask)
    if not place.exists():
        scratch.rename(place)
        return True
    try:
        shutil.copystat(place, scratch)
        _link_others(place, scratch, own)
        _exchange(scratch, place)
    except OSError:
        return False
    for file in _discard(scratch):
        # another program made it while the folders changed places
        target = place / file.relative_to(scratch)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            file.rename(target)
    return True


def _link_others(place: Path, scratch: Path, own: set[str]) -> None:
    """Give what is not of the plan a second name in `scratch`.

    Raises
    ------
    OSError
        This cannot be done here, or there is too much of it.
    """
    count = 0
    for inner, folders, files in os.walk(place):
        here = Path(inner).relative_to(place)
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        links = [name for name in folders if Path(inner, name).is_symlink()]
        theirs = [name for name in (*files, *links) if (here / name).as_posix() not in own]
        count += len(theirs)
        if count > _OTHERS:
            raise OSError("too many files")
        if theirs or not (files or folders):
            (scratch / here).mkdir(parents=True, exist_ok=True)
        for name in theirs:
            os.link(Path(inner, name), scratch / here / name, follow_symlinks=False)


def _exchange(one: Path, other: Path) -> None:
    """Let two folders change places, in one step.

    Raises
    ------
    OSError
        Not on this system, or not on this file system.
    """
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        raise OSError("no renameat2")
    here = ctypes.c_int(-100)  # AT_FDCWD
    if call(here, os.fsencode(one), here, os.fsencode(other), ctypes.c_uint(_EXCHANGE)):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _move_in(scratch: Path, place: Path, made: list[str], old: set[str]) -> None:
    """Move files one by one; in between there is no ``metrics.json``, so that half of them are no plan."""
    place.mkdir(exist_ok=True)
    if METRICS in made or METRICS in old:
        (place / METRICS).unlink(missing_ok=True)
    for name in sorted(old - set(made)):
        _remove(place, name)
    for name in sorted(made, key=lambda name: name == METRICS):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(scratch / name, place / name)


def _remove(place: Path, name: str) -> None:
    """Remove a file, and the folders in `place` that it leaves empty."""
    (place / name).unlink(missing_ok=True)
    for inner in list(Path(name).parents)[:-1]:
        with suppress(OSError):
            (place / inner).rmdir()


__all__ = ["HIDDEN", "METRICS", "WRITTEN", "listed", "sweep", "write_folder"]
