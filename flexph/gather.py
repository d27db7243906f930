"""The integrals of all bodies of a mechanism as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from .body import Body
from .inertia import contract, square_of
from .space import Array, cross


def mean_shapes(bodies: Mapping[str, Body]) -> Any:
    """φ̄ of all bodies, block diagonal: sparse (d·b, n)."""
    return sparse.block_diag([sparse.csr_array(b.inertia.mean_shape) for b in bodies.values()])


def body_rows(rows: Any, index: np.ndarray, dim: int) -> Any:
    """The d rows of each body of a (d·b, n) matrix, repeated for the nodes."""
    return sparse.csr_array(rows)[(dim * index[:, None] + np.arange(dim)).ravel()]


def inertia_arrays(bodies: Mapping[str, Body], gravity: Array, folded: bool) -> dict[str, Any]:
    """Masses, weights and contracted integrals about the centres of mass; the shift φ̄ folded in or kept apart."""
    dim, owned = len(gravity), list(bodies.values())
    basis = cross(dim)
    square = square_of(basis)
    made = [contract(b.inertia, about_centre=True) for b in owned]
    for i, body in enumerate(owned):
        if body.momenta == "constant":
            made[i] = _at_rest(made[i])
    mass = np.array([b.mass for b in owned])
    sizes = np.array([b.size for b in owned])
    count = range(len(basis))
    stack = sparse.vstack(
        [sparse.block_diag([c.M for c in made])]
        + [sparse.block_diag([c.N[a] for c in made]) for a in count]
        + [sparse.block_diag([c.K[a][b] for c in made]) for a in count for b in count]
    ).tocsr()
    mean = sparse.csr_array(mean_shapes(bodies))
    full = sparse.diags_array([float(b.momenta == "full") for b in owned])
    forms = [(np.eye(dim), False)] + [(basis[a], True) for a in count]
    forms += [(square[a, b], True) for a in count for b in count]
    left = [
        mean.T @ sparse.kron(sparse.diags_array(mass) @ (full if moving else sparse.eye_array(len(owned))), form)
        for form, moving in forms
    ]
    mean_stack = sparse.csr_array(sparse.vstack(left))
    flexing = np.flatnonzero(sizes)
    return {
        "mass": mass,
        "weight": mass[:, None] * gravity,
        "turning": np.flatnonzero([b.turns for b in owned]),
        "flexing": flexing,
        "body_u": np.repeat(np.arange(len(owned)), sizes),
        "J": np.array([c.J for c in made]),
        "s": np.concatenate([c.s for c in made], axis=2),
        "n": np.concatenate([c.n for c in made], axis=1),
        "stack": stack - mean_stack @ mean if folded else stack,
        "mean": None if folded else mean,
        "mean_stack": None if folded else mean_stack,
    }


def _at_rest(c: Any) -> Any:
    """Momenta at u = 0: no dependence on the deformation."""
    return c.__class__(
        J=c.J,
        s=np.zeros_like(c.s),
        n=c.n,
        M=c.M,
        N=tuple(0.0 * x for x in c.N),
        K=tuple(tuple(0.0 * x for x in row) for row in c.K),
    )


def elastic_arrays(bodies: Mapping[str, Body]) -> dict[str, Any]:
    """Strain operators, compliances and damping of all bodies."""
    owned = list(bodies.values())
    none = sparse.csr_array((0, 0))
    pick = lambda name: sparse.block_diag(  # noqa: E731 - one block per body
        [getattr(b.elasticity, name) if b.elasticity else none for b in owned]
    ).tocsr()
    return {
        "viscous": sparse.block_diag(
            [
                b.elasticity.constant_damping(contract(b.inertia, about_centre=True).M) if b.elasticity else none
                for b in owned
            ]
        ).tocsr(),
        "strain": pick("strain"),
        "slopes": pick("slopes"),
        "weights": pick("weights"),
        "compliance": pick("compliance"),
        "stiffness": pick("stiffness_of_stress"),
        "stress_damping": np.concatenate(
            [np.full(b.stress_size, b.elasticity.stiffness_damping if b.elasticity else 0.0) for b in owned]
        ),
        "body_stress": np.repeat(np.arange(len(owned)), [b.stress_size for b in owned]),
    }
