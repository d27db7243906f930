"""Friction of compliant contacts: by an anchor, or by a smooth law.

An anchor is a spring of stiffness k along the contact; its force f, d numbers in world axes, is a state, for groups in
a table (see gap_arrays). Over a step with the slip Δs under the normal force P, with the trial force F = f₀ + ½kΔs,

    |F| ≤ μP:   friction −F,           f₁ = f₀ + kΔs                                        (stick)
    else:       friction −F, |F| = μP, f₁ = 2F − f₀, cut off at |f₁| = μP                   (slip)

and f₁ = 0 if the contact opens. With V = f²/2k the dissipation is F·Δs − ΔV: zero in stick, ≥ 2F·(F_trial − F)/k ≥ 0 in
slip, plus the energy of the anchor when the contact opens. An anchor force rotates with its contact, with constant
size. The smooth law is −μPs/√(s² + (hv)²).
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from .gap_arrays import Contacts
from .gaps import TINY, Friction


def anchored(c: Contacts, forces: Array) -> Array:
    """Energies of the anchors (c,) [J], from the forces of springs and anchors."""
    own = c.anchor >= 0
    size = anchors_in(c, forces, c.fixed.shape[2])
    energy: Array = np.where(own, 0.5 * np.vecdot(size, size) / np.where(own, c.holding, 1.0), 0.0)
    return energy


def with_anchors(c: Contacts, forces: Array, anchors: Array) -> Array:
    """Forces of springs and anchors with the anchor forces replaced by ``anchors`` (c, d).

    In groups, all other pairs lose their anchors. Raises StepFailed if more pairs of a group stick than its table has
    rows.
    """
    own = (c.anchor >= 0) & (c.pair == 0)
    forces = forces.copy()
    forces[c.anchor[own, None] + np.arange(anchors.shape[1])] = anchors[own]
    for of_group in _by_table(c.anchor, c.pair):
        holds = of_group[anchors[of_group].any(axis=1)]
        first, rows = c.anchor[of_group[0]], c.rows[of_group[0]]
        if holds.size > rows:
            raise StepFailed(f"more than {rows} pairs of a group stick by friction: take a slip_velocity", 0, 0.0)
        table = np.zeros((rows, 1 + anchors.shape[1]))
        table[: holds.size, 0], table[: holds.size, 1:] = c.pair[holds], anchors[holds]
        forces[first : first + table.size] = table.ravel()
    return forces


def anchors_in(c: Contacts, forces: Array, dim: int) -> Array:
    """Forces of the anchors (c, d), zero for contacts without one."""
    padded = np.concatenate([forces, np.zeros(dim)])
    first = np.where((c.anchor >= 0) & (c.pair == 0), c.anchor, forces.size)
    return padded[first[:, None] + np.arange(dim)] + in_tables((c.anchor, c.rows, c.pair), forces, dim)


def in_tables(places: tuple[Array, Array, Array], forces: Array, dim: int) -> Array:
    """Anchor forces (c, d) of pairs from tables; ``places``: first indices and rows of tables, numbers of pairs."""
    firsts, rows, pair = places
    held = np.zeros((pair.size, dim))
    for own in _by_table(firsts, pair):
        number, of_pairs = held_in(forces, (int(firsts[own[0]]), int(rows[own[0]])), dim)
        place = np.searchsorted(number, pair[own])
        has = np.append(number, 0)[place] == pair[own]
        held[own[has]] = of_pairs[place[has]]
    return held


def held_in(forces: Array, table: tuple[int, int], dim: int) -> tuple[Array, Array]:
    """Numbers of the sticking pairs in a table, and their forces (k, d); ``table``: its first index and its rows."""
    first, rows = table
    values = forces[first : first + rows * (1 + dim)].reshape(rows, 1 + dim)
    count = np.count_nonzero(values[:, 0])
    return values[:count, 0].astype(np.int64), values[:count, 1:]


def _by_table(firsts: Array, pair: Array) -> list[Array]:
    """Indices of the pairs in each table."""
    own = np.flatnonzero(pair)
    if not own.size:
        return []
    return [own[firsts[own] == first] for first in np.unique(firsts[own])]


def compliant_friction(
    c: Contacts, normal: tuple[Array, Array], h: float, along: tuple[Array, Array], held: Array
) -> Friction:
    """Friction in a step.

    ``normal``: gaps at the end and normal forces (c,); ``along``: tangents (t, c, d) and slips (t, c); ``held``: forces
    of springs and anchors at the start.
    """
    (gap, force), (tangent, slip) = normal, along
    smooth, hold = _smooth(c, force, (tangent, slip), h), c.anchor >= 0
    if not hold.any():
        return smooth
    unit = tangent / np.maximum(np.linalg.norm(tangent, axis=2, keepdims=True), TINY)
    before = _turned(anchors_in(c, held, tangent.shape[2]), unit)
    trial, bound = before + 0.5 * c.holding * slip, c.friction * force
    size = np.linalg.norm(trial, axis=0)
    slips = size > bound
    safe = np.where(slips, size, 1.0)
    direction = trial / safe
    own = np.where(slips, bound * direction, trial)
    after = np.where(slips, 2.0 * own - before, before + c.holding * slip)
    length = np.linalg.norm(after, axis=0)
    cut = np.where(slips & (length > bound), bound / np.where(length > 0.0, length, 1.0), 1.0)
    after = after * np.where(gap >= 0.0, 0.0, cut)
    identity = np.eye(len(slip))[:, :, None]
    turning = np.where(slips, bound / safe, 1.0) * (identity - np.where(slips, direction[:, None] * direction, 0.0))
    return Friction(
        np.where(hold, -own, smooth.force),
        np.where(hold, 0.5 * c.holding * turning, smooth.by_slip),
        np.where(hold, np.where(slips, -c.friction * direction, 0.0), smooth.by_normal),
        np.einsum("tc,tcd->cd", after, unit),
    )


def friction_at(c: Contacts, normal: Array, slip: Array, held: Array) -> Array:
    """Instantaneous friction (c,) [N], from normal forces, slip velocities (t, c) and forces of springs and anchors.

    For an anchor |f| ≤ μP, for the smooth law μP s/√(s² + v²).
    """
    bound, speed, hold = c.friction * normal, np.linalg.norm(slip, axis=0), c.anchor >= 0
    smooth: Array = bound * speed / np.where(hold, 1.0, np.hypot(speed, c.slipping))
    if not hold.any():
        return smooth
    anchor = np.linalg.norm(anchors_in(c, held, c.fixed.shape[2]), axis=1)
    sizes: Array = np.where(hold, np.minimum(anchor, bound), smooth)
    return sizes


def _turned(forces: Array, unit: Array) -> Array:
    """Components (t, c) along unit tangents (t, c, d) of forces (c, d), rotated to the tangents with constant size."""
    parts = np.vecdot(unit, forces)
    length, size = np.linalg.norm(parts, axis=0), np.linalg.norm(forces, axis=1)
    parts[0] = np.where((length == 0.0) & (size > 0.0), size, parts[0])
    turned: Array = parts * np.where(length > 0.0, size / np.where(length > 0.0, length, 1.0), 1.0)
    return turned


def _smooth(c: Contacts, force: Array, along: tuple[Array, Array], h: float) -> Friction:
    """Friction by the smooth law."""
    tangent, slip = along
    size = np.sqrt(np.sum(slip**2, axis=0) + (h * c.slipping) ** 2)
    way = slip / size
    by_slip = c.friction * force / size * (np.eye(len(slip))[:, :, None] - way[:, None] * way)
    by_normal = -c.friction * way
    return Friction(force * by_normal, by_slip, by_normal, np.zeros(tangent.shape[1:]))
