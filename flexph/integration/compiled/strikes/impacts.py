"""Impacts at the beginning of a step, of contacts that would close in it (see contact.impact_stepper)."""

from __future__ import annotations

from ....contacts.compiled.island_space import LawSpace
from ....kernels.contacts.gaps import TOUCHING
from ....kernels.resolution import RESOLUTION
from ....numerics.compiled.kernel import kernel
from ..contact.gaps import gap_of, place_vectors
from ..loops.motion import node_speeds
from ..memory.memory import Memory
from .bodies import are_apart, weigh
from .coupled import factor_at
from .given import AT_TIME, OVER_PART, Given, Prescribed, ask, given_between, given_of
from .marks import CLOSES, OPEN, TOUCHES
from .newton_law import strike_islands
from .records import see_defect
from .rows import answer, look, rate, stand
from .trial import solve_free

STRIKES, WIDE, RESTING = 200, 0.5, 1e-11
"""See contact.impact_stepper and contact.strikes."""


@kernel
def strike(
    m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], law: LawSpace, p: Prescribed, size: float, known: int
) -> int:
    """Impacts until no contact with restitution closes in the step; how many there were, −1 where one is not solved."""
    prepare(m, axes)
    given = given_of(p.table, p.k)
    h, count = given.h, 0
    while count < STRIKES and _may_bounce(m, h, size):
        if not solve_free(m, axes, kinds, given, known if count == 0 else 0):
            return -1
        _look_ahead(m, axes, h)
        before = count
        _choose(m, axes, h, size, True)
        if not are_apart(m) and _bounces(m) and not _factor(m, axes, kinds, p):
            return -1
        while count < STRIKES and _bounces(m):
            if not strike_islands(m, axes, kinds, law, _at_start(p)):
                return -1
            count += 1
            find_rates(m)
            _choose(m, axes, h, size, False)
        if count == before:
            break
    return count


@kernel
def _factor(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], p: Prescribed) -> bool:
    """Factor the masses and joints at the start of a step, where time prescribes rates; False where that fails."""
    begin, end = p.table.times[p.k], p.table.times[p.k + 1]
    if not ask(m, p, begin, begin, AT_TIME):
        return False
    see_defect(m, axes, _at_start(p).before, _at_start(p))
    return factor_at(m, axes, kinds, _at_start(p).before) and ask(m, p, begin, end, OVER_PART)


@kernel
def _at_start(p: Prescribed) -> Given:
    """What was asked for at the start of a step."""
    begin = p.table.times[p.k]
    return given_between(p, begin, begin)


@kernel
def prepare(
    m: Memory,
    axes: tuple[int, ...],
) -> None:
    """Gaps, rows and rates of all rigid contacts at ``at``; of others no rates."""
    stand(m, axes)
    if are_apart(m):
        weigh(m, axes)
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            look(m, axes, c)
            if are_apart(m):
                answer(m, axes, c)
            m.touch_before[c] = gap_of(m, axes, c, m.touch_first)
    find_rates(m)


@kernel
def find_rates(m: Memory) -> None:
    """The rates of all gaps."""
    for c in range(m.contacts_kind.size):
        m.strike_rates[0, c] = rate(m, c, 0)


@kernel
def fastest(m: Memory) -> float:
    """The largest rate of a gap."""
    speed = 0.0
    for c in range(m.contacts_kind.size):
        speed = max(speed, abs(m.strike_rates[0, c]))
    return speed


@kernel
def _may_bounce(m: Memory, h: float, size: float) -> bool:
    """Whether a contact with restitution closes."""
    for c in range(m.contacts_kind.size):
        if m.contacts_restitution[c] > 0.0 and m.strike_rates[0, c] < -RESOLUTION * size / h:
            return True
    return False


@kernel
def _look_ahead(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Where nodes are at the end of a free step, without what their velocities at its start do."""
    _go_on(m, axes, h)
    for k in range(m.nodes_body.size):
        for i in range(len(axes)):
            end = m.nodes_moves[k] * m.end_r[m.nodes_body[k], i] + m.end_arm[k, i]
            m.strike_ahead[k, i] = end - m.strike_point[k, i]


@kernel
def _go_on(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """The way of the nodes at their velocities."""
    node_speeds(m, axes)
    for k in range(m.nodes_body.size):
        for i in range(len(axes)):
            m.strike_point[k, i] = h * m.run_moved[k, i]


@kernel
def _choose(m: Memory, axes: tuple[int, ...], h: float, size: float, first: bool) -> None:
    """Mark contacts that close in the step by 2, those that touch by 1."""
    _go_on(m, axes, h)
    for k in range(m.nodes_body.size):
        for i in range(len(axes)):
            m.strike_point[k, i] += m.strike_ahead[k, i]
    speed = fastest(m)
    for c in range(m.contacts_kind.size):
        if not m.contacts_rigid[c]:
            continue
        if first:
            m.strike_opens[c] = 1
        place_vectors(m, axes, c, m.strike_nowhere, m.strike_point, m.touch_last)
        after, now = gap_of(m, axes, c, m.touch_last), m.strike_rates[0, c]
        touches = m.touch_before[c] <= TOUCHING * size
        if first and not touches and after > WIDE * h * speed:
            m.strike_opens[c] = 0  # which is not looked at before the next free step
        bend = 2.0 * abs(after - m.touch_before[c] - h * now) / h
        closes = m.strike_opens[c] > 0 and after <= 0.0 and now < -max(bend, RESTING * speed)
        m.strike_may_close[c] = CLOSES if closes else TOUCHES if touches else OPEN


@kernel
def _bounces(m: Memory) -> bool:
    """Whether a contact that closes has restitution."""
    bounces = False
    for c in range(m.contacts_kind.size):
        bounces = bounces or (m.strike_may_close[c] == 2 and m.contacts_restitution[c] > 0.0)
    return bounces
