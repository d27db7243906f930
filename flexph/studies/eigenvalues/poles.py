"""Derivatives of poles of linear systems, with or without damping and constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eig

from ...linear.eigenmodes.pencils import balanced
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.memo import NamedFields
from .along_parameters import Matrices, ProjectedMatrices, stated_steps

REPEATED = 1e-7
"""Distance of two poles, relative to their modulus, up to which they count as equal. Poles of nonsymmetric matrices are
no more accurate."""
ROUNDED = 1e-13
"""Distance of two poles, relative to the largest pole, up to which they count as equal: their round-off."""
DEFECTIVE = 1e-7
"""Smallest singular value of yᴴE x, with eigenvectors y and x of equal poles scaled to unit length, below which the
poles are defective."""


@dataclass(frozen=True)
class PoleSensitivities(NamedFields):
    """Poles (k,) [1/s] and their ``derivatives`` (k,) by parameter.

    Attributes
    ----------
    poles : array
        (k,) complex [1/s], by ascending modulus; positive imaginary part first in conjugate pairs.
    derivatives : mapping
        Derivatives (k,) by parameter; those of a repeated pole in the order of their real parts.
    """

    poles: Array
    derivatives: Mapping[str, Array]


@checked
def pole_sensitivities(
    system: Callable[..., Any], at: Mapping[str, float], count: int, *, steps: float | Mapping[str, float] = 1e-3
) -> PoleSensitivities:
    """Derivatives of the poles of smallest modulus of ``λ E x = (J − R) x + Gᵀν, 0 = G x``.

    With right and left eigenvectors x and y of the system on the kernel of G, scaled to ``yᴴE x = 1``, they are
    ``dλ = yᴴ(dJ − dR − λ dE) x``; for a repeated pole they are the eigenvalues of this form on its eigenvectors. The
    matrices are differentiated by differences of fourth order, exact to round-off for polynomials of degree four.
    :func:`frequency_sensitivities` is faster for large undamped systems.

    Parameters
    ----------
    system : callable
        Function of named parameters that returns a LinearPHDAE, always with the same states.
    at : dict
        Parameter values.
    count : int
        Number of poles.
    steps : float or dict
        Steps of the differences by parameter; one number is the step relative to the size of each parameter.

    Returns
    -------
    PoleSensitivities
        Poles, and their derivatives by parameter.

    Raises
    ------
    ValueError
        If the system has fewer poles, and for defective poles, as at critical damping, which have no derivative.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.studies import pole_sensitivities
    >>> def oscillator(stiffness, damping):
    ...     J, R = np.array([[0.0, -1.0], [1.0, 0.0]]), np.diag([damping, 0.0])
    ...     return LinearPHDAE(E=np.diag([1.0, 1.0 / stiffness]), J=J, R=R)
    >>> found = pole_sensitivities(oscillator, {"stiffness": 25.0, "damping": 6.0}, 2)  # λ² + 6 λ + 25 = 0
    >>> found.poles.round(9), found.derivatives["damping"].round(9)  # −λ/(2λ + 6)
    (array([-3.+4.j, -3.-4.j]), array([-0.5-0.375j, -0.5+0.375j]))
    """
    relative_steps = stated_steps(at, steps)
    projected = ProjectedMatrices(system, at)
    E, A, _ = projected.matrices
    e, a, scale = balanced(E, A)
    values, left, right = eig(a, e, left=True)
    left, right = scale[:, None] * left, scale[:, None] * right
    finite = np.flatnonzero(np.isfinite(values))
    order = finite[np.lexsort((-values[finite].imag, np.round(np.abs(values[finite]), 9)))]
    if not 1 <= check.count("count", count) <= order.size:
        raise ValueError(f"count must be at most {order.size}, the number of poles, got {count}")
    poles = values[order[:count]]
    derivatives = {}
    for name, step in relative_steps.items():
        change = projected.change(name, step)
        derivatives[name] = eigenvalue_derivatives(values, (left, right), order[:count], (E, change))
    return PoleSensitivities(poles, derivatives)


def eigenvalue_derivatives(
    values: Array, vectors: tuple[Array, Array], chosen: Array, of: tuple[Array, Matrices], kind: str = "pole"
) -> Array:
    """Derivatives of the eigenvalues with indices ``chosen`` of the pencil (A, E), from left and right eigenvectors.

    ``vectors`` are (left, right); ``of`` is (E, derivatives of the matrices with respect to the parameter). For equal
    eigenvalues the derivatives are eigenvalues of a matrix on their common subspace. Raises ValueError for defective
    eigenvalues; ``kind`` names them in the message.
    """
    (left, right), (E, change) = vectors, of
    scale = np.abs(values[np.isfinite(values)]).max()
    derivatives = np.empty(chosen.size, dtype=complex)
    for k, index in enumerate(chosen):
        size, apart = REPEATED * abs(values[index]), np.abs(values - values[index])
        near, cluster = (np.flatnonzero(apart <= max(size, least * scale)) for least in (1e-3 * REPEATED, ROUNDED))
        # the computed eigenvalues of a defective pole differ by more than round-off
        if _least_product(left[:, near], E @ right[:, near]) < DEFECTIVE:
            raise ValueError(f"the {kind} {values[near].mean():.6g} is defective and has no derivative")
        x, y, pole = right[:, cluster], left[:, cluster], values[cluster].mean()
        product = y.conj().T @ E @ x
        form = np.linalg.solve(product, y.conj().T @ (change.A - pole * change.E) @ x)
        of_cluster = np.linalg.eigvals(form)
        derivatives[k] = of_cluster[np.argsort(of_cluster.real, kind="stable")][
            int(np.flatnonzero(cluster == index)[0])
        ]
    return derivatives


def _least_product(left: Array, right: Array) -> float:
    """Smallest singular value of leftᴴ right with columns scaled to unit length."""
    sizes = np.linalg.norm(left, axis=0)[:, None] * np.linalg.norm(right, axis=0)
    return float(np.linalg.svd(left.conj().T @ right / sizes, compute_uv=False)[-1])
