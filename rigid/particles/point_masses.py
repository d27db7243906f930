"""Point masses in Cartesian coordinates: multibody systems ([rigid] eq. (6)), or particle systems ([dg] sec. 6.3).

Particle systems are :class:`flexph.PHDAE` whose steps run in compiled loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array, Numbers
from flexph.systems.nonlinear import PHDAE
from flexph.systems.particle_terms import DRAG, RELATIONS, ParticleTerms
from flexph.systems.particle_terms import Lines as LineArrays

from ..system.system import MultibodySystem
from ..system.terms import Potential, entries, named
from .connections import Dashpot, Drag, Points, Rod, Spring
from .lines import Lines, named_line


@checked
def point_masses(
    masses: Mapping[str, float],
    positions: Numbers,
    *,
    gravity: Numbers | None = None,
    rods: Sequence[Rod] = (),
    springs: Sequence[Spring] = (),
    dashpots: Sequence[Dashpot | Drag] = (),
) -> MultibodySystem:
    """System of point masses: ``ṙ = v``, ``M v̇ = −∇V − F_d − c'ᵀλ + B F``, ``0 = c(r)`` ([rigid] eq. (6)).

    Lengths enter by their squares, which are quadratic invariants: springs, rods and dashpots act along the line
    between the mean positions of their ends over a step, and conserved momenta are preserved to round-off. If all laws
    are built-in (from :meth:`Spring.linear`, :meth:`Spring.of_square`, ``viscous``, ``quadratic``, ``coulomb``,
    :class:`Drag`), steps run in compiled loops, except with a tolerance or events.

    Parameters
    ----------
    masses : mapping of str to float
        Masses [kg] by name; zero is allowed for points that rods or springs determine.
    positions : array_like
        Positions of the sample (p, dim) [m], dim 2 or 3, in the order of the masses; rods need not have their lengths
        there.
    gravity : array_like, optional
        Acceleration (dim,) [m/s²].
    rods, springs, dashpots : sequence, optional
        :class:`Rod`, :class:`Spring`, and :class:`Dashpot` or :class:`Drag` between points, or between a point and a
        fixed position.

    Returns
    -------
    MultibodySystem
        System with a part and a port for each point, by its name; inputs of the ports are forces [N].

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
    points = Points.of(masses, positions)
    dim, place, parts = points.dim, points.place, points.parts
    mass = [check.not_negative(f"mass of {name!r}", m, "kg") for name, m in masses.items()]
    line, given = Lines(points), (entries("springs", springs), entries("rods", rods), entries("dashpots", dashpots))
    acceleration = np.zeros(dim) if gravity is None else check.array("gravity", gravity, (dim,))
    known = are_known(given[0], given[2])
    return MultibodySystem(
        mass=np.diag(np.repeat(mass, dim)),
        sample=place,
        potential=[*_weight(np.outer(mass, acceleration).ravel()), *(line.spring(s) for s in given[0])],
        constraints=tuple(line.rod(r) for r in given[1]),
        dissipation=tuple(line.dashpot(d) for d in given[2]),
        ports={name: line.port(part) for name, part in parts.items()},
        parts=parts,
        velocity_parts=parts,
        terms=known_terms(points, np.array(mass), acceleration, given, inputs=list(parts), has_pair=True)
        if known
        else None,
    )


def _weight(force: Array) -> list[Potential]:
    return [Potential(lambda r: -float(force @ r), lambda r: -force)] if force.any() else []


@checked
def particle_system(
    masses: Mapping[str, float],
    positions: Numbers,
    *,
    velocities: Numbers | None = None,
    gravity: Numbers | None = None,
    rods: Sequence[Rod] = (),
    springs: Sequence[Spring] = (),
    dashpots: Sequence[Dashpot | Drag] = (),
    ports: Mapping[str, str] | None = None,
) -> PHDAE:
    """System of particles x = (q, v, λ): ``q̇ = v``, ``M v̇ = −∇V − R v − Cᵀλ + B u``, ``0 = C(q) v`` ([dg] eq. (43)).

    Rods, springs and dashpots have built-in laws: ``DiscreteGradient`` and ``Gauss(2)`` step in compiled loops,
    except with a tolerance, a completion or events. :func:`point_masses` takes springs and dashpots of any law; its
    discrete gradient pair preserves the lengths of rods to round-off.

    Parameters
    ----------
    masses : mapping of str to float
        Masses [kg] by name.
    positions : array_like
        Positions of the sample (p, dim) [m], dim 2 or 3, in the order of the masses.
    velocities : array_like, optional
        Velocities of the sample (p, dim) [m/s]; zero unless given.
    gravity : array_like, optional
        Acceleration (dim,) [m/s²].
    rods : sequence, optional
        :class:`Rod` between points, or between a point and a fixed position. λ are their forces [N].
    springs : sequence, optional
        Springs made by :meth:`Spring.linear` and :meth:`Spring.of_square`.
    dashpots : sequence, optional
        :class:`Drag`, and :class:`Dashpot` with a relation that is ``viscous``, ``quadratic`` or ``coulomb``.
    ports : mapping of str to str, optional
        Point on which each port acts, by name of the port; inputs are forces [N]. By default each point has a port
        of its name.

    Returns
    -------
    PHDAE
        With the parts q, v and lam, Gonzalez' gradient as its method, and invariants: squared lengths of springs, the
        potential of weights and twice the kinetic energy.

    Raises
    ------
    ValueError
        For masses and lengths that are not positive, unknown points, equal ends, and laws that are functions given by
        the user.

    Examples
    --------
    >>> import numpy as np
    >>> import rigid
    >>> from flexph import integrate
    >>> swing = rigid.particle_system(
    ...     {"bob": 2.0}, [(0.6, -0.8)], gravity=(0.0, -9.81), rods=[rigid.Rod((0.0, 0.0), "bob", 1.0)]
    ... )
    >>> run = integrate(swing, swing.sample, np.linspace(0.0, 1.0, 101))
    >>> bool(abs(np.hypot(*run["q"][-1]) - 1.0) < 1e-13 and run.energy_drift() < 1e-13)
    True
    """
    points = Points.of(masses, positions)
    mass = np.array([check.positive(f"mass of {name!r}", m, "kg") for name, m in masses.items()])
    dim, size = points.dim, points.place.size
    v = np.zeros(size) if velocities is None else check.array("velocities", velocities, (len(mass), dim)).ravel()
    acceleration = np.zeros(dim) if gravity is None else check.array("gravity", gravity, (dim,))
    acting = named("ports", {name: name for name in masses} if ports is None else ports)
    lines = entries("springs", springs), entries("rods", rods), entries("dashpots", dashpots)
    terms = known_terms(points, mass, acceleration, lines, inputs=list(acting.values()))
    return PHDAE(
        **terms.functions(),
        sample=np.concatenate([points.place, v, np.zeros(terms.size - 2 * size)]),
        ports={name: slice(dim * k, dim * (k + 1)) for k, name in enumerate(acting)},
        parts={"q": slice(0, size), "v": slice(size, 2 * size), "lam": slice(2 * size, terms.size)},
        terms=terms,
    )


