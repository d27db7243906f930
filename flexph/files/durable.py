"""Writing of files: in a private folder beside their place, then to the disk, then into their place at one stroke.

A reader sees the older file or the whole new one, also after a crash of the machine. A place that is a symbolic link
stays one: the file that it leads to is replaced.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, flock

PREFIX = ".flexph-"
"""How the names of folders begin in which files are written; they are gone at the end unless the process is killed."""


@contextmanager
def staged(path: str | Path) -> Iterator[Path]:
    """A path of the same name in a folder of its own; what is written there takes the place of ``path`` at the end.

    Nothing happens to ``path`` where the block raises. Raises OSError, naming ``path``, where that is no regular file,
    or its folder cannot be written to.
    """
    target = place(path)
    with staging(target.parent, told=path) as folder:
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
"""Endings of HDF5 files; a path without any is taken as it is."""


def refuse_suffix(what: str, path: str | Path, suffixes: Sequence[str]) -> None:
    """Raise ValueError for a path of a file that must end in one of some suffixes, in small or capital letters."""
    if Path(path).suffix.lower() not in suffixes:
        known = ", ".join(filter(None, suffixes))
        raise ValueError(f"path of {what} must end in {known}, got {str(path)!r}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside another, whose place the file that is written there takes at the end: a reader sees it whole.

    It is on the disk whenever the system likes: for files by the thousand, of which damage is told when they are read,
    and that can be computed again. Killed processes leave files of such names.
    """
    part = path.with_name(f"{PREFIX}{uuid.uuid4().hex}{path.suffix}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def staging(parent: Path, told: str | Path | None = None) -> Iterator[Path]:
    """A new private folder within another, locked while it is used, and removed at the end.

    Raises OSError, naming the path ``told``, where it cannot be made.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    except FileNotFoundError as error:
        said = f"there is no folder {str(parent)!r}, make it first"
        raise FileNotFoundError(error.errno, said, str(told or parent)) from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(told or parent)) from None
    try:
        with locked(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(source: Path, target: Path, last: Sequence[str] = ()) -> list[Path]:
    """Put the files of one folder into another, which replaces those of the same name; their new paths.

    All are on the disk before the first is in its place; those named ``last`` come last.
    """
    names = sorted(path.relative_to(source) for path in source.rglob("*") if path.is_file())
    _to_disk([source / name for name in names], target)
    for ends in (False, True):
        own = [name for name in names if (name.as_posix() in last) == ends]
        for name in own:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(source / name, place(target / name))
        for folder in sorted({(target / name).parent for name in own}):
            _folder_to_disk(folder)
    return [target / name for name in names]


def remove(path: Path) -> None:
    """Remove a file or a folder with all that is in it, so that it is gone after a crash of the machine, too."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    _folder_to_disk(path.parent)


def leftovers(folder: Path) -> list[Path]:
    """What killed processes left in a folder: folders in which files were written, which no process uses any more."""
    return [path for path in sorted(folder.glob(f"{PREFIX}*")) if path.is_dir() and not _is_used(path)]


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Hold a folder against other processes until the end of the block; False where locks are not to be had.

    Raises BlockingIOError where another process holds it.
    """
    if sys.platform == "win32":  # locks none: what a killed run left is not told from a run
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
    """Where a file of this path is, or comes to be: the end of symbolic links."""
    given = Path(path)
    try:
        mode = given.stat().st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(given)) if given.is_symlink() else given
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "no regular file, which alone can be replaced as a whole", str(path))
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
    """Put files on the disk that go to a folder; those of a private one go on from there, and then to the disk."""
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
    """Put the entries of a folder on the disk, where the system does so for folders."""
    if sys.platform == "win32" or _is_private(folder):
        return
    with suppress(PermissionError):  # a folder that may be written but not read
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(fd)
