"""Step of a mechanism by the exact or decaying scheme, with its substeps and their results.

A step has several substeps in a composition scheme or if its error is estimated by a pair, else a single one.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array
from ..memory.codes import CROWDED_TABLE as _CROWDED_TABLE
from ..memory.codes import DOUBTFUL as _DOUBTFUL
from ..memory.codes import GENERATING as _GENERATING
from ..memory.codes import LAWLESS as _LAWLESS
from ..memory.codes import TURNED as _TURNED

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import copy, fill, larger, smaller_int
    from ..contact.anchors import has_no_row
    from ..contact.flight import turns_beyond_stop
    from ..contact.forces import add_surface_outputs, leaves_list, record_contacts, store_contacts
    from ..decay.step import prepare
    from ..mechanics.arrow import solve_border
    from ..mechanics.curves import add_curve_gaps
    from ..mechanics.ledger_rows import energies, flows, numerical_loss, outputs, velocity_defect
    from ..mechanics.motion import derive_momenta
    from ..mechanics.redundancy import find_dependent, keep_independent, keep_least, solve_least
    from ..mechanics.relations import generates_energy
    from ..mechanics.rolling import add_squares
    from ..memory.given import given_of
    from ..memory.memory import Memory
    from ..memory.structures import Course, Given, Kinds, Parts, Table
    from ..terms.masses import set_changing_masses, set_changing_values
    from ..terms.paths import place_points
    from .calls import begin_within, is_repeated
    from .friction import begins_to_stick, obeys_law, record_friction
    from .history import guess, remember
    from .impulse import lose_defect
    from .newton import factor_step, newton
    from .pairs import begin_pair, estimate, reflect_defect, release_contacts, store_gaps, update_largest_energy
    from .rows import record_energy, refuse
    from .search import search
    from .settling import settle

CROWDED_TABLE = cython.declare(cython.Py_ssize_t, _CROWDED_TABLE)
DOUBTFUL = cython.declare(cython.Py_ssize_t, _DOUBTFUL)
GENERATING = cython.declare(cython.Py_ssize_t, _GENERATING)
LAWLESS = cython.declare(cython.Py_ssize_t, _LAWLESS)
TURNED = cython.declare(cython.Py_ssize_t, _TURNED)


def take_step(m: Memory, dim: int, table: Table, course: Course, step: int, known: int) -> bool:
    """Take the substeps of step ``step`` of a table.

    A substep is repeated until its inputs are those that the controllers solved within it give for its end. Returns
    False if one is not solved. ``known`` is the number of rows of history.
    """
    parts = course.parts
    within = course.calls.within
    first = known
    substeps = parts.shares.size
    begin_pair(m, parts.pair)
    m.rub_settles[1] = 0.0
    for i in range(substeps):
        update_largest_energy(m, parts.pair)
        k = step * substeps + i
        guess(m, dim, table.times[k + 1] - table.times[k], known)
        begin_within(m, within, table.inputs, k)
        settled = m.rub_settles[1]
        answer = 1
        while answer == 1:  # the next try starts from the result of the last one
            m.rub_settles[1] = settled
            if not (take_substep(m, dim, parts, table, k, known) and _end_substep(m, dim, parts, table, k, first)):
                return False
            answer = is_repeated(m, dim, within, table.inputs, k)
        if answer != 0:
            return False
        known = smaller_int(known + 1, parts.depth)
    return _finish_pair(m, dim, parts, table, step)


def _end_substep(m: Memory, dim: int, parts: Parts, table: Table, k: int, first: int) -> bool:
    """Finish substep k: estimate the error of a pair, reduce the velocity defect, and settle slips.

    Returns False if one of these fails. ``first`` rows of history were filled before its step.
    """
    i = k % parts.shares.size
    given = given_of(table, k)
    if i == 0:
        store_gaps(m, parts.pair)
    elif not _estimate_error(m, dim, parts, given, first):
        return False
    if parts.kinds.decay > 0 and not lose_defect(m, dim, parts.kinds.redundant, given, given.h / parts.shares[i]):
        return False
    if parts.kinds.friction > 0 and m.rub_settles[0] != 0.0:
        return settle(m, dim, parts.kinds.redundant, given)
    return True


def _estimate_error(m: Memory, dim: int, parts: Parts, given: Given, known: int) -> bool:
    """Estimate the error of a pair of substeps, if steps are taken in pairs; False if the Jacobian is singular.

    ``known`` is the number of rows of history before the pair.
    """
    if parts.pair.found.size == 0:
        return True
    if parts.kinds.contact > 0 and release_contacts(m, parts.pair) and not factor_step(m, dim, parts.kinds, given):
        return False
    estimate(m, dim, parts.kinds, parts.pair, given.h, known)
    return True


def _finish_pair(m: Memory, dim: int, parts: Parts, table: Table, step: int) -> bool:
    """Reverse the velocity defect of joints after a pair of substeps if the pair has increased it.

    Nothing is done if steps are not taken in pairs. Returns False for dependent constraints.
    """
    if parts.pair.found.size == 0:
        return True
    k = 2 * step + 1
    update_largest_energy(m, parts.pair)
    length = table.times[k + 1] - table.times[k - 1]
    return reflect_defect(m, dim, parts.kinds.redundant, parts.pair, given_of(table, k), length)


def take_substep(m: Memory, dim: int, parts: Parts, table: Table, k: int, known: int) -> bool:
    """Take substep k of a table from its guess, and add it to the results of its step; False if it is not solved."""
    kinds = parts.kinds
    given = given_of(table, k)
    if kinds.decay > 0:
        prepare(m, dim, given.h)
    if kinds.redundant > 0:
        if not find_dependent(m, dim, given.before):
            return refuse(m, DOUBTFUL, 0)
        keep_least(m, m.x_lam)
    set_changing_values(m, table.moved[k if table.moved.shape[0] > 1 else 0])
    m.trial_time[0] = 0.5 * (table.times[k] + table.times[k + 1])
    iterations = _solve(m, dim, kinds, given, known)
    if iterations < 0:
        return False
    if generates_energy(m, given.h):
        return refuse(m, GENERATING, iterations)
    if turns_beyond_stop(m):
        return refuse(m, TURNED, iterations)
    if kinds.contact > 0 and leaves_list(m, dim):
        return False
    if kinds.contact > 0 and has_no_row(m, dim):
        return refuse(m, CROWDED_TABLE, iterations)
    if kinds.friction > 0 and not obeys_law(m, given.h):
        return refuse(m, LAWLESS, iterations)
    m.run_step_audit[4] += iterations
    _record(m, dim, parts, given, k % parts.shares.size)
    remember(m, given.h, known)
    return True


def _solve(m: Memory, dim: int, kinds: Kinds, given: Given, known: int) -> int:
    """Solve a substep by the first iteration method that converges; return its iterations, −1 if none does.

    Newton's method is tried first, then for bodies with quadratic strains Newton's method with predicted mean
    stresses, then the line search (contacts, slips, springs and nonlinear laws). With dry friction of joints only the
    first is tried.
    """
    iterations = newton(m, dim, kinds, given, False)
    if iterations >= 0 or kinds.friction > 0:
        return iterations
    tried = cython.cast(cython.Py_ssize_t, m.run_failure[1])
    if m.elastic_G_val.size > 0 and m.strains_stress.size == 0 and m.run_asked.size == 0:
        _guess_again(m, dim, kinds, given, known)
        iterations = newton(m, dim, kinds, given, True)
        if iterations >= 0:
            return tried + iterations
    lawful = m.solids_lawful.size + m.strains_lawful.size
    if kinds.contact + m.slips_lost.size + lawful + m.joints_stiffness.size > 0:
        _guess_again(m, dim, kinds, given, known)
        return search(m, dim, kinds, given)
    return -1


def _guess_again(m: Memory, dim: int, kinds: Kinds, given: Given, known: int) -> None:
    guess(m, dim, given.h, known)
    if kinds.redundant > 0:
        keep_least(m, m.x_lam)


def _record(m: Memory, dim: int, parts: Parts, given: Given, i: int) -> None:
    """Add the i-th substep of a step to its results, and make its end the start of the next one."""
    kinds = parts.kinds
    flows(m, dim, given.h, given.before, given.after)
    if kinds.friction > 0:
        record_friction(m, given.h)
    outputs(m, dim)
    if kinds.contact > 0:
        add_surface_outputs(m, dim, m.run_output)
    copy(m.run_output, m.run_step_output)
    if kinds.decay > 0:
        m.run_flow[m.run_flow.size - 1] += numerical_loss(m, dim)
    if kinds.contact > 0:
        record_contacts(m, dim, given.h)
    _begin_next(m, dim)
    if kinds.contact > 0:
        store_contacts(m, dim)
    energies(m, dim, m.run_new_energy)
    velocity_defect(m, dim, given.after, given.coefficient_rate, given.offset_rate)
    if kinds.friction > 0:
        m.rub_settles[0] = 1.0 if begins_to_stick(m, dim) else 0.0
    m.run_step_audit[0] = larger(m.run_step_audit[0], fabs(record_energy(m)))
    record_gaps(m, given.h, given.after, given.offset)
    close_gaps(m, kinds.redundant)
    for row in range(given.offset.size):
        m.run_step_stage[row] += parts.shares[i] * m.x_lam[row]
        alternating = m.system_x[m.border_l[row]] / given.h
        m.run_step_multipliers[row] += parts.weights[i] * (m.x_lam[row] - alternating)


def _begin_next(m: Memory, dim: int) -> None:
    """Make the end of the substep the start of the next one."""
    copy(m.end_state, m.at_state)
    copy(m.end_vectors, m.at_vectors)
    place_points(m)
    set_changing_masses(m, 1.0)
    derive_momenta(m, dim, m.trial_c)


def record_gaps(m: Memory, h: float, after: Array, offset: Array) -> None:
    """Record the largest residuals of the constraints on positions at the end of a step, and on velocities over it.

    ``after`` and ``offset`` are the coefficients and offsets of the constraints at the end.
    """
    audit = m.run_step_audit
    for i in range(offset.size):
        m.run_gap[i] = -offset[i]
    for i in range(m.joints_term_row.size):
        m.run_gap[m.joints_term_row[i]] += after[i] * m.at_product[m.joints_term_product[i]]
    add_squares(m, m.run_gap)
    add_curve_gaps(m, m.run_gap, m.at_place)
    for i in range(offset.size):
        if m.rolling_free[i]:
            audit[3] = larger(audit[3], fabs(m.defect_lam[i] / h))
        else:
            audit[1] = larger(audit[1], fabs(m.run_gap[i]))


def close_gaps(m: Memory, redundant: int) -> None:
    """Compute the part of the multipliers that alternates from step to step, by the factored Jacobian.

    It is what would close gaps of ½h(e₁ − e₀), with the velocity defects e₀ at the start and e₁ at the end of the step.
    In the memory e₀ is replaced by e₁.
    """
    for i in range(m.run_defect.size):
        m.run_gap[i] = m.run_new_defect[i] - m.run_defect[i]
        m.run_defect[i] = m.run_new_defect[i]
    if redundant > 0:
        keep_independent(m, m.run_gap)
    fill(m.system_x, 0.0)
    for i in range(m.border_l.size):
        m.system_x[m.border_l[i]] = 0.5 * m.run_gap[i]
    if redundant > 0:
        solve_least(m)
    else:
        solve_border(m)
