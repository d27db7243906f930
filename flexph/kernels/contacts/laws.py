"""Potentials of compliant contacts, their forces at a state, and their friction by an anchor or a smooth law.

With δ = max(−g, 0) and V(δ) = K δⁿ⁺¹/(n + 1), n = 1 or 3/2, loops take the discrete gradient of V over a step: the
elastic force is F = −ΔV/Δg, free of cancellation,

    n = 3/2:  F = ⅖K(a⁴ + a³b + a²b² + ab³ + b⁴)/(a + b),  a = √δ₀, b = √δ₁;      n = 1:  F = ½K(δ₀ + δ₁)

if both ends of the step are in contact. If one is, with the depth δ_in, and the other has the gap g_out > 0, then
F = V(δ_in)/(g_out + δ_in). With damping the force is

    P = max(F (1 − c Δg/h) − d χ Δg/h, 0),  χ the fraction of the path in contact,

which is never tensile; (P − F) Δg ≤ 0 always, even if the force is cut off.

An anchor is a spring of stiffness k along the contact. Its force f, d numbers in world axes, is part of the state; for
groups of contacts these forces are kept in a table (see gap_arrays). Over a step with the slip Δs under the normal
force P, the trial force is F_trial = f₀ + ½kΔs, and the friction is −F with

    |F_trial| ≤ μP:  F = F_trial,                  f₁ = f₀ + kΔs                                     (stick)
    else:            F = μP F_trial/|F_trial|,     f₁ = 2F − f₀, shortened to |f₁| = μP if longer    (slip)

and f₁ = 0 if the contact opens. With V = f²/2k the dissipation is F·Δs − ΔV: zero in stick, ≥ 2F·(F_trial − F)/k ≥ 0 in
slip, plus the energy of the anchor when the contact opens. An anchor force rotates with its contact, with constant
size. The smooth law is −μPΔs/√(|Δs|² + (hv)²), with the speed v of its transition.
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from .gap_arrays import Contacts


def stored(c: Contacts, gap: Array) -> Array:
    """Elastic energies V of the contacts (c,) [J] at their gaps (c,)."""
    depth = np.maximum(-gap, 0.0)
    return c.stiffness * depth ** (c.exponent + 1.0) / (c.exponent + 1.0)


def forces_at(c: Contacts, gap: Array, rate: Array) -> Array:
    """Normal forces (c,) [N] of compliant contacts from their gaps and gap rates (c,); zero for rigid contacts.

    The force is P = max(K δⁿ (1 − c ġ) − d ġ, 0) for δ > 0. It is the limit of the force of a vanishing step.
    """
    depth = np.maximum(-gap, 0.0)
    force = c.stiffness * depth**c.exponent * (1.0 - c.loss * rate) - c.damping * (depth > 0.0) * rate
    return np.maximum(force, 0.0)


def anchored(c: Contacts, forces: Array) -> Array:
    """Stored energies f²/2k of the friction anchors (c,) [J]; zero for contacts without an anchor.

    ``forces`` is the part of the state that has the forces of springs and anchors.
    """
    has_anchor = c.anchor >= 0
    size = anchors_in(c, forces, c.fixed.shape[2])
    energy: Array = np.where(has_anchor, 0.5 * np.vecdot(size, size) / np.where(has_anchor, c.holding, 1.0), 0.0)
    return energy


def anchors_in(c: Contacts, forces: Array, dim: int) -> Array:
    """Friction forces of the anchors (c, d) [N]; zero for contacts without an anchor.

    ``forces`` is the part of the state that has the forces of springs and anchors.
    """
    padded = np.concatenate([forces, np.zeros(dim)])
    first = np.where((c.anchor >= 0) & (c.pair == 0), c.anchor, forces.size)
    return padded[first[:, None] + np.arange(dim)] + in_tables((c.anchor, c.rows, c.pair), forces, dim)


def in_tables(places: tuple[Array, Array, Array], forces: Array, dim: int) -> Array:
    """Anchor forces (c, d) of contacts between members of groups; zero for pairs that do not stick, and other contacts.

    ``places`` are, for each contact, the index in ``forces`` at which the table of its group begins, the number of rows
    of this table, and the number of its pair from 1 (0 for contacts of no group).
    """
    firsts, rows, pair = places
    held = np.zeros((pair.size, dim))
    for pairs in _by_table(firsts, pair):
        number, of_pairs = held_in(forces, (int(firsts[pairs[0]]), int(rows[pairs[0]])), dim)
        place = np.searchsorted(number, pair[pairs])
        has = np.append(number, 0)[place] == pair[pairs]
        held[pairs[has]] = of_pairs[place[has]]
    return held


def held_in(forces: Array, table: tuple[int, int], dim: int) -> tuple[Array, Array]:
    """Numbers (k,) of the k pairs in the anchor table of a group, counted from 1, and their anchor forces (k, d).

    ``table`` is the index in ``forces`` at which the table begins, and its number of rows.
    """
    first, rows = table
    values = forces[first : first + rows * (1 + dim)].reshape(rows, 1 + dim)
    count = np.count_nonzero(values[:, 0])
    return values[:count, 0].astype(np.int64), values[:count, 1:]


def _by_table(firsts: Array, pair: Array) -> list[Array]:
    """Indices of the contacts that are pairs of groups, one array for each table.

    ``firsts`` (c,) are the indices at which the tables begin, ``pair`` (c,) the numbers of the pairs, 0 for other
    contacts.
    """
    numbers = np.flatnonzero(pair)
    if not numbers.size:
        return []
    return [numbers[firsts[numbers] == first] for first in np.unique(firsts[numbers])]


def friction_at(c: Contacts, normal: Array, slip: Array, held: Array) -> Array:
    """Magnitudes of the friction forces (c,) [N] at a state.

    ``normal`` (c,) are the normal forces P, ``slip`` (t, c) the slip velocities along the tangents, and ``held`` is the
    part of the state with the forces of springs and anchors. An anchor with the force f has the friction |f|, at most
    μP. A smooth law has μP s/√(s² + v²) with the slip speed s and its transition speed v.
    """
    bound, speed, hold = c.friction * normal, np.linalg.norm(slip, axis=0), c.anchor >= 0
    smooth: Array = bound * speed / np.where(hold, 1.0, np.hypot(speed, c.slipping))
    if not hold.any():
        return smooth
    anchor = np.linalg.norm(anchors_in(c, held, c.fixed.shape[2]), axis=1)
    sizes: Array = np.where(hold, np.minimum(anchor, bound), smooth)
    return sizes
