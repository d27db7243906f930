"""The integrals of all bodies of a mechanism as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ...bodies.body import Body
from ...bodies.inertia import Contractions, contract, square_of
from ...numerics.arrays import Array
from ...numerics.factors.low_rank import Bordered, placed
from ...numerics.rotations import cross


def mean_shapes(bodies: Mapping[str, Body]) -> Any:
    """φ̄ of all bodies, block diagonal: sparse (d·b, n)."""
    return sparse.block_diag([sparse.csr_array(b.inertia.mean_shape) for b in bodies.values()])


def body_rows(rows: Any, index: np.ndarray, dim: int) -> Any:
    """The d rows of each body of a (d·b, n) matrix, repeated for the nodes."""
    return sparse.csr_array(rows)[(dim * index[:, None] + np.arange(dim)).ravel()]


def inertia_arrays(bodies: Mapping[str, Body], gravity: Array, folded: bool) -> dict[str, Any]:
    """Masses, weights and contracted integrals about the centres of mass; all low ranks folded in or kept apart."""
    owned = list(bodies.values())
    contractions = [contract(b.inertia, about_centre=True) for b in owned]
    moving = np.array([float(b.momenta == "full") for b in owned])  # else the momenta are those at u = 0
    forms = [_forms(c, f) for c, f in zip(contractions, moving, strict=True)]
    stack = sparse.vstack([sparse.block_diag([_sparse(x) for x in same]) for same in zip(*forms, strict=True)]).tocsr()
    mass = np.array([b.mass for b in owned])
    sizes = np.array([b.size for b in owned])
    mean, mean_stack = sparse.csr_array(mean_shapes(bodies)), _mean_stack(bodies, mass, moving)
    border, border_stack = _border(forms, sizes)
    border, border_stack = sparse.vstack([mean, border]).tocsr(), sparse.hstack([mean_stack, border_stack]).tocsr()
    return {
        "mass": mass,
        "weight": mass[:, None] * gravity,
        "turning": np.flatnonzero([b.turns for b in owned]),
        "flexing": np.flatnonzero(sizes),
        "body_u": np.repeat(np.arange(len(owned)), sizes),
        "J": np.array([c.J for c in contractions]),
        "s": np.concatenate([f * c.s for f, c in zip(moving, contractions, strict=True)], axis=2),
        "n": np.concatenate([c.n for c in contractions], axis=1),
        "stack": stack - border_stack @ border if folded else stack,
        "mean": None if folded else mean,
        "border": None if folded else border,
        "border_stack": None if folded else border_stack,
        **({"moments": None, "forms": None} if folded else _moments(owned)),
    }


def _moments(bodies: list[Body]) -> dict[str, Any]:
    """∫ρφ_iφ_j of all bodies, (d² n, n), and M, N_a, K_ab as combinations of them, (1 + s + s², d²).

    None where they are more than that: with rotary inertia of sections, or with constant momenta.
    """
    if any(b.size and (b.momenta != "full" or _sparse(b.inertia.spin_pair).count_nonzero()) for b in bodies):
        return {"moments": None, "forms": None}
    dim = bodies[0].dim
    pairs = [[_sparse(b.inertia.shape_pair[i][j]) for b in bodies] for i in range(dim) for j in range(dim)]
    basis = cross(dim)
    return {
        "moments": sparse.vstack([sparse.block_diag(same) for same in pairs]).tocsr(),
        "forms": np.vstack([x.reshape(-1, dim * dim) for x in (np.eye(dim), basis, square_of(basis))]),
    }


def _forms(c: Contractions, moving: float) -> list[Any]:
    """M, N_a and K_ab of a body; without the latter two its momenta do not change with its deformation."""
    return [c.M, *(moving * x for x in c.N), *(moving * x for row in c.K for x in row)]


def _sparse(form: Any) -> Any:
    return form.sparse if isinstance(form, Bordered) else form


def _mean_stack(bodies: Mapping[str, Body], mass: Array, moving: Array) -> Any:
    """m φ̄ᵀB of all forms B = 1, cross_a, cross_aᵀcross_b: left factors of what the centres of mass take away."""
    mean, basis = mean_shapes(bodies), cross(next(iter(bodies.values())).dim)
    turning = [*basis, *square_of(basis).reshape(-1, *basis.shape[1:])]
    rates = [(np.eye(basis.shape[1]), np.ones(len(mass))), *((form, moving) for form in turning)]
    return sparse.vstack([mean.T @ sparse.kron(sparse.diags_array(mass * f), form) for form, f in rates])


def _border(forms: list[list[Any]], sizes: Array) -> tuple[Any, Any]:
    """Rows over all u, and what they take away from the forms by their left factors: of bodies about mean axes."""
    start, n, rows, left = np.cumsum([0, *sizes]), int(np.sum(sizes)), [], []
    for own, at in zip(forms, start, strict=False):
        if isinstance(own[0], Bordered):
            rows.append(placed(own[0].right, (0, at), (len(own[0].right), n)))
            factors = [placed(-form.left, (at, 0), (n, form.left.shape[1])) for form in own]
            left.append(sparse.vstack(factors))
    none = sparse.csr_array((0, n)), sparse.csr_array((len(forms[0]) * n, 0))
    return sparse.vstack([none[0], *rows]), sparse.hstack([none[1], *left])


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
