"""Response of coupled or flexible bodies to impulses of contacts, by the Jacobian of a step.

Free bodies respond by matrices of single bodies (see .bodies). Here the border of the step is factored as for steps
without contacts; for velocities at a state it is the border of a step of zero length (see steps.impulse). ``kinds`` is
0 for rigid contacts alone, 1 if there are also compliant contacts or dry friction of joints, 2 for multipliers of least
norm.
"""

from __future__ import annotations

import cython

from ....kernels.contacts.gap_arrays import DISTANCE as _DISTANCE
from ....numerics.arrays import Array
from ..memory.codes import DEPENDENT as _DEPENDENT
from ..memory.codes import DOUBTFUL as _DOUBTFUL

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import fill, larger, part
    from ..contact.forces import begin_contacts
    from ..contact.gaps import dot
    from ..friction.rows import differentiate_slips, set_unit_defects, slip_change
    from ..mechanics.arrow import eliminate, solve
    from ..mechanics.assembly import assemble_step
    from ..mechanics.redundancy import factor_assembled, find_dependent, keep_independent, keep_least
    from ..mechanics.redundancy import solve as solve_least
    from ..mechanics.residual import balance_momenta, trial
    from ..memory.memory import Memory
    from ..memory.structures import Given, Kinds
    from ..nodal.forces import begin_strains, predict_stresses
    from ..solids.forces import begin_solids, predict_solid_stresses
    from ..steps.impulse import INSTANT, factor_instant
    from ..steps.newton import relation_changes
    from ..steps.rows import refuse
    from ..terms.border import add
    from ..terms.nodes import differentiate_node
    from .bearings import apply_friction, evaluate_bearings, friction_of, is_bearing, slip_of
    from .rows import bending, evaluate_contact, side_velocity

DEPENDENT = cython.declare(cython.Py_ssize_t, _DEPENDENT)
DISTANCE = cython.declare(cython.Py_ssize_t, _DISTANCE)
DOUBTFUL = cython.declare(cython.Py_ssize_t, _DOUBTFUL)


def evaluate_coupled(m: Memory, dim: int, kinds: int, given: Given) -> None:
    """Compute the defects of mean velocities and multipliers, with the impulses of rigid contacts that may close."""
    if kinds > 0:
        apply_friction(m, given.h)
    trial(m, dim, 0, kinds > 0, given)
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            m.touch_force[c] = 0.0
            if m.strike_may_close[c] > 0:
                evaluate_contact(m, dim, c, given.h)
    if kinds > 0:
        evaluate_bearings(m, given.h)
    balance_momenta(m, dim, 0, 1, given.h)
    if kinds > 1:
        keep_independent(m, m.defect_lam)


def begin_coupled(m: Memory, dim: int, kinds: int, given: Given) -> bool:
    """Prepare the iteration by the values at the start of a step; False if the rank of the joints is uncertain."""
    fill(m.trial_stuck, 0.0)
    if not begin_joints(m, dim, kinds, given):
        return False
    if kinds > 0:
        begin_contacts(m, dim)
    if m.strains_stress.size > 0:
        begin_strains(m, dim)
    if m.solids_frame.size > 0:
        begin_solids(m, dim)
    return True


def begin_joints(m: Memory, dim: int, kinds: int, given: Given) -> bool:
    """Find the dependent joints, if multipliers are of least norm; False if the rank of the joints is uncertain."""
    if kinds > 1:
        if not find_dependent(m, dim, given.before):
            return False
        keep_least(m, m.x_lam)
    return True


def relations_stick(m: Memory, dim: int, kinds: int, given: Given) -> bool:
    """True if resistive relations are, or are no longer, replaced by their tangents at zero rate (see steps.newton)."""
    return relation_changes(m, dim, Kinds(kinds > 1, 0, kinds > 0, 0), given)


def update_stresses(m: Memory, dim: int, h: float) -> None:
    """Predict the stresses of nodal bodies and solids for the next Jacobian.

    The stresses are linear in the changes of velocities.
    """
    if m.strains_stress.size + m.solids_frame.size > 0:
        d = dim
        for b in range(m.inertia_mass.size):
            for i in range(d):
                m.correction_v[b][i] = -m.strike_change[b][i]
            for i in range(m.correction_w.shape[1]):
                m.correction_w[b][i] = -m.strike_change[b][d + i]
        if m.strains_stress.size > 0:
            predict_stresses(m, dim, h)
        if m.solids_frame.size > 0:
            predict_solid_stresses(m, dim, h)


