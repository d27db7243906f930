"""Conditions on a multibody system ([rigid] sec. 4), with a message for each defect.

Symbols as in :class:`rigid.MultibodySystem`: positions ζ and velocities ϖ with ζ̇ = Z ϖ, momenta Γ = Mϖ, gyroscopic
matrix G, potential V, position constraints c(ζ) = 0 with multipliers λ, velocity constraints A ϖ = 0 with multipliers
μ, input matrix B.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.numerics.ranks import singular_vectors
from flexph.systems.discrete_gradients import Invariants

from .matrix_functions import at
from .members import RATE, check_members, check_names, check_shapes, energy_of, potential_name
from .probes import RANK, Independence, independence, listed, probes, sizes
from .terms import PositionMap, force_of

if TYPE_CHECKING:
    from .model import SystemModel


STEP = 1e-3
"""Length of a displacement of the positions, relative to their sizes, over which functions and their derivatives are
compared."""
ACTS = 1e-10
"""Change of a force over a displacement of length STEP, relative to the force, above which the potential acts along
this displacement. Round-off is 1e-16."""


def refuse_undetermined(system: SystemModel) -> None:
    """Raise ValueError if ker M ∩ ker (c'Z, A) has a velocity on which no damper, potential or gyroscopic force acts.

    The equation ``0 = vᵀ(−Zᵀ∇V − τ_d − Gϖ)`` of such a velocity v is empty. It suffices that all massless velocities
    are determined at one of the positions near the sample: a spring acts across its direction only after a
    displacement.
    """
    if not system.massless.size:
        return
    damping = np.zeros((0, 0))
    for zeta in system.once(probes):
        free = _undetermined(system, zeta)
        if not free.shape[1]:
            return
        damping = damping if damping.size else free
    share = np.linalg.norm(damping, axis=1)
    names = [system.velocity_name(int(i)) for i in np.flatnonzero(share > 0.1 * share.max())]
    raise ValueError(
        "massless velocities must be determined by constraints, dampers or potentials: nothing acts on "
        f"{listed(names)} ({damping.shape[1]} combinations of them); give mass, or a constraint or a damper there"
    )


def _undetermined(system: SystemModel, zeta: Array) -> Array:
    """Basis (n_kin, j) of the massless velocities that neither constraints nor forces determine at a position.

    Its vectors are scaled: divided by ``independence(system).columns``, row by row, they are velocities.
    """
    unit = system.once(independence).columns if system.constraint_names else np.ones(system.velocities)
    rows = system.constraint_rows(zeta) / unit
    if rows.size:
        rows = rows / system.once(independence).rows[:, None]
    motions = np.linalg.qr(unit[:, None] * system.massless)[0]
    motions = motions @ singular_vectors(rows @ motions, tolerance=RANK, size=1.0).null
    if not motions.shape[1]:
        return motions
    free = motions / unit[:, None]
    momenta = system.mass @ np.random.default_rng(1).standard_normal(system.velocities)
    acting = [_change(system, zeta, free), free.T @ system.G(zeta, momenta) @ free]
    acting.append(np.column_stack([free.T @ system.tau_d(zeta, v) for v in free.T]))
    sized = [a / np.abs(a).max() for a in acting if a.any()]
    return motions @ singular_vectors(np.vstack(sized), tolerance=RANK, size=1.0).null if sized else motions


def _change(system: SystemModel, zeta: Array, free: Array) -> Array:
    """Changes (j, j) of the force Zᵀ∇V under small displacements along the velocities ``free`` (n_kin, j).

    Column k is the change for the displacement along velocity k, multiplied by ``freeᵀ``. Changes of the size of
    round-off are zero.
    """
    matrix, size = np.zeros((free.shape[1], free.shape[1])), sizes(system, zeta)
    for k, v in enumerate(free.T):
        way = system.Z(zeta) @ v
        length = float(np.abs(way / size).max(initial=0.0))
        if length > 0.0:
            ends = [zeta + side * STEP / length * way for side in (1.0, -1.0)]
            one, other = (system.Z(end).T @ system.V_gradient(end) for end in ends)
            change = free.T @ (one - other)
            noise = ACTS * (np.abs(free.T) @ (np.abs(one) + np.abs(other)))
            matrix[:, k] = np.where(np.abs(change) > noise, change, 0.0)
    return matrix


SLOPE = 1e-6
"""Error of a derivative above which it is a mistake, relative to the largest entry of its row times the sizes of the
positions."""
NOISE = 1e-9
"""Error of a derivative that differences cannot resolve, relative to the function."""
SPEEDS = (1e-2, 1.0, 1e2)
"""Magnitudes of the random velocities at which a dissipation must not be negative."""


def check_system(system: SystemModel) -> None:
    """Raise ValueError for invalid members of a system, or if a condition of [rigid] sec. 4 is violated.

    Conditions are checked at the sample and at positions near it.
    """
    check_members(system)
    check_names(system)
    _check_mass(system)
    check_shapes(system)
    rng, places = np.random.default_rng(1), system.once(probes)
    for zeta in places[:2]:  # differences in every position are expensive
        _check_functions(system, zeta, rng)
    for zeta in places:
        _check_rates(system, zeta)
        _check_velocity_functions(system, zeta, rng)
    _check_rank(system, places)


def refuse_dependent(system: SystemModel) -> None:
    """Raise ValueError with the names of constraints that depend on others at the sample."""
    rank, names = system.once(independence).dependent(system.sample)
    rows = len(system.constraint_names)
    if rank < rows:
        raise ValueError(
            f"{rows - rank} of {rows} constraints follow from others or from the kinematics, their multipliers are not "
            f"determined: leave as many out of {listed(names)}"
        )


def _check_mass(system: SystemModel) -> None:
    """Raise ValueError unless M is symmetric and positive semi-definite."""
    check.symmetric("mass", system.mass)
    diagonal = np.diag(system.mass)
    unit = np.sqrt(np.where(diagonal != 0.0, np.abs(diagonal), np.abs(system.mass).max(initial=0.0) or 1.0))
    lowest = np.linalg.eigvalsh(system.mass / unit / unit[:, None]).min(initial=0.0)
    if lowest < -check.ROUND_OFF * len(unit):
        values, vectors = np.linalg.eigh(system.mass)
        shares = np.abs(vectors[:, 0])
        names = [system.velocity_name(int(i)) for i in np.flatnonzero(shares > 0.1 * shares.max())]
        raise ValueError(
            f"mass must be positive semi-definite, got the eigenvalue {values[0]:.6g} of "
            f"{listed(names)}: kinetic energy would be negative"
        )


# --- derivatives ------------------------------------------------------------------------------------------------------


def _check_functions(system: SystemModel, zeta: Array, rng: np.random.Generator) -> None:
    """Raise ValueError unless c', p' and ∇V agree with differences of c, p and V, and invariants are quadratic."""
    size = sizes(system, zeta)
    maps: Mapping[str, PositionMap] = dict(
        chain(
            ((f"constraint {c.name!r}", c.map) for c in (*system.constraints, *system.coordinates)),
            ((f"the position of {c.name!r}", c.position) for c in system.velocity_constraints if c.position),
            ((f"the position of port {name!r}", p.position) for name, p in system.ports.items() if p.position),
        )
    )
    for name, of in maps.items():
        _compare(f"the jacobian of {name}", of.value, of.jacobian(zeta), zeta=zeta, size=size)
    for i, potential in enumerate(system.potentials):
        name, energy = potential_name(system, i), energy_of(potential)
        if isinstance(potential, Invariants):
            _compare(f"the jacobian of the {name}", potential.values, potential.jacobian(zeta), zeta=zeta, size=size)
            _check_quadratic(name, potential, zeta, zeta + 0.1 * size * rng.standard_normal(zeta.size))
            pi = potential.values(zeta)
            gradient = potential.jacobian(zeta).T @ potential.gradient(pi)
        else:
            gradient = np.asarray(potential.gradient(zeta), dtype=float)
        _compare(f"the gradient of the {name}", partial(_listed_energy, energy), gradient[None], zeta=zeta, size=size)


def _compare(name: str, function: Callable[[Array], Any], given: Array, *, zeta: Array, size: Array) -> None:
    numeric = np.empty(given.shape)
    here = np.abs(np.asarray(function(zeta), dtype=float))
    for j in range(zeta.size):
        moved = np.tile(zeta, (4, 1))
        moved[:, j] += STEP * size[j] * np.array([1.0, -1.0, 2.0, -2.0])
        up, down, far, back = (np.asarray(function(row), dtype=float) for row in moved)
        here = np.maximum(here, np.abs(up))
        numeric[:, j] = (8.0 * (up - down) - (far - back)) / (12.0 * STEP * size[j])
    wrong = np.abs(given - numeric) * size
    scale = (np.maximum(np.abs(given), np.abs(numeric)) * size).max(axis=1, initial=0.0)
    excess = wrong - (SLOPE * scale + NOISE * here)[:, None]
    if np.any(excess > 0.0) or not np.all(np.isfinite(wrong)):
        i, j = map(int, np.unravel_index(np.argmax(np.where(np.isfinite(excess), excess, np.inf)), excess.shape))
        raise ValueError(f"{name} is {given[i, j]:.6g} in row {i}, column {j}; differences give {numeric[i, j]:.6g}")


def _listed_energy(energy: Callable[[Array], float], zeta: Array) -> Array:
    return np.array([energy(zeta)])


def _check_quadratic(name: str, of: Invariants, zeta0: Array, zeta1: Array) -> None:
    """Raise ValueError unless invariants are quadratic: Δπ = Dπ(m) Δζ from ζ₀ to ζ₁, with the midpoint m."""
    change, step = of.values(zeta1) - of.values(zeta0), zeta1 - zeta0
    slope = of.jacobian(0.5 * (zeta0 + zeta1))
    scale = np.abs(of.values(zeta1)) + np.abs(of.values(zeta0)) + np.abs(slope) @ np.abs(step)
    defect = np.abs(change - slope @ step) / np.maximum(scale, 1e-300)
    if defect.max(initial=0.0) > NOISE:
        raise ValueError(
            f"the invariants of the {name} must be quadratic, Δπ = Dπ(m) Δζ with m in the middle: invariant "
            f"{int(np.argmax(defect))} is not (defect {defect.max():.0e}); give a Potential(energy, gradient) of ζ"
        )


# --- structure --------------------------------------------------------------------------------------------------------


def _check_rates(system: SystemModel, zeta: Array) -> None:
    """Raise ValueError unless p'Z is A or Bᵀ for constraints and ports with positions p.

    For conditions g of the coordinates, g'Z must be zero.
    """
    Z = system.Z(zeta)
    for of in system.velocity_constraints:
        if of.position is not None:
            name = f"velocity constraint {of.name!r} must be the rate of its position, p'Z = A"
            _compare_rates(name, of.position.jacobian(zeta) @ Z, at(of.matrix, zeta))
    for port, entry in system.ports.items():
        if entry.position is not None:
            name = f"port {port!r} must move with its position, p'Z = Bᵀ"
            _compare_rates(name, entry.position.jacobian(zeta) @ Z, at(entry.matrix, zeta).T)
    for condition in system.coordinates:
        slope = condition.map.jacobian(zeta)
        defect, scale = np.abs(slope @ Z), (np.abs(slope) @ np.abs(Z)).max(initial=0.0)
        if defect.max(initial=0.0) > RATE * scale:
            raise ValueError(
                f"condition {condition.name!r} of the coordinates must be preserved by the kinematics, g'Z = 0 if it "
                f"holds: got {defect.max():.3g} (terms of {scale:.3g}); otherwise give it as a constraint"
            )


def _compare_rates(name: str, rates: Array, given: Array) -> None:
    defect = np.abs(rates - given)
    if defect.max(initial=0.0) > RATE * max(np.abs(given).max(initial=0.0), np.abs(rates).max(initial=0.0)):
        i, j = map(int, np.unravel_index(np.argmax(defect), defect.shape))
        raise ValueError(f"{name}: p'Z is {rates[i, j]:.6g}, {given[i, j]:.6g} is given for row {i}, velocity {j}")


def _check_velocity_functions(system: SystemModel, zeta: Array, rng: np.random.Generator) -> None:
    """Raise ValueError unless G is skew, ϖᵀτ_d ≥ 0, and no dissipative force acts at rest."""
    v = system.velocities
    G = check.array("gyroscopic G(ζ, Γ)", system.G(zeta, system.mass @ rng.standard_normal(v)), (v, v))
    check.skew("gyroscopic G(ζ, Γ)", G)
    for term in system.dissipation:
        rest, name = force_of(term, zeta, np.zeros(v)), f"dissipation {term.name!r}"
        for speed in SPEEDS:
            force = check.array(name, force_of(term, zeta, speed * rng.standard_normal(v)), (v,))
        if np.abs(rest).max(initial=0.0) > check.ROUND_OFF * np.abs(force).max(initial=0.0):
            raise ValueError(f"{name} must vanish at rest, got {np.abs(rest).max():.3g}: it would generate energy")


def _check_rank(system: SystemModel, places: Sequence[Array]) -> None:
    """Raise ValueError unless (c'Z, A) has the same rank at all given positions ``places``."""
    if not system.constraint_names:
        return
    _refuse_empty(system, places)
    of = Independence(system, places)
    dependent = [of.dependent(zeta) for zeta in places]
    ranks = [rank for rank, _ in dependent]
    if min(ranks) != max(ranks):
        names = dependent[ranks.index(min(ranks))][1]
        raise ValueError(
            f"velocity constraints c'Z and A must have one rank around the sample: of {len(of.rows)} rows {ranks[0]} "
            f"are independent at the sample, {min(ranks[1:])} to {max(ranks[1:])} near it; where they lose rank, "
            f"{listed(names)} depend on each other"
        )


def _refuse_empty(system: SystemModel, places: Sequence[Array]) -> None:
    """Raise ValueError for a row of A that is zero at all given positions."""
    most = np.max([np.abs(system.A(zeta)).max(axis=1, initial=0.0) for zeta in places], axis=0)
    names = system.constraint_names[len(system.constraint_names) - len(most) :]
    empty = [name for name, size in zip(names, most, strict=True) if size == 0.0]
    if empty:
        raise ValueError(f"velocity constraints must not be empty: all entries of A are zero in {listed(empty)}")
