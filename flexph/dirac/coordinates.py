"""Canonical coordinates of integrable structures and of holonomic constraints ([survey] sec. 4.2 and 7).

f are flows and e efforts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from ..numerics import checks as check
from ..numerics import spans
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import derivative
from ..numerics.memo import PickledByCall
from ..numerics.subspaces import echelon, null_space, rank_of, unit_rows
from .equations import of_last
from .modulated import ModulatedDirac
from .structure import CanonicalForm, DiracStructure
from .system import PortHamiltonian

CANONICAL = 1e-7
"""Largest relative defect of the form (3.7) with which coordinates count as canonical. Derivatives by differences, with
errors of 1e-10, leave less."""
ROUND_OFF = 1e-15
"""Relative change of the solution at which Powell's method ends."""
SOLVED = 1e-11
"""Residual of equations, relative to their terms, up to which they are solved. It includes the error of slopes by
differences."""
SWEEPS = 20
"""Number of sweeps that scale rows and columns to a largest entry of one. Each sweep halves the logarithm of the
deviation."""
INVERTIBLE = 1e-10
"""Ratio of the smallest to the largest singular value of the scaled Hessian ∂²H/∂s² below which ∂H/∂s = 0 does not
determine s."""

Function = Callable[[Array], Array]


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class CanonicalCoordinates(PickledByCall):
    """Coordinates ``(q, p, r, s) = Φ(x)`` in which D(x) is constant ([survey] eq. (3.7), (7.11))

        f_q = −e_p,  f_p = e_q,  f_r = 0,  e_s = 0

    They are candidates until :meth:`check` confirms that they are canonical for a structure: an integrable structure
    has such coordinates near each regular point, but there is no formula for them. For constant structures use
    :meth:`linear`, for constraints on positions :func:`flexph.dirac.holonomic_coordinates`.

    Parameters
    ----------
    map : callable
        Φ (n,) as a function of x.
    inverse : callable
        Φ⁻¹ (n,).
    pairs : int
        Number of q and of p.
    fixed : int
        Number of r.
    free : int
        Number of s.
    jacobian : callable, optional
        Φ' (n, n) as a function of x; by default by differences.
    """

    map: Callable[[Array], Array]
    inverse: Callable[[Array], Array]
    pairs: int
    fixed: int = 0
    free: int = 0
    jacobian: Callable[[Array], Any] | None = None

    @classmethod
    def linear(cls, form: CanonicalForm) -> CanonicalCoordinates:
        """Coordinates of a constant structure, ``x = T (q, p, r, s)`` (:meth:`DiracStructure.canonical`)."""
        T = form.basis
        back = np.linalg.inv(T)
        return cls(
            map=lambda x: back @ x,
            inverse=lambda y: T @ y,
            pairs=form.pairs,
            fixed=form.fixed,
            free=form.free,
            jacobian=lambda x: back,
        )

    @property
    def size(self) -> int:
        """Number of states, n = 2 ``pairs`` + ``fixed`` + ``free``."""
        return 2 * self.pairs + self.fixed + self.free

    def slope(self, x: Array) -> Array:
        """Jacobian Φ'(x) (n, n), by differences if not given."""
        slope = derivative(self.map, x) if self.jacobian is None else self.jacobian(x)
        return check.array("jacobian", slope, (self.size,) * 2)

    def form(self, x: Array) -> CanonicalForm:
        """Structure (3.7) at a state, in the flows and efforts of x: T = Φ'(x)⁻¹."""
        return CanonicalForm(np.linalg.inv(self.slope(x)), self.pairs, self.fixed, self.free)

    def defect(self, structure: ModulatedDirac, x: Array) -> float:
        """Largest residual of the equations of D(x) for members of (3.7), relative to their terms: zero if canonical.

        D(x) is the structure of the storage, with zero flow at all other ports. Both are spaces of dimension n, so they
        are equal if each member of (3.7) is in D(x). Equations and members are scaled to largest terms of one, so that
        units do not matter.
        """
        x = check.array("x", x, (self.size,))
        D = structure.of_storage(x)
        flows, efforts = self.form(x).image()
        terms = np.abs(D.F) @ np.abs(flows) + np.abs(D.E) @ np.abs(efforts)
        return float(np.max(np.abs(D.F @ flows + D.E @ efforts) / _sizes(terms), initial=0.0))

    def check(self, structure: ModulatedDirac, points: Array) -> None:
        """Raise ValueError unless the coordinates are canonical and Φ⁻¹ inverts Φ at the states ``points`` (k, n)."""
        for x in check.array("points", points, (None, self.size)):
            defect = self.defect(structure, x)
            if defect > CANONICAL:
                raise ValueError(
                    f"coordinates are not canonical for this structure: defect {defect:.1e} of (3.7) at x = {x}"
                )
            moved = self.slope(x) @ (self.inverse(self.map(x)) - x)
            size = np.abs(self.map(x)) + np.abs(self.slope(x)) @ np.abs(x)
            if np.any(np.abs(moved) > CANONICAL * size):
                raise ValueError(
                    f"inverse must invert map: it gives {self.inverse(self.map(x))} for the image of x = {x}"
                )

    def system(self, system: PortHamiltonian) -> PortHamiltonian:
        """System in these coordinates, for systems without resistive or external ports ([survey] eq. (4.28)):

            q̇ = ∂H/∂p,  ṗ = −∂H/∂q,  ṙ = 0,  0 = ∂H/∂s

        It has the constant structure (3.7) with ports ``q``, ``p``, ``r``, ``s``, the energy H∘Φ⁻¹ and its gradient
        Φ'⁻ᵀ∇H. The coordinates are checked to be canonical at the sample of the given system.
        """
        if system.resistive or system.external or system.lagrangian is not None:
            raise ValueError("canonical coordinates are for systems without resistive and external ports, with H(x)")
        self.check(system.modulated(), system.sample[None])

        def gradient(y: Array) -> Array:
            x = self.inverse(y)
            return np.linalg.solve(self.slope(x).T, system.gradient(x))

        return PortHamiltonian(
            structure=self._structure(self.free),
            H=lambda y: float(system.H(self.inverse(y))),
            gradient=gradient,
            sample=self.map(system.sample),
            storage=self._names(self.free),
        )

    def reduced(self, system: PortHamiltonian) -> PortHamiltonian:
        """System ``q̇ = ∂H̄/∂p, ṗ = −∂H̄/∂q, ṙ = 0`` with H̄(q, p, r) = H(q, p, r, s(q, p, r)) ([survey] eq. (4.29)).

        s solves 0 = ∂H/∂s by iteration from its value at the sample. Raises ArithmeticError if ∂²H/∂s² is not
        invertible (the index is then above one), or the iteration does not converge.
        """
        whole, kept = self.system(system), self.size - self.free
        first = whole.sample[kept:]

        def terms(y: Array) -> Array:
            x = self.inverse(y)
            return (np.abs(np.linalg.inv(self.slope(x)).T) @ np.abs(system.gradient(x)))[kept:]

        def lifted(y: Array) -> Array:
            joined = lambda s: np.concatenate([y, s])  # noqa: E731 - (q, p, r, s)
            return joined(_stationary(lambda s: whole.gradient(joined(s))[kept:], first, lambda s: terms(joined(s))))

        return PortHamiltonian(
            structure=self._structure(0),
            H=lambda y: float(whole.H(lifted(y))),
            gradient=lambda y: whole.gradient(lifted(y))[:kept],
            sample=whole.sample[:kept],
            storage=self._names(0),
        )

    def _sizes(self, free: int) -> dict[str, int]:
        sizes = {"q": self.pairs, "p": self.pairs, "r": self.fixed, "s": free}
        return {name: size for name, size in sizes.items() if size}

    def _names(self, free: int) -> tuple[str, ...]:
        return tuple(self._sizes(free))

    def _structure(self, free: int) -> DiracStructure:
        form = CanonicalForm(np.eye(self.size - self.free + free), self.pairs, self.fixed, free)
        return DiracStructure.from_canonical(form, spans.consecutive(self._sizes(free)))


