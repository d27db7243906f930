"""Equations of a multibody system as a :class:`flexph.PHDAE` with a special discrete gradient pair.

Symbols as in :class:`rigid.MultibodySystem`: positions ζ and velocities ϖ with ζ̇ = Z ϖ, momenta Γ = Mϖ, gyroscopic
matrix G, potential V, position constraints c(ζ) = 0 with multipliers λ, velocity constraints A ϖ = 0 with multipliers
μ, input matrix B.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flexph.numerics.arrays import Array
from flexph.systems.discrete_gradients import Invariants, gonzalez, through_invariants
from flexph.systems.nonlinear import PHDAE

from .matrix_functions import at
from .probes import cautions_of
from .slopes import StepMeans, StepPositions, mean_slope
from .start import gross_defect
from .terms import Damper, ExternalPort, Potential, Resistance, _of_damper, force_of

if TYPE_CHECKING:
    from .model import SystemModel


class Blocks(NamedTuple):
    """Blocks of J and R at a state or over a step: Z, G, C = c'Z, A, R, and the skew part S of τ_d."""

    Z: Array
    G: Array
    C: Array
    A: Array
    R: Array
    S: Array | None


class Equations:
    """Matrices E, J, R, B, costate z and energy H of x = (ζ, ϖ, λ, μ), and their means over a step.

    See [rigid] eq. (10), [dg] definitions 7 and 8.
    """

    def __init__(self, system: SystemModel) -> None:
        self.system, self.layout = system, system.layout
        self.massless = system.massless @ system.massless.T if system.massless.size else None
        self._over: Callable[[bytes, bytes], Blocks] = lru_cache(maxsize=1)(self._means)
        self._way: Callable[[bytes, bytes], tuple[Array, list[Array], Array, Array]] = lru_cache(maxsize=1)(
            self._step_means
        )
        self._ports: Callable[[bytes, bytes], Array] = lru_cache(maxsize=1)(self._port_columns)
        self._at: Callable[[bytes], Blocks] = lru_cache(maxsize=1)(self._blocks)
        self._gradient: Callable[[bytes], list[Callable[[Array], Array]]] = lru_cache(maxsize=1)(self._gradients)

    def phdae(self, sample: Array) -> PHDAE:
        """Equations as a :class:`flexph.PHDAE`, with the means of its discrete gradient pair over a step."""
        s, f = self.system, self.layout
        E = np.zeros((f.size, f.size))
        E[f.positions, f.positions] = np.eye(s.positions)
        E[f.velocities, f.velocities] = s.mass
        return PHDAE(
            E=E,
            J=lambda x: self.structure(self.at(x)),
            R=lambda x: self.dissipation(self.at(x)),
            B=lambda x: self.inputs(s.B(x[f.positions])),
            z=self.costate,
            H=lambda x: s.energy(x[f.positions], x[f.velocities]),
            sample=sample,
            ports=s.port_slices,
            parts=f.parts,
            means={
                "J": lambda x0, x1: self.structure(self.over_step(x0, x1)),
                "R": lambda x0, x1: self.dissipation(self.over_step(x0, x1)),
                "B": self.mean_inputs,
                "z": self.mean_costate,
            },
            mean_slope=self.mean_slope,
            terms=s.terms,
            cautions=tuple(partial(self._caution, caution) for caution in cautions_of(s)),
            start_defects=(self._start_defect,),
        )

    def _caution(self, caution: Callable[[Array], str | None], x: Array) -> str | None:
        return caution(x[self.layout.positions])

    def _start_defect(self, x: Array, step: float) -> str | None:
        return gross_defect(self.system, x[self.layout.positions], x[self.layout.velocities], step)

    # --- at a state ---------------------------------------------------------------------------------------------------

    def at(self, x: Array) -> Blocks:
        """Blocks at a state x; the latest value is cached."""
        return self._at(np.ascontiguousarray(x[: self.layout.velocities.stop], dtype=float).tobytes())

    def _blocks(self, key: bytes) -> Blocks:
        s, x = self.system, np.frombuffer(key)
        zeta, omega = x[: s.positions], x[s.positions :]
        Z = s.Z(zeta)
        G = s.G(zeta, s.mass @ omega)
        return Blocks(Z, G, s.c_jacobian(zeta) @ Z, s.A(zeta), *resistance(s, zeta, omega))

    def costate(self, x: Array) -> Array:
        """Costate z = (∇V, ϖ, λ, μ)."""
        return np.concatenate([self.system.V_gradient(x[self.layout.positions]), x[self.layout.positions.stop :]])

    # --- over a step --------------------------------------------------------------------------------------------------

    def over_step(self, x0: Array, x1: Array) -> Blocks:
        """Blocks over a step from x0 to x1; the latest value is cached."""
        end = self.layout.velocities.stop
        return self._over(*(np.ascontiguousarray(x[:end], dtype=float).tobytes() for x in (x0, x1)))

    def _means(self, key0: bytes, key1: bytes) -> Blocks:
        """Blocks over a step: Z, C and A from the positions at both ends, velocity-dependent terms at the midpoint.

        The arguments are the positions and velocities (ζ, ϖ) at both ends as bytes, so that results can be cached.
        """
        s, x0, x1 = self.system, np.frombuffer(key0), np.frombuffer(key1)
        zeta0, zeta1 = x0[: s.positions], x1[: s.positions]
        zeta, omega = 0.5 * (zeta0 + zeta1), self.mean_velocity(x0[s.positions :], x1[s.positions :])
        Z, _, C, A = self._way(zeta0.tobytes(), zeta1.tobytes())
        return Blocks(Z, s.G(zeta, s.mass @ omega), C, A, *resistance(s, zeta, omega))

    def _step_means(self, key0: bytes, key1: bytes) -> tuple[Array, list[Array], Array, Array]:
        """Means of matrices over a step: Z̄, discrete Jacobians D̄ of the constraints, D̄Z̄, and Ā.

        The arguments are the positions ζ at both ends as bytes. Results are cached for the last positions, so that an
        iteration which changes only velocities uses them again. Z̄ at the midpoint is exact for rotation matrices and
        quaternions.
        """
        s, zeta0, zeta1 = self.system, np.frombuffer(key0), np.frombuffer(key1)
        Z = s.Z_mean(zeta0, zeta1)
        D = [c.map.discrete(zeta0, zeta1, kept=True) for c in s.constraints]
        C, A, none = [slope @ Z for slope in D], [], np.zeros((0, s.velocities))
        for a in s.velocity_constraints:
            if a.position is not None:
                D.append(a.position.discrete(zeta0, zeta1, kept=a.closed))
            A.append(at(a.matrix, 0.5 * (zeta0 + zeta1)) if a.position is None else D[-1] @ Z)
        return Z, D, np.vstack(C) if C else none, np.vstack(A) if A else none

    def mean_inputs(self, x0: Array, x1: Array) -> Array:
        """Input matrix B̄ (n, m) over a step, for all states.

        For a port with a position p its output is the mean rate of this position, ``B̄ᵀϖ̄ = Δp/h``, so that a constant
        force does the work FᵀΔp. For other ports it is B at the midpoint.
        """
        zetas = (np.ascontiguousarray(x[self.layout.positions], dtype=float) for x in (x0, x1))
        return self.inputs(self._ports(*(zeta.tobytes() for zeta in zetas)))

    def _port_columns(self, key0: bytes, key1: bytes) -> Array:
        s, zeta0, zeta1 = self.system, np.frombuffer(key0), np.frombuffer(key1)
        Z = self._way(key0, key1)[0]
        rows = [_work(port, zeta0, zeta1, Z) for port in s.ports.values()]
        return np.vstack(rows).T if rows else np.zeros((s.velocities, 0))

    def mean_velocity(self, omega0: Array, omega1: Array) -> Array:
        """Mean velocity ϖ̄ over a step: the arithmetic mean of ϖ₀ and ϖ₁, but ϖ₁ along the kernel of M.

        Velocities in the kernel are massless and have no time derivative in the equations.
        """
        if self.massless is None:
            return 0.5 * (omega0 + omega1)
        return 0.5 * (omega0 + omega1 + self.massless @ (omega1 - omega0))

    def mean_costate(self, x0: Array, x1: Array) -> Array:
        """Mean costate z̄ = (∇̄V, ϖ̄, λ₁, μ₁): ``z̄ᵀE (x₁ − x₀) = ΔH``, as ``ϖ̄ᵀM Δϖ`` is the kinetic part."""
        f, costate = self.layout, np.array(x1, dtype=float)
        costate[f.positions] = 0.0
        for gradient in self.mean_gradients(x0[f.positions], x1[f.positions]):
            costate[f.positions] += gradient
        costate[f.velocities] = self.mean_velocity(x0[f.velocities], x1[f.velocities])
        return costate

    def mean_gradients(self, zeta0: Array, zeta1: Array) -> list[Array]:
        """Discrete gradient ∇̄V(ζ₀, ζ₁) of each potential."""
        gradients = self._gradient(np.ascontiguousarray(zeta0, dtype=float).tobytes())
        return [gradient(zeta1) for gradient in gradients]

    def _gradients(self, key: bytes) -> list[Callable[[Array], Array]]:
        """Functions from ζ₁ to ∇̄V(ζ₀, ζ₁), one for each potential; ``key`` is ζ₀ as bytes."""
        zeta0 = np.frombuffer(key)
        return [_discrete_gradient(potential, zeta0) for potential in self.system.potentials]

    def mean_slope(self, x0: Array, x1: Array, u: Array) -> Array:
        """Jacobian ``∂((J̄ − R̄)z̄ + B̄u)/∂x₁``."""
        f, b, share = self.layout, self.over_step(x0, x1), 0.5 * np.eye(self.system.velocities)
        share = share if self.massless is None else share + 0.5 * self.massless
        zetas = [np.ascontiguousarray(x[f.positions], dtype=float) for x in (x0, x1)]
        discrete = self._way(*(zeta.tobytes() for zeta in zetas))[1]
        omega = self.mean_velocity(x0[f.velocities], x1[f.velocities])
        matrices = (b.Z, b.G, b.C, b.A)
        means = StepMeans(StepPositions(*zetas), omega, share, *matrices, self.mean_gradients(*zetas), discrete)
        return mean_slope(self.system, means, x1[f.velocities.stop :], u)

    # --- matrices -----------------------------------------------------------------------------------------------------

    def structure(self, b: Blocks) -> Array:
        """Structure matrix ``J = [[0, Z, 0, 0], [−Zᵀ, −G − S, −Zᵀc'ᵀ, −Aᵀ], [0, c'Z, 0, 0], [0, A, 0, 0]]``."""
        f, J = self.layout, np.zeros((self.layout.size, self.layout.size))
        J[f.positions, f.velocities], J[f.velocities, f.positions] = b.Z, -b.Z.T
        J[f.lam, f.velocities], J[f.velocities, f.lam] = b.C, -b.C.T
        J[f.mu, f.velocities], J[f.velocities, f.mu] = b.A, -b.A.T
        J[f.velocities, f.velocities] = -b.G if b.S is None else -b.G - b.S
        return J

    def dissipation(self, b: Blocks) -> Array:
        """Dissipation matrix of all states (n, n): R of the velocities in their rows and columns, else zero."""
        R = np.zeros((self.layout.size, self.layout.size))
        R[self.layout.velocities, self.layout.velocities] = b.R
        return R

    def inputs(self, B: Array) -> Array:
        """Input matrix of all states (n, m): B (n_kin, m) in the rows of the velocities, else zero."""
        columns = np.zeros((self.layout.size, B.shape[1]))
        columns[self.layout.velocities] = B
        return columns


