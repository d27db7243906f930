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
    """Type for a pointer to a type: the type itself, as Python holds references."""
    return kind


def address(value: Any) -> Any:
    """Pointer to a value: the value itself, as Python holds references."""
    return value


def sizeof(value: Any) -> int:
    """Size of a value in memory: always 1, as Python has no use for it."""
    return 1


def cast(kind: Any, value: Any) -> Any:
    """Value converted to a type of numbers; for other types the value itself."""
    return kind(value) if kind in NUMBERS else value


def declare(kind: Any, *value: Any) -> Any:
    """Value of a variable that is declared with a type and a value, or with a type only (None)."""
    return cast(kind, *value) if value else None
