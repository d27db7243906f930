"""Checked reading of files from other sources: sizes, NumPy archives, XML; errors are unified.

Entities of XML document types can expand to huge texts or read other files.
"""

from __future__ import annotations

import errno
import math
import os
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from scipy import sparse

SPARE = 1_000_000
"""Accepted number of rows or columns of a sparse matrix in excess of the bytes of its file."""


@contextmanager
def reading(what: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """Context manager that converts any exception to a ValueError ``WHAT cannot be read from PATH: …``.

    Raises FileNotFoundError or another OSError at the start if the path is not a regular file.
    """
    refuse_missing(what, path)
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{what} cannot be read from {os.fspath(path)!r}: {reason}") from error


def refuse_missing(what: str, path: str | os.PathLike[str]) -> None:
    """Raise FileNotFoundError for a missing file, and OSError for a folder or a pipe, which might never end."""
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(errno.ENOENT, f"{what} cannot be read, there is no such file", name)
    if os.path.isdir(name):
        raise IsADirectoryError(errno.EISDIR, f"{what} cannot be read, it must be a file and is a folder", name)
    if not os.path.isfile(name):
        raise OSError(errno.EINVAL, f"{what} cannot be read, it must be a regular file", name)


def file_bytes(path: Path) -> bytes:
    """Content of a file; raises OSError for a pipe or a device, which might never end."""
    refuse_missing(path.name, path)
    return path.read_bytes()


def refuse_cut(text: str) -> None:
    """Raise ValueError for a text without a final line break, which may be truncated: 2.5e10 to 2.5."""
    if not text.endswith("\n"):
        raise ValueError("it ends within a line: the last line, too, must end with a line break")


def refuse_huge(shape: tuple[int, ...], size: int) -> None:
    """Raise ValueError for a matrix shape with more rows or columns than a file of ``size`` bytes can contain."""
    if min(shape) < 0 or max(shape) > SPARE + size:
        raise ValueError(f"it declares a matrix of {' × '.join(map(str, shape))}, which its {size} bytes cannot fill")


def standard_matrix(matrix: Any) -> Any:
    """Sparse matrix converted to CSR, with equal values.

    A dense matrix is returned unchanged. Raises ValueError for indices out of range and for repeated entries.
    """
    if not sparse.issparse(matrix):
        return matrix
    if matrix.format in ("csr", "csc", "bsr"):
        if np.any(np.diff(matrix.indptr) < 0):  # scipy does not check these if the last one is zero
            raise ValueError("its columns or rows must begin one after the other")
        matrix.check_format(full_check=True)
    csr = sparse.csr_array(matrix)
    if csr.nnz < matrix.nnz or not csr.has_canonical_format:
        twice = csr.copy()
        twice.sum_duplicates()
        if twice.nnz < matrix.nnz:
            raise ValueError("it must have every entry once, some occur again")
    return csr


EXPANSION = 200
"""Largest accepted ratio of the expanded size of an archive or text to the size of its compressed file."""


def refuse_misfits(path: Path) -> int:
    """Expanded size of an archive [bytes]; raises ValueError if it is too large or a declared size is wrong.

    Also raises ValueError for arrays of Python objects, which can run code.
    """
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if size > EXPANSION * path.stat().st_size + SPARE:
            raise ValueError(f"it expands to {size} bytes, more than {EXPANSION} times its size")
        for member in archive.infolist():
            with archive.open(member) as file:
                version = np.lib.format.read_magic(file)
                heading = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
                shape, _, kind = heading[version](file)
                if kind.hasobject:
                    raise ValueError(f"{member.filename} must not contain Python objects, which can run code")
                if math.prod(shape) * kind.itemsize != member.file_size - file.tell():
                    raise ValueError(f"{member.filename} declares an array {shape}, and has {member.file_size} bytes")
    return size


DEEPEST = 1000
"""Largest nesting depth of elements; parsers of nested elements are recursive."""


def parsed(path: str | os.PathLike[str]) -> ET.Element:
    """Root element of an XML file.

    Raises ValueError for a document type declaration or deep nesting, ParseError if the file is not well-formed XML.
    """
    content = Path(path).read_bytes()
    refuse_entities(content)
    return ET.fromstring(content)


def refuse_entities(content: bytes) -> None:
    """Raise ValueError for XML with a document type declaration or deep nesting.

    The parser reports malformed XML.
    """
    depth = 0

    def refuse(*_: Any) -> None:
        raise ValueError("it has a document type, which is not read: remove <!DOCTYPE …>")

    def enter(*_: Any) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise ValueError(f"its elements are nested deeper than {DEEPEST} levels")

    def leave(*_: Any) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = enter, leave
    try:
        parser.Parse(content, True)
    except expat.ExpatError:
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:  # lenient parsers continue after an error and reach it
            refuse()
