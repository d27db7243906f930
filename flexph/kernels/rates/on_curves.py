"""Points on curves through points of a body, which move and deform with it.

The curve is p(s) = Σ_k c_k(s) P_k, piecewise polynomial in s. The vector P − p(s) to a point P has, along three (in the
plane two) directions D_j of the body, the components V_j(s) = Σ_k c_k(s) Π_jk with Π_jk = D_j·(P − P_k), as
Σ_k c_k = 1. With T = dV/ds,

    V·T = 0      gives s, the foot of P on the curve,        n_i·V(s) = 0,  n_i ⟂ T,      are the constraints.

Over a step from s₀ to s₁ with the mean coefficients c̄ and C = Δc/Δs, exact for polynomials,

    ΔV = Σ_k c̄_k ΔΠ_k + τ Δs,    τ = Σ_k C_k Π̄_k,

so forces Σ_i λ_i n̄_i c̄_k on Π_k with n̄_i ⟂ τ do no work on a point that stays on the curve, for any step size.
Forces on products conserve both momenta. On the curve Δs = b·Σ_k c̄_k ΔΠ_k with b = −τ/|τ|²: forces F b c̄_k on Π_k do
the work F Δs; these are the forces of a motor along the curve, or of the multiplier of a prescribed position.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from .curves import Curve


class OnCurve(NamedTuple):
    """A point on a curve over a step, with the quantities defined in the docstring of this module.

    ``places`` are s₀ and s₁, ``mean`` is c̄ (K,), ``last`` is c at s₁, ``chord`` is C, ``normals`` are n̄ (d − 1, d),
    and ``resting`` the unit normals at the start. ``way`` is τ; ``apart`` and ``tangent`` are V and T at the end.
    ``moved`` is ∂s₁/∂Π (d, K). If the position is ``driven``, the last constraint row prescribes it.
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
        """Forces on the products for unit multipliers of the constraint rows, (rows, d, K)."""
        rows = np.vstack([self.normals, self.increment_vector]) if self.driven else self.normals
        forces: Array = rows[:, :, None] * self.mean
        return forces

    @property
    def increment_vector(self) -> Array:
        """Vector b = −τ/|τ|² (d,) such that the position on the curve changes by Δs = b·Σ_k c̄_k ΔΠ_k over a step."""
        going: Array = -self.way / (self.way @ self.way)
        return going

    @property
    def thrust(self) -> Array:
        """Forces on the products for a unit force along the curve, (d, K)."""
        thrust: Array = np.multiply.outer(self.increment_vector, self.mean)
        return thrust

    @property
    def missed(self) -> Array:
        """Constraint values (rows,) at the end of the step: distances along the normals n̄, and s₁ if driven."""
        deviation: Array = self.normals @ self.apart
        return np.append(deviation, self.places[1]) if self.driven else deviation

    @property
    def along(self) -> Array:
        """Derivatives (d, K), with respect to Π, of the displacement of P along τ, which points to smaller s."""
        derivative: Array = (self.way / np.linalg.norm(self.way))[:, None] * self.mean
        return derivative


