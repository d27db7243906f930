"""Effect of impulses of contacts and joints on the velocities at a state.

With M = LLᵀ, w = Lᵀv and P the projection on velocities that the joints allow, impulses Λ of the contacts change the
velocities by v⁺ = v + L⁻ᵀPL⁻¹HᵀΛ, so that γ⁺ = γ⁻ + DΛ, D = HL⁻ᵀPL⁻¹Hᵀ, and do the work Λ·½(γ⁻ + γ⁺). For many rigid
bodies the matrices of M, the joints and H are sparse, and D is never formed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse.linalg import splu

from ..kernels.arrays import Arrays
from ..kernels.contacts.gaps import Gaps, Touch, gaps_between, rates_of, tangents, vectors_of
from ..kernels.continuous import mass_of
from ..kernels.gradient import constraint_matrix, node_rows, velocity_count, world_spin_levers
from ..kernels.jacobians.bearings import bearing_rates
from ..kernels.jacobians.body_blocks import (
    Sides,
    as_matrix,
    as_rows,
    gap_blocks,
    mass_blocks,
    slip_blocks,
    vector_blocks,
)
from ..kernels.jacobians.contacts import gap_rows, slip_rows, vector_rows
from ..kernels.state import Configuration, Derived, touching_points, touching_velocities
from ..numerics.arrays import Array, dense
from .complementarity import Impulses, Pressed, Problem, solve, solve_pressed, with_bearings
from .cones import cones
from .coupled import Coupled, pattern_of
from .many import solve_coupled

OBEYED, RANK = 1e-12, 1e-9
"""Relative defect of a satisfied contact law; scaled singular value below which constraints are redundant."""


class Level(NamedTuple):
    """Contacts (some of the gaps) and joints at a state, with dense matrices.

    ``rows``: H, the rates of the contacts with the velocities v; ``spread``: PL⁻¹Hᵀ; ``lower``: L; ``joints``: G L⁻ᵀ;
    ``basis``: an orthonormal basis (n, r) of the rows of ``joints``. Dry friction in joints follows the contacts, with
    normal impulses from the joint loads (``pressed``).
    """

    rows: Array
    spread: Array
    D: Array
    lower: Array
    joints: Array
    basis: Array
    friction: Array
    pressed: Pressed | None = None

    def rates(self, v: Array) -> Array:
        """Rates γ of the contacts at velocities v: normal (c,), then along each tangent."""
        moved: Array = self.rows @ v
        return moved

    def terms(self, v: Array) -> Array:
        """Sums of the absolute terms of the rates [m/s]."""
        sizes: Array = abs(self.rows) @ np.abs(v)
        return sizes

    def changes(self, impulses: Array) -> Array:
        """Changes D Λ of the rates by impulses."""
        moved: Array = self.D @ impulses
        return moved

    def solved(self, b: Array, size: float, guess: Array | None = None) -> Impulses:
        """Impulses Λ that satisfy the contact laws with rates b + D Λ; ``size``: magnitude of the terms of b."""
        problem = Problem(self.D, b, self.friction, size)
        if self.pressed is None:
            return solve(problem, guess)
        return solve_pressed(problem, self.pressed, np.zeros(b.size) if guess is None else guess)

    def carrying(self, joints: Array, given: Array) -> Level:
        """The level with bearings loaded by joint impulses that belong to the given contact impulses."""
        if self.pressed is None:
            return self
        return self._replace(pressed=self.pressed._replace(base=joints - self.pressed.by @ given))

    def struck(self, v: Array, impulses: Array) -> Array:
        """Velocities after impulses."""
        change: Array = solve_triangular(self.lower, self.spread @ impulses, lower=True, trans=1)
        return v + change

    def reactions(self, impulses: Array) -> Array:
        """Impulses of the joints in reaction to contact impulses; they do work at the velocities b of drives."""
        if not self.joints.size:
            return np.zeros((self.joints.shape[0], *impulses.shape[1:]))
        free: Array = solve_triangular(self.lower, self.rows.T @ impulses, lower=True)
        return np.asarray(np.linalg.lstsq(self.joints.T, self.spread @ impulses - free, rcond=RANK)[0])

    def joined(self, v: Array, rates: Array) -> tuple[Array, Array]:
        """The nearest velocities with G v = b (``rates``), and the joint impulses μ that change v to them."""
        if not rates.size:
            return v, rates
        w = self.lower.T @ v
        mu = np.linalg.lstsq(
            self.joints.T, np.linalg.lstsq(self.joints, rates - self.joints @ w, rcond=RANK)[0], rcond=RANK
        )[0]
        return solve_triangular(self.lower, w + self.joints.T @ mu, lower=True, trans=1), mu


class SparseLevel:
    """Contacts and joints of many rigid bodies at a state, with sparse K = [[M, −Gᵀ], [G, 0]] and H (m, n)."""

    def __init__(self, masses: Any, joints: Any, rows: Any, friction: Array) -> None:
        self._count, held = rows.shape[1], joints.shape[0]
        self.rows, self.friction = rows, friction
        self._masses, self._joints = masses, joints
        blocks = [[masses, -joints.T], [joints, None]] if held else [[masses]]
        self._K = sparse.csc_array(sparse.block_array(blocks))
        self._padded = sparse.csr_array(sparse.hstack([rows, sparse.csr_array((rows.shape[0], held))]))
        self._solve = splu(self._K, permc_spec="COLAMD").solve
        self._cones = cones(friction, (rows * rows) @ (1.0 / masses.diagonal()))

    def obeys(self, v: Array, impulses: Array) -> bool:
        """True if velocities and the impulses that led to them satisfy the plastic law, nearly to round-off."""
        missed, normal = self._cones.missed(impulses, self.rates(v)), impulses[: self.friction.size]
        size = max(float(self.terms(v).max()), float((normal / self._cones.normal_step).max()))
        return float(np.abs(missed).max()) <= OBEYED * size

    def spread(self) -> Array:
        """Changes of velocities and joint impulses by unit impulses of the contacts, (n + g, m)."""
        added: Array = self._solve(self._padded.T.toarray())
        return added

    def of(self, index: Array) -> SparseLevel:
        """The level with some of the contacts."""
        rows = np.arange(self.rows.shape[0]).reshape(-1, self.friction.size)[:, index].ravel()
        return SparseLevel(self._masses, self._joints, self.rows[rows], self.friction[index])

    def rates(self, v: Array) -> Array:
        """See :class:`Level`."""
        moved: Array = self.rows @ v
        return moved

    def terms(self, v: Array) -> Array:
        """See :class:`Level`."""
        sizes: Array = abs(self.rows) @ np.abs(v)
        return sizes

    def changes(self, impulses: Array) -> Array:
        """See :class:`Level`."""
        moved: Array = self._padded @ self._solve(self._padded.T @ impulses)
        return moved

    def solved(self, b: Array, size: float, guess: Array | None = None) -> Impulses:
        """See :class:`Level`."""
        given, none = np.zeros(b.size) if guess is None else guess, np.zeros(self._K.shape[0])
        start = b if guess is None else b + self.changes(guess)
        rows = self._padded
        pattern = pattern_of(self._K, rows, rows, self.friction.size)
        return solve_coupled(
            Coupled(self._K, rows, rows, none, start, given, self._cones, size, pattern), none
        ).impulses

    def struck(self, v: Array, impulses: Array) -> Array:
        """See :class:`Level`."""
        change: Array = self._solve(self._padded.T @ impulses)[: self._count]
        return v + change

    def reactions(self, impulses: Array) -> Array:
        """See :class:`Level`."""
        held: Array = self._solve(self._padded.T @ impulses)[self._count :]
        return held

    def joined(self, v: Array, rates: Array) -> tuple[Array, Array]:
        """See :class:`Level`."""
        if not rates.size:
            return v, rates
        change = self._solve(np.concatenate([np.zeros(v.size), rates - self._joints @ v]))
        return v + change[: v.size], change[v.size :]


AnyLevel = Level | SparseLevel


def near_at(a: Arrays, *places: tuple[Configuration, Derived]) -> Arrays:
    """The arrays with the pairs of groups that are closed in at least one of the given states."""
    if not a.contacts.groups:
        return a
    return a._replace(contacts=a.contacts.closed(*(touching_points(a, c.r, d.arm) for c, d in places)))


def gaps_at(a: Arrays, c: Configuration, d: Derived) -> Gaps:
    """Gaps of all contacts at a state."""
    vectors = vectors_of(a.contacts, touching_points(a, c.r, d.arm))
    return gaps_between(a.contacts, vectors, vectors)


def gap_rates(a: Arrays, c: Configuration, d: Derived) -> Array:
    """Rates of the gaps of all contacts at a state."""
    moved = rates_of(a.contacts, touching_velocities(a, c, d.arm, c.R))
    return np.asarray(np.vecdot(gaps_at(a, c, d).end, moved).sum(axis=0))


def level_at(
    a: Arrays, place: tuple[Configuration, Derived], coefficient: Array, index: Array, sides: Sides | None = None
) -> AnyLevel:
    """The level of some contacts (``index``) and the joints at a state; sparse if their ``sides`` are given."""
    part = a if index.size == a.contacts.kind.size else a._replace(contacts=a.contacts.take(index))
    friction = part.contacts.friction
    if sides is None:
        return _level_with_bearings(part, place, coefficient)
    (c, d), held = place, coefficient.size > 0
    masses = as_matrix(a, mass_blocks(a), None, velocity_count(a))
    joints = sparse.csr_array((0, masses.shape[1]))
    if held:
        joints = sparse.csr_array(constraint_matrix(a, c.R, coefficient, arm=d.arm, vector=d.vector))
    return SparseLevel(masses, joints, sparse_contact_rows(part, c, d, sides), friction)


def _level_with_bearings(a: Arrays, place: tuple[Configuration, Derived], coefficient: Array) -> Level:
    """The level of all contacts, bearings and joints of the arrays at a state."""
    (c, d), bearings, count = place, a.bearings, a.contacts.kind.size
    rows = contact_rows(a, c, d) if count else np.zeros((0, velocity_count(a)))
    if not bearings.number:
        return level_of_rows(a, place, coefficient, (rows, a.contacts.friction))
    slips = bearing_rates(a, c, d).reshape(*bearings.spring.shape, -1)
    friction = np.concatenate([a.contacts.friction, bearings.friction])
    level = level_of_rows(a, place, coefficient, (with_bearings(rows, count, slips), friction))
    by = level.reactions(np.eye(len(level.rows)))[bearings.row]
    return level._replace(pressed=Pressed(np.zeros(len(by)), by, bearings.owner, bearings.number))


def level_of_rows(
    a: Arrays, place: tuple[Configuration, Derived], coefficient: Array, struck: tuple[Array, Array]
) -> Level:
    """The level of given rows H with their friction coefficients (``struck``), and the joints, at a state."""
    (c, d), (rows, friction) = place, struck
    lower = cholesky(dense(mass_of(a, c.u)), lower=True)
    G = dense(constraint_matrix(a, c.R, coefficient, arm=d.arm, vector=d.vector))
    joints = solve_triangular(lower, G.T, lower=True).T if len(G) else G
    spread = solve_triangular(lower, rows.T, lower=True)
    basis = _range(joints)
    spread = spread - basis @ (basis.T @ spread)
    return Level(rows, spread, spread.T @ spread, lower, joints, basis, friction)


def contact_rows(a: Arrays, c: Configuration, d: Derived) -> Array:
    """Rows of gap rates and slip rates with respect to velocities, normal rows first; without friction no slip rows."""
    gaps = gaps_at(a, c, d)
    nodes = node_rows(a, world_spin_levers(a, c.R, d.arm), c.R[a.node_body])
    vectors = vector_rows(a, nodes)
    rows = [dense(gap_rows(gaps.end, vectors))]
    if a.contacts.friction.any():
        rows += [dense(row) for row in slip_rows(a, vectors[0], _tangents_at(a, gaps), c.R)]
    return np.vstack(rows)


def sparse_contact_rows(a: Arrays, c: Configuration, d: Derived, sides: Sides) -> Any:
    """Rows as in :func:`contact_rows`, sparse, from blocks of rigid bodies."""
    gaps = gaps_at(a, c, d)
    vectors = vector_blocks(a, sides, world_spin_levers(a, c.R, d.arm))
    rows = [gap_blocks(gaps.end, vectors)]
    if a.contacts.friction.any():
        assert vectors[0] is not None
        rows += slip_blocks(a, sides, vectors[0], _tangents_at(a, gaps), c.R)
    return sparse.csr_array(sparse.vstack([as_rows(a, sides, row, velocity_count(a)) for row in rows]))


def _tangents_at(a: Arrays, gaps: Gaps) -> Touch:
    tangent, arm = tangents(a.contacts, gaps)
    none: Any = np.zeros(0)
    return Touch(a.contacts, gaps, none, none, none, tangent, arm, none, none)


def _range(rows: Array) -> Array:
    """Orthonormal basis (n, r) of the space of the rows."""
    if not rows.shape[0]:
        return np.zeros((rows.shape[1], 0))
    length = np.linalg.norm(rows, axis=1)
    _, values, right = np.linalg.svd(rows / np.where(length > 0.0, length, 1.0)[:, None], full_matrices=False)
    basis: Array = right[values > RANK * values.max(initial=0.0)].T
    return basis
