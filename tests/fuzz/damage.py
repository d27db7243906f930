"""Damage to files: bits, pieces and numbers of any file, and what only HDF5 can have wrong."""

import re

import h5py
import numpy as np

NUMBER = re.compile(rb"[-+]?\d+\.?\d*(?:[eEdD][-+]?\d+)?")
WRONG = (
    b"-1",
    b"0",
    b"nan",
    b"inf",
    b"1e400",
    b"999999999999",
    b"2147483648",
    b"1.5",
    b"",
    b"2.5.5",
    b"x",
    b"\xff\xfe",
)
HEADINGS = (
    *(b"\x89HDF\r\n\x1a\n", b"%%MatrixMarket matrix array real general\n", b"PK\x03\x04", b"\x93NUMPY\x01\0"),
    *(b"\x1f\x8b\x08", b"*NODE\n", b"MATLAB 5.0 MAT-file", b"<?xml version='1.0'?>\n", b"\0\0\0\0"),
)
SIZES = (1, 8, 64, 512)
"""Bytes of pieces that are lost, doubled, cleared or exchanged."""


def bit(content, random):
    at = random.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << random.randrange(8)]) + content[at + 1 :]


def noise(content, random):
    changed = bytearray(content)
    for _ in range(5):
        changed[random.randrange(len(changed))] = random.choice((random.randrange(256), 0, 255, 14, 5))
    return bytes(changed)


def cut(content, random):
    return content[: random.randrange(len(content))]


def lost(content, random):
    at, end = _piece(content, random)
    return content[:at] + content[end:]


def doubled(content, random):
    at, end = _piece(content, random)
    return content[:end] + content[at:]


def cleared(content, random):
    at, end = _piece(content, random)
    return content[:at] + random.choice((b"\0", b"\xff", b" ")) * (end - at) + content[end:]


def exchanged(content, random):
    at, end = _piece(content[: len(content) // 2 or 1], random)
    there = random.randrange(len(content) // 2, len(content))
    size = min(end - at, len(content) - there)
    moved = content[there : there + size] + content[at + size : there] + content[at : at + size]
    return content[:at] + moved + content[there + size :]


def number(content, random):
    """Another number, or none, in its place: counts and coordinates of texts."""
    numbers = list(NUMBER.finditer(content))
    if not numbers:
        return bit(content, random)
    one = random.choice(numbers)
    return content[: one.start()] + random.choice(WRONG) + content[one.end() :]


def line(content, random):
    """A line lost, doubled or moved."""
    lines = content.splitlines(keepends=True)
    at = random.randrange(len(lines))
    one = lines.pop(at) if random.random() < 0.6 else lines[at]
    if random.random() < 0.6:
        lines.insert(random.randrange(len(lines) + 1), one)
    return b"".join(lines)


def heading(content, random):
    """The beginning of another file."""
    other = random.choice(HEADINGS)
    return other + content[random.choice((0, len(other))) :]


KINDS = (bit, noise, cut, lost, doubled, cleared, exchanged, number, line, heading)


def damaged(content, random):
    """A content with one kind of damage."""
    return random.choice(KINDS)(content, random)


def _piece(content, random):
    at = random.randrange(len(content))
    return at, min(len(content), at + random.choice(SIZES))


# --- HDF5


def damage_hdf5(path, random, *, elsewhere, kinds):
    """Change a file by the library itself, so that all its checksums are right; ``elsewhere`` is another HDF5 file.

    kinds: OF_DATASETS of any file, OF_RUNS of saved runs.
    """
    with h5py.File(path, "r+") as file:
        names = []
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        name = random.choice(names)
        random.choice(kinds)(file, name, elsewhere)


def _again(file, name, **options):
    """A dataset in the place of another, with its names, if it has any."""
    attributes = dict(file[name].attrs)
    del file[name]
    file.create_dataset(name, **options).attrs.update(attributes)


def _other_shape(file, name, elsewhere):
    _again(file, name, data=np.ones((*file[name].shape, 2)))


def _longer(file, name, elsewhere):
    _again(file, name, data=np.append(file[name][()].ravel(), 1.0))


def _huge(file, name, elsewhere):
    _again(file, name, shape=(10**12, *file[name].shape[1:]), dtype=float, chunks=True, fletcher32=True)


def _huge_at_once(file, name, elsewhere):
    _again(file, name, shape=(10**12,), dtype=float, chunks=(10**8,), fletcher32=True)


def _other_kind(file, name, elsewhere):
    _again(file, name, data=file[name][()].astype(np.int32))


def _complex(file, name, elsewhere):
    _again(file, name, data=file[name][()] * 1j)


def _text(file, name, elsewhere):
    _again(file, name, data="1.0")


def _compressed(file, name, elsewhere):
    _again(
        file,
        name,
        data=np.atleast_1d(np.resize(file[name][()], max(file[name].size, 1))),
        chunks=True,
        compression="gzip",
    )


def _outside(file, name, elsewhere):
    size = file[name].size * 8
    _again(file, name, shape=file[name].shape, dtype=float, external=[(str(elsewhere), 0, max(size, 8))])


def _virtual(file, name, elsewhere):
    shape, attributes = file[name].shape, dict(file[name].attrs)
    layout = h5py.VirtualLayout(shape=shape, dtype=float)
    layout[...] = h5py.VirtualSource(str(elsewhere), name, shape=shape)
    del file[name]
    file.create_virtual_dataset(name, layout).attrs.update(attributes)


def _link(file, name, elsewhere):
    del file[name]
    file[name] = h5py.ExternalLink(str(elsewhere), name)


def _soft_link(file, name, elsewhere):
    file.move(name, "elsewhere")
    file[name] = h5py.SoftLink("/elsewhere")


def _second_name(file, name, elsewhere):
    file["second"] = file[name]


def _missing(file, name, elsewhere):
    del file[name]


def _group(file, name, elsewhere):
    del file[name]
    file.create_group(name)


def _nan(file, name, elsewhere):
    own = name if file[name].size and not name.startswith(("observations", "anchors", "outputs")) else "states"
    file[own][...] = np.nan


def _backwards(file, name, elsewhere):
    file["times"][...] = file["times"][()][::-1]


def _named_twice(file, name, elsewhere):
    group = file["ledger/energy"]
    group.attrs["names"] = np.repeat(group.attrs["names"], 2)


def _text_on_the_heap(file, name, elsewhere):
    file.attrs["layout"] = [text.decode() for text in file.attrs["layout"]]


def _other_format(file, name, elsewhere):
    file.attrs["format"] = np.bytes_("flexph solution 99")


OF_CONTENTS = (_huge_at_once, _outside, _virtual, _link, _soft_link, _second_name)
"""What no HDF5 file that is read may have."""
OF_DATASETS = (
    _other_shape, _longer, _huge, _huge_at_once, _other_kind, _complex, _text, _compressed, _outside, _virtual, _link,
    _soft_link, _second_name, _missing, _group,
)  # fmt: skip
OF_RUNS = (*OF_DATASETS, _nan, _backwards, _named_twice, _text_on_the_heap, _other_format)