def _work(port: ExternalPort, zeta0: Array, zeta1: Array, Z: Array) -> Array:
    """Transposed input matrix (k, n_kin) of a port over a step from ζ₀ to ζ₁.

    It is p̄'Z̄ with the discrete Jacobian p̄' for a port with a position p, else Bᵀ at the midpoint. ``Z`` is Z̄.
    """
    if port.position is not None:
        return port.position.discrete(zeta0, zeta1) @ Z
    return at(port.matrix, 0.5 * (zeta0 + zeta1)).T


def _discrete_gradient(potential: Potential | Invariants, zeta0: Array) -> Callable[[Array], Array]:
    if isinstance(potential, Invariants):
        return through_invariants(potential, zeta0, float(potential.energy(potential.values(zeta0))))
    before = float(potential.energy(zeta0))

    def at_end(zeta1: Array) -> Array:
        middle = np.asarray(potential.gradient(0.5 * (zeta0 + zeta1)), dtype=float)
        return gonzalez(middle, zeta1 - zeta0, before, float(potential.energy(zeta1)))

    return at_end


def resistance(system: SystemModel, zeta: Array, omega: Array) -> Resistance:
    """Matrices R and S with ``(R + S) ϖ = τ_d(ζ, ϖ)``; ``ϖᵀR ϖ`` is the dissipated power.

    For a :class:`Damper`, R = W diag(ρ(s)/s) Wᵀ with the rates s = Wᵀϖ. For a :class:`Dissipation` with the power
    P = ϖᵀτ ≥ 0, ``R = P p pᵀ/(ϖᵀp)²`` and ``S = (τ pᵀ − p τᵀ)/(ϖᵀp)``, where p = Wϖ and W is M, completed on its
    kernel: R and S are bounded if τ is of the order of ϖ, also near rest and for P = 0 ≠ τ, and transform with the
    velocity coordinates as M does. At rest they are zero.

    Raises ValueError with the name and the power of a term that generates energy.
    """
    n = system.velocities
    R, S = np.zeros((n, n)), None
    for term in system.dissipation:
        if isinstance(term, Damper):
            W = at(term.directions, zeta)
            R += _of_damper(term, W, W.T @ omega)
            continue
        tau = force_of(term, zeta, omega)
        p = system.completed_mass @ omega
        twice = float(omega @ p)
        if twice > 0.0:
            R += (float(omega @ tau) / twice) * np.outer(p, p / twice)
            turn = np.outer(tau, p / twice)
            S = turn - turn.T if S is None else S + (turn - turn.T)
    return Resistance(R, S)
