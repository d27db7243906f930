"""Steady rotation of a whole mechanism about an axis fixed in the world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...joints.rows.vectors import Ground
from ...kernels.state import Configuration, constraint_sizes, derive
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.rotations import cross, skew, spin_map, spins
from ..model.constraints import velocities_of
from ..model.state import State, configuration

if TYPE_CHECKING:
    from ..model.model import Model

ALONG = 1e-9
"""Sine of the angle between gravity and the axis of a steady rotation up to which they count as parallel."""
STEADY = 1e-6
"""Deviation from a steady rotation, relative to the velocity of the mechanism, that counts as zero."""


class Steady(NamedTuple):
    """Steady motion in which points at r have the velocity v₀ + Ω × r.

    ``spin`` is Ω (s,) [rad/s] in the world, ``velocity`` v₀ (d,) [m/s].
    """

    spin: Array
    velocity: Array

    def field(self, r: Array) -> Array:
        """Velocities v₀ + Ω × r (b, d) of points at r (b, d)."""
        return self.velocity + r @ skew(self.spin, r.shape[1]).T

    def centripetal(self, r: Array) -> Array:
        """Accelerations Ω × (v₀ + Ω × r) (b, d) of points at r (b, d)."""
        return self.field(r) @ skew(self.spin, r.shape[1]).T


def steady_rotation(mechanism: Model, spin: Any, about: Any) -> Steady:
    """Steady rotation with a spin about an axis through the point ``about``; at rest if spin is None.

    Raises ValueError unless gravity is along the axis.
    """
    dim = mechanism.layout.dim
    turning = np.zeros(spins(dim)) if spin is None else check.array("spin", np.atleast_1d(spin), (spins(dim),))
    centre = np.zeros(dim) if about is None else check.array("about", about, (dim,))
    aside = np.linalg.norm(skew(turning, dim) @ mechanism.gravity)
    if aside > ALONG * np.linalg.norm(turning) * np.linalg.norm(mechanism.gravity):
        raise ValueError(
            f"a steady rotation needs gravity along its axis, got spin {turning} and gravity {mechanism.gravity}"
        )
    return Steady(turning, -skew(turning, dim) @ centre)


def refuse_supports(mechanism: Model, G: Any, c: Configuration, spin: Array) -> None:
    """Raise ValueError, naming the joint, if a joint to the ground does not allow the rotation.

    G v are the rates of the constraints (g,); the configuration has the velocities v of the rotation.
    """
    if not np.any(spin):
        return
    a, v = mechanism.network.arrays, velocities_of(mechanism, c)
    turning = np.linalg.norm(spin) * constraint_sizes(a, derive(a, c).vector)
    blocked = np.abs(G @ v) > STEADY * np.maximum(abs(G) @ np.abs(v), turning)
    row = 0
    for connection in mechanism.connections:
        of_connection = blocked[row : row + len(connection.rows)]
        row += of_connection.size
        if (
            of_connection.any()
            and not connection.is_driven
            and any(isinstance(port, Ground) for port in connection.ports)
        ):
            raise ValueError(
                f"{connection.name} must allow the steady rotation, in which the whole mechanism turns with {spin} "
                "rad/s: hold it by a revolute joint about that axis and a drive of that rate. For a rotor on a support "
                "at rest use mechanism.spectrum at a consistent_state of its motion (symmetric rotors), or "
                "flexph.analysis.floquet"
            )


def steady_motion(mechanism: Model, state: State) -> Steady:
    """Motion v₀ + Ω × r of a mechanism that moves as one rigid body: the spin Ω, and v₀ at the world's origin.

    Both follow from the velocities of the state. Raises ValueError if bodies move relative to each other or deform.
    """
    c = configuration(mechanism, state.x)
    dim = mechanism.layout.dim
    s = spins(dim)
    if not (np.any(c.v) or np.any(c.omega) or np.any(c.du)):
        return Steady(np.zeros(s), np.zeros(dim))
    rows, values = [], []
    for i, body in enumerate(mechanism.frames.values()):
        rows.append(np.hstack([np.eye(dim), np.einsum("sij,j->is", cross(dim), c.r[i])]))
        values.append(c.v[i])
        if body.turns:
            rows.append(np.hstack([np.zeros((s, dim)), np.eye(s)]))
            values.append(spin_map(c.R[[i]])[0] @ c.omega[i])
    matrix, given = np.vstack(rows), np.concatenate(values)
    solution, _, rank, _ = np.linalg.lstsq(matrix, given, rcond=None)
    if rank < dim + s and np.any(
        np.abs(given) > 0.0
    ):  # collinear point masses do not determine the spin along their line
        solution = _about_gravity(mechanism, matrix, given)
    defect = max(np.abs(matrix @ solution - given).max(initial=0.0), np.abs(c.du).max(initial=0.0))
    if defect > STEADY * max(np.abs(velocities_of(mechanism, c)).max(initial=0.0), 1e-12):
        raise ValueError(
            f"the state must be at rest or in one steady rotation: parts deviate from it by {defect:.2g} (m/s, rad/s); "
            "for a rotor on a support at rest, such as a flexible tower, use mechanism.spectrum of its motion by "
            "consistent_state if it is symmetric, else flexph.analysis.floquet about its motion over a turn"
        )
    return Steady(solution[dim:], solution[:dim])


def is_rigid_motion(mechanism: Model, state: State) -> bool:
    """True if the mechanism rests or moves as one rigid body in a state."""
    try:
        steady_motion(mechanism, state)
    except ValueError:
        return False
    return True


def _about_gravity(mechanism: Model, matrix: Array, given: Array) -> Array:
    """Steady rotation with v₀ = 0 and a spin Ω along gravity that fits given velocities best, as one vector (v₀, Ω).

    ``matrix`` maps (v₀, Ω) to velocities, and ``given`` are the values that these should have. Raises ValueError
    without gravity in space.
    """
    dim, g = mechanism.layout.dim, mechanism.gravity
    if dim == 3 and np.any(g):
        axis = np.concatenate([np.zeros(3), g / np.linalg.norm(g)])
        image = matrix @ axis
        return axis * float(image @ given) / max(float(image @ image), 1e-300)
    raise ValueError("collinear point masses do not determine the spin of a steady motion: give one of them inertia")
