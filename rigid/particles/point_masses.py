"""The multibody system of point masses in Cartesian coordinates ([rigid] eq. (6))."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array, Numbers
from flexph.numerics.rotations import spins

from ..system.system import MultibodySystem
from ..system.terms import Potential, entries
from .connections import Dashpot, Rod, Spring
from .lines import Lines


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
    line = Lines(parts, place.ravel(), dim)
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
