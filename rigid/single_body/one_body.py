"""Multibody system of one rigid body, from its ports, constraints and dampers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexph.laws.resistive_relations import Relation
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import cross
from flexph.systems.discrete_gradients import Invariants

from ..system.matrix_functions import Gyroscopic
from ..system.system import MultibodySystem
from ..system.terms import Damper, ExternalPort, PositionConstraint, Potential, VelocityConstraint, named
from .axes import BodyAxes, Vector
from .guides import KnifeEdge, OnLine, OnPlane, Pinned
from .ports import BodyPort, Force
from .rolling import Rolling

BodyConstraint = Pinned | OnLine | OnPlane | KnifeEdge | Rolling
GivenPort = BodyPort | ExternalPort | Vector
GivenDamper = tuple[GivenPort, Relation]


@dataclass(frozen=True, eq=False)
class Added:
    """Ports, constraints, dampers and sample of a body, as the user gives them."""

    ports: Mapping[str, GivenPort] | None
    constraints: Mapping[str, BodyConstraint] | None
    dampers: Mapping[str, GivenDamper] | None
    sample: Vector | None


def body_system(body: BodyAxes, M: Array, weight: Potential | Invariants | None, added: Added) -> MultibodySystem:
    """Multibody system of a body with the mass matrix M, its weight and the members ``added`` to it."""
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
    """Function G(Γ), the negative matrix of the Newton-Euler equations in body axes; None for a pivoted planar body."""
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
    """Dampers between the body and the ground, one for each port of the description."""
    if not (isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Relation)):
        raise ValueError(f"damper {name!r} must be a port and a relation, as (Torque(), viscous(0.1)), got {given!r}")
    return [Damper(key, port.matrix, given[1]) for key, port in _port(name, given[0], body).items()]


def _constraints(name: str, how: Any, body: BodyAxes) -> tuple[PositionConstraint | VelocityConstraint, ...]:
    if not isinstance(how, BodyConstraint):
        raise ValueError(
            f"constraint {name!r} must be Pinned, OnLine, OnPlane, KnifeEdge or Rolling of rigid, got {how!r}"
        )
    return how.constraints(name, body)