def on_curve(curve: Curve, before: Array, after: Array, *, known: OnCurve | None = None) -> OnCurve:
    """Point on a curve over a step, from all products (p,) at the start (``before``) and at the end (``after``).

    ``known`` is the result for the step before, which has the position at the start. For a single state, ``before`` and
    ``after`` are equal, and ``known`` is None.
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
    """Unit vectors normal to a tangent, (d − 1, d)."""
    t = tangent / np.linalg.norm(tangent)
    if t.size == 2:
        return np.array([[-t[1], t[0]]])
    axis = np.eye(3)[int(np.argmin(np.abs(t)))]
    first = axis - (t @ axis) * t
    first = first / np.linalg.norm(first)
    return np.array([first, np.cross(t, first)])


def all_at_state(curves: tuple[Curve, ...], product: Array) -> tuple[OnCurve, ...]:
    """All points on curves at a single state with the products (p,)."""
    return tuple(on_curve(curve, product, product) for curve in curves)


def add_curve_forces(
    curves: tuple[Curve, ...], points: tuple[OnCurve, ...], acting: tuple[Array, Array], on_product: Array
) -> None:
    """Add the forces of points on curves to the forces on products, ``on_product`` (p,), in place.

    ``acting`` are the multipliers λ of all constraint rows (g,), and the inputs (i,), which may push along curves.
    """
    lam, inputs = acting
    for curve, at in zip(curves, points, strict=True):
        np.add.at(on_product, curve.products, np.einsum("i,ijk->jk", lam[curve.rows], at.gain))
        if curve.input >= 0:
            np.add.at(on_product, curve.products, inputs[curve.input] * at.thrust)


def curve_inputs(curves: tuple[Curve, ...], points: tuple[OnCurve, ...], shape: tuple[int, int]) -> Array:
    """Matrix (p, i) of the forces on products for unit inputs; zero for inputs that do not push along a curve.

    ``shape`` is (p, i).
    """
    columns = np.zeros(shape)
    for curve, at in zip(curves, points, strict=True):
        if curve.input >= 0:
            np.add.at(columns[:, curve.input], curve.products, at.thrust)
    return columns


def curve_gaps(curves: tuple[Curve, ...], points: tuple[OnCurve, ...], count: int) -> Array:
    """Constraint values (g,) of points on curves at the end of a step; zero in the rows of other constraints.

    ``count`` is the number g of all rows.
    """
    gaps = np.zeros(count)
    for curve, at in zip(curves, points, strict=True):
        gaps[curve.rows] = at.missed
    return gaps


def curve_sums(curves: tuple[Curve, ...], points: tuple[OnCurve, ...], change: Array, count: int) -> Array:
    """Increments or rates (g,) of the constraints of points on curves; zero in the rows of other constraints.

    A row has the sum of gains times the increments or rates of its products, which are in ``change`` (p,). ``count`` is
    g.
    """
    sums = np.zeros(count)
    for curve, at in zip(curves, points, strict=True):
        sums[curve.rows] = np.einsum("ijk,jk->i", at.gain, change[curve.products])
    return sums


def curve_weights(
    curves: tuple[Curve, ...], points: tuple[OnCurve, ...], shape: tuple[int, int], means: Array | None = None
) -> tuple[Array, Array]:
    """Two matrices (g, p) of points on curves: forces on products for unit multipliers, and derivatives of constraints.

    The first is transposed: a row for each multiplier. The second has the derivatives of the constraint values with
    respect to the products at the end of the step. ``means`` are the mean products (p,) of the step; without them the
    rotation of the normals is neglected, which is exact for points on their curves. ``shape`` is (g, p).
    """
    mean, last = np.zeros(shape), np.zeros(shape)
    for curve, at in zip(curves, points, strict=True):
        slope = at.normals[:, :, None] * at.last + (at.normals @ at.tangent)[:, None, None] * at.moved
        if means is not None:
            turning = [_turning(at, normal).T @ at.apart for normal in at.resting]
            slope -= _tangent_slopes(curve, at, np.array(turning), means)
        slope, gain = np.concatenate([slope, at.moved[None]]) if at.driven else slope, at.gain
        for i, row in enumerate(curve.rows):
            np.add.at(mean[row], curve.products, gain[i])
            np.add.at(last[row], curve.products, slope[i])
    return mean, last


def add_curve_stiffness(
    curves: tuple[Curve, ...], points: tuple[OnCurve, ...], acting: tuple[Array, Array], *, means: Array, form: Array
) -> None:
    """Add the derivatives of the forces of points on curves with respect to the products at the end to ``form`` (p, p).

    They are added in place. ``acting`` are the multipliers (g,) and the inputs (i,), ``means`` the mean products (p,).
    """
    lam, inputs = acting
    for curve, at in zip(curves, points, strict=True):
        across = lam[curve.rows[: len(at.normals)]]
        push, turning = across @ at.normals, _turning(at, across @ at.resting)
        if at.driven or curve.input >= 0:
            along = lam[curve.rows[-1]] if at.driven else inputs[curve.input]
            push, turning = push + along * at.increment_vector, turning + along * _increment_slope(at)
        slope = curve.shapes(at.places[1], 1)
        change = np.einsum("jk,lm->jklm", 0.5 * push[:, None] * slope, at.moved)
        change -= np.einsum("jlm,k->jklm", _tangent_slopes(curve, at, turning, means), at.mean)
        index = curve.products.ravel()
        np.add.at(form, (index[:, None], index[None]), change.reshape(index.size, index.size))


def _turning(at: OnCurve, vector: Array) -> Array:
    """Matrix A (d, d) of the change δn̄ = −A δτ, with n̄ the component of a given vector (d,) normal to τ."""
    size = float(np.linalg.norm(at.way))
    along = at.way / size
    across = np.eye(along.size) - np.outer(along, along)
    turning: Array = ((along @ vector) * across + np.outer(along, across @ vector)) / size
    return turning


def _increment_slope(at: OnCurve) -> Array:
    """Matrix A (d, d) in δb = −A δτ, the change of the increment vector b = −τ/|τ|² as τ changes."""
    square = float(at.way @ at.way)
    reversing: Array = (np.eye(at.way.size) - 2.0 * np.outer(at.way, at.way) / square) / square
    return reversing


def _tangent_slopes(curve: Curve, at: OnCurve, rows: Array, means: Array) -> Array:
    """Products (r, d, K) of r given vectors, ``rows`` (r, d), with the derivative ∂τ/∂Π, Π at the end of the step."""
    by_place = means[curve.products] @ curve.mean_slope_change(*at.places)
    slopes: Array = 0.5 * rows[:, :, None] * at.chord + (rows @ by_place)[:, None, None] * at.moved
    return slopes
