"""Derivatives of the functions of a multibody system with respect to its positions, and of the equations of a step.

Symbols as in :class:`rigid.MultibodySystem`: positions ζ and velocities ϖ with ζ̇ = Z ϖ, momenta Γ = Mϖ, gyroscopic
matrix G, potential V, position constraints c(ζ) = 0 with multipliers λ, velocity constraints A ϖ = 0 with multipliers
μ, input matrix B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flexph.numerics.arrays import Array
from flexph.numerics.differences import FORWARD, state_sizes
from flexph.systems.discrete_gradients import Invariants, gonzalez

from .matrix_functions import BlockGyroscopic, BlockMatrix, Differentiable, Gyroscopic, at
from .terms import Damper, Dissipation, PositionMap, Potential

if TYPE_CHECKING:
    from .model import SystemModel


class Slopes(NamedTuple):
    """Derivatives ``∂(M w)/∂ζ`` (rows, n_pot) and ``∂(Mᵀ g)/∂ζ`` (columns, n_pot) of a matrix function M."""

    of_image: Array
    of_transposed: Array


def slopes(matrix: Any, zeta: Array, w: Array, g: Array) -> Slopes:
    """Slopes of a matrix function, or of a constant matrix, at fixed w and g."""
    if not callable(matrix):
        return Slopes(np.zeros((g.size, zeta.size)), np.zeros((w.size, zeta.size)))
    if isinstance(matrix, BlockMatrix):
        return _of_blocks(matrix, zeta, w, g)
    stack = stacked(matrix, zeta)
    return Slopes((stack @ w).T, (g @ stack).T)


def stacked(function: Any, x: Array) -> Array:
    """Derivatives ∂f/∂x_k, stacked (n, …): ``slopes`` of the function if it has them, else forward differences."""
    return function.slopes(x) if isinstance(function, Differentiable) else differences(function, x)


def _of_blocks(matrix: BlockMatrix, zeta: Array, w: Array, g: Array) -> Slopes:
    image, transposed = np.zeros((g.size, zeta.size)), np.zeros((w.size, zeta.size))
    for rows, columns, span, block in matrix.blocks:
        block_slopes = slopes(block, zeta[span], w[columns], g[rows])
        image[rows, span] += block_slopes.of_image
        transposed[columns, span] += block_slopes.of_transposed
    return Slopes(image, transposed)


def gyroscopic_slopes(G: Any, zeta: Array, momenta: Array, omega: Array) -> tuple[Array, Array]:
    """Derivatives ``∂(G ω)/∂ζ`` (n_kin, n_pot) and ``∂(G ω)/∂Γ`` (n_kin, n_kin) at fixed ω."""
    none = np.zeros((omega.size, zeta.size)), np.zeros((omega.size, omega.size))
    if isinstance(G, Gyroscopic):
        return none[0], (G.stack @ omega).T
    if isinstance(G, BlockGyroscopic):
        for rows, span, block in G.blocks:
            none[0][rows, span], none[1][rows, rows] = gyroscopic_slopes(block, zeta[span], momenta[rows], omega[rows])
        return none
    if not callable(G):
        return none
    by_zeta = differences(lambda x: G(x, momenta) @ omega, zeta)
    return by_zeta.T, differences(lambda p: G(zeta, p) @ omega, momenta).T


def differences(function: Callable[[Array], Array], x: Array) -> Array:
    """Forward differences ∂f/∂x_k, stacked: (n, …)."""
    here, steps = np.asarray(function(x), dtype=float), (x + FORWARD * state_sizes(x)) - x
    stack, moved = np.empty((x.size, *here.shape)), x.copy()
    for k in range(x.size):
        moved[k] += steps[k]
        stack[k] = (function(moved) - here) / steps[k]
        moved[k] = x[k]
    return stack


# --- over a step, by its end ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class StepPositions:
    """Positions ζ₀ at the start and ζ₁ at the end of a step."""

    start: Array
    end: Array

    @property
    def middle(self) -> Array:
        """Midpoint ½(ζ₀ + ζ₁)."""
        return 0.5 * (self.start + self.end)

    @property
    def step(self) -> Array:
        """Displacement ζ₁ − ζ₀."""
        return self.end - self.start

    def part(self, span: slice) -> StepPositions:
        """Step restricted to a slice of the positions."""
        return StepPositions(self.start[span], self.end[span])


def of_map(given: PositionMap, positions: StepPositions, discrete: Array, w: Array, g: Array) -> Slopes:
    """Derivatives ``∂(D̄ w)/∂ζ₁`` and ``∂(D̄ᵀ g)/∂ζ₁`` of a discrete Jacobian D̄ (k, n_pot), at fixed w and g.

    They are added up over the terms of a map that is a sum (:meth:`PositionMap.of_terms`).
    """
    if not given.terms:
        return _of_jacobian(given, positions, discrete, w, g)
    n = positions.end.size
    image, transposed = np.zeros((g.size, n)), np.zeros((n, n))
    spans = sorted((span.start or 0, span.stop) for span, _ in given.terms)
    apart = all(end <= start for (_, end), (start, _) in pairwise(spans))
    for span, term in given.terms:
        part = positions.part(span)
        map_slopes = of_map(term, part, discrete[:, span] if apart else term.discrete(part.start, part.end), w[span], g)
        image[:, span] += map_slopes.of_image
        transposed[span, span] += map_slopes.of_transposed
    return Slopes(image, transposed)


def _of_jacobian(given: PositionMap, positions: StepPositions, discrete: Array, w: Array, g: Array) -> Slopes:
    """Derivatives as in :func:`of_map` for a map p that is not a sum of terms, D̄ = p'(midpoint) + m Δᵀ/ΔᵀΔ.

    Δ = ζ₁ − ζ₀, and the defect is m = (D̄ − p'(midpoint)) Δ. The first summand contributes half of the derivatives of
    p' at the midpoint, the second the correction with ``∂m/∂ζ₁ = p'(ζ₁) − p'(midpoint) − ½ p''Δ``.
    """
    middle, step, stack = given.jacobian(positions.middle), positions.step, stacked(given.jacobian, positions.middle)
    image, transposed = 0.5 * (stack @ w).T, 0.5 * (g @ stack).T
    size = float(step @ step)
    missing = (discrete - middle) @ step
    if size == 0.0 or not missing.any():
        return Slopes(image, transposed)
    of_missing = given.jacobian(positions.end) - middle - 0.5 * (stack @ step).T
    along, across = float(step @ w), float(missing @ g)
    unit = step / size
    image = image + of_missing * (along / size) + np.outer(missing, w / size - 2.0 * along / size * unit)
    turned = np.outer(unit, g @ of_missing - 2.0 * across * unit) + across / size * np.eye(step.size)
    return Slopes(image, transposed + turned)


def of_potential(given: Potential | Invariants, positions: StepPositions, discrete: Array) -> Array:
    """Derivative ``∂(∇̄V)/∂ζ₁`` (n_pot, n_pot) of a discrete gradient."""
    if isinstance(given, Potential):
        return _of_gradient(given.gradient, positions, discrete)
    first, last = given.values(positions.start), given.values(positions.end)
    jacobian = given.jacobian(positions.middle)
    inner = StepPositions(first, last)
    energies = float(given.energy(first)), float(given.energy(last))
    gradient = gonzalez(given.gradient(inner.middle), inner.step, *energies)
    bent = 0.5 * slopes(given.jacobian, positions.middle, positions.step, gradient).of_transposed
    return bent + jacobian.T @ _of_gradient(given.gradient, inner, gradient) @ given.jacobian(positions.end)


def _of_gradient(gradient: Any, positions: StepPositions, discrete: Array) -> Array:
    """Derivative with respect to ζ₁ of Gonzalez' discrete gradient of a potential V, (n_pot, n_pot).

    The discrete gradient is ``∇V(m) + c Δ`` with the step Δ = ζ₁ − ζ₀, the midpoint m and ``c ΔᵀΔ = ΔV − ∇V(m)ᵀΔ``.
    ``gradient`` is ∇V as a function of ζ, ``discrete`` the value of the discrete gradient.
    """
    middle, step, hessian = gradient(positions.middle), positions.step, stacked(gradient, positions.middle)
    size = float(step @ step)
    share = float((discrete - middle) @ step) / size if size > 0.0 else 0.0
    if share == 0.0:
        return 0.5 * hessian.T
    of_share = (gradient(positions.end) - middle - 0.5 * (hessian @ step) - 2.0 * share * step) / size
    return 0.5 * hessian.T + share * np.eye(step.size) + np.outer(step, of_share)


class StepMeans(NamedTuple):
    """Means over a step: velocity ϖ̄, matrices Z̄, Ḡ, C̄ and Ā, and the discrete gradient ∇̄V of each potential.

    ``share`` is ∂ϖ̄/∂ϖ₁. ``discrete`` are the discrete Jacobians of the position constraints, then of the velocity
    constraints that are rates of a position map.
    """

    positions: StepPositions
    omega: Array
    share: Array
    Z: Array
    G: Array
    C: Array
    A: Array
    gradients: list[Array]
    discrete: list[Array]


def mean_slope(system: SystemModel, means: StepMeans, multipliers: Array, u: Array) -> Array:
    """Jacobian ``∂((J̄ − R̄)z̄ + B̄u)/∂x₁`` (n, n); it affects the speed of convergence, not the results."""
    f, Z, share, step = system.layout, means.Z, means.share, StepSlope(system, means)
    matrix = np.zeros((f.size, f.size))
    matrix[f.positions, f.velocities] = Z @ share
    matrix[f.velocities, f.velocities] = -step.of_velocities() @ share
    for rows, part in ((means.C, f.lam), (means.A, f.mu)):
        matrix[part, f.velocities], matrix[f.velocities, part] = rows @ share, -rows.T
    step.potentials()
    step.constraints(multipliers)
    step.ports(u)
    turned = step.kinematics()
    matrix[f.positions, f.positions] = turned.of_image
    matrix[f.velocities, f.positions] = step.of_forces - turned.of_transposed - Z.T @ step.of_efforts
    matrix[f.velocities.stop :, f.positions] = step.of_rows + step.held @ turned.of_image
    return matrix


class StepSlope:
    """Derivative of the equations of a step with respect to its end positions ζ₁, accumulated term by term.

    ``efforts`` (n_pot,) are ∇̄V + D̄ᵀλ − …, which Z̄ᵀ maps to forces, and ``of_efforts`` their derivative.
    ``of_forces`` is the derivative of the forces that act on velocities directly, ``of_rows`` the derivative of the
    constraint rows C̄ϖ̄ and Āϖ̄ at constant ϖ̄ and Z̄ϖ̄. ``held`` are the discrete Jacobians D̄ of the rows that are
    rates of position maps, and zero for the other rows.
    """

    def __init__(self, system: SystemModel, means: StepMeans) -> None:
        self.system, self.means, self.positions, self.omega = system, means, means.positions, means.omega
        self.rates, n = means.Z @ means.omega, means.positions.end.size
        self.efforts, self.of_efforts = np.zeros(n), np.zeros((n, n))
        self.of_forces = np.zeros((self.omega.size, n))
        self.of_rows, self.held = (np.zeros((len(means.C) + len(means.A), n)) for _ in range(2))

    # --- at velocities ------------------------------------------------------------------------------------------------

    def of_velocities(self) -> Array:
        """Derivative ``∂(G ϖ̄ + τ_d)/∂ϖ̄`` (n_kin, n_kin) of gyroscopic and dissipative forces.

        The derivative of these forces with respect to ζ₁ is subtracted from ``of_forces``.
        """
        s, middle, momenta = self.system, self.positions.middle, self.system.mass @ self.omega
        by_zeta, by_momenta = gyroscopic_slopes(s.gyroscopic, middle, momenta, self.omega)
        by_omega: Array = self.means.G + by_momenta @ s.mass
        self.of_forces -= 0.5 * by_zeta
        for term in s.dissipation:
            by_omega += self._of_damper(term) if isinstance(term, Damper) else self._of_dissipation(term)
        return by_omega

    def _of_damper(self, term: Damper) -> Array:
        W = at(term.directions, self.positions.middle)
        rates = W.T @ self.omega
        by_rates = W * term.relation.slope(rates)
        map_slopes = slopes(term.directions, self.positions.middle, term.relation.force(rates), self.omega)
        self.of_forces -= 0.5 * (map_slopes.of_image + by_rates @ map_slopes.of_transposed)
        return by_rates @ W.T

    def _of_dissipation(self, term: Dissipation) -> Array:
        middle = self.positions.middle
        self.of_forces -= 0.5 * differences(lambda zeta: term.force(zeta, self.omega), middle).T
        return differences(lambda omega: term.force(middle, omega), self.omega).T

    # --- at positions -------------------------------------------------------------------------------------------------

    def potentials(self) -> None:
        """Add ∇̄V of all potentials to ``efforts``, and its derivative with respect to ζ₁ to ``of_efforts``."""
        for potential, discrete in zip(self.system.potentials, self.means.gradients, strict=True):
            self.efforts += discrete
            self.of_efforts += of_potential(potential, self.positions, discrete)

    def constraints(self, multipliers: Array) -> None:
        """Add the efforts ``D̄ᵀλ`` and ``D̄ᵀμ`` of constraints at position level, and derivatives of all constraints.

        At position level are the position constraints, and the velocity constraints that are rates of a position map.
        Differentiated with respect to ζ₁ are these efforts, the forces ``−Āᵀμ`` of the other velocity constraints, and
        the constraint rows. ``multipliers`` are (λ, μ).
        """
        discrete, s, row = iter(self.means.discrete), self.system, 0
        maps: list[tuple[PositionMap | None, Any]] = [(c.map, None) for c in s.constraints]
        maps += [(of.position, of.matrix) for of in s.velocity_constraints]
        for given, matrix in maps:
            D = at(matrix, self.positions.middle) if given is None else next(discrete)
            rows = slice(row, row + len(D))
            if given is None:
                map_slopes = slopes(matrix, self.positions.middle, self.omega, multipliers[rows])
                self.of_rows[rows] = 0.5 * map_slopes.of_image
                self.of_forces -= 0.5 * map_slopes.of_transposed
            else:
                self.held[rows], self.of_rows[rows] = D, self._effort(given, D, multipliers[rows])
            row = rows.stop

    def ports(self, u: Array) -> None:
        """Add the efforts of ports that have a position map p, and the derivatives of the forces ``B̄u`` of all ports.

        Derivatives are with respect to ζ₁; ``u`` are the inputs.
        """
        if not u.any():
            return
        for name, columns in self.system.port_slices.items():
            port = self.system.ports[name]
            if port.position is None:
                map_slopes = slopes(port.matrix, self.positions.middle, u[columns], self.omega)
                self.of_forces += 0.5 * map_slopes.of_image
            else:
                self._effort(
                    port.position, port.position.discrete(self.positions.start, self.positions.end), -u[columns]
                )

    def _effort(self, given: PositionMap, discrete: Array, g: Array) -> Array:
        """Add the effort ``D̄ᵀg`` to ``efforts``, and its derivative with respect to ζ₁ to ``of_efforts``.

        ``discrete`` is the discrete Jacobian D̄ of the map. Returns the derivative of D̄ (Z̄ϖ̄) with respect to ζ₁,
        with the rates Z̄ϖ̄ constant.
        """
        map_slopes = of_map(given, self.positions, discrete, self.rates, g)
        self.efforts += discrete.T @ g
        self.of_efforts += map_slopes.of_transposed
        return map_slopes.of_image

    def kinematics(self) -> Slopes:
        """Derivatives with respect to ζ₁ of Z̄ ϖ̄ at constant ϖ̄, and of Z̄ᵀ times constant ``efforts``."""
        s, positions = self.system, self.positions
        if s.kinematics_mean is None:
            return Slopes(*(0.5 * part for part in slopes(s.kinematics, positions.middle, self.omega, self.efforts)))
        stack = differences(lambda zeta: s.Z_mean(positions.start, zeta), positions.end)
        return Slopes((stack @ self.omega).T, (self.efforts @ stack).T)
