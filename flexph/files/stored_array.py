"""Arrays of a saved run that are read from their file on access, for runs larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..numerics.arrays import Array

if TYPE_CHECKING:
    import h5py


class StoredArray(NDArrayOperatorsMixin):
    """Array in an open file: indexing reads the selected part, NumPy functions and operators read the whole array.

    Checksums are verified on reading; OSError if the file is damaged.
    """

    __slots__ = ("_dataset", "_file")

    def __init__(self, dataset: h5py.Dataset) -> None:
        self._dataset, self._file = dataset, dataset.file  # keeps the file open as long as its arrays exist

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array, without reading it."""
        shape: tuple[int, ...] = self._dataset.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""
        kind: np.dtype[Any] = self._dataset.dtype
        return kind

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of entries."""
        return int(self._dataset.size)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        try:
            with self._named():
                return self._dataset[index]
        except TypeError:  # indices that HDF5 does not support, for example ones that do not ascend
            return np.asarray(self)[index]

    def __reduce__(self) -> tuple[Any, ...]:
        return np.asarray, (np.asarray(self),)  # the file may be missing on the machine where a copy is used

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        with self._named():
            return np.asarray(self._dataset[()], dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        read = (np.asarray(given) if isinstance(given, StoredArray) else given for given in inputs)
        return getattr(ufunc, method)(*read, **options)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Context manager that adds the name of the file to errors of reading."""
        try:
            yield
        except OSError as error:
            raise OSError(f"{self._dataset.name} of {self._file.filename!r} cannot be read: {error}") from None

    def __repr__(self) -> str:
        return f"<StoredArray of {' x '.join(map(str, self.shape))} in {self._file.filename!r}>"


def in_file(dataset: h5py.Dataset) -> Any:
    """Array of a dataset: read at once if it has at most one axis, otherwise a StoredArray that is read on access."""
    return StoredArray(dataset) if dataset.ndim > 1 and dataset.size else dataset[()]
