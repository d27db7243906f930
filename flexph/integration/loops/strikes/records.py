"""Recording of the impulses of rigid contacts and of parts of steps (see mechanisms.model.accounts)."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array
from ..memory.codes import ARRIVAL as _ARRIVAL
from ..memory.codes import BALANCE as _BALANCE
from ..memory.codes import CLOSED as _CLOSED
from ..memory.codes import CROWDED_TABLE as _CROWDED_TABLE
from ..memory.codes import FRICTION as _FRICTION
from ..memory.codes import GENERATING as _GENERATING
from ..memory.codes import KNOWN as _KNOWN
from ..memory.codes import MISSED as _MISSED
from ..memory.codes import NORMAL as _NORMAL
from ..memory.codes import RUBBED as _RUBBED
from ..memory.codes import SCALE as _SCALE
from ..memory.codes import TOLD as _TOLD
from ..memory.codes import TURNED as _TURNED

if not cython.compiled:
    from math import fabs, sqrt

    from ....numerics.loops.views import copy, fill, larger, smaller_int
    from ..contact.anchors import has_no_row
    from ..contact.flight import turns_beyond_stop
    from ..contact.forces import leaves_list, record_contacts, store_contacts
    from ..mechanics.ledger_rows import energies, flows, outputs, velocity_defect
    from ..mechanics.motion import derive_momenta
    from ..mechanics.relations import generates_energy
    from ..memory.memory import Memory
    from ..memory.structures import Given
    from ..steps.history import remember
    from ..steps.rows import record_energy, refuse
    from ..steps.step import close_gaps, record_gaps
    from ..terms.masses import set_changing_masses
    from ..terms.paths import place_points
    from .bearings import record_bearings
    from .bodies import are_apart
    from .marks import may_close

CROWDED_TABLE = cython.declare(cython.Py_ssize_t, _CROWDED_TABLE)
GENERATING = cython.declare(cython.Py_ssize_t, _GENERATING)
TURNED = cython.declare(cython.Py_ssize_t, _TURNED)
ARRIVAL = cython.declare(cython.Py_ssize_t, _ARRIVAL)
BALANCE = cython.declare(cython.Py_ssize_t, _BALANCE)
CLOSED = cython.declare(cython.Py_ssize_t, _CLOSED)
FRICTION = cython.declare(cython.Py_ssize_t, _FRICTION)
KNOWN = cython.declare(cython.Py_ssize_t, _KNOWN)
MISSED = cython.declare(cython.Py_ssize_t, _MISSED)
NORMAL = cython.declare(cython.Py_ssize_t, _NORMAL)
RUBBED = cython.declare(cython.Py_ssize_t, _RUBBED)
SCALE = cython.declare(cython.Py_ssize_t, _SCALE)
TOLD = cython.declare(cython.Py_ssize_t, _TOLD)


def begin_part(m: Memory) -> None:
    """Begin a part of a step: set the works and losses that are recorded for it to zero."""
    fill(m.run_flow, 0.0)


def end_part(m: Memory, dim: int) -> None:
    """Compute momenta and energies at the new velocities, and record the energy balance of a part of a step."""
    derive_momenta(m, dim, m.trial_c)
    energies(m, dim, m.run_new_energy)
    m.strike_audit[BALANCE] += fabs(record_energy(m))


def set_velocity_defect(m: Memory, dim: int, coefficient: Array, given: Given) -> None:
    """Compute the velocity defect of joints and drives at the present state ``at``, and store it as ``run.defect``."""
    velocity_defect(m, dim, coefficient, given.coefficient_rate, given.offset_rate)
    copy(m.run_new_defect, m.run_defect)


def record_defect(m: Memory, missed: float, scale: float) -> None:
    """Raise the recorded defect of a contact law [m/s] to ``missed``, and its scale to ``scale``."""
    m.strike_audit[MISSED] = larger(m.strike_audit[MISSED], missed)
    m.strike_audit[SCALE] = larger(m.strike_audit[SCALE], scale)


def largest_defect(m: Memory) -> float:
    """Largest relative defect of a contact law in a step.

    Defects are divided by the scale of the rates; the defect of closed gaps is divided at least by the round-off of
    positions over the length of the step.
    """
    scale = larger(m.strike_audit[SCALE], 1e-300)
    return larger(m.strike_audit[MISSED] / scale, m.strike_audit[CLOSED] / larger(scale, m.strike_audit[TOLD]))


def friction_impulse(m: Memory, dim: int, c: int) -> float:
    """Length of the friction impulse of contact c."""
    square = 0.0
    for t in range(dim - 1):
        square += m.strike_impulse[1 + t][c] * m.strike_impulse[1 + t][c]
    return sqrt(square)


def record_impulses(m: Memory, c: int, normal: float, friction: float, strikes: bool) -> None:
    """Add the normal and friction impulse of contact c to the flows, and to the impact impulses if it ``strikes``."""
    m.run_flow[m.contacts_pressed[c]] += normal
    m.run_flow[m.contacts_rubbed[c]] += friction
    if strikes:
        m.run_flow[m.contacts_struck[c][NORMAL]] += normal
        m.run_flow[m.contacts_struck[c][FRICTION]] += friction


def record_loss(m: Memory, c: int, kind: int, lost: float) -> None:
    """Add the loss ``lost`` [J] of contact c to its column of the given kind (see memory.codes)."""
    m.run_flow[m.contacts_struck[c][kind]] += lost


def record_surface(m: Memory, c: int, r: int, impulse: float) -> None:
    """Add the work that a moving surface does with an impulse in row r of contact c to the flows."""
    if r > 0 and m.contacts_surface[c] >= 0:
        m.run_flow[m.contacts_surface[c]] += impulse * m.touch_carried[c][r - 1]


def record_part(m: Memory, dim: int, kinds: int, given: Given, share: float, alone: bool) -> bool:
    """Record a solved part of a step, and make its end the present state ``at``; False if the part is not accepted.

    ``share`` is the length of the part divided by the length of the step. ``alone`` is True if the part is the whole
    step, without impacts. If then no contact may close either, the part of the multipliers that alternates from step to
    step is left out of the recorded ones (see steps.step.close_gaps).
    """
    if turns_beyond_stop(m):
        return refuse(m, TURNED, 0)
    if leaves_list(m, dim):
        return False
    if generates_energy(m, given.h):
        return refuse(m, GENERATING, 0)
    if kinds > 0 and has_no_row(m, dim):
        return refuse(m, CROWDED_TABLE, 0)
    known = cython.cast(cython.Py_ssize_t, m.strike_audit[KNOWN])
    _record(m, dim, kinds, given, share, alone and not may_close(m))
    remember(m, given.h, known)
    m.strike_audit[KNOWN] = smaller_int(known + 1, 2)
    return True


def _record(m: Memory, dim: int, kinds: int, given: Given, share: float, alone: bool) -> None:
    """Add a solved part of a step to the results, and make its end the present state (``at``)."""
    flows(m, dim, given.h, given.before, given.after)
    outputs(m, dim)
    for i in range(m.run_output.size):
        m.run_step_output[i] += share * m.run_output[i]
    _record_contacts(m, dim)
    if kinds > 0:
        record_contacts(m, dim, given.h)
        record_bearings(m, given.h)
    copy(m.end_state, m.at_state)
    copy(m.end_vectors, m.at_vectors)
    place_points(m)
    set_changing_masses(m, 1.0)
    if kinds > 0:
        store_contacts(m, dim)
    end_part(m, dim)
    if not are_apart(m):
        velocity_defect(m, dim, given.after, given.coefficient_rate, given.offset_rate)
        record_gaps(m, given.h, given.after, given.offset)
        if alone:
            close_gaps(m, kinds > 1)
        copy(m.run_new_defect, m.run_defect)
        for i in range(m.x_lam.size):
            m.run_step_stage[i] += share * m.x_lam[i]
            alternating = m.system_x[m.border_l[i]] / given.h if alone else 0.0
            m.run_step_multipliers[i] += share * m.x_lam[i] - alternating


def _record_contacts(m: Memory, dim: int) -> None:
    """Record the impulses of rigid contacts in a part of a step, and the losses by closing gaps and friction."""
    fill(m.strike_taken, 0.0)
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c] and m.touch_force[c] != 0.0:
            arrived = m.touch_force[c] * (m.touch_before[c] - m.touch_after[c])
            lost = 0.0
            for t in range(dim - 1 if m.contacts_friction[c] > 0.0 else 0):
                lost -= m.touch_friction[c][t] * m.touch_slip[c][t]
                record_surface(m, c, 1 + t, m.strike_impulse[1 + t][c])
            record_impulses(m, c, m.strike_impulse[0][c], friction_impulse(m, dim, c), m.strike_opens[c] > 0)
            record_loss(m, c, ARRIVAL, arrived)
            record_loss(m, c, RUBBED, lost)
            m.strike_taken[c] = arrived + lost
