"""Newton iteration for a step of Gauss collocation, over the unknowns at all its nodes."""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import NEWTON
from ....kernels.convergence.tolerances import TINY as _TINY
from ..memory.codes import DIVERGED as _DIVERGED
from ..memory.codes import SINGULAR as _SINGULAR
from ..memory.codes import UNSETTLED as _UNSETTLED

if not cython.compiled:
    from math import fabs, sqrt
    from math import inf as INFINITY

    from ....kernels.convergence.rules import is_slow, settled_at, settles, stagnates
    from ....numerics.loops.views import larger, smaller, smaller_int
    from ..memory.memory import Memory, stage
    from ..memory.structures import AtNodes
    from ..steps.rows import fail
    from .acceleration import accelerate
    from .momenta import balance, is_balanced
    from .nodes import row_of
    from .positions import set_positions
    from .scheme import Scheme
    from .springs import slopes_of_laws
    from .stresses import add_stress_defects, correct_stress_rates, keep_strain_rows
    from .systems import factor_all, solve_all
    from .unknowns import gather, set_weights, subtract

DIVERGED = cython.declare(cython.Py_ssize_t, _DIVERGED)
SINGULAR = cython.declare(cython.Py_ssize_t, _SINGULAR)
UNSETTLED = cython.declare(cython.Py_ssize_t, _UNSETTLED)
TINY = cython.declare(cython.double, _TINY)
NEWTON_NOISE = cython.declare(cython.double, NEWTON.noise)
NEWTON_STAGNATED = cython.declare(cython.double, NEWTON.stagnated)


SLOW = cython.declare(cython.double, 0.3)
MANY = cython.declare(cython.double, 8.0)
"""See Tolerances: a Jacobian costs as much as two iterations."""
REMAINS = cython.declare(cython.double, 0.1)
"""Factor of the bound of the exact scheme for the expected next correction, at which the iteration ends.

With the Jacobian of one state for all nodes it converges linearly, from the same side at every step: remainders
would add up in long runs. Accelerated corrections shrink unevenly: they must be as small, whatever is expected.
"""
ITERATIONS = cython.declare(cython.Py_ssize_t, 60)
"""Largest number of iterations. With one Jacobian for all nodes they converge linearly; slow ones are accelerated."""
DIVERGENCE = cython.declare(cython.double, 10.0)
"""Ratio of a correction to the larger of the first two at which the iteration has diverged."""
PATIENT = cython.declare(cython.Py_ssize_t, 30)
"""Number of iterations after which accelerated ones, too, end where their iterate is balanced and gets no better."""
MOVED = cython.declare(cython.double, 0.1)
"""Sum of the corrections since the Jacobian, relative to the ratio of the last two, below which it is kept.

Such small corrections change it by less than its nodes differ from one another, and the ratio would stay.
"""
MIXED = cython.declare(cython.double, 0.03)
"""Size of the first correction, or ratio of two, from which stress rates are unknowns, at 10 % more per iteration."""


