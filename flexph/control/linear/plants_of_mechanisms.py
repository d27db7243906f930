"""Mechanisms about rest, with their linear controllers, from inputs at ports to readings of sensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ...linear.state_space import StateSpace, state_space
from ...mechanisms.mechanism import Mechanism
from ...mechanisms.model.state import Pose, State, configuration
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.rotations import cross, spins
from ...sensors.quantities import Quantity
from ...sensors.slopes import slopes
from ...systems.inputs import Input
from ...systems.linear import LinearPHDAE
from ...systems.nonlinear import PHDAE
from ..continuous import Continuous
from ..laws.terminated import Terminated
from ..plants import Plant, columns_of
from ..port_control import joined

NAMED = "ports", "causality", "parts"
"""What a linear system has by name."""
KNOWN = 1e-8
"""Rate of a reading, over itself, that is not the rate of any combination of states, beyond round-off."""
RANK = 1e-13
"""Singular value of (A, B) over the largest one, of frequencies over the highest, that is round-off."""


@checked
def plant_of(
    mechanism: Mechanism,
    about: Pose | State,
    *,
    ports: Sequence[str],
    sensors: Mapping[str, Quantity],
    inputs: Mapping[str, Input] | None = None,
    controllers: Mapping[str, Continuous] | None = None,
) -> Plant:
    """Small motions about rest, from inputs at ports to readings of sensors, for loops, regulators and responses.

    Readings are changes from what is read at rest. Where the states do not tell a place, such as the angle of an arm
    that turns freely, integrals of rates are further states: as few as possible.

    Parameters
    ----------
    mechanism : Mechanism
        What is controlled.
    about : Pose or State
        Where it rests, see :meth:`Mechanism.linearize`.
    ports : sequence of str
        External ports that are driven.
    sensors : dict
        Quantities of :mod:`flexph.sensors` by name; those of more than one number are as many outputs.
    inputs : mapping, optional
        Those that the equilibrium was found with.
    controllers : mapping, optional
        Linear :class:`Continuous` ones that are part of the plant, such as gearboxes and motors. Their ports that are
        not joined are driven by the names ``controller: port``.

    Returns
    -------
    Plant
        From the inputs of the ports to the readings, both in their order.

    Raises
    ------
    ValueError
        For ports and sensors that there are not, readings on which inputs act without delay, and controllers that are
        not linear about rest: nonlinear ones, and dry friction.

    Examples
    --------
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge, torque
    >>> from flexph.control import closed_loop, pid, plant_of
    >>> from flexph.sensors import joint_angle
    >>> arm = connect({"arm": rigid.bar(1.0, 3.0)}, [hinge("arm.root", GROUND), torque("arm.root", name="motor")])
    >>> rest = arm.assemble({"arm": (0.0, 0.0, 0.0)})
    >>> plant = plant_of(arm, rest, ports=["motor"], sensors={"angle": joint_angle("arm.root")})
    >>> bool(closed_loop(plant, pid(40.0, derivative=8.0, lag=0.01)).is_stable)
    True
    """
    system = _with_controllers(mechanism.linearize(about, inputs=inputs), controllers or {})
    state = mechanism.consistent_state(about) if isinstance(about, Pose) else about
    moves, forces = _motion_of_parts(mechanism, state, system), _forces_of_parts(mechanism, system)
    change = slopes(mechanism, state.x, sensors)
    rows = [change.velocity @ moves + change.force @ forces, change.place @ moves]
    outputs = np.vstack(rows if system.lift is None else [own @ system.lift for own in rows])
    columns = columns_of(system, ports)
    given, m = state_space(_with_outputs(system, outputs)), system.B.shape[1]
    plain = StateSpace(given.A, given.B[:, :m], given.C[m:], given.D[m:, :m])
    return _integrated(plain, columns, list(sensors))


def _with_controllers(system: LinearPHDAE, controllers: Mapping[str, Continuous]) -> LinearPHDAE:
    """The linearised mechanism and its controllers as one system."""
    for name, given in controllers.items():
        if not isinstance(given, Continuous) or isinstance(given.system, PHDAE):
            raise ValueError(f"controller {name!r} must be a Continuous with a linear system, got {check.shown(given)}")
        try:
            own = given.system.linearised() if isinstance(given.system, Terminated) else given.system
            for port in given.ports.values():
                check.lookup("external port", port, system.ports, "the mechanism")
            system = joined(system, _named(own, name), {f"{name}: {own}": port for own, port in given.ports.items()})
        except ValueError as error:
            raise ValueError(f"controller {name!r}: {error}") from None
    return system


def _named(system: LinearPHDAE, name: str) -> LinearPHDAE:
    """The system with its name before those of its ports and parts."""
    named: dict[str, Any] = {kind: {f"{name}: {k}": v for k, v in getattr(system, kind).items()} for kind in NAMED}
    return replace(system, **named, constraints=tuple(f"{name}: {k}" for k in system.constraints))


def _with_outputs(system: LinearPHDAE, rows: Array) -> LinearPHDAE:
    """The system with ports that work on rows of the states, so that their outputs are these."""
    if system.is_sparse:
        wide: Any = sparse.hstack([system.B, sparse.csr_array(rows.T)]).tocsr()
    else:
        wide = np.hstack([system.B, rows.T])
    return replace(system, B=wide, ports={"all": slice(0, wide.shape[1])}, causality={})


def _motion_of_parts(mechanism: Mechanism, state: State, system: LinearPHDAE) -> Array:
    """From the parts of a linearised mechanism, body-frame velocities of origins, to the velocities (ṙ, ω, u̇)."""
    a, layout, c = mechanism.network.arrays, mechanism.layout, configuration(mechanism, state.x)
    dim, s = layout.dim, spins(layout.dim)
    moves, parts = np.zeros((layout.velocities, _width(system))), system.parts
    spin, bent = layout.velocity_sizes[0], sum(layout.velocity_sizes[:2])
    turning = {body: i for i, body in enumerate(layout.turning)}
    for i, (name, body) in enumerate(mechanism.frames.items()):
        own, at = np.flatnonzero(a.body_u == i), slice(dim * i, dim * (i + 1))
        moves[at, parts[f"{name}.velocity"]] = c.R[i]
        if own.size:
            moves[at, parts[f"{name}.deformation_rate"]] = c.R[i] @ body.inertia.mean_shape
            moves[bent + own, parts[f"{name}.deformation_rate"]] = np.eye(own.size)
        if i in turning:
            first = spin + s * turning[i]
            arm = body.inertia.centre + body.inertia.mean_shape @ c.u[own]
            moves[at, parts[f"{name}.spin"]] = c.R[i] @ np.einsum("sij,j->is", cross(dim), arm)
            moves[first : first + s, parts[f"{name}.spin"]] = np.eye(s)
    return moves


def _forces_of_parts(mechanism: Mechanism, system: LinearPHDAE) -> Array:
    """From the parts to stresses and spring forces, as they follow the velocities in the flat state."""
    layout, first = mechanism.layout, mechanism.layout.parts_of_motion.stop
    forces = np.zeros((layout.size - first, _width(system)))
    for name, part in layout.parts.items():
        if first <= part.start < layout.size:
            forces[part.start - first : part.stop - first, system.parts[name]] = np.eye(part.stop - part.start)
    return forces


def _width(system: LinearPHDAE) -> int:
    """Number of the states that ``parts`` names."""
    return system.size if system.lift is None else int(system.lift.shape[0])


def _integrated(given: StateSpace, columns: Array, names: Sequence[str]) -> Plant:
    """The plant of outputs (y, rates): y and the integrals of rates, as far as states do not tell them.

    Where a rate is L(A x + B u) its integral is L x; what is left of the rates is integrated.
    """
    p = len(given.C) // 2
    told, flow = slice(0, p), np.hstack([given.A, given.B])
    if np.abs(given.D[told][:, columns]).max(initial=0.0) > KNOWN * np.abs(given.D).max(initial=1.0):
        raise ValueError(f"inputs act at once on readings of {', '.join(names)}: measure what has inertia in between")
    rates = np.hstack([given.C[p:], given.D[p:]])
    known = np.linalg.lstsq(flow.T, rates.T, rcond=RANK)[0].T
    rest = rates - known @ flow
    rest[np.abs(rest).max(axis=1) <= KNOWN * np.abs(rates).max(axis=1)] = 0.0
    left, size, right = np.linalg.svd(rest, full_matrices=False)
    k, n = int((size > KNOWN * max(size.max(initial=0.0), 1e-300)).sum()), len(given.A)
    return Plant(
        A=np.block([[given.A, np.zeros((n, k))], [right[:k, :n], np.zeros((k, k))]]),
        B=np.vstack([given.B, right[:k, n:]])[:, columns],
        C=np.hstack([given.C[told] + known, left[:, :k] * size[:k]]),
        integrals=k,
    )
