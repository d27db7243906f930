"""Derivatives of poles and of H2 norms of linear systems, damped and constrained ones included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eig, null_space, solve_continuous_lyapunov

from ..linear.eigenmodes.pencils import balanced
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.differences import central_of_order_four
from ..numerics.memo import NamedFields
from ..systems.linear import LinearPHDAE
from .parameter_derivatives import plain_system, stated_steps

REPEATED = 1e-7
"""Relative distance up to which poles count as repeated: eigenvalues of nonsymmetric matrices, semisimple ones."""
ROUNDED = 1e-13
"""Round-off of poles relative to the largest one: closer ones count as repeated."""
DEFECTIVE = 1e-7
"""Least singular value of the products of left and right eigenvectors of unit length."""


@dataclass(frozen=True)
class PoleSensitivities(NamedFields):
    """Poles (k,) [1/s] and their ``derivatives`` (k,) by parameter.

    Attributes
    ----------
    poles : array
        (k,) complex [1/s], by ascending size, of a pair the one with positive imaginary part first.
    derivatives : mapping
        Derivatives (k,) by parameter; those of a repeated pole in the order of their real parts.
    """

    poles: Array
    derivatives: Mapping[str, Array]


@checked
def pole_sensitivities(
    system: Callable[..., Any], at: Mapping[str, float], count: int, *, steps: float | Mapping[str, float] = 1e-3
) -> PoleSensitivities:
    """Derivatives of the poles of least size of ``λ E x = (J − R) x + Gᵀν, 0 = G x``, which may be damped.

    With right and left eigenvectors x and y of the system on the kernel of G, scaled to ``yᴴE x = 1``, they are
    ``dλ = yᴴ(dJ − dR − λ dE) x``; for a repeated pole the eigenvalues of this form on its eigenvectors. The matrices
    are differentiated by differences of fourth order, exact to round-off for polynomials of degree four.
    :func:`frequency_sensitivities` is for large undamped systems.

    Parameters
    ----------
    system : callable
        Function of named parameters that returns a LinearPHDAE, always of the same states.
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
        For fewer poles, and defective ones, as at critical damping, which have no derivative.

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
    own = stated_steps(at, steps)
    along = _Along(system, at)
    E, A, _ = along.matrices
    e, a, scale = balanced(E, A)
    values, left, right = eig(a, e, left=True)
    left, right = scale[:, None] * left, scale[:, None] * right
    finite = np.flatnonzero(np.isfinite(values))
    order = finite[np.lexsort((-values[finite].imag, np.round(np.abs(values[finite]), 9)))]
    if not 1 <= check.count("count", count) <= order.size:
        raise ValueError(f"count must be at most {order.size}, the number of poles, got {count}")
    poles = values[order[:count]]
    derivatives = {}
    for name, step in own.items():
        change = along.change(name, step)
        derivatives[name] = _pole_derivatives(values, (left, right), order[:count], (E, change))
    return PoleSensitivities(poles, derivatives)


def _pole_derivatives(values: Array, vectors: tuple[Array, Array], chosen: Array, of: tuple[Array, _Matrices]) -> Array:
    """Derivatives of poles from their eigenvectors, cluster by cluster."""
    (left, right), (E, change) = vectors, of
    scale = np.abs(values[np.isfinite(values)]).max()
    derivatives = np.empty(chosen.size, dtype=complex)
    for k, index in enumerate(chosen):
        size, apart = REPEATED * abs(values[index]), np.abs(values - values[index])
        near, cluster = (np.flatnonzero(apart <= max(size, least * scale)) for least in (1e-3 * REPEATED, ROUNDED))
        if _least_product(left[:, near], E @ right[:, near]) < DEFECTIVE:  # these part by more than round-off
            raise ValueError(f"the pole {values[near].mean():.6g} is defective and has no derivative")
        x, y, pole = right[:, cluster], left[:, cluster], values[cluster].mean()
        product = y.conj().T @ E @ x
        form = np.linalg.solve(product, y.conj().T @ (change.A - pole * change.E) @ x)
        own = np.linalg.eigvals(form)
        derivatives[k] = own[np.argsort(own.real, kind="stable")][int(np.flatnonzero(cluster == index)[0])]
    return derivatives


def _least_product(left: Array, right: Array) -> float:
    """Least singular value of the products of columns of unit length."""
    sizes = np.linalg.norm(left, axis=0)[:, None] * np.linalg.norm(right, axis=0)
    return float(np.linalg.svd(left.conj().T @ right / sizes, compute_uv=False)[-1])


@dataclass(frozen=True)
class NormSensitivities(NamedFields):
    """H2 norm and its ``derivatives`` by parameter.

    Attributes
    ----------
    norm : float
        H2 norm of the transfer function from the inputs to the outputs.
    derivatives : mapping
        Derivative by parameter.
    """

    norm: float
    derivatives: Mapping[str, float]


