"""Balance of forces at rest or in a steady rotation, and a Newton step towards it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ...kernels.arrays import Arrays, total
from ...kernels.contacts.distances import closed_rows
from ...kernels.continuous import elastic_stress, mass_of, strain_rates
from ...kernels.frame_motion import frame_motion, frame_rows, from_frames, is_parted, weight_stiffness
from ...kernels.gradient import blocks_of, is_sparse, scale_both
from ...kernels.rates.on_curves import add_curve_forces
from ...kernels.rolling import add_forces, gains
from ...kernels.state import Configuration, derive, displacement_sizes, lever
from ...kernels.stiffness.forms import inertia_force
from ...kernels.stiffness.steady_slopes import has_dampers, slip_product_forces, steady_rates, steady_tensions
from ...kernels.stiffness.tangent import Forces, generalised_force, tangent_stiffness
from ...kernels.strains import end_stiffness, strain_stresses
from ...numerics.arrays import Array
from ...numerics.factors.positive_definite import MANY
from ...numerics.factors.singular_systems import solve_saddle
from ...numerics.rotations import spin_map
from ...systems.inputs import Forcing, Input
from ..model.constraints import constraint_gap, moved, rates_at, spring_extensions
from ..model.redundancy import independent
from ..model.references import controlled_factors
from ..model.time_table import Anchors, TimeTable
from .steady_rotation import Steady

if TYPE_CHECKING:
    from ..model.model import Model


NOISE = 1e-3
"""Stiffness, relative to that of the weights, below which a stiffness counts as round-off."""


class Problem(NamedTuple):
    """Balance of forces of a mechanism to be solved, in a steady motion or at rest.

    ``applied`` are the inputs at the ``time``, ``table`` has the drives, and ``share`` is the share of the weight that
    acts.
    """

    mechanism: Model
    table: TimeTable
    time: float
    applied: Array
    steady: Steady
    forcing: Forcing
    share: float = 1.0

    def at(self, time: float) -> Problem:
        """Problem at another time, with inputs and drives of that time."""
        return self._replace(time=time, applied=self.share * self.forcing.at(time))

    def under(self, share: float) -> Problem:
        """Problem with a share of all loads, which are weight, inputs and centrifugal forces."""
        root = np.sqrt(share)
        steady = Steady(root * self.steady.spin, root * self.steady.velocity)
        return self._replace(applied=share * self.applied, steady=steady, share=share)

    def pushed(self, share: float) -> Problem:
        """Problem with a share of the inputs, but full weight and centrifugal forces."""
        return self._replace(applied=share * self.applied)

    def forces(self, c: Configuration, lam: Array) -> Forces:
        """Forces of joints, springs, dampers and inputs at a configuration in the steady motion.

        ``lam`` are the multipliers.
        """
        a: Arrays = self.mechanism.network.arrays
        coefficient, _ = self.table.at(self.time)
        on_product = total(a.term_product, lam[a.term_row] * coefficient, a.first.size)
        if a.rolling.row.size or a.curves:
            d = derive(a, c)
            add_forces(a, lam, gains(a, d.product, d.product), on_product)
            add_curve_forces(a.curves, d.on_curves, (lam, self.applied), on_product)
        if a.closed:
            on_product += closed_rows(a.closed, derive(a, c).product, lam.size).T @ lam
        if a.slips.row.size and c.v.any():
            on_product += slip_product_forces(a, c, derive(a, c), lam)
        extension = spring_extensions(self.mechanism, c, self.table, self.time)
        springs, time, rate = a.springs, self.time, np.zeros(extension.size)
        if has_dampers(a, c):
            rate = steady_rates(a, c, derive(a, c))
        tension = springs.tensions(extension, time, rate) + steady_tensions(a, c, rate)
        by_rate = springs.rate_slopes(extension, time, rate)
        return Forces(on_product, tension, springs.slopes(extension, time, rate), by_rate, self.applied, lam, time)

    def unbalanced(self, c: Configuration, lam: Array) -> Array:
        """Unbalanced forces (n_v,) at a configuration: inertia forces of the steady motion minus all other forces.

        ``lam`` are the multipliers of the joints.
        """
        a = self.mechanism.network.arrays
        a = a if self.share == 1.0 else a._replace(weight=self.share * a.weight)
        inertia = inertia_force(a, c, self.steady.centripetal(c.r))
        return inertia - generalised_force(a, c, derive(a, c), self.forces(c, lam))

    def constraints(self, c: Configuration) -> Any:
        """Constraint matrix G (g, n_v) at a configuration; dense or sparse as the kernel arrays."""
        return rates_at(self.mechanism, (c, derive(self.mechanism.network.arrays, c)), self.table, self.time)[0]


def problem(mechanism: Model, anchors: Anchors, time: float, *, inputs: Mapping[str, Input], steady: Steady) -> Problem:
    """Balance of forces to be solved for a mechanism with the anchors of a pose.

    Raises ValueError for inputs that set factors of stiffness, friction or mass.
    """
    forcing = Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim)
    for factor in mechanism.once(controlled_factors):
        if factor.name in inputs:
            raise ValueError(
                f"inputs: equilibria take the {factor.what} of {factor.name!r} without its input: give a law with the "
                f"wanted {factor.what} instead"
            )
    return Problem(mechanism, TimeTable(mechanism, anchors), time, forcing.at(time), steady, forcing)


def in_motion(mechanism: Model, c: Configuration, steady: Steady) -> Configuration:
    """Configuration with the positions of ``c``, and the velocities of a steady rotation."""
    turning, omega = mechanism.network.arrays.turning, np.zeros_like(c.omega)
    omega[turning] = np.einsum("bji,j->bi", spin_map(c.R[turning]), steady.spin)
    return c._replace(v=steady.field(c.r), omega=omega)


def newton_step(given: Problem, c: Configuration) -> Array:
    """Newton step ξ (n_v,) towards balance: K ξ − Gᵀλ = −ρ, G ξ = −g, with unbalanced forces ρ and gaps g.

    Strain rows use the mixed form: forces follow from the strains, the stiffness from the stresses σ, which each
    correction updates to first order.
    """
    j = joint_forces(given, c)
    K = stiffness_at(given, c, j.arrays, j.multipliers)
    gap = constraint_gap(given.mechanism, c, given.table, given.time)
    rhs = np.concatenate([j.rows.T @ j.own - j.force, -(j.spread.T @ gap)])
    least = weight_scale(given.mechanism.network.arrays)
    step: Array = j.lift @ solve_saddle_point(j.arrays, K, j.rows, rhs, least=least)[: j.force.size]
    return step


class JointForces(NamedTuple):
    """Multipliers of the joints that balance a configuration best, and the terms of this least-squares problem.

    The terms belong to the displacements ξ' of :func:`coordinates`, from which those of the mechanism are ξ = T ξ'.
    ``lift`` is T; ``arrays`` are the kernel arrays, ``mass`` the mass matrix and ``force`` (n',) the unbalanced force
    without joints for ξ'. ``rows`` (r, n') are the independent constraints, ``own`` (r,) their multipliers, and
    ``spread`` (g, r) maps ``own`` to all ``multipliers``.
    """

    arrays: Arrays
    lift: Any
    rows: Any
    spread: Any
    own: Array
    force: Array
    mass: Any

    @property
    def multipliers(self) -> Array:
        """Multipliers of all constraints, (g,)."""
        multipliers: Array = self.spread @ self.own
        return multipliers


def joint_forces(given: Problem, c: Configuration) -> JointForces:
    """Multipliers of the joints with which the remaining unbalanced forces accelerate the mechanism least.

    Accelerations are compared by ½ aᵀM a, with the mass matrix M.
    """
    a, T = coordinates(given, c)
    G, spread = independent_rows(given, c, T)
    force, M = T.T @ given.unbalanced(c, np.zeros(spread.shape[0])), mass_of(a, c.u)
    multipliers = solve_saddle_point(a, M, G, np.concatenate([-force, np.zeros(G.shape[0])]))[force.size :]
    return JointForces(a, T, G, spread, multipliers, force, M)


def coordinates(given: Problem, c: Configuration) -> tuple[Arrays, Any]:
    """Kernel arrays for displacements ξ', and the matrix T of ξ = T ξ' (n_v, n').

    For large bodies at rest, ξ' are displacements of their floating frames, so that matrices stay sparse.
    """
    a = given.mechanism.network.arrays
    if is_parted(a, given.steady.spin):
        return from_frames(a), frame_motion(a, c)
    return a, _unit(a, given.mechanism.layout.velocities)


def stiffness_at(given: Problem, c: Configuration, a: Arrays, lam: Array) -> Any:
    """Tangent stiffness for the displacements ξ' of :func:`coordinates`, which also gives the arrays ``a``.

    ``lam`` are the multipliers of the joints.
    """
    whole = given.mechanism.network.arrays
    stiffness = tangent_stiffness(a, c, derive(whole, c), given.forces(c, lam), spin=given.steady.spin)
    return stiffness + weight_stiffness(whole, c) if is_parted(whole, given.steady.spin) else stiffness


def independent_rows(given: Problem, c: Configuration, T: Any) -> tuple[Any, Any]:
    """Independent combinations of the constraints as rows over the displacements ξ' (ξ = T ξ'), (r, n').

    The second result (g, r) maps their multipliers to those of all constraints.
    """
    G = given.constraints(c)
    G = frame_rows(G, T) if is_parted(given.mechanism.network.arrays, given.steady.spin) else G
    rows = independent(given.mechanism, G)
    return (G, _unit(given.mechanism.network.arrays, G.shape[0])) if rows is None else (rows.T @ G, rows)


def _unit(a: Arrays, size: int) -> Any:
    return sparse.eye_array(size, format="csr") if is_sparse(a) else np.eye(size)


def _is_meshed(a: Arrays) -> bool:
    """True if large bodies have many stresses for each coordinate, as solids and plates do, unlike chains of beams."""
    stresses, coordinates = a.strain.shape
    return a.mean is not None and bool(stresses >= MANY * coordinates)


def weight_scale(a: Arrays) -> float:
    """Stiffness [J] below which a stiffness counts as round-off, for displacements in units of the mechanism's size.

    It is a share of the work of all weights along the size.
    """
    return NOISE * lever(a) * float(np.linalg.norm(a.weight, axis=1).sum())


def solve_saddle_point(a: Arrays, block: Any, G: Any, rhs: Array, *, least: float = 0.0) -> Array:
    """Solution (ξ, λ) of [[A, −Gᵀ], [G, 0]] (ξ, λ) = rhs, with the least norm if it is not unique; A is ``block``.

    Displacements and constraints are scaled to one unit first, as otherwise rank and least norm would depend on units.
    The rows of constraints have at least the size ``least``, so that a smaller block counts as round-off in the rank.
    """
    length = lever(a)
    sizes, n = displacement_sizes(a, length), block.shape[0]
    rows = np.where(a.holds_points > 0.0, length, 1.0) if G.shape[0] == a.holds_points.size else length
    scaled = scale_both(block, sizes, sizes)
    unit = np.concatenate([sizes, np.broadcast_to(max(float(abs(scaled).max()), least) / rows, G.shape[:1])])
    off = scale_both(G, unit[n:], sizes)
    matrix = blocks_of(a, (unit.size, unit.size), [(0, 0, scaled), (0, n, -off.T), (n, 0, off)])
    return unit * solve_saddle(matrix, unit * rhs, meshed=_is_meshed(a))


def moved_by(given: Problem, c: Configuration, correction: Array) -> Configuration:
    """Configuration in the steady motion after a correction (n_v,) of its positions, with its stresses.

    The correction is shortened so that no rotation about an axis exceeds half a radian.
    """
    mechanism, time = given.mechanism, given.time
    largest = float(np.abs(correction[mechanism.network.arrays.columns[1].ravel()]).max(initial=0.0))
    correction = correction * min(1.0, 0.5 / largest) if largest > 0.0 else correction
    after = moved(mechanism, c, correction)
    sigma = elastic_stress(mechanism.network.arrays, after.u)
    a, stresses = mechanism.network.arrays, mechanism.network.arrays.strains.stress
    if stresses.size:
        d = derive(a, c)
        strained = end_stiffness(a.strains, d.product, time) @ (strain_rates(a, c, d) @ correction)
        sigma[stresses] = strain_stresses(a.strains, d.product, time) + strained
    return in_motion(mechanism, after._replace(sigma=sigma), given.steady)
