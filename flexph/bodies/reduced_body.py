"""Model reduction of bodies onto a few deformations and stresses (``reduce_body``), and measures of what is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh

from ..linear.elimination import ReductionWarning
from ..numerics import checks as check
from ..numerics.arguments import checked, warn
from ..numerics.arrays import Array
from ..numerics.factors.ldl import divided_by_factors, ldl, semi_definite_product, without_round_off
from ..numerics.factors.low_rank import Bordered
from .basis import body_basis, refuse_others
from .body import Body, Port
from .elasticity import Elasticity
from .fields import View
from .held_body import HeldBody
from .inertia import Inertia, contract

DEFICIENT = 1e-10
"""Eigenvalue of the scaled mass matrix of a basis below which its vectors count as dependent."""
LOST = 0.9
"""Share of the quadratic strains without stress in a reduced body above which a warning is given."""
EARLY = 0.5
"""Divergence spin of a reduced body, relative to that with all stresses, below which a warning is given."""


@checked
def reduce_body(
    body: Body,
    *,
    modes: int | None = None,
    derivatives: int = 0,
    static: Sequence[str] = (),
    inertia: bool = False,
    basis: Any = None,
) -> Body:
    """Reduce a body to deformations ``u = T û`` and stresses ``σ = S σ̂``, S spanning C⁻¹D₀T.

        M̂ = TᵀMT,  Ĉ = SᵀCS,  D̂(û) = SᵀD(Tû)T = SᵀD₀T + SᵀW diag(sTû) sT

    D, C, W and the slopes s are those of :class:`Elasticity`. All mass integrals are projected, so that the kinetic
    energy is that of the body at u = T û in any motion; the elastic energy is that at σ = S σ̂. Ĉ is diagonal, and
    SᵀD₀T = 1 unless a ``basis`` is given: û are lengths [m] and σ̂ their conjugate forces [N]. Stresses must be reduced
    together with deformations, as a body with von Kármán strain would otherwise lock. Ports
    (:class:`flexph.bodies.Port`), loads, view, stress fields, lumped masses and damping are kept: αM and viscous
    matrices are projected, β acts on D̂. T is the result of :func:`body_basis` for ``modes``, ``derivatives``,
    ``static`` and ``inertia``, or ``basis`` (n, k) unchanged; û are then the factors of its columns. A body that turns
    faster than about its first frequency needs ``inertia=True``. With an empty basis the body is rigid. Frequencies of
    a linearised mechanism of reduced bodies are not below those of the full one (Rayleigh-Ritz).

    Warns (:class:`ReductionWarning`) if most of the quadratic strains of a body with von Kármán strain are orthogonal
    to the retained stresses, as shortening by bending and stiffening are then lost; and if the body, fixed at P,
    diverges with the retained part of the centrifugal stress at less than half of the spin at which it diverges with
    the whole stress (:func:`flexph.bodies.reduced_body.diverging_spins`).

    Parameters
    ----------
    body : Body
        A flexible body.
    modes : int, optional
        Number of vibration modes.
    derivatives : int
        Number of modal derivatives.
    static : sequence of str
        Ports and load ports whose static responses are included.
    inertia : bool
        True includes the static responses to inertia forces.
    basis : array_like, optional
        Basis T (n, k), instead of the other choices.

    Returns
    -------
    Body
        Body with k flexible coordinates.

    Raises
    ------
    ValueError
        For anything but a body, a basis of wrong size, with NaN or of deficient rank, a basis together with other
        choices, no choice, and as :func:`body_basis`.
    """
    refuse_others(body)
    vectors = _chosen(body, modes, basis, derivatives=derivatives, static=static, inertia=inertia)
    if not body.size:
        return body
    T = sparse.csr_array(vectors)
    elastic, S = _elasticity(body, vectors)
    flexible = elastic is not None
    return replace(
        body,
        inertia=_inertia(body.inertia, vectors),
        elasticity=elastic,
        ports={k: Port(p.position, _rows(p.shape, T), _rows(p.rotation, T)) for k, p in body.ports.items()},
        loads={k: replace(p, shapes=_rows(p.shapes, T)) for k, p in body.loads.items()},
        view=None if body.view is None else _view(body.view, T, S),
        section_rotation=_rows(body.section_rotation, T) if flexible else None,
        sections={k: p.in_basis(T, S) for k, p in body.sections.items()} if flexible else {},
        buckling=tuple(load.in_basis(S) for load in body.buckling) if flexible else (),
        stiffening=body.stiffening.in_basis(S) if flexible and body.stiffening is not None else None,
        unshifted=None,
    )


def _chosen(body: Body, modes: int | None, basis: Any, **others: Any) -> Array:
    """Basis (n, k) by the arguments of :func:`reduce_body`: ``basis`` itself, or that of :func:`body_basis`.

    ``others`` are the further arguments of :func:`body_basis`. Raises ValueError if both a basis and any of the
    others are given, or nothing.
    """
    if basis is None:
        if modes is None and not (others["static"] or others["inertia"]):
            raise ValueError("modes must be given (0 makes the body rigid), or static ports, inertia, or a basis")
        return body_basis(body, modes=0 if modes is None else modes, **others)
    if modes is not None or any(others.values()):
        raise ValueError("basis= excludes modes=, derivatives=, static= and inertia=: give one or the other")
    given = basis.toarray() if sparse.issparse(basis) else basis
    columns = check.array("basis", given, (body.size, None))
    if columns.shape[1]:
        _refuse_dependent(body, columns)
    return columns


def _refuse_dependent(body: Body, basis: Array) -> None:
    """Raise ValueError if the columns of a basis (n, k) are dependent, measured in the kinetic energy."""
    gram = basis.T @ (HeldBody(body).mass @ basis)
    size = np.sqrt(gram.diagonal())
    if not np.all(size > 0.0):
        raise ValueError(f"basis must have full rank: column {int(np.argmin(size))} is zero")
    lowest = float(np.linalg.eigvalsh(gram / np.outer(size, size))[0])
    if lowest < DEFICIENT:
        raise ValueError(
            f"basis must have full rank: its {basis.shape[1]} columns are dependent, as the lowest eigenvalue of "
            f"TᵀMT with a unit diagonal is {lowest:.0e}, needed {DEFICIENT:.0e}"
        )


def _inertia(given: Inertia, T: Array) -> Inertia:
    """Mass integrals in reduced coordinates û, u = T û."""
    squares = sum(given.shape_pair[i][i] for i in range(given.dim)) + given.spin_pair
    size = np.sqrt(np.maximum(np.einsum("nk,nk->k", T, squares @ T), 0.0))
    project = lambda form: without_round_off(T.T @ (form @ T), size, size)  # noqa: E731 - the same of all forms
    return replace(
        given,
        shape_first=given.shape_first @ T,
        shape_lever=given.shape_lever @ T,
        shape_pair=tuple(tuple(project(form) for form in row) for row in given.shape_pair),
        spin_shape=given.spin_shape @ T,
        spin_pair=project(given.spin_pair),
    )


def _elasticity(body: Body, T: Array) -> tuple[Elasticity | None, Any]:
    """Elasticity in reduced û and σ̂, and the stress basis S (m, k).

    S = C⁻¹D₀T L⁻ᵀd⁻¹ with TᵀKT = L diag(d) Lᵀ, K = D₀ᵀC⁻¹D₀: then SᵀCS = diag(1/d) and SᵀD₀T = Lᵀ.
    """
    if not T.shape[1]:
        return None, np.zeros((body.stress_size, 0))
    held = HeldBody(body)
    elastic = held.elastic
    L, d = ldl("TᵀKT of the basis, which must not deform without stress,", elastic.energies(T))
    S = elastic.stress_basis(divided_by_factors(T, L, d))
    slopes, weights = few_slopes(elastic.slopes @ T, (elastic.weights.T @ S).T)
    _warn_of_loss(held, T, S)
    viscous = elastic.viscous
    reduced = replace(
        condensed_elasticity(L, d),
        slopes=sparse.csr_array(slopes),
        weights=sparse.csr_array(weights),
        mass_damping=elastic.mass_damping,
        stiffness_damping=elastic.stiffness_damping,
        viscous=None if viscous is None else sparse.csr_array(semi_definite_product("viscous", viscous, T)),
    )
    return reduced, S


def condensed_elasticity(L: Array, d: Array) -> Elasticity:
    """Elasticity with the energy ½ ûᵀL diag(d) Lᵀû in equally many stresses: Ĉ = diag(1/d), D̂ = Lᵀ."""
    return Elasticity(
        compliance=sparse.diags_array(1.0 / d).tocsr(),
        strain=without_round_off(L.T, 1.0 / np.sqrt(d), np.sqrt(L**2 @ d)),
        slopes=sparse.csr_array((0, len(d))),
        weights=sparse.csr_array((len(d), 0)),
    )


def _view(view: View, T: Any, S: Any) -> View:
    """View whose shapes and stresses act on the reduced û and σ̂, for u = T û and σ = S σ̂."""
    stresses = {name: f.in_basis(S) for name, f in view.stresses.items()}
    tensors = {name: f.in_basis(S) for name, f in view.tensors.items()}
    flexible = bool(S.shape[1])
    return replace(
        view,
        shape=_rows(view.shape, T),
        stresses=stresses if flexible else {},
        tensors=tensors if flexible else {},
        sweep=view.sweep and replace(view.sweep, rotation=_rows(view.sweep.rotation, T)),
        sections=view.sections.in_basis(S) if view.sections is not None and flexible else None,
    )


def _rows(rows: Any, T: Any) -> Any:
    """Sparse rows that act on the reduced coordinates û, from rows that act on u = T û; None for None."""
    if isinstance(rows, Bordered):
        return sparse.csr_array(rows @ T)
    return None if rows is None else sparse.csr_array(rows) @ T


def _warn_of_loss(held: HeldBody, T: Array, S: Array) -> None:
    """Warn if the reduced body loses most of the quadratic strains, or of the stress by which a spin stiffens it.

    ``T`` and ``S`` are the bases of deformations and stresses.
    """
    if not held.elastic.slopes.shape[0]:
        return None
    lost = lost_share(held, T, S)
    if lost > LOST:
        return _warn(
            f"{lost:.0%} of the quadratic strains of the reduced body do no work on its stresses: shortening by "
            "bending and geometric stiffening are lost; add derivatives= (at most the number of bending modes)"
        )
    if held.body.momenta == "constant":
        return None
    reduced, exact = diverging_spins(held, T)
    early = np.flatnonzero(reduced < EARLY * exact)
    if early.size:
        a = early[np.argmin(reduced[early])]
        axis = "" if held.body.dim == 2 else f" about its {'xyz'[a]} axis"
        _warn(
            f"the reduced body, fixed at its origin, diverges at a steady spin of {reduced[a]:.3g} rad/s{axis}: it "
            "has too little of the stiffening centrifugal stress; add inertia=True, unless it turns much slower"
        )
    return None


def _warn(message: str) -> None:
    warn(message, ReductionWarning)


ROUND_OFF = 1e-13
"""Value of a sum of products, relative to the sum of their magnitudes, that is round-off."""


def quadratic_forms(slopes: Array, weights: Array) -> Array:
    """Symmetric matrices ``G_i = slopesᵀ diag(weights_i) slopes`` (r, k, k) of the strains ``ε_i = … + ½ uᵀG_iu``."""
    k = slopes.shape[1]
    forms = np.zeros((len(weights), k, k))
    for form, w in zip(forms, weights, strict=True):
        bound = np.abs(slopes).T @ (np.abs(w)[:, None] * np.abs(slopes))
        product = slopes.T @ (w[:, None] * slopes)
        form[:] = np.where(np.abs(product) > ROUND_OFF * bound, 0.5 * (product + product.T), 0.0)
    return forms


def few_slopes(slopes: Array, weights: Array) -> tuple[Array, Array]:
    """Slopes s (g', k) and weights w (r, g') of the strains ``½ Σ_g w_ig (s_g u)²``, i ≤ r, with the fewest slopes.

    Three representations are compared: polarisation, ``2u_iu_j = (u_i + u_j)² − u_i² − u_j²``, for the coordinates with
    slopes; the eigenvectors of the matrix of each strain; and the given slopes.
    """
    forms = quadratic_forms(slopes, weights)
    representations = [_polarised(forms), _by_eigenvectors(forms)]
    used = np.any(weights != 0.0, axis=0)
    representations.append((slopes[used], weights[:, used]))
    return min(representations, key=lambda pair: len(pair[0]))


def _polarised(forms: Array) -> tuple[Array, Array]:
    """Slopes and weights, as in :func:`few_slopes`, of strains ½ uᵀG_iu by polarisation; ``forms`` (r, k, k) are G.

    The slopes are u_i and u_i + u_j for the nonzero entries (i, j) of the matrices.
    """
    k = forms.shape[1]
    present = np.any(forms != 0.0, axis=0)
    i, j = np.nonzero(np.triu(present, 1))
    rows, unit = np.flatnonzero(present.any(axis=0)), np.eye(k)
    mixed = forms[:, i, j]
    diagonal = np.einsum("rkk->rk", forms).copy()
    for a, b, value in zip(i, j, mixed.T, strict=True):
        diagonal[:, a] -= value
        diagonal[:, b] -= value
    slopes, weights = np.vstack([unit[rows], unit[i] + unit[j]]), np.hstack([diagonal[:, rows], mixed])
    kept = np.any(weights != 0.0, axis=0)
    return slopes[kept], weights[:, kept]


def _by_eigenvectors(forms: Array) -> tuple[Array, Array]:
    """Slopes and weights, as in :func:`few_slopes`: eigenvectors and eigenvalues of the ``forms`` G (r, k, k)."""
    slopes, weights = [np.zeros((0, forms.shape[1]))], [np.zeros((len(forms), 0))]
    for r, form in enumerate(forms):
        values, vectors = np.linalg.eigh(form)
        kept = np.abs(values) > ROUND_OFF * np.abs(values).max(initial=0.0)
        slopes.append(vectors[:, kept].T)
        weights.append(np.outer(np.eye(len(forms))[r], values[kept]))
    return np.vstack(slopes), np.hstack(weights)


def diverging_spins(held: HeldBody, vectors: Array) -> tuple[Array, Array]:
    """Least steady spins about each body axis through P at which a body fixed at P diverges, (s,) [rad/s] each.

        det(K + Ω²(G_a − S_a)) = 0,  G_a = sᵀ diag(Wᵀσ_a) s,  S_a = ∫ρ φᵀB_aa φ

    projected onto the vectors (n, k). G_a is the geometric stiffness by the stress σ_a of a unit spin about axis a,
    with slopes s and weights W (:class:`Elasticity`); S_a is the softening by that spin. The first result uses the
    stress of the reduced body, the part of σ_a in the span C⁻¹D₀T; the second all of σ_a. Spins are infinite if the
    body does not diverge.
    """
    c, elastic = contract(held.body.inertia, about_centre=False), held.elastic
    force = np.einsum("aak->ka", c.s)
    full = held.strain @ held.response(force, np.zeros((elastic.size, force.shape[1])))
    stretch, slopes = held.strain @ vectors, elastic.slopes @ vectors
    stiffness = stretch.T @ (elastic.stiffness_of_stress @ stretch)
    kept = stretch @ np.linalg.solve(stiffness, vectors.T @ force)
    spins = np.full((2, force.shape[1]), np.inf)
    for i, stress in enumerate(elastic.stiffness_of_stress @ strain for strain in (kept, full)):
        for a, weights in enumerate((elastic.weights.T @ stress).T):
            change = slopes.T @ (weights[:, None] * slopes) - vectors.T @ (c.K[a][a] @ vectors)
            values = eigvalsh(0.5 * (change + change.T), stiffness)
            if values[0] < -ROUND_OFF * np.abs(values).max():
                spins[i, a] = 1.0 / np.sqrt(-values[0])
    return spins[0], spins[1]


def lost_share(held: HeldBody, vectors: Array, stresses: Array) -> float:
    """Share of quadratic strains, by their strain energy, that does no work on any of the ``stresses`` (m, r).

    The strains are those of all pairs of ``vectors`` (n, k), see :meth:`HeldBody.pair_strains`. The share is 0 if they
    are zero.
    """
    strain = held.pair_strains(vectors)
    whole = float(np.sum(strain * (held.elastic.stiffness_of_stress @ strain)))
    if not whole:
        return 0.0
    gram = stresses.T @ (held.elastic.compliance @ stresses)
    projected = stresses.T @ strain
    return max(0.0, 1.0 - float(np.sum(projected * np.linalg.solve(gram, projected))) / whole)
