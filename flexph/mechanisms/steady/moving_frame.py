"""Frame of a steady motion: all centres of mass rest in it, and bodies turn about axes that rest in it.

In a steady motion centres move with v₀ + Ω × r, and the spin of each body is Ω plus a constant own spin s about an axis
of symmetry, as that of a wheel. Accelerations are then Ω × ṙ and ω̇ = Ω × ω (in the world). Ω follows from them: they
are linear in Ω, balance all forces with the multipliers λ, and keep the rates of the constraints zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import block_diag, lstsq

from ...kernels.arrays import Arrays
from ...kernels.continuous import mass_of
from ...kernels.gradient import velocity_count
from ...kernels.state import Configuration, constraint_sizes, derive, displacement_sizes
from ...kernels.stiffness.steady_slopes import row_slopes
from ...numerics.arrays import Array, dense
from ...numerics.rotations import finite_rotation, skew, spin_map, spin_skew, spins, turned_spins, unit_sweeps
from ...systems.inputs import Input
from ..model.constraints import velocities_of
from ..model.model import extent
from ..model.state import State, configuration
from ..model.time_table import laws
from ..statics.balance import Problem, problem
from ..statics.balanced_state import is_balanced
from ..statics.steady_rotation import Steady

if TYPE_CHECKING:
    from ..model.model import Model

SMALL = 1e-9
"""Spin, relative to the largest one or to the velocity divided by the size of the mechanism, that counts as zero."""
STEADY = 1e-7
"""Deviation of velocities from those of a steady motion, relative to the largest, that counts as zero."""
RANK = 1e-9
"""Singular value, relative to the largest, below which an unknown of the balance is undetermined."""
SLIGHT = 1e-3
"""Relative change of velocities, during a displacement by the size, whose inertia forces bound forces from below."""
TINY = float(np.finfo(float).tiny)
STATES = "the state must be at rest, in one steady rotation, or roll steadily"


class SteadyMotion(NamedTuple):
    """Steady motion of a mechanism at a time, seen in a frame that moves with it.

    ``own`` (b, s) are the spins of bodies relative to the frame, in body axes; ``multipliers`` (g,) are those of the
    joints.
    """

    given: Problem
    c: Configuration
    own: Array
    multipliers: Array

    @property
    def sizes(self) -> Array:
        """Units of displacements, (n_v,): the size of the mechanism [m] for translations, 1 for rotations."""
        mechanism = self.given.mechanism
        return displacement_sizes(mechanism.network.arrays, extent(mechanism, self.c.r, self.c.R))

    @property
    def acceleration(self) -> Array:
        """Time derivatives ω̇ = Ω × ω of the spins of the bodies, in body axes, (b, s)."""
        return _spin_products(self.given.steady.spin, self.c)

    @property
    def unbalanced(self) -> Array:
        """Unbalanced forces (n_v,): inertia forces of the motion minus all other forces."""
        a, left = self.given.mechanism.network.arrays, self.given.unbalanced(self.c, self.multipliers)
        turning = a.columns.omega[a.turning]
        left[turning] += np.einsum("bij,bj->bi", a.J, self.acceleration)[a.turning]
        return left

    def after(self, time: float) -> SteadyMotion:
        """Steady motion after a time [s], with the multipliers that balance it best."""
        (spin, velocity), c, dim = self.given.steady, self.c, self.c.r.shape[1]
        turn, moved = finite_rotation(spin * time, dim), _frame_displacement(spin, velocity, time)
        turning, R = self.given.mechanism.network.arrays.turning, c.R.copy()
        R[turning] = turn @ c.R[turning] @ finite_rotation(self.own[turning] * time, dim)
        then = self.given.at(self.given.time + time)
        c = c._replace(r=c.r @ turn.T + moved, R=R, v=c.v @ turn.T, omega=self._spins(R, turn))
        other = self._replace(given=then, c=c, multipliers=np.zeros_like(self.multipliers))
        G, left = dense(then.constraints(c)), other.unbalanced
        return other._replace(multipliers=joint_forces(G * self.sizes, left * self.sizes))

    def _spins(self, R: Array, turn: Array) -> Array:
        world = np.einsum("ij,bj->bi", spin_map(turn[None])[0], turned_spins(self.c.R, self.c.omega))
        return np.einsum("bji,bj->bi", spin_map(R), world)

    def axes(self, time: float) -> Array:
        """Matrix (n_v, n_v) from displacements in the moving frame at the start to displacements after a time [s]."""
        dim, a = self.c.r.shape[1], self.given.mechanism.network.arrays
        turn = finite_rotation(self.given.steady.spin * time, dim)
        back = spin_map(finite_rotation(-self.own[a.turning] * time, dim))
        return block_diag(*[turn] * len(self.c.r), *back, np.eye(a.body_u.size))


def _frame_displacement(spin: Array, velocity: Array, time: float) -> Array:
    """Displacement (d,) [m] of the origin of a frame after a time [s]: ∫ e^{Ω×t} v₀ dt.

    The frame has the spin Ω and its origin the velocity v₀ at the start.
    """
    dim, rate = velocity.size, float(np.linalg.norm(spin))
    W = skew(spin, dim)
    angle = rate * time
    if angle < 1e-8:
        return time * velocity + 0.5 * time**2 * (W @ velocity)
    first, second = (1.0 - np.cos(angle)) / rate**2, (angle - np.sin(angle)) / rate**3
    moved: Array = time * velocity + first * (W @ velocity) + second * (W @ (W @ velocity))
    return moved


def _spin_products(spin: Array, c: Configuration) -> Array:
    """Products Ω × ω (b, s) of the world's spin vector Ω with the spins ω of the bodies, in body axes.

    They are zero in the plane.
    """
    if c.r.shape[1] == 2:
        return np.zeros_like(c.omega)
    return np.cross(np.einsum("bji,j->bi", c.R, spin), c.omega)


def moving(mechanism: Model, state: State, inputs: Mapping[str, Input]) -> SteadyMotion:
    """Steady motion of a state under inputs, with its frame.

    Raises ValueError for a state whose motion is not steady.
    """
    c, dim = configuration(mechanism, state.x), mechanism.layout.dim
    at_rest = Steady(np.zeros(spins(dim)), np.zeros(dim))
    given = problem(mechanism, state.anchors, state.time, inputs=inputs, steady=at_rest)
    spin, multipliers = _frame_spin(given, c)
    velocity = (c.v - c.r @ skew(spin, dim).T).mean(axis=0)
    steady = Steady(spin, velocity)
    world = np.einsum("bji,j->bi", spin_map(c.R), spin)
    relative, turning = np.zeros_like(c.omega), mechanism.network.arrays.turning
    relative[turning] = (c.omega - world)[turning]
    relative[np.abs(relative).max(axis=1) <= SMALL * np.abs(c.omega).max(initial=0.0)] = 0.0
    _refuse_deviations(mechanism, c, steady)
    motion = SteadyMotion(given._replace(steady=steady), c, relative, multipliers)
    _refuse_bending(motion)
    G, left = given.constraints(c), motion.unbalanced
    joints = np.maximum(np.abs(G.T @ multipliers), _slight_force(motion))
    if not is_balanced(mechanism, c, left, np.maximum(joints, np.abs(left) + joints), spin=spin):
        raise ValueError(
            f"{STATES}: a force of {np.abs(left).max():.2g} is not balanced by the joints. Give the inputs= that "
            "sustain the motion. For an unsymmetric or bladed rotor on a support at rest use "
            "flexph.analysis.floquet about its motion over a turn"
        )
    return motion


def _slight_force(motion: SteadyMotion) -> Array:
    """Inertia forces (n_v,) of slightly unsteady motions, with which unbalanced forces are compared.

    They change the velocities by a share of ``SLIGHT`` during a displacement by the size of the mechanism.
    """
    v = velocities_of(motion.given.mechanism, motion.c)
    pace = float(np.abs(v / motion.sizes).max(initial=0.0))
    return SLIGHT * pace * np.abs(mass_of(motion.given.mechanism.network.arrays, motion.c.u) @ v)


def _frame_spin(given: Problem, c: Configuration) -> tuple[Array, Array]:
    """World spin Ω (s,) [rad/s] of the frame in which a motion is steady, and multipliers (g,) that balance it.

    They follow from the balance of forces, the constraint rates and the velocities by least squares, with all rows
    scaled to be without units.
    """
    mechanism, a = given.mechanism, given.mechanism.network.arrays
    d, size, s = derive(a, c), extent(mechanism, c.r, c.R), spins(c.r.shape[1])
    sizes, lengths = displacement_sizes(a, size), constraint_sizes(a, d.vector)
    v, none = velocities_of(mechanism, c), np.zeros(mechanism.layout.multipliers)
    pace = max(float(np.abs(v / sizes).max(initial=0.0)), TINY)  # [1/s]
    faster, G, left = _accelerations(a, c), dense(given.constraints(c)), given.unbalanced(c, none)
    inertia = _rigid_inertia(a, faster)
    largest = max(float(np.abs(left * sizes).max(initial=0.0)), float(np.abs(inertia.T * sizes).max()) * pace)
    push = (G * sizes).T / np.where(lengths > 0.0, lengths, 1.0)
    slopes = dense(row_slopes(a, (c, d), np.zeros(s), given.table.at(given.time)[0]))
    still = np.array([not callable(law.value) for law in laws(mechanism)], dtype=bool)
    kept, bent = (G @ faster / lengths[:, None] / pace)[still], (slopes @ v / lengths / pace**2)[still]
    arms = unit_sweeps(c.r - c.r[0]).transpose(0, 2, 1).reshape(-1, s) / size
    spun = np.vstack([inertia * sizes[:, None] * pace / max(largest, TINY), kept, arms])
    matrix = np.hstack([spun, np.vstack([-push, np.zeros((len(spun) - len(push), push.shape[1]))])])
    wanted = [-left * sizes / max(largest, TINY), -bent, (c.v - c.v[0]).ravel() / size / pace]
    spin = pace * lstsq(matrix, np.concatenate(wanted), cond=RANK)[0][:s]
    spin = np.where(np.abs(spin) <= SMALL * pace, 0.0, spin)
    return spin, joint_forces(G * sizes, (left + inertia @ spin) * sizes)


def joint_forces(G: Array, left: Array) -> Array:
    """Multipliers λ of least norm for which Gᵀλ is nearest to the force ``left``."""
    multipliers: Array = lstsq(G.T, left, cond=RANK)[0] if len(G) else np.zeros(0)
    return multipliers


def _accelerations(a: Arrays, c: Configuration) -> Array:
    """Matrix (n_v, s) from the spin Ω of the frame to the accelerations of a steady motion.

    These are Ω × ṙ, Ω × ω in body axes, and 0 for deformations.
    """
    dim, s = c.r.shape[1], spins(c.r.shape[1])
    faster = np.zeros((velocity_count(a), s))
    faster[a.columns.v.ravel()] = unit_sweeps(c.v).transpose(0, 2, 1).reshape(-1, s)
    if dim == 3:
        turning = -np.matmul(spin_skew(c.omega), c.R.transpose(0, 2, 1))[a.turning]
        faster[a.columns.omega[a.turning].ravel()] = turning.reshape(-1, s)
    return faster


def _rigid_inertia(a: Arrays, faster: Array) -> Array:
    """Inertia forces (n_v, s) of rigid bodies with the accelerations ``faster`` (n_v, s)."""
    force, turning = np.zeros_like(faster), a.columns.omega[a.turning]
    centres = a.columns.v.ravel()
    force[centres] = np.repeat(a.mass, a.dim)[:, None] * faster[centres]
    force[turning.ravel()] = np.matmul(a.J[a.turning], faster[turning]).reshape(-1, faster.shape[1])
    return force


def _refuse_deviations(mechanism: Model, c: Configuration, steady: Steady) -> None:
    defect = max(np.abs(c.v - steady.field(c.r)).max(initial=0.0), np.abs(c.du).max(initial=0.0))
    if defect > STEADY * max(np.abs(velocities_of(mechanism, c)).max(initial=0.0), 1e-12):
        raise ValueError(
            f"{STATES}: centres of mass deviate from it by {defect:.2g} m/s; for a rotor on a support at rest, such as "
            "a flexible tower, use flexph.analysis.floquet about its motion over a turn"
        )


def _refuse_bending(motion: SteadyMotion) -> None:
    a = motion.given.mechanism.network.arrays
    bent = [i for i in np.unique(a.body_u).tolist() if motion.own[i].any()]
    if bent:
        name = list(motion.given.mechanism.frames)[bent[0]]
        raise ValueError(
            f"{STATES}: {name!r} is flexible and turns relative to other bodies, as a rotor on a support at rest, "
            "which is a periodic motion: use flexph.analysis.floquet about its motion over a turn"
        )
