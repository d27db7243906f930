"""Steady motion at later times, to test that loads and joints turn with it, and its coefficients in the rotating frame.

Bodies, and all forces between them, are the same at every angle. Supports, springs and dampers to the ground and loads
fixed in the world turn backwards in the rotating frame; they are compared with those at the start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...joints.rows.connection import measures
from ...kernels.continuous import curve_slips
from ...kernels.gradient import block_diagonal, product_matrix
from ...kernels.state import Configuration, constraint_sizes, derive, displacement_sizes
from ...kernels.stiffness.tangent import Forces, generalised_force
from ...numerics.arrays import Array
from ...numerics.rotations import finite_rotation, skew
from ..model.constraints import constraint_gap, velocities_of
from ..model.model import extent
from .balance import Problem, in_motion
from .balanced_state import round_off_work
from .steady_rotation import STEADY

SAMPLES = 3
GOLDEN = 0.5 * (5.0**0.5 - 1.0)
"""Samples are at multiples of the golden section of a period, so that no symmetry can hide a change."""
CHANGED = 1e-10
"""Change of a force, relative to the largest or the inertia forces, above which it does not turn with the motion."""


class LaterMotion(NamedTuple):
    """Steady motion at a later time, with the problem and the configuration of that time.

    ``axes`` (n_v, n_v) maps displacements (δr, θ, δu) in the rotating frame to the world.
    """

    given: Problem
    c: Configuration
    axes: Any

    def seen(self, matrix: Any) -> Any:
        """Matrix (n_v, n_v) over displacements in the rotating frame, from one over displacements in the world."""
        return self.axes.T @ (matrix @ self.axes)


def period_of(given: Problem, c: Configuration) -> float:
    """Time [s] of a turn or, without spin, of a displacement by the size of the mechanism."""
    turn = float(np.linalg.norm(given.steady.spin))
    if turn > 0.0:
        return 2.0 * np.pi / turn
    return extent(given.mechanism, c.r, c.R) / float(np.linalg.norm(given.steady.velocity))


def motion_after(given: Problem, c: Configuration, after: float) -> LaterMotion:
    """Steady motion of a configuration after a time [s], with drives and inputs at that time."""
    (spin, velocity), dim = given.steady, c.r.shape[1]
    square, W = float(spin @ spin), skew(spin, dim)
    centre = W @ velocity / square if square > 0.0 else np.zeros(dim)
    turn = finite_rotation(spin * after, dim)
    r = centre + (c.r - centre) @ turn.T + after * (velocity + W @ centre)
    turning, R = given.mechanism.network.arrays.turning, c.R.copy()
    R[turning] = turn @ c.R[turning]
    size = given.mechanism.layout.velocities - c.r.size
    axes = sparse.block_diag([block_diagonal(np.tile(turn, (len(r), 1, 1))), sparse.eye_array(size)], format="csr")
    then = given.at(given.time + after)
    return LaterMotion(then, in_motion(given.mechanism, c._replace(r=r, R=R), given.steady), axes)


def refuse_unsteady(given: Problem, c: Configuration) -> None:
    """Raise ValueError, naming the element, if a load, spring, damper or joint differs later in a motion.

    Loads and joints must turn with the steady motion.
    """
    if not (np.any(given.steady.spin) or np.any(given.steady.velocity)):
        return
    _refuse_slips(given, c)
    period = period_of(given, c)
    for i in range(1, SAMPLES + 1):
        other = motion_after(given, c, period * ((GOLDEN * i) % 1.0))
        _refuse_loads(given, c, other)
        _refuse_joints(given, c, other)


def _without_joints(given: Problem, c: Configuration) -> Forces:
    return given.forces(c, np.zeros(given.mechanism.layout.multipliers))


def _refuse_loads(given: Problem, c: Configuration, other: LaterMotion) -> None:
    a, size = given.mechanism.network.arrays, extent(given.mechanism, c.r, c.R)
    sizes = displacement_sizes(a, size)
    forces = [_without_joints(given, c), _without_joints(other.given, other.c)]

    def change(*acting: Forces) -> tuple[Array, Array]:
        here, there = (generalised_force(a, p, derive(a, p), f) for p, f in zip((c, other.c), acting, strict=True))
        return np.abs(other.axes.T @ there - here) * sizes, np.abs(here) * sizes

    def only(kind: str, i: slice) -> tuple[Array, Array]:
        kept = [np.zeros_like(getattr(f, kind)) for f in forces]
        for part, f in zip(kept, forces, strict=True):
            part[i] = getattr(f, kind)[i]
        blank = {"spring": np.zeros_like(forces[0].spring), "inputs": np.zeros_like(forces[0].inputs)}
        return change(*(f._replace(**{**blank, kind: part}) for f, part in zip(forces, kept, strict=True)))

    inertia = float(a.mass.sum() * (given.steady.spin @ given.steady.spin)) * size**2
    changed, acting = change(*forces)
    noise = round_off_work(a, c, size, given.steady.spin)  # of stiff bodies far above that of the loads
    if changed.max(initial=0.0) <= max(CHANGED * max(acting.max(initial=0.0), inertia), noise):
        return
    springs = [(name, slice(i, i + 1)) for i, (name, _) in enumerate(measures(given.mechanism.connections))]
    parts = [("spring", *own) for own in springs]
    parts += [("inputs", *own) for own in given.mechanism.network.input_slices.items()]
    changes = [(only(kind, own)[0].max(initial=0.0), name) for kind, name, own in parts]
    most, name = max(changes, default=(0.0, "gravity"))
    name = name if most > 0.0 else "gravity"
    raise ValueError(
        f"{name} acts from the ground and does not turn with {_described(given)}: its force changes as the mechanism "
        "turns, so that there is no steady rotation. Let it act on the axis, let it turn with the mechanism, or "
        "integrate the motion (flexph.analysis.floquet gives the stability of a periodic one)"
    )


def _refuse_joints(given: Problem, c: Configuration, other: LaterMotion) -> None:
    mechanism, a = given.mechanism, given.mechanism.network.arrays
    if not mechanism.layout.multipliers:
        return
    size = constraint_sizes(a, derive(a, c).vector)
    gap = constraint_gap(mechanism, other.c, other.given.table, other.given.time)
    gap = gap - constraint_gap(mechanism, c, given.table, given.time)
    open_by = np.abs(gap) > STEADY * size
    if open_by.any():
        name = mechanism.constraint_names[int(np.argmax(np.abs(gap) / size))]
        raise ValueError(
            f"the joints do not turn with {_described(given)}: {name!r} opens as the mechanism turns. Hold it by "
            "a revolute joint about that axis and a drive of that rate"
        )


def _refuse_slips(given: Problem, c: Configuration) -> None:
    """Raise ValueError, naming the joint, if friction of a port along a curve slips in a steady motion."""
    a, d = given.mechanism.network.arrays, derive(given.mechanism.network.arrays, c)
    if not a.slips.slip.size:
        return
    v = velocities_of(given.mechanism, c)
    S, _ = curve_slips(a, d.product, product_matrix(a, c.R, d.arm, d.vector))
    if np.any(np.abs(S @ v) > STEADY * np.abs(v).max(initial=0.0)):
        name = next(k.name for k in given.mechanism.connections if k.form.slips)
        raise ValueError(f"friction of {name} slips in {_described(given)}, and is not available in a steady motion")


def _described(given: Problem) -> str:
    spin = given.steady.spin
    return f"a steady rotation of {spin} rad/s" if np.any(spin) else f"a steady velocity of {given.steady.velocity} m/s"
