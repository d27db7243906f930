"""Safe opening of HDF5 files: all values lie in the file itself, once, and fit into its size.

Links, virtual datasets and external storage can read other files; a fill value or a filter can expand to any number of
bytes.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

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
    """Accepted HDF5 filters, each with its largest expansion ratio."""
    from h5py import h5z  # slow to import

    plain = {h5z.FILTER_FLETCHER32: 1, h5z.FILTER_SHUFFLE: 1, h5z.FILTER_NBIT: 64}
    return {**plain, LZF: 1032, h5z.FILTER_DEFLATE: 1032, h5z.FILTER_SZIP: 1032}


def open_contained(path: str | Path, *, linked: str = "") -> h5py.File:
    """HDF5 file of flexph, opened for reading after a check that no content lies in another file.

    ``linked`` as in :func:`refuse_ways_out`. Raises OSError if the file is missing, has no checksums, or refers to
    other files.
    """
    import h5py  # slow to import

    refuse_missing("HDF5", path)
    with open(path, "rb") as raw:
        start = raw.read(len(SIGNATURE) + 1)
    if not start.startswith(SIGNATURE):
        raise OSError("it is no HDF5 file")
    if len(start) == len(SIGNATURE) or start[len(SIGNATURE)] < CHECKSUMMED:
        raise OSError("it is an HDF5 file without checksums")
    file = h5py.File(path, "r")
    try:
        refuse_ways_out(file, linked=linked)
    except BaseException:
        file.close()
        raise
    return file


def is_hdf5(path: Path) -> bool:
    """True if a file begins with the signature of HDF5."""
    with path.open("rb") as file:
        return file.read(len(SIGNATURE)) == SIGNATURE


def refuse_ways_out(file: h5py.File, *, linked: str = "") -> None:
    """Raise OSError for links, objects with two names, values in other files, and more values than the file can hold.

    Soft links are allowed below the group ``linked``, which is not read. The check itself follows no links.
    """
    import h5py

    left = [("", file["/"].id)]
    while left:
        place, group = left.pop()
        names: list[bytes] = []
        group.links.iterate(names.append)
        for name in names:
            own, kind = f"{place}/{name.decode(errors='replace')}", group.links.get_info(name).type
            if kind == h5py.h5l.TYPE_SOFT and linked and own.startswith(f"{linked}/"):
                continue
            if kind != h5py.h5l.TYPE_HARD:
                raise OSError(f"{own} is a link to another place")
            member = h5py.h5o.open(group, name)
            if h5py.h5o.get_info(member).rc != 1:
                raise OSError(f"{own} has a second name")
            if isinstance(member, h5py.h5g.GroupID):
                left.append((own, member))
            elif isinstance(member, h5py.h5d.DatasetID):
                _refuse_elsewhere(own, member, file.id.get_filesize())


def _refuse_elsewhere(name: str, dataset: h5py.h5d.DatasetID, size: int) -> None:
    """Raise OSError for a dataset with values in another file, or with more values than its stored bytes can hold."""
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
