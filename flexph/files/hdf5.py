"""Safe opening of HDF5 files, with all values in the file itself, and writing with errors for a full disk.

Links, virtual datasets and external storage can read other files; a fill value or a filter can expand to any number of
bytes.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .durable import deferred_signals, staged
from .reading import SPARE, refuse_missing

if TYPE_CHECKING:
    import h5py


SIGNATURE = b"\x89HDF\r\n\x1a\n"
CHECKSUMMED = 3
"""First version of the superblock with checksums for all structures of a file."""
LINKED = "/VTKHDF/Assembly"
"""Group of a scene, whose format requires soft links; they are never followed."""
LZF = 32000


@cache
def growths() -> dict[int, int]:
    """Largest factor by which each accepted filter of HDF5 can expand stored bytes, by the number of the filter."""
    from h5py import h5z  # slow to import

    plain = {h5z.FILTER_FLETCHER32: 1, h5z.FILTER_SHUFFLE: 1, h5z.FILTER_NBIT: 64}
    return {**plain, LZF: 1032, h5z.FILTER_DEFLATE: 1032, h5z.FILTER_SZIP: 1032}


def open_contained(path: str | Path, *, linked: str = "") -> h5py.File:
    """Open an HDF5 file of flexph for reading, after a check that no content is in another file.

    ``linked`` as in :func:`refuse_outside_data`. Raises OSError if the file is missing, has no checksums, or refers to
    other files.
    """
    import h5py  # slow to import

    refuse_missing("HDF5", path)
    with open(path, "rb") as raw:
        start = raw.read(len(SIGNATURE) + 1)
    if not start.startswith(SIGNATURE):
        raise OSError("it is not an HDF5 file")
    if len(start) == len(SIGNATURE) or start[len(SIGNATURE)] < CHECKSUMMED:
        raise OSError("it is an HDF5 file without checksums")
    file = h5py.File(path, "r")
    try:
        refuse_outside_data(file, linked=linked)
    except BaseException:
        file.close()
        raise
    return file


def is_hdf5(path: Path) -> bool:
    """True if a file begins with the signature of HDF5."""
    with path.open("rb") as file:
        return file.read(len(SIGNATURE)) == SIGNATURE


def refuse_outside_data(file: h5py.File, *, linked: str = "") -> None:
    """Raise OSError for links, objects with two names, values in other files, and too many declared values.

    It is also raised for filters that are not accepted. Soft links are allowed below the group ``linked``, which is not
    read. The check itself follows no links.
    """
    import h5py

    left = [("", file["/"].id)]
    while left:
        place, group = left.pop()
        names: list[bytes] = []
        group.links.iterate(names.append)
        for name in names:
            path, kind = f"{place}/{name.decode(errors='replace')}", group.links.get_info(name).type
            if kind == h5py.h5l.TYPE_SOFT and linked and path.startswith(f"{linked}/"):
                continue
            if kind != h5py.h5l.TYPE_HARD:
                raise OSError(f"{path} is a link to another place")
            member = h5py.h5o.open(group, name)
            if h5py.h5o.get_info(member).rc != 1:
                raise OSError(f"{path} has a second name")
            if isinstance(member, h5py.h5g.GroupID):
                left.append((path, member))
            elif isinstance(member, h5py.h5d.DatasetID):
                _refuse_elsewhere(path, member, file.id.get_filesize())


def _refuse_elsewhere(name: str, dataset: h5py.h5d.DatasetID, size: int) -> None:
    """Raise OSError for a dataset with values in another file, or with more values than its stored bytes allow.

    It is also raised for a dataset that is stored through a filter that is not accepted.
    """
    import h5py

    known, properties = growths(), dataset.get_create_plist()
    if properties.get_layout() == h5py.h5d.VIRTUAL or properties.get_external_count():
        raise OSError(f"{name} has its values in another file")
    filters = [properties.get_filter(i)[0] for i in range(properties.get_nfilters())]
    strange = next((number for number in filters if number not in known), None)
    if strange is not None:
        raise OSError(f"{name} is stored through filter {strange}, which is not read")
    declared = dataset.get_space().get_simple_extent_npoints() * dataset.get_type().get_size()
    stored = min(dataset.get_storage_size(), size)
    if declared > SPARE + stored * math.prod(known[number] for number in filters):
        raise OSError(f"{name} declares {declared} bytes of values, and the file has {stored} bytes of them")


def write_hdf5(path: str | Path, write: Callable[[h5py.File], None]) -> None:
    """Write an HDF5 file completely or not at all; raises OSError, without changing an older file, on a full disk."""
    with staged(path) as part, new_hdf5(part) as file:
        write(file)


@contextmanager
def new_hdf5(path: Path, libver: str | None = "v110") -> Iterator[h5py.File]:
    """Context manager with a new HDF5 file, closed at the end; raises OSError at the end if a write failed.

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
        """Raise the first write error, if any."""
        if self.error is not None:
            raise self.error

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to an offset, which may lie beyond the end of the file; return it."""
        self._at = offset + (0, self._at, self._end)[whence]
        return self._at

    def tell(self) -> int:
        """Current offset in the file [bytes]."""
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
