"""Equilibria, and their stability by the energy-Casimir method ([survey] sec. 4.4).

Cₖ are the Casimirs and μₖ their multipliers; x₁ are the differential states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import eig

from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.corrections import IterationLimits, least_norm_step
from ..numerics.subspaces import echelon, null_space, unit_columns, with_unit_rows
from ..systems.inputs import Input
from ..systems.nonlinear import PHDAE
from .casimirs import CasimirReport, casimir_report
from .index import IndexReport
from .structure import codistribution
from .view import System, SystemView, view

AT_REST = 1e-8
"""Largest rate of a state, relative to its terms, up to which the state is an equilibrium."""
DEFINITE = 1e-8
"""Eigenvalue of the second variation, scaled to a unit diagonal, above which the variation is definite. Second
differences of H are no more accurate."""
GROWING = 1e-6
"""Real part of an eigenvalue, relative to the largest modulus of all, above which a motion grows. Multiple zero
eigenvalues without enough eigenvectors have the square root of round-off as error."""
SEARCH = IterationLimits(most=50, settled=1e-13)
"""Gauss-Newton iteration for equilibria; changes are measured relative to the sizes of the states."""


@dataclass(frozen=True)
class StabilityReport:
    """Stability of a state, if it is an equilibrium.

    Attributes
    ----------
    rest : float
        Largest rate of the state, relative to its terms.
    variation : tuple of float
        Lowest and largest eigenvalue, scaled to a unit diagonal, of the second variation of H + Σ μₖCₖ on the leaf of
        the Casimirs that satisfies the algebraic equations.
    distance : float
        Distance of ∇H from the span of the ∇Cₖ, relative to ∇H.
    growth : float
        Largest real part of an eigenvalue [1/s].
    asymptotic : bool
        True if the linearised system decays on the leaf.
    dissipative : bool
        True if the system dissipates.
    eigenvalues : tuple of complex
        Finite eigenvalues of the linearised system [1/s].
    """

    rest: float
    variation: tuple[float, float]
    distance: float
    growth: float
    asymptotic: bool
    dissipative: bool = False
    eigenvalues: tuple[complex, ...] = ()

    @property
    def is_equilibrium(self) -> bool:
        """True if the state is at rest."""
        return self.rest <= AT_REST

    @property
    def verdict(self) -> Literal["no equilibrium", "unstable", "asymptotically stable", "stable", "undecided"]:
        """Verdict on a state: no equilibrium, asymptotically stable, stable, unstable, or undecided.

        A strict minimum of H + Σ μₖCₖ makes an equilibrium stable, without dissipation also a strict maximum; a growing
        motion of the linearised system makes it unstable. Otherwise it is undecided.
        """
        if not self.is_equilibrium:
            return "no equilibrium"
        lowest, largest = self.variation
        highest = largest < -DEFINITE and not self.dissipative
        if self.distance <= 1e-6 and (lowest > DEFINITE or highest):
            return "asymptotically stable" if self.asymptotic and lowest > DEFINITE else "stable"
        return "unstable" if self.growth > 0.0 else "undecided"

    def __str__(self) -> str:
        if not self.is_equilibrium:
            return f"no equilibrium: rates up to {self.rest:.1e} of their terms"
        reasons = {
            "stable": "H with the Casimirs has a strict extremum on the leaf of the Casimirs (energy-Casimir)",
            "asymptotically stable": "H is a Lyapunov function, and the linearised system decays on the leaf",
            "unstable": f"the linearised system grows with {self.growth:.3g} 1/s",
            "undecided": "the second variation is not definite, growth of the linearised system is within its errors",
        }
        low, high = self.variation
        variation = f"second variation (unit diagonal) from {low:.3g} to {high:.3g}"
        return f"equilibrium, {self.verdict}: {reasons[self.verdict]}\n{variation}"


def stability_report(
    view: SystemView, constraints: Array, *, casimirs: CasimirReport, index: IndexReport
) -> StabilityReport:
    """Stability of a state that is consistent, see :class:`StabilityReport`.

    ``constraints`` (k, r) are the derivatives of the algebraic equations with respect to the differential states.
    """
    rest = _rest(view)
    if rest > AT_REST:
        return StabilityReport(rest, (np.nan, np.nan), np.nan, np.nan, False)
    alpha, tangent, distance, second = _second_variation(view, constraints, casimirs)
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(second)), 1e-12 * max(np.abs(second).max(initial=0.0), 1e-300)))
    values = np.linalg.eigvalsh(scale[:, None] * second * scale) if second.size else np.array([1.0])
    eigenvalues = linear_spectrum(view, None if index.exceeded or index.undetermined else index.freedom)
    largest = np.abs(eigenvalues).max(initial=0.0)
    growing = eigenvalues.real[eigenvalues.real > GROWING * largest]
    # one zero eigenvalue for each Casimir: neighbouring leaves have their equilibria along these directions
    neutral, decaying = np.split(np.sort(-eigenvalues.real), [alpha.shape[1]])
    asymptotic = bool(np.all(np.abs(neutral) <= GROWING * largest) and np.all(decaying > GROWING * largest))
    asymptotic = asymptotic and decaying.size > 0
    return StabilityReport(
        rest=rest,
        variation=(float(values[0]), float(values[-1])),
        distance=distance,
        growth=float(growing.max(initial=0.0)),
        asymptotic=asymptotic and tangent.shape[1] > 0,
        dissipative=view.resistive_basis.shape[1] > 0,
        eigenvalues=tuple(map(complex, eigenvalues)),
    )


def _rest(view: SystemView) -> float:
    x, e = view.x, view.equations
    z, u = view.system.z(x), e.forcing.at(view.time)
    internal = np.abs(dense(view.system.J(x)) - dense(view.system.R(x))) @ np.abs(z)
    terms = internal + np.abs(dense(view.system.B(x))) @ np.abs(u)
    flow = np.abs(e.flow(view.time, x))
    floor = np.maximum(terms, 1e-6 * float(terms.max(initial=0.0)))
    return float((flow / np.where(floor > 0.0, floor, 1.0)).max(initial=0.0))


def _second_variation(
    view: SystemView, constraints: Array, casimirs: CasimirReport
) -> tuple[Array, Array, float, Array]:
    """Second variation of H + Σ μₖCₖ on the directions that Casimirs and constraints allow, with these directions.

    Returns the gradients α of the Casimirs, a basis of the directions, the relative distance of ∇H from the span of α,
    and the second variation on this basis, all in scaled states x₁/scales. α are the gradients of all Casimirs, or of
    the linear ones alone if the co-distribution is singular or not integrable, as the other Casimirs then do not exist.
    """
    x, scales = view.x, view.scales
    whole = casimirs.same_rank and casimirs.complete and casimirs.count == casimirs.dimension
    alpha = codistribution(view, x) if whole else np.linalg.qr(unit_columns(scales[:, None] * casimirs.linear))[0]
    gradient = scales * view.gradient(x)
    weights = np.linalg.lstsq(alpha, gradient, rcond=None)[0] if alpha.size else np.zeros(0)
    size = float(np.linalg.norm(gradient))
    distance = float(np.linalg.norm(gradient - alpha @ weights)) / max(size, 1e-300)
    second = scales[:, None] * view.hessian(x) * scales
    if whole and casimirs.linear.shape[1] < alpha.shape[1]:
        pivots = echelon(alpha)[1]

        smooth = lambda at: with_unit_rows(codistribution(view, at), pivots)  # noqa: E731
        slopes = view.derivative(smooth, x, view.V1 * scales)
        costates = np.linalg.lstsq(smooth(x), gradient, rcond=None)[0]
        curved = np.einsum("rkc,k->rc", slopes, costates)
        second = second - 0.5 * (curved + curved.T)
    tangent = null_space(np.vstack([alpha.T, constraints * scales]))
    return alpha, tangent, distance, tangent.T @ second @ tangent


def linear_spectrum(view: SystemView, count: int | None = None) -> Array:
    """Finite eigenvalues [1/s] of ``E δẋ = ∂((J − R)z + Bu)/∂x δx`` at an equilibrium.

    ``count`` is the dimension of the set of consistent states. Without it, eigenvalues below 1e7 times the fastest rate
    of the equations are returned: round-off makes the infinite eigenvalues of a higher index large and finite.
    """
    slope, E = view.flow_slope(view.x), dense(view.system.E(view.x))
    if not view.V2.shape[1]:
        return np.linalg.eigvals(np.linalg.solve(E, slope))
    # states by their sizes, time by the fastest rates, equations by their terms
    columns = np.abs(view.V1) @ view.scales + np.abs(view.V2) @ (np.abs(view.V2.T) @ view.sizes)
    slope, E = slope * columns, E * columns
    terms, stored = (np.abs(matrix).max(axis=1, initial=0.0) for matrix in (slope, E))
    rate = float(np.max(terms[stored > 0.0] / stored[stored > 0.0], initial=0.0)) or 1.0
    rows = np.maximum(terms, rate * stored)
    rows = np.where(rows > 0.0, rows, 1.0)[:, None]
    slope, E = slope / rows, E / rows
    alpha, beta = eig(slope, rate * E, right=False, homogeneous_eigvals=True)
    order = np.argsort(-np.abs(beta) / np.maximum(np.hypot(np.abs(alpha), np.abs(beta)), 1e-300))
    if count is None:
        count = int(np.sum(np.abs(beta) > 1e-7 * np.hypot(np.abs(alpha), np.abs(beta))))
    finite = order[:count]
    return rate * alpha[finite] / beta[finite]


@checked
def equilibrium(
    system: System,
    guess: Sequence[float] | Array | None = None,
    *,
    inputs: Mapping[str, Input] | None = None,
    keep_casimirs: bool = True,
) -> Array:
    """Equilibrium (n,) with ``0 = (J − R) z + B u`` near a guess, by Gauss-Newton steps of least scaled norm.

    Parameters
    ----------
    system : PHDAE, LinearPHDAE, PortHamiltonian or Mechanism
        The system.
    guess : array_like, optional
        State (n,) to start from; the sample by default.
    inputs : mapping, optional
        Inputs by port, zero unless given.
    keep_casimirs : bool
        True to keep the values of the linear Casimirs of the guess.

    Returns
    -------
    array
        The state (n,).

    Raises
    ------
    ArithmeticError
        If no equilibrium is found.
    """
    here = view(system, guess, inputs=inputs)
    sizes, x0 = here.sizes, here.x
    fixed = casimir_report(here).linear.T @ here.V1.T if keep_casimirs and here.is_constant else np.zeros((0, x0.size))

    def residual(x: Array) -> Array:
        return np.concatenate([here.equations.flow(here.time, x), fixed @ (x - x0)])

    def corrected(x: Array) -> tuple[Array, float]:
        step = least_norm_step(np.vstack([here.flow_slope(x), fixed]) * sizes, residual(x), rcond=1e-9)
        return x + sizes * step, float(np.abs(step).max(initial=0.0))

    x = SEARCH.run(x0, corrected).value
    rest = here.at(x)
    if _rest(rest) > AT_REST or np.abs(fixed @ (x - x0)).max(initial=0.0) > AT_REST * sizes.max():
        raise ArithmeticError(f"no equilibrium was found near the guess: rates up to {_rest(rest):.1e} of their terms")
    if isinstance(system, PHDAE) and system.has_feedthrough:  # its inputs and outputs are states here
        return x[: system.size]
    return x
