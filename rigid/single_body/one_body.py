"""One rigid body as a multibody system in redundant coordinates, free or pivoted, with its ports and constraints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexph.laws.resistive_relations import Relation
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array, Numbers
from flexph.numerics.rotations import cross
from flexph.systems.discrete_gradients import Invariants

from ..bodies.bodies import body as checked_body
from ..rotations.angles import angle
from ..rotations.in_space import rotation_matrix
from ..rotations.orientation import Orientation
from ..system.matrix_functions import Gyroscopic
from ..system.system import MultibodySystem
from ..system.terms import Damper, ExternalPort, PositionConstraint, Potential, VelocityConstraint, named
from .axes import BodyAxes, Vector, combined, vector
from .ports import BodyPort, Force, KnifeEdge, OnLine, OnPlane, Pinned
from .rolling import Rolling

BodyConstraint = Pinned | OnLine | OnPlane | KnifeEdge | Rolling
GivenPort = BodyPort | ExternalPort | Vector
GivenDamper = tuple[GivenPort, Relation]


@dataclass(frozen=True, eq=False)
class BodyParts:
    """Ports, constraints, dampers and sample of a body, in the forms in which users give them to :func:`free_body`."""

    ports: Mapping[str, GivenPort] | None
    constraints: Mapping[str, BodyConstraint] | None
    dampers: Mapping[str, GivenDamper] | None
    sample: Vector | None


def body_system(body: BodyAxes, M: Array, weight: Potential | Invariants | None, added: BodyParts) -> MultibodySystem:
    """Multibody system of a body with the mass matrix M and the potential ``weight``.

    ``added`` are its ports, constraints and dampers, and the sample.
    """
    bound = named("constraints", added.constraints or {})
    constraints = [c for name, how in bound.items() for c in _constraints(name, how, body)]
    given = [how.caution(name, body) for name, how in bound.items() if isinstance(how, Rolling)]
    rolling = [caution for caution in given if caution is not None]
    start = np.concatenate([np.zeros(body.dim if body.free else 0), body.orientation.sample])
    return MultibodySystem(
        mass=M,
        sample=start if added.sample is None else added.sample,  # type: ignore[arg-type]
        kinematics=body.kinematics,
        gyroscopic=_gyroscopic(body),
        potential=weight,
        constraints=tuple(c for c in constraints if isinstance(c, PositionConstraint)),
        velocity_constraints=tuple(c for c in constraints if isinstance(c, VelocityConstraint)),
        dissipation=tuple(
            d for name, given in named("dampers", added.dampers or {}).items() for d in _dampers(name, given, body)
        ),
        ports=_ports(named("ports", added.ports or {}), body),
        parts=body.parts,
        velocity_parts=body.velocity_parts,
        coordinates=body.conditions,
        cautions=(lambda zeta: body.orientation.caution(body.turned(zeta)), *rolling),
    )


def _gyroscopic(body: BodyAxes) -> Gyroscopic | None:
    """Gyroscopic matrix G(Γ) (n_kin, n_kin) of the Newton-Euler equations in body axes; None if it is zero.

    Γ = Mϖ are the momenta; G is given in :func:`free_body` and :func:`pivoted_body`. It is zero for a pivoted planar
    body.
    """
    n, d = body.velocities, body.dim
    if d == 3 and not body.free:
        return Gyroscopic(-cross(3))
    if not body.free:
        return None
    stack = np.zeros((n, n, n))
    if d == 2:
        stack[:2, :2, 2] = cross(2)[0].T
        stack[:2, 2, :2] = -cross(2)[0].T
    else:
        stack[:3, :3, 3:] = stack[:3, 3:, :3] = stack[3:, 3:, 3:] = -cross(3)
    return Gyroscopic(stack)


def _ports(given: Mapping[str, GivenPort], body: BodyAxes) -> dict[str, ExternalPort]:
    ports: dict[str, ExternalPort] = {}
    for name, port in given.items():
        added = _port(name, port, body)
        twice = sorted(set(added) & set(ports))
        if twice:
            raise ValueError(f"ports must have different names, got {', '.join(map(repr, twice))} twice")
        ports.update(added)
    return ports


def _port(name: str, given: GivenPort, body: BodyAxes) -> dict[str, ExternalPort]:
    if isinstance(given, ExternalPort):
        return {name: given}
    return (given if isinstance(given, BodyPort) else Force(given)).ports(name, body)


def _dampers(name: str, given: Any, body: BodyAxes) -> list[Damper]:
    """Dampers from a pair ``given`` of a port description and a relation; a frame, with two ports, makes two dampers.

    Raises ValueError unless it is such a pair.
    """
    if not (isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Relation)):
        raise ValueError(f"damper {name!r} must be a port and a relation, as (Torque(), viscous(0.1)), got {given!r}")
    return [Damper(key, port.matrix, given[1]) for key, port in _port(name, given[0], body).items()]


def _constraints(name: str, how: Any, body: BodyAxes) -> tuple[PositionConstraint | VelocityConstraint, ...]:
    if not isinstance(how, BodyConstraint):
        raise ValueError(
            f"constraint {name!r} must be Pinned, OnLine, OnPlane, KnifeEdge or Rolling of rigid, got {how!r}"
        )
    return how.constraints(name, body)


@checked
def free_body(
    mass: float,
    *,
    inertia: Numbers,
    centre: Vector | None = None,
    about: Vector | None = None,
    orientation: Orientation | None = None,
    gravity: Vector | None = None,
    ports: Mapping[str, GivenPort] | None = None,
    constraints: Mapping[str, BodyConstraint] | None = None,
    dampers: Mapping[str, GivenDamper] | None = None,
    sample: Vector | None = None,
) -> MultibodySystem:
    """A free rigid body: ``ζ = (r_P, orientation)``, ``ϖ = (v_P, ω)`` in body axes with origin P.

    ``Z = blkdiag(R, Z_rot)`` and, with the centre of mass c and J_P the inertia about P, constant

        plane  M = [[m 1, m (−c_y, c_x)ᵀ], [·, J_P]],   −G = [[0, 0, p_y], [0, 0, −p_x], [−p_y, p_x, 0]]
        space  M = [[m 1, −m[c]×], [m[c]×, J_P]],       −G = [[0, [p]×], [[p]×, [L]×]],   Γ = (p, L) = Mϖ

    ([rigid] eq. (10), sec. 7.1; the Newton-Euler equations in rotating axes.)

    With mass 0 and inertia 0 or (0, 0, 0) the body is a massless link.

    Parameters
    ----------
    mass : float
        Mass [kg].
    inertia : array_like
        Inertia [kg m²], about the centre of mass if ``about`` is None; a number makes a planar body.
    centre, about : sequence of float, optional
        Points of the body axes [m], as in :func:`rigid.body`.
    orientation : Orientation, optional
        By default :func:`rigid.angle` in the plane and :func:`rigid.rotation_matrix` in space.
    gravity : sequence of float, optional
        Acceleration (dim,) [m/s²].
    ports : mapping, optional
        By name a point (dim,) of the body axes for a force in world axes, or :class:`rigid.Force`,
        :class:`rigid.Torque`, :class:`rigid.Gimbal`, :class:`rigid.Frame`, :class:`ExternalPort`.
    constraints : mapping, optional
        By name :class:`rigid.OnLine`, :class:`rigid.OnPlane`, :class:`rigid.Pinned`, :class:`rigid.KnifeEdge` or
        :class:`rigid.Rolling`.
    dampers : mapping, optional
        By name a port and a relation of :mod:`flexph`, such as
        ``(rigid.Torque(), flexph.laws.viscous(0.1))``, relative to the ground.
    sample : sequence of float, optional
        Positions ζ at which the conditions of a system are checked (:meth:`Orientation.pose`), by default at the origin
        with a generic rotation; give other positions if the constraints are singular there.

    Returns
    -------
    MultibodySystem
        With the parts ``position`` and ``orientation``, ``velocity`` and ``spin``.

    Raises
    ------
    ValueError
        For everything that :func:`rigid.body` refuses, an orientation of another dimension, ports and constraints that
        do not exist in this dimension, and violated conditions of :class:`MultibodySystem`.

    Examples
    --------
    >>> import rigid
    >>> disc = rigid.free_body(2.0, inertia=0.01, gravity=(0.0, -9.81), ports={"axle": (0.0, 0.0)})
    >>> disc
    <MultibodySystem: 3 positions, 3 velocities; constraints none; ports axle>
    >>> falling = disc.accelerations([0.0, 1.0, 0.0], [0.0, 0.0, 5.0], inputs={"axle": (4.0, 0.0)})
    >>> falling.velocities.round(6).tolist()  # m/s², rad/s²
    [2.0, -9.81, 0.0]
    """
    m, first, J = _inertia(mass, inertia, centre, about)
    body = BodyAxes(_orientation(orientation, len(first)))
    turning = body.lever(first)[:, body.dim :]
    M = np.block([[m * np.eye(body.dim), turning], [turning.T, J]])
    weight = None if gravity is None else _weight(body, m, first, gravity)
    return body_system(body, M, weight, BodyParts(ports, constraints, dampers, sample))


@checked
def pivoted_body(
    inertia: Numbers,
    *,
    mass: float | None = None,
    centre: Vector | None = None,
    pivot: Vector | None = None,
    orientation: Orientation | None = None,
    gravity: Vector | None = None,
    ports: Mapping[str, GivenPort] | None = None,
    constraints: Mapping[str, BodyConstraint] | None = None,
    dampers: Mapping[str, GivenDamper] | None = None,
    sample: Vector | None = None,
) -> MultibodySystem:
    """A rigid body that rotates about a fixed point, the origin of its body axes: ``ζ = orientation``, ``ϖ = ω``.

    ``Z = Z_rot``, ``M = J_P``, and in space ``−G = [L]×``, L = Mω ([rigid] eq. (16b); crank and gyroscope of sec. 7).

    Parameters
    ----------
    inertia : array_like
        Inertia [kg m²] ABOUT THE PIVOT: a number in the plane, three principal moments or (3, 3) in space.
    mass : float, optional
        Mass [kg], required with gravity.
    centre : sequence of float, optional
        Centre of mass in body axes [m], required with gravity.
    pivot : sequence of float, optional
        Fixed point in world axes [m], by default the origin.
    orientation : Orientation, optional
        As in :func:`free_body`.
    gravity : sequence of float, optional
        Acceleration (dim,) [m/s²].
    ports, constraints, dampers, sample : optional
        As in :func:`free_body`.

    Returns
    -------
    MultibodySystem
        With the parts ``orientation`` and ``spin``.

    Raises
    ------
    ValueError
        For gravity without a mass or a centre, and for everything that :func:`free_body` refuses.

    Examples
    --------
    >>> import rigid
    >>> pendulum = rigid.pivoted_body(1.0, mass=2.0, centre=(0.0, -0.5), gravity=(0.0, -9.81))
    >>> round(pendulum.accelerations([1.5707963267948966], [0.0]).velocities.item(), 6)  # rad/s²: −m g a/J
    -9.81
    """
    dim = checked_body(1.0, inertia=inertia, ports={}).dim
    zero = np.zeros(dim)
    c = zero if centre is None else vector("centre", centre, dim)
    m = 1.0 if mass is None else check.positive("mass", mass, "kg")
    known = mass is not None and centre is not None  # otherwise any inertia about the pivot is possible
    _, first, J = _inertia(m, inertia, c if known else zero, zero)
    body = BodyAxes(_orientation(orientation, dim), zero if pivot is None else vector("pivot", pivot, dim))
    if gravity is not None and not known:
        raise ValueError("gravity acts on a centre of mass: mass and centre must be given with it")
    weight = None if gravity is None else _weight(body, m, first, gravity)
    return body_system(body, J, weight, BodyParts(ports, constraints, dampers, sample))


def _inertia(mass: float, inertia: Numbers, centre: Vector | None, about: Vector | None) -> tuple[float, Array, Array]:
    """Mass m, first moment m c and inertia J about the origin; checked as in :func:`rigid.body`."""
    mass = check.not_negative("mass", mass, "kg")
    if mass == 0.0 and np.shape(inertia) in ((), (3,), (3, 3)) and not np.any(inertia):
        dim, s = (3, 3) if np.ndim(inertia) else (2, 1)
        return 0.0, np.zeros(dim), np.zeros((s, s))
    known = checked_body(mass, inertia=inertia, centre=centre, about=about, ports={}).inertia  # type: ignore[arg-type]
    second = known.second
    spread = np.trace(second) * np.eye(len(known.spin))
    return known.mass, np.array(known.first), known.spin + (spread - second if len(second) == 3 else spread)


def _orientation(given: Orientation | None, dim: int) -> Orientation:
    """Orientation for a body of dimension ``dim``: the given one, or the default if it is None.

    Raises ValueError for another type, or an orientation of another dimension.
    """
    if given is None:
        return angle() if dim == 2 else rotation_matrix()
    if not isinstance(given, Orientation):
        raise ValueError(f"orientation must be an Orientation, such as rigid.quaternion(), got {given!r}")
    if given.dim != dim:
        kind = "a scalar inertia makes a planar body" if dim == 2 else "this inertia makes a spatial body"
        wanted = "angle() or planar_matrix()" if dim == 2 else "rotation_matrix(), quaternion() or angles()"
        raise ValueError(f"orientation must be {wanted}, got {given.name}: {kind}")
    return given


def _weight(body: BodyAxes, mass: float, first: Array, gravity: Vector) -> Potential | Invariants:
    """Potential ``V = −g·(m r + R m c)``; as :class:`Invariants` if R is a polynomial in the coordinates."""
    g = vector("gravity", gravity, body.dim)
    place = body.place(first / mass if mass else first)
    height = combined(-mass * g[None], place, np.zeros(body.dim))
    if body.orientation.polynomial:
        return Invariants(height.value, height.jacobian, lambda pi: float(pi[0]), lambda pi: np.ones(1))
    return Potential(lambda zeta: float(height.value(zeta)[0]), lambda zeta: height.jacobian(zeta)[0])
