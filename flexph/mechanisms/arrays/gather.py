"""Arrays of the inertia integrals and elasticity of all bodies of a mechanism.

The *forms* of a body are the matrices M, N_a and K_ab over its flexible coordinates u: M is their mass matrix, and N_a
and K_ab give the momenta and the rotational inertia as functions of u (:class:`flexph.bodies.inertia.Contractions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ...bodies.body import Body
from ...bodies.inertia import Contractions, about_centre, square_of
from ...bodies.nodal_body import AnyBody
from ...bodies.ports import pieces_of
from ...numerics.arrays import Array, no_entries, sparse_block_diag, stacked
from ...numerics.factors.low_rank import Bordered, placed
from ...numerics.rotations import cross


def mean_shapes(bodies: Mapping[str, Body]) -> Any:
    """Mean shapes φ̄ = ∫ρφ/m of all bodies in one block-diagonal matrix, sparse (d·b, n).

    It maps the n flexible coordinates to the shifts of the centres of mass in body axes; rows are d for each of b
    bodies.
    """
    mean, body = _means(bodies)
    d, n = mean.shape
    rows, columns = d * body + np.arange(d)[:, None], np.broadcast_to(np.arange(n), (d, n))
    return _without_zeros((mean.ravel(), (rows.ravel(), columns.ravel())), (d * len(bodies), n))


def _means(bodies: Mapping[str, Body]) -> tuple[Array, Array]:
    """Mean shapes φ̄ of all bodies side by side (d, n), and the index of the body of each flexible coordinate (n,)."""
    mean = np.concatenate([b.inertia.mean_shape for b in bodies.values()], axis=1)
    return mean, np.repeat(np.arange(len(bodies)), [b.size for b in bodies.values()])


def _without_zeros(entries: Any, shape: tuple[int, int]) -> Any:
    if not shape[0] or not shape[1]:
        return no_entries(*shape)
    matrix = sparse.csr_array(entries, shape=shape)
    matrix.eliminate_zeros()
    return matrix


def body_rows(rows: Any, index: np.ndarray, dim: int) -> Any:
    """Rows that belong to the bodies ``index``, of a matrix (d·b, n) with d rows for each of b bodies."""
    return rows[(dim * index[:, None] + np.arange(dim)).ravel()]


def inertia_arrays(bodies: Mapping[str, Body], gravity: Array, folded: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Masses, weights and contracted inertia integrals about the centres of mass, as fields of the kernel arrays.

    If ``folded``, the low-rank terms of the mean shapes are added to the matrices; otherwise they are separate fields.
    The second mapping has the matrices without these terms, ``stack``, and the mean shapes, ``mean``, in any case.
    """
    owned = list(bodies.values())
    contractions, moving, forms = _contracted(owned)
    stack = _stack(forms, contractions[0])
    mass = np.array([b.mass for b in owned])
    sizes = np.array([b.size for b in owned])
    mean = mean_shapes(bodies)
    border, border_stack = _border(forms, sizes, (mean, _mean_stack(bodies, mass, moving)))
    arrays = {
        "mass": mass,
        "weight": mass[:, None] * gravity,
        "turning": np.flatnonzero([b.turns for b in owned]),
        "flexing": np.flatnonzero(sizes),
        "body_u": np.repeat(np.arange(len(owned)), sizes),
        "J": np.array([c.J for c in contractions]),
        "s": np.concatenate([f * c.s for f, c in zip(moving, contractions, strict=True)], axis=2),
        "n": np.concatenate([c.n for c in contractions], axis=1),
        "stack": stack - border_stack @ border if folded and mean.shape[1] else stack,
        "mean": None if folded else mean,
        "border": None if folded else border,
        "border_stack": None if folded else border_stack,
        **({"moments": None, "forms": None} if folded else _moments(owned)),
    }
    return arrays, {"stack": stack, "mean": mean}


def _contracted(bodies: list[Body]) -> tuple[list[Contractions], Array, dict[int, list[Any]]]:
    """Inertia of all b bodies about their centres of mass, as contractions, factors and forms.

    The first value has the contractions of each body. The factors (b,) are 1 for a body whose momenta depend on its
    deformation u, and 0 for one whose momenta are computed at u = 0. The last value maps the index of each flexible
    body to its matrices (forms) M, N_a, K_ab, not yet shifted to the centre of mass.
    """
    contractions = [b.inertia.once(about_centre) for b in bodies]
    moving = np.array([float(b.momenta == "full") for b in bodies])
    return contractions, moving, {k: _forms(contractions[k], moving[k]) for k, b in enumerate(bodies) if b.size}


def _stack(forms: Mapping[int, list[Any]], c: Contractions) -> Any:
    """Stack of the sparse block-diagonal matrices of the forms M, N_a and K_ab of all bodies.

    ``forms`` maps the index of each body to its matrices in this order. The sizes of the contractions ``c`` of one of
    the bodies give the number of forms, which is the same for all.
    """
    count = 1 + len(c.n) + c.J.size
    rows = [sparse_block_diag(_sparse(of_body[k]) for of_body in forms.values()) for k in range(count)]
    return stacked(rows, rows[0].shape[1])


