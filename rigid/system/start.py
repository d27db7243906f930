"""Consistent initial states of multibody systems: accelerations, multipliers, checks, and the nearest one.

Symbols as in :class:`rigid.MultibodySystem`: positions ζ and velocities ϖ with ζ̇ = Z ϖ, momenta Γ = Mϖ, gyroscopic
matrix G, potential V, position constraints c(ζ) = 0 with multipliers λ, velocity constraints A ϖ = 0 with multipliers
μ, input matrix B.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.numerics.corrections import IterationLimits
from flexph.numerics.differences import STEP, central_of_order_four
from flexph.systems.inputs import Forcing, Input

from .terms import PositionConstraint

if TYPE_CHECKING:
    from .model import SystemModel

CONSISTENT = 1e-8
"""Constraint defect, relative to its largest terms, up to which an initial state is consistent, such as one with values
of ten digits."""
POSITION_DEFECT = 1e-3
"""Defect of a position constraint, relative to its largest terms, up to which a run may begin, as runs continue from
final states of methods that let constraints drift."""
VELOCITY_DEFECT = 0.1
"""Defect of a velocity constraint up to which a run may begin, relative to the velocities and their change by forces in
one step. It is large, as some methods satisfy velocity constraints at midpoints only."""
CLOSING = IterationLimits(most=30, settled=1e-15)
"""Newton corrections of positions, which end at round-off."""
NOTHING = 1e-12
"""Size of a multiplier, relative to the largest force, below which it is round-off and set to zero."""
REMEDY = "system.nearest(positions, velocities) gives a consistent start"


class Accelerations(NamedTuple):
    """Accelerations ϖ̇ (n_kin,), multipliers λ (k,) of position constraints and μ (l,) of velocity constraints."""

    velocities: Array
    lam: Array
    mu: Array


def accelerations(
    system: SystemModel, zeta: Array, omega: Array, *, inputs: Mapping[str, Input], time: float
) -> Accelerations:
    """Accelerations and multipliers, see :meth:`MultibodySystem.accelerations`."""
    n, k = system.velocities, system.layout.lam
    rows = system.constraint_rows(zeta)
    force = -system.Z(zeta).T @ system.V_gradient(zeta) - system.tau_d(zeta, omega)
    force = force - system.G(zeta, system.mass @ omega) @ omega
    force = force + system.B(zeta) @ Forcing(system.port_slices, inputs).at(time)
    solution = _saddle(system.mass, rows, np.concatenate([force, -_rate_of_rows(system, zeta, omega) @ omega]))
    left = system.mass @ solution[:n] + rows.T @ solution[n:] - force
    size = np.abs(system.mass) @ np.abs(solution[:n]) + np.abs(rows.T) @ np.abs(solution[n:]) + np.abs(force)
    free = system.massless @ (system.massless.T @ left)
    if np.abs(free).max(initial=0.0) > CONSISTENT * size.max(initial=0.0):
        worst = system.velocity_name(int(np.argmax(np.abs(free))))
        raise ValueError(
            f"forces on massless velocities must balance at the start: {worst} exceeds by {np.abs(free).max():.3g}"
        )
    width, held = k.stop - k.start, _without_round_off(system.mass, rows, solution[n:], size)
    return Accelerations(solution[:n], held[:width], held[width:])


def _saddle(mass: Array, rows: Array, right: Array) -> Array:
    """Solution of [[M, Kᵀ], [K, 0]] x = ``right``, of least norm if singular; rows and columns are scaled first."""
    n, k = mass.shape[0], len(rows)
    matrix = np.block([[mass, rows.T], [rows, np.zeros((k, k))]])
    unit = _units(mass)
    sizes = np.abs(rows * unit).max(axis=1, initial=0.0)
    scale = np.concatenate([unit, 1.0 / np.where(sizes > 0.0, sizes, 1.0)])
    assert scale.size == n + k
    return scale * np.linalg.lstsq(scale[:, None] * matrix * scale, scale * right, rcond=1e-12)[0]


def _units(mass: Array) -> Array:
    """Units (n_kin,) of velocities in which M has a unit diagonal."""
    return np.where(np.diag(mass) > 0.0, np.diag(mass), np.diag(mass).max(initial=0.0) or 1.0) ** -0.5


def _without_round_off(mass: Array, rows: Array, multipliers: Array, forces: Array) -> Array:
    """Multipliers (k + l,), with zeros for those that are round-off of the forces (n_kin,).

    Runs derive tolerances from multipliers, which must not be round-off.
    """
    unit = _units(mass)
    noise = NOTHING * float((forces * unit).max(initial=0.0))
    return np.where(np.abs(multipliers) * np.abs(rows * unit).max(axis=1, initial=0.0) <= noise, 0.0, multipliers)


def _rate_of_rows(system: SystemModel, zeta: Array, omega: Array) -> Array:
    """Time derivative of (c'Z, A) along ζ̇ = Zϖ, by fourth-order differences."""
    along = system.Z(zeta) @ omega
    speed = np.abs(along).max(initial=0.0)
    if speed == 0.0:
        return np.zeros((len(system.constraint_names), system.velocities))
    step = STEP * (float(np.abs(zeta).max(initial=0.0)) or 1.0) / speed
    rate: Array = central_of_order_four(system.constraint_rows, zeta, step * along) / step
    return rate


def state(system: SystemModel, positions: Any, velocities: Any, *, inputs: Mapping[str, Input], time: float) -> Array:
    """Consistent state, see :meth:`MultibodySystem.state`."""
    zeta = check.array("positions", positions, (system.positions,))
    omega = check.array("velocities", velocities, (system.velocities,))
    defect = _position_defect(system, zeta, CONSISTENT)
    if defect is not None:
        raise ValueError(f"inconsistent start: positions do not satisfy {defect}; {REMEDY}")
    defect = _velocity_defect(system, zeta, omega, speeds=np.abs(omega), allowed=CONSISTENT)
    if defect is not None:
        raise ValueError(f"inconsistent start: velocities do not satisfy {defect}; {REMEDY}")
    rates = accelerations(system, zeta, omega, inputs=inputs, time=check.number("time", time))
    return np.concatenate([zeta, omega, rates.lam, rates.mu])


def gross_defect(system: SystemModel, zeta: Array, omega: Array, step: float) -> str | None:
    """Message about positions or velocities that are too inconsistent for a run with the step size ``step`` [s].

    None if the defects of positions are at most POSITION_DEFECT and those of velocities at most VELOCITY_DEFECT. Final
    states of other runs can have such defects.
    """
    defect = _position_defect(system, zeta, POSITION_DEFECT)
    if defect is not None:
        return f"positions do not satisfy {defect}; {REMEDY}"
    force = system.Z(zeta).T @ system.V_gradient(zeta) + system.G(zeta, system.mass @ omega) @ omega
    speeds = np.abs(omega) + step * np.abs(np.linalg.solve(system.completed_mass, force))
    defect = _velocity_defect(system, zeta, omega, speeds=speeds, allowed=VELOCITY_DEFECT)
    return None if defect is None else f"velocities do not satisfy {defect}; {REMEDY}"


def _position_defect(system: SystemModel, zeta: Array, allowed: float) -> str | None:
    """First condition that positions violate by more than ``allowed``, with its defect, as text for a message.

    None if they satisfy all conditions.
    """
    defects = (
        start_defect(condition, zeta, allowed) for condition in (*system.coordinates, *_position_conditions(system))
    )
    return next((defect for defect in defects if defect is not None), None)


def _velocity_defect(system: SystemModel, zeta: Array, omega: Array, *, speeds: Array, allowed: float) -> str | None:
    """Constraint row that velocities violate most, with its rate, as text for a message.

    None if all rates are at most ``allowed`` times the largest entry of the row times the largest of ``speeds``
    (n_kin,).
    """
    rows = system.constraint_rows(zeta)
    defect, size = np.abs(rows @ omega), np.abs(rows).max(axis=1, initial=0.0) * speeds.max(initial=0.0)
    wrong = np.flatnonzero(defect > allowed * size)
    if not wrong.size:
        return None
    i = wrong[int(np.argmax(defect[wrong] / size[wrong]))]
    return f"{system.constraint_names[i]}, whose rate is {defect[i]:.3g} (terms of {size[i]:.3g})"


def start_defect(condition: PositionConstraint, zeta: Array, allowed: float = CONSISTENT) -> str | None:
    """Row of a condition that positions violate most, with its defect, as text for a message.

    None if all defects are at most ``allowed`` times the terms of their row.
    """
    value = np.abs(np.asarray(condition.map.value(zeta), dtype=float))
    slope = np.abs(condition.map.jacobian(zeta))
    terms = slope @ np.abs(zeta)  # a constraint on zero positions is compared with the largest position
    size = np.maximum(terms, slope.max(axis=1, initial=0.0) * np.abs(zeta).max(initial=0.0))
    wrong = np.flatnonzero(~(value <= allowed * size))
    if not wrong.size:
        return None
    i = wrong[int(np.argmax(value[wrong]))]
    row = f"{condition.name!r}[{i}]" if value.size > 1 else repr(condition.name)
    return f"{row}, which is {value[i]:.3g} there (terms of {size[i]:.3g}) and must be 0"


def nearest(system: SystemModel, positions: Any, velocities: Any) -> tuple[Array, Array]:
    """Nearest consistent positions and velocities, see :meth:`MultibodySystem.nearest`."""
    zeta = np.array(check.array("positions", positions, (system.positions,)))
    omega = check.array("velocities", velocities, (system.velocities,))

    def closed(zeta: Array) -> tuple[Array, float]:
        zeta = _on_coordinates(system, zeta)
        value, slope = _stacked(system, _position_conditions(system), zeta)
        return _moved(zeta, system.Z(zeta) @ _projection(system, slope @ system.Z(zeta), -value))

    zeta = _on_coordinates(system, CLOSING.run(zeta, closed).value)
    defect = _position_defect(system, zeta, CONSISTENT)
    if defect is not None:
        raise ArithmeticError(f"no positions near the given ones satisfy {defect}")
    rows = system.constraint_rows(zeta)
    for _ in range(2):  # the second removes the round-off of the first
        omega = omega + _projection(system, rows, -rows @ omega)
    return zeta, omega


def _projection(system: SystemModel, rows: Array, target: Array) -> Array:
    """Velocity-like displacement δ (n_kin,) of least ½δᵀMδ with Kδ = ``target``, K the constraint ``rows``."""
    return _saddle(system.mass, rows, np.concatenate([np.zeros(system.velocities), target]))[: system.velocities]


def _on_coordinates(system: SystemModel, zeta: Array) -> Array:
    """Positions projected on the conditions of the coordinates, by Newton's method with least-norm steps."""

    def closed(zeta: Array) -> tuple[Array, float]:
        value, slope = _stacked(system, system.coordinates, zeta)
        return _moved(zeta, np.linalg.lstsq(slope, -value, rcond=1e-12)[0])

    return CLOSING.run(zeta, closed).value if system.coordinates else zeta


def _moved(zeta: Array, move: Array) -> tuple[Array, float]:
    """Positions after the displacement ``move``, and the largest entry of ``move`` relative to the largest position."""
    zeta = zeta + move
    largest = float(np.abs(zeta).max(initial=0.0))
    return zeta, float(np.abs(move).max(initial=0.0)) / (largest or 1.0)


def _position_conditions(system: SystemModel) -> tuple[PositionConstraint, ...]:
    """Conditions p = 0 on positions: position constraints, and ``closed`` velocity constraints with a position p."""
    closed = (PositionConstraint(a.name, a.position) for a in system.velocity_constraints if a.closed and a.position)
    return (*system.constraints, *closed)


def _stacked(system: SystemModel, conditions: Iterable[PositionConstraint], zeta: Array) -> tuple[Array, Array]:
    blocks = [(c.map.value(zeta), c.map.jacobian(zeta)) for c in conditions]
    value, slope = np.zeros(0), np.zeros((0, system.positions))
    return np.concatenate([value, *(v for v, _ in blocks)]), np.vstack([slope, *(j for _, j in blocks)])
