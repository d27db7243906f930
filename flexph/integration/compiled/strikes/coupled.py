"""Bodies that joints and springs couple, or that bend: how all answer impulses of contacts, by the Jacobian of a step.

Where the bodies are free each answers by its own matrix (see .bodies). Here the border of the step is factored as for
steps without contacts; for velocities at a state it is that of a step of no length (see steps.impulse).
"""

from __future__ import annotations

from ....kernels.contacts.gap_arrays import DISTANCE
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..contact.forces import begin_contacts
from ..contact.gaps import dot
from ..friction.rows import along_row, differentiate_slips, pull_unit
from ..loops.arrow import eliminate, solve
from ..loops.assembly import assemble_step
from ..loops.redundancy import factor_assembled, find_dependent, keep_independent, keep_least
from ..loops.redundancy import solve as solve_least
from ..loops.residual import balance_momenta, trial
from ..memory.memory import Memory
from ..nodal.forces import begin_strains, run_ahead
from ..steps.impulse import INSTANT, factor_instant
from ..steps.newton import turns_back
from ..terms.border import add
from ..terms.nodes import differentiate_node
from .bearings import friction_of, is_bearing, meet_bearings, push_joints, slip_of
from .given import Given
from .rows import bending, meet, side_velocity


@kernel
def evaluate_coupled(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], given: Given) -> None:
    """Defects of mean velocities and multipliers with the impulses of rigid contacts that may close."""
    if len(kinds) > 0:
        push_joints(m, given.h)
    trial(m, axes, (), kinds[:1], given.h, given.before, given.after, given.offset, given.inputs)
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            m.touch_force[c] = 0.0
            if m.strike_may_close[c] > 0:
                meet(m, axes, c, given.h)
    if len(kinds) > 0:
        meet_bearings(m, given.h)
    balance_momenta(m, axes, (), (1,), given.h)
    if len(kinds) > 1:
        keep_independent(m, m.defect_lam)


@kernel
def begin_coupled(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], given: Given) -> bool:
    """Values at the start of a step that its iterates go from; False where the rank of joints is in doubt."""
    m.trial_stuck[:] = 0.0
    if not begin_joints(m, axes, kinds, given):
        return False
    if len(kinds) > 0:
        begin_contacts(m, axes)
    if len(axes) == 3 and m.strains_stress.size > 0:
        begin_strains(m)
    return True


@kernel
def begin_joints(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], given: Given) -> bool:
    """Which joints depend on others, where multipliers are of least norm; False where their rank is in doubt."""
    if len(kinds) > 1:
        if not find_dependent(m, axes, given.before):
            return False
        keep_least(m, m.x_lam)
    return True


@kernel
def relations_stick(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], given: Given) -> bool:
    """Whether relations of springs are to be taken by their tangents at rest, or were (see steps.newton)."""
    by = given.h, given.before, given.after, given.offset
    return turns_back(m, axes, (), kinds[:1], by[0], by[1], by[2], by[3], given.inputs)


