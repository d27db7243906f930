"""Linearisation of a mechanism about an equilibrium under load."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cholesky, eigh

from ...bodies.ports import pieces_of
from ...contacts.arrays import refuse_contacts
from ...joints.rows.connection import refuse_other_laws
from ...kernels.continuous import curve_slips, input_matrix, spring_operator, strain_of, strain_rates
from ...kernels.gradient import product_matrix
from ...kernels.springs import damping_slopes, tension_factors
from ...kernels.state import places
from ...kernels.strains import end_stiffness
from ...linear.eigenmodes.quadratic_spectrum import modal_coordinates
from ...numerics.arrays import Array, dense
from ...numerics.rotations import cross
from ...systems.inputs import Input
from ...systems.linear import LinearPHDAE
from ..model.state import State
from .small_motion import AtRest, small_motion

if TYPE_CHECKING:
    from ..model.model import Model


def linearize_state(mechanism: Model, state: State, inputs: Mapping[str, Input]) -> LinearPHDAE:
    """Linear system of small motions about an equilibrium under load, with the constraints eliminated.

    ``E = diag(M, 1)``, ``J = [[0, −L], [Lᵀ, 0]]`` with M, K = L Lᵀ on the null space of G; K holds elasticity, springs
    and the geometric stiffness of stresses, joint forces and loads. States are the free velocities and ``s = Lᵀη``.
    Raises ValueError for a steady rotation, a load without potential, and if K is not positive semi-definite.
    """
    refuse_contacts(mechanism.connections, "mechanism.linearize", has_curves=True, at_rest=True)
    refuse_other_laws(mechanism, "mechanism.linearize")
    small = small_motion(mechanism, state, inputs)
    if np.any(small.steady.spin):
        raise ValueError("state is a steady rotation, linearize needs one at rest: use mechanism.spectrum(state)")
    m = modal_coordinates(small.motion)
    if not m.signature.symmetric:
        raise ValueError("a load that follows a section has no potential: use mechanism.spectrum(state)")
    if m.signature.negative:
        raise ValueError("the equilibrium is unstable, its energy has no minimum: use mechanism.spectrum(state)")
    modes = m.vectors[:, : m.squares.size] * m.root
    mass, back = 0.5 * (small.motion.mass + small.motion.mass.T), modes / m.squares  # η in terms of the states s
    return _linear_system(mechanism, small, mass @ modes, back)


def _linear_system(mechanism: Model, small: AtRest, root: Array, back: Array) -> LinearPHDAE:
    """Linear system of small motions in the free coordinates η, with K = root rootᵀ and η = back · s.

    s are the additional states for the stored energy.
    """
    a, (n, rank) = mechanism.network.arrays, root.shape
    lift, parts = _lift(mechanism, small, back)
    B = small.basis.T @ input_matrix(a, small.c.R, small.d.arm, places(a, small.c, small.d))
    mass = 0.5 * (small.motion.mass + small.motion.mass.T)
    return LinearPHDAE(
        E=np.block([[mass, np.zeros((n, rank))], [np.zeros((rank, n)), np.eye(rank)]]),
        J=np.block([[np.zeros((n, n)), -root], [root.T, np.zeros((rank, rank))]]),
        R=np.block([[_damping(mechanism, small), np.zeros((n, rank))], [np.zeros((rank, n + rank))]]),
        B=np.vstack([B, np.zeros((rank, B.shape[1]))]),
        ports=dict(mechanism.network.input_slices),
        parts=parts,
        kinetic=np.arange(n + rank) < n,
        lift=lift,
    )


def _damping(mechanism: Model, small: AtRest) -> Array:
    """Damping matrix R = FᵀF (n, n) of the free motions, so that it is exactly semi-definite.

    F stacks the factors of the damping of springs, slips, strains and deformations.
    """
    a, bent = mechanism.network.arrays, small.basis[mechanism.network.arrays.columns[2]]
    roots = [np.zeros((0, small.basis.shape[1]))]
    slopes = tension_factors(a.springs, small.c.spring) * damping_slopes(a.springs, np.zeros(a.springs.damping.size))
    if slopes.any():
        S = spring_operator(a, small.c, small.d) @ small.basis
        roots.append(np.sqrt(slopes)[:, None] * S)
    if a.slips.slip.size:
        moved = product_matrix(a, small.c.R, small.d.arm, small.d.vector)
        slips, steep = curve_slips(a, small.d.product, moved)
        roots.append(np.sqrt(steep)[:, None] * (slips @ small.basis))
    if a.stress_damping.any():  # β is equal for all stresses that C⁻¹ couples
        stresses = np.flatnonzero(a.stress_damping)
        stiffness = dense(a.stiffness[stresses][:, stresses])
        strain = _strains(mechanism, small)[stresses]
        roots.append(np.sqrt(a.stress_damping[stresses])[:, None] * (cholesky(stiffness, lower=True).T @ strain))
    viscous = dense(a.viscous)
    if viscous.any():
        values, vectors = eigh(viscous)
        roots.append(np.sqrt(np.maximum(values, 0.0))[:, None] * (vectors.T @ bent))
    root = np.vstack(roots)
    return root.T @ root


def _strains(mechanism: Model, small: AtRest) -> Array:
    """Changes of all strains by unit displacements of the free coordinates, (m, n)."""
    a = mechanism.network.arrays
    strain: Array = strain_of(a, small.c.u) @ small.basis[a.columns.u]
    if a.strains.stress.size:
        strain[a.strains.stress] = strain_rates(a, small.c, small.d) @ small.basis
    return strain


def _lift(mechanism: Model, small: AtRest, back: Array) -> tuple[Array, dict[str, slice]]:
    """Matrix from the free states to the states of a linearised pose, and the slices of its rows by name.

    These are v_P, ω, u̇ and σ of each body, and forces of springs. ``back`` maps s to the free coordinates η.
    """
    a = mechanism.network.arrays
    cv, cw, cu = a.columns
    P, bent, rank = small.basis, small.basis[cu], back.shape[1]
    strain, of_strains = _strains(mechanism, small) @ back, a.strains.stress
    stress = a.stiffness @ strain
    if of_strains.size:
        stress[of_strains] = end_stiffness(a.strains, small.d.product) @ strain[of_strains]
    free = P.shape[1]
    pieces: list[tuple[str, Array]] = []
    bodies = pieces_of(mechanism.bodies)
    by_body = np.split(stress, np.cumsum([b.stress_size for b in bodies.values()])[:-1])
    stresses = {name: np.pad(of_body, ((0, 0), (free, 0))) for name, of_body in zip(bodies, by_body, strict=True)}
    for i, (name, body) in enumerate(mechanism.frames.items()):
        coordinates = a.body_u == i
        R, arm = small.c.R[i], body.inertia.centre + body.inertia.mean_shape @ small.c.u[coordinates]
        rate = bent[coordinates]
        moving = R.T @ P[cv[i]] - body.inertia.mean_shape @ rate
        turning = P[cw[i]] if body.turns else np.zeros((0, free))
        if body.turns:
            moving = moving - np.einsum("sij,j->is", cross(a.dim), arm) @ turning
        velocities = {"velocity": moving, "spin": turning, "deformation_rate": rate}
        pieces += [(f"{name}.{kind}", np.pad(piece, ((0, 0), (0, rank)))) for kind, piece in velocities.items()]
        pieces += [(f"{name}.stress", stresses.pop(name))] if name in stresses else []
    pieces += [
        (f"{name}.stress", of_body) for name, of_body in stresses.items()
    ]  # stresses of nodal bodies come after all frames
    if a.springs.stiffness.size:
        S = spring_operator(a, small.c, small.d) @ P @ back
        names = list(mechanism.layout.parts)
        stored = np.flatnonzero(a.springs.state >= 0)
        first = len(names) - mechanism.layout.multipliers - len(stored)
        slopes = a.springs.gain[stored] * a.springs.state_slopes(small.c.spring[: stored.size])
        forces = np.pad(slopes[:, None] * S[stored], ((0, 0), (free, 0)))
        pieces += zip(names[first:], forces[:, None], strict=False)
    edges = np.cumsum([0, *(len(piece) for _, piece in pieces)]).tolist()
    parts = {name: slice(*ends) for (name, piece), ends in zip(pieces, pairwise(edges), strict=True) if len(piece)}
    return np.vstack([piece for _, piece in pieces]), parts
