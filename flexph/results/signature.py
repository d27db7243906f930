"""Texts that tell one mechanism from another, by which a saved run is known to belong to it."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ..bodies.body import Body
from ..joints.rows.connection import Measure, measures
from ..joints.rows.laws import Law
from ..mechanisms.model.accounts import Accounts
from ..mechanisms.model.model import Model
from ..numerics import checks as check
from ..systems.resistive_relations import Relation


def mechanism_signature(mechanism: Model) -> list[str]:
    """What a saved run and a mechanism must share: parts and their places, accounts, and the bodies' constants."""
    accounts = mechanism.once(Accounts)
    parts = [f"{k} {s.start} {s.stop}" for k, s in mechanism.layout.parts.items()]
    names = [*accounts.energy, *accounts.work, *accounts.joint_work, *accounts.dissipation]
    joints = [f"{c.name}: {row.name} {_digest(_measured(row.law))}" for c in mechanism.connections for row in c.rows]
    springs = [f"{name}: {m.stiffness:.9g} {_resists(m)}" for name, m in measures(mechanism.connections)]
    bodies = [f"{name}: {_constants(body)}" for name, body in mechanism.bodies.items()]
    return parts + names + joints + bodies + springs + ["gravity " + " ".join(f"{g:.9g}" for g in mechanism.gravity)]


def _measured(law: Law) -> Any:
    """What a constraint is about; of laws of products alone, only these."""
    return (law.weighed, law.turns) if law.weighed else law.products


def _resists(measure: Measure) -> str:
    return str(measure.damping) if isinstance(measure.damping, Relation) else f"{measure.damping:.9g}"


def _digest(products: Any) -> str:
    """A mark of the points and directions that a constraint is about."""
    return hashlib.sha256(repr(products).encode()).hexdigest()[:12]


def _constants(body: Body) -> str:
    """Mass, inertia, flexibility and port positions of a body to 9 digits."""
    inertia = [body.mass, *np.ravel(body.inertia.first), *np.ravel(body.inertia.second), *np.ravel(body.inertia.spin)]
    flexibility = [check.norm(body.elasticity.compliance)] if body.elasticity else []
    ports = [x for port in body.ports.values() for x in port.position]
    return " ".join(f"{x:.9g}" for x in (*inertia, *flexibility, *ports))
