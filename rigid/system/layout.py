"""The states x = (ζ, ϖ, λ, μ) of a multibody system by place and by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from flexph.numerics.rotations import Array

from .terms import PositionConstraint, VelocityConstraint

if TYPE_CHECKING:
    from .system import MultibodySystem

WHOLE = ("positions", "velocities", "lambda", "mu")
"""Parts that every system has."""


class Split(NamedTuple):
    """Positions ζ (…, n_pot), velocities ϖ (…, n_kin), multipliers λ (…, k) and μ (…, l) of states."""

    positions: Array
    velocities: Array
    lam: Array
    mu: Array


@dataclass(frozen=True)
class Layout:
    """Where ζ, ϖ, λ and μ stand in x (size,), and the names of these and of finer parts."""

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
        """ζ, ϖ, λ and μ of one state (n,) or of many (…, n)."""
        return Split(*(x[..., part] for part in (self.positions, self.velocities, self.lam, self.mu)))


def layout_of(system: MultibodySystem) -> Layout:
    """The layout of a system.

    Parts are ``positions``, ``velocities``, ``lambda`` and ``mu``, then those of the positions by their names, of the
    velocities by theirs (``velocities of …`` where a part of the positions has the same), and ``multipliers of …`` of
    constraints by name.
    """
    widths = [system.positions, system.velocities, len(system.c(system.sample)), len(system.A(system.sample))]
    ends = [sum(widths[: i + 1]) for i in range(4)]
    whole = [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]
    parts = dict(zip(WHOLE, whole, strict=True)) | dict(system.parts)
    for name, part in system.velocity_parts.items():
        fresh = f"velocities of {name}" if name in system.parts else name
        parts[fresh] = _moved(part, ends[0])
    at = ends[1]
    for constraint in all_constraints(system):
        parts[f"multipliers of {constraint.name}"] = slice(at, at + len(rows_of(system, constraint)))
        at += len(rows_of(system, constraint))
    return Layout(whole[0], whole[1], whole[2], whole[3], parts)


def _moved(part: slice, by: int) -> slice:
    return slice((part.start or 0) + by, part.stop + by)


def all_constraints(system: MultibodySystem) -> list[PositionConstraint | VelocityConstraint]:
    """Constraints in the order of (c'Z, A)."""
    return [*system.constraints, *system.velocity_constraints]


def rows_of(system: MultibodySystem, constraint: PositionConstraint | VelocityConstraint) -> list[str]:
    """Names of the rows of a constraint."""
    if isinstance(constraint, PositionConstraint):
        count = len(constraint.map.value(system.sample))
    else:
        matrix = constraint.matrix
        count = len(matrix(system.sample) if callable(matrix) else matrix)
    return [repr(constraint.name)] if count == 1 else [f"{constraint.name!r}[{i}]" for i in range(count)]


def row_names(system: MultibodySystem) -> tuple[str, ...]:
    """Names of the rows of (c'Z, A)."""
    return tuple(r for c in all_constraints(system) for r in rows_of(system, c))


def name_of(parts: Mapping[str, slice], index: int, kind: str) -> str:
    """What an entry is called: by its smallest part, or by its number."""
    found = None
    for name, part in parts.items():
        start, width = part.start or 0, part.stop - (part.start or 0)
        if start <= index < part.stop and (found is None or width < found[1]):
            found = (name if width == 1 else f"{name}[{index - start}]", width)
    return f"{kind} {index}" if found is None else found[0]
