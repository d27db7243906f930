"""Strain rows of nodal bodies: products divided by lengths of directors (frame vectors), with a stress state σ.

    ε = w Π m_i m_j − ε₀,   m = (n)^(−½),   Cσ = ε

Π are products such as d_i·r' and d_j'·d_k, n_i = d_i·d_i, w factors; m = 1 for a missing director. Increments over a
step are exact: with s = √n, Δm = −Δn/(s₀s₁(s₀ + s₁)), P = m_i m_j, ΔP = m̄_iΔm_j + m̄_jΔm_i, Δε = w(P̄ΔΠ + Π̄ΔP).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..discrete_gradients.stored_energies import LawRows, mean_slope
from ..numerics.arrays import Array

Index = np.ndarray


class Strains(NamedTuple):
    """Constant data of e strain rows: indices of their products, of the squares of directors, and of their stresses.

    The index of a director that is missing is −1.
    """

    product: Index  # (e,)
    first: Index  # (e,)
    second: Index  # (e,)
    reference: Array  # (e,), ε₀
    stress: Index  # (e,), their indices among all stresses
    stiffness: Any  # (e, e), C⁻¹, zero in rows with a law
    factor: Array  # (e,), w
    laws: tuple[LawRows, ...] = ()
    undeformed: Any = None  # (e, e), stiffness at zero strain including that of the laws; None without laws

    @property
    def of_undeformed(self) -> Any:
        """Stiffness matrix (e, e) in the undeformed state, including that of material laws."""
        return self.stiffness if self.undeformed is None else self.undeformed


class Gradient(NamedTuple):
    """Derivatives (e,) of each strain with respect to its product Π and to the squares of its two directors."""

    product: Array
    first: Array
    second: Array


_EMPTY = np.zeros(0, dtype=int)
NONE = Strains(_EMPTY, _EMPTY, _EMPTY, np.zeros(0), _EMPTY, np.zeros((0, 0)), np.zeros(0))
"""Empty arrays of strain rows."""


def _lengths(s: Strains, product: Array) -> tuple[Array, Array, Array]:
    """Products Π (e,), and lengths of the first and of the second director (e,) of each strain row; one if missing."""
    padded = np.append(product, 1.0)
    return product.take(s.product), np.sqrt(padded.take(s.first)), np.sqrt(padded.take(s.second))


def strains(s: Strains, product: Array) -> Array:
    """Strains ε (e,) from the products (p,)."""
    value, first, second = _lengths(s, product)
    return s.factor * value / (first * second) - s.reference


def strain_stresses(s: Strains, product: Array, time: float = 0.0) -> Array:
    """Stresses (e,) from the products (p,): σ = C⁻¹ε, or those of the material law at the time [s]."""
    strain = strains(s, product)
    stresses: Array = s.stiffness @ strain
    for part in s.laws:
        stresses[part.rows] = part.factor_at(time) * part.law.at(part.strain(strain)).stress
    return stresses


def law_energies(s: Strains, product: Array, time: float = 0.0) -> list[tuple[Index, Array]]:
    """Strain rows (k, c) and energies (k,) [J] of each material law at a time [s], for its k points of c strains."""
    strain = strains(s, product) if s.laws else product
    return [
        (part.rows, part.factor_at(time) * part.volume * part.law.at(part.strain(strain)).energy) for part in s.laws
    ]


def end_stiffness(s: Strains, product: Array, time: float = 0.0) -> Any:
    """Tangent stiffness ∂σ/∂ε at a state and time, sparse (e, e)."""
    strain = strains(s, product) if s.laws else product
    slopes = [part.factor_at(time) * part.law.at(part.strain(strain)).tangent for part in s.laws]
    return _with_laws(s, s.stiffness, slopes)


def mean_stiffness(s: Strains, products: tuple[Array, Array], softened: Array) -> Any:
    """Derivative of the stress σ̃ of a step with respect to the strain at its end, sparse (e, e).

    ``products`` are those at the start and at the end of the step. ``softened`` (e,) is ∂σ̃/∂σ = ½ + β/h with the
    stress σ at the end, the step size h and the coefficient β of stiffness-proportional damping.
    """
    before, after = (strains(s, product) if s.laws else product for product in products)
    stiffness = sparse.diags_array(softened) @ sparse.csr_array(s.stiffness)
    if s.laws:
        viscous = sparse.diags_array(softened - 0.5) @ sparse.csr_array(s.of_undeformed)
        stiffness = stiffness + viscous - sparse.diags_array(softened - 0.5) @ sparse.csr_array(s.stiffness)
    slopes = [mean_slope(part.law, part.strain(before), part.strain(after)) for part in s.laws]
    return _with_laws(s, stiffness, slopes)


def _with_laws(s: Strains, stiffness: Any, tangents: list[Array]) -> Any:
    """Sparse matrix (e, e): the given stiffness plus the blocks of material laws.

    ``tangents`` has, for each law, an array (k, c, c) of blocks, which are divided by the volumes of their points.
    """
    whole = sparse.csr_array(stiffness)
    for part, tangent in zip(s.laws, tangents, strict=True):
        values = tangent / part.volume[:, None, None]
        rows = np.broadcast_to(part.rows[:, :, None], values.shape)
        columns = np.broadcast_to(part.rows[:, None, :], values.shape)
        places = (rows.ravel(), columns.ravel())
        whole = whole + sparse.csr_array((values.ravel(), places), shape=whole.shape)
    return sparse.csr_array(whole)


def gradient(s: Strains, product: Array) -> Gradient:
    """Derivatives of the strains at a state with the products (p,)."""
    value, first, second = _lengths(s, product)
    scale = s.factor / (first * second)
    return Gradient(scale, -0.5 * value * scale / first**2, -0.5 * value * scale / second**2)


def mean_gradient(s: Strains, before: Array, after: Array) -> Gradient:
    """Discrete gradient of the strains over a step, from the products (p,) at its start and its end.

    Its product with the increments of Π and of the squares of both directors is exactly Δε.
    """
    (v0, a0, b0), (v1, a1, b1) = _lengths(s, before), _lengths(s, after)
    value, first, second = 0.5 * (v0 + v1), 0.5 * (1.0 / a0 + 1.0 / a1), 0.5 * (1.0 / b0 + 1.0 / b1)
    scale, value = 0.5 * s.factor * (1.0 / (a0 * b0) + 1.0 / (a1 * b1)), s.factor * value
    return Gradient(scale, value * second * _slope(a0, a1), value * first * _slope(b0, b1))


def _slope(before: Array, after: Array) -> Array:
    """Difference quotient Δm/Δn over a step of m = n^(−½), from the lengths √n before and after it."""
    return -1.0 / (before * after * (before + after))


def rows(s: Strains, g: Gradient, count: int) -> Any:
    """Sparse matrix (e, p) of the gradient ``g``; ``count`` is the number p of products."""
    numbers = np.arange(s.product.size)
    index, places = np.concatenate([s.product, s.first, s.second]), np.tile(numbers, 3)
    values, real = np.concatenate(g), index >= 0
    return sparse.csr_array((values[real], (places[real], index[real])), shape=(numbers.size, count))


def tangent(s: Strains, products: tuple[Array, Array], stress: Array, softened: Array) -> Any:
    """Derivative (p, p) of the forces of strain rows on products, with respect to the products at the end of a step.

    ``products`` are those at the start and at the end of the step, ``stress`` (e,) is the stress σ̃ of the step, and
    ``softened`` (e,) its derivative ½ + β/h with respect to the stress at the end.
    """
    before, after = products
    g, end = mean_gradient(s, before, after), gradient(s, after)
    mean, last = rows(s, g, after.size), rows(s, end, after.size)
    material = mean.T @ mean_stiffness(s, products, softened) @ last
    return -(material + mean_gradient_slopes(s, products, stress)).tocsr()


def second_derivatives(s: Strains, product: Array) -> tuple[Index, Index, Index, Array]:
    """Second derivatives ∂²ε_e/∂Π_j∂Π_k of the strains with respect to products, as indices e, j and k and values."""
    value, a, b = _lengths(s, product)
    scale, squared = s.factor / (a * b), 1.0 / (a * b) ** 2
    mixed = (
        (s.product, s.first, -0.5 * scale / a**2),
        (s.product, s.second, -0.5 * scale / b**2),
        (s.first, s.second, 0.25 * value * scale * squared),
    )
    squares = ((s.first, s.first, 0.75 * value * scale / a**4), (s.second, s.second, 0.75 * value * scale / b**4))
    entries = (*mixed, *((k, j, entry) for j, k, entry in mixed), *squares)
    j, k, values = (np.concatenate(column) for column in zip(*entries, strict=True))
    row, real = np.tile(np.arange(scale.size), len(entries)), (j >= 0) & (k >= 0)
    return row[real], j[real], k[real], values[real]


def second_derivative(s: Strains, product: Array, stress: Array) -> Any:
    """Sum Σ_e σ_e ∂²ε_e/∂Π∂Π over the strain rows with the stresses σ (e,), symmetric, sparse (p, p)."""
    e, j, k, value = second_derivatives(s, product)
    return sparse.coo_array((stress[e] * value, (j, k)), shape=(product.size,) * 2).tocsr()


def mean_gradient_slopes(s: Strains, products: tuple[Array, Array], stress: Array) -> Any:
    """Sum over the strain rows of the stress σ̃ (e,) times the derivative of the strain's discrete gradient, (p, p).

    The derivative is with respect to the products at the end of the step; ``products`` are those at its start and its
    end. The result is sparse.
    """
    (v0, a0, b0), (v1, a1, b1) = (_lengths(s, product) for product in products)
    value, first, second = 0.5 * (v0 + v1), 0.5 * (1.0 / a0 + 1.0 / a1), 0.5 * (1.0 / b0 + 1.0 / b1)
    by_first, by_second = _slope(a0, a1), _slope(b0, b1)
    turn_first, turn_second = -0.5 / a1**3, -0.5 / b1**3  # ∂m/∂n
    entries = (
        (s.product, s.first, 0.5 * turn_first / b1),
        (s.product, s.second, 0.5 * turn_second / a1),
        (s.first, s.product, 0.5 * second * by_first),
        (s.second, s.product, 0.5 * first * by_second),
        (s.first, s.second, 0.5 * value * by_first * turn_second),
        (s.second, s.first, 0.5 * value * by_second * turn_first),
        (s.first, s.first, value * second * _quotient_slope(a0, a1)),
        (s.second, s.second, value * first * _quotient_slope(b0, b1)),
    )
    i, j, values = (np.concatenate(column) for column in zip(*entries, strict=True))
    real, size = (i >= 0) & (j >= 0), products[1].size
    values = (values * np.tile(s.factor * stress, len(entries)))[real]
    return sparse.coo_array((values, (i[real], j[real])), shape=(size, size)).tocsr()


def _quotient_slope(before: Array, after: Array) -> Array:
    """Derivative of the difference quotient Δm/Δn of :func:`_slope` with respect to n at the end of the step."""
    return _slope(before, after) ** 2 * before * (before + 2.0 * after) / (2.0 * after)
