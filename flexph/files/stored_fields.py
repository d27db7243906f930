"""Reading of dataclasses from HDF5: declared shapes and types are checked before memory is allocated.

The file must be opened by :func:`flexph.files.hdf5.open_contained`, which refuses links to other files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import numpy as np
from scipy import sparse

from .storage import NAMES, Array, StoredMatrix, StoredTree, entries_of, escaped, kinds_of, may_be_none
from .trees import decoded, numbers

if TYPE_CHECKING:
    import h5py

DOUBLE, DOUBLE_OR_SINGLE = ("<f8",), ("<f8", "<f4")
EXPANSION = 64
"""Largest accepted ratio of the memory of all values to the size of the file; texts take more memory than indices."""

Leaf = Callable[["h5py.Dataset"], Array]
"""Function that reads a dataset: its values, or only its shape."""


def values_of(dataset: h5py.Dataset) -> Array:
    """All values of a dataset, in its shape."""
    values: Array = dataset[()]
    return values


def refuse_expansion(file: h5py.File) -> None:
    """Raise OSError for a file that declares more values than it has bytes."""
    import h5py  # slow to import

    sizes = [0]

    def add(_: str, member: h5py.HLObject) -> None:
        sizes[0] += member.size * member.dtype.itemsize if isinstance(member, h5py.Dataset) and member.shape else 0

    file.visititems(add)
    if sizes[0] > file.id.get_filesize():
        raise OSError(f"it declares {sizes[0]} bytes of values, more than its size allows")


class DeclaredZeros:
    """Function that returns zeros in the declared shape of a dataset, which take no memory, to check shapes first.

    ``declared`` sums the bytes that the values of all datasets would take. ``size`` is the size of the file [bytes].
    """

    def __init__(self, size: int) -> None:
        self.limit, self.declared = EXPANSION * size, 0

    def __call__(self, dataset: h5py.Dataset) -> Array:
        """Zeros in the shape of a dataset; raises OSError if the file declares more values than its size allows."""
        wide = max(map(len, get_texts(dataset, NAMES)), default=0) if NAMES in dataset.attrs else 0
        self.declared += dataset.size * (8 + 4 * wide)
        if self.declared > self.limit:
            raise OSError(f"it declares {self.declared} bytes of values, more than its size allows")
        return np.broadcast_to(0.0, dataset.shape)


def get_texts(group: h5py.Group | h5py.Dataset, name: str) -> list[str]:
    """Texts of the attribute ``name`` of a group or dataset; raises OSError if it is missing or not of fixed length."""
    import h5py

    if name not in group.attrs:
        raise OSError(f"{_place(group, name)} is missing")
    kind = group.attrs.get_id(name).get_type()
    if kind.get_class() != h5py.h5t.STRING or kind.is_variable_str():
        raise OSError(f"{_place(group, name)} must be texts of fixed length")
    stored = group.attrs[name]
    return [text.decode() for text in np.atleast_1d(stored)] if np.size(stored) else []


def read_fields(group: h5py.Group, kind: Any, given: Mapping[str, Any] | None = None, leaf: Leaf = values_of) -> Any:
    """Instance of the dataclass ``kind``, from the fields stored in a group and those in ``given``.

    ``leaf`` reads each dataset. Raises OSError, naming the field, if one is missing or of another type.
    """
    known = dict(given or {})
    stored = {name: kind for name, kind in kinds_of(kind).items() if name not in known}
    return kind(**known, **{name: read_value(group, name, of, leaf) for name, of in stored.items()})


def read_value(group: h5py.Group, name: str, kind: Any, leaf: Leaf = values_of) -> Any:
    """Value of the annotated type ``kind`` that is stored under a name in a group; ``leaf`` reads each dataset.

    Raises OSError as :func:`read_fields`.
    """
    import h5py

    origin = get_origin(kind)
    if kind is str or origin is Literal:
        return _one(group, name, get_texts(group, name))
    if isinstance(kind, type) and is_dataclass(kind):
        return read_fields(_member(group, name, h5py.Group), kind, leaf=leaf)
    if origin is Mapping or entries_of(kind) is not None:
        return _read_entries(_member(group, name, h5py.Group), kind, leaf)
    if kind is Any and isinstance(_member(group, name, h5py.HLObject), h5py.Group):
        return _matrix(read_fields(_member(group, name, h5py.Group), StoredMatrix, leaf=leaf), name)
    if kind is object:
        tree = read_fields(_member(group, name, h5py.Group), StoredTree, leaf=leaf)
        return None if isinstance(leaf, DeclaredZeros) else _nested(tree)
    stored = _dataset(group, name, DOUBLE_OR_SINGLE if kind is Any else DOUBLE)
    if kind in (float, int, bool) or origin is tuple:
        return _numbers(stored, kind)
    values = leaf(stored)
    return _texts(stored, values) if NAMES in stored.attrs and not isinstance(leaf, DeclaredZeros) else values


def _read_entries(group: h5py.Group, kind: Any, leaf: Leaf) -> Any:
    """Mapping, sequence, or optional value of the annotated type ``kind`` from its group; ``leaf`` reads datasets."""

    names, of = get_texts(group, NAMES), entries_of(kind)
    if len(set(names)) != len(names):
        raise OSError(f"{_place(group, NAMES)} names an entry twice")
    if may_be_none(kind) and len(names) > 1:
        raise OSError(f"{group.name} must have one entry, or none")
    entries = {key: read_value(group, escaped(key), get_args(kind)[-1] if of is None else of, leaf) for key in names}
    if may_be_none(kind):
        return next(iter(entries.values()), None)
    return entries if of is None else tuple(entries.values())


def _matrix(stored: StoredMatrix, name: str) -> Any:
    """Sparse matrix from its stored arrays; raises OSError if they are inconsistent."""
    rows, columns = (whole_number(count, 0) for count in stored.shape)
    entries, starts, at = stored.entries, stored.starts, stored.columns
    if entries.shape == (rows, columns) and not (starts.size or at.size):
        return sparse.csr_array(entries)
    fits = entries.ndim == 1 and at.shape == entries.shape and starts.shape == (rows + 1,)
    if not (fits and starts[0] == 0 and starts[-1] == entries.size and np.all(np.diff(starts) >= 0)):
        raise OSError(f"{name} has entries of shape {entries.shape}, which make no matrix of {rows} x {columns}")
    return sparse.csr_array((entries, indices(name, at, columns), starts.astype(int)), shape=(rows, columns))


def _nested(tree: StoredTree) -> Any:
    """Nested value from its stored text and arrays, as :func:`flexph.files.trees.decoded` returns it."""
    text = indices("text", tree.text, 256).astype(np.uint8).tobytes()
    arrays = [_array(kind, codes) for kind, codes in zip(tree.kinds, tree.arrays, strict=True)]
    return decoded(text, lambda k: arrays[k])


def _array(kind: str, codes: Array) -> Array:
    if kind == "<f8":
        return codes
    bytes_ = indices("arrays", codes, 256).astype(np.uint8).tobytes()
    return numbers(kind, bytes_)


def indices(name: str, values: Array, count: int) -> Array:
    """Numbers converted to integers from 0 to ``count`` − 1, in their shape.

    Raises OSError, with ``name``, for any other number.
    """
    if not np.all((values >= 0) & (values < count) & (values == np.floor(values))):
        raise OSError(f"{name} must contain integers from 0 to {count - 1}")
    return values.astype(int)


def whole_number(value: float, least: int) -> int:
    """Number as an integer; raises OSError if it is not a whole number or less than ``least``."""
    if not (value == np.floor(value) and least <= value <= np.iinfo(np.int32).max):
        raise OSError(f"{value} must be an integer of at least {least}")
    return int(value)


def _numbers(stored: h5py.Dataset, kind: Any) -> Any:
    """Number, or tuple of numbers, of the annotated type ``kind`` from its dataset.

    Raises OSError for another shape, and for values that are not finite or not of this type.
    """
    count = 1 if isinstance(kind, type) else len(get_args(kind))
    if stored.shape != (count,):
        raise OSError(f"{stored.name} has shape {stored.shape}, expected ({count},)")
    values = values_of(stored)
    if not np.all(np.isfinite(values)):
        raise OSError(f"{stored.name} must contain finite numbers")
    if kind is int or kind is bool:
        return kind(indices(stored.name, values, 2 if kind is bool else np.iinfo(np.int32).max)[0])
    return float(values[0]) if kind is float else tuple(values.tolist())


def _texts(stored: h5py.Dataset, values: Array) -> Array:
    """Array of texts, from the stored array of indices ``values`` and the texts in an attribute of the dataset."""
    texts = np.array(get_texts(stored, NAMES), dtype=str)
    return texts[indices(stored.name, values, texts.size)]


def _member(group: h5py.Group, name: str, kind: type[h5py.HLObject]) -> Any:
    """Member of a group; raises OSError if it is missing or of another kind."""
    if name not in group:
        raise OSError(f"{_place(group, name)} is missing")
    member: Any = group[name]
    if not isinstance(member, kind):
        raise OSError(f"{_place(group, name)} must be a {kind.__name__.lower()}")
    return member


def _dataset(group: h5py.Group, name: str, kinds: tuple[str, ...]) -> h5py.Dataset:
    """Dataset of doubles (or singles) stored without compression; raises OSError for any other."""
    import h5py

    dataset = _member(group, name, h5py.Dataset)
    if dataset.shape is None or dataset.dtype.str not in kinds:
        raise OSError(f"{dataset.name} must contain doubles")
    properties = dataset.id.get_create_plist()
    filters = {properties.get_filter(i)[0] for i in range(properties.get_nfilters())}
    if filters - {h5py.h5z.FILTER_FLETCHER32}:
        raise OSError(f"{dataset.name} is stored through filters, which are not read")
    stored = dataset.id.get_storage_size()
    if not dataset.dtype.itemsize * dataset.size <= stored <= group.file.id.get_filesize():
        raise OSError(f"{dataset.name} declares {dataset.size} numbers, and the file has {stored} bytes of them")
    return dataset


def _one(group: h5py.Group, name: str, texts: list[str]) -> str:
    if len(texts) != 1:
        raise OSError(f"{_place(group, name)} must be one text")
    return texts[0]


def _place(group: h5py.Group | h5py.Dataset, name: str) -> str:
    return f"{group.name.rstrip('/')}/{name}"
