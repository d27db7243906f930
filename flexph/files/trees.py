"""Nested values in HDF5 files: numbers, texts, None, arrays, and tuples, lists and dicts of these.

The dataset ``tree`` is a JSON text in which each array is replaced by the number of its dataset. All datasets have
checksums; no code is stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .hdf5 import open_contained, write_hdf5

if TYPE_CHECKING:
    import h5py

FORMAT = "flexph tree 1"
CHUNK = 1 << 17
"""Entries of an array in one chunk, which has one checksum."""


def write_tree(path: str | Path, tree: Any) -> None:
    """Write a nested value to a file, completely or not at all.

    Named tuples become plain ones.
    """
    text, arrays = encoded(tree)

    def write(file: h5py.File) -> None:
        file.attrs["format"] = FORMAT
        _put(file, "tree", np.frombuffer(text.encode(), dtype=np.uint8))
        for k, values in enumerate(arrays):
            _put(file, str(k), np.ravel(values))

    write_hdf5(path, write)


def read_tree(path: str | Path) -> Any:
    """Nested value from a file of :func:`write_tree`; raises OSError if it is damaged or of another format."""
    try:
        with open_contained(path) as file:
            if file.attrs.get("format") != FORMAT:
                raise OSError(f"format is {file.attrs.get('format')!r}, expected {FORMAT!r}")
            return decoded(file["tree"][()].tobytes(), lambda k: file[str(k)][()])
    except (LookupError, ValueError, TypeError, AttributeError, RuntimeError, MemoryError) as error:
        raise OSError(f"damaged: {error}") from error


def _put(file: h5py.File, name: str, values: Any) -> None:
    checked = {"chunks": (min(values.size, CHUNK),), "fletcher32": True} if values.size else {}
    file.create_dataset(name, data=values, **checked)


def encoded(tree: Any) -> tuple[str, list[Any]]:
    """JSON text of a nested value, and its arrays, to which the text refers by their numbers in the list.

    Raises ValueError for unsupported types.
    """
    arrays: list[Any] = []
    return json.dumps(_encoded(tree, arrays)), arrays


def decoded(text: str | bytes, array: Callable[[int], Any]) -> Any:
    """Nested value from its JSON text, which has the shapes of its arrays.

    ``array`` returns the entries of an array by its number, in any shape.
    """
    return _decoded(json.loads(text), array)


def deep_copy(tree: Any) -> Any:
    """Copy of a nested value that shares no mutable part with it; raises ValueError for unsupported types.

    Read-only arrays that own their memory are shared, so that repeated copies of a growing tree are fast.
    """
    if tree is None or isinstance(tree, float | int | str):
        return tree
    try:
        _, arrays = encoded(tree)
    except (TypeError, RecursionError) as error:  # for cycles, and for keys of dicts other than texts and numbers
        raise ValueError(f"stored values must be a tree, {error}") from None
    fixed = {id(array): array for array in arrays if array.base is None and not array.flags.writeable}
    return deepcopy(tree, fixed)


def to_bytes(tree: Any) -> bytes:
    """JSON text of a nested value that includes the bytes of its arrays in hexadecimal."""
    text, arrays = encoded(tree)
    return json.dumps([text, [[array.dtype.str, array.tobytes().hex()] for array in arrays]]).encode()


def from_bytes(content: bytes) -> Any:
    """Nested value from the text of :func:`to_bytes`; raises ValueError for any other content. No code is run."""
    try:
        text, arrays = json.loads(content)
        return decoded(text, lambda k: numbers(arrays[k][0], bytes.fromhex(arrays[k][1])))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise ValueError(f"damaged: {error}") from error


def numbers(kind: str, content: bytes) -> Any:
    """Array (k,) of numbers or bytes from its bytes and NumPy type ``kind``; raises ValueError for other types."""
    if re.fullmatch(r"[<>|=][biufcS]\d{1,9}", kind) is None:
        raise ValueError(f"arrays must be of numbers or bytes, got kind {kind!r}")
    return np.frombuffer(content, np.dtype(kind)).copy()


def _encoded(value: Any, arrays: list[Any]) -> Any:
    """Nested value in JSON types.

    Its arrays are appended to ``arrays`` and replaced by their indices there.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufcS":
        arrays.append(value)
        return {"array": len(arrays) - 1, "shape": list(value.shape)}
    if isinstance(value, dict):
        return {"dict": [[name, _encoded(entry, arrays)] for name, entry in value.items()]}
    if isinstance(value, tuple | list):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [_encoded(entry, arrays) for entry in value]}
    value = value.item() if isinstance(value, np.generic) else value
    if not (value is None or isinstance(value, str | int | float)):
        rule = "stored values must be numbers, texts, None, arrays, or tuples, lists and dicts of these"
        raise ValueError(f"{rule}, got {type(value).__name__}")
    return value


def _decoded(value: Any, array: Callable[[int], Any]) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return array(value["array"]).reshape(value["shape"])
    if "dict" in value:
        return {name: _decoded(entry, array) for name, entry in value["dict"]}
    if "tuple" in value:
        return tuple(_decoded(entry, array) for entry in value["tuple"])
    return [_decoded(entry, array) for entry in value["list"]]
