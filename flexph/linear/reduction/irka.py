"""Iterative rational Krylov algorithm: interpolation at the mirrored poles of the reduced system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Array, dense
from ...numerics.subspaces import extend
from ...systems.linear import LinearPHDAE
from ..shifted import Shifted
from .bases import projected, rigid_motions
from .krylov import Expansion, Point, audit, moments, real, terms

OUTER, INNER = 20, 300
PLAIN = 40
"""Number of inner iterations after which steps are halved, and halved again, to damp cycles."""
SETTLED = 1e-4
"""Relative change of the points at which the iteration ends; the error of the reduced system is then stationary."""
UNDAMPED = 1e-10
"""Damping ratio of a pole below which an impulse response counts as undamped."""


@dataclass(frozen=True, eq=False)
class Tangents:
    """Points σ (k,), Im σ ≥ 0, at which a reduced system matches H(σ_i) b_i, with directions b (k, m) of the inputs."""

    points: Array
    directions: Array

    def moved_from(self, other: Tangents) -> float:
        """Largest distance of the points from those of ``other``, relative to their size.

        It is infinite if their numbers differ.
        """
        if len(self.points) != len(other.points):
            return np.inf
        return float(np.max(np.abs(self.points - other.points) / np.abs(self.points)))

    def relaxed(self, other: Tangents, share: float) -> Tangents:
        """Points moved towards those of ``other`` by a ``share`` of the way.

        The coefficients of real quadratics, whose roots are pairs of points, are moved instead of the points, so that
        two real points can become a conjugate pair. Directions are those of the nearest points of ``other``.
        """
        before, far = _quadratics(self.points), _quadratics(other.points)
        roots = [np.roots([1.0, *((1.0 - share) * p + share * q)[: len(p)]]) for p, q in zip(before, far, strict=True)]
        points = np.concatenate(roots)
        points = points[points.imag >= 0.0]
        points = points[np.argsort(np.abs(points), kind="stable")]
        near = np.argmin(np.abs(points[:, None] - other.points[None, :]), axis=1)
        return Tangents(points, other.directions[near])

    def solutions(self, shifted: Shifted, *, audited: bool = False) -> list[Array]:
        """Solutions P(σ_i)⁻¹ (B b_i, 0) of the full system at the points, one column each, real for real σ_i.

        They are refined by residuals if ``audited``.
        """
        solutions = []
        for s, b in zip(self.points, self.directions, strict=True):
            direction = b.real if s.imag == 0.0 else b
            solutions.append(shifted.factor(s, audited=audited)(shifted.load @ direction[:, None]))
        return solutions


def irka(shifted: Shifted, order: int, band: tuple[float, float]) -> LinearPHDAE:
    """Reduce a system to its solutions at the mirrored poles −λ̂_i of the reduced system itself.

    It is a fixed point: V from ``(σ_i E − J + R)⁻¹B b_i``, and the poles and residue directions of VᵀEV, VᵀJV, … are
    the next −σ_i, b_i (Gugercin, Polyuga, Beattie, van der Schaft, Automatica 48 (2012): the H2-optimality conditions
    that are compatible with the structure). The iteration runs in a space of solutions of the full system at a few
    points, which is extended at its results until these no longer change: then the full system has the same fixed
    point.

    For a system of velocities and stresses an odd order is reduced by one: its poles come in pairs. Raises
    ArithmeticError if the points do not converge, ValueError for a system whose responses do not decay.
    """
    if shifted.split is not None:
        _refuse_rigid(shifted)
        order -= order % 2
    points, space = _initial_points(shifted, order, band), np.zeros((shifted.size, 0))
    for k in range(OUTER):
        leading = [real(x[: shifted.size]) for x in points.solutions(shifted)]
        space = extend(space, np.hstack(leading), shifted.weight)
        small = _projected_matrices(shifted, space)
        before, points = points, _settle(small, order, points if k else _dominant(small, order))
        if points.moved_from(before) <= SETTLED:
            return _finish(shifted, points)
    raise ArithmeticError(
        f"the points of method 'irka' did not converge at order {order}: after {OUTER} rounds they still move by "
        f"{points.moved_from(before):.1e} of their size. Use another order or band, or method 'krylov'"
    )


def _initial_points(shifted: Shifted, order: int, band: tuple[float, float]) -> Tangents:
    """First points, spread across the band with little damping, each with the direction of its largest response."""
    points = (0.1 + 1j) * np.geomspace(*band, (order + 1) // 2)
    if shifted.load.shape[1] == 1:
        return Tangents(points, np.ones((len(points), 1)))
    responses = [shifted.transfer(s, shifted.factor(s, audited=False)(shifted.load)) for s in points]
    return Tangents(points, np.array([np.linalg.svd(h)[2][0].conj() for h in responses]))


def _projected_matrices(shifted: Shifted, space: Array) -> tuple[Array, Array]:
    """Matrices A and B of ẋ = A x + B u for the system reduced to a space, in coordinates with the energy ½ xᵀx."""
    reduced = projected(shifted.system, shifted.split, space)
    return reduced.J - reduced.R, dense(reduced.B)[:, shifted.columns]


def _dominant(small: tuple[Array, Array], order: int) -> Tangents:
    """Mirrored poles of a small system with the largest contributions to its H2 norm, with their directions.

    ``small`` are A and B; contributions are ‖c_i‖‖b_i‖/√|Re λ_i|. Raises ValueError for undamped poles.
    """
    a, inputs = small
    values, vectors = np.linalg.eig(a)
    _refuse_undamped(values)
    weight = np.linalg.norm(inputs.T @ vectors, axis=0) * np.linalg.norm(np.linalg.solve(vectors, inputs), axis=1)
    ranked = np.argsort(-weight / np.sqrt(np.abs(values.real)), kind="stable")
    ranked = ranked[values[ranked].imag >= 0.0]
    columns = np.cumsum(np.where(values[ranked].imag > 0.0, 2, 1))
    taken = ranked[: 1 + np.searchsorted(columns, order)]
    every = _residues(values, vectors, inputs)
    return Tangents(every.points[taken], every.directions[taken])


def _settle(surrogate: tuple[Array, Array], order: int, points: Tangents) -> Tangents:
    """Move interpolation points until they are the mirrored poles of the system reduced to ``order`` states there.

    ``surrogate`` are A and B of a small system in place of the full one, ``points`` the first guess. If the iteration
    does not converge, the last points are returned.
    """
    a, inputs = surrogate
    values, vectors = np.linalg.eig(a)
    loads = np.linalg.solve(vectors, inputs.astype(complex))
    for k in range(INNER):
        states = vectors @ ((loads @ points.directions.T) / (points.points - values[:, None]))
        basis = np.linalg.qr(_columns(states.T[:, :, None], points)[:, :order])[0]
        before, points = points, _mirrored(basis.T @ a @ basis, basis.T @ inputs)
        if points.moved_from(before) <= 0.1 * SETTLED:
            break
        if k >= PLAIN:
            points = before.relaxed(points, 0.5 ** (k // PLAIN))
    return points


def _quadratics(points: Array) -> list[Array]:
    """Coefficients (b, c) of real quadratics s² + b s + c whose roots are pairs of the points, sorted by c.

    The last one is (b,), s + b, for a real point without a partner.
    """
    pairs = [np.array([-2.0 * s.real, abs(s) ** 2]) for s in points if s.imag > 0.0]
    alone = sorted(s.real for s in points if s.imag == 0.0)
    pairs += [np.array([-(p + q), p * q]) for p, q in zip(alone[::2], alone[1::2], strict=False)]
    pairs.sort(key=lambda pair: float(pair[1]))
    return pairs + [np.array([-s]) for s in alone[len(alone) - len(alone) % 2 :]]


def _columns(vectors: list[Array] | Array, points: Tangents) -> Array:
    """Real vectors in place of complex ones: the real part for a real point, else real and imaginary part."""
    pieces = zip(vectors, points.points, strict=True)
    return np.hstack([np.asarray(x.real if s.imag == 0.0 else real(x)) for x, s in pieces])


def _mirrored(a: Array, inputs: Array) -> Tangents:
    """Mirrored poles −λ̂ of ẋ = A x + B u with Im ≥ 0, by ascending modulus, with the directions of their residues."""
    values, vectors = np.linalg.eig(a)
    _refuse_undamped(values)
    upper = np.flatnonzero(values.imag >= 0.0)
    upper = upper[np.argsort(np.abs(values[upper]), kind="stable")]
    every = _residues(values, vectors, inputs)
    return Tangents(every.points[upper], every.directions[upper])


def _refuse_rigid(shifted: Shifted) -> None:
    count = rigid_motions(shifted).shape[1]
    if count:
        raise ValueError(
            f"method 'irka' needs a system whose responses decay, this one has {count} rigid motion"
            f"{'s' * (count > 1)}; hold it, or use method 'krylov' or 'modal', which keep them"
        )


def _refuse_undamped(values: Array) -> None:
    damping = -values.real / np.maximum(np.abs(values), np.finfo(float).tiny)
    if np.any(damping <= UNDAMPED):
        raise ValueError(
            "method 'irka' needs a system whose responses decay: a reduced system has the pole "
            f"{values[np.argmin(damping)]:.4g}; add damping, or use method 'krylov' or 'modal'"
        )


def _residues(values: Array, vectors: Array, inputs: Array) -> Tangents:
    """Mirrored poles −λ̂ of eigenvalues λ, each with the direction of its residue in the space of inputs."""
    directions = np.linalg.solve(vectors, inputs.astype(complex))
    size = np.linalg.norm(directions, axis=1, keepdims=True)
    return Tangents(-values.conj(), directions.conj() / np.where(size > 0.0, size, 1.0))


def _finish(shifted: Shifted, points: Tangents) -> LinearPHDAE:
    """Reduced system: the full one projected on its solutions at the points, after a check that the moments match."""
    expansions, states = [], []
    for s, b in zip(points.points, points.directions, strict=True):
        point = Point(s.real if s.imag == 0.0 else s)
        w = (b.real if s.imag == 0.0 else b)[:, None]
        solve = shifted.factor(point.s)
        first = solve(shifted.load)
        moments_of_load = [moment @ w for moment in moments(shifted, point, solve, first)]
        states.append(shifted.state(point.s, first @ w))
        expansions.append(Expansion(point, states[-1], moments_of_load, terms(shifted, point.s, first), w))
    reduced = projected(shifted.system, None, _columns(states, points))
    audit(Shifted(reduced, shifted.ports), expansions)
    return reduced
