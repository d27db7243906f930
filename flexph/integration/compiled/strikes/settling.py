"""What settles at the end of a step: the plastic law for its impulses and more (see contacts.velocities)."""

from __future__ import annotations

import math

from ....contacts.compiled.newton import TINY
from ....kernels.contacts.gaps import TOUCHING
from ..contact.gaps import gap_of
from ..memory.kernel import kernel
from ..memory.memory import Memory
from ..steps.iterate import coordinate_size
from .bodies import weigh
from .closing import by_itself, missed_by
from .islands import LARGEST, LawSpace, assemble, cone_of, find_islands, move, rows_of
from .newton_law import ROUGH, go_over, obey, push_all, scale_of
from .records import RUBBED, SETTLED, begin_part, end_part, judge, record_impulses, record_loss, rubbed
from .rows import answer, look, rate, rate_after, stand

OBEYED = 1e-12
"""Defect of a law that is obeyed."""


@kernel
def settle(m: Memory, axes: tuple[int, ...], law: LawSpace, h: float) -> int:
    """1 where velocities settle, 0 where there is nothing to, −1 where the law of an island is not solved."""
    stand(m, axes)
    weigh(m, axes)
    size = coordinate_size(m)
    for c in range(m.contacts_kind.size):
        if m.strike_may_close[c] > 0:
            look(m, axes, c)
            acts = m.strike_impulse[0, c] > 0.0 or gap_of(m, axes, c, m.touch_last) <= TOUCHING * size
            m.strike_may_close[c] = 2 if acts else 0
            if acts:
                answer(m, axes, c)
                for i in range(len(axes)):
                    m.strike_rates[i, c], m.strike_given[i, c] = rate(m, c, i), m.strike_impulse[i, c]
    return _settle(m, axes, law, h)


@kernel
def _settle(m: Memory, axes: tuple[int, ...], law: LawSpace, h: float) -> int:
    islands = find_islands(m, m.strike_may_close)
    scale, settled = scale_of(m, axes, m.strike_begin[islands]), 0
    for k in range(m.strike_begin[islands]):
        c = m.strike_member[k]
        scale = max(scale, m.strike_impulse[0, c] * by_itself(m, c, 0))
    begin_part(m)
    m.strike_change[:] = 0.0
    for i in range(islands):
        first, last = m.strike_begin[i], m.strike_begin[i + 1]
        if _obeys(m, axes, first, last, scale):
            continue
        r = rows_of(m, axes, first, last)
        if r * (last - first) > LARGEST or not _settle_island(m, axes, law, first, last - first, r, scale, h):
            return -1
        settled = 1
    if settled > 0:
        go_over(m)
        end_part(m, axes)
    return settled


@kernel
def _obeys(m: Memory, axes: tuple[int, ...], first: int, last: int, scale: float) -> bool:
    """Whether velocities and impulses that led to them obey the law, nearly to round-off of their terms."""
    missed = 0.0
    for k in range(first, last):
        missed = max(missed, missed_by(m, axes, m.strike_member[k]))
    return missed <= OBEYED * scale


@kernel
def _settle_island(
    m: Memory, axes: tuple[int, ...], law: LawSpace, first: int, count: int, r: int, scale: float, h: float
) -> bool:
    """What settles in an island, as far as that creates no energy together with the step."""
    assemble(m, law, first, count, r)
    cone, taken = cone_of(m, law, first, count, r, scale), 0.0
    for k in range(count):
        c = m.strike_member[first + k]
        taken += m.strike_taken[c]
        for i in range(r):
            law.x[i * count + k], law.y[i * count + k] = m.strike_given[i, c], m.strike_rates[i, c]
    move(cone.D, law.x, law.moved)
    for at in range(r * count):
        law.b[at] = law.y[at] - law.moved[at]
    defect = obey(law, cone)
    if not defect <= ROUGH:
        return False
    judge(m, defect * scale, scale)
    _go_so_far(m, law, first, count, r, taken)
    _record(m, axes, law, first, count, r)
    return True


@kernel
def _go_so_far(m: Memory, law: LawSpace, first: int, count: int, r: int, taken: float) -> None:
    """Impulses that are added, as far as they give back no more than was taken, into ``x``."""
    slope, curve, size = 0.0, 0.0, r * count
    for i in range(r):
        for k in range(count):
            law.x[i * count + k] -= m.strike_given[i, m.strike_member[first + k]]
    for at in range(size):
        total = 0.0
        for other in range(size):
            total += law.D[at * size + other] * law.x[other]
        slope += law.x[at] * law.y[at]
        curve += law.x[at] * total
    root = math.sqrt(slope * slope + 2.0 * max(curve, 0.0) * max(taken, 0.0))
    share = min(1.0, (root - slope) / max(curve, TINY))
    for at in range(size):
        law.x[at] *= share


@kernel
def _record(m: Memory, axes: tuple[int, ...], law: LawSpace, first: int, count: int, r: int) -> None:
    """Velocities with the impulses that are added, and what they take."""
    push_all(m, law, first, count, r)
    for k in range(count):
        c = m.strike_member[first + k]
        before = rubbed(m, axes, c)
        for i in range(r):
            at = i * count + k
            lost = -law.x[at] * 0.5 * (law.y[at] + rate_after(m, c, i))
            record_loss(m, c, SETTLED if i == 0 else RUBBED, lost)
            m.strike_impulse[i, c] += law.x[at]
        record_impulses(m, c, law.x[k], rubbed(m, axes, c) - before, m.strike_opens[c] > 0)
