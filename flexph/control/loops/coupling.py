"""Compiled iteration for the inputs that couple controllers and a mechanism within a step.

The algorithm of :class:`flexph.control.coupled_controllers.CoupledControllers`, called by the loops over steps.
"""

from __future__ import annotations

import math

import cython

from . import data as states
from . import tolerances

if not cython.compiled:
    from math import isfinite

    from ...numerics.loops.callbacks import entry_address
    from ...numerics.loops.callbacks import struct_at as coupling_at
    from ...numerics.loops.callbacks import struct_at as feedback_at
    from ...numerics.loops.callbacks import struct_at as held_feedback_at
    from ...numerics.loops.views import copy, fill, get, larger, put
    from .answers import answer_feedback, answer_linear, called, copy_rows, read, size_of
    from .data import Coupling
    from .elimination import eliminate
    from .laws import compute_rates, linearise_laws, meet_laws, store_rates

CONVERGED = cython.declare(cython.Py_ssize_t, states.CONVERGED)
AGAIN = cython.declare(cython.Py_ssize_t, states.AGAIN)
FAILED = cython.declare(cython.Py_ssize_t, states.FAILED)
BEGIN = cython.declare(cython.Py_ssize_t, states.BEGIN)
WITHDRAW = cython.declare(cython.Py_ssize_t, states.WITHDRAW)
CALLED = cython.declare(cython.Py_ssize_t, states.CALLED)
NEW = cython.declare(cython.Py_ssize_t, states.NEW)
NONE = cython.declare(cython.Py_ssize_t, states.NONE)
MOST = cython.declare(cython.Py_ssize_t, tolerances.MOST)
CLOSED = cython.declare(cython.double, tolerances.CLOSED)
SHIFT = cython.declare(cython.double, tolerances.SHIFT)
SINGULAR = cython.declare(cython.double, tolerances.SINGULAR)
STAGNATED = cython.declare(cython.double, tolerances.STAGNATED)
INFINITE = cython.declare(cython.double, math.inf)


def _set_inputs(a: Coupling) -> None:
    """Write the inputs of the next trial at all ports of the mechanism: sums of the tried inputs of all controllers."""
    fill(a.inputs, 0.0)
    for j in range(a.entries.size):
        put(a.inputs, a.entries[j], get(a.inputs, a.entries[j]) + a.tried[j])


def _guess(a: Coupling) -> None:
    """Write the inputs of the first trial of a step.

    They are extrapolated from the last three steps. If there are laws at ports, or fewer steps, they are the inputs of
    the last step.
    """
    known = a.known[0]
    for j in range(a.tried.size):
        if known < 3 or a.laws.column.size > 0:
            a.tried[j] = a.past[2][j] if known > 0 else 0.0
        else:
            a.tried[j] = 3.0 * (a.past[2][j] - a.past[1][j]) + a.past[0][j]


def _measure_effect(a: Coupling, h: float) -> None:
    """Use a trial for the finite-difference Jacobian, and write the inputs of the next trial.

    The first trial is the base; each further one, in which one input is changed, gives a column. After the last column
    the inputs are the first guess of the iteration.
    """
    p, q = a.probe[0], a.tried.size
    if p == 0:
        copy(a.defect, a.before[1])
        a.shift[0] = SHIFT * larger(1.0, size_of(a.defect, q))
    else:
        for i in range(a.defect.size):
            a.slope[i][p - 1] = (a.defect[i] - a.before[1][i]) / a.shift[0]
    _guess(a)
    if p < q:
        a.tried[p] += a.shift[0]
        a.probe[0] = p + 1
    else:
        a.slope_length[0] = h
        a.probe[0] = NONE


def _update_jacobian(a: Coupling) -> None:
    """Update the Jacobian by Broyden's formula, unless this would make it nearly singular."""
    q, m = a.tried.size, a.laws.column.size
    size = 0.0
    total = cython.declare(cython.double)
    for j in range(q):
        a.answers[j] = a.tried[j] - a.before[0][j]  # reused as work space
        size += a.answers[j] * a.answers[j]
    least = SHIFT * a.scale[0]
    if not size > (least * least if m > 0 else 0.0):
        return
    copy_rows(a.slope, a.space, q)
    least = SINGULAR * abs(eliminate(a.space))
    for i in range(q + m):
        total = a.defect[i] - a.before[1][i]
        for k in range(m):
            total -= a.laws.by[i][k] * (a.laws.force[k] - a.laws.before[k])
        for j in range(q):
            total -= a.slope[i][j] * a.answers[j]
        for j in range(q):
            a.other[i][j] = a.slope[i][j] + total * a.answers[j] / size
    copy_rows(a.other, a.space, q)
    if abs(eliminate(a.space)) > least:
        copy_rows(a.other, a.slope, q + m)


def _commit(a: Coupling, step: int) -> None:
    """Record a step whose coupling converged, and guess the inputs of the next one."""
    c = a.linear
    copy(c.mean, a.means[step])
    copy(c.u, a.given[step])
    copy(a.tried, a.converged[step])
    copy(a.laws.power, a.laws.lost[step])
    for j in range(c.own.size):
        a.port_output[step][j] = a.output[c.output_index[j]]
    copy(c.end, c.x)
    copy(c.x, a.states[step])
    for k in range(a.feedback.size):
        f = feedback_at(a.feedback[k])
        copy(f.end, f.start)
        copy(f.out[0], f.near)
    copy(a.past[1], a.past[0])
    copy(a.past[2], a.past[1])
    copy(a.tried, a.past[2])
    if a.known[0] < 3:
        a.known[0] += 1
    a.finished[1] += 1
    _begin_trials(a)


