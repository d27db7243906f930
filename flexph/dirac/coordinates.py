"""Canonical coordinates of integrable modulated structures ([survey] sec. 4.2.1 and 7)."""

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
from ..numerics.memo import Remade
from .modulated import ModulatedDirac
from .representations import CanonicalForm
from .structure import DiracStructure
from .system import PortHamiltonian

CANONICAL = 1e-7
"""Accepted defect of (3.7), which differences with a relative error of 1e-10 may leave."""
ROUND_OFF = 1e-15
"""Relative change of a solution at which iterations end."""
SOLVED = 1e-11
"""Accepted residual of equations, relative to their terms: round-off, and errors of slopes by differences."""
SWEEPS = 20
"""Equilibrations of rows and columns; each halves the logarithm of the imbalance."""
INVERTIBLE = 1e-10
"""Ratio of the smallest singular value of scaled ∂²H/∂s² to the largest, below which s is not determined."""

Function = Callable[[Array], Array]


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class CanonicalCoordinates(Remade):
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

        D(x) is the structure of the storage, with zero flow at all other ports. Both have dimension n, so the members
        of one span the other. Equations and members are scaled to largest terms of one, so that units do not matter.
        """
        x = check.array("x", x, (self.size,))
        D = structure.of_storage(x)
        flows, efforts = self.form(x).image()
        terms = np.abs(D.F) @ np.abs(flows) + np.abs(D.E) @ np.abs(efforts)
        return float(np.max(np.abs(D.F @ flows + D.E @ efforts) / _sizes(terms), initial=0.0))

    def check(self, structure: ModulatedDirac, points: Array) -> None:
        """Raise ValueError, with defect and state, unless they are canonical, and Φ⁻¹ inverts Φ, at states (k, n)."""
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

        with the constant structure (3.7), ports ``q``, ``p``, ``r``, ``s``, H∘Φ⁻¹ and Φ'⁻ᵀ∇H. The coordinates are
        checked to be canonical at the sample.
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
    """Scaling a bᵀ (n, n) for which terms_ij/(a_i b_j) has a largest entry of one in each row and column."""
    a, b = np.ones(len(terms)), np.ones(len(terms))
    for _ in range(SWEEPS):
        scaled = terms / np.outer(a, b)
        rows, columns = scaled.max(axis=1, initial=0.0), scaled.max(axis=0, initial=0.0)
        a, b = a * np.sqrt(np.where(rows > 0.0, rows, 1.0)), b * np.sqrt(np.where(columns > 0.0, columns, 1.0))
    return np.outer(a, b)


def _stationary(slope: Function, start: Array, terms: Function) -> Array:
    """Zero of ∂H/∂s near a start; ``terms`` are the magnitudes of the terms of ∂H/∂s."""
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
    """Zero of a function near a start by Powell's method; ``terms`` are the magnitudes of the function's terms."""
    zero = scipy.optimize.root(function, start, jac=slope, method="hybr", options={"xtol": ROUND_OFF}).x
    if not np.all(np.abs(function(zero)) <= SOLVED * terms(zero)):
        raise ArithmeticError(
            f"no zero was found near {start}, the coordinates do not reach there: the residual is {function(zero)}"
        )
    return np.asarray(zero)