@kernel
def go_ahead(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Stresses of bodies of nodes after the changes of velocities, for the next Jacobian (see nodal.forces)."""
    if len(axes) == 3 and m.strains_stress.size > 0:
        d = len(axes)
        for b in range(m.inertia_mass.size):
            for i in range(d):
                m.correction_v[b, i] = -m.strike_change[b, i]
            for i in range(m.correction_w.shape[1]):
                m.correction_w[b, i] = -m.strike_change[b, d + i]
        run_ahead(m, h)


@kernel
def factor_coupled(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], given: Given) -> bool:
    """Factor the Jacobian of the iterate, without what rigid balls that touch do to each other as they turn."""
    assemble_step(m, axes, (), kinds[:1], given.h, given.before, given.after)
    if len(kinds) > 0:
        differentiate_slips(m, axes, given.h)
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c] and m.contacts_kind[c] == DISTANCE and m.touch_force[c] != 0.0:
            for end in range(2):
                if m.contacts_node[c, end] >= 0:
                    _turn_ball(m, axes, c, m.contacts_node[c, end], given.h)
    if len(kinds) > 1:
        return factor_assembled(m, axes, ())
    else:
        return eliminate(m, axes, ())


@kernel
def _turn_ball(m: Memory, axes: tuple[int, ...], c: int, k: int, h: float) -> None:
    """−h ∂(F n)/∂v of a contact of balls on a body, for the turning of n alone."""
    b, d, mean, end = m.nodes_body[k], len(axes), m.touch_mean[c, 0], m.touch_end[c, 0]
    apart = abs(m.touch_before[c] + m.contacts_offset[c]) + abs(m.touch_after[c] + m.contacts_offset[c])
    gain = -h * m.contacts_sign[c] * m.touch_force[c] / apart
    differentiate_node(m, axes, h, k, 1.0, 0)
    for i in range(m.strike_change.shape[1]):
        row = m.border_v[b, i] if i < d else m.border_w[b, i - d]
        along = dot(axes, m.system_B[i], mean)
        for j in range(m.strike_change.shape[1]):
            value = dot(axes, m.system_B[i], m.system_W[j]) - along * dot(axes, end, m.system_W[j])
            add(m, row, m.border_v[b, j] if j < d else m.border_w[b, j - d], gain * value)


@kernel
def factor_at(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], coefficient: Array) -> bool:
    """Factor the masses and joints at ``at``; False where these are dependent, or their rank is in doubt."""
    if len(kinds) > 1 and not find_dependent(m, axes, coefficient):
        return False
    return factor_instant(m, axes, kinds[1:], coefficient)


@kernel
def _solve(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], h: float) -> None:
    """Corrections from their defects, with multipliers of least norm where these are asked for."""
    if len(kinds) > 1:
        solve_least(m, axes, (), h)
    else:
        solve(m, axes, (), h)


@kernel
def change_coupled(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], h: float) -> None:
    """Changes of velocities, multipliers and slips by the defects alone."""
    _solve(m, axes, kinds, h)
    for q in range(m.strike_slide.size):
        m.strike_slide[q] = -along_row(m, q)
    for b in range(m.strike_change.shape[0]):
        for i in range(m.strike_change.shape[1]):
            m.strike_change[b, i] = -side_velocity(m, b, i, m.correction_v, m.correction_w)
    for i in range(m.strike_bend.size):
        m.strike_bend[i] = -m.correction_du[i]
    for i in range(m.strike_held.size):
        m.strike_held[i] = -m.correction_lam[i]


@kernel
def answer_members(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], members: int, h: float) -> None:
    """What unit impulses of the contacts of all islands change: velocities, and multipliers or impulses of joints.

    By the Jacobian of a step, or with h = 0 by that of a step of no length.
    """
    for k in range(members):
        c = m.strike_member[k]
        m.strike_own[:, c] = 0.0
        for i in range(len(axes)):
            if i == 0 or friction_of(m, c) > 0.0:
                _answer(m, axes, kinds, c, i, m.strike_response[k * len(axes) + i], h)
        if is_bearing(m, c):
            _fill_own(m, c)


@kernel
def _fill_own(m: Memory, c: int) -> None:
    """What scales the rows of the law of a bearing that no impulse moves by itself: the largest of those that do."""
    largest = 0.0
    for r in range(1, m.strike_own.shape[0]):
        largest = max(largest, m.strike_own[r, c])
    for r in range(m.strike_own.shape[0]):
        if slip_of(m, c, r) < 0:
            m.strike_own[r, c] = largest if largest > 0.0 else 1.0


@kernel
def _act(m: Memory, axes: tuple[int, ...], c: int, r: int) -> None:
    """Defects by a unit impulse of a contact or bearing."""
    if is_bearing(m, c):
        pull_unit(m, axes, slip_of(m, c, r), -1.0)
        return
    m.defect[:] = 0.0
    for side in range(2):
        if m.contacts_sides[c, side] >= 0:
            for a in range(m.strike_change.shape[1]):
                _add_velocity(m, axes, m.contacts_sides[c, side], a, m.strike_act[2 * c + side, r, a])
    for i in range(m.strike_bend.size):
        m.defect_du[i] = m.strike_bend_act[c * len(axes) + r, i]


@kernel
def _answer(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], c: int, r: int, out: Array, h: float) -> None:
    if is_bearing(m, c) and slip_of(m, c, r) < 0:
        out[:] = 0.0
        return
    n, gain = m.strike_change.shape[1], 2.0 if h == 0.0 else 1.0
    _act(m, axes, c, r)
    _solve(m, axes, kinds, h if h > 0.0 else INSTANT)
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
        out[first + q] = gain * along_row(m, q)
    m.strike_own[r, c] = moved_by(m, c, r, out)


@kernel
def _add_velocity(m: Memory, axes: tuple[int, ...], b: int, a: int, act: float) -> None:
    """Add what acts along a velocity of a side to the defects of the bodies."""
    k, d = b - m.inertia_mass.size, len(axes)
    if k < 0:
        if a < d:
            m.defect_v[b, a] += act
        else:
            m.defect_w[b, a - d] += act
    elif a < d:
        for e in range(m.points_node_ptr[k], m.points_node_ptr[k + 1]):
            m.defect_v[m.points_node_frame[e], a] += m.points_node_weight[e] * act


@kernel
def moved_by(m: Memory, c: int, r: int, response: Array) -> float:
    """What a response changes of a rate of a contact or bearing."""
    if is_bearing(m, c):
        q = slip_of(m, c, r)
        return response[response.size - m.strike_slide.size + q] if q >= 0 else 0.0
    total, n = 0.0, m.strike_change.shape[1]
    if m.strike_bend.size > 0:
        total = bending(m, c, r, response[m.strike_change.shape[0] * n :])
    for side in range(2):
        b = m.contacts_sides[c, side]
        if b >= 0:
            for a in range(n):
                total += m.strike_rate[2 * c + side, r, a] * response[b * n + a]
    return total


@kernel
def push_coupled(m: Memory, place: int, impulse: float) -> None:
    """Add what an impulse changes, by the place of its response."""
    response, n = m.strike_response[place], m.strike_change.shape[1]
    for b in range(m.strike_change.shape[0]):
        for a in range(n):
            m.strike_change[b, a] += impulse * response[b * n + a]
    first = m.strike_change.shape[0] * n
    for i in range(m.strike_bend.size):
        m.strike_bend[i] += impulse * response[first + i]
    first += m.strike_bend.size
    for i in range(m.strike_held.size):
        m.strike_held[i] += impulse * response[first + i]
    first += m.strike_held.size
    for q in range(m.strike_slide.size):
        m.strike_slide[q] += impulse * response[first + q]
