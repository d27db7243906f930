"""Named slices of a vector, such as parts of a state or ports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from . import checks as check
from .arrays import Array


def width(span: slice) -> int:
    """Number of entries of a slice."""
    return int(span.stop - (span.start or 0))


def widths(spans: Mapping[str, slice]) -> dict[str, int]:
    """Numbers of entries of slices, by name."""
    return {name: width(span) for name, span in spans.items()}


def consecutive(sizes: Mapping[str, int], start: int = 0) -> dict[str, slice]:
    """Slices by name, one after the other from ``start`` on, with the given numbers of entries."""
    spans = {}
    for name, size in sizes.items():
        spans[name], start = slice(start, start + size), start + size
    return spans


def consecutive_of(spans: Mapping[str, slice], names: Iterable[str], start: int = 0) -> dict[str, slice]:
    """Slices of the given names, one after the other from ``start`` on, with the sizes that they have in ``spans``."""
    return consecutive({name: width(spans[name]) for name in names}, start)


def moved(spans: Mapping[str, slice], by: int) -> dict[str, slice]:
    """Copies of slices by name, all shifted by a number of entries."""
    return {name: slice((span.start or 0) + by, span.stop + by) for name, span in spans.items()}


def divided(spans: Mapping[str, slice], name: str, parts: Mapping[str, int]) -> dict[str, slice]:
    """Copy of slices by name in which consecutive parts take the place of the slice ``name``.

    ``parts`` are names and sizes in order. Raises ValueError for an unknown name, sizes that do not add up, or a name
    that is taken.
    """
    span = check.lookup("port", name, spans)
    for part, size in parts.items():
        check.name("a part", part)
        check.count(f"size of {part!r}", size, 1)
    if sum(parts.values()) != width(span):
        raise ValueError(f"parts must add up to the {width(span)} entries of {name!r}, got {dict(parts)}")
    taken = sorted(part for part in parts if part in spans and part != name)
    if taken:
        raise ValueError(f"parts of {name!r} must have new names, but there are ports {taken} already")
    whole: dict[str, slice] = {}
    for other, span_of_other in spans.items():
        whole |= consecutive(parts, span.start or 0) if other == name else {other: span_of_other}
    return whole


def indices(spans: Iterable[slice]) -> Array:
    """Indices of all entries of some slices, slice by slice."""
    return np.concatenate([np.zeros(0, dtype=int), *(np.arange(span.start or 0, span.stop) for span in spans)])
