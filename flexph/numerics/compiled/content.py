"""What a function is compiled from: its code and the values of all that it refers to, the same in all processes."""

from __future__ import annotations

import hashlib
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

FOREIGN = ("numpy", "scipy", "numba", "math", "cmath")
"""Packages whose functions numba knows itself."""


def names_in(code: CodeType) -> set[str]:
    """Names of globals and attributes in a code and in what is defined inside."""
    inner = [names_in(c) for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*inner)


def content_of(value: Any, seen: dict[int, Any], names: frozenset[str] = frozenset()) -> Any:
    """Nested tuples, equal for values that numba compiles to the same; of modules the ``names`` that are used."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return "array", value.shape, value.strides, value.dtype.str, value.tobytes()
    if isinstance(value, tuple):
        return (type(value).__name__, *(content_of(v, seen) for v in value))
    if value is None or isinstance(value, int | float | complex | str | bytes | np.generic):
        return type(value).__name__, repr(value)
    if isinstance(value, CodeType):
        consts = tuple(content_of(c, seen) for c in value.co_consts)
        return value.co_code, consts, value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars
    if isinstance(value, ModuleType):
        return _module_content(value, seen, names)
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        return "named tuple", value.__name__, value._fields
    if not isinstance(value, FunctionType):
        return _Same(value)
    if id(value) not in seen:
        seen[id(value)] = ("function", len(seen))  # where functions call themselves
        used = frozenset(names_in(value.__code__))
        known = {n: value.__globals__[n] for n in sorted(used) if n in value.__globals__}
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        seen[id(value)] = (
            content_of(value.__code__, seen),
            content_of(value.__defaults__, seen),
            *(content_of(v, seen, used) for v in cells),
            *((n, content_of(v, seen, used)) for n, v in known.items()),
        )
    return seen[id(value)]


def _module_content(module: ModuleType, seen: dict[int, Any], names: frozenset[str]) -> Any:
    """What is used of a module, and of modules in it; packages whose versions tell it are taken by name."""
    if module.__name__.split(".")[0] in FOREIGN or id(module) in seen:
        return module.__name__
    seen[id(module)] = module.__name__  # modules may hold each other
    used = ((n, getattr(module, n)) for n in sorted(names) if hasattr(module, n))
    content = (module.__name__, *((n, content_of(value, seen, names)) for n, value in used))
    del seen[id(module)]
    return content


class _Same:
    """An object that is equal to itself only; it is kept, so that no other gets its identity."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def digest_of(content: Any) -> str | None:
    """A short text for the content, the same in all processes; None where it is not known by value."""
    return hashlib.sha256(repr(content).encode()).hexdigest()[:16] if _by_value(content) else None


def _by_value(content: Any) -> bool:
    return all(map(_by_value, content)) if isinstance(content, tuple) else not isinstance(content, _Same)
