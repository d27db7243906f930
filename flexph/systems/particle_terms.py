"""Terms of particle systems: masses, springs, rods and dampers between two points, constant forces ([dg] sec. 6.3).

The equations are ``q̇ = v``, ``M v̇ = F − ∇V − R v − Cᵀλ + B u``, ``0 = C(q) v`` with x = (q, v, λ).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..laws.resistive_relations import Relation
from ..numerics.arrays import Array, dense
from ..numerics.memo import Memo, once
from .derivatives import Derivatives
from .discrete_gradients import Invariants
from .nonlinear import Terms

LENGTH, SQUARE = 0, 1
"""Numbers of the energies of springs. LENGTH: ``½k e² + ¼k₃e⁴`` with e = ℓ − ℓ₀ and parameters (k, k₃, ℓ₀). SQUARE: ``a
s + ½b s²`` with s = ℓ² − π₀ and parameters (a, b, π₀)."""
VISCOUS, QUADRATIC, COULOMB, DRAG = 0, 1, 2, 3
"""Numbers of the laws of dampers. The first three give the tension as a function of the rate ℓ̇ of the length, DRAG the
force ``η (1 + α ℓ²)`` times the relative velocity of the ends."""
RELATIONS = {VISCOUS: "viscous", QUADRATIC: "quadratic", COULOMB: "coulomb"}
PARAMETERS = {"viscous": 1, "quadratic": 1, "coulomb": 5}
TOLERANCE = 1e-9
"""Difference between a function of the system and its terms, relative to its largest entry, above which they disagree.
Sums of some thousand terms have less round-off."""
PROBE_DISTANCE = 1e-2
"""Relative distance from a state to a second one at which functions and terms are compared, as terms can vanish at
rest."""


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines d = D q + d₀ between pairs of points, as arrays: springs, rods or dampers.

    ``names`` are the names of the lines, ``ends`` (lines, 2) the numbers of the points at the ends, with −1 for a fixed
    position, which is part of d₀ (``offsets``). ``kinds`` and ``laws`` are the numbers and parameters of the laws.
    """

    names: tuple[str, ...]
    ends: Array  # (lines, 2)
    offsets: Array  # (lines, dim), d₀ [m]
    kinds: Array  # (lines,)
    laws: Array  # (lines, parameters)

    def maps(self, points: int) -> Array:
        """Matrices D of the lines (lines, dim, nv), with −1 at the coordinates of the first end and 1 at the second."""
        count, dim = self.offsets.shape
        maps = np.zeros((count, dim, points, dim))
        for line, (first, second) in zip(maps, self.ends.tolist(), strict=True):
            if first >= 0:
                line[:, first] -= np.eye(dim)
            if second >= 0:
                line[:, second] += np.eye(dim)
        return maps.reshape(count, dim, points * dim)