def _sizes(terms: Array) -> Array:
    """Scaling matrix a bᵀ (n, n) of a matrix ``terms`` (n, n) of magnitudes, with vectors a, b > 0.

    The matrix terms_ij/(a_i b_j) has a largest entry of one in each row and column that is not zero.
    """
    a, b = np.ones(len(terms)), np.ones(len(terms))
    for _ in range(SWEEPS):
        scaled = terms / np.outer(a, b)
        rows, columns = scaled.max(axis=1, initial=0.0), scaled.max(axis=0, initial=0.0)
        a, b = a * np.sqrt(np.where(rows > 0.0, rows, 1.0)), b * np.sqrt(np.where(columns > 0.0, columns, 1.0))
    return np.outer(a, b)


def _stationary(slope: Function, start: Array, terms: Function) -> Array:
    """Zero s of the gradient ∂H/∂s near ``start``; ``slope`` is the gradient as a function of s.

    ``terms`` is the sum of the magnitudes of its terms, as a function of s. Raises ArithmeticError if ∂²H/∂s² is
    singular.
    """
    if not start.size:
        return start

    def hessian(s: Array) -> Array:
        matrix = derivative(slope, s)
        size = np.sqrt(np.abs(np.diag(matrix)))
        size = np.where(size > 0.0, size, 1.0)
        values = np.linalg.svd(matrix / np.outer(size, size), compute_uv=False)
        if values[-1] <= INVERTIBLE * values[0]:
            raise ArithmeticError("∂²H/∂s² must be invertible to determine s from ∂H/∂s = 0: the index is above one")
        return matrix

    hessian(start)
    return zero_near(start, slope, hessian, terms=terms)


