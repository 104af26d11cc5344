"""The files in which numba keeps compiled kernels, with checksums: what is damaged or old is compiled anew.

numba trusts its cache: a file that was cut short ends in an error about pickles, one of another kernel in wrong results
or a crash, and an edit (or an update) of a kernel that others call goes unnoticed.  Here each file begins with the
checksum of its name, of the sources of all kernels, and of its content.  A file that does not fit is removed, and said
once; where none can be written, kernels are compiled for the run alone.
"""

from __future__ import annotations

import glob
import hashlib
import logging
import os
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core import caching, config
from numba.core.runtime.nrt import rtsys

logger = logging.getLogger("copart")

# Kernels become part of those that call them, so each depends on all of these.
_FILES = sorted(set(Path(__file__).parent.glob("*.py")) - {Path(__file__).with_name("clock.py")})
_SOURCES = hashlib.sha256(b"".join(path.read_bytes() for path in _FILES)).hexdigest()
_LENGTH = hashlib.sha256().digest_size
_said: set[str] = set()


def _once(what: str, message: str, *args: object) -> None:
    """Log a remark of this kind, the first time in this process."""
    (logger.debug if what in _said else logger.warning)(message, *args)
    _said.add(what)


def _unwritten(path: str, error: OSError) -> None:
    _once("unwritten", "kernel cache: %s cannot be written (%s), so kernels are compiled for this run alone; "
          "NUMBA_CACHE_DIR names another folder", path, (error.strerror or str(error)).lower())


class ReadOnlyPlace:
    """The place of kernels that were compiled by who installed copart, in a folder that we cannot write to.

    numba passes such a folder over, and would compile all of them again somewhere else.
    """

    def __init__(self, place: Any):
        self._place = place

    def __getattr__(self, name: str) -> Any:
        return getattr(self._place, name)

    def ensure_cache_path(self) -> None:
        """It is there; what cannot be kept in it is compiled for the run alone."""

    @classmethod
    def from_function(cls, function: Any, source: str) -> ReadOnlyPlace | None:
        """The first place, in numba's order, that can be used, if that is such a folder."""
        if Path(source).parent != Path(__file__).parent:
            return None  # not ours
        places: list[Any] = list(caching.CacheImpl._locator_classes)
        for kind in places:
            if kind is cls or ("UserProvided" in kind.__name__ and not chosen_folder()):
                continue
            with suppress(Exception):  # not every place is for every function
                if kind.from_function(function, source) is not None:
                    return None
                place = kind(function, source)
                if any(Path(place.get_cache_path()).glob(f"*.{_SOURCES[:12]}.nbi")):
                    return cls(place)
        return None


if hasattr(caching.CacheImpl, "_locator_classes"):
    caching.CacheImpl._locator_classes = [ReadOnlyPlace, *caching.CacheImpl._locator_classes]  # type: ignore[list-item]


