"""Members of node and element sets of Abaqus input files."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...numerics.arrays import Array
from .keywords import Block

Member = str | range | Array
"""A member of a set: a number or the name of another set as text, a range of numbers, or an array of numbers."""


def generated(block: Block) -> list[Member]:
    """Ranges of numbers from lines 'first, last, step', not expanded because they may be very long."""
    ranges: list[Member] = []
    for place, row in zip(block.places, block.data, strict=True):
        words = [word or "1" for word in row]  # the default step is 1
        if not all(x.isdecimal() for x in words) or len(words) not in (2, 3) or int(words[-1]) < 1:
            raise ValueError(f"{place}: {', '.join(row)!r} must be first number, last number and step")
        first, last, *step = (int(x) for x in words)
        ranges.append(range(first, last + 1, step[0] if step else 1))
    return ranges


def resolved(name: str, sets: Mapping[str, list[Member]], of: tuple[str, Array]) -> Array:
    """Numbers of the members of a set, with sets in it resolved and ranges restricted to existing numbers.

    ``of``: "node" or "element", and the existing numbers.
    """
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
    """Mask of the numbers that lie in a range."""
    return (numbers >= of.start) & (numbers < of.stop) & ((numbers - of.start) % of.step == 0)
