"""Steps by events in which no gap closes: what touches stays closed or opens; and parts of others.

Impacts, and when gaps close, are left to NumPy (see contact.stepper).
"""

from __future__ import annotations

from ....contacts.compiled.island_space import LawSpace
from ....kernels.contacts.gaps import TOUCHING
from ....kernels.resolution import RESOLUTION
from ....numerics.compiled.kernel import kernel
from ..contact.flight import touches, turns_away
from ..memory.memory import Memory
from ..steps.history import guess, remember
from ..steps.iterate import coordinate_size
from ..steps.step import Table, take_substep
from .closing import close
from .given import given_of
from .impacts import RESTING, fastest, prepare
from .islands import sized
from .records import BALANCE, KNOWN, record_step
from .settling import end_step
from .trial import look_inside, may_close


@kernel
def step_by_events(
    m: Memory, axes: tuple[int, ...], coupled: tuple[int, ...], law: LawSpace, table: Table, k: int
) -> bool:
    """A step without impacts in which no gap closes; contacts that touch stay or open.

    A part of a step, where contacts need not be kept open, is that in which those close that are marked.
    """
    given, known, size = given_of(table, k), int(m.strike_audit[KNOWN]), coordinate_size(m)
    if m.touch_keeps_open[0] == 0.0 and may_close(m):
        return _close_marked(m, axes, coupled, law, table, k)
    if m.touch_keeps_open[0] == 0.0 or not touches(m, axes, size):
        guess(m, axes, given.h, known)
        m.strike_audit[KNOWN] = min(known + 1, 2)
        return take_substep(m, axes, (), (), (), (), table, k, known, 1.0, 1.0)
    prepare(m, axes, coupled)
    if _strikes(m, axes, given.h, size) or not _hold(m, given.h, size):
        return False
    guess(m, axes, given.h, known)
    iterations = close(m, axes, coupled, law, given)
    if iterations < 0 or look_inside(m, axes) != 0:
        return False
    return end_step(m, axes, coupled, law, given, known, iterations, True)


@kernel
def _strikes(m: Memory, axes: tuple[int, ...], h: float, size: float) -> bool:
    """Whether a contact that touches closes, faster than positions tell."""
    least, terms = 0.0, 0.0
    for c in range(m.contacts_kind.size):
        if m.touch_before[c] <= TOUCHING * size:
            least = min(least, m.strike_rates[0, c])
            for i in range(len(axes)):
                terms = max(terms, sized(m, axes, m.at_v, m.at_w, m.at_du, c, i))
    return least < -max(RESTING * terms, RESOLUTION * size / h)


@kernel
def _hold(m: Memory, h: float, size: float) -> bool:
    """Let contacts close that touch and do not bounce off (see contact.stepper); False where there are none."""
    still, found = max(RESTING * fastest(m), RESOLUTION * size / h), False
    m.strike_impulse[:] = 0.0
    for c in range(m.contacts_kind.size):
        holds = m.touch_before[c] <= TOUCHING * size
        holds = holds and (m.contacts_restitution[c] == 0.0 or m.strike_rates[0, c] <= still)
        m.strike_may_close[c], m.strike_opens[c] = 2 if holds else 0, 0
        found = found or holds
    return found


@kernel
def _close_marked(
    m: Memory, axes: tuple[int, ...], coupled: tuple[int, ...], law: LawSpace, table: Table, k: int
) -> bool:
    """The part of a step in which contacts close that are marked, before velocities settle; False if not solved."""
    given, known, size = given_of(table, k), int(m.strike_audit[KNOWN]), coordinate_size(m)
    prepare(m, axes, coupled)
    m.strike_impulse[:] = 0.0
    for c in range(m.contacts_kind.size):
        m.strike_opens[c] = 1 if m.touch_before[c] > TOUCHING * size else 0
    guess(m, axes, given.h, known)
    iterations = close(m, axes, coupled, law, given)
    if iterations < 0 or look_inside(m, axes) < 0 or turns_away(m):
        return False
    record_step(m, axes, coupled, given, False)
    remember(m, given.h, known)
    m.run_step_audit[0] = m.strike_audit[BALANCE]
    m.run_step_audit[4] = iterations
    m.strike_audit[KNOWN] = min(known + 1, 2)
    return True
