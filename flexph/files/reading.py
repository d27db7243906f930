"""Reading of files that others wrote: what they declare is judged by their size; what stops a reader is one error."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

SPARE = 1_000_000
"""Rows or columns of a sparse matrix that need no byte in its file."""


@contextmanager
def reading(what: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """ValueError ``WHAT cannot be read from PATH: …`` for whatever the block raises: parsers raise what they meet.

    FileNotFoundError or another OSError, before the block, for a path without a regular file.
    """
    refuse_missing(what, path)
    try:
        yield
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{what} cannot be read from {os.fspath(path)!r}: {said}") from error


def refuse_missing(what: str, path: str | os.PathLike[str]) -> None:
    """Raise FileNotFoundError for a path where nothing is; OSError for folders, and pipes, which may never end."""
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(errno.ENOENT, f"{what} cannot be read, there is no such file", name)
    if os.path.isdir(name):
        raise IsADirectoryError(errno.EISDIR, f"{what} cannot be read, it must be a file and is a folder", name)
    if not os.path.isfile(name):
        raise OSError(errno.EINVAL, f"{what} cannot be read, it must be a regular file", name)


def file_bytes(path: Path) -> bytes:
    """What a file holds; OSError for a pipe or a device, which might never end."""
    refuse_missing(path.name, path)
    return path.read_bytes()


def refuse_cut(text: str) -> None:
    """Raise ValueError for a text that ends within a line: 2.5e10 may have become 2.5."""
    if not text.endswith("\n"):
        raise ValueError("it ends within a line: the last line, too, must end with a line break")


def refuse_huge(shape: tuple[int, ...], size: int) -> None:
    """Raise ValueError for a matrix that declares more rows or columns than ``size`` bytes can fill."""
    if min(shape) < 0 or max(shape) > SPARE + size:
        raise ValueError(f"it declares a matrix of {' × '.join(map(str, shape))}, which its {size} bytes cannot fill")


def sound(matrix: Any) -> Any:
    """A sparse matrix whose indices are in range and occur once, or a dense one; ValueError for another."""
    if not sparse.issparse(matrix):
        return matrix
    if matrix.format in ("csr", "csc", "bsr"):
        if np.any(np.diff(matrix.indptr) < 0):  # scipy does not look at these where the last of them is zero
            raise ValueError("its columns or rows must begin one after the other")
        matrix.check_format(full_check=True)
    csr = sparse.csr_array(matrix)
    if csr.nnz < matrix.nnz or not csr.has_canonical_format:
        twice = csr.copy()
        twice.sum_duplicates()
        if twice.nnz < matrix.nnz:
            raise ValueError("it must have every entry once, some occur again")
    return csr