class CheckedFiles(caching.IndexDataCacheFile):  # type: ignore[misc]
    """Index and data files of one kernel."""

    def damaged(self) -> list[str]:
        """The files that would be removed when the kernel is loaded; removes nothing."""
        out = []
        overloads: dict[Any, str] = {}
        try:
            overloads = self._unsealed_index()
        except FileNotFoundError:
            return []
        except (OSError, ValueError):
            out.append(self._index_path)
        for name in overloads.values():
            try:
                self._unsealed(name)
            except FileNotFoundError:
                continue
            except (OSError, ValueError):
                out.append(self._data_path(name))
        return out

    def load(self, key: Any) -> Any:
        """What was kept for a signature and processor, None where nothing was.

        Processes that write the index at once may each miss what the other has added; the file is there all the same.
        """
        overloads = self._load_index()
        name = self._name_of(key)
        try:
            data = self._load_data(name)
        except OSError:
            return None
        if key not in overloads and os.access(self._cache_path, os.W_OK):
            self._save_index({**overloads, key: name})
        return data

    def save(self, key: Any, data: Any) -> None:
        """Keep the data of a signature and processor in a file that no other one has."""
        name = self._name_of(key)
        self._save_data(name, data)
        overloads = self._load_index()
        if key not in overloads:
            self._save_index({**overloads, key: name})

    def flush(self) -> None:
        """Remove all files of this kernel and these sources."""
        base = self._index_name.removesuffix(".nbi")
        for path in Path(self._cache_path).glob(f"{glob.escape(base)}.*nb[ic]"):
            path.unlink(missing_ok=True)

    def _name_of(self, key: Any) -> str:
        # numba takes the next free number, which two processes may give to two signatures, or to two processors:
        # each would run the code of the other
        number = int(hashlib.sha256(repr(key).encode()).hexdigest()[:12], 16)
        return str(self._data_name(number))

    def _unsealed_index(self) -> dict[Any, str]:
        found: dict[Any, str] = pickle.loads(self._unsealed(self._index_name))
        return found

    def _load_index(self) -> dict[Any, str]:
        try:
            return self._unsealed_index()
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            self._drop(self._index_path, error)
            return {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._keep(self._index_name, self._dump(overloads))
        base, _, state = self._index_name.removesuffix(".nbi").rpartition(".")
        for old in Path(self._cache_path).glob(f"{glob.escape(base)}.*.nb[ic]"):
            if f".{state}." not in old.name:
                old.unlink(missing_ok=True)

    def _load_data(self, name: str) -> Any:
        try:
            return pickle.loads(self._unsealed(name))
        except FileNotFoundError:
            raise
        except (OSError, ValueError) as error:
            self._drop(self._data_path(name), error)
            raise FileNotFoundError(self._data_path(name)) from None  # which makes numba compile it

    def _save_data(self, name: str, data: Any) -> None:
        self._keep(name, self._dump(data))

    def _seal(self, name: str, content: bytes) -> bytes:
        origin = f"{name} {self._version} {self._source_stamp}".encode()
        return hashlib.sha256(hashlib.sha256(origin).digest() + content).digest()

    def _unsealed(self, name: str) -> bytes:
        """The content of a file; ValueError where the checksum is another."""
        with open(self._data_path(name), "rb") as file:
            seal, content = file.read(_LENGTH), file.read()
        if seal != self._seal(name, content):
            raise ValueError("its checksum does not fit")
        return content

    def _keep(self, name: str, content: bytes) -> None:
        path = self._data_path(name)
        try:
            with self._open_for_write(path) as file:
                file.write(self._seal(name, content))
                file.write(content)
        except OSError as error:
            _unwritten(path, error)

    def _drop(self, path: str, error: Exception) -> None:
        with suppress(OSError):
            os.unlink(path)
        _once("damaged", "kernel cache: %s is damaged (%s); it is removed and made anew", path, error)


class KeptWherePossible(caching.FunctionCache):  # type: ignore[misc]
    """The cache of one kernel; a folder that cannot be made is no error."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was kept for a signature.

        numba makes known all that it can compile first, which takes a third of a second and running has no use for.
        """
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _unwritten(self.cache_path, error)


def checked(kernel: Any) -> Any:
    """`kernel` with checksums in its cache files; as it is without a compiler, or where numba keeps files otherwise."""
    files = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    known = ("_cache_path", "_index_name", "_index_path", "_source_stamp", "_version", "_data_name_pattern")
    if type(files) is caching.IndexDataCacheFile and all(hasattr(files, name) for name in known):
        files.__class__ = CheckedFiles
        if type(kernel._cache) is caching.FunctionCache:
            kernel._cache.__class__ = KeptWherePossible
        files._source_stamp = _SOURCES
        # each state of the sources has files of its own, so that processes with another one are not in the way
        files._index_name = files._index_name.replace(".nbi", f".{_SOURCES[:12]}.nbi")
        files._index_path = files._data_path(files._index_name)
        files._data_name_pattern = files._data_name_pattern.replace(".{number", f".{_SOURCES[:12]}.{{number")
    return kernel


def chosen_folder() -> str:
    """The folder that ``NUMBA_CACHE_DIR`` names, or the program that runs; empty where neither does."""
    return str(getattr(config, "CACHE_DIR", "") or "")


def damaged(kernel: Any) -> list[str]:
    """The cache files of a kernel that are not what was written."""
    files = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    return files.damaged() if isinstance(files, CheckedFiles) else []


def kept(kernel: Any, types: tuple[Any, ...]) -> bool:
    """Whether there is a file for a kernel, these types of arguments, and this processor; does not look into it."""
    files = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if not isinstance(files, CheckedFiles):
        return False
    key = kernel._cache._index_key(types, kernel.targetctx.codegen())
    return os.path.exists(files._data_path(files._name_of(key)))


def kept_types(kernel: Any) -> list[tuple[Any, ...]]:
    """The types of arguments that a kernel has been compiled for on this processor, as the index of its cache says."""
    files = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    here = kernel.targetctx.codegen().magic_tuple()
    return [types for types, made_for, _ in files._load_index() if made_for == here] \
        if isinstance(files, CheckedFiles) else []


__all__ = ["CheckedFiles", "checked", "chosen_folder", "damaged", "kept", "kept_types"]