def _moments(bodies: list[Body]) -> dict[str, Any]:
    """Fields of the kernel arrays with second moments of the shapes, from which M, N_a and K_ab follow.

    ``moments`` are ∫ρφ_iφ_j of all bodies (d² n, n), ``forms`` the weights (1 + s + s², d²) of M, N_a, K_ab in them.
    Both are None if M, N_a and K_ab are no sums of these integrals: with rotary inertia of sections, or if the momenta
    of a body do not depend on its deformation.
    """
    if any(b.size and (b.momenta != "full" or _sparse(b.inertia.spin_pair).count_nonzero()) for b in bodies):
        return {"moments": None, "forms": None}
    dim = bodies[0].dim
    pairs = [[_sparse(b.inertia.shape_pair[i][j]) for b in bodies] for i in range(dim) for j in range(dim)]
    basis = cross(dim)
    return {
        "moments": sparse.vstack([sparse_block_diag(same) for same in pairs]),
        "forms": np.vstack([x.reshape(-1, dim * dim) for x in (np.eye(dim), basis, square_of(basis))]),
    }


def _forms(c: Contractions, moving: float) -> list[Any]:
    """Matrices M, N_a and K_ab (n, n) of a body, from its contractions ``c``.

    ``moving`` is 1, or 0 for a body whose momenta do not depend on its deformation; N_a and K_ab are then zero.
    """
    turning = [*c.N, *(x for row in c.K for x in row)]
    return [c.M, *(turning if moving else (0.0 * x for x in turning))]


def _sparse(form: Any) -> Any:
    return form.sparse if isinstance(form, Bordered) else form


def _mean_stack(bodies: Mapping[str, Body], mass: Array, moving: Array) -> Any:
    """Left factors m φ̄ᵀB of the terms −m φ̄ᵀB φ̄ that shift the forms to the centres of mass, stacked for each B.

    B is 1 for M, cross_a for N_a and cross_aᵀcross_b for K_ab. ``moving`` (b,) is 0 for bodies whose N_a and K_ab are
    zero.
    """
    (mean, body), d = _means(bodies), next(iter(bodies.values())).dim
    basis, n = cross(d), body.size
    forms = np.concatenate([np.eye(d)[None], basis, square_of(basis).reshape(-1, d, d)])
    values = np.einsum("in,kij->knj", mass[body] * mean, forms)
    values[1:] *= moving[body][:, None]
    columns = np.tile(d * body[:, None] + np.arange(d), (len(forms), 1))
    ends = np.arange(0, values.size + 1, d)
    return _without_zeros((values.ravel(), columns.ravel(), ends), (len(forms) * n, d * len(mass)))


def _border(forms: Mapping[int, list[Any]], sizes: Array, means: tuple[Any, Any]) -> tuple[Any, Any]:
    """Right factor (r, n) and left factors of the low-rank terms to be subtracted from the stacked forms M, N_a, K_ab.

    ``means`` are the right and left factors of the shift to the centres of mass. The factors of bodies whose forms are
    themselves stored with low-rank terms are appended. ``sizes`` are the numbers of flexible coordinates of all bodies.
    """
    start, n, rows, left = np.cumsum([0, *sizes]), int(np.sum(sizes)), [means[0]], [means[1]]
    for k, of_body in forms.items():
        if isinstance(of_body[0], Bordered):
            rows.append(placed(of_body[0].right, (0, start[k]), (len(of_body[0].right), n)))
            factors = [placed(-form.left, (start[k], 0), (n, form.left.shape[1])) for form in of_body]
            left.append(sparse.vstack(factors))
    return means if len(rows) == 1 else (sparse.vstack(rows).tocsr(), sparse.hstack(left).tocsr())


def elastic_arrays(bodies: Mapping[str, AnyBody]) -> dict[str, Any]:
    """Kernel arrays of the elasticity of all bodies: block-diagonal strain operators, compliances and damping."""
    owned = list(pieces_of(bodies).values())
    elastic = [(b.frames[0].inertia.once(about_centre), b.elasticity) for b in owned if b.elasticity]
    first = np.cumsum([0, *(len(b.frames) for b in owned)])[:-1]
    pick = lambda name: sparse_block_diag(getattr(e, name) for _, e in elastic)  # noqa: E731 - one block per body
    return {
        "viscous": sparse_block_diag(e.constant_damping(c.M) for c, e in elastic),
        "strain": pick("strain"),
        "slopes": pick("slopes"),
        "weights": pick("weights"),
        "compliance": pick("compliance"),
        "stiffness": pick("stiffness_of_stress"),
        "stress_damping": np.concatenate([np.zeros(0), *(e.stress_damping for _, e in elastic)]),
        "body_stress": np.repeat(first, [b.stress_size for b in owned]),
    }