KINDS = {name: kind for kind, name in RELATIONS.items()}
LAW = 5
"""Largest number of parameters of the law of a damper."""


def are_known(springs: Sequence[Spring], dashpots: Sequence[Dashpot | Drag]) -> bool:
    """True if the laws of all springs and dashpots are built-in, so that compiled loops can evaluate them."""
    relations = (d.relation.kind for d in dashpots if isinstance(d, Dashpot))
    return all(s.law is not None for s in springs) and all(kind in KINDS for kind in relations)


def known_terms(
    points: Points,
    mass: Array,
    acceleration: Array,
    lines: tuple[Sequence[Spring], Sequence[Rod], Sequence[Dashpot | Drag]],
    *,
    inputs: Sequence[str],
    has_pair: bool = False,
) -> ParticleTerms:
    """Arrays of the springs, rods, dashpots, masses and weights of points, for compiled loops.

    ``mass`` are the masses of the points, ``acceleration`` (dim,) the gravity, ``lines`` the springs, rods and
    dashpots, ``inputs`` the names of the points on which input forces act. ``has_pair`` is True if the system has the
    discrete gradient pair of :func:`point_masses`. Raises ValueError for laws that are functions given by the user.
    """
    springs, rods, dashpots = lines
    coordinates = range(points.place.size)
    return ParticleTerms(
        dim=points.dim,
        masses=mass,
        weight=np.outer(mass, acceleration).ravel(),
        springs=_lines(points, "spring", [(s, *_of_spring(s)) for s in springs], 3),
        rods=_lines(points, "rod", [(r, 0, _of_rod(r)) for r in rods], 1),
        dampers=_lines(points, "dashpot", [(d, *_of_damper(d)) for d in dashpots], LAW),
        inputs=np.array([i for point in inputs for i in coordinates[points.part(point)]], dtype=np.int64),
        has_pair=has_pair,
    )


def _lines(points: Points, kind: str, given: list[tuple[Any, int, tuple[float, ...]]], parameters: int) -> LineArrays:
    """Arrays of springs, rods or dampers: their names, indices of the points at their ends, offsets, and laws.

    The offset is the part of the vector between the ends that comes from fixed ends. ``given`` has for each of them the
    connection, the number of its law and the parameters of the law. The parameters are filled with zeros up to the
    number ``parameters``.
    """
    names = tuple(named_line(kind, connection) for connection, _, _ in given)
    ends = [points.between(name, c.first, c.second) for name, (c, _, _) in zip(names, given, strict=True)]
    laws = np.zeros((len(given), parameters))
    for row, (_, _, law) in zip(laws, given, strict=True):
        row[: len(law)] = law
    return LineArrays(
        names,
        np.array([pair for pair, _ in ends], dtype=np.int64).reshape(-1, 2),
        np.array([offset for _, offset in ends], dtype=float).reshape(-1, points.dim),
        np.array([number for _, number, _ in given], dtype=np.int64),
        laws,
    )


def _of_spring(spring: Spring) -> tuple[int, tuple[float, ...]]:
    if spring.law is None:
        raise ValueError(
            f"{named_line('spring', spring)} must be one of Spring.linear(...) or Spring.of_square(...), got functions "
            "of its length: use rigid.point_masses for these"
        )
    return spring.law.kind, spring.law.parameters


def _of_rod(rod: Rod) -> tuple[float]:
    return (check.positive(f"length of {named_line('rod', rod)}", rod.length, "m"),)


def _of_damper(damper: Dashpot | Drag) -> tuple[int, tuple[float, ...]]:
    if isinstance(damper, Drag):
        return DRAG, (damper.coefficient, damper.growth)
    if damper.relation.kind not in KINDS:
        raise ValueError(
            f"{named_line('dashpot', damper)} must have a relation that is viscous, quadratic or coulomb, got "
            f"{damper.relation}: use rigid.point_masses for it"
        )
    return KINDS[damper.relation.kind], damper.relation.parameters
