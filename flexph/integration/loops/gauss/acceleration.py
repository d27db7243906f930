"""Anderson acceleration of the iteration of a step: least-squares combination of its last corrections.

An iteration x ← x − f(x) with one Jacobian for all nodes converges linearly, slowly where bodies turn far in a step.
The last iterates give the changes y = f(x + s) − f(x) of f by moves s. With f affine in between, the part Σ γ y of a
correction, its projection on all y, is removed by the move Σ γ s; its orthogonal part is taken unchanged. Pairs (s, y)
are combined so that their y are orthonormal; of two nearly parallel y one is left out.

D. G. Anderson, Iterative procedures for nonlinear integral equations, Journal of the ACM 12 (1965) 547-560; for
linear equations it yields the iterates of GMRES (H. F. Walker, P. Ni, SIAM J. Numer. Anal. 49 (2011) 1715-1735).
"""

from __future__ import annotations

import cython

if not cython.compiled:
    from ....numerics.loops.views import smaller_int
    from .spaces import Acceleration


ALIKE = cython.declare(cython.double, 1e-3)
"""Part of a change y orthogonal to those that are kept, relative to all of it, below which y is left out."""


def accelerate(a: Acceleration, count: int) -> None:
    """Replace ``a.correction`` by its Anderson-accelerated value, and store the pair (s, y) of the last correction.

    ``count`` is the number of accelerated corrections before this one; at 0 the correction stays as it is.
    """
    n = a.x.size
    depth = a.moves.shape[0] - 1
    if count > 0:
        _keep_pair(a, count)
    for i in range(n):
        a.last[i] = a.correction[i]
        a.moves[depth][i] = 0.0
    for k in range(smaller_int(count, depth)):
        share = 0.0
        for i in range(n):
            share += a.weight[i] * a.changes[k][i] * a.correction[i]
        for i in range(n):
            a.correction[i] -= share * a.changes[k][i]
            a.moves[depth][i] += share * a.moves[k][i]
    for i in range(n):
        a.correction[i] += a.moves[depth][i]
        a.moves[depth][i] = a.correction[i]


def _keep_pair(a: Acceleration, count: int) -> None:
    """Replace the oldest pair (s, y) by the last move s and the change y of the corrections that it caused.

    ``count`` is the number of accelerated corrections so far.
    """
    n = a.x.size
    depth = a.moves.shape[0] - 1
    oldest = (count - 1) % depth
    whole = 0.0
    size = 0.0
    for i in range(n):
        a.moves[oldest][i] = a.moves[depth][i]
        a.changes[oldest][i] = a.last[i] - a.correction[i]
        whole += a.weight[i] * a.changes[oldest][i] ** 2
    for k in range(smaller_int(count, depth)):
        if k != oldest:
            share = 0.0
            for i in range(n):
                share += a.weight[i] * a.changes[k][i] * a.changes[oldest][i]
            for i in range(n):
                a.changes[oldest][i] -= share * a.changes[k][i]
                a.moves[oldest][i] -= share * a.moves[k][i]
    for i in range(n):
        size += a.weight[i] * a.changes[oldest][i] ** 2
    factor = 1.0 / size**0.5 if size > ALIKE**2 * whole else 0.0
    for i in range(n):
        a.changes[oldest][i] *= factor
        a.moves[oldest][i] *= factor
