"""What momenta contribute to the Jacobian of Gauss collocation (see :mod:`flexph.kernels.gauss.stage_jacobian`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...numerics.rotations import skew, turned_spins, unit_sweeps
from ..arrays import Arrays
from ..gradient import velocity_slices
from ..state import contracted
from .collocation import Collocation
from .stages import Given, Onset, Stages


class StageStep(NamedTuple):
    """What the parts of the Jacobian share; ``J[i, :, j]`` is filled in place."""

    k: Collocation
    onset: Onset
    t: Stages
    given: Given
    transported: Array  # what a rate of arms at a node j does to arms at a node i, (b, stages, d, stages, d)
    changes: Array  # hü by the inertia products, (stages, 1 + s + s², n)
    J: Array  # (stages, N, stages, N)

    @property
    def by_place(self) -> Array:
        """hA, (stages, stages)."""
        return self.onset.h * self.k.tableau.a


def axes_changes(at: StageStep, vectors: Array, body: Array) -> Array:
    """R⁻ᵀx by Ω of bodies for constant x, from the vectors R⁻ᵀx (stages, k, d): (stages, stages, k, s, d)."""
    t, transported = at.t, at.transported.take(body, axis=0)
    back = np.einsum("kixjy,ikx->ijky", transported, vectors)  # transportedᵀ of them
    turned = stacked_sweeps(back) @ t.R.take(body, axis=1)[None]  # R_jᵀ of e × that
    return turned @ t.inverse.take(body, axis=1)[:, None]  # R_i⁻ᵀ of it


def stacked_sweeps(lever: Array) -> Array:
    """e_s × lever of any stack (…, d), (…, s, d)."""
    flat = unit_sweeps(lever.reshape(-1, lever.shape[-1]))
    return flat.reshape(*lever.shape[:-1], *flat.shape[1:])


def add_inertia(at: StageStep) -> None:
    """Momenta by (ṙ, ω, u̇), then ω by the world spins, which turn the axes too."""
    a, own, (omega, u) = at.k.arrays, np.arange(len(at.t.u)), velocity_slices(at.k.arrays)
    turned, changes = _spins(at), at.k.tableau.inverse
    mass, rate, place = _momenta(at)
    translation = changes[:, None, :, None] * mass[:, :, None] + at.by_place[:, None, :, None] * place[:, :, None]
    translation[own, :, own] += rate
    if turned is not None:
        by_spin = np.einsum("irw,jwqx,ij->irqx", mass[:, :, omega], turned, changes)
        translation[..., omega] = by_spin + np.einsum("irw,iwqx->irqx", rate[:, :, omega], turned)
    at.J[:, : u.stop, :, : u.stop] += translation
    if a.body_u.size:
        _add_curvature(at, turned)
    if a.dim == 3:
        _add_turning_axes(at)


def _momenta(at: StageStep) -> tuple[Array, Array, Array]:
    """What hṗ, in the world, is of the changes of (ṙ, ω, u̇) over the step, of their values, and of places.

    All (stages, n_v, n_v); places do nothing by the spins.
    """
    t, h, a, stages = at.t, at.onset.h, at.k.arrays, len(at.t.u)
    (cv, cw, cu), (_, u), s, n = a.columns, velocity_slices(a), a.n.shape[0], a.body_u.size
    mass, rate, place = (np.zeros((stages, u.stop, u.stop)) for _ in range(3))
    back = t.inverse.swapaxes(2, 3)
    rows, cols = (cw.take(a.turning, axis=0)[(slice(None), *at_)] for at_ in ((slice(None), None), (None, slice(None))))
    mass[:, cv, cv] = a.mass[:, None]
    mass[:, rows, cols] = _turned_rows(a, back, t.J)[:, a.turning]
    rate[:, rows, cols] = h * _turned_rows(a, back, t.J_rate)[:, a.turning]
    if not n:
        return mass, rate, place
    w, dw = (x.take(a.body_u, axis=1).swapaxes(1, 2) for x in (t.omega, t.omega_change))
    square, slower = (P[:, 1 + s :].reshape(stages, s, s, n) for P in (t.Pu, t.Pdu))
    square, coupling, own_u = a.s + square, a.n + t.Pu[:, 1 : 1 + s], cw.take(a.body_u, axis=0).T
    world = (lambda x: x) if a.dim == 2 else lambda x: np.einsum("inab,ibn->ian", back.take(a.body_u, axis=1), x)
    turned = contracted(square, w)
    mass[:, own_u, cu], mass[:, cu, own_u], mass[:, u, u] = world(coupling), coupling, a.stack[:n]
    rate[:, own_u, cu], rate[:, cu, own_u] = world(2.0 * h * turned), 2.0 * h * (t.Pdu[:, 1 : 1 + s] - turned)
    change = at.changes[:, 1 : 1 + s]
    place[:, own_u, cu] = world(2.0 * contracted(square, dw) + 2.0 * h * contracted(slower, w) - change)
    blocks = a.stack.reshape(-1, n, n)
    for b in range(s):
        rate[:, u, u] += (2.0 * h * w[:, b])[:, :, None] * blocks[1 + b]
        place[:, u, u] += dw[:, b][:, :, None] * blocks[1 + b]
        for c in range(s):
            place[:, u, u] -= (h * w[:, b] * w[:, c])[:, :, None] * blocks[1 + s + s * b + c]
    return mass, rate, place


def _turned_rows(a: Arrays, frame: Array, matrix: Array) -> Array:
    """Frames times matrices (…, s, s) of the spins; in the plane these matrices."""
    return matrix if a.dim == 2 else frame @ matrix


def _add_curvature(at: StageStep, turned: Array | None) -> None:
    """½ h³ Σ_ik e_ik ẇ_iᵀ(∂M/∂u)ẇ_k by the changes of ω and u̇ over the step."""
    k, t, h, J, a = at.k, at.t, at.onset.h, at.J, at.k.arrays
    cw, (omega, u), s, n, stages = a.columns.omega, velocity_slices(a), a.n.shape[0], a.body_u.size, len(t.u)
    dw, dN, e = t.omega_change.take(a.body_u, axis=1).swapaxes(1, 2), at.changes[:, 1 : 1 + s], k.tableau.curvature
    spread = np.einsum("jik,ian->jkan", e, dw)
    square = a.s + t.Pu[:, 1 + s :].reshape(stages, s, s, n)
    on_spin = 2.0 * np.einsum("jabn,jkbn->jkan", square, spread) - np.einsum("jik,ian->jkan", e, dN)
    by_spin, own_u = np.zeros((stages, n, stages, omega.stop - omega.start)), cw.take(a.body_u, axis=0).T - omega.start
    by_spin[:, np.arange(n), :, own_u] = h * on_spin.transpose(2, 3, 0, 1)
    by_spin = np.einsum("jnkw,kq->jnqw", by_spin, k.tableau.inverse)
    J[:, u, :, omega] += by_spin if turned is None else np.einsum("jnqw,qwpx->jnpx", by_spin, turned)
    N = a.stack[n : (1 + s) * n].reshape(s, n, n)
    by_rate = np.einsum("jkan,anm->jnkm", spread, N)
    J[:, u, :, u] -= h * np.einsum("jnkm,kq->jnqm", by_rate, k.tableau.inverse)


def _spins(at: StageStep) -> Array | None:
    """ω = R⁻¹Ω at a node by Ω at others, of the bodies that turn, (stages, spins, stages, spins); None in the plane."""
    a, t, stages = at.k.arrays, at.t, len(at.t.u)
    if a.dim == 2:
        return None
    transported = at.transported.take(a.turning, axis=0)
    turning, inverse = t.R.take(a.turning, axis=1), t.inverse.take(a.turning, axis=1)
    own = np.matvec(turning[None], t.omega.take(a.turning, axis=1)[:, None])  # R_q ω_j, (stages j, stages q, b, 3)
    by_turn = np.einsum("bjxqy,jqbsy->jqbxs", transported, stacked_sweeps(own))
    by_turn[np.arange(stages), np.arange(stages)] -= np.eye(3)
    blocks = -inverse[:, None] @ by_turn  # (j, q, b, 3, 3)
    bodies = np.arange(a.turning.size)
    spins = np.zeros((stages, bodies.size, 3, stages, bodies.size, 3))
    spins[:, bodies, :, :, bodies] = blocks.transpose(2, 0, 3, 1, 4)
    return spins.reshape(stages, 3 * bodies.size, stages, 3 * bodies.size)


def _add_turning_axes(at: StageStep) -> None:
    """R⁻ᵀṗ_r by the turn of its axes, and Ω × π by Ω, in space."""
    a, t, h, (omega, _) = at.k.arrays, at.t, at.onset.h, velocity_slices(at.k.arrays)
    p_r, _, _ = at.k.momentum_changes(at.onset, t)
    world = turned_spins(t.inverse.swapaxes(2, 3), p_r)
    changes = axes_changes(at, world, np.arange(len(a.mass))).swapaxes(3, 4)  # (stages, stages, b, 3, s)
    stages, bodies = len(t.u), np.arange(a.turning.size)
    own = np.arange(stages)
    changes[own, own] -= h * skew(t.momentum, 3)
    block = np.zeros((stages, bodies.size, 3, stages, bodies.size, 3))
    block[:, bodies, :, :, bodies] = changes[:, :, a.turning].transpose(2, 0, 3, 1, 4)
    at.J[:, omega, :, omega] += block.reshape(stages, 3 * bodies.size, stages, 3 * bodies.size)
