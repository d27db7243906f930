"""Points by name, and connections between two points: rigid rods, springs and dashpots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from flexph.laws.resistive_relations import Relation
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array, Numbers
from flexph.numerics.memo import PickledByCall
from flexph.numerics.rotations import spins
from flexph.systems.particle_terms import LENGTH, SQUARE

End = str | Sequence[float] | Array
"""Type of an end of a connection: the name of a point, or a fixed position (dim,) [m]."""


@checked
@dataclass(frozen=True, eq=False)
class Rod:
    """A rigid massless rod of length L [m]: ``0 = ½(|d|²/L − L)``, d from the first end to the second.

    Its multiplier is the axial force [N], positive in tension.

    Parameters
    ----------
    first : str or array_like
        Name of a particle, or a fixed point [m].
    second : str or array_like
        The other end.
    length : float
        L [m].
    name : str, optional
        Name of its multiplier.
    """

    first: End
    second: End
    length: float
    name: str | None = None


@dataclass(frozen=True)
class SpringLaw:
    """Built-in energy of a spring: its number ``kind`` in :mod:`flexph.systems.particle_terms`, and its parameters."""

    kind: int
    parameters: tuple[float, ...]


@checked
@dataclass(frozen=True, eq=False)
class Spring(PickledByCall):
    """A spring with the energy V(ℓ) [J] of its length ℓ [m] and the tensile force V'(ℓ) [N].

    :meth:`linear` makes a linear spring, :meth:`of_square` one whose energy is a function of the squared length.

    Parameters
    ----------
    first : str or array_like
        Name of a particle, or a fixed point [m].
    second : str or array_like
        The other end.
    energy : callable
        V as a function of ℓ [J].
    force : callable
        V' as a function of ℓ [N].
    name : str, optional
        Name of its energy in the ledger.
    """

    first: End
    second: End
    energy: Callable[[float], float]
    force: Callable[[float], float]
    name: str | None = None

    @property
    def law(self) -> SpringLaw | None:
        """Built-in law of the spring; None for functions given by the user."""
        return self.__dict__.get("_law")

    def _of_law(self, kind: int, *parameters: float) -> Spring:
        """Store the number of the built-in law and its parameters in this new spring; return the spring."""
        self.__dict__["_law"] = SpringLaw(kind, parameters)
        return self

    @classmethod
    @checked
    def linear(
        cls,
        first: End,
        second: End,
        *,
        stiffness: float,
        length: float,
        hardening: float = 0.0,
        name: str | None = None,
    ) -> Spring:
        """Make a spring with ``V = ½ k e² + ¼ k₃ e⁴``, e = ℓ − ℓ₀, k [N/m], ℓ₀ [m]; k₃ [N/m³] is zero unless given."""
        k, rest = check.positive("stiffness", stiffness, "N/m"), check.not_negative("length", length, "m")
        cubic = check.not_negative("hardening", hardening, "N/m^3")

        def energy(at: float) -> float:
            e = at - rest
            return (0.5 * k + 0.25 * cubic * e * e) * e * e

        spring = cls(first, second, energy, lambda at: (k + cubic * (at - rest) ** 2) * (at - rest), name)
        if rest == 0.0:  # its force is defined at zero length
            return spring._of_law(SQUARE, 0.5 * k, 0.5 * cubic, 0.0)
        return spring._of_law(LENGTH, k, cubic, rest)

    @classmethod
    @checked
    def of_square(cls, first: End, second: End, *, stiffness: float, length: float, name: str | None = None) -> Spring:
        """Make a spring with ``V = ½ k (ℓ² − ℓ₀²)²``, k [J/m⁴], ℓ₀ [m] ([dg] eq. (47))."""
        k, rest = check.positive("stiffness", stiffness, "J/m^4"), check.not_negative("length", length, "m")
        square = rest * rest
        spring = cls(
            first,
            second,
            lambda at: 0.5 * k * (at * at - square) ** 2,
            lambda at: 2.0 * k * at * (at * at - square),
            name,
        )
        return spring._of_law(SQUARE, 0.0, k, square)


@checked
@dataclass(frozen=True, eq=False)
class Dashpot:
    """A damper along the line between its ends with the tensile force ρ(ℓ̇) ([rigid] eq. (3)).

    Parameters
    ----------
    first : str or array_like
        Name of a particle, or a fixed point [m].
    second : str or array_like
        The other end.
    relation : Relation
        ρ, a relation of the rate of its length [m/s].
    name : str, optional
        Name of its account in the ledger.
    """

    first: End
    second: End
    relation: Relation
    name: str | None = None


@checked
@dataclass(frozen=True, eq=False)
class Drag:
    """A damper with the force ``η (1 + α ℓ²) w``, w the relative velocity of its ends, ℓ their distance ([dg] (48)).

    Parameters
    ----------
    first : str or array_like
        Name of a particle, or a fixed point [m].
    second : str or array_like
        The other end.
    coefficient : float
        η ≥ 0 [N s/m].
    growth : float
        α ≥ 0 [1/m²], by which the force grows with the squared distance ℓ² of the ends.
    name : str, optional
        Name of its account in the ledger.
    """

    first: End
    second: End
    coefficient: float
    growth: float = 0.0
    name: str | None = None

    def __post_init__(self) -> None:
        check.not_negative("coefficient", self.coefficient, "N s/m")
        check.not_negative("growth", self.growth, "1/m^2")


FIXED = -1
"""Number that marks a fixed position instead of a point."""


class Points(NamedTuple):
    """Points by name, in 2 or 3 dimensions, with their positions in the sample state.

    ``place`` (p·dim,) are the stacked positions of all points [m]; ``parts`` are the slices of the points in it.
    """

    parts: Mapping[str, slice]
    place: Array
    dim: int

    @classmethod
    def of(cls, masses: Any, positions: Numbers) -> Points:
        """Points in the order of the mapping ``masses``, with their positions (p, dim) [m].

        Raises ValueError for a wrong type or shape.
        """
        if not isinstance(masses, Mapping) or not masses:
            raise ValueError(f"masses must be a dict of names with masses in kg, got {masses!r}")
        given = check.numbers("positions", positions)
        dim = given.shape[1] if given.ndim == 2 else 0
        place = check.array("positions", given, (len(masses), dim or None))
        spins(dim)
        return cls({name: slice(dim * i, dim * (i + 1)) for i, name in enumerate(masses)}, place.ravel(), dim)

    def part(self, name: str) -> slice:
        """Slice of the coordinates of a point."""
        part: slice = check.lookup("point", name, self.parts)
        return part

    def between(self, what: str, first: End, second: End) -> tuple[tuple[int, int], Array]:
        """Indices of the points at both ends of a line, and the part (dim,) of its vector that comes from fixed ends.

        The vector points from the first end to the second; an end at a fixed position has the index FIXED. Raises
        ValueError for equal ends, and for a line of zero length at the positions of the sample; ``what`` names the line
        in its message.
        """
        (a, start), (b, end) = self._end(first), self._end(second)
        if a == b:
            raise ValueError(
                f"{what} must have different ends, at least one of them a particle, got {first!r} and {second!r}"
            )
        ends = [np.zeros(self.dim) if k == FIXED else self.place[self.dim * k : self.dim * (k + 1)] for k in (a, b)]
        if not np.any(ends[1] + end - ends[0] - start):
            raise ValueError(
                f"{what} must have a positive length in the given positions: {first!r} and {second!r} coincide"
            )
        return (a, b), end - start

    def _end(self, end: End) -> tuple[int, Array]:
        if isinstance(end, str):
            return self.part(end).start // self.dim, np.zeros(self.dim)
        return FIXED, check.array("a fixed end", end, (self.dim,))
