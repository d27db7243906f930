"""Lines between two points as constraints, energies and dampers of a multibody system."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.systems.discrete_gradients import Invariants

from ..system.matrix_functions import Differentiable
from ..system.terms import Damper, ExternalPort, PositionConstraint, PositionMap
from .connections import Dashpot, End, Rod, Spring

SHORT = 1e-6
"""Length over that of the sample at which a spring without force at no length shows its limit V'(ℓ)/ℓ."""


class Lines:
    """Differences d = D r + d₀ between two ends."""

    def __init__(self, parts: Mapping[str, slice], place: Array, dim: int) -> None:
        self.parts, self.place, self.dim = parts, place, dim

    def between(self, kind: str, first: End, second: End) -> tuple[Array, Array]:
        """D (dim, n) and d₀ (dim,)."""
        (A, a), (B, b) = self._end(first), self._end(second)
        D, d = B - A, b - a
        if not D.any():
            raise ValueError(f"{kind} must have two ends of which one moves, got {first!r} and {second!r}")
        if not np.any(D @ self.place + d):
            raise ValueError(
                f"{kind} must have a length in the positions given: {first!r} and {second!r} are one place"
            )
        return D, d

    def _end(self, end: End) -> tuple[Array, Array]:
        D = np.zeros((self.dim, self.place.size))
        if isinstance(end, str):
            D[:, check.lookup("point", end, self.parts)] = np.eye(self.dim)
            return D, np.zeros(self.dim)
        return D, check.array("a fixed end", end, (self.dim,))

    def rod(self, rod: Rod) -> PositionConstraint:
        """½(|d|²/L − L) = 0."""
        name = _named("rod", rod)
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
        """V of π = |d|²: ∂V/∂π = V'(ℓ)/(2ℓ)."""
        name = _named("spring", spring)
        D, d0 = self.between(name, spring.first, spring.second)
        short = SHORT * float(np.linalg.norm(D @ self.place + d0))

        def values(r: Array) -> Array:
            d = D @ r + d0
            return np.array([d @ d])

        def pull(pi: Array) -> Array:
            length = float(np.sqrt(pi[0]))
            if length == 0.0 and spring.force(0.0) != 0.0:
                raise ValueError(f"{name} has no length, so that its force has no direction: its ends are at one place")
            length = length or short  # one without force there has a limit
            return np.array([0.5 * float(spring.force(length)) / length])

        return Invariants(
            values,
            Differentiable(lambda r: (2.0 * (D @ r + d0) @ D)[None], _constant(2.0 * D.T @ D)),
            lambda pi: float(spring.energy(float(np.sqrt(pi[0])))),
            pull,
        )

    def dashpot(self, dashpot: Dashpot) -> Damper:
        """ℓ̇ = d·Dv/ℓ."""
        name = _named("dashpot", dashpot)
        D, d0 = self.between(name, dashpot.first, dashpot.second)

        def directions(r: Array) -> Array:
            d = D @ r + d0
            if not d.any():
                raise ValueError(f"{name} has no length, so that its force has no direction: its ends are at one place")
            return (d / np.linalg.norm(d) @ D)[:, None]

        return Damper(name, directions, dashpot.relation)

    def port(self, part: slice) -> ExternalPort:
        """A force on a point."""
        chosen = np.zeros((self.dim, self.place.size))
        chosen[:, part] = np.eye(self.dim)
        return ExternalPort(chosen.T, PositionMap(lambda r: r[part], lambda r: chosen))


def _constant(second: Array) -> Callable[[Array], Array]:
    """The constant second derivative (n, n) of one quadratic function, as that of its gradient (n, 1, n)."""
    return lambda r: second[:, None]


def _named(kind: str, line: Rod | Spring | Dashpot) -> str:
    if line.name is not None:
        return line.name
    ends = [end if isinstance(end, str) else "fixed" for end in (line.first, line.second)]
    return f"{kind} {ends[0]}-{ends[1]}"
