"""Derivative of the step of a multibody system with respect to its end, from the derivatives of its terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flexph.numerics.arrays import Array

from .matrix_functions import at
from .slopes import Slopes, Way, differences, gyroscopic_slopes, of_map, of_potential, slopes
from .terms import Damper, Dissipation, PositionMap

if TYPE_CHECKING:
    from .model import SystemModel


class StepMeans(NamedTuple):
    """Means of a step: ϖ̄ and ∂ϖ̄/∂ϖ₁, Z̄, Ḡ, C̄ and Ā, ∇̄V of each potential, and the discrete Jacobians.

    The discrete Jacobians belong to the position constraints, then to velocity constraints with a position.
    """

    way: Way
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
    """Derivative of a step with respect to its end positions ζ₁, accumulated term by term.

    ``efforts`` are ∇̄V + D̄ᵀλ − …, which Z̄ᵀ maps to forces, and ``of_efforts`` their derivative; ``of_forces`` is the
    derivative of forces on velocities, ``of_rows`` of the constraints at fixed rates; ``held`` are the D̄ of the rows.
    """

    def __init__(self, system: SystemModel, means: StepMeans) -> None:
        self.system, self.means, self.way, self.omega = system, means, means.way, means.omega
        self.rates, n = means.Z @ means.omega, means.way.end.size
        self.efforts, self.of_efforts = np.zeros(n), np.zeros((n, n))
        self.of_forces = np.zeros((self.omega.size, n))
        self.of_rows, self.held = (np.zeros((len(means.C) + len(means.A), n)) for _ in range(2))

    # --- at velocities ------------------------------------------------------------------------------------------------

    def of_velocities(self) -> Array:
        """Derivative ``∂(G ϖ̄ + τ_d)/∂ϖ̄``; also subtract their derivatives with respect to ζ₁ from ``of_forces``."""
        s, middle, momenta = self.system, self.way.middle, self.system.mass @ self.omega
        by_zeta, by_momenta = gyroscopic_slopes(s.gyroscopic, middle, momenta, self.omega)
        by_omega: Array = self.means.G + by_momenta @ s.mass
        self.of_forces -= 0.5 * by_zeta
        for term in s.dissipation:
            by_omega += self._of_damper(term) if isinstance(term, Damper) else self._of_dissipation(term)
        return by_omega

    def _of_damper(self, term: Damper) -> Array:
        W = at(term.directions, self.way.middle)
        rates = W.T @ self.omega
        by_rates = W * term.relation.slope(rates)
        own = slopes(term.directions, self.way.middle, term.relation.force(rates), self.omega)
        self.of_forces -= 0.5 * (own.of_image + by_rates @ own.of_transposed)
        return by_rates @ W.T

    def _of_dissipation(self, term: Dissipation) -> Array:
        middle = self.way.middle
        self.of_forces -= 0.5 * differences(lambda zeta: term.force(zeta, self.omega), middle).T
        return differences(lambda omega: term.force(middle, omega), self.omega).T

    # --- at positions -------------------------------------------------------------------------------------------------

    def potentials(self) -> None:
        """Add ∇̄V of all potentials to the efforts, and its derivative."""
        for potential, discrete in zip(self.system.potentials, self.means.gradients, strict=True):
            self.efforts += discrete
            self.of_efforts += of_potential(potential, self.way, discrete)

    def constraints(self, multipliers: Array) -> None:
        """Add the efforts and forces ``D̄ᵀλ``, ``Āᵀμ`` of constraints, their derivatives and those of the rows."""
        discrete, s, row = iter(self.means.discrete), self.system, 0
        maps: list[tuple[PositionMap | None, Any]] = [(c.map, None) for c in s.constraints]
        maps += [(of.position, of.matrix) for of in s.velocity_constraints]
        for given, matrix in maps:
            D = at(matrix, self.way.middle) if given is None else next(discrete)
            rows = slice(row, row + len(D))
            if given is None:
                own = slopes(matrix, self.way.middle, self.omega, multipliers[rows])
                self.of_rows[rows] = 0.5 * own.of_image
                self.of_forces -= 0.5 * own.of_transposed
            else:
                self.held[rows], self.of_rows[rows] = D, self._effort(given, D, multipliers[rows])
            row = rows.stop

    def ports(self, u: Array) -> None:
        """Add the efforts and forces ``B̄u`` of ports with their derivatives."""
        if not u.any():
            return
        for name, columns in self.system.port_slices.items():
            port = self.system.ports[name]
            if port.position is None:
                own = slopes(port.matrix, self.way.middle, u[columns], self.omega)
                self.of_forces += 0.5 * own.of_image
            else:
                self._effort(port.position, port.position.discrete(self.way.start, self.way.end), -u[columns])

    def _effort(self, given: PositionMap, discrete: Array, g: Array) -> Array:
        """Add the effort ``D̄ᵀg`` and its derivative; return the derivative of D̄ times the rates."""
        own = of_map(given, self.way, discrete, self.rates, g)
        self.efforts += discrete.T @ g
        self.of_efforts += own.of_transposed
        return own.of_image

    def kinematics(self) -> Slopes:
        """Derivatives of Z̄ ϖ̄, and of Z̄ᵀ times the efforts, with respect to ζ₁."""
        s, way = self.system, self.way
        if s.kinematics_mean is None:
            return Slopes(*(0.5 * part for part in slopes(s.kinematics, way.middle, self.omega, self.efforts)))
        stack = differences(lambda zeta: s.Z_mean(way.start, zeta), way.end)
        return Slopes((stack @ self.omega).T, (self.efforts @ stack).T)
