"""Points on curves through points of a body, which move and bend with it.

The curve is p(s) = Σ_k c_k(s) P_k, piecewise polynomial in s. In a frame of three (two) directions D_j of the body the
point P stands apart from it by V_j(s) = Σ_k c_k(s) Π_jk, Π_jk = D_j·(P − P_k), as Σ_k c_k = 1; with T = dV/ds,

    V·T = 0      gives s, the foot of P on the curve,        n_i·V(s) = 0,  n_i ⟂ T,      are the constraints.

Over a step from s₀ to s₁ with the mean coefficients c̄ and C = Δc/Δs, exact of polynomials,

    ΔV = Σ_k c̄_k ΔΠ_k + τ Δs,    τ = Σ_k C_k Π̄_k,

so forces Σ_i λ_i n̄_i c̄_k on Π_k with n̄_i ⟂ τ do no work on the way of a point that stays on the curve, at any step
size. Products keep both momenta. There Δs = b·Σ_k c̄_k ΔΠ_k with b = −τ/|τ|²: forces F b c̄_k on Π_k do the work F Δs,
those of a motor along the curve, or of the multiplier of a place that is prescribed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from .curves import Curve


class OnCurve(NamedTuple):
    """A point on a curve over a step: places s, c̄, c₁, C, n̄ (d − 1, d), what it misses at the end, and slopes.

    ``resting`` (d − 1, d) are n at the start; ``way`` is τ, ``moved`` ∂s₁/∂Π (d, K). Where the place is ``driven``, its
    row is the last one.
    """

    places: tuple[float, float]
    mean: Array
    last: Array
    chord: Array
    normals: Array
    resting: Array
    way: Array
    apart: Array
    tangent: Array
    moved: Array
    driven: bool

    @property
    def gain(self) -> Array:
        """Forces on the products for unit multipliers, (rows, d, K)."""
        rows = np.vstack([self.normals, self.going]) if self.driven else self.normals
        own: Array = rows[:, :, None] * self.mean
        return own

    @property
    def going(self) -> Array:
        """b (d,): the place goes on by b·Σ c̄ ΔΠ."""
        going: Array = -self.way / (self.way @ self.way)
        return going

    @property
    def thrust(self) -> Array:
        """Forces on the products of a unit force along the curve, (d, K)."""
        thrust: Array = np.multiply.outer(self.going, self.mean)
        return thrust

    @property
    def missed(self) -> Array:
        """How far the point is from the curve at the end, and where along it, if driven, (rows,)."""
        own: Array = self.normals @ self.apart
        return np.append(own, self.places[1]) if self.driven else own

    @property
    def along(self) -> Array:
        """How far the point slips along its curve with changes of the products, towards smaller s, (d, K)."""
        own: Array = (self.way / np.linalg.norm(self.way))[:, None] * self.mean
        return own


def on_curve(curve: Curve, before: Array, after: Array, *, known: OnCurve | None = None) -> OnCurve:
    """A point on a curve over a step from where it is ``known``, from all products (p,) at both ends.

    At a state, of which nothing is known, both are the same.
    """
    start, end = before[curve.products], after[curve.products]
    s0 = curve.foot(start) if known is None else known.places[1]
    s1 = s0 if known is None else curve.foot_from(end, s0)
    c1, slope, bend = curve.derivatives(s1)
    chord = slope if s1 == s0 else curve.mean_slope(s0, s1)
    way = 0.5 * (start + end) @ chord
    along = way / np.linalg.norm(way)
    apart, tangent = end @ c1, end @ slope
    c0, resting = (c1, _normals(tangent)) if known is None else (known.last, known.resting)
    curved = tangent @ tangent + apart @ (end @ bend)
    moved = -(tangent[:, None] * c1 + apart[:, None] * slope) / (curved if curved > 0.0 else tangent @ tangent)
    normals = resting - (resting @ along)[:, None] * along
    return OnCurve((s0, s1), 0.5 * (c0 + c1), c1, chord, normals, resting, way, apart, tangent, moved, curve.driven)


def _normals(tangent: Array) -> Array:
    """Unit vectors across a tangent, (d − 1, d): in space the first is across the axis that is most across it."""
    t = tangent / np.linalg.norm(tangent)
    if t.size == 2:
        return np.array([[-t[1], t[0]]])
    axis = np.eye(3)[int(np.argmin(np.abs(t)))]
    first = axis - (t @ axis) * t
    first = first / np.linalg.norm(first)
    return np.array([first, np.cross(t, first)])


def all_at_state(curves: tuple[Curve, ...], product: Array) -> tuple[OnCurve, ...]:
    """All points on curves at a state, see :func:`on_curve`."""
    return tuple(on_curve(curve, product, product) for curve in curves)


def all_over_step(
    curves: tuple[Curve, ...], known: tuple[OnCurve, ...], before: Array, after: Array
) -> tuple[OnCurve, ...]:
    """All points on curves over a step that starts where they are ``known``, see :func:`on_curve`."""
    return tuple(on_curve(curve, before, after, known=at) for curve, at in zip(curves, known, strict=True))


def add_curve_forces(
    curves: tuple[Curve, ...], own: tuple[OnCurve, ...], acting: tuple[Array, Array], on_product: Array
) -> None:
    """Add the forces of the multipliers λ (g,) and of the inputs (i,) to those on products (in place)."""
    lam, inputs = acting
    for curve, at in zip(curves, own, strict=True):
        np.add.at(on_product, curve.products, np.einsum("i,ijk->jk", lam[curve.rows], at.gain))
        if curve.input >= 0:
            np.add.at(on_product, curve.products, inputs[curve.input] * at.thrust)


def curve_inputs(curves: tuple[Curve, ...], own: tuple[OnCurve, ...], shape: tuple[int, int]) -> Array:
    """Forces on products for unit inputs along curves, (p, i)."""
    columns = np.zeros(shape)
    for curve, at in zip(curves, own, strict=True):
        if curve.input >= 0:
            np.add.at(columns[:, curve.input], curve.products, at.thrust)
    return columns


def curve_gaps(curves: tuple[Curve, ...], own: tuple[OnCurve, ...], count: int) -> Array:
    """How far the points are from their curves at the end of a step, and places of driven ones, (g,); else zero."""
    gaps = np.zeros(count)
    for curve, at in zip(curves, own, strict=True):
        gaps[curve.rows] = at.missed
    return gaps


def curve_sums(curves: tuple[Curve, ...], own: tuple[OnCurve, ...], change: Array, count: int) -> Array:
    """Σ gain ΔΠ of the rows, (g,), from changes or rates of the products."""
    sums = np.zeros(count)
    for curve, at in zip(curves, own, strict=True):
        sums[curve.rows] = np.einsum("ijk,jk->i", at.gain, change[curve.products])
    return sums


def curve_weights(
    curves: tuple[Curve, ...], own: tuple[OnCurve, ...], shape: tuple[int, int], means: Array | None = None
) -> tuple[Array, Array]:
    """Rows (g, p): forces on products for unit multipliers, and the slopes of the gaps with the products at the end.

    ``means`` are the mean products of a step (p,); without them, of points on their curves, normals need not turn.
    """
    mean, last = np.zeros(shape), np.zeros(shape)
    for curve, at in zip(curves, own, strict=True):
        slope = at.normals[:, :, None] * at.last + (at.normals @ at.tangent)[:, None, None] * at.moved
        if means is not None:
            turning = [_turning(at, normal).T @ at.apart for normal in at.resting]
            slope -= _way_slopes(curve, at, np.array(turning), means)
        slope, gain = np.concatenate([slope, at.moved[None]]) if at.driven else slope, at.gain
        for i, row in enumerate(curve.rows):
            np.add.at(mean[row], curve.products, gain[i])
            np.add.at(last[row], curve.products, slope[i])
    return mean, last


def add_curve_stiffness(
    curves: tuple[Curve, ...], own: tuple[OnCurve, ...], acting: tuple[Array, Array], *, means: Array, form: Array
) -> None:
    """Add ∂(force on products)/∂(products at the end) to a form (p, p), in place; ``means`` are the mean products.

    ``acting`` are the multipliers (g,) and the inputs (i,).
    """
    lam, inputs = acting
    for curve, at in zip(curves, own, strict=True):
        across = lam[curve.rows[: len(at.normals)]]
        push, turning = across @ at.normals, _turning(at, across @ at.resting)
        if at.driven or curve.input >= 0:
            along = lam[curve.rows[-1]] if at.driven else inputs[curve.input]
            push, turning = push + along * at.going, turning + along * _reversing(at)
        slope = curve.shapes(at.places[1], 1)
        change = np.einsum("jk,lm->jklm", 0.5 * push[:, None] * slope, at.moved)
        change -= np.einsum("jlm,k->jklm", _way_slopes(curve, at, turning, means), at.mean)
        index = curve.products.ravel()
        np.add.at(form, (index[:, None], index[None]), change.reshape(index.size, index.size))


def along_slopes(curve: Curve, at: OnCurve, means: Array, change: Array) -> tuple[Array, Array]:
    """∂(along)/∂Π at the end of a step, of what it gives of a change (d, K) of the products, and as (d, K, d, K)."""
    size = float(np.linalg.norm(at.way))
    along = at.way / size
    turned = _way_slopes(curve, at, (np.eye(along.size) - np.outer(along, along)) / size, means)
    shifted = 0.5 * np.multiply.outer(curve.shapes(at.places[1], 1), at.moved)
    slip = np.einsum("j,jlm->lm", change @ at.mean, turned) + np.einsum("k,klm->lm", along @ change, shifted)
    return slip, np.einsum("jlm,k->jklm", turned, at.mean) + np.multiply.outer(along, shifted)


def _turning(at: OnCurve, vector: Array) -> Array:
    """A with δn̄ = −A δτ of the part of a vector (d,) across τ."""
    size = float(np.linalg.norm(at.way))
    along = at.way / size
    across = np.eye(along.size) - np.outer(along, along)
    turning: Array = ((along @ vector) * across + np.outer(along, across @ vector)) / size
    return turning


def _reversing(at: OnCurve) -> Array:
    """A with δb = −A δτ, (d, d)."""
    square = float(at.way @ at.way)
    reversing: Array = (np.eye(at.way.size) - 2.0 * np.outer(at.way, at.way) / square) / square
    return reversing


def _way_slopes(curve: Curve, at: OnCurve, rows: Array, means: Array) -> Array:
    """Rows (r, d) of ∂τ/∂Π at the end of a step, (r, d, K)."""
    by_place = means[curve.products] @ curve.mean_slope_change(*at.places)
    slopes: Array = 0.5 * rows[:, :, None] * at.chord + (rows @ by_place)[:, None, None] * at.moved
    return slopes
