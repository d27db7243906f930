"""Compiled functions on disk, where they are found again by later processes; needs numba.

What is damaged or comes from elsewhere is thrown away and compiled anew; what cannot be written is done without. Either
is said in one sentence a process, and no run ends by it. Of processes that want the same code at the same time one
compiles it, and the others wait for that.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, NullCache
from numba.core.dispatcher import Dispatcher

from ...files.durable import locked

DIGEST = hashlib.sha256
PATIENCE = 120.0
"""Seconds for which a process waits for another one that compiles; it may have failed, and go on with other work."""
PAUSE = 0.05
"""Seconds between two looks."""
log = logging.getLogger("flexph")


def keep_on_disk(dispatcher: Any, names: type[CompileResultCacheImpl] = CompileResultCacheImpl) -> None:
    """Let a dispatcher of numba look for its code on disk, and leave it there, in files with the ``names``."""
    try:
        dispatcher._cache = _Cache(dispatcher.py_func, names)  # as its enable_caching does
    except (RuntimeError, OSError) as error:
        dispatcher._cache = _NoPlace(str(error))


def named_by(sources: Sequence[Path]) -> type[CompileResultCacheImpl]:
    """Names of files with a digest of sources: numba by itself sees changes of the file of an entry alone."""
    digest = DIGEST(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]

    class Names(CompileResultCacheImpl):
        """Files of a compiled function, whose names have the digest."""

        def get_filename_base(self, fullname: str, abiflags: str) -> str:
            return f"{super().get_filename_base(fullname, abiflags)}-{digest}"

    return Names


def has_code(function: Any, kinds: Mapping[int, Any]) -> bool:
    """Whether a compiled function has code, in this process or on disk, for types at some places of its arguments."""
    own: Any = function
    if not isinstance(function, Dispatcher):  # without a compiler it is one of Python
        return True
    fits = lambda types: all(types[k] == kind for k, kind in kinds.items())  # noqa: E731
    if any(map(fits, own.overloads)):
        return True
    return isinstance(own._cache, _Cache) and any(map(fits, own._cache.signatures(own.targetctx)))


class _Files(IndexDataCacheFile):
    """The files of a function, with digests: code that is damaged may be read, and ends the process when it runs."""

    def _dump(self, value: Any) -> bytes:
        data: bytes = super()._dump(value)
        return data + DIGEST(data).digest()  # which pickle does not read

    def _load_data(self, name: str) -> Any:
        data = Path(self._data_path(name)).read_bytes()
        size = len(data) - DIGEST().digest_size
        if DIGEST(data[:size]).digest() != data[size:]:
            raise pickle.UnpicklingError("its digest is that of other contents")
        return pickle.loads(data[:size])

    def discard(self) -> None:
        """Remove the index, and with it all that it leads to."""
        with suppress(OSError):
            Path(self._index_path).unlink()


class _Cache(FunctionCache):
    """The code of a function on disk."""

    def __init__(self, function: Any, names: type[CompileResultCacheImpl]) -> None:
        self._impl_class = names
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, stamp)
        self._turn = _Turn(Path(self._cache_path) / f"{self._impl.filename_base}.lock")

    def signatures(self, target: Any) -> list[Any]:
        """Types of arguments for which there is code for this processor on disk."""
        try:
            index = self._cache_file._load_index()
        except Exception:  # said where the code is loaded
            return []
        return [own for own, processor, _ in index if processor == target.codegen().magic_tuple()]

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The code for a signature; None where there is none that can be read, and this process is to compile it."""
        code = self._loaded(signature, target)
        if code is None and self._turn.awaited():
            code = self._loaded(signature, target)
            if code is not None:
                self._turn.over()
        return code

    def _loaded(self, signature: Any, target: Any) -> Any:
        try:
            return super().load_overload(signature, target)
        except OSError:  # is said where the code cannot be written either
            return None
        except Exception as error:  # pickle raises whatever the bytes of a file lead to
            _say_damaged(self._cache_path, f"{type(error).__name__}: {error}")
            self._cache_file.discard()
            return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Write the code for a signature, where that is possible."""
        try:
            super().save_overload(signature, code)
        except OSError as error:
            _say_lost(str(error))
        finally:
            self._turn.over()


class _Turn:
    """The right to compile a function, which one process has at a time; a lock on a file, gone with the process."""

    def __init__(self, path: Path) -> None:
        self._path, self._held = path, ExitStack()
        self._is_held = False

    def awaited(self) -> bool:
        """Wait for the right; whether it was given just now."""
        end = time.monotonic() + PATIENCE
        while not self._is_held and time.monotonic() < end:
            try:
                self._path.touch()
                self._held.enter_context(locked(self._path))
                self._is_held = True
                return True
            except BlockingIOError:
                time.sleep(PAUSE)
            except OSError:  # no place for the lock, nor for the code
                return False
        return False

    def over(self) -> None:
        """Let others go on."""
        self._held.close()
        self._is_held = False


class _NoPlace(NullCache):
    """What stands for a cache where there is no folder for one."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def save_overload(self, signature: Any, code: Any) -> None:
        """Say that the code is lost with the process."""
        _say_lost(self.reason)


@cache
def _say_damaged(folder: str, reason: str) -> None:
    log.warning("flexph: compiled code in %s cannot be read and is compiled anew (%s)", folder, reason)


@cache
def _say_lost(reason: str) -> None:
    log.warning(
        "flexph: compiled code cannot be kept, and every process compiles it again: set NUMBA_CACHE_DIR to a folder "
        "that can be written (%s)",
        reason,
    )
