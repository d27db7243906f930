"""Writing of dataclasses to HDF5 with checksums: one group for each dataclass, one member for each field.

Numbers and arrays are datasets, texts are attributes. Mappings and sequences are groups with the names of their entries
in the attribute ``names``; an optional value is a sequence of one entry or none. An array of texts is stored as indices
into the texts of the attribute ``names``. A field annotated as Any is an array or a sparse matrix
(:class:`StoredMatrix`), one annotated as object a nested value (:class:`StoredTree`). No code is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .trees import encoded

if TYPE_CHECKING:
    import h5py

Array = NDArray[Any]
NAMES = "names"


@dataclass(frozen=True, eq=False)
class StoredMatrix:
    """A sparse matrix in compressed rows (CSR): shape, index of the first entry of each row, columns and entries.

    For a matrix without zeros ``starts`` and ``columns`` are empty, and ``entries`` has the shape of the matrix.
    """

    shape: tuple[float, float]
    starts: Array
    columns: Array
    entries: Any


@dataclass(frozen=True, eq=False)
class StoredTree:
    """Nested value as stored: bytes of its JSON text, and type and numbers of each of its arrays.

    Arrays of doubles are stored as such, those of other types as their bytes.
    """

    text: Array
    kinds: Sequence[str]
    arrays: Sequence[Array]


def write_fields(group: h5py.Group, value: Any, without: Iterable[str] = ()) -> None:
    """Write the fields of a dataclass to a group, except those named in ``without``."""
    of: Any = type(value)
    for name, kind in kinds_of(of).items():
        if name not in without:
            write_value(group, name, getattr(value, name), kind)


@cache
def kinds_of(kind: Any) -> dict[str, Any]:
    """Annotated types of the fields of the dataclass ``kind``, by name."""
    types = get_type_hints(kind)
    return {field.name: types[field.name] for field in fields(kind)}


def entries_of(kind: Any) -> Any:
    """Annotated type of the entries of a sequence type, or of the value of an optional type; None for other types."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType) and NoneType in arguments:
        return next(one for one in arguments if one is not NoneType)
    if origin is Sequence or (origin is tuple and arguments[-1] is Ellipsis):
        return arguments[0]
    return None


def may_be_none(kind: Any) -> bool:
    """True for an optional type, such as ``float | None``."""
    return NoneType in get_args(kind)


def put_text(group: h5py.Group, name: str, value: str) -> None:
    """Write a text as an attribute of a group, of fixed length, as HDF5 stores variable lengths without checksums."""
    group.attrs[name] = np.array(value.encode(), dtype=bytes)


def put_texts(group: h5py.Group | h5py.Dataset, name: str, values: Iterable[str]) -> None:
    """Write texts as an attribute of a group or dataset, of fixed length, which the checksums of HDF5 cover."""
    group.attrs[name] = np.array([text.encode() for text in values], dtype=bytes)


def write_value(group: h5py.Group, name: str, value: Any, kind: Any) -> None:
    """Write a value under a name in a group, in the form that follows from its annotated type ``kind``."""
    origin, of = get_origin(kind), entries_of(kind)
    if kind is str or origin is Literal:
        put_text(group, name, value)
    elif is_dataclass(kind):
        write_fields(group.create_group(name), value)
    elif of is not None or origin is Mapping:
        whole = [] if value is None else [value] if may_be_none(kind) else value
        entries = value if origin is Mapping else {str(i): entry for i, entry in enumerate(whole)}
        part = group.create_group(name)
        put_texts(part, NAMES, entries)
        for key, entry in entries.items():
            write_value(part, escaped(key), entry, get_args(kind)[-1] if of is None else of)
    elif kind is object:
        write_fields(group.create_group(name), _tree(value))
    elif sparse.issparse(value):
        write_fields(group.create_group(name), _stored(value))
    else:
        _write_array(group, name, np.atleast_1d(value))


def _tree(value: Any) -> StoredTree:
    text, arrays = encoded(value)
    codes = [a.ravel() if a.dtype == np.float64 else np.frombuffer(a.tobytes(), np.uint8) for a in arrays]
    return StoredTree(np.frombuffer(text.encode(), np.uint8), [a.dtype.str for a in arrays], codes)


def _stored(matrix: Any) -> StoredMatrix:
    rows = sparse.csr_array(matrix, copy=True)
    rows.sum_duplicates()
    shape, none = (float(rows.shape[0]), float(rows.shape[1])), np.zeros(0)
    if rows.nnz == rows.shape[0] * rows.shape[1]:
        return StoredMatrix(shape, none, none, rows.toarray())
    return StoredMatrix(shape, rows.indptr, rows.indices, rows.data)


def _write_array(group: h5py.Group, name: str, values: Array) -> None:
    if values.dtype.kind == "U":
        texts, indices = np.unique(values, return_inverse=True)
        _write_array(group, name, indices)
        put_texts(group[name], NAMES, texts.tolist())
        return
    checked = {"chunks": True, "fletcher32": True} if values.size else {}
    kind = values.dtype if values.dtype == np.float32 else float
    group.create_dataset(name, data=np.asarray(values, dtype=kind), **checked)


def escaped(name: str) -> str:
    """Name for one HDF5 group or dataset, with slashes escaped."""
    escaped = name.replace("%", "%25").replace("/", "%2F")
    return "%2E" if escaped == "." else escaped
