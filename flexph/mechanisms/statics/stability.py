"""Stability of an equilibrium, by the least ω² of its small motions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, eigvalsh, lstsq

from ...kernels.state import Configuration, derive, displacement_sizes, lever
from ...kernels.stiffness.stiffness_size import stiffness_size
from ...kernels.stiffness.tangent import tangent
from ...linear.elimination import null_space_and_redundancy
from ...numerics.arguments import warn
from ...numerics.arrays import Array, dense
from ...systems.inputs import Input
from ...systems.nonlinear import ValidityWarning
from ..model.model import extent
from ..model.state import State, configuration
from ..model.time_table import laws
from .balance import JointForces, Problem, joint_forces, problem, stiffness_at
from .periodic_motion import in_any_direction
from .steady_rotation import steady_motion

if TYPE_CHECKING:
    from ..model.model import Model

ROUND_OFF = 10.0 * float(np.finfo(float).eps)
"""Error of an entry of the stiffness, relative to the sum of the magnitudes of its terms, after some ten operations."""
ZERO = 1e-14
"""Value of ω², relative to the largest one, up to which it is round-off for a steady rotation."""
SHIFT = 1e-12
"""Least shift of ω², relative to the largest one, that makes all ω² positive."""
MANY = 1000
"""Number of velocities up to which stability is tested, by dense algebra; above, it is not tested along load steps."""

FEW = 300
"""Number of velocities up to which stability is tested after each search, as it is cheap compared with the search."""
ASKEW = 1e-8
"""Skew part of a stiffness, relative to its largest entry, up to which forces have a potential."""

MODES = 40
"""Number of softest shapes used to test a steady rotation for stability."""
GROWTH = 1e-6
"""Growth rate, relative to the fastest of these motions, up to which it is round-off."""


class Softest(NamedTuple):
    """Least ω² of the small motions about an equilibrium, and the shape (n_v,) of the motion with this ω².

    ω² is zero if it is round-off, and infinite for a mechanism that cannot move.
    """

    square: float
    shape: Array


class _FreeMotions(NamedTuple):
    """Small motions that the joints allow at an equilibrium, with f coordinates.

    ``basis`` spans them in the displacements of ``joints``; ``stiffness`` and ``mass`` (f, f) are their matrices.
    """

    given: Problem
    c: Configuration
    joints: JointForces
    basis: Array
    stiffness: Array
    mass: Array

    def shapes(self, x: Array) -> Array:
        """Velocities of the mechanism (n_v, …) in motions with the coordinates x (f, …)."""
        lifted: Array = self.joints.lift @ (self.basis @ x)
        return lifted

    def noise(self, shapes: Array) -> Array:
        """Errors (k,) of vᵀKv for k shapes v of the velocities, the columns of (n_v, k).

        They follow from the errors of the entries of the stiffness K.
        """
        given, c, multipliers = self.given, self.c, self.joints.multipliers
        a, sizes = given.mechanism.network.arrays, np.abs(shapes)
        size = stiffness_size(a, c, derive(a, c), given.forces(c, multipliers), spin=given.steady.spin)
        error = stiffness_error(given, c, size, given.unbalanced(c, multipliers))
        noise: Array = (sizes * (error @ sizes)).sum(axis=0)
        return noise


def _free_motions(given: Problem, c: Configuration) -> _FreeMotions:
    """Small motions that the joints allow at an equilibrium, by dense algebra."""
    joints = joint_forces(given, c)
    K = stiffness_at(given, c, joints.arrays, joints.multipliers)
    basis = _free_basis(joints)
    return _FreeMotions(given, c, joints, basis, *(basis.T @ dense(matrix @ basis) for matrix in (K, joints.mass)))


def _free_basis(joints: JointForces) -> Array:
    """Basis (n, f) of the displacements, in the coordinates of ``joints``, that the joints allow."""
    rows, size = joints.rows, joints.mass.shape[0]
    return null_space_and_redundancy(rows)[0].toarray() if rows.shape[0] else np.eye(size)


def unstable_motions(given: Problem, c: Configuration) -> int:
    """Number of negative eigenvalues of the tangent stiffness at an equilibrium at rest.

    Only eigenvalues larger than their error count. The number is 0 for forces without a potential, whose stiffness is
    not symmetric.
    """
    free = _free_motions(given, c)
    whole = free.stiffness
    reduced = 0.5 * (whole + whole.T)
    try:
        np.linalg.cholesky(reduced)
    except np.linalg.LinAlgError:
        pass
    else:
        return 0
    if np.abs(whole - whole.T).max() > ASKEW * np.abs(whole).max():
        return 0
    squares, vectors = eigh(reduced, free.mass)
    noise = free.noise(free.shapes(vectors[:, squares < -ZERO * squares[-1]]))  # vᵀMv = 1
    return int(np.sum(squares[: noise.size] < -noise))


def warn_if_unstable(mechanism: Model, state: State, inputs: Mapping[str, Input]) -> None:
    """Warn of an equilibrium at rest that is not stable.

    Large mechanisms, forces without a potential and nonholonomic constraints are not tested: for these two, stability
    does not follow from a minimum of the energy.
    """
    springs, flows = mechanism.network.arrays.springs, mechanism.network.arrays.flows
    if mechanism.layout.velocities > FEW or springs.force_laws or any(law.of_rates for law in laws(mechanism)):
        return
    if flows:  # which have no potential
        return
    given = problem(mechanism, state.anchors, state.time, inputs=inputs, steady=steady_motion(mechanism, state))
    if number := unstable_motions(given, configuration(mechanism, state.x)):
        warn(
            f"the equilibrium is unstable: its stiffness has {number} negative eigenvalue{'s' * (number > 1)}, as "
            "beyond a buckling load or upside down; from a nearby pose, equilibrium finds a stable one, and "
            "mechanism.buckling gives the load at which stability is lost",
            ValidityWarning,
        )


def softest_motions(given: Problem, c: Configuration, count: int) -> tuple[Array, Array, Array]:
    """Least ω² of the small motions about an equilibrium, ascending, their errors, and their shapes (n_v, count).

    Shapes have vᵀM v = 1. There are fewer than ``count`` if the mechanism has fewer free motions. See
    :func:`softest_motion`.
    """
    free = _free_motions(given, c)
    reduced, mass = 0.5 * (free.stiffness + free.stiffness.T), free.mass
    size = len(mass)
    shift = _shift(reduced, mass)
    inverse, vectors = eigh(mass, reduced + shift * mass, subset_by_index=[max(size - count, 0), size - 1])
    vectors = (vectors / np.sqrt(np.einsum("ij,ij->j", vectors, mass @ vectors)))[:, ::-1]
    shapes = free.shapes(vectors)
    return (1.0 / inverse - shift)[::-1], free.noise(shapes), shapes


def _shift(stiffness: Array, mass: Array) -> float:
    """Number s > 0 for which all ω² + s of a stiffness and a mass matrix are positive."""
    rough = eigvalsh(stiffness, mass)
    return float(2.0 * abs(rough[0]) + SHIFT * abs(rough[-1]))


def free_stiffness(given: Problem, c: Configuration, shapes: Array) -> Array:
    """Matrix (k, k) of the energies vᵀK w of k shapes v and w, the columns of (n_v, k).

    Shapes are projected onto motions that the joints allow.
    """
    free, a = _free_motions(given, c), given.mechanism.network.arrays
    sizes = displacement_sizes(a, lever(a))[:, None]
    x = lstsq(dense(free.shapes(np.eye(free.basis.shape[1]))) / sizes, shapes / sizes)[0]
    form: Array = x.T @ free.stiffness @ x
    return 0.5 * (form + form.T)


def softest_motion(given: Problem, c: Configuration) -> Softest:
    """Softest small motion, from the symmetric part of the stiffness by dense algebra.

    Its ω² is 1/μ − s with the largest μ of M x = μ (K + s M) x, where s makes all ω² + s positive. Its error is that of
    the stiffness along the shape. (The least eigenvalue of the pencil (K, M) itself has an error relative to the
    largest ω², which exceeds the ω² of slender rods.)
    """
    free = _free_motions(given, c)
    if not free.basis.shape[1]:
        return Softest(np.inf, np.zeros(given.mechanism.layout.velocities))
    reduced, mass = 0.5 * (free.stiffness + free.stiffness.T), free.mass
    shift, last = _shift(reduced, mass), len(mass) - 1
    if shift == 0.0:  # without any stiffness
        return Softest(0.0, free.joints.lift @ free.basis[:, 0])
    inverse, vectors = eigh(mass, reduced + shift * mass, subset_by_index=[last, last])
    square, x = float(1.0 / inverse[0] - shift), vectors[:, 0]
    shape = free.shapes(x)
    noise = float(free.noise(shape[:, None])[0] / (x @ mass @ x))
    return Softest(square if abs(square) > noise else 0.0, shape)


def stiffness_error(given: Problem, c: Configuration, whole: Any, left: Array) -> Any:
    """Upper bounds of the errors of the entries of the stiffness, sparse (n_v, n_v).

    ``whole`` is the sum of its absolute terms, see :func:`stiffness_size`, and ``left`` the unbalanced forces (n_v,).
    """
    every = in_any_direction(given.mechanism.network.arrays)
    size = ROUND_OFF * whole + _unbalanced_stiffness(given.mechanism, c, left)
    return size + np.finfo(float).eps * (every @ size @ every)


def _unbalanced_stiffness(mechanism: Model, c: Configuration, left: Array) -> Any:
    """Error of the stiffness because forces do not balance exactly, sparse diagonal (n_v, n_v).

    ``left`` (n_v,) are the unbalanced forces. A rotation θ of the whole mechanism does the work f·(θ × (θ × r)) by a
    force f on a centre of mass at r.
    """
    centres, spins, _ = mechanism.network.arrays.columns
    size = np.zeros(left.size)
    size[centres] = np.abs(left[centres]) / extent(mechanism, c.r, c.R)
    turning = spins[spins >= 0]
    size[turning] = np.abs(left[turning])
    return sparse.diags_array(size)


def is_minimum(given: Problem, c: Configuration) -> bool:
    """True if an equilibrium is a minimum of the energy.

    Mechanisms with more than ``MANY`` velocities are not tested: the result is True.
    """
    return given.mechanism.layout.velocities > MANY or softest_motion(given, c).square >= 0.0


def has_growing_motion(given: Problem, c: Configuration) -> bool:
    """True if small motions about a steady rotation grow, as far as the softest of them show.

    As gyroscopic forces may stabilise, the test is M η̈ + (C + R) η̇ + K η = 0 on the ``MODES`` softest shapes.
    """
    a = given.mechanism.network.arrays
    if given.mechanism.layout.velocities > MANY:
        return False
    joints = joint_forces(given, c)
    t = tangent(a, c, derive(a, c), given.forces(c, joints.multipliers), spin=given.steady.spin)
    basis = _free_basis(joints)
    mass, gyroscopic, damping, K = (basis.T @ dense(matrix @ basis) for matrix in t)
    if not len(K):
        return False
    squares, shapes = eigh(0.5 * (K + K.T), mass, subset_by_index=[0, min(MODES, len(K)) - 1])
    if squares[0] >= -ZERO * abs(squares[-1]) and not damping.any():
        return False
    C, K = (shapes.T @ matrix @ shapes for matrix in (gyroscopic + damping, K))
    unit, none = np.eye(len(C)), np.zeros_like(C)
    values = np.linalg.eigvals(np.block([[none, unit], [-K, -C]]))
    return bool(values.real.max() > GROWTH * np.abs(values).max())