def _begin_trials(a: Coupling) -> None:
    """Start the iteration of the next step from guessed inputs."""
    a.trials[0] = 0
    a.probe[0] = NEW
    a.size[0] = INFINITE
    _guess(a)


def _begin(a: Coupling) -> None:
    """Save the state before steps that may be withdrawn, and read the sensors of feedback at this state.

    The steps up to this state are accepted.
    """
    copy(a.linear.x, a.linear.begun)
    copy(a.past, a.begun_past)
    a.begun_known[0] = a.known[0]
    a.finished[0] += a.finished[1]
    a.finished[1] = 0
    for k in range(a.feedback.size):
        f = feedback_at(a.feedback[k])
        read(f, a.state[0])
        copy(f.out[0], f.near)
        copy(f.end, f.start)
        copy(f.near, f.begun_near)
        copy(f.start, f.begun_start)


def _withdraw(a: Coupling) -> None:
    """Restore the state that :func:`_begin` saved, and guess the inputs of the next trial."""
    copy(a.linear.begun, a.linear.x)
    copy(a.begun_past, a.past)
    a.known[0] = a.begun_known[0]
    a.finished[1] = 0
    for k in range(a.feedback.size):
        f = feedback_at(a.feedback[k])
        copy(f.begun_near, f.near)
        copy(f.begun_start, f.start)
    _begin_trials(a)
    _set_inputs(a)


def _iterate(a: Coupling, step: int, h: float) -> int:
    """Test a trial for convergence: return CONVERGED, FAILED, or AGAIN with inputs for the next trial.

    The algorithm is that of :class:`CoupledControllers`.
    """
    q, m = a.tried.size, a.laws.column.size
    for j in range(q):
        a.defect[j] = a.tried[j] - a.answers[j]
    if m > 0:
        store_rates(a)
        if a.probe[0] == NEW:
            compute_rates(a)
    if a.probe[0] == NEW:
        a.probe[0] = NONE
        if abs(h - a.slope_length[0]) > SHIFT * h:
            a.probe[0] = 0
    if a.probe[0] >= 0:
        _measure_effect(a, h)
        return AGAIN
    a.scale[0] = larger(a.scale[0], size_of(a.answers, q))
    if a.trials[0] > 0:
        _update_jacobian(a)
    last, scale = a.size[0], a.scale[0]
    size = size_of(a.defect, q)
    if m > 0:
        off = linearise_laws(a)
        size, scale = larger(size / scale if size > 0.0 and scale > 0.0 else size, off), 1.0
    a.size[0] = size
    a.trials[0] += 1
    if size <= CLOSED * scale or (last <= 2.0 * size and size <= STAGNATED * scale):
        _commit(a, step)
        return CONVERGED
    if a.trials[0] >= MOST or not isfinite(size):
        return FAILED
    copy(a.tried, a.before[0])
    copy(a.defect, a.before[1])
    copy_rows(a.slope, a.space, q)
    for j in range(q):
        a.space[j][q] = a.defect[j]
    if m > 0 and not meet_laws(a):
        return FAILED
    eliminate(a.space)
    for j in range(q):
        a.tried[j] -= a.space[j][q]
    return AGAIN


def call_feedback(step: int, data: int) -> int:
    """Call the feedback due at the start of a step and hold its inputs; return 1 if a call fails, else 0.

    ``data`` is the address of the :class:`HeldFeedback`.
    """
    a = held_feedback_at(data)
    for k in range(a.feedback.size):
        if a.due[step][k] != 0:
            f = feedback_at(a.feedback[k])
            read(f, a.states[step - 1] if step > 0 else a.first)
            f.time[0] = a.times[step]
            copy(f.end, f.readings)
            if not called(f):
                return 1
            for j in range(f.inputs.size):
                a.held[f.ports[j]] = f.inputs[j]
            copy(f.out[0], f.near)
            a.due[step][k] = CALLED
    return 0


def iterate(data: int, step: int) -> int:
    """Process a trial of a step: return CONVERGED, FAILED, or AGAIN with inputs for the next trial.

    ``step`` counts from the first step that may be withdrawn; the codes BEGIN and WITHDRAW in its place save and
    restore the state before that step. ``data`` is the address of the :class:`Coupling`.
    """
    a = coupling_at(data)
    if step == BEGIN:
        _begin(a)
        return CONVERGED
    if step == WITHDRAW:
        _withdraw(a)
        return CONVERGED
    step += a.finished[0]
    h = a.times[step + 1] - a.times[step]
    if not (answer_linear(a, step, h) and answer_feedback(a, step)):
        return FAILED
    verdict = _iterate(a, step, h)
    _set_inputs(a)
    return verdict


def iterate_address() -> int:
    """Address of :func:`iterate`, which compiled loops call by ``call_two``."""
    if cython.compiled:
        return cython.cast(cython.Py_ssize_t, cython.address(iterate))
    else:
        return entry_address(iterate, FAILED)


def call_feedback_address() -> int:
    """Address of :func:`call_feedback`, which compiled loops call by ``call_two``."""
    if cython.compiled:
        return cython.cast(cython.Py_ssize_t, cython.address(call_feedback))
    else:
        return entry_address(call_feedback, 1)
