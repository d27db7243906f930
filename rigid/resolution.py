"""Resolution of velocity constraints: multibody systems in independent velocities.

Symbols as in :class:`rigid.MultibodySystem`; S is the basis of the allowed velocities ϖ = S ν.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.differences import CENTRAL, central
from flexph.numerics.ranks import rank_of

from .system.matrix_functions import MatrixFunction, at
from .system.probes import probes
from .system.system import MultibodySystem
from .system.terms import Damper, Dissipation, ExternalPort

CONSTANT = 1e-8
"""Relative change of SᵀMS, and relative size of A S, up to which they count as constant and as zero. The positions at
which they are compared satisfy constraints to about 1e-9."""
RANK = 1e-10
"""Ratio of a singular value to the largest one below which columns of S, or rows of A, are dependent."""
SLOPE, NOISE = 1e-4, 1e-14
"""Tolerances of a given Ṡ: its deviation from differences of S, relative to its largest entry, above which it is wrong,
and the relative round-off of S in these differences."""
Rate = Callable[[Array, Array], Array]


@checked
def resolve(
    system: MultibodySystem,
    basis: MatrixFunction | Array,
    *,
    derivative: Rate | None = None,
    velocity_parts: Mapping[str, slice] | None = None,
) -> MultibodySystem:
    """Resolve the velocity constraints for which A S = 0, by new velocities ν: ``ϖ = S(ζ) ν`` ([survey] sec. 4.1).

        Z_r = Z S,  M_r = SᵀM S,  G_r = SᵀG S + SᵀM Ṡ,  B_r = SᵀB,  τ_d,r = Sᵀτ_d(ζ, Sν)

    The columns of S span all velocities that the resolved constraints allow, so that no allowed motion is lost:
    S has n_kin − rank A columns, with A of these constraints. Without resolved constraints, S is a change of
    variables for the velocities. M_r must be constant; then SᵀM Ṡ is skew ([survey] eq. (4.17) in these coordinates)
    and dH/dt is unchanged. Position constraints, the potential and positions of ports are unchanged; other velocity
    constraints become A S.

    Resolved constraints hold in the mean of each step. A position whose rate they set to zero is preserved only to
    the order of the method.

    Parameters
    ----------
    system : MultibodySystem
        The system.
    basis : callable or array
        S (n_kin, r), a function of ζ or constant.
    derivative : Rate, optional
        Ṡ (n_kin, r), a function of ζ and ζ̇; by default by central differences along ζ̇.
    velocity_parts : mapping, optional
        Names of the new velocities.

    Returns
    -------
    MultibodySystem
        The system in ν.

    Raises
    ------
    ValueError
        If S does not span these velocities, if M_r varies, if M_r is singular while S varies, or if ``derivative`` is
        not the derivative of S; the message states the defect.
    """
    if not isinstance(system, MultibodySystem):
        raise ValueError(f"system must be a MultibodySystem, got {type(system).__name__}")
    shape = at(basis, system.sample).shape
    if len(shape) != 2 or shape[0] != system.velocities:
        raise ValueError(f"basis must have shape ({system.velocities}, any), the velocities of the system; got {shape}")
    places = system.once(probes)
    resolved = _resolved(system, basis, places)
    mass = _constant_mass(system, basis, places)
    if derivative is not None:
        _check_derivative(system, basis, derivative, places)
    kept = [a for a in system.velocity_constraints if a.name not in resolved]
    return replace(
        system,
        mass=mass,
        kinematics=_times(system.Z if callable(system.kinematics) else system.Z(system.sample), basis),
        kinematics_mean=None if system.kinematics_mean is None else _mean(system, basis),
        gyroscopic=_Gyroscopic(system, basis, derivative, mass)
        if callable(basis) or system.gyroscopic is not None
        else None,
        velocity_constraints=tuple(replace(a, matrix=_times(a.matrix, basis)) for a in kept),
        dissipation=tuple(_dissipation(d, basis) for d in system.dissipation),
        ports={name: ExternalPort(_columns(basis, p.matrix), p.position) for name, p in system.ports.items()},
        velocity_parts=velocity_parts or {},
        terms=None,
    )


def _resolved(system: MultibodySystem, basis: Any, places: Sequence[Array]) -> list[str]:
    """Names of the velocity constraints for which A S = 0 at all given positions ``places``.

    Raises ValueError if only some rows of a constraint have A S = 0, if the columns of S are dependent, or if they do
    not span all velocities that these constraints allow.
    """
    names, rows = [], np.zeros((0, system.velocities))
    for a in system.velocity_constraints:
        lost = np.max([_size(at(a.matrix, zeta), at(basis, zeta)) for zeta in places], axis=0)
        if np.all(lost <= CONSTANT):
            names.append(a.name)
            rows = np.vstack([rows, at(a.matrix, system.sample)])
        elif np.any(lost <= CONSTANT):
            raise ValueError(
                f"basis must resolve all rows of {a.name!r} or none: A S is zero in {np.flatnonzero(lost <= CONSTANT)} "
                f"of {len(lost)}; give them as separate constraints"
            )
    S = at(basis, system.sample)
    rank, left = _rank(S), system.velocities - _rank(rows)
    if rank < S.shape[1]:
        raise ValueError(f"basis must have independent columns: rank {rank} of {S.shape[1]}")
    if rank != left:
        held = ", ".join(repr(n) for n in names) or "no constraint"
        raise ValueError(
            f"basis must span the velocities that the constraints it resolves allow: A S = 0 for {held}, which leaves "
            f"{left} velocities, basis has {rank} columns"
        )
    return names


def _size(rows: Array, S: Array) -> Array:
    """Largest entry |A S| of each row of A (``rows``), relative to the largest entry of |A||S| in this row."""
    scale = (np.abs(rows) @ np.abs(S)).max(axis=1, initial=0.0)
    return np.abs(rows @ S).max(axis=1, initial=0.0) / np.where(scale > 0.0, scale, 1.0)


def _rank(matrix: Array) -> int:
    return rank_of(matrix, tolerance=RANK)


def _constant_mass(system: MultibodySystem, basis: Any, places: Sequence[Array]) -> Array:
    """Reduced mass matrix SᵀM S.

    Raises ValueError unless it is equal at all given positions ``places``, and if it is singular while S varies.
    """
    masses = [at(basis, zeta).T @ system.mass @ at(basis, zeta) for zeta in places]
    change = max(float(np.abs(m - masses[0]).max(initial=0.0)) for m in masses)
    size = float(np.abs(masses[0]).max(initial=0.0))
    if change > CONSTANT * size:
        raise ValueError(
            f"SᵀM S must be constant, it changes by {change / size:.1e} near the sample: use columns of S whose "
            "products through M do not depend on the positions, such as orthonormal ones (SᵀM S = 1)"
        )
    mass: Array = 0.5 * (masses[0] + masses[0].T)
    if callable(basis) and _rank(mass) < len(mass):
        raise ValueError(
            f"SᵀM S must be regular where S varies, its rank is {_rank(mass)} of {len(mass)}: the momenta do not "
            "determine the velocities on which Ṡ depends"
        )
    return mass


def _check_derivative(system: MultibodySystem, basis: Any, derivative: Rate, places: Sequence[Array]) -> None:
    """Raise ValueError unless Ṡ agrees with differences of S along each new velocity, at all positions ``places``."""
    if not callable(derivative):
        raise ValueError(f"derivative must be a function of ζ and ζ̇, got {type(derivative).__name__}")
    for zeta in places:
        S = at(basis, zeta)
        for k, along in enumerate((system.Z(zeta) @ S).T):
            given = check.array("derivative Ṡ(ζ, ζ̇)", derivative(zeta, along), S.shape)
            estimates = [
                _differences(basis, zeta, along, part) for part in (1.0, 1e-2, 1e-4)
            ]  # the best of three steps
            wrong = [np.abs(given - numeric) for numeric, _ in estimates]
            best = int(np.argmin([w.max(initial=0.0) for w in wrong]))
            numeric, step = estimates[best]
            size = max(float(np.abs(m).max(initial=0.0)) for m in (given, numeric))
            if wrong[best].max(initial=0.0) > SLOPE * size + NOISE * float(np.abs(S).max(initial=0.0)) / step:
                i, j = map(int, np.unravel_index(np.argmax(wrong[best]), S.shape))
                raise ValueError(
                    f"derivative Ṡ(ζ, ζ̇) must be that of the basis: along the new velocity {k} it is {given[i, j]:.6g} "
                    f"in row {i}, column {j}; differences of the basis give {numeric[i, j]:.6g}"
                )


def _differences(basis: Any, zeta: Array, along: Array, part: float = 1.0) -> tuple[Array, float]:
    """Time derivative Ṡ of the basis by central differences along given rates of positions, and the time step used.

    The rates are ``along`` (n_pot,); ``part`` is a factor of the time step.
    """
    speed = float(np.abs(along).max(initial=0.0))
    if speed == 0.0:
        return np.zeros_like(at(basis, zeta)), 1.0
    step = part * CENTRAL * (float(np.abs(zeta).max(initial=0.0)) or 1.0) / speed
    return central(partial(at, basis), zeta, step * along) / step, step


class _Gyroscopic:
    """Gyroscopic matrix in the new velocities ν: ``G_r(ζ, Γ_r) = SᵀG(ζ, M S ν) S + SᵀM Ṡ``.

    Γ_r are the new momenta, ν = M_r⁺Γ_r, and Ṡ is the derivative of the basis S along ζ̇ = Z S ν.
    """

    def __init__(self, system: MultibodySystem, basis: Any, derivative: Rate | None, mass: Array) -> None:
        self.system, self.basis, self.derivative = system, basis, derivative
        self.inverse = np.linalg.pinv(mass, hermitian=True)

    def __call__(self, zeta: Array, momenta: Array) -> Array:
        """Skew-symmetric matrix G_r at positions ζ and momenta Γ_r."""
        s, S = self.system, at(self.basis, zeta)
        omega = S @ (self.inverse @ momenta)
        matrix: Array = S.T @ s.G(zeta, s.mass @ omega) @ S
        if callable(self.basis):
            turning = S.T @ s.mass @ self._rate(zeta, s.Z(zeta) @ omega)
            matrix = matrix + 0.5 * (turning - turning.T)
        return matrix

    def _rate(self, zeta: Array, along: Array) -> Array:
        if self.derivative is not None:
            return np.asarray(self.derivative(zeta, along), dtype=float)
        return _differences(self.basis, zeta, along)[0]


def _mean(system: MultibodySystem, basis: Any) -> Callable[[Array, Array], Array]:
    """Function (ζ₀, ζ₁) ↦ Z̄(ζ₀, ζ₁) S(½(ζ₀ + ζ₁)): kinematic matrix of the new velocities, averaged over a step."""
    return lambda zeta0, zeta1: system.Z_mean(zeta0, zeta1) @ at(basis, 0.5 * (zeta0 + zeta1))


def _times(rows: Any, basis: Any) -> Any:
    """Product M S of a matrix M whose columns belong to the velocities; a function of ζ if M or S is one."""
    if callable(rows) or callable(basis):
        return lambda zeta: at(rows, zeta) @ at(basis, zeta)
    return np.asarray(rows) @ np.asarray(basis)


def _columns(basis: Any, matrix: Any) -> Any:
    """Product SᵀM of a matrix M whose rows belong to the velocities; a function of ζ if M or S is one."""
    if callable(matrix) or callable(basis):
        return lambda zeta: at(basis, zeta).T @ at(matrix, zeta)
    return np.asarray(basis).T @ matrix


def _dissipation(given: Damper | Dissipation, basis: Any) -> Damper | Dissipation:
    if isinstance(given, Damper):
        return Damper(given.name, _columns(basis, given.directions), given.relation)

    def force(zeta: Array, nu: Array) -> Array:
        S = at(basis, zeta)
        return S.T @ given.force(zeta, S @ nu)

    return Dissipation(given.name, force)
