"""Names of cython that loops use, for loops that run uncompiled: an installation needs no Cython.

Declarations return their value, converted to a number of Python if the type is one of C.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

compiled = False
double, Py_ssize_t, size_t, bint = float, int, int, bool
p_void = object
nogil = nullcontext()
NUMBERS = (float, int, bool)


def pointer(kind: Any) -> Any:
    """Type of a pointer; Python holds the value itself."""
    return kind


def address(value: Any) -> Any:
    """Pointer to a value; Python holds the value itself."""
    return value


def sizeof(value: Any) -> int:
    """Bytes of a value; Python has no use for them."""
    return 1


def cast(kind: Any, value: Any) -> Any:
    """Convert a value to a type; values of other types than numbers remain."""
    return kind(value) if kind in NUMBERS else value


def declare(kind: Any, *value: Any) -> Any:
    """Declare a variable by its type and its value; None without a value."""
    return cast(kind, *value) if value else None
