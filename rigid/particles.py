"""Point masses in Cartesian coordinates with rods, springs and dashpots between them ([rigid] sec. 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array, Numbers
from flexph.numerics.memo import Remade
from flexph.numerics.rotations import spins
from flexph.systems.discrete_gradients import Invariants
from flexph.systems.resistive_relations import Relation

from .system.system import MultibodySystem
from .system.terms import Damper, Differentiable, ExternalPort, PositionConstraint, PositionMap, Potential, entries

SHORT = 1e-6
"""Length over that of the sample at which a spring without force at no length shows its limit V'(ℓ)/ℓ."""
End = str | Sequence[float] | Array
"""A point by name, or a fixed place (dim,) [m]."""


@checked
@dataclass(frozen=True, eq=False)
class Rod:
    """A rigid massless rod of a length L [m]: ``0 = ½(|d|²/L − L)``, d from the first end to the second.

    Its multiplier is the force along it [N], positive where it pulls its ends together.

    Parameters
    ----------
    first : str or array_like
        Name of a particle, or a point that is fixed [m].
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


@checked
@dataclass(frozen=True, eq=False)
class Spring(Remade):
    """A spring with the energy V(ℓ) [J] of its length ℓ [m] and the force V'(ℓ) [N] that pulls its ends together.

    :meth:`linear` makes the common one.

    Parameters
    ----------
    first : str or array_like
        Name of a particle, or a point that is fixed [m].
    second : str or array_like
        The other end.
    energy : callable
        V of ℓ [J].
    force : callable
        V' of ℓ [N].
    name : str, optional
        Name of its part of the energy.
    """

    first: End
    second: End
    energy: Callable[[float], float]
    force: Callable[[float], float]
    name: str | None = None

    @classmethod
    @checked
    def linear(cls, first: End, second: End, *, stiffness: float, length: float, name: str | None = None) -> Spring:
        """``V = ½ k (ℓ − ℓ₀)²``, k [N/m], ℓ₀ [m]."""
        k, rest = check.positive("stiffness", stiffness, "N/m"), check.not_negative("length", length, "m")
        return cls(first, second, lambda at: 0.5 * k * (at - rest) ** 2, lambda at: k * (at - rest), name)


@checked
@dataclass(frozen=True, eq=False)
class Dashpot:
    """A damper along the line between its ends: the force ρ(ℓ̇) pulls them together ([rigid] eq. (3)).

    Parameters
    ----------
    first : str or array_like
        Name of a particle, or a point that is fixed [m].
    second : str or array_like
        The other end.
    relation : Relation
        ρ, of the rate of its length [m/s].
    name : str, optional
        Name of its account in the ledger.
    """

    first: End
    second: End
    relation: Relation
    name: str | None = None


@checked
def point_masses(
    masses: Mapping[str, float],
    positions: Numbers,
    *,
    gravity: Numbers | None = None,
    rods: Sequence[Rod] = (),
    springs: Sequence[Spring] = (),
    dashpots: Sequence[Dashpot] = (),
) -> MultibodySystem:
    """``ṙ = v``, ``M v̇ = −∇V − F_d − c'ᵀλ + B F``, ``0 = c(r)`` of point masses ([rigid] eq. (6)), F on each point.

    Lengths count by their squares, quadratic invariants: springs, rods and dashpots act along the line between the
    means of their ends over a step, and the momenta that they leave are kept to round-off.

    Parameters
    ----------
    masses : mapping of str to float
        Masses [kg] by name; a point without mass is allowed where rods or springs determine it.
    positions : array_like
        Those of the sample (p, dim) [m], dim 2 or 3, in the order of the masses: rods need not have their lengths
        there.
    gravity : array_like, optional
        Acceleration (dim,) [m/s²].
    rods, springs, dashpots : sequence, optional
        :class:`Rod`, :class:`Spring` and :class:`Dashpot` between points, or between a point and a fixed place.

    Returns
    -------
    MultibodySystem
        Each point is a part, and a port, of its name: a force [N] on it.

    Raises
    ------
    ValueError
        For a negative mass, unknown points, equal ends or lengths that are not positive.

    Examples
    --------
    >>> import rigid
    >>> swing = rigid.point_masses(
    ...     {"bob": 2.0}, [(0.6, -0.8)], gravity=(0.0, -9.81), rods=[rigid.Rod((0.0, 0.0), "bob", 1.0)]
    ... )
    >>> swing
    <MultibodySystem: 2 positions, 2 velocities; constraints rod fixed-bob; ports bob>
    >>> swing.accelerations([0.0, -1.0], [3.0, 0.0]).lam.round(6).tolist()  # N: m g + m v²/L
    [37.62]
    """
    if not isinstance(masses, Mapping) or not masses:
        raise ValueError(f"masses must be a dict of names with masses in kg, got {masses!r}")
    given = check.numbers("positions", positions)
    dim = given.shape[1] if given.ndim == 2 else 0
    place = check.array("positions", given, (len(masses), dim or None))
    spins(dim)
    mass = [check.not_negative(f"mass of {name!r}", m, "kg") for name, m in masses.items()]
    parts = {name: slice(dim * i, dim * (i + 1)) for i, name in enumerate(masses)}
    line = _Lines(parts, place.ravel(), dim)
    return MultibodySystem(
        mass=np.diag(np.repeat(mass, dim)),
        sample=place.ravel(),
        potential=[*_weight(gravity, np.array(mass), dim), *(line.spring(s) for s in _all("springs", springs, Spring))],
        constraints=tuple(line.rod(r) for r in _all("rods", rods, Rod)),
        dissipation=tuple(line.dashpot(d) for d in _all("dashpots", dashpots, Dashpot)),
        ports={name: line.port(part) for name, part in parts.items()},
        parts=parts,
        velocity_parts=parts,
    )


def _all(name: str, given: Any, kind: type[Any]) -> tuple[Any, ...]:
    """Connections of one kind."""
    lines = entries(name, given)
    for line in lines:
        if not isinstance(line, kind):
            raise ValueError(f"{name} must be of type {kind.__name__}, got {line!r}")
    return lines


def _weight(gravity: Numbers | None, mass: Array, dim: int) -> list[Potential]:
    if gravity is None:
        return []
    force = np.outer(mass, check.array("gravity", gravity, (dim,))).ravel()
    return [Potential(lambda r: -float(force @ r), lambda r: -force)]


class _Lines:
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
