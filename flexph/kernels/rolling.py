"""Terms of constraints on velocities: w Π_by Π̇ of products, w θ̇ of angles, and a·Ω of bodies.

Over a step their increments are w Π̄_by ΔΠ and a·hΩ, with Π̄ the mean of both ends and Ω = R̄ω̄ = R₀ω̄ the world spin.
A multiplier λ acts with λ w Π̄_by on Π and with the world torque λ a on the body. Squares ½ w Π² of position
constraints are terms with Π_by = Π, and their increments are exact. An angle has two ``angular`` terms, of the sine
weighted by the cosine and vice versa, with gains κ w Π̄_by such that both increments sum to w Δθ
(:mod:`flexph.kernels.springs`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..numerics.arrays import Array
from ..numerics.rotations import spin_map, turned_spins
from .arrays import Arrays, Rolling, total
from .rates.on_curves import curve_sums
from .rates.slips import term_gains, term_slopes
from .state import Configuration, Derived


def gains(a: Arrays, before: Array, after: Array) -> Array:
    """Gains (w,) of the increments ΔΠ in all terms over a step, from the products at its start and its end.

    A gain is w Π̄_by with the mean of Π_by over the step, for terms of an angle κ w Π̄_by.
    """
    return term_gains(a.rolling, before, after)


def gain_slopes(a: Arrays, before: Array, after: Array) -> tuple[Array, Array]:
    """Derivatives (w,) of the gains of :func:`gains` with respect to Π, and to Π_by, at the end of the step."""
    return term_slopes(a.rolling, before, after)


def squares(a: Arrays, product: Array) -> Array:
    """Sums Σ ½ w Π² of the square terms in each constraint row, (g,); zero in rows without them."""
    t = a.rolling
    if not t.square.size:
        return np.zeros(t.free.size)
    return total(t.row, 0.5 * t.square * t.weight * product.take(t.product) ** 2, t.free.size)


def rates(t: Rolling, gain: Array, change: Array, turned: Array) -> Array:
    """Sums Σ gain ΔΠ + a·θ over the terms of each constraint row, (g,).

    ``change`` (p,) are the changes ΔΠ of the products, ``turned`` (b, s) the world rotations θ of the bodies; if they
    are rates, so is the result.
    """
    rate = total(t.row, gain * change.take(t.product), t.free.size)
    if t.spin_row.size:
        rate += total(t.spin_row, np.einsum("ms,ms->m", t.spin_axis, turned.take(t.spin_body, axis=0)), t.free.size)
    return rate


def add_forces(a: Arrays, lam: Array, gain: Array, on_product: Array) -> None:
    """Add the forces λ·gain of the terms to the forces on products, ``on_product`` (p,), in place.

    ``lam`` (g,) are the multipliers λ, ``gain`` (w,) the gains of the terms.
    """
    if gain.size:
        np.add.at(on_product, a.rolling.product, lam.take(a.rolling.row) * gain)


def add_torques(a: Arrays, lam: Array, torque: Array) -> None:
    """Add the torques λ a of the spin terms to the world torques on the bodies, ``torque`` (b, s), in place.

    ``lam`` (g,) are the multipliers λ.
    """
    t = a.rolling
    if t.spin_row.size:
        np.add.at(torque, t.spin_body, lam.take(t.spin_row)[:, None] * t.spin_axis)


def weights(a: Arrays, values: Array, products: Array) -> Any:
    """Matrix (g, p) in which each term has its value in its row and in a given column, dense or sparse like the arrays.

    ``values`` (w,) are the values, ``products`` (w,) the columns. Values at the same entry are added up.
    """
    shape, row = (a.rolling.free.size, a.first.size), a.rolling.row
    if sparse.issparse(a.node_shape):
        return sparse.csr_array((values, (row, products)), shape=shape)
    return total(row * shape[1] + products, values, shape[0] * shape[1]).reshape(shape)


def stiffness(a: Arrays, lam: Array, before: Array, after: Array) -> Array:
    """Derivatives (p, p) of the constraint forces λ·gain on products with respect to the products at the end of a step.

    ``lam`` (g,) are the multipliers. If ``before`` and ``after`` are the same state, the result is half of the
    derivatives at this state, as gains take the mean of both.
    """
    t, form, pushed = a.rolling, np.zeros((a.first.size,) * 2), lam.take(a.rolling.row)
    by_product, across = gain_slopes(a, before, after)
    np.add.at(form, (t.product, t.product), pushed * by_product)
    np.add.at(form, (t.product, t.by), pushed * across)
    return form


def spin_rows(a: Arrays, frame: Array, rows: int, width: int) -> Any:
    """Matrix (g, n_v) from velocities to the spin terms a·(frame ω) of all rows, with frames (b, d, d).

    It is dense or sparse like the arrays.
    """
    t, cw = a.rolling, a.columns.omega
    values = np.einsum("mi,mij->mj", t.spin_axis, spin_map(frame).take(t.spin_body, axis=0))
    columns = cw.take(t.spin_body, axis=0)
    at = np.broadcast_to(t.spin_row[:, None], values.shape)
    if sparse.issparse(a.node_shape):
        return sparse.csr_array((values.ravel(), (at.ravel(), columns.ravel())), shape=(rows, width))
    return total((at * width + columns).ravel(), values.ravel(), rows * width).reshape(rows, width)


def state_rates(a: Arrays, c: Configuration, d: Derived, rate: Array) -> Array:
    """Rates Σ w Π_by Π̇ + a·Ω of the terms of each constraint row at a state, (g,), including points on curves.

    ``rate`` (p,) are the rates of the products.
    """
    t, product = a.rolling, d.product
    sums = curve_sums(a.curves, d.on_curves, rate, t.free.size) if a.curves else np.zeros(t.free.size)
    if not t.row.size:
        return sums
    return sums + rates(t, gains(a, product, product), rate, turned_spins(c.R, c.omega))
