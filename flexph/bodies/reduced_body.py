"""Reduced bodies: the deformation of a body in the span of a few vectors, its stresses in the span of their strains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..linear.projection import ReductionWarning
from ..numerics import checks as check
from ..numerics.arguments import checked, warn
from ..numerics.arrays import Array
from ..numerics.factors.ldl import divided, dropped, ldl, semi_definite_product
from ..numerics.factors.low_rank import Bordered
from .basis import body_basis, refuse_others
from .body import Body, Port
from .elasticity import Elasticity
from .fields import View
from .held import Held
from .inertia import Inertia
from .quadratic_strain import diverging_spins, few_slopes, lost_share

DEFICIENT = 1e-10
"""Eigenvalue of the mass matrix of a basis, its vectors at unit length, below which they count as dependent."""
LOST = 0.9
"""Share of the quadratic strains beyond the stresses of a reduced body above which it warns."""
EARLY = 0.5
"""Spin at which a reduced body diverges, over that with all of its stress, below which it warns."""


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
    """The body with deformations ``u = T û`` and stresses ``σ = S σ̂``, S spanning C⁻¹D₀T: a body of the same kind.

        M̂ = TᵀMT,  Ĉ = SᵀCS,  D̂(û) = SᵀD(Tû)T = SᵀD₀T + SᵀW diag(sTû) sT

    All mass integrals are projected, so that its kinetic energy is that of the body at u = T û, at any motion, and its
    elastic energy that at σ = S σ̂. Ĉ is diagonal, and SᵀD₀T = 1 unless a ``basis`` is given: û are lengths [m] and σ̂
    the forces [N] that work on them. Stresses are projected together with the velocities; with all of them kept, a body
    with von Kármán strain would lock. Ports (:class:`flexph.bodies.Port`), loads, view, stress fields, lumped masses
    and damping are kept: αM and viscous matrices are projected, β acts on D̂.

    T is that of :func:`body_basis` by ``modes``, ``derivatives``, ``static`` and ``inertia``, or ``basis`` (n, k) as it
    is given: û are then the factors of its columns. A body that turns faster than about its first frequency needs
    ``inertia=True``. Without any vector the body is rigid: no flexible coordinates, no elasticity.
    Frequencies of a linearised mechanism of reduced bodies are not below those of the full one (Rayleigh-Ritz).

    Warns with :class:`ReductionWarning` where most of the quadratic strains of a body with von Kármán strain, those of
    pairs of its new vectors, work on no stress that was kept: shortening by bending and stiffening are then lost. It
    also warns where the kept part of the centrifugal stress lets the body, held at P, diverge at less than half the
    spin at which it would with all of that stress (:func:`flexph.bodies.quadratic_strain.diverging_spins`).

    Parameters
    ----------
    body : Body
        A flexible body.
    modes : int, optional
        Number of vibration modes.
    derivatives : int
        Number of modal derivatives.
    static : sequence of str
        Ports and load ports whose static responses are kept.
    inertia : bool
        Keep the static responses to inertia forces, too.
    basis : array_like, optional
        T (n, k), in place of the other choices.

    Returns
    -------
    Body
        A body of the same kind, of k coordinates.

    Raises
    ------
    ValueError
        For what is not a body, a basis of another size, with NaN or of deficient rank, beside other choices, or without
        any choice, and where :func:`body_basis` does.
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
        sections={k: p.over(T, S) for k, p in body.sections.items()} if flexible else {},
        buckling=tuple(load.over(S) for load in body.buckling) if flexible else (),
        stiffening=body.stiffening.over(S) if flexible and body.stiffening is not None else None,
        unshifted=None,
    )


def _chosen(body: Body, modes: int | None, basis: Any, **others: Any) -> Array:
    """The vectors asked for, (n, k); ``others`` are choices of :func:`body_basis` that may be missing."""
    if basis is None:
        if modes is None and not (others["static"] or others["inertia"]):
            raise ValueError("modes must be given (0 makes the body rigid), or static ports, inertia, or a basis")
        return body_basis(body, modes=0 if modes is None else modes, **others)
    if modes is not None or any(others.values()):
        raise ValueError("basis must be given alone, without modes, derivatives, static and inertia")
    given = basis.toarray() if sparse.issparse(basis) else basis
    columns = check.array("basis", given, (body.size, None))
    if columns.shape[1]:
        _refuse_dependent(body, columns)
    return columns