def factor_coupled(m: Memory, dim: int, kinds: int, given: Given) -> bool:
    """Assemble and factor the Jacobian at the iterate; False if it is singular.

    The Jacobian lacks the coupling of touching rigid balls by the turning of their normal.
    """
    assemble_step(m, dim, 0, kinds > 0, given)
    if kinds > 0:
        differentiate_slips(m, dim, given.h)
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c] and m.contacts_kind[c] == DISTANCE and m.touch_force[c] != 0.0:
            for end in range(2):
                if m.contacts_node[c][end] >= 0:
                    _turn_ball(m, dim, c, m.contacts_node[c][end], given.h)
    if kinds > 1:
        return factor_assembled(m, dim, 0)
    return eliminate(m, dim, 0)


def _turn_ball(m: Memory, dim: int, c: int, k: int, h: float) -> None:
    """Add −h ∂(F n)/∂v of ball contact c to the Jacobian, for node k and the change of the normal n alone."""
    b = m.nodes_body[k]
    d = dim
    mean = m.touch_mean[c][0]
    end = m.touch_end[c][0]
    apart = fabs(m.touch_before[c] + m.contacts_offset[c]) + fabs(m.touch_after[c] + m.contacts_offset[c])
    gain = -h * m.contacts_sign[c] * m.touch_force[c] / apart
    differentiate_node(m, dim, h, k, 1.0, 0)
    for i in range(m.strike_change.shape[1]):
        row = m.border_v[b][i] if i < d else m.border_w[b][i - d]
        along = dot(dim, m.system_B[i], mean)
        for j in range(m.strike_change.shape[1]):
            value = dot(dim, m.system_B[i], m.system_W[j]) - along * dot(dim, end, m.system_W[j])
            add(m, row, m.border_v[b][j] if j < d else m.border_w[b][j - d], gain * value)


def factor_at(m: Memory, dim: int, kinds: int, coefficient: Array) -> bool:
    """Factor masses and joints at the present state ``at``; False if joints are dependent, or their rank is uncertain.

    ``coefficient`` has the coefficients of the constraints there.
    """
    if kinds > 1 and not find_dependent(m, dim, coefficient):
        return refuse(m, DOUBTFUL, 0)
    return factor_instant(m, dim, kinds > 1, coefficient) or refuse(m, DEPENDENT, 0)


def _solve(m: Memory, dim: int, kinds: int, h: float) -> None:
    """Solve for the corrections from the defects, with multipliers of least norm if ``kinds`` is 2."""
    if kinds > 1:
        solve_least(m, dim, 0, h)
    else:
        solve(m, dim, 0, h)


def change_coupled(m: Memory, dim: int, kinds: int, h: float) -> None:
    """Compute the changes of velocities, multipliers and slips that the defects cause, at constant impulses."""
    _solve(m, dim, kinds, h)
    for q in range(m.strike_slide.size):
        m.strike_slide[q] = -slip_change(m, q)
    for b in range(m.strike_change.shape[0]):
        for i in range(m.strike_change.shape[1]):
            m.strike_change[b][i] = -side_velocity(m, b, i, m.correction_v, m.correction_w)
    for i in range(m.strike_bend.size):
        m.strike_bend[i] = -m.correction_du[i]
    for i in range(m.strike_held.size):
        m.strike_held[i] = -m.correction_lam[i]


def set_responses(m: Memory, dim: int, kinds: int, members: int, h: float) -> None:
    """Compute the responses of velocities and joints to unit impulses of the first ``members`` members of islands.

    The responses of joints are multipliers, by the Jacobian of a step of length h [s]; for h = 0, a step of zero
    length, they are impulses.
    """
    for k in range(members):
        c = m.strike_member[k]
        for k1 in range(0, m.strike_own.shape[0]):
            m.strike_own[k1][c] = 0.0
        for i in range(dim):
            if i == 0 or friction_of(m, c) > 0.0:
                _set_response(m, dim, kinds, (c, i), m.strike_response[k * dim + i], h)
        if is_bearing(m, c):
            _fill_own(m, c)


def _fill_own(m: Memory, c: int) -> None:
    """Set the response ``strike.own`` of a rate to a unit impulse along it, in the rows of bearing c that have no slip.

    It is set to the largest response of its slips, or 1 without slips.
    """
    largest = 0.0
    for r in range(1, m.strike_own.shape[0]):
        largest = larger(largest, m.strike_own[r][c])
    for r in range(m.strike_own.shape[0]):
        if slip_of(m, c, r) < 0:
            m.strike_own[r][c] = largest if largest > 0.0 else 1.0


