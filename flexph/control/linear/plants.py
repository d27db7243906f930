"""Linear plants of mechanisms and their linear controllers about rest, from port inputs to sensor readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...linear.state_space import StateSpace, state_space
from ...mechanisms.mechanism import Mechanism
from ...mechanisms.model.state import Pose, State, configuration
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array, ComplexArray
from ...numerics.rotations import cross, spins
from ...sensors.quantities import Quantity
from ...sensors.slopes import slopes
from ...systems.inputs import Input
from ...systems.linear import LinearPHDAE
from ...systems.nonlinear import PHDAE
from ..continuous import Continuous
from ..laws import Terminated
from ..port_control import coupled


class Plant(NamedTuple):
    """Linear plant ``ẋ = A x + B u, y = C x`` from port inputs u to measured outputs y.

    Parameters
    ----------
    A : array
        (n, n).
    B : array
        (n, m).
    C : array
        (p, n).
    integrals : int, optional
        Number of states that are integrals without energy, the last ones; if None, as many as there are outputs.
    """

    A: Array
    B: Array
    C: Array
    integrals: int | None = None

    @checked
    def response(self, omega: Sequence[float] | Array) -> ComplexArray:
        """Frequency response ``C (iω − A)⁻¹ B`` from inputs to outputs, for Bode plots.

        Parameters
        ----------
        omega : array_like
            Frequencies (k,) [rad/s], none of them a pole.

        Returns
        -------
        ComplexArray
            (k, p, m).

        Raises
        ------
        ValueError
            If a frequency is a pole, for example 0 for a plant with integrals.
        """
        given = 1j * check.array("omega", omega, (None,))
        inside = given[:, None, None] * np.eye(len(self.A)) - self.A
        try:
            return np.asarray(self.C @ np.linalg.solve(inside, np.broadcast_to(self.B, (given.size, *self.B.shape))))
        except np.linalg.LinAlgError:
            near = np.abs(given[:, None] - np.linalg.eigvals(self.A)).min(axis=1)
            pole = given.imag[int(np.argmin(near))]
            raise ValueError(f"omega must not be a pole of the plant, but {pole:g} rad/s is one") from None


@checked
def angles_of(system: LinearPHDAE, ports: Sequence[str]) -> Plant:
    """Plant from the torques at ports to the integrals of their outputs, the angles (displacements for forces).

    The mechanism must be linearised about a pose without load, so that its states contain no angles.

    Parameters
    ----------
    system : LinearPHDAE
        Linearised mechanism.
    ports : sequence of str
        Ports of torques (or forces), each of them driven and measured.

    Returns
    -------
    Plant
        Plant from torques to angles.
    """
    given = state_space(system)
    columns = columns_of(system, ports)
    b, c, n, m = given.B[:, columns], given.C[columns], len(given.A), columns.size
    a = np.block([[given.A, np.zeros((n, m))], [c, np.zeros((m, m))]])
    return Plant(a, np.vstack([b, given.D[np.ix_(columns, columns)]]), np.hstack([np.zeros((m, n)), np.eye(m)]))


def columns_of(system: LinearPHDAE, ports: Sequence[str]) -> Array:
    """Indices of the inputs of the given ports; raises ValueError for unknown ports, or if there are none."""
    if not ports:
        raise ValueError("ports must name at least one port, got none")
    slices = [check.lookup("port", name, system.ports, "the linearised mechanism") for name in ports]
    return np.concatenate([np.arange(system.B.shape[1])[part] for part in slices])


NAMED = "ports", "causality", "parts"
"""Mappings of a linear system whose keys get the controller's name as prefix."""
KNOWN = 1e-8
"""Relative residual up to which the rate of a reading counts as a combination of the states' rates."""
RANK = 1e-13
"""Relative singular value of (A, B), scaled by the highest frequency, below which it is round-off."""


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
    """Linear plant of small motions about rest, from inputs at ports to sensor readings.

    Readings are deviations from their values at rest. Where the states do not determine a position, such as the angle
    of a freely turning arm, integrals of rates become additional states, as few as possible.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism to control.
    about : Pose or State
        Equilibrium, see :meth:`Mechanism.linearize`.
    ports : sequence of str
        External ports to drive.
    sensors : dict
        Quantities of :mod:`flexph.sensors` by name; one of several components gives as many outputs.
    inputs : mapping, optional
        Inputs at which the equilibrium was computed.
    controllers : mapping, optional
        Linear :class:`Continuous` controllers that are part of the plant, such as gearboxes and motors. Their free
        ports can be driven by the names ``controller: port``.

    Returns
    -------
    Plant
        Plant from the inputs of the ports to the readings, both in their order.

    Raises
    ------
    ValueError
        If a port or sensor does not exist, inputs act on a reading without delay, or a controller is not linear about
        rest (nonlinear, or with dry friction).

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
    outputs = np.vstack(rows if system.lift is None else [output @ system.lift for output in rows])
    columns = columns_of(system, ports)
    given, m = state_space(_with_outputs(system, outputs)), system.B.shape[1]
    plain = StateSpace(given.A, given.B[:, :m], given.C[m:], given.D[m:, :m])
    return _integrated(plain, columns, list(sensors))


def _with_controllers(system: LinearPHDAE, controllers: Mapping[str, Continuous]) -> LinearPHDAE:
    """Linear system of a linearised mechanism with its controllers joined to it.

    Raises ValueError for a controller that is not linear about rest.
    """
    for name, given in controllers.items():
        if not isinstance(given, Continuous) or isinstance(given.system, PHDAE):
            raise ValueError(f"controller {name!r} must be a Continuous with a linear system, got {check.shown(given)}")
        try:
            linear = given.system.linearised() if isinstance(given.system, Terminated) else given.system
            for port in given.ports.values():
                check.lookup("external port", port, system.ports, "the mechanism")
            system = coupled(
                system, _named(linear, name), {f"{name}: {port_name}": port for port_name, port in given.ports.items()}
            )
        except ValueError as error:
            raise ValueError(f"controller {name!r}: {error}") from None
    return system


def _named(system: LinearPHDAE, name: str) -> LinearPHDAE:
    """Copy of a system whose ports, parts and constraints have ``name`` as prefix."""
    named: dict[str, Any] = {kind: {f"{name}: {k}": v for k, v in getattr(system, kind).items()} for kind in NAMED}
    return replace(system, **named, constraints=tuple(f"{name}: {k}" for k in system.constraints))


def _with_outputs(system: LinearPHDAE, rows: Array) -> LinearPHDAE:
    """Copy of a system with further inputs and outputs; the outputs are the products of ``rows`` with the state."""
    if system.is_sparse:
        wide: Any = sparse.hstack([system.B, sparse.csr_array(rows.T)]).tocsr()
    else:
        wide = np.hstack([system.B, rows.T])
    return replace(system, B=wide, ports={"all": slice(0, wide.shape[1])}, causality={})


def _motion_of_parts(mechanism: Mechanism, state: State, system: LinearPHDAE) -> Array:
    """Matrix that maps the states of a linearised mechanism to the velocities (ṙ, ω, u̇) of its bodies.

    The states contain velocities of body frames in body axes; ṙ are those of centres of mass in world axes.
    """
    a, layout, c = mechanism.network.arrays, mechanism.layout, configuration(mechanism, state.x)
    dim, s = layout.dim, spins(layout.dim)
    moves, parts = np.zeros((layout.velocities, _width(system))), system.parts
    spin, bent = layout.velocity_sizes[0], sum(layout.velocity_sizes[:2])
    turning = {body: i for i, body in enumerate(layout.turning)}
    for i, (name, body) in enumerate(mechanism.frames.items()):
        columns, at = np.flatnonzero(a.body_u == i), slice(dim * i, dim * (i + 1))
        moves[at, parts[f"{name}.velocity"]] = c.R[i]
        if columns.size:
            moves[at, parts[f"{name}.deformation_rate"]] = c.R[i] @ body.inertia.mean_shape
            moves[bent + columns, parts[f"{name}.deformation_rate"]] = np.eye(columns.size)
        if i in turning:
            first = spin + s * turning[i]
            arm = body.inertia.centre + body.inertia.mean_shape @ c.u[columns]
            moves[at, parts[f"{name}.spin"]] = c.R[i] @ np.einsum("sij,j->is", cross(dim), arm)
            moves[first : first + s, parts[f"{name}.spin"]] = np.eye(s)
    return moves


def _forces_of_parts(mechanism: Mechanism, system: LinearPHDAE) -> Array:
    """Matrix that maps the states of a linearised mechanism to its stresses and spring forces, as in the flat state."""
    layout, first = mechanism.layout, mechanism.layout.parts_of_motion.stop
    forces = np.zeros((layout.size - first, _width(system)))
    for name, part in layout.parts.items():
        if first <= part.start < layout.size:
            forces[part.start - first : part.stop - first, system.parts[name]] = np.eye(part.stop - part.start)
    return forces


def _width(system: LinearPHDAE) -> int:
    """Number of named states of a system, to which its slices ``parts`` refer; its ``lift`` maps x to these states."""
    return system.size if system.lift is None else int(system.lift.shape[0])


def _integrated(given: StateSpace, columns: Array, names: Sequence[str]) -> Plant:
    """Plant from the inputs ``columns`` to readings, with integrals as additional states where readings need them.

    Each of the p readings is an output of ``given`` plus the integral of a rate: the first p outputs of ``given`` are
    the former, the last p are the rates. A rate L(A x + B u) has the integral L x; only the rest of the rates, not of
    this form, is integrated by additional states. ``names`` are the names of the sensors.
    """
    p = len(given.C) // 2
    readings, flow = slice(0, p), np.hstack([given.A, given.B])
    if np.abs(given.D[readings][:, columns]).max(initial=0.0) > KNOWN * np.abs(given.D).max(initial=1.0):
        raise ValueError(f"inputs act at once on readings of {', '.join(names)}: use sensors behind an inertia")
    rates = np.hstack([given.C[p:], given.D[p:]])
    determined = np.linalg.lstsq(flow.T, rates.T, rcond=RANK)[0].T
    rest = rates - determined @ flow
    rest[np.abs(rest).max(axis=1) <= KNOWN * np.abs(rates).max(axis=1)] = 0.0
    left, size, right = np.linalg.svd(rest, full_matrices=False)
    k, n = int((size > KNOWN * max(size.max(initial=0.0), 1e-300)).sum()), len(given.A)
    return Plant(
        A=np.block([[given.A, np.zeros((n, k))], [right[:k, :n], np.zeros((k, k))]]),
        B=np.vstack([given.B, right[:k, n:]])[:, columns],
        C=np.hstack([given.C[readings] + determined, left[:, :k] * size[:k]]),
        integrals=k,
    )