def _refuse_dependent(body: Body, basis: Array) -> None:
    """Raise ValueError where vectors follow from others, in the norm of kinetic energy."""
    gram = basis.T @ (Held(body).mass @ basis)
    size = np.sqrt(gram.diagonal())
    if not np.all(size > 0.0):
        raise ValueError(f"basis must have full rank: column {int(np.argmin(size))} is zero")
    lowest = float(np.linalg.eigvalsh(gram / np.outer(size, size))[0])
    if lowest < DEFICIENT:
        raise ValueError(
            f"basis must have full rank: its {basis.shape[1]} columns depend on each other, the lowest eigenvalue of "
            f"TᵀMT with a unit diagonal is {lowest:.0e}, needed {DEFICIENT:.0e}"
        )


def _inertia(given: Inertia, T: Array) -> Inertia:
    """The mass integrals over û."""
    squares = sum(given.shape_pair[i][i] for i in range(given.dim)) + given.spin_pair
    size = np.sqrt(np.maximum(np.einsum("nk,nk->k", T, squares @ T), 0.0))
    project = lambda form: dropped(T.T @ (form @ T), size, size)  # noqa: E731 - the same of all forms
    return replace(
        given,
        shape_first=given.shape_first @ T,
        shape_lever=given.shape_lever @ T,
        shape_pair=tuple(tuple(project(form) for form in row) for row in given.shape_pair),
        spin_shape=given.spin_shape @ T,
        spin_pair=project(given.spin_pair),
    )


def _elasticity(body: Body, T: Array) -> tuple[Elasticity | None, Any]:
    """The elasticity over û and σ̂, and S (m, k).

    S = C⁻¹D₀T L⁻ᵀd⁻¹ with TᵀKT = L diag(d) Lᵀ, K = D₀ᵀC⁻¹D₀: then SᵀCS = diag(1/d) and SᵀD₀T = Lᵀ.
    """
    if not T.shape[1]:
        return None, np.zeros((body.stress_size, 0))
    held = Held(body)
    elastic = held.elastic
    L, d = ldl("TᵀKT of the basis, which must not deform without stress,", elastic.energies(T))
    S = elastic.stress_basis(divided(T, L, d))
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
    """The linear elastic energy ½ ûᵀL diag(d) Lᵀû in the stresses of as many vectors: Ĉ = diag(1/d), D̂ = Lᵀ."""
    return Elasticity(
        compliance=sparse.diags_array(1.0 / d).tocsr(),
        strain=dropped(L.T, 1.0 / np.sqrt(d), np.sqrt(L**2 @ d)),
        slopes=sparse.csr_array((0, len(d))),
        weights=sparse.csr_array((len(d), 0)),
    )


def _view(view: View, T: Any, S: Any) -> View:
    """The view over û and σ̂; a rigid body has no stresses."""
    stresses = {name: f.over(S) for name, f in view.stresses.items()}
    tensors = {name: f.over(S) for name, f in view.tensors.items()}
    flexible = bool(S.shape[1])
    return replace(
        view,
        shape=_rows(view.shape, T),
        stresses=stresses if flexible else {},
        tensors=tensors if flexible else {},
        sweep=view.sweep and replace(view.sweep, rotation=_rows(view.sweep.rotation, T)),
        sections=view.sections.over(S) if view.sections is not None and flexible else None,
    )


def _rows(rows: Any, T: Any) -> Any:
    """Shape rows over û, sparse; None stays None."""
    if isinstance(rows, Bordered):
        return sparse.csr_array(rows @ T)
    return None if rows is None else sparse.csr_array(rows) @ T


def _warn_of_loss(held: Held, T: Array, S: Array) -> None:
    """Warn where the quadratic strains, or the stress of a spin that stiffens the body, are lost."""
    if not held.elastic.slopes.shape[0]:
        return None
    lost = lost_share(held, T, S)
    if lost > LOST:
        return _warn(
            f"{lost:.0%} of the quadratic strains of the reduced body work on no stress that was kept: shortening by "
            "bending and geometric stiffening are lost; add derivatives (as many as there are bending modes, or fewer)"
        )
    if held.body.momenta == "constant":
        return None
    reduced, exact = diverging_spins(held, T)
    early = np.flatnonzero(reduced < EARLY * exact)
    if early.size:
        a = early[np.argmin(reduced[early])]
        axis = "" if held.body.dim == 2 else f" about its {'xyz'[a]} axis"
        _warn(
            f"the reduced body, held at its origin, diverges at a steady spin of {reduced[a]:.3g} rad/s{axis}: it "
            "keeps too little of the centrifugal stress that stiffens it; add inertia=True, unless it turns much slower"
        )
    return None


def _warn(message: str) -> None:
    warn(message, ReductionWarning)
