"""Contacts and joints at a state, for velocities: what impulses do, impacts, and what settles after a step.

With M = LLᵀ, w = Lᵀv and P the projection on velocities that the joints allow, impulses Λ of the contacts change the
velocities by v⁺ = v + L⁻ᵀPL⁻¹HᵀΛ, so that γ⁺ = γ⁻ + DΛ, D = HL⁻ᵀPL⁻¹Hᵀ, and do the work Λ·½(γ⁻ + γ⁺).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..kernels.arrays import Arrays
from ..kernels.contacts.gaps import Gaps, Touch, gaps_between, rates_of, tangents, vectors_of
from ..kernels.continuous import mass_matrix
from ..kernels.gradient import constraint_matrix, node_rows, world_spin_levers
from ..kernels.jacobians.contacts import gap_rows, slip_rows, vector_rows
from ..kernels.state import Configuration, Derived, node_points, node_velocities
from ..numerics.arrays import Array, dense
from .complementarity import Impulses, Problem, solve

RANK = 1e-9
"""Singular value of the constraints, scaled, below which they follow from others."""


class Level(NamedTuple):
    """Contacts (some of the gaps) and joints at a state.

    ``rows`` are H over v, ``spread`` PL⁻¹Hᵀ, ``lower`` L, ``joints`` G L⁻ᵀ and ``basis`` an orthonormal basis of its
    rows (n, r).
    """

    rows: Array
    spread: Array
    D: Array
    lower: Array
    joints: Array
    basis: Array
    friction: Array

    def rates(self, v: Array) -> Array:
        """γ, normal (c,) and then along the tangents."""
        moved: Array = self.rows @ v
        return moved

    def terms(self, v: Array) -> float:
        """The largest sum of the sizes of the terms of a rate [m/s]."""
        return float((np.abs(self.rows) @ np.abs(v)).max(initial=0.0))

    def struck(self, v: Array, impulses: Array) -> Array:
        """The velocities after impulses."""
        change: Array = solve_triangular(self.lower, self.spread @ impulses, lower=True, trans=1)
        return v + change

    def reactions(self, impulses: Array) -> Array:
        """Impulses of the joints while contacts have impulses: with the velocities b of drives they do work."""
        if not self.joints.size:
            return np.zeros(self.joints.shape[0])
        free: Array = solve_triangular(self.lower, self.rows.T @ impulses, lower=True)
        return np.asarray(np.linalg.lstsq(self.joints.T, self.spread @ impulses - free, rcond=RANK)[0])

    def joined(self, v: Array, rates: Array) -> tuple[Array, Array]:
        """The nearest velocities with G v = b, and the impulses μ of the joints that take v there."""
        if not rates.size:
            return v, rates
        w = self.lower.T @ v
        mu = np.linalg.lstsq(
            self.joints.T, np.linalg.lstsq(self.joints, rates - self.joints @ w, rcond=RANK)[0], rcond=RANK
        )[0]
        return solve_triangular(self.lower, w + self.joints.T @ mu, lower=True, trans=1), mu


def gaps_at(a: Arrays, c: Configuration, d: Derived) -> Gaps:
    """All gaps at a state."""
    vectors = vectors_of(a.contacts, node_points(a, c.r, d.arm))
    return gaps_between(a.contacts, vectors, vectors)


def gap_rates(a: Arrays, c: Configuration, d: Derived) -> Array:
    """Rates of all gaps at a state."""
    moved = rates_of(a.contacts, node_velocities(a, c, c.R, d.arm))
    return np.asarray(np.vecdot(gaps_at(a, c, d).end, moved).sum(axis=0))


def level_at(a: Arrays, place: tuple[Configuration, Derived], coefficient: Array, index: Array) -> Level:
    """Some of the contacts, and the joints, at a state."""
    part = a._replace(contacts=a.contacts.take(index))
    return level_of_rows(a, place, coefficient, (contact_rows(part, *place), part.contacts.friction))


def level_of_rows(
    a: Arrays, place: tuple[Configuration, Derived], coefficient: Array, struck: tuple[Array, Array]
) -> Level:
    """Rows H over v with their coefficients of friction, and the joints, at a state."""
    (c, d), (rows, friction) = place, struck
    lower = cholesky(mass_matrix(a, c.u).toarray(), lower=True)
    G = dense(constraint_matrix(a, c.R, coefficient, arm=d.arm, vector=d.vector))
    joints = solve_triangular(lower, G.T, lower=True).T
    spread = solve_triangular(lower, rows.T, lower=True)
    basis = _range(joints)
    spread = spread - basis @ (basis.T @ spread)
    return Level(rows, spread, spread.T @ spread, lower, joints, basis, friction)


def contact_rows(a: Arrays, c: Configuration, d: Derived) -> Array:
    """Rates of all gaps and of all slips with the velocities, normal rows first; no slips without friction."""
    gaps = gaps_at(a, c, d)
    nodes = node_rows(a, world_spin_levers(a, c.R, d.arm), c.R[a.node_body])
    vectors = vector_rows(a, nodes)
    rows = [dense(gap_rows(gaps.end, vectors))]
    if a.contacts.friction.any():
        tangent, arm = tangents(a.contacts, gaps)
        none: Any = np.zeros(0)
        touch = Touch(gaps, none, none, none, tangent, arm, none, none)
        rows += [dense(row) for row in slip_rows(a, vectors[0], touch, c.R)]
    return np.vstack(rows)


def _range(rows: Array) -> Array:
    """An orthonormal basis of the rows, (n, r)."""
    if not rows.shape[0]:
        return np.zeros((rows.shape[1], 0))
    length = np.linalg.norm(rows, axis=1)
    _, values, right = np.linalg.svd(rows / np.where(length > 0.0, length, 1.0)[:, None], full_matrices=False)
    basis: Array = right[values > RANK * values.max(initial=0.0)].T
    return basis


class Strike(NamedTuple):
    """Impulses of contacts, the rates before and after, what each contact loses [J], and the share that was taken.

    ``missed`` is the defect of the complementarity that was solved, ``scale`` what it is relative to [m/s].
    """

    impulses: Array
    before: Array
    after: Array
    lost: Array
    share: float
    missed: float
    scale: float


def impact(level: Level, v: Array, restitution: Array) -> Strike:
    """Newton's law with Coulomb friction: −Λ_N ⟂ γ⁺ + e min(γ⁻, 0) ≥ 0, friction against the slip after.

    Where it would create energy, it goes from the plastic impact only so far that none is created.
    """
    before, count = level.rates(v), restitution.size
    wanted = before.copy()
    wanted[:count] += restitution * np.minimum(before[:count], 0.0)
    found = _solved(level, v, wanted)
    gained = _work(level, before, found.flat)
    if found.defect > 1e-9 or gained > 0.0:
        plastic = _solved(level, v, before)
        change = found.flat - plastic.flat if found.defect <= 1e-9 else 0.0 * plastic.flat
        share = _largest_share(level, before, plastic.flat, change)
        worse = max(plastic, found, key=_missed) if change.any() else plastic
        return _strike(level, v, (plastic.flat + share * change, share), worse)
    return _strike(level, v, (found.flat, 1.0), found)


def settle(level: Level, v: Array, given: Array) -> Strike:
    """The plastic law for impulses together with those already ``given``, as far as no energy is created."""
    before = level.rates(v)
    found = _solved(level, v, before - level.D @ given, given)
    wanted = found.flat - given
    slope, curve = float(wanted @ before), float(wanted @ level.D @ wanted)
    share = 0.0 if slope >= 0.0 else min(1.0, -2.0 * slope / max(curve, 1e-300))
    return _strike(level, v, (share * wanted, share), found)


def _solved(level: Level, v: Array, b: Array, guess: Array | None = None) -> Impulses:
    return solve(Problem(level.D, b, level.friction, level.terms(v)), guess)


def _work(level: Level, before: Array, impulses: Array) -> float:
    """ΔT of impulses [J]."""
    return float(impulses @ (before + 0.5 * (level.D @ impulses)))


def _largest_share(level: Level, before: Array, plastic: Array, change: Array) -> float:
    """The largest s ≤ 1 with which plastic + s change creates no energy: ΔT is convex in s and not positive at 0."""
    at_rest, whole = _work(level, before, plastic), _work(level, before, plastic + change)
    curve = 0.5 * float(change @ level.D @ change)
    slope = whole - at_rest - curve
    if whole <= 0.0 or curve <= 0.0:
        return 1.0 if whole <= 0.0 else 0.0
    root = slope * slope - 4.0 * curve * min(at_rest, 0.0)
    return float(np.clip((-slope + np.sqrt(root)) / (2.0 * curve), 0.0, 1.0))


def _missed(solved: Impulses) -> float:
    """Defect of the complementarity [m/s]."""
    return solved.defect * solved.scale


def _strike(level: Level, v: Array, given: tuple[Array, float], solved: Impulses) -> Strike:
    (impulses, share), before = given, level.rates(v)
    after = before + level.D @ impulses
    lost = -(impulses * 0.5 * (before + after)).reshape(-1, level.friction.size).sum(axis=0)
    return Strike(impulses, before, after, lost, share, _missed(solved), max(solved.scale, level.terms(v)))
