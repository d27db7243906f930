"""Small motions about a loaded rest or a steady rotation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, eig, eigh, solve_triangular, svd
from scipy.linalg import null_space as null_space_of

from . import checks as check
from .elimination import null_space
from .equilibrium import BALANCED, Steady, noise, problem, refuse_nonholonomic, steady_motion
from .initial import velocities_of
from .inputs import Input
from .kernels.continuous import input_matrix, spring_operator, strain_operator
from .kernels.gradient import columns
from .kernels.springs import damping_slopes
from .kernels.state import Configuration, Derived, derive
from .kernels.tangent import tangent
from .linear import LinearPHDAE
from .space import Array, cross
from .state import State, configuration

if TYPE_CHECKING:
    from .mechanism import Mechanism

ZERO = 1e-13
"""Frequency over the highest one, times the number of freedoms, up to which a freedom counts as neutral; where K is not
positive definite, the same of their squares."""


@dataclass(frozen=True)
class Spectrum:
    """Small motions ξ(t) = Re(shape e^{st}) about a rest or a steady motion.

    values s (k,) [1/s], by ascending modulus of the imaginary part and then of the real part; shapes (n_v, k), complex:
    displacements (δr of the centres of mass in world axes, turn θ in body axes, δu) of all bodies, largest entry 1.
    ``about`` is "rest" or "steady motion", ``message`` says it in a sentence, and whether it is stable.
    """

    values: Array
    shapes: Array
    about: str
    message: str
    parts: Mapping[str, slice]

    @property
    def frequencies(self) -> Array:
        """Im s > 0, ascending [rad/s]."""
        return np.sort(self.values.imag[self.values.imag > 0.0])

    def part(self, name: str) -> Array:
        """Rows of the shapes of one part, e.g. ``beam.deformation``, (n, k)."""
        return self.shapes[check.lookup("part", name, self.parts)]


@dataclass(frozen=True)
class _Small:
    """M η̈ + (C + R) η̇ + K η = 0 with ξ = P η, constraints eliminated; dense."""

    c: Configuration
    d: Derived
    basis: Array
    mass: Array
    gyroscopic: Array
    damping: Array
    stiffness: Array
    steady: Steady


def _small_motion(mechanism: Mechanism, state: State, inputs: Mapping[str, Input]) -> _Small:
    a, c = mechanism.network.arrays, configuration(mechanism, state.x)
    d, steady = derive(a, c), steady_motion(mechanism, state)
    if np.any(velocities_of(mechanism, c)):
        refuse_nonholonomic(mechanism, "the spectrum of a motion")
    given = problem(mechanism, state.anchors, state.time, inputs, steady)
    G = given.constraints(c)
    basis = null_space(G, mechanism.constraint_names)[0].toarray() if G.shape[0] else np.eye(G.shape[1])
    left = given.unbalanced(c, state.multipliers)
    largest = max(np.abs(G.T @ state.multipliers).max(initial=0.0), np.abs(a.weight).max(initial=0.0))
    largest = max(largest, np.abs(left + G.T @ state.multipliers).max(initial=0.0))
    if np.abs(left).max(initial=0.0) > BALANCED * largest + noise(mechanism, c):
        raise ValueError(
            f"the state must be an equilibrium with its joint forces, see mechanism.equilibrium(pose, ...): a force of "
            f"{np.abs(left).max():.2g} is not balanced"
        )
    t = tangent(a, c, d, given.forces(c, state.multipliers), steady.spin)
    mass, gyroscopic, damping, stiffness = (basis.T @ (matrix @ basis) for matrix in t)
    return _Small(c, d, basis, mass, gyroscopic, damping, stiffness, steady)


def spectrum(mechanism: Mechanism, state: State, inputs: Mapping[str, Input]) -> Spectrum:
    """See :meth:`flexph.Mechanism.spectrum`."""
    small = _small_motion(mechanism, state, inputs)
    turning = bool(np.any(small.steady.spin))
    symmetric = np.abs(small.stiffness - small.stiffness.T).max(initial=0.0)
    root = None
    if symmetric <= 1e-9 * np.abs(small.stiffness).max(initial=1.0):
        root = _root(small)
    if root is not None and not np.any(small.damping):
        values, vectors = _oscillations(small, root)
    else:
        values, vectors = _general(small)
    order = np.lexsort((np.abs(values.real), np.abs(values.imag).round(12)))
    shapes = small.basis @ vectors[:, order]
    top = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=0)[None], axis=0)
    about = "steady motion" if turning else "rest"
    return Spectrum(
        values=values[order],
        shapes=shapes / np.where(top == 0.0, 1.0, top),
        about=about,
        message=_message(about, small.steady, values),
        parts=_shape_parts(mechanism),
    )


def _message(about: str, steady: Steady, values: Array) -> str:
    growth = float(np.max(values.real, initial=0.0))
    largest = float(np.max(np.abs(values), initial=0.0))
    verdict = f"unstable: grows with {growth:.4g} 1/s" if growth > 1e-7 * largest else "no growing motion"
    if about == "rest":
        return f"small motions about rest ({verdict})"
    turn = float(np.linalg.norm(steady.spin))
    return (
        f"small motions about a steady rotation with {turn:.6g} rad/s, in the frame that turns with it: complex "
        f"spectrum of a gyroscopic system, not of a LinearPHDAE at rest ({verdict})"
    )


def _root(small: _Small) -> Array | None:
    """L with L Lᵀ = K, (n, rank), or None where K has a negative direction.

    Neutral freedoms are those whose frequency is round-off of the highest one. Cholesky's factor keeps the digits of
    slow motions beside stiff ones; where it fails, eigenvalues of K decide.
    """
    K = 0.5 * (small.stiffness + small.stiffness.T)
    if not K.size:
        return np.zeros((0, 0))
    lower = cholesky(small.mass, lower=True)
    try:
        left, values, _ = svd(solve_triangular(lower, cholesky(K, lower=True), lower=True))
        floor = ZERO * len(values) * values[0]
    except np.linalg.LinAlgError:
        half = solve_triangular(lower, K, lower=True)
        squares, left = eigh(solve_triangular(lower, half.T, lower=True))
        floor = ZERO * np.abs(squares).max()
        if squares[0] < -floor:
            return None
        values, floor = np.sqrt(np.maximum(squares, 0.0)), np.sqrt(floor)
    keep = values > floor
    root: Array = lower @ left[:, keep] * values[keep]
    return root


def _oscillations(small: _Small, root: Array) -> tuple[Array, Array]:
    """Without damping and with K = L Lᵀ: Hermitian, so that all s are imaginary to the last bit.

    States are the velocities and Lᵀη: where K is singular, neutral freedoms are added as s = 0.
    """
    n = len(small.mass)
    lower = cholesky(small.mass, lower=True)
    C = solve_triangular(lower, solve_triangular(lower, small.gyroscopic, lower=True).T, lower=True).T
    L = solve_triangular(lower, root, lower=True)
    J = np.block([[-0.5 * (C - C.T), -L], [L.T, np.zeros((L.shape[1],) * 2)]])
    values, vectors = np.linalg.eigh(-1j * J)
    values = np.where(np.abs(values) <= ZERO * len(values) * np.abs(values).max(initial=0.0), 0.0, values)
    shapes = solve_triangular(lower, vectors[:n], lower=True, trans=1) / np.where(values == 0.0, 1.0, 1j * values)
    neutral = null_space_of(root.T)
    return np.append(1j * values, np.zeros(neutral.shape[1])), np.hstack([shapes, neutral])


def _general(small: _Small) -> tuple[Array, Array]:
    """Eigenvalues of the first-order form, scaled so that velocities and displacements have one size."""
    n = len(small.mass)
    scale = 1.0
    if n:
        scale = math.sqrt(max(check.norm(small.stiffness) / check.norm(small.mass), 1e-300))
    one, none = np.eye(n), np.zeros((n, n))
    left = np.block([[none, one], [-small.stiffness / scale**2, -(small.gyroscopic + small.damping) / scale]])
    right = np.block([[one, none], [none, small.mass]])
    values, vectors = eig(left, right)
    return scale * values, vectors[:n]


def _shape_parts(mechanism: Mechanism) -> dict[str, slice]:
    """Names of the rows of the shapes: centre, turn and deformation of each body."""
    cv, cw, cu = columns(mechanism.network.arrays)
    parts: dict[str, slice] = {}
    at = int(cu[0]) if cu.size else 0
    for i, (name, body) in enumerate(mechanism.bodies.items()):
        parts[f"{name}.centre"] = slice(int(cv[i, 0]), int(cv[i, -1]) + 1)
        if body.turns:
            parts[f"{name}.turn"] = slice(int(cw[i, 0]), int(cw[i, -1]) + 1)
        if body.size:
            parts[f"{name}.deformation"] = slice(at, at + body.size)
            at += body.size
    return parts


def linearize_state(mechanism: Mechanism, state: State, inputs: Mapping[str, Input]) -> LinearPHDAE:
    """Small motions about rest under load as a :class:`LinearPHDAE` with its constraints eliminated.

    ``E = diag(M, 1)``, ``J = [[0, −L], [Lᵀ, 0]]`` with M, K = L Lᵀ on the null space of G; K holds elasticity, springs
    and the geometric stiffness of stresses, joint forces and loads. States are the free velocities and ``s = Lᵀη``.
    """
    small = _small_motion(mechanism, state, inputs)
    if np.any(small.steady.spin):
        raise ValueError("a steady rotation has no LinearPHDAE at rest: use mechanism.spectrum(state)")
    root = _root(small)
    if root is None:
        raise ValueError("the equilibrium is unstable, its energy has no minimum: use mechanism.spectrum(state)")
    defect = np.abs(small.stiffness - small.stiffness.T).max(initial=0.0)
    if defect > 1e-9 * np.abs(small.stiffness).max(initial=1.0):
        raise ValueError("a load that follows a section has no potential: use mechanism.spectrum(state)")
    a, n, rank = mechanism.network.arrays, len(small.mass), root.shape[1]
    back = np.linalg.pinv(root.T)  # η of the states s
    lift, parts = _lift(mechanism, small, back)
    B = small.basis.T @ input_matrix(a, small.c, small.d).toarray()
    return LinearPHDAE(
        E=np.block([[0.5 * (small.mass + small.mass.T), np.zeros((n, rank))], [np.zeros((rank, n)), np.eye(rank)]]),
        J=np.block([[np.zeros((n, n)), -root], [root.T, np.zeros((rank, rank))]]),
        R=np.block(
            [
                [_damping(mechanism, small), np.zeros((n, rank))],
                [np.zeros((rank, n)), np.zeros((rank, rank))],
            ]
        ),
        B=np.vstack([B, np.zeros((rank, B.shape[1]))]),
        ports=dict(mechanism.network.input_slices),
        parts=parts,
        kinetic=np.arange(n + rank) < n,
        lift=lift,
    )


def _damping(mechanism: Mechanism, small: _Small) -> Array:
    """R = FᵀF from the roots of its parts, so that it is semi-definite to the last bit."""
    a, bent = mechanism.network.arrays, small.basis[columns(mechanism.network.arrays)[2]]
    roots = [np.zeros((0, small.basis.shape[1]))]
    slopes = damping_slopes(a.springs, np.zeros(a.springs.damping.size))
    if slopes.any():
        S = spring_operator(a, small.c, small.d).toarray() @ small.basis
        roots.append(np.sqrt(slopes)[:, None] * S)
    if a.stress_damping.any():  # β is the same for all stresses that C⁻¹ couples
        stiffness = sparse.csr_array(a.stiffness).toarray()
        strain = strain_operator(a, small.c.u).toarray() @ bent
        roots.append(np.sqrt(a.stress_damping)[:, None] * (cholesky(stiffness, lower=True).T @ strain))
    viscous = sparse.csr_array(a.viscous).toarray()
    if viscous.any():
        values, vectors = eigh(viscous)
        roots.append(np.sqrt(np.maximum(values, 0.0))[:, None] * (vectors.T @ bent))
    root = np.vstack(roots)
    made: Array = root.T @ root
    return made


def _lift(mechanism: Mechanism, small: _Small, back: Array) -> tuple[Array, dict[str, slice]]:
    """From the free states to the parts that linearizing a pose has: v_P, ω, u̇, σ of each body, and springs."""
    a = mechanism.network.arrays
    cv, cw, cu = columns(a)
    D = strain_operator(a, small.c.u).toarray()
    P, bent = small.basis, small.basis[cu]
    stress = sparse.csr_array(a.stiffness) @ (D @ bent @ back)
    rows: list[Array] = []
    parts: dict[str, slice] = {}
    at, m = 0, 0
    for i, (name, body) in enumerate(mechanism.bodies.items()):
        own = a.body_u == i
        R, arm = small.c.R[i], body.inertia.centre + body.inertia.mean_shape @ small.c.u[own]
        rate = bent[own]
        moving = R.T @ P[cv[i]] - body.inertia.mean_shape @ rate
        pieces = {"velocity": moving}
        if body.turns:
            spin = P[cw[i]]
            lever = np.einsum("sij,j->is", cross(a.dim), arm)
            pieces["velocity"] = moving - lever @ spin
            pieces["spin"] = spin
        pieces["deformation_rate"] = rate
        own_stress = stress[m : m + body.stress_size]
        m += body.stress_size
        for kind, piece in pieces.items():
            at = _append(rows, parts, f"{name}.{kind}", np.hstack([piece, np.zeros((len(piece), back.shape[1]))]), at)
        pad = np.zeros((len(own_stress), P.shape[1]))
        at = _append(rows, parts, f"{name}.stress", np.hstack([pad, own_stress]), at)
    if a.springs.stiffness.size:
        S = spring_operator(a, small.c, small.d).toarray() @ P @ back
        names = list(mechanism.layout.parts)
        stored = np.flatnonzero(a.springs.state >= 0)
        first = len(names) - mechanism.layout.multipliers - len(stored)
        for name, spring in zip(names[first:], stored, strict=False):
            row = np.concatenate([np.zeros(P.shape[1]), a.springs.stiffness[spring] * S[spring]])
            at = _append(rows, parts, name, row[None], at)
    return np.vstack(rows), parts


def _append(rows: list[Array], parts: dict[str, slice], name: str, piece: Array, at: int) -> int:
    if len(piece):
        rows.append(piece)
        parts[name] = slice(at, at + len(piece))
    return at + len(piece)
