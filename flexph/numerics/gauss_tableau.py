"""Gauss quadrature and collocation: nodes, weights, coefficients, and interpolation of prescribed functions."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Legendre
from numpy.polynomial.legendre import leggauss

from .arrays import Array


class Tableau(NamedTuple):
    """Tableau of Gauss collocation with s stages over a step of length 1.

    Values at the nodes are y₀ + Σ_j a_ij ẏ_j, at the end y₀ + Σ b_j ẏ_j; ẏ_i = Σ_j inverse_ij (y_j − y₀). With the
    weights, b_i a_ij + b_j a_ji = b_i b_j: increments of quadratic functions are exact.
    """

    nodes: Array  # (s,), c
    weights: Array  # (s,), b
    a: Array  # (s, s)
    inverse: Array  # (s, s), of a
    ends: Array  # (s,), y₁ = y₀ + Σ ends_j (y_j − y₀)
    curvature: Array  # (s, s, s), see gauss
    given: Array  # (s + 1,), Gauss-Lobatto points, at which functions of time are evaluated,
    value: Array  # (s, s + 1), their interpolant at the nodes,
    rate: Array  # (s, s + 1), and its rate
    between: Array  # (2s, s), values y₀ + Σ_j between_qj ẏ_j at 2s Gauss points,
    projection: Array  # (s, 2s), and the best polynomial of degree s − 1 through values there, at the nodes
    point_weights: Array  # (2s,), weights of these points
    point_value: Array  # (2s, s + 1), interpolant of a function of time there, from ``given``,
    point_rate: Array  # (2s, s + 1), and its rate


@cache
def gauss_points(points: int) -> tuple[Array, Array]:
    """Points and weights (points,) of Gauss quadrature on [0, 1], exact for polynomials of degree 2·points − 1."""
    nodes, weights = leggauss(points)
    return 0.5 * (nodes + 1.0), 0.5 * weights


@cache
def gauss(stages: int) -> Tableau:
    """Tableau of Gauss collocation with a number of stages.

    The field ``curvature`` is e in the error of momenta p = A w at the nodes, if p, the symmetric matrix A and w are
    all collocated from their rates over a step h:

        Σ_i b_i ẇ_i·(p_i − A_i w_i) = h² Σ_j b_j Σ_ik e_jik ẇ_iᵀ Ȧ_j ẇ_k,
        b_j e_jik = b_i (a_ij (a_jk − a_ik) + a_ik a_kj),

    with ``curvature[j, i, k]`` = e_jik symmetrised in i and k. The sum of e over i and k is zero for s > 1 stages.
    """
    c, b = gauss_points(stages)
    a = c[:, None] * np.einsum("k,ikj->ij", b, _lagrange(c, np.multiply.outer(c, c)))
    e = b[:, None, None] * (a[:, :, None] * (a[None] - a[:, None]) + a[:, None] * a.T[None])
    e = e.transpose(1, 0, 2) / b[:, None, None]
    inner: Array = np.real(Legendre.basis(stages).deriv().roots())
    given = np.concatenate([[0.0], 0.5 * (inner + 1.0), [1.0]])
    points, weights = gauss_points(2 * stages)
    orthonormal = [Legendre.basis(j, domain=[0.0, 1.0]) * (2.0 * j + 1.0) ** 0.5 for j in range(stages)]
    legendre = lambda x: np.stack([polynomial(x) for polynomial in orthonormal], -1)  # noqa: E731
    value, rate = _interpolant(given, c)
    point_value, point_rate = _interpolant(given, points)
    inverse = np.linalg.inv(a)
    return Tableau(
        nodes=c,
        weights=b,
        a=a,
        inverse=inverse,
        ends=b @ inverse,
        curvature=0.5 * (e + e.transpose(0, 2, 1)),
        given=given,
        value=value,
        rate=rate,
        between=points[:, None] * np.einsum("k,qkj->qj", b, _lagrange(c, np.multiply.outer(points, c))),
        projection=legendre(c) @ (legendre(points) * weights[:, None]).T,
        point_weights=weights,
        point_value=point_value,
        point_rate=point_rate,
    )


def _interpolant(given: Array, at: Array) -> tuple[Array, Array]:
    """Matrices (k, n) that map values at the points ``given`` (n,) to their interpolating polynomial and to its rate.

    Both are evaluated at the points ``at`` (k,).
    """
    value, slopes = _lagrange(given, at), 1.0 / (at[:, None] - given)  # derivatives of ln |x − x_k|
    return value, value * (slopes.sum(axis=1, keepdims=True) - slopes)


def _lagrange(nodes: Array, points: Array) -> Array:
    """Values (…, s) of the Lagrange polynomials of s nodes at points (…), accurate to round-off."""
    others = [np.delete(nodes, j) for j in range(nodes.size)]
    return np.stack(
        [np.prod((points[..., None] - o) / (x - o), axis=-1) for x, o in zip(nodes, others, strict=True)], -1
    )
