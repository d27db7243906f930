"""Checks of the members of a multibody system: types, names and shapes.

Symbols as in :class:`rigid.MultibodySystem`: positions ζ and velocities ϖ with ζ̇ = Z ϖ, momenta Γ = Mϖ, gyroscopic
matrix G, potential V, position constraints c(ζ) = 0 with multipliers λ, velocity constraints A ϖ = 0 with multipliers
μ, input matrix B.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from flexph.laws.resistive_relations import Relation
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.systems.discrete_gradients import Invariants

from .matrix_functions import at
from .model import WHOLE
from .start import start_defect
from .terms import Damper, Dissipation, ExternalPort, PositionConstraint, PositionMap, Potential, VelocityConstraint

if TYPE_CHECKING:
    from .model import SystemModel

RATE = 1e-7
"""Relative deviation of p'Z from A or Bᵀ above which p is not the position of the constraint or port. At positions near
the sample, rotations and constraints hold to about 1e-9."""


def check_members(system: SystemModel) -> None:
    """Raise ValueError for a member of a wrong type."""
    kinds: dict[str, tuple[tuple[Any, ...], Any]] = {
        "constraints": (system.constraints, PositionConstraint),
        "coordinates": (system.coordinates, PositionConstraint),
        "velocity_constraints": (system.velocity_constraints, VelocityConstraint),
        "dissipation": (system.dissipation, Damper | Dissipation),
        "ports": (tuple(system.ports.values()), ExternalPort),
        "potential": (system.potentials, Potential | Invariants),
    }
    for name, (given, kind) in kinds.items():
        for entry in given:
            if not isinstance(entry, kind):
                wanted = " or ".join(k.__name__ for k in getattr(kind, "__args__", (kind,)))
                raise ValueError(f"{name} must be of type {wanted}, got {entry!r}")
    for caution in system.cautions:
        if not callable(caution):
            raise ValueError(f"cautions must be functions of ζ that give a text or None, got {caution!r}")
    maps: list[Any] = [c.map for c in (*system.constraints, *system.coordinates)]
    maps += [of.position for of in system.velocity_constraints if of.position is not None]
    maps += [port.position for port in system.ports.values() if port.position is not None]
    for entry in maps:
        if not isinstance(entry, PositionMap):
            raise ValueError(f"functions of the positions must be of type PositionMap, got {entry!r}")
    for damper in system.dissipation:
        if isinstance(damper, Damper) and not isinstance(damper.relation, Relation):
            raise ValueError(f"the relation of damper {damper.name!r} must be a Relation, got {damper.relation!r}")


def check_names(system: SystemModel) -> None:
    """Raise ValueError for repeated or reserved names, parts that exceed their vectors, and a negative ``spread``."""
    check.not_negative("spread", system.spread)
    for kind, names in (
        ("constraints", [c.name for c in system.constraints] + [c.name for c in system.velocity_constraints]),
        ("coordinates", [c.name for c in system.coordinates]),
        ("dissipation", [term.name for term in system.dissipation]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{kind} must have names that differ, got {', '.join(map(repr, twice))} more than once")
    for kind, parts, count in (
        ("parts", system.parts, system.positions),
        ("velocity_parts", system.velocity_parts, system.velocities),
    ):
        check.spans(kind, parts, "positions" if kind == "parts" else "velocities")
        taken = sorted(set(parts) & set(WHOLE))
        if taken:
            raise ValueError(f"{kind} must not be named {', '.join(map(repr, WHOLE))}: these exist, got {taken}")
        for name, part in parts.items():
            if part.stop > count:
                raise ValueError(f"{kind}[{name!r}] must end at {count} or before, got {part}")


def check_shapes(system: SystemModel) -> None:
    """Raise ValueError for wrong shapes or values that are not finite, evaluated at the sample."""
    n, v, zeta = system.positions, system.velocities, system.sample
    if system.kinematics is None and n != v:
        raise ValueError(f"kinematics may be left out only for ζ̇ = ϖ: there are {n} positions and {v} velocities")
    check.array("kinematics Z(ζ)", system.Z(zeta), (n, v))
    if system.kinematics_mean is not None:
        mean = check.array("kinematics_mean Z̄(ζ₀, ζ₁)", system.kinematics_mean(zeta, zeta), (n, v))
        defect = np.abs(mean - system.Z(zeta)).max(initial=0.0)
        if defect > RATE * np.abs(mean).max(initial=0.0):
            raise ValueError(f"kinematics_mean must be Z(ζ) for equal ends ζ: it is {defect:.3g} off at the sample")
    check.array("gyroscopic G(ζ, Γ)", system.G(zeta, np.zeros(v)), (v, v))
    for constraint in (*system.constraints, *system.coordinates):
        _check_map(f"constraint {constraint.name!r}", constraint.map, n, zeta=zeta)
    for condition in system.coordinates:
        defect = start_defect(condition, zeta)
        if defect is not None:
            raise ValueError(f"the sample must satisfy the conditions of the coordinates: {defect}")
    for of in system.velocity_constraints:
        rows = check.array(f"velocity constraint {of.name!r}", at(of.matrix, zeta), (None, v)).shape[0]
        if of.position is not None:
            _check_map(f"the position of velocity constraint {of.name!r}", of.position, n, zeta=zeta, rows=rows)
    for name, port in system.ports.items():
        width = check.array(f"port {name!r}", at(port.matrix, zeta), (v, None)).shape[1]
        if port.position is not None:
            _check_map(f"the position of port {name!r}", port.position, n, zeta=zeta, rows=width)
    for term in system.dissipation:
        if isinstance(term, Damper):
            check.array(f"the directions of damper {term.name!r}", at(term.directions, zeta), (v, None))
        else:
            check.array(f"dissipation {term.name!r}", term.force(zeta, np.zeros(v)), (v,))
    for i, potential in enumerate(system.potentials):
        name = potential_name(system, i)
        check.number(name, potential.energy(potential.values(zeta) if isinstance(potential, Invariants) else zeta))
        if isinstance(potential, Invariants):
            width = check.array(f"the invariants of the {name}", potential.values(zeta), (None,)).size
            check.array(f"the jacobian of the {name}", potential.jacobian(zeta), (width, n))
            check.array(f"the gradient of the {name}", potential.gradient(potential.values(zeta)), (width,))
        else:
            check.array(f"the gradient of the {name}", potential.gradient(zeta), (n,))


def _check_map(name: str, of: PositionMap, n: int, *, zeta: Array, rows: int | None = None) -> None:
    count = check.array(name, of.value(zeta), (rows,)).size
    check.array(f"the jacobian of {name}", of.jacobian(zeta), (count, n))


def potential_name(system: SystemModel, i: int) -> str:
    """Name of the potential i for messages."""
    return "potential" if len(system.potentials) == 1 else f"potential[{i}]"


def energy_of(potential: Potential | Invariants) -> Callable[[Array], float]:
    """Potential energy V as a function of ζ."""
    if isinstance(potential, Invariants):
        return lambda zeta: float(potential.energy(potential.values(zeta)))
    return lambda zeta: float(potential.energy(zeta))