@dataclass(frozen=True, eq=False)
class ParticleTerms(Terms, Memo):
    """Particle system with masses, constant forces, springs, rods, dampers and inputs as arrays, for compiled loops.

    A rod of length L has the constraint ``½(|d|²/L − L) = 0``, so that its multiplier is its force [N].
    """

    dim: int
    masses: Array  # (points,) [kg]
    weight: Array  # (nv,), constant forces [N]
    springs: Lines
    rods: Lines
    dampers: Lines
    inputs: Array  # (inputs,), numbers of the velocities on which inputs [N] act
    has_pair: bool = False  # True if its discrete gradient pair is that of ``rigid.point_masses``

    @property
    def size(self) -> int:
        """Number n of states."""
        return 2 * self.weight.size + len(self.rods.ends)

    @once
    def descriptor(self) -> Array:
        """Diagonal of E."""
        nv = self.weight.size
        return np.concatenate([np.ones(nv), np.repeat(self.masses, self.dim), np.zeros(self.size - 2 * nv)])

    @once
    def _of_springs(self) -> Array:
        return self.springs.maps(self.masses.size)

    @once
    def _of_rods(self) -> Array:
        return self.rods.maps(self.masses.size)

    @once
    def _of_dampers(self) -> Array:
        return self.dampers.maps(self.masses.size)

    @once
    def _squares_of_rods(self) -> Array:
        """Matrices DᵀD/L (rods, nv, nv) of the rods with lengths L, the second derivatives of their constraints."""
        return np.einsum("lin,lim->lnm", self._of_rods, self._of_rods) / self.rods.laws[:, :, None]

    @once
    def _skew(self) -> Array:
        """Constant part of the structure matrix J (n, n), without the constraints C of the rods."""
        J, nv = np.zeros((self.size, self.size)), self.weight.size
        J[:nv, nv : 2 * nv], J[nv : 2 * nv, :nv] = np.eye(nv), -np.eye(nv)
        return J

    # --- functions of a state --------------------------------------------------------------------------------------

    def energy(self, x: Array) -> float:
        """Energy H = ½ vᵀM v + V − F·q [J]."""
        nv = self.weight.size
        q, v, m = x[:nv], x[nv : 2 * nv], self.descriptor[nv : 2 * nv]
        potential = float(self._potential(self._squares(q)).sum()) if len(self.springs.ends) else 0.0
        return 0.5 * float(v @ (m * v)) + potential - float(self.weight @ q)

    def costate(self, x: Array) -> Array:
        """Costates z = (∇V − F, v, λ)."""
        nv, z = self.weight.size, np.array(x, dtype=float)
        z[:nv] = -self.weight
        if len(self.springs.ends):
            d = self._spring_lines(x[:nv])
            pull = 2.0 * self._spring_derivatives(np.einsum("li,li->l", d, d))
            z[:nv] += (pull[:, None] * d).ravel() @ self._of_springs.reshape(-1, nv)
        return z

    def structure(self, x: Array) -> Array:
        """Structure matrix J."""
        nv, J = self.weight.size, self._skew.copy()
        d = (self._of_rods @ x[:nv] + self.rods.offsets) / self.rods.laws
        C = (d[:, None] @ self._of_rods)[:, 0]
        J[2 * nv :, nv : 2 * nv], J[nv : 2 * nv, 2 * nv :] = C, -C.T
        return J

    def dissipation(self, x: Array) -> Array:
        """Dissipation matrix R."""
        n, nv = self.size, self.weight.size
        R, velocities = np.zeros((n, n)), slice(nv, 2 * nv)
        for k, rows in enumerate(self._damper_rows(x)):
            R[velocities, velocities] += self._resistance(k, x, rows) * (rows.T @ rows)
        return R

    def input_matrix(self) -> Array:
        """Input matrix B (n, inputs)."""
        B = np.zeros((self.size, self.inputs.size))
        B[self.weight.size + self.inputs, np.arange(self.inputs.size)] = 1.0
        return B

    @once
    def invariants(self) -> Invariants:
        """Invariants of H: squared lengths of springs, potential of constant forces, twice the kinetic energy."""
        nv, m = self.weight.size, self.descriptor
        s = len(self.springs.ends)

        def values(x: Array) -> Array:
            v = x[nv : 2 * nv]
            return np.concatenate([self._squares(x[:nv]), [-(self.weight @ x[:nv]), v @ (m[nv : 2 * nv] * v)]])

        def jacobian(x: Array) -> Array:
            matrix = np.zeros((s + 2, x.size))
            matrix[:s, :nv] = 2.0 * (self._spring_lines(x[:nv])[:, None] @ self._of_springs)[:, 0]
            matrix[s, :nv], matrix[s + 1, nv : 2 * nv] = -self.weight, 2.0 * m[nv : 2 * nv] * x[nv : 2 * nv]
            return matrix

        return Invariants(
            values,
            jacobian,
            lambda pi: float(self._potential(pi[:s]).sum() + pi[s] + 0.5 * pi[s + 1]),
            lambda pi: np.concatenate([self._spring_derivatives(pi[:s]), [1.0, 0.5]]),
        )

    @once
    def derivatives(self) -> Derivatives:
        """Derivatives of the costates, J and R."""
        return Derivatives(costate=self._costate_slope, structure=self._structure_slope)

    def functions(self) -> dict[str, Any]:
        """Functions E, J, R, B, z, H with invariants and derivatives, as arguments of :class:`flexph.PHDAE`."""
        return {
            "E": np.diag(self.descriptor),
            "J": self.structure,
            "R": self.dissipation,
            "B": self.input_matrix(),
            "z": self.costate,
            "H": self.energy,
            "invariants": self.invariants,
            "derivatives": self.derivatives,
        }

    def check(self, system: Any, x: Array) -> None:
        """Raise ValueError unless functions of the system have the values of these terms at x and at a state near x.

        The means of the system, if any, are also compared over the step between both states, if the terms have a
        discrete gradient pair.
        """
        if system.size != self.size or system.inputs_size != self.inputs.size:
            raise ValueError(
                f"terms must belong to the system, with {system.size} states and {system.inputs_size} inputs, but have "
                f"{self.size} and {self.inputs.size}"
            )
        rng = np.random.default_rng(0)
        for at in (x, x + PROBE_DISTANCE * np.maximum(np.abs(x).max(), 1.0) * rng.uniform(-1.0, 1.0, x.size)):
            for name, function in (("E", lambda _: np.diag(self.descriptor)), ("J", self.structure),
                              ("R", self.dissipation), ("B", lambda _: self.input_matrix()), ("z", self.costate),
                              ("H", self.energy)):  # fmt: skip
                _compare(name, dense(getattr(system, name)(at)), np.asarray(function(at)))
        if self.has_pair and system.means:
            self._check_means(system.means, x, at)

    def _check_means(self, means: Mapping[str, Any], x0: Array, x1: Array) -> None:
        """Raise ValueError unless the means of a system over a step are those of the terms.

        In the means of the terms, forces of springs are secants of the energy; rods and dampers are evaluated at the
        midpoint of positions and velocities; massless velocities and multipliers have their values at the end of the
        step. Discrete Jacobians of rods differ from Jacobians at the midpoint by round-off only.
        """
        moves = self.descriptor != 0.0
        middle = np.where(moves, 0.5 * (x0 + x1), x1)
        expected = {"J": self.structure(middle), "R": self.dissipation(middle), "B": self.input_matrix()}
        expected["z"] = self._secants(x0, x1, middle)
        if set(means) != set(expected):
            raise ValueError(f"terms with a pair must have means of J, R, B and z, got those of {', '.join(means)}")
        for name, value in expected.items():
            _compare(f"mean of {name}", dense(means[name](x0, x1)), value)

    def _secants(self, x0: Array, x1: Array, middle: Array) -> Array:
        """Mean costates z̄ (n,) over a step, with the secants ΔV/Δ(ℓ²) of the springs; ``middle`` is the midpoint."""
        nv, z = self.weight.size, middle.copy()
        z[:nv] = -self.weight
        if len(self.springs.ends):
            first, last = self._squares(x0[:nv]), self._squares(x1[:nv])
            step = np.where(first == last, 1.0, last - first)
            pulls = self._spring_derivatives(0.5 * (first + last))
            pulls = np.where(first == last, pulls, (self._potential(last) - self._potential(first)) / step)
            z[:nv] += (2.0 * pulls[:, None] * self._spring_lines(middle[:nv])).ravel() @ self._of_springs.reshape(
                -1, nv
            )
        return z

    # --- lines ------------------------------------------------------------------------------------------------------

    def _spring_lines(self, q: Array) -> Array:
        return np.asarray(self._of_springs @ q + self.springs.offsets)

    def _squares(self, q: Array) -> Array:
        d = self._spring_lines(q)
        return np.einsum("li,li->l", d, d)

    # --- springs ----------------------------------------------------------------------------------------------------

    @once
    def _by_length(self) -> Array:
        return np.flatnonzero(self.springs.kinds == LENGTH)

    @once
    def _parameters(self) -> tuple[Array, Array, Array]:
        a, b, c = self.springs.laws.T.copy()
        return a, b, c

    def _spring_parameters(self, squares: Array) -> tuple[Array, Array, Array, Array]:
        """Parameters k, k₃, length ℓ and stretch e of springs; raises ValueError for zero length."""
        is_by_length = self._by_length
        length = np.sqrt(squares[is_by_length])
        if not length.all():
            name = self.springs.names[is_by_length[int(np.argmin(length))]]
            raise ValueError(f"{name} has zero length, so that its force has no direction: place its ends apart")
        a, b, c = self.springs.laws[is_by_length].T
        return a, b, length, length - c

    def _potential(self, squares: Array) -> Array:
        """Energies V of the springs at squared lengths."""
        a, b, c = self._parameters
        stretch = squares - c
        energy = (a + 0.5 * b * stretch) * stretch
        if self._by_length.size:
            by_length = self._by_length
            e = np.sqrt(squares[by_length]) - c[by_length]
            energy[by_length] = (0.5 * a[by_length] + 0.25 * b[by_length] * e * e) * e * e
        return np.asarray(energy)

    def _spring_derivatives(self, squares: Array) -> Array:
        """Derivatives dV/d(ℓ²) of the springs."""
        a, b, c = self._parameters
        pulls = a + b * (squares - c)
        if self._by_length.size:
            k, cubic, length, e = self._spring_parameters(squares)
            pulls[self._by_length] = 0.5 * (k + cubic * e * e) * e / length
        return np.asarray(pulls)

    def _stiffnesses(self, squares: Array) -> Array:
        """Second derivatives d²V/d(ℓ²)² of the springs."""
        stiffnesses = self._parameters[1].copy()
        if self._by_length.size:
            k, cubic, length, e = self._spring_parameters(squares)
            second = k + 3.0 * cubic * e * e - (k + cubic * e * e) * e / length
            stiffnesses[self._by_length] = 0.25 * second / length**2
        return stiffnesses

    def _costate_slope(self, x: Array) -> Array:
        nv = self.weight.size
        slope = np.eye(x.size)
        slope[:nv, :nv] = 0.0
        if len(self.springs.ends):
            d = self._spring_lines(x[:nv])
            squares = np.einsum("li,li->l", d, d)
            blocks = 4.0 * self._stiffnesses(squares)[:, None, None] * d[:, :, None] * d[:, None, :]
            blocks += 2.0 * self._spring_derivatives(squares)[:, None, None] * np.eye(self.dim)
            maps = self._of_springs
            slope[:nv, :nv] = maps.reshape(-1, nv).T @ (blocks @ maps).reshape(-1, nv)
        return slope

    # --- dampers ----------------------------------------------------------------------------------------------------

    def _damper_rows(self, x: Array) -> list[Array]:
        """Matrices W (k, nv) of the dampers, which map velocities to the rates on which their forces depend.

        The rate is the rate of the length of the damper (k = 1), or for the kind DRAG the relative velocity of its ends
        (k = dim).
        """
        nv = self.weight.size
        rows = []
        for name, kind, D, d in zip(
            self.dampers.names, self.dampers.kinds.tolist(), self._of_dampers, self._damper_lines(x[:nv]), strict=True
        ):
            if kind == DRAG:
                rows.append(D)
                continue
            length = math.sqrt(d @ d)
            if length == 0.0:
                raise ValueError(f"{name} has zero length, so that its force has no direction: place its ends apart")
            rows.append((d / length)[None] @ D)
        return rows

    def _damper_lines(self, q: Array) -> Array:
        return np.asarray(self._of_dampers @ q + self.dampers.offsets)

    def _relation(self, k: int) -> Relation:
        kind = RELATIONS[int(self.dampers.kinds[k])]
        return Relation(kind, tuple(self.dampers.laws[k, : PARAMETERS[kind]].tolist()))  # type: ignore[arg-type]

    def _resistance(self, k: int, x: Array, rows: Array) -> float:
        nv, law = self.weight.size, self.dampers.laws[k]
        if self.dampers.kinds[k] == DRAG:
            d = self._damper_lines(x[:nv])[k]
            return float(law[0] * (1.0 + law[1] * (d @ d)))
        return float(self._relation(k).resistance(rows[0] @ x[nv : 2 * nv]))

    def _structure_slope(self, x: Array, w: Array) -> Array:
        """Derivative ∂((J − R)w)/∂x (n, n) at constant w."""
        n, nv = self.size, self.weight.size
        slope, velocities = np.zeros((n, n)), slice(nv, 2 * nv)
        if len(self.rods.ends):
            slope[velocities, :nv] -= np.tensordot(w[2 * nv :], self._squares_of_rods, 1)
            slope[2 * nv :, :nv] += self._squares_of_rods @ w[velocities]
        for k, rows in enumerate(self._damper_rows(x)):
            slope[velocities] -= self._damper_slope(k, x, w[velocities], rows)
        return slope

    def _damper_slope(self, k: int, x: Array, w: Array, rows: Array) -> Array:
        """Derivative ∂(R w)/∂x (nv, n) for damper k, at a constant w (nv,); ``rows`` is the damper's W at x."""
        nv, law = self.weight.size, self.dampers.laws[k]
        slope = np.zeros((nv, self.size))
        d, D = self._damper_lines(x[:nv])[k], self._of_dampers[k]
        if self.dampers.kinds[k] == DRAG:
            slope[:, :nv] = 2.0 * law[0] * law[1] * np.outer(D.T @ (D @ w), d @ D)
            return slope
        length, row = math.sqrt(d @ d), rows[0]
        turning = D / length - np.outer(d / length, row) / length  # derivative of the direction by q
        v, relation = x[nv : 2 * nv], self._relation(k)
        rate, force = float(row @ v), float(row @ w)
        resistance, bend = float(relation.resistance(rate)), float(relation.resistance_slope(rate))
        of_rate = (D @ v) @ turning
        slope[:, :nv] = resistance * (force * D.T @ turning + np.outer(row, (D @ w) @ turning))
        slope[:, :nv] += bend * force * np.outer(row, of_rate)
        slope[:, nv : 2 * nv] = bend * force * np.outer(row, row)
        return slope


def _compare(name: str, given: Array, own: Array) -> None:
    """Raise ValueError unless the value ``given`` of a function of the system is the value ``own`` of its terms.

    ``name`` is the function in the message.
    """
    defect, scale = np.abs(given - own).max(initial=0.0), np.abs(own).max(initial=0.0)
    if given.shape != own.shape or not defect <= TOLERANCE * max(float(scale), 1e-300):
        raise ValueError(
            f"terms must belong to the system, but its {name} differs from theirs by {defect:.3g}: leave terms= out if "
            "you replace a function"
        )
