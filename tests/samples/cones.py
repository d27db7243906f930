"""Contact laws with Coulomb's friction cones: defect of impulses, and semismooth Newton steps on it.

Vectors have all normal entries first, then those along each tangent. With steps r ≈ 1/D of each contact, the natural
map

    Λ_N − max(Λ_N − r_N y_N, 0),    Λ_T − prox(Λ_T − r_T y_T),  prox onto the disc of radius μ max(Λ_N, 0)

is zero if the impulses Λ and the rates y satisfy the contact laws. It is linear as long as the sets of open, sticking
and slipping contacts do not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import get_lapack_funcs

from flexph.numerics.arrays import Array

TINY = 1e-300
RELAXED = 1.0, 1.3, 0.7
"""Relaxation factors of Gauss-Seidel sweeps, tried one after the other."""
WEAK = 0.03
"""Relative coupling of two contacts in D below which sweeps update both at once."""
getrf, getrs = get_lapack_funcs(("getrf", "getrs"), dtype=np.float64)


class Linear(NamedTuple):
    """The linearised conditions S y + T Λ = 0 on the contact sets of an iterate, and their defects ((1 + t)c,).

    The normal condition is y_N = 0, for ``open`` contacts Λ_N = 0. The derivative of the tangential conditions is
    ``on_rates`` (t, t, c) dy_T + ``on_impulses`` (t, t, c) dΛ_T − ``on_normal`` (t, c) dΛ_N. Defects are rates [m/s].
    """

    open: Array
    on_rates: Array
    on_impulses: Array
    on_normal: Array
    defect: Array


class Cones(NamedTuple):
    """Friction coefficients μ, and normal and tangential steps r of the natural map, all (c,)."""

    friction: Array
    normal_step: Array
    tangent_step: Array

    @property
    def contacts(self) -> int:
        """Number of contacts."""
        return int(self.friction.size)

    def split(self, values: Array) -> tuple[Array, Array]:
        """Normal (c,) and tangential (t, c) parts."""
        return values[: self.contacts], values[self.contacts :].reshape(-1, self.contacts)

    def of(self, index: Array) -> Cones:
        """The laws of some of the contacts."""
        return Cones(*(part[index] for part in self))

    @np.errstate(over="ignore", invalid="ignore")  # ratios with tiny denominators
    def missed(self, impulses: Array, rates: Array) -> Array:
        """Defect of the contact laws: the natural map divided by its steps, ((1 + t)c,) [m/s]."""
        (normal, friction), (y_n, y_t) = self.split(impulses), self.split(rates)
        left = (normal - np.maximum(normal - self.normal_step * y_n, 0.0)) / self.normal_step
        if not friction.size:
            return left
        trial, size, bound = self._trial(normal, friction, y_t)
        wanted = trial * np.minimum(1.0, bound / size)
        return np.concatenate([left, ((friction - wanted) / self.tangent_step).ravel()])

    @np.errstate(over="ignore", invalid="ignore")
    def linear(self, impulses: Array, rates: Array) -> Linear:
        """The linearised conditions on the contact sets of an iterate."""
        (normal, friction), (y_n, y_t), t = self.split(impulses), self.split(rates), impulses.size // self.contacts - 1
        open_, r = normal - self.normal_step * y_n <= 0.0, self.tangent_step
        left = np.where(open_, normal / self.normal_step, y_n)
        if not t:
            nothing = np.zeros((0, 0, self.contacts))
            return Linear(open_, nothing, nothing, np.zeros((0, self.contacts)), left)
        trial, size, bound = self._trial(normal, friction, y_t)
        none = open_ | (self.friction == 0.0)
        slips, along, unit = ~none & (size > bound), trial / size, np.eye(t)[:, :, None]
        # a slipping contact: Λ_T − μΛ_N d = 0 over r_T, d the direction of Λ_T − r_T y_T
        turning = np.where(slips, bound / size, 0.0) * (unit - along[:, None] * along)
        on_rates = np.where(none, 0.0, np.where(slips, turning, unit))
        on_impulses = np.where(none, unit, np.where(slips, unit - turning, 0.0)) / r
        on_normal = np.where(slips, self.friction * along / r, 0.0)
        rubbed = np.where(none, friction / r, np.where(slips, (friction - bound * along) / r, y_t))
        return Linear(open_, on_rates, on_impulses, on_normal, np.concatenate([left, rubbed.ravel()]))

    def _trial(self, normal: Array, friction: Array, rates: Array) -> tuple[Array, Array, Array]:
        """The trial impulse Λ_T − r_T y_T, its size, and the friction limit μ Λ_N."""
        trial = friction - self.tangent_step * rates
        size = np.abs(trial[0]) if len(trial) == 1 else np.sqrt(np.einsum("tc,tc->c", trial, trial))
        return trial, np.maximum(size, TINY), self.friction * np.maximum(normal, 0.0)


def cones(friction: Array, diagonal: Array) -> Cones:
    """Contact laws with friction coefficients (c,), and steps from the diagonal ((1 + t)c,) of D."""
    normal, tangent = diagonal[: friction.size], diagonal[friction.size :].reshape(-1, friction.size)
    along = tangent.max(axis=0, initial=0.0)
    normal_step, tangent_step = (1.0 / np.where(one > 0.0, one, 1.0) for one in (normal, along))
    return Cones(friction, normal_step, tangent_step)


class NewtonSteps:
    """Newton steps on D Λ + b and the contact laws; the matrix is reused as long as the contact sets do not change.

    Impulses of open contacts become zero; the others satisfy their conditions. ``frictional``: mask (c,) of contacts
    with friction.
    """

    def __init__(self, D: Array, frictional: Array) -> None:
        self._D, self._frictional, self._sets = D, frictional, b""
        self._own, self._lu = np.zeros(0, dtype=int), (np.zeros(0), np.zeros(0))

    def change(self, now: Linear, x: Array) -> Array:
        """The Newton step from impulses x; raises LinAlgError if the conditions are linearly dependent."""
        sets = b"".join(part.tobytes() for part in (now.open, now.on_rates, now.on_impulses, now.on_normal))
        if sets != self._sets:
            self._factor(now)
            self._sets = sets
        own, change, missed = self._own, -x, now.defect
        change[own] = 0.0
        if change.any():
            missed = missed + _conditions(now, self._D @ change)
        if own.size:
            change[own] = -getrs(*self._lu, missed[own])[0]
        return change

    def _factor(self, now: Linear) -> None:
        closed, rubs = np.flatnonzero(~now.open), np.flatnonzero(~now.open & self._frictional)
        t, count = len(now.on_normal), now.open.size
        own = np.concatenate([closed, *((1 + i) * count + rubs for i in range(t))])
        if own.size:
            rows = self._D[own][:, own]
            lu, pivots, info = getrf(_reduced(rows, now, closed, rubs) if t else rows)
            if info:
                raise np.linalg.LinAlgError("conditions of contacts are linearly dependent")
            self._lu = lu, pivots
        self._own = own


def _conditions(now: Linear, rates: Array) -> Array:
    """Contribution S y of rates to the conditions of closed contacts."""
    rate = rates.reshape(-1, now.open.size)
    along = [np.sum(now.on_rates[i] * rate[1:], axis=0) for i in range(len(now.on_normal))]
    return np.concatenate([rate[0], *along])


def _reduced(rows: Array, now: Linear, closed: Array, rubs: Array) -> Array:
    """Jacobian of the conditions of closed contacts: normal rows first, then the friction rows of each tangent."""
    t, n, f = len(now.on_normal), closed.size, rubs.size
    matrix, at = np.empty_like(rows), np.arange(f)
    matrix[:n] = rows[:n]
    moved = np.einsum("ijf,jfm->ifm", now.on_rates[:, :, rubs], rows[n:].reshape(t, f, len(rows)))
    matrix[n:] = moved.reshape(t * f, len(rows))
    for i, j in np.ndindex(t, t):
        matrix[n + i * f + at, n + j * f + at] += now.on_impulses[i, j, rubs]
    for i in range(t):
        matrix[n + i * f + at, np.searchsorted(closed, rubs)] -= now.on_normal[i, rubs]
    return matrix


def uncoupled_groups(D: Array, count: int) -> list[Array]:
    """Groups of contacts that are not, or only weakly, coupled within a group."""
    own = np.sqrt(np.maximum(D.diagonal(), TINY))
    acts = np.abs(D) > WEAK * own * own[:, None]
    acting = np.asarray(acts.reshape(*[own.size // count, count] * 2).any(axis=(0, 2)))
    group = np.full(count, -1)
    for k in range(count):
        group[k] = np.setdiff1d(np.arange(count), group[acting[k]])[0]
    return [np.flatnonzero(group == one) for one in range(group.max() + 1)]


def gauss_seidel(
    laws: Cones, by: tuple[Array, Array], impulses: Array, sweeps: int, groups: Sequence[Array], *, share: float = 1.0
) -> Array:
    """Impulses after Gauss-Seidel sweeps, alternately forwards and backwards, over groups of contacts; ``by``: D and b.

    Each contact gets the impulses that satisfy its law with the others held constant. Used if Newton's method cycles:
    sweeps visit further contact sets until one is found from which Newton's method converges.
    """
    x, tangents, (D, b) = impulses.copy(), np.arange(laws.contacts, impulses.size).reshape(-1, laws.contacts), by
    parts = []
    for own in groups:
        rubs = tangents[:, own].ravel()
        steps = share * laws.normal_step[own], share * np.tile(laws.tangent_step[own], len(tangents))
        parts.append((own, rubs, (D[own], D[rubs]), (b[own], b[rubs]), steps))
    for sweep in range(sweeps):
        for own, rubs, (on_normal, on_tangent), (b_n, b_t), (r_n, r_t) in parts[:: 1 - 2 * (sweep % 2)]:
            x[own] = normal = np.maximum(x[own] - r_n * (b_n + on_normal @ x), 0.0)
            if rubs.size:
                trial = (x[rubs] - r_t * (b_t + on_tangent @ x)).reshape(-1, own.size)
                size = np.maximum(np.sqrt(np.einsum("tc,tc->c", trial, trial)), TINY)
                x[rubs] = (trial * np.minimum(1.0, laws.friction[own] * normal / size)).ravel()
    return x
