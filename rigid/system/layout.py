"""Layout of the states x = (ζ, ϖ, λ, μ) of a multibody system, with names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flexph.numerics.arrays import Array

from .terms import PositionConstraint, VelocityConstraint

WHOLE = ("positions", "velocities", "lambda", "mu")
"""Names of the parts of every system."""


class Split(NamedTuple):
    """Positions ζ (…, n_pot), velocities ϖ (…, n_kin), multipliers λ (…, k) and μ (…, l) of states."""

    positions: Array
    velocities: Array
    lam: Array
    mu: Array


@dataclass(frozen=True, eq=False)
class Layout:
    """Slices of ζ, ϖ, λ and μ in x (size,), and slices of all named parts."""

    positions: slice
    velocities: slice
    lam: slice
    mu: slice
    parts: Mapping[str, slice]

    @property
    def size(self) -> int:
        """Number of states."""
        return int(self.mu.stop)

    def split(self, x: Array) -> Split:
        """Split one state (n,) or many (…, n) into ζ, ϖ, λ and μ."""
        return Split(*(x[..., part] for part in (self.positions, self.velocities, self.lam, self.mu)))


def lay_out(
    widths: Sequence[int], parts: Mapping[str, slice], velocity_parts: Mapping[str, slice], rows: Mapping[str, int]
) -> Layout:
    """Layout of states (ζ, ϖ, λ, μ) with the lengths ``widths``.

    Parts are ``positions``, ``velocities``, ``lambda`` and ``mu``, then the named parts of the positions, those of the
    velocities (``velocities of …`` if a part of the positions has the same name), and ``multipliers of …`` of
    constraints by name, with the numbers ``rows`` of rows in the order of (c'Z, A).
    """
    ends = [sum(widths[: i + 1]) for i in range(4)]
    whole = [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]
    names = dict(zip(WHOLE, whole, strict=True)) | dict(parts)
    for name, part in velocity_parts.items():
        names[f"velocities of {name}" if name in parts else name] = _moved(part, ends[0])
    at = ends[1]
    for name, count in rows.items():
        names[f"multipliers of {name}"] = slice(at, at + count)
        at += count
    return Layout(whole[0], whole[1], whole[2], whole[3], names)


def _moved(part: slice, by: int) -> slice:
    return slice((part.start or 0) + by, part.stop + by)


def row_labels(constraint: PositionConstraint | VelocityConstraint, sample: Array) -> list[str]:
    """Names of the rows of a constraint; their number comes from an evaluation at ``sample``."""
    if isinstance(constraint, PositionConstraint):
        count = len(constraint.map.value(sample))
    else:
        matrix = constraint.matrix
        count = len(matrix(sample) if callable(matrix) else matrix)
    return [repr(constraint.name)] if count == 1 else [f"{constraint.name!r}[{i}]" for i in range(count)]


def name_of(parts: Mapping[str, slice], index: int, kind: str) -> str:
    """Name of an entry from the smallest part that contains it; ``kind`` and its number if there is none."""
    narrowest = None
    for name, part in parts.items():
        start, width = part.start or 0, part.stop - (part.start or 0)
        if start <= index < part.stop and (narrowest is None or width < narrowest[1]):
            narrowest = (name if width == 1 else f"{name}[{index - start}]", width)
    return f"{kind} {index}" if narrowest is None else narrowest[0]
