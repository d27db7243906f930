"""Search for values of given types in the result of a case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from ..bodies.body import Body
from ..mechanisms.model.model import Model

DEPTH = 4
"""Largest depth of the search."""
Sought = TypeVar("Sought")


def values_of(
    value: Any, kinds: tuple[type[Sought], ...], name: str = "", depth: int = DEPTH
) -> Iterator[tuple[str, Sought]]:
    """Yield the values of given types with their paths, from fields of dataclasses, mappings and lists."""
    if isinstance(value, kinds):
        yield name, value
        return
    entries: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        entries = value.items()
    elif isinstance(value, list | tuple):
        names = getattr(value, "_fields", range(1, len(value) + 1))  # field names of a named tuple
        entries = zip(names, value, strict=True)
    elif is_dataclass(value) and not isinstance(value, type | Model | Body):
        entries = ((f.name, getattr(value, f.name)) for f in fields(value))
    for key, entry in entries if depth else ():
        yield from values_of(entry, kinds, f"{name} {key}".strip(), depth - 1)
