"""HDF5 files on disks that may be full."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .durable import staged
from .interrupts import deferred_signals

if TYPE_CHECKING:
    import h5py


def write_hdf5(path: str | Path, write: Callable[[h5py.File], None]) -> None:
    """Write an HDF5 file, whole or not at all; raises OSError where the disk is full, and leaves an older file then."""
    with staged(path) as part, new_hdf5(part) as file:
        write(file)


@contextmanager
def new_hdf5(path: Path, libver: str | None = "v110") -> Iterator[h5py.File]:
    """A new HDF5 file, open until the end of the block, which raises OSError where a write has failed.

    From version 1.10 on, all structures of the file have checksums.
    """
    import h5py  # slow to import

    with deferred_signals(), DiskFile(path) as disk:
        try:
            with h5py.File(disk, "w", libver=libver) as file:
                yield file
        finally:
            disk.check()


class DiskFile(io.RawIOBase):
    """A new file that never tells its writer that the disk is full: ``error`` is the first error, for afterwards.

    HDF5 crashes where a write fails while it closes a file; so all writes seem to succeed, and after the first that
    does not, nothing is written any more. Raises FileExistsError for a path that exists, also as a symbolic link.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        self.error: OSError | None = None
        self._file = open(os.open(path, flags, 0o666), "r+b", buffering=0)  # noqa: SIM115
        self._at = self._end = 0

    def check(self) -> None:
        """Raise the first error."""
        if self.error is not None:
            raise self.error

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place; those beyond what the disk holds, too."""
        self._at = offset + (0, self._at, self._end)[whence]
        return self._at

    def tell(self) -> int:
        """The place."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read what is on the disk; zeros where nothing is."""
        view = memoryview(buffer).cast("B")
        view[:] = bytes(len(view))
        self._tried(lambda: self._file.seek(self._at) is None or self._file.readinto(view))
        self._at += len(view)
        return len(view)

    def write(self, data: Any) -> int:
        """Write all, or nothing after an error."""
        view = memoryview(data).cast("B")
        self._tried(lambda: self._write_all(view))
        self._at += len(view)
        self._end = max(self._end, self._at)
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        """Cut or extend the file."""
        self._end = self._at if size is None else size
        self._tried(lambda: self._file.truncate(self._end))
        return self._end

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._tried(self._file.close)
        super().close()

    def _write_all(self, view: memoryview) -> None:
        self._file.seek(self._at)
        while len(view):
            view = view[self._file.write(view) :]

    def _tried(self, call: Callable[[], Any]) -> None:
        if self.error is None:
            try:
                call()
            except OSError as error:
                self.error = error