def newton(m: Memory, dim: int, g: Scheme, h: float, given: AtNodes) -> int:
    """Solve a step by Newton's method from the guess at its nodes; return the iterations, or −1 if it fails."""
    changes = cython.declare(cython.bint)
    count = cython.declare(cython.Py_ssize_t)
    factored = cython.declare(cython.bint)
    mixed = cython.declare(cython.bint)
    stalls = cython.declare(cython.bint)
    used = cython.declare(cython.Py_ssize_t)
    if not set_positions(m, dim, g, h, given, True):
        return fail(m, DIVERGED, 0, 0.0)
    balance(m, dim, g, h, given)
    changes = m.elastic_G_val.size > 0
    mixed = False  # True if strain rows change
    middle = row_of(given.coefficient, given, g.stages.size // 2)
    factored = False
    used = 0
    previous = INFINITY
    size = INFINITY
    largest = 0.0
    scale = TINY
    settled = REMAINS * settled_at(g.stages.size * m.x_du.size)
    moved = 0.0
    count = -1  # number of accelerated corrections, −1 before the first
    for iteration in range(1, ITERATIONS + 1):
        if not factored:
            if m.joints_laws[0] > 0:
                slopes_of_laws(m, g, h, given)
            if not factor_all(dim, g, h, given.coefficient[middle]):
                return fail(m, SINGULAR, iteration, size)
            factored = True
            used = 0
            moved = 0.0
            if changes:
                keep_strain_rows(m, g)
        if mixed:
            add_stress_defects(m, g, h)
        solve_all(dim, g, h)
        work = _correction_work(g)
        if iteration <= 2:
            largest = larger(largest, work)
            scale = _energy_scale(g, h)
        size = sqrt(work / larger(largest, scale))
        if not size <= DIVERGENCE:
            return iteration if is_balanced(m, g, h) else fail(m, DIVERGED, iteration, size)
        stalls = used > 0 and stagnates(size, previous) and size <= NEWTON_STAGNATED
        stalls = stalls and (count < 0 or iteration > PATIENT)
        if stalls and is_balanced(m, g, h):
            return iteration
        if not mixed and changes and size > MIXED * smaller(1.0, previous):
            mixed = True
            count = smaller_int(count, 0)
        used += 1
        moved += size
        if count < 0:
            _subtract_plain(m, dim, g, h, mixed)
        else:
            if count == 0:
                set_weights(g, mixed, scale, g.acceleration.weight)
            _subtract_accelerated(m, dim, g, h, mixed, count)
            count += 1
        if not set_positions(m, dim, g, h, given, not mixed):
            return fail(m, DIVERGED, iteration, size)
        if count < 0 and settles(size, previous, used, settled):
            return iteration
        if count >= 0 and size * larger(smaller(1.0, size / previous), 0.1) < settled:
            return iteration
        if stagnates(size, previous) and used > 1 and size <= NEWTON_STAGNATED:
            if size <= NEWTON_NOISE * sqrt(m.x.size):
                return iteration
            if count < 0:  # near a singular pose a Jacobian of its own may lead on
                factored = False
        balance(m, dim, g, h, given)
        if count < 0 and is_slow(size, previous, used, SLOW, MANY):
            factored = moved < MOVED * size / previous
            count = 0
        previous = size
    return fail(m, UNSETTLED, ITERATIONS, size)


def _subtract_plain(m: Memory, dim: int, g: Scheme, h: float, mixed: bool) -> None:
    """Subtract the corrections, as solved, from the unknowns of all nodes.

    If ``mixed``, stress rates are separate unknowns.
    """
    _subtract_corrections(dim, g)
    if mixed:
        correct_stress_rates(m, g, h)


def _subtract_accelerated(m: Memory, dim: int, g: Scheme, h: float, mixed: bool, count: int) -> None:
    """Subtract Anderson-accelerated corrections from the unknowns of all nodes.

    ``count`` is the number of corrections since the first accelerated one. If ``mixed``, stress rates are separate
    unknowns.
    """
    a = g.acceleration
    gather(g, mixed, a.x)
    _subtract_plain(m, dim, g, h, mixed)
    gather(g, mixed, a.correction)
    for k in range(a.x.size):
        a.correction[k] = a.x[k] - a.correction[k]
    accelerate(a, count)
    subtract(g, mixed, a.x, a.correction)


def _correction_work(g: Scheme) -> float:
    """Sum of the absolute values of the works [J] of the defects along the corrections."""
    total = 0.0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        for k in range(s.defect.size):
            total += fabs(s.correction[k] * s.defect[k])
    return total


def _subtract_corrections(dim: int, g: Scheme) -> None:
    """Subtract the corrections from the unknowns of all nodes; spins are corrected in world axes."""
    d = dim
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        for b in range(s.inertia_mass.size):
            for k in range(d):
                s.x_v[b][k] -= s.correction_v[b][k]
            if d == 2:
                s.stage_spin[b][0] -= s.correction_w[b][0]
            else:
                for k in range(3):
                    for j in range(3):
                        s.stage_spin[b][k] -= s.end_R[b][k][j] * s.correction_w[b][j]
        for k in range(s.x_du.size):
            s.x_du[k] -= s.correction_du[k]
        for k in range(s.x_lam.size):
            s.x_lam[k] -= s.correction_lam[k]


def _energy_scale(g: Scheme, h: float) -> float:
    """Scale of the energies in a step [J].

    It is twice the mean kinetic and elastic energy, plus the absolute work of gravity.
    """
    total = 0.0
    for n in range(g.stages.size):
        s = stage(g.stages, n)
        for b in range(s.inertia_mass.size):
            for i in range(s.x_v.shape[1]):
                total += s.inertia_mass[b] * s.x_v[b][i] ** 2 + h * fabs(s.x_v[b][i] * s.inertia_weight[b][i])
            for i in range(s.end_w.shape[1]):
                for j in range(s.end_w.shape[1]):
                    total += fabs(s.end_w[b][i] * s.stage_J[b][i][j] * s.end_w[b][j])
        for i in range(s.x_du.size):
            total += fabs(s.x_du[i] * s.end_Pdu[i][0])
        for i in range(s.trial_stress.size):
            strain = 0.0
            for e in range(s.elastic_compliance_ptr[i], s.elastic_compliance_ptr[i + 1]):
                strain += s.elastic_compliance_val[e] * s.trial_stress[s.elastic_compliance_col[e]]
            total += fabs(s.trial_stress[i] * strain)
    return larger(total / g.stages.size, TINY)
