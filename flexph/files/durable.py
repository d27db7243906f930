"""Durable, atomic writing of files: in a temporary folder, synchronised, moved to the final path; deferred signals.

A reader sees the old file or the complete new one, also after a crash of the machine. A symbolic link is not
replaced, but the file to which it refers. The temporary folder is on the same file system as the final path.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Context manager that defers signals with Python handlers, such as Ctrl-C, to its end.

    HDF5 crashes if a Python function that it calls raises an error. Outside of the main thread, which is the only one
    to receive signals, the context manager does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    received: list[int] = []
    try:
        for number in handlers:
            signal.signal(number, lambda number, frame: received.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for late in dict.fromkeys(received):
            signal.raise_signal(late)


class TerminationRequest(KeyboardInterrupt):
    """Exception for SIGTERM, the request to terminate the process; handled like Ctrl-C."""


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Context manager that raises TerminationRequest on SIGTERM.

    It does nothing outside of the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def raise_terminated(number: int, frame: object) -> None:
        raise TerminationRequest

    before = signal.signal(signal.SIGTERM, raise_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, flock

PREFIX = ".flexph-"
"""Prefix of the names of temporary folders, which are removed at the end unless the process is killed."""


@contextmanager
def staged(path: str | Path) -> Iterator[Path]:
    """Context manager with a temporary path, whose file replaces ``path`` at the end.

    The temporary path has the same name in a new folder. If the block raises an error, ``path`` is unchanged. Raises
    OSError, naming ``path``, if it is not a regular file or its folder cannot be written to.
    """
    target = place(path)
    with staging(target.parent, shown=path) as folder:
        part = folder / Path(path).name
        try:
            yield part
        except OSError as error:
            if error.errno is None or error.filename not in (None, str(part)):
                raise
            raise OSError(error.errno, error.strerror, str(path)) from error
        _to_disk([part], target.parent)
        _replace(part, target)


HDF5_SUFFIXES = (".h5", ".hdf5", "")
"""Suffixes accepted for HDF5 files; the empty one stands for a path without a suffix."""


def refuse_suffix(what: str, path: str | Path, suffixes: Sequence[str]) -> None:
    """Raise ValueError unless a path ends in one of the given suffixes, in lower or upper case.

    ``what`` names the file in the error.
    """
    if Path(path).suffix.lower() not in suffixes:
        known = ", ".join(filter(None, suffixes))
        raise ValueError(f"path of {what} must end in {known}, got {str(path)!r}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Context manager with a temporary path in the same folder, whose file replaces ``path`` at the end.

    A reader sees the old file or the complete new one. The file is not synchronised to the disk, which is sufficient
    for many files that can be computed again and whose damage is detected on reading. Killed processes leave temporary
    files.
    """
    part = path.with_name(f"{PREFIX}{uuid.uuid4().hex}{path.suffix}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def staging(parent: Path, shown: str | Path | None = None) -> Iterator[Path]:
    """Context manager with a new temporary folder within ``parent``, locked until the end and then removed.

    Raises OSError, naming the path ``shown`` (``parent`` by default), if the folder cannot be created.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    except FileNotFoundError as error:
        message = f"there is no folder {str(parent)!r}, make it first"
        raise FileNotFoundError(error.errno, message, str(shown or parent)) from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(shown or parent)) from None
    try:
        with locked(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(source: Path, target: Path, last: Sequence[str] = ()) -> list[Path]:
    """Move the files of one folder to another, replacing those of the same names; return their new paths.

    All files are synchronised to the disk before the first is moved; those named in ``last`` are moved last.
    """
    names = sorted(path.relative_to(source) for path in source.rglob("*") if path.is_file())
    _to_disk([source / name for name in names], target)
    for ends in (False, True):
        chosen = [name for name in names if (name.as_posix() in last) == ends]
        for name in chosen:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(source / name, place(target / name))
        for folder in sorted({(target / name).parent for name in chosen}):
            _folder_to_disk(folder)
    return [target / name for name in names]


def remove(path: Path) -> None:
    """Remove a file, or a folder with its contents, durably: the removal survives a crash of the machine."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    _folder_to_disk(path.parent)


def leftovers(folder: Path) -> list[Path]:
    """Temporary folders of killed processes within a folder, which no process has locked."""
    return [path for path in sorted(folder.glob(f"{PREFIX}*")) if path.is_dir() and not _is_used(path)]


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Context manager that locks a folder against other processes.

    Yields False if locks are not available. Raises BlockingIOError if another process has locked the folder.
    """
    if sys.platform == "win32":  # no locks: the folder of a killed run looks like one in use
        yield False
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        try:
            flock(fd, LOCK_EX | LOCK_NB)
            held = True
        except BlockingIOError:
            raise
        except OSError:  # a file system without locks
            held = False
        yield held
    finally:
        os.close(fd)


def place(path: str | Path) -> Path:
    """Path of an existing or new file, with symbolic links resolved.

    Raises IsADirectoryError for a folder, OSError for a device, a pipe or another irregular file.
    """
    given = Path(path)
    try:
        mode = given.stat().st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(given)) if given.is_symlink() else given
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "must be a regular file", str(path))
    return Path(os.path.realpath(given)) if given.is_symlink() else given


def _is_used(folder: Path) -> bool:
    try:
        with locked(folder) as held:
            return not held
    except OSError:
        return True


def _replace(source: Path, target: Path) -> None:
    os.replace(source, target)
    _folder_to_disk(target.parent)


def _to_disk(paths: Iterable[Path], folder: Path) -> None:
    """Synchronise files to the disk before they are moved to ``folder``.

    Nothing is done if ``folder`` is temporary: its files are synchronised when they are moved on.
    """
    if _is_private(folder):
        return
    for path in paths:
        fd = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _is_private(folder: Path) -> bool:
    return any(part.startswith(PREFIX) for part in folder.parts)


def _folder_to_disk(folder: Path) -> None:
    """Synchronise the entries of a folder to the disk, on systems that support this for folders."""
    if sys.platform == "win32" or _is_private(folder):
        return
    with suppress(PermissionError):  # a folder with write but no read permission
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(fd)
