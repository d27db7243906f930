"""Rigid multibody systems in redundant coordinates ([rigid] sec. 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from flexph import Invariants
from flexph import checks as check
from flexph.space import Array

from .terms import (
    Damper,
    Dissipation,
    ExternalPort,
    MatrixFunction,
    PositionConstraint,
    Potential,
    VelocityConstraint,
)


@dataclass(frozen=True, kw_only=True)
class MultibodySystem:
    """``ζ̇ = Z(ζ)ϖ``, ``Mϖ̇ = −Zᵀ(∇V + c'ᵀλ) − τ_d − G(ζ, Mϖ)ϖ − Aᵀμ + B F``, ``0 = c(ζ)``, ``0 = A(ζ)ϖ``, ``y = Bᵀϖ``.

    [rigid] eq. (10) with F = −τ_ext, so that yᵀF is the power into the system. Positions ζ (n_pot,) may be redundant
    (rotations by their entries, quaternions, angles), velocities ϖ (n_kin,) are those in which M is constant. Then
    ``d/dt (½ϖᵀMϖ + V) = yᵀF − ϖᵀτ_d``.

    ``mass`` M (n_kin, n_kin), symmetric, positive semi-definite; ``kinematics`` Z (n_pot, n_kin), a function of ζ or
    constant, None for the identity; ``gyroscopic`` G(ζ, Γ) skew, Γ = Mϖ; ``potential`` a :class:`Potential`, or
    :class:`flexph.Invariants` of ζ (energy through quadratic invariants, which keeps momenta); ``sample`` the positions
    at which, and around which, the conditions are checked here. ``parts`` and ``velocity_parts`` name positions and
    velocities. ``cautions`` are functions of ζ that say where the coordinates are near their limits, or None.
    """

    mass: Array
    sample: Array
    kinematics: MatrixFunction | Array | None = None
    gyroscopic: Callable[[Array, Array], Array] | None = None
    potential: Potential | Invariants | None = None
    constraints: tuple[PositionConstraint, ...] = ()
    velocity_constraints: tuple[VelocityConstraint, ...] = ()
    dissipation: tuple[Damper | Dissipation, ...] = ()
    ports: Mapping[str, ExternalPort] = field(default_factory=dict)
    parts: Mapping[str, slice] = field(default_factory=dict)
    velocity_parts: Mapping[str, slice] = field(default_factory=dict)
    cautions: tuple[Callable[[Array], str | None], ...] = ()

    def __post_init__(self) -> None:
        n = check.two_dimensional("mass", self.mass)[0]
        object.__setattr__(self, "mass", check.matrix("mass", self.mass, (n, n)))
        object.__setattr__(self, "sample", check.array("sample", self.sample, (None,)))
        for name in ("ports", "parts", "velocity_parts"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def positions(self) -> int:
        """n_pot."""
        return len(self.sample)

    @property
    def velocities(self) -> int:
        """n_kin."""
        return len(self.mass)

    def Z(self, zeta: Array) -> Array:
        """Kinematic matrix (n_pot, n_kin)."""
        return np.eye(self.velocities) if self.kinematics is None else at(self.kinematics, zeta)

    def G(self, zeta: Array, momenta: Array) -> Array:
        """Gyroscopic matrix (n_kin, n_kin), skew."""
        zero = np.zeros_like(self.mass)
        return zero if self.gyroscopic is None else self.gyroscopic(zeta, momenta)

    def c(self, zeta: Array) -> Array:
        """Position constraints (k,)."""
        return np.concatenate([np.zeros(0), *(c.map.value(zeta) for c in self.constraints)])

    def c_jacobian(self, zeta: Array) -> Array:
        """c'(ζ) (k, n_pot)."""
        return np.vstack([np.zeros((0, self.positions)), *(c.map.jacobian(zeta) for c in self.constraints)])

    def A(self, zeta: Array) -> Array:
        """Velocity constraints (l, n_kin)."""
        return np.vstack([np.zeros((0, self.velocities)), *(at(a.matrix, zeta) for a in self.velocity_constraints)])

    def B(self, zeta: Array) -> Array:
        """Directions of all ports side by side (n_kin, m)."""
        return np.hstack([np.zeros((self.velocities, 0)), *(at(p.matrix, zeta) for p in self.ports.values())])

    def V(self, zeta: Array) -> float:
        """Potential energy [J]."""
        if self.potential is None:
            return 0.0
        if isinstance(self.potential, Invariants):
            return float(self.potential.energy(self.potential.values(zeta)))
        return float(self.potential.energy(zeta))

    def V_gradient(self, zeta: Array) -> Array:
        """∇V (n_pot,)."""
        if self.potential is None:
            return np.zeros(self.positions)
        if isinstance(self.potential, Invariants):
            p = self.potential
            return np.asarray(p.jacobian(zeta).T @ p.gradient(p.values(zeta)), dtype=float)
        return np.asarray(self.potential.gradient(zeta), dtype=float)

    def tau_d(self, zeta: Array, omega: Array) -> Array:
        """Dissipative forces τ_d (n_kin,) with ϖᵀτ_d ≥ 0."""
        made = np.zeros(self.velocities)
        for d in self.dissipation:
            if isinstance(d, Damper):
                w = at(d.directions, zeta)
                made += w @ d.relation.force(w.T @ omega)
            else:
                made += d.force(zeta, omega)
        return made

    def energy(self, zeta: Array, omega: Array) -> float:
        """½ϖᵀMϖ + V(ζ) [J]."""
        return 0.5 * float(omega @ self.mass @ omega) + self.V(zeta)


def at(matrix: Any, zeta: Array) -> Array:
    """A matrix that is a function of ζ, or constant, at ζ."""
    return np.asarray(matrix(zeta) if callable(matrix) else matrix, dtype=float)
