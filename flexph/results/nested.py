"""Values of some types within what a case returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from ..bodies.body import Body
from ..mechanisms.model.model import Model

DEPTH = 4
"""How deep a value is searched."""
Sought = TypeVar("Sought")


def values_of(
    value: Any, kinds: tuple[type[Sought], ...], name: str = "", depth: int = DEPTH
) -> Iterator[tuple[str, Sought]]:
    """Values of some types in the fields of dataclasses, in mappings and lists, by the ways to them."""
    if isinstance(value, kinds):
        yield name, value
        return
    entries: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        entries = value.items()
    elif isinstance(value, list | tuple):
        names = getattr(value, "_fields", range(1, len(value) + 1))  # those of a named tuple
        entries = zip(names, value, strict=True)
    elif is_dataclass(value) and not isinstance(value, type | Model | Body):
        entries = ((f.name, getattr(value, f.name)) for f in fields(value))
    for key, entry in entries if depth else ():
        yield from values_of(entry, kinds, f"{name} {key}".strip(), depth - 1)