def _apply_unit_impulse(m: Memory, dim: int, c: int, r: int) -> None:
    """Set the defects that a unit impulse in row r of contact or bearing c causes."""
    if is_bearing(m, c):
        set_unit_defects(m, dim, slip_of(m, c, r), -1.0)
        return
    fill(m.defect, 0.0)
    for side in range(2):
        if m.contacts_sides[c][side] >= 0:
            for a in range(m.strike_change.shape[1]):
                _add_velocity(m, dim, m.contacts_sides[c][side], a, m.strike_act[2 * c + side][r][a])
    for i in range(m.strike_bend.size):
        m.defect_du[i] = m.strike_bend_act[c * dim + r][i]


def _set_response(m: Memory, dim: int, kinds: int, row: tuple[int, int], out: Array, h: float) -> None:
    first = cython.declare(cython.Py_ssize_t)
    c, r = row
    if is_bearing(m, c) and slip_of(m, c, r) < 0:
        fill(out, 0.0)
        return
    n = m.strike_change.shape[1]
    gain = 2.0 if h == 0.0 else 1.0
    _apply_unit_impulse(m, dim, c, r)
    _solve(m, dim, kinds, h if h > 0.0 else INSTANT)
    first = m.strike_change.shape[0] * n
    for b in range(m.strike_change.shape[0]):
        for a in range(n):
            out[b * n + a] = gain * side_velocity(m, b, a, m.correction_v, m.correction_w)
    for i in range(m.strike_bend.size):
        out[first + i] = gain * m.correction_du[i]
    first += m.strike_bend.size
    for i in range(m.strike_held.size):
        out[first + i] = m.correction_lam[i] if h > 0.0 else m.system_x[m.border_l[i]]
    first += m.strike_held.size
    for q in range(m.strike_slide.size):
        out[first + q] = gain * slip_change(m, q)
    m.strike_own[r][c] = rate_by_response(m, c, r, out)


def _add_velocity(m: Memory, dim: int, b: int, a: int, act: float) -> None:
    """Add an impulse of size ``act`` along velocity a of side b of a contact to the defects of the bodies.

    A side is a body or a mean of points.
    """
    k = b - m.inertia_mass.size
    d = dim
    if k < 0:
        if a < d:
            m.defect_v[b][a] += act
        else:
            m.defect_w[b][a - d] += act
    elif a < d:
        for e in range(m.points_node_ptr[k], m.points_node_ptr[k + 1]):
            m.defect_v[m.points_node_frame[e]][a] += m.points_node_weight[e] * act


def rate_by_response(m: Memory, c: int, r: int, response: Array) -> float:
    """Change of rate r of contact or bearing c by a response of the bodies, which is a row of ``strike.response``."""
    if is_bearing(m, c):
        q = slip_of(m, c, r)
        return response[response.size - m.strike_slide.size + q] if q >= 0 else 0.0
    total = 0.0
    n = m.strike_change.shape[1]
    if m.strike_bend.size > 0:
        total = bending(m, c, r, part(response, m.strike_change.shape[0] * n, response.shape[0]))
    for side in range(2):
        b = m.contacts_sides[c][side]
        if b >= 0:
            for a in range(n):
                total += m.strike_rate[2 * c + side][r][a] * response[b * n + a]
    return total


def add_coupled_impulse(m: Memory, place: int, impulse: float) -> None:
    """Add the changes of velocities and joint impulses that an impulse causes.

    The response to a unit impulse is row ``place`` of ``strike.response``.
    """
    first = cython.declare(cython.Py_ssize_t)
    response = m.strike_response[place]
    n = m.strike_change.shape[1]
    for b in range(m.strike_change.shape[0]):
        for a in range(n):
            m.strike_change[b][a] += impulse * response[b * n + a]
    first = m.strike_change.shape[0] * n
    for i in range(m.strike_bend.size):
        m.strike_bend[i] += impulse * response[first + i]
    first += m.strike_bend.size
    for i in range(m.strike_held.size):
        m.strike_held[i] += impulse * response[first + i]
    first += m.strike_held.size
    for q in range(m.strike_slide.size):
        m.strike_slide[q] += impulse * response[first + q]