def zero_near(start: Array, function: Function, slope: Function, *, terms: Function) -> Array:
    """Zero of a function near a start, by Powell's method with the Jacobian ``slope``.

    ``terms`` are the magnitudes of the function's terms, with which its residual is compared. Raises ArithmeticError if
    no zero is found.
    """
    zero = scipy.optimize.root(function, start, jac=slope, method="hybr", options={"xtol": ROUND_OFF}).x
    if not np.all(np.abs(function(zero)) <= SOLVED * terms(zero)):
        raise ArithmeticError(
            f"no zero was found near {start}, the coordinates do not reach there: the residual is {function(zero)}"
        )
    return np.asarray(zero)


@checked
def holonomic_coordinates(
    constraints: Function, jacobian: Function, sample: Array, *, hessian: Callable[[Array, Array], Array] | None = None
) -> CanonicalCoordinates:
    """Canonical coordinates of ``q̇ = ∂H/∂p, ṗ = −∂H/∂q + c'(q)ᵀλ, 0 = c'(q) ∂H/∂p``, x = (q, p) ([survey] (2.38)).

    With the n − k positions q_I that move freely at the sample and Ψ(q) = (q_I, c(q)), momenta transform by
    ``(p_I, s) = Ψ'(q)⁻ᵀ p``, and

        (q, p, r, s) = (q_I, p_I, c(q), s)

    are canonical while Ψ' is invertible: the constraints are the Casimirs r ([survey] example 4.3), and λ drives their
    conjugate momenta s. The inverse of Ψ is computed by iteration from the sample; ArithmeticError is raised if it does
    not converge.

    Parameters
    ----------
    constraints : callable
        c(q) (k,).
    jacobian : callable
        c'(q) (k, n), of rank k at the sample.
    sample : array
        q (n,).
    hessian : callable, optional
        Σ sᵢ∇²cᵢ (n, n) as a function of q and s; by default by differences.

    Returns
    -------
    CanonicalCoordinates
        Map between both sets of coordinates.
    """
    q0 = check.array("sample", sample, (None,))
    k = len(check.array("jacobian", jacobian(q0), (None, q0.size)))
    rank = rank_of(unit_rows(jacobian(q0)))
    if rank < k:
        raise ValueError(f"constraints must be independent: rank {rank} of {k} rows of c' at the sample")
    chart = _Chart(constraints, jacobian, hessian, q0)
    return CanonicalCoordinates(
        map=chart.image, inverse=chart.inverse, pairs=q0.size - k, fixed=k, free=k, jacobian=chart.slope
    )


class _Chart:
    """Map Ψ(q) = (q_I, c(q)) near a sample, with q_I the positions that move freely there.

    From it follow the canonical coordinates (q_I, p_I, c(q), s) of a state (q, p), see :func:`holonomic_coordinates`.
    """

    def __init__(
        self,
        constraints: Function,
        jacobian: Function,
        hessian: Callable[[Array, Array], Array] | None,
        sample: Array,
    ) -> None:
        self.constraints, self.jacobian, self.hessian, self.sample = constraints, jacobian, hessian, sample
        self.n, self.own = sample.size, echelon(null_space(jacobian(sample)))[1]
        self.free, self.rows = self.own.size, np.eye(self.n)[self.own]
        self.positions = of_last(self._positions)

    def _rate(self, q: Array) -> Array:
        """Jacobian Ψ'(q)."""
        return np.vstack([self.rows, self.jacobian(q)])

    def _positions(self, target: Array) -> Array:
        """Positions q with Ψ(q) = target."""
        return zero_near(
            self.sample,
            lambda q: np.concatenate([q[self.own], self.constraints(q)]) - target,
            self._rate,
            terms=lambda q: np.abs(target) + np.abs(self._rate(q)) @ np.abs(q),
        )

    def image(self, x: Array) -> Array:
        """Coordinates (q_I, p_I, c(q), s) of (q, p)."""
        n, m = self.n, self.free
        q, p = x[:n], np.linalg.solve(self._rate(x[:n]).T, x[n:])
        return np.concatenate([q[self.own], p[:m], self.constraints(q), p[m:]])

    def inverse(self, y: Array) -> Array:
        """State (q, p) of (q_I, p_I, c(q), s)."""
        n, m = self.n, self.free
        q = self.positions(np.concatenate([y[:m], y[2 * m : n + m]]))
        return np.concatenate([q, self._rate(q).T @ np.concatenate([y[m : 2 * m], y[n + m :]])])

    def slope(self, x: Array) -> Array:
        """Jacobian of :meth:`image`."""
        n, m, q = self.n, self.free, x[: self.n]
        back = np.linalg.inv(self._rate(q)).T
        s = (back @ x[n:])[m:]
        given = self.hessian
        curvature = derivative(lambda at: self.jacobian(at).T @ s, q) if given is None else given(q, s)
        blocks = np.block([[self._rate(q), np.zeros((n, n))], [-back @ curvature, back]])
        return blocks[np.r_[0:m, n : n + m, m:n, n + m : 2 * n]]