@checked
def h2_sensitivities(
    system: Callable[..., Any], at: Mapping[str, float], *, steps: float | Mapping[str, float] = 1e-3
) -> NormSensitivities:
    """H2 norm of the collocated transfer function of a damped linear system, and its derivatives.

    With ``E ẋ = A x + B u, y = Bᵀx`` on the kernel of G, A = J − R, the square of the norm is ∫ tr(g gᵀ) dt of the
    impulse responses g, which is tr(BᵀP B) with ``A P Eᵀ + E P Aᵀ + B Bᵀ = 0``. Its derivative is
    ``2 tr(Q (dA P Eᵀ + dE P Aᵀ + dB Bᵀ)) + 2 tr(dBᵀP B)`` with the adjoint ``Aᵀ Q E + Eᵀ Q A + B Bᵀ = 0``. (Yan and
    Lam, IEEE Trans. Autom. Control 44, 1999.)

    Parameters
    ----------
    system : callable
        Function of named parameters that returns an asymptotically stable LinearPHDAE with a regular E on the kernel of
        G, always of the same states.
    at : dict
        Parameter values.
    steps : float or dict
        Steps of the differences of the matrices by parameter; one number is relative to the size of each parameter.

    Returns
    -------
    NormSensitivities
        Norm, and its derivatives by parameter.

    Raises
    ------
    ValueError
        For systems without inputs, with a singular E, or that are not asymptotically stable.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.studies import h2_sensitivities
    >>> def oscillator(mass, damping):
    ...     J, R = np.array([[0.0, -1.0], [1.0, 0.0]]), np.diag([damping, 0.0])
    ...     return LinearPHDAE(E=np.diag([mass, 0.1]), J=J, R=R, B=np.array([[1.0], [0.0]]))
    >>> found = h2_sensitivities(oscillator, {"mass": 2.0, "damping": 0.5})  # (2 m d)^(-1/2)
    >>> round(found.norm, 9), round(found.derivatives["damping"], 9)
    (0.707106781, -0.707106781)
    """
    own = stated_steps(at, steps)
    along = _Along(system, at)
    E, A, B = along.matrices
    if not B.shape[1]:
        raise ValueError("system must have inputs, got none")
    if np.linalg.cond(E) > 1.0 / np.finfo(float).eps:
        raise ValueError("system must have a regular E on the kernel of G: eliminate algebraic states first")
    free = np.linalg.solve(E, A)
    if np.linalg.eigvals(free).real.max() >= -np.finfo(float).eps * np.linalg.norm(free):
        raise ValueError("system must be asymptotically stable, it has a pole that is not damped")
    inputs = np.linalg.solve(E, B)
    P = solve_continuous_lyapunov(free, -inputs @ inputs.T)
    weighed = solve_continuous_lyapunov(free.T, -B @ B.T)  # of x, that is EᵀQ E
    norm = float(np.sqrt(np.trace(B.T @ P @ B)))
    derivatives = {}
    for name, step in own.items():
        change = along.change(name, step)
        moved = np.linalg.solve(E, change.A - change.E @ free)
        driven = np.linalg.solve(E, change.B - change.E @ inputs)
        square = 2.0 * np.trace(weighed @ (moved @ P + driven @ inputs.T)) + 2.0 * np.trace(change.B.T @ P @ B)
        derivatives[name] = float(square / (2.0 * norm))
    return NormSensitivities(norm, derivatives)


class _Matrices(NamedTuple):
    """E, A = J − R and B on the kernel of the constraints."""

    E: Array
    A: Array
    B: Array


class _Along:
    """Matrices of a system along its parameters, on a basis of the kernel of G that moves with it smoothly."""

    def __init__(self, system: Callable[..., Any], at: Mapping[str, float]) -> None:
        self.system, self.at = system, dict(at)
        here = plain_system(system, self.at)
        self.basis = null_space(dense(here.G)) if here.G.shape[0] else np.eye(here.E.shape[0])
        self.matrices = self._of(here)

    def change(self, name: str, step: float) -> _Matrices:
        """Derivatives of the matrices by a parameter."""

        def at(value: float) -> Array:
            stacked = np.empty(3, dtype=object)  # an array of matrices, added and scaled one by one
            stacked[:] = self._of(plain_system(self.system, {**self.at, name: value}))
            return stacked

        return _Matrices(*(central_of_order_four(at, self.at[name], step) / step))

    def _of(self, own: LinearPHDAE) -> _Matrices:
        """Matrices on the basis, projected onto the kernel of G."""
        Z, G = self.basis, dense(own.G)
        if G.shape[0]:
            Z = Z - np.linalg.pinv(G) @ (G @ Z)
        return _Matrices(Z.T @ dense(own.E) @ Z, Z.T @ (dense(own.J) - dense(own.R)) @ Z, Z.T @ dense(own.B))
