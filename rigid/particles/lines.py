"""Lines between two points as constraints, energies and dampers of a multibody system."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flexph.laws.resistive_relations import viscous
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.systems.discrete_gradients import Invariants

from ..system.matrix_functions import Differentiable
from ..system.terms import Damper, ExternalPort, PositionConstraint, PositionMap
from .connections import FIXED, Dashpot, Drag, End, Points, Rod, Spring

SHORT = 1e-6
"""Length, relative to that of the spring in the sample, at which V'(ℓ)/ℓ is evaluated in place of its limit at ℓ = 0.
The limit exists if V'(0) = 0."""


class Lines:
    """Converter of springs, rods, dashpots and forces on points to terms of a multibody system.

    The vector from the first end of a connection to the second is d = D r + d₀, with the positions r of all points.
    """

    def __init__(self, points: Points) -> None:
        self.points, self.place, self.dim = points, points.place, points.dim

    def between(self, kind: str, first: End, second: End) -> tuple[Array, Array]:
        """Matrix D (dim, n) and vector d₀ (dim,) of the vector d = D r + d₀ from the first end to the second.

        r (n,) are the positions of all points; ``kind`` names the line in errors.
        """
        ends, d = self.points.between(kind, first, second)
        D = np.zeros((self.dim, self.place.size))
        for k, sign in zip(ends, (-1.0, 1.0), strict=True):
            if k != FIXED:
                D[:, self.dim * k : self.dim * (k + 1)] = sign * np.eye(self.dim)
        return D, d

    def rod(self, rod: Rod) -> PositionConstraint:
        """Constraint ½(|d|²/L − L) = 0 of a rod."""
        name = named_line("rod", rod)
        D, d0 = self.between(name, rod.first, rod.second)
        length = check.positive(f"length of {name}", rod.length, "m")

        def value(r: Array) -> Array:
            d = D @ r + d0
            return np.array([0.5 * (d @ d / length - length)])

        slope = _constant(D.T @ D / length)
        return PositionConstraint(
            name, PositionMap(value, Differentiable(lambda r: ((D @ r + d0) @ D)[None] / length, slope))
        )

    def spring(self, spring: Spring) -> Invariants:
        """Energy V of a spring as a function of the invariant π = |d|²: ∂V/∂π = V'(ℓ)/(2ℓ)."""
        name = named_line("spring", spring)
        D, d0 = self.between(name, spring.first, spring.second)
        short = SHORT * float(np.linalg.norm(D @ self.place + d0))

        def values(r: Array) -> Array:
            d = D @ r + d0
            return np.array([d @ d])

        def pull(pi: Array) -> Array:
            length = float(np.sqrt(pi[0]))
            if length == 0.0 and spring.force(0.0) != 0.0:
                raise ValueError(f"{name} has no length, so that its force has no direction: its ends are at one place")
            length = length or short  # the limit at 0 exists if the force is zero there
            return np.array([0.5 * float(spring.force(length)) / length])

        return Invariants(
            values,
            Differentiable(lambda r: (2.0 * (D @ r + d0) @ D)[None], _constant(2.0 * D.T @ D)),
            lambda pi: float(spring.energy(float(np.sqrt(pi[0])))),
            pull,
        )

    def dashpot(self, dashpot: Dashpot | Drag) -> Damper:
        """Dissipative term of a dashpot with the rate ℓ̇ = d·Dv/ℓ, or of a drag with the relative velocity Dv."""
        name = named_line("dashpot", dashpot)
        D, d0 = self.between(name, dashpot.first, dashpot.second)
        if isinstance(dashpot, Drag):
            growth = dashpot.growth

            def across(r: Array) -> Array:
                d = D @ r + d0
                return np.asarray(np.sqrt(1.0 + growth * (d @ d)) * D.T)

            return Damper(name, across, viscous(dashpot.coefficient))

        def directions(r: Array) -> Array:
            d = D @ r + d0
            if not d.any():
                raise ValueError(f"{name} has no length, so that its force has no direction: its ends are at one place")
            return (d / np.linalg.norm(d) @ D)[:, None]

        return Damper(name, directions, dashpot.relation)

    def port(self, part: slice) -> ExternalPort:
        """Port for a force on the point whose coordinates are the slice ``part`` of the positions."""
        chosen = np.zeros((self.dim, self.place.size))
        chosen[:, part] = np.eye(self.dim)
        return ExternalPort(chosen.T, PositionMap(lambda r: r[part], lambda r: chosen))


def _constant(second: Array) -> Callable[[Array], Array]:
    """Function of r that returns a constant second derivative (n, n), as an array (n, 1, n)."""
    return lambda r: second[:, None]


def named_line(kind: str, line: Rod | Spring | Dashpot | Drag) -> str:
    """Name of a connection; without one, its kind and ends, as in ``"rod fixed-bob"``."""
    if line.name is not None:
        return line.name
    ends = [end if isinstance(end, str) else "fixed" for end in (line.first, line.second)]
    return f"{kind} {ends[0]}-{ends[1]}"
