"""Members of node and element sets of Abaqus input files."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...numerics.arrays import Array
from .keywords import Block

Member = str | range | Array
"""A member of a set: a number, the name of another set, or numbers, some of them not written out."""


def generated(block: Block) -> list[Member]:
    """Ranges of lines 'first, last, step': they may be longer than memory."""
    ranges: list[Member] = []
    for place, row in zip(block.places, block.data, strict=True):
        words = [word or "1" for word in row]  # a step that is left out is 1
        if not all(x.isdecimal() for x in words) or len(words) not in (2, 3) or int(words[-1]) < 1:
            raise ValueError(f"{place}: {', '.join(row)!r} must be first, last and step of numbers to generate")
        first, last, *step = (int(x) for x in words)
        ranges.append(range(first, last + 1, step[0] if step else 1))
    return ranges


def resolved(name: str, sets: Mapping[str, list[Member]], of: tuple[str, Array]) -> Array:
    """Numbers of a set, whose members may be names of sets; of ranges those of the nodes or elements there are."""
    if name.isdecimal():
        return np.array([int(name)])
    kind, existing = of
    known = {key.upper(): key for key in sets}
    pending, seen, numbers = [name], set(), [np.zeros(0, dtype=int)]
    while pending:
        word = pending.pop()
        key = known.get(word.upper())
        if key is None:
            raise ValueError(f"{kind} set {word!r} must be defined, there are {', '.join(map(repr, sets)) or 'none'}")
        if key in seen:
            continue
        seen.add(key)
        words = [member for member in sets[key] if isinstance(member, str)]
        numbers.append(np.array([int(x) for x in words if x.isdecimal()], dtype=int))
        numbers += [member for member in sets[key] if isinstance(member, np.ndarray)]
        numbers += [existing[_within(existing, member)] for member in sets[key] if isinstance(member, range)]
        pending += [x for x in words if not x.isdecimal()]
    return np.unique(np.concatenate(numbers))


def _within(numbers: Array, of: range) -> Array:
    """Which numbers a range holds."""
    return (numbers >= of.start) & (numbers < of.stop) & ((numbers - of.start) % of.step == 0)
