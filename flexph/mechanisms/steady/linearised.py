"""Small motions about a steady motion as a first-order system ż = A z in the moving frame.

With displacements ξ = (δr, θ, δu) in axes that turn with the frame (not with the own spins of bodies)

    M ξ̈ + C ξ̇ + K ξ = Gᵀ δλ,   H ξ = 0 (positions),   N ξ̇ + Γ ξ = 0 (velocities, such as rolling),

where matrices are constant if the motion is steady. With ξ = P y (H P = 0), ẏ = Z w − B y (N P Z = 0,
B = (N P)⁺ Γ P) and z = (y, w), projection of the first equation by (P Z)ᵀ eliminates the multipliers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...kernels.state import derive
from ...kernels.stiffness.steady_slopes import row_slopes, slip_matrices
from ...kernels.stiffness.tangent import tangent
from ...numerics.arrays import Array, dense
from ...numerics.ranks import singular_vectors
from ...numerics.rotations import spin_skew
from ..model.redundancy import RANK
from ..model.time_table import laws
from .moving_frame import STATES, SteadyMotion

if TYPE_CHECKING:
    from ..model.model import Model

GOLDEN = 0.5 * (5.0**0.5 - 1.0)
SAMPLES = 3
"""Number of later times, at multiples of the golden section of a turn, at which the motion must be the same."""
CHANGED = 1e-8
"""Change of the equations at later times, relative to their largest entry, that counts as zero."""


class Equations(NamedTuple):
    """Matrices of M ξ̈ + C ξ̇ + K ξ = forces of the constraints, for small displacements ξ in the moving frame.

    ``mass`` M, ``rate`` C and ``stiffness`` K are (n_v, n_v). Joints have the rows H ξ = 0, ``held`` H (h, n_v).
    Nonholonomic constraints have the rows N ξ̇ + Γ ξ = 0, ``rolling`` N and ``turning`` Γ (k, n_v).
    """

    mass: Array
    rate: Array
    stiffness: Array
    held: Array
    rolling: Array
    turning: Array

    def in_axes(self, axes: Array) -> Equations:
        """Equations in terms of displacements ξ', where ξ = axes · ξ'."""
        square = [axes.T @ part @ axes for part in self[:3]]
        return Equations(*square, *(part @ axes for part in self[3:]))


class Reduced(NamedTuple):
    """First-order system ż = A z of small motions, with z = (y, w).

    Displacements are ξ = P y, their rates ξ̇ = P (Z w − B y). ``matrix`` is A.
    """

    matrix: Array
    positions: Array  # P
    velocities: Array  # Z
    bound: Array  # B

    @property
    def shapes(self) -> Array:
        """Matrix (2 n_v, n) from z to displacements and their rates, (ξ, ξ̇)."""
        P, none = self.positions, np.zeros((len(self.positions), self.velocities.shape[1]))
        return np.block([[P, none], [-P @ self.bound, P @ self.velocities]])


def equations(motion: SteadyMotion) -> Equations:
    """Linearise the equations about a steady motion at its time, in the frame that moves with it."""
    given, c = motion.given, motion.c
    a, spin = given.mechanism.network.arrays, given.steady.spin
    d = derive(a, c)
    t = tangent(a, c, d, given.forces(c, motion.multipliers), spin=spin)
    M, K = dense(t.mass), dense(t.stiffness)
    C = dense(t.gyroscopic) + dense(t.damping)
    if a.slips.row.size:
        damping, bent = slip_matrices(a, (c, d), spin)
        C, K = C + dense(damping), K + dense(bent)
    S, faster = _turning_axes(motion)
    K = K + M @ faster
    G, slopes = dense(given.constraints(c)), dense(row_slopes(a, (c, d), spin, given.table.at(given.time)[0]))
    free = nonholonomic(given.mechanism)
    K, C = K + C @ S + M @ S @ S, C + 2.0 * M @ S
    return Equations(M, C, K, G[~free], G[free], slopes[free] + G[free] @ S)


def nonholonomic(mechanism: Model) -> Array:
    """True for each constraint row that constrains velocities only, as rolling does, (g,)."""
    return np.array([law.of_rates and not law.holonomic for law in laws(mechanism)], dtype=bool)


def _turning_axes(motion: SteadyMotion) -> tuple[Array, Array]:
    """Matrices (n_v, n_v) of the products −s × θ and ω̇ × θ, zero outside of the rotations θ.

    s are the spins of the bodies relative to the moving frame; relative to a body, the axes of the frame turn with −s.
    ω̇ are the angular accelerations of the bodies.
    """
    columns, turning = (
        motion.given.mechanism.network.arrays.columns.omega,
        motion.given.mechanism.network.arrays.turning,
    )
    size = motion.given.mechanism.layout.velocities
    S, faster = np.zeros((size, size)), np.zeros((size, size))
    at = columns[turning]
    S[at[:, :, None], at[:, None]] = -spin_skew(motion.own)[turning]
    faster[at[:, :, None], at[:, None]] = spin_skew(motion.acceleration)[turning]
    return S, faster


def reduced(own: Equations) -> Reduced:
    """System ż = A z without multipliers, from the linearised equations of a motion."""
    P = _allowed_displacements(own.held)
    N = own.rolling @ P
    Z = _allowed_displacements(N)
    B = np.linalg.pinv(N, rcond=RANK) @ (own.turning @ P) if len(N) else np.zeros((P.shape[1],) * 2)
    return Reduced(_matrix(own, P, Z, B), P, Z, B)


def _matrix(own: Equations, P: Array, Z: Array, B: Array) -> Array:
    M, C, K = (P.T @ part @ P for part in own[:3])
    force = Z.T @ np.hstack([(M @ B - C) @ B + K, (C - M @ B) @ Z])
    faster = -np.linalg.solve(Z.T @ M @ Z, force)
    return np.vstack([np.hstack([-B, Z]), faster])


def _allowed_displacements(rows: Array) -> Array:
    """Orthonormal basis of the displacements with rows · ξ = 0; for the rank, rows are scaled to length one."""
    if not len(rows):
        return np.eye(rows.shape[1])
    length = np.linalg.norm(rows, axis=1)
    return singular_vectors(rows / np.where(length > 0.0, length, 1.0)[:, None], tolerance=RANK).null


def system_of(motion: SteadyMotion) -> Reduced:
    """System ż = A z of small motions about a steady motion, with displacements in the units of the mechanism.

    Raises ValueError, naming the part, if the coefficients differ at later times.
    """
    sizes = np.diag(motion.sizes)
    system = reduced(equations(motion).in_axes(sizes))
    for i in range(1, SAMPLES + 1):
        time = _period(motion) * ((GOLDEN * i) % 1.0)
        _refuse_changes(motion, system, (motion.after(time), motion.axes(time) @ sizes))
    return system._replace(positions=sizes @ system.positions)


def _period(motion: SteadyMotion) -> float:
    """Time [s] of the slowest turn of the frame or of a body.

    Without spins it is the time of a displacement by the size of the mechanism.
    """
    (spin, velocity), size = motion.given.steady, float(motion.sizes.max())
    speeds = [float(np.linalg.norm(spin)), *np.linalg.norm(motion.own, axis=1)]
    turns = [2.0 * np.pi / speed for speed in speeds if speed > 0.0]
    return max([*turns, 0.0]) or size / max(float(np.linalg.norm(velocity)), 1e-300)


def _refuse_changes(motion: SteadyMotion, system: Reduced, later: tuple[SteadyMotion, Array]) -> None:
    other, axes = later
    names, at_later = motion.given.mechanism.constraint_names, equations(other).in_axes(axes)
    P, Z, B = system.positions, system.velocities, system.bound
    free = nonholonomic(motion.given.mechanism)
    for rows, at in (
        (at_later.held @ P, ~free),
        (at_later.rolling @ P @ Z, free),
        (at_later.turning @ P - at_later.rolling @ P @ B, free),
    ):
        size = np.abs(at_later.held).max(initial=0.0) + np.abs(at_later.rolling).max(initial=0.0)
        pace = max(1.0, np.abs(at_later.turning).max(initial=0.0) / max(size, 1e-300))
        missed = np.abs(rows).max(axis=1, initial=0.0)
        if missed.max(initial=0.0) > CHANGED * size * pace:
            name = [n for n, own_row in zip(names, at, strict=True) if own_row][int(missed.argmax())]
            raise ValueError(f"{STATES}: the constraint {name!r} changes during the motion; {ELSE}")
    then, here = _matrix(at_later, P, Z, B), system.matrix
    if np.abs(then - here).max(initial=0.0) > CHANGED * np.abs(here).max(initial=0.0):
        turning = [n for n, s in zip(motion.given.mechanism.frames, motion.own, strict=True) if s.any()]
        raise ValueError(
            f"{STATES}: the linearised equations change during the motion. Bodies that turn relative to others "
            f"({', '.join(map(repr, turning)) or 'none'}) must be symmetric about their axes, as must all that acts on "
            f"them; {ELSE}"
        )


ELSE = "for other periodic motions, as of a rotor on a support at rest, use flexph.analysis.floquet"
