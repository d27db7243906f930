"""Damped iteration for a step of Gauss collocation that the plain one does not solve.

Near a singular pose the equations F(x) = 0 of a step have a nearly singular Jacobian J, and an approximation by one
state for all nodes (see scheme) gives useless corrections. Here J has the derivatives at all nodes, and corrections p
minimise

    |F − J p|² + μ |D p|²,

with rows divided by their largest derivatives and D the lengths of the columns: x moves little in directions in which F
hardly changes. The damping μ falls while |F| decreases as J predicts, and grows where it does not.

K. Levenberg, Quarterly of Applied Mathematics 2 (1944) 164-168; D. W. Marquardt, SIAM J. 11 (1963) 431-441.
"""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import TINY as _TINY
from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs, sqrt

    from ....numerics.algebra.dense import least_squares
    from ....numerics.loops.views import fill, larger, part
    from ..memory.memory import Memory, stage
    from ..memory.structures import AtNodes
    from ..steps.iterate import reference_length
    from .momenta import balance, is_balanced
    from .positions import set_positions
    from .scheme import Scheme
    from .spaces import Damped
    from .unknowns import gather, subtract

TINY = cython.declare(cython.double, _TINY)


REACH = cython.declare(cython.double, 1e-5)
"""Change for central differences, relative to the unknowns and to lengths and angles over a step. The equations are
nearly of second degree, for which these differences are exact: their errors are round-off divided by this number."""
FIRST = cython.declare(cython.double, 1e-6)
LEAST = cython.declare(cython.double, 1e-18)
LARGEST = cython.declare(cython.double, 1e3)
"""Damping at first, its least value, and that at which the iteration ends."""
GOOD = cython.declare(cython.double, 0.75)
POOR = cython.declare(cython.double, 0.25)
"""Decrease of |F|², divided by the expected one, from which the damping falls and below which it grows."""
CHANGED = cython.declare(cython.double, 10.0)
"""Factor by which the damping grows or falls."""
IMPROVED = cython.declare(cython.double, 0.1)
"""Ratio of successive |F|² up to which the iteration continues although momenta and constraints balance."""
JACOBIANS = cython.declare(cython.Py_ssize_t, 60)
"""Largest number of Jacobians."""


def solve_damped(m: Memory, dim: int, g: Scheme, h: float, given: AtNodes) -> int:
    """Solve a step by the damped iteration from the guess at its nodes.

    Returns the number of Jacobians, or −1 if it fails.
    """
    a = g.damped
    n = a.x.size
    if n == 0:
        return -1
    gather(g, False, a.x)
    fill(a.row_scale, 1.0)
    if not _evaluate(m, dim, g, h, given, False):
        return -1
    damping = FIRST
    fill(a.column_scale, 0.0)
    for count in range(1, JACOBIANS + 1):
        _set_reach(m, g, h)
        if not _differentiate(m, dim, g, h, given):
            return -1
        if count == 1:
            _scale_rows(a)
        _scale_columns(a)
        before = _sum_of_squares(a.defect)
        damping = _descend(m, dim, g, h, given, damping)
        if not _evaluate(m, dim, g, h, given, False):
            return -1
        is_balance = is_balanced(m, g, h)
        if damping >= LARGEST or (is_balance and _sum_of_squares(a.defect) > IMPROVED * before):
            return count if is_balance else -1
    return -1


def _descend(m: Memory, dim: int, g: Scheme, h: float, given: AtNodes, damping: float) -> float:
    """Take a correction that decreases |F|², and return the damping for the next one.

    LARGEST is returned if no correction decreases it.
    """
    a = g.damped
    before = _sum_of_squares(a.defect)
    while damping < LARGEST:
        _correct(a, damping)
        expected = before - _expected_square(a)
        after = before
        if _evaluate(m, dim, g, h, given, True):
            after = _sum_of_squares(a.other)
        if after < before:
            for k in range(a.x.size):
                a.x[k] = a.tried[k]
            if before - after > GOOD * expected:
                return larger(damping / CHANGED, LEAST)
            return damping if before - after > POOR * expected else damping * CHANGED
        damping *= CHANGED
        if before <= TINY or expected <= TINY * before:
            return LARGEST
    return LARGEST


