"""Writing of HDF5 files that raises errors for a full disk, on which HDF5 itself crashes."""

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
    """Write an HDF5 file, completely or not at all; raises OSError, and keeps an older file, if the disk is full."""
    with staged(path) as part, new_hdf5(part) as file:
        write(file)


@contextmanager
def new_hdf5(path: Path, libver: str | None = "v110") -> Iterator[h5py.File]:
    """Context with a new HDF5 file, open until its end; raises OSError then if a write has failed.

    ``libver``: version of the file format; from 1.10 on, all structures of a file have checksums.
    """
    import h5py  # slow to import

    with deferred_signals(), DiskFile(path) as disk:
        try:
            with h5py.File(disk, "w", libver=libver) as file:
                yield file
        finally:
            disk.check()


class DiskFile(io.RawIOBase):
    """A new file that records the first write error in ``error`` instead of raising it.

    HDF5 crashes if a write fails while it closes a file, for example on a full disk. Therefore all writes appear to
    succeed; after the first error nothing more is written, and :meth:`check` raises it. Raises FileExistsError for an
    existing path, also for a symbolic link.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        self.error: OSError | None = None
        self._file = open(os.open(path, flags, 0o666), "r+b", buffering=0)  # noqa: SIM115
        self._at = self._end = 0

    def check(self) -> None:
        """Raise the first error, if any."""
        if self.error is not None:
            raise self.error

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to an offset, which may lie beyond the end of the file; return it."""
        self._at = offset + (0, self._at, self._end)[whence]
        return self._at

    def tell(self) -> int:
        """The current offset."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read from the disk, with zeros beyond the end of the file; return the number of bytes."""
        view = memoryview(buffer).cast("B")
        view[:] = bytes(len(view))
        self._tried(lambda: self._file.seek(self._at) is None or self._file.readinto(view))
        self._at += len(view)
        return len(view)

    def write(self, data: Any) -> int:
        """Write all bytes, or none after an error; return their number."""
        view = memoryview(data).cast("B")
        self._tried(lambda: self._write_all(view))
        self._at += len(view)
        self._end = max(self._end, self._at)
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        """Cut or extend the file; return its size."""
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