def _evaluate(m: Memory, dim: int, g: Scheme, h: float, given: AtNodes, tried: bool) -> bool:
    """Write the scaled defects of the step at the unknowns ``damped.x`` into ``damped.defect``.

    If ``tried``, the unknowns are ``damped.tried``, and the defects are written into ``damped.other``. Returns False if
    a body turns too far or a defect is not finite.
    """
    a = g.damped
    x = a.x
    out = a.defect
    if tried:
        x = a.tried
        out = a.other
    fill(a.correction, 0.0)
    subtract(g, False, x, a.correction)
    if not set_positions(m, dim, g, h, given, True):
        return False
    balance(m, dim, g, h, given)
    k = 0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        for j in range(s.defect.size):
            out[k + j] = s.defect[j] / a.row_scale[k + j]
        k += s.defect.size
    return _sum_of_squares(out) < 1e300


def _set_reach(m: Memory, g: Scheme, h: float) -> None:
    """Set the increments of the unknowns for finite differences, in proportion to the size of each kind of them."""
    a = g.damped
    length = reference_length(m)
    mass = 0.0
    for b in range(m.inertia_mass.size):
        mass += m.inertia_mass[b]
    k = 0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        _reach(a, k, k + s.x_v.shape[0] * s.x_v.shape[1], length / h)
        k += s.x_v.shape[0] * s.x_v.shape[1]
        _reach(a, k, k + s.stage_spin.shape[0] * s.stage_spin.shape[1], 1.0 / h)
        k += s.stage_spin.shape[0] * s.stage_spin.shape[1]
        _reach(a, k, k + s.x_du.size, TINY)
        k += s.x_du.size
        _reach(a, k, k + s.x_lam.size, mass / (h * h))
        k += s.x_lam.size


def _reach(a: Damped, first: int, last: int, least: float) -> None:
    """Set the increments of the differences for the unknowns ``first`` to ``last`` − 1.

    All are REACH times the largest magnitude of these unknowns, or REACH times ``least`` if that is larger.
    """
    size = least
    for k in range(first, last):
        size = larger(size, fabs(a.x[k]))
    fill(part(a.reach, first, last), REACH * size)


def _differentiate(m: Memory, dim: int, g: Scheme, h: float, given: AtNodes) -> bool:
    """Compute the Jacobian by central differences at the unknowns ``damped.x``; False if a defect is not finite."""
    a = g.damped
    n = a.x.size
    for k in range(n):
        a.tried[k] = a.x[k]
    for k in range(n):
        for side in range(2):
            a.tried[k] = a.x[k] + (a.reach[k] if side == 0 else -a.reach[k])
            if not _evaluate(m, dim, g, h, given, True):
                return False
            for i in range(n):
                if side == 0:
                    a.jacobian[i][k] = a.other[i]
                else:
                    a.jacobian[i][k] = (a.jacobian[i][k] - a.other[i]) / (2.0 * a.reach[k])
        a.tried[k] = a.x[k]
    return True


def _scale_rows(a: Damped) -> None:
    """Divide each row of the Jacobian, and the defect of the row, by the largest absolute derivative in the row."""
    n = a.x.size
    for i in range(n):
        largest = 0.0
        for k in range(n):
            largest = larger(largest, fabs(a.jacobian[i][k]))
        if largest > 0.0:
            a.row_scale[i] = largest
            a.defect[i] /= largest
            for k in range(n):
                a.jacobian[i][k] /= largest


def _scale_columns(a: Damped) -> None:
    """Divide each column of the Jacobian by its largest length so far in the iteration, which is stored."""
    n = a.x.size
    for k in range(n):
        square = 0.0
        for i in range(n):
            square += a.jacobian[i][k] ** 2
        a.column_scale[k] = larger(a.column_scale[k], sqrt(square))
        if a.column_scale[k] > 0.0:
            for i in range(n):
                a.jacobian[i][k] /= a.column_scale[k]


def _correct(a: Damped, damping: float) -> None:
    """Compute the damped correction of the scaled unknowns, and the unknowns ``a.tried`` after it."""
    n = a.x.size
    fill(a.stacked, 0.0)
    for i in range(n):
        for k in range(n):
            a.stacked[i][k] = a.jacobian[i][k]
        a.stacked[i][n] = a.defect[i]
        a.stacked[n + i][i] = sqrt(damping)
    least_squares(a.stacked, a.gain, a.space, a.other)
    for k in range(n):
        a.tried[k] = a.x[k]
        if a.column_scale[k] > 0.0:
            a.tried[k] -= a.other[k] / a.column_scale[k]


def _expected_square(a: Damped) -> float:
    """Square |F − J p|² of the linearised defects after the scaled correction p, which is in ``a.other``."""
    total = 0.0
    for i in range(a.x.size):
        left = a.defect[i]
        for k in range(a.x.size):
            left -= a.jacobian[i][k] * a.other[k]
        total += left * left
    return total


def _sum_of_squares(x: Array) -> float:
    """Sum of the squares of all entries."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * x[i]
    return total
