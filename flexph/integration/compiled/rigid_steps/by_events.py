"""Steps by events: split where gaps close, with an impact there (see contact.stepper)."""

from __future__ import annotations

from ....contacts.compiled.island_space import LawSpace
from ....kernels.contacts.gaps import TOUCHING
from ....kernels.resolution import RESOLUTION
from ....numerics.compiled.kernel import kernel
from ..contact.gaps import gap_of, place_vectors
from ..memory.memory import Memory
from ..steps.iterate import coordinate_size
from ..strikes.coupled import factor_at
from ..strikes.given import AT_TIME, RATES_AT_END, Prescribed, ask, given_between, is_whole
from ..strikes.impacts import RESTING, fastest, find_rates, prepare
from ..strikes.islands import sized
from ..strikes.marks import CLOSES, ENTERS, OPEN, look_inside, may_close
from ..strikes.newton_law import strike_islands
from ..strikes.records import CROWDED, KNOWN, record_way, see_defect
from ..strikes.settling import settle_way
from .closing_time import closing_time
from .ways import go

SPLITS, CROWD, GROUP, SHORTEST = 50, 20, 10, 1e-7
"""See contact.stepper."""


@kernel
def step_by_events(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], law: LawSpace, p: Prescribed) -> bool:
    """A step that is split where gaps close; False where it is not solved, or bodies pass through each other."""
    size, now, end = coordinate_size(m), p.table.times[p.k], p.table.times[p.k + 1]
    length = end - now
    m.strike_met[:] = 0
    alone = True
    for split in range(SPLITS + 1):
        if split == CROWD:
            _look_for_many(m)
        strikes = _strike_where_closed(m, axes, kinds, law, p, now, size)
        if strikes < 0:
            return False
        alone = alone and split + strikes == 0
        _hold(m, length, size, split == SPLITS)
        if split == SPLITS:
            break
        until, iterations = _go_on(m, axes, kinds, law, p, now, size)
        if iterations < 0:
            return False
        if until - now <= SHORTEST * length or 0.0 < end - until <= SHORTEST * length:
            _close_entered(m)
            break
        if not _end(m, axes, kinds, law, p, now, until, iterations, alone and until == end):
            return False
        if until == end:
            return True
        now = until
    iterations = go(m, axes, kinds, law, p, now, end, True)
    return iterations >= 0 and _end(m, axes, kinds, law, p, now, end, iterations, False)


@kernel
def _strike_where_closed(
    m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], law: LawSpace, p: Prescribed, now: float, size: float
) -> int:
    """The impact of all contacts that touch, if one of them closes: 1, or 0 where none does; −1 if not solved."""
    if not _touch(m, axes, size):
        return 0
    prepare(m, axes)
    length = p.table.times[p.k + 1] - p.table.times[p.k]
    if not _closes(m, axes, length, size):
        return 0
    for c in range(m.contacts_kind.size):
        m.strike_may_close[c] = CLOSES if _touches(m, c, size) else OPEN
    if not ask(m, p, now, now, AT_TIME):
        return -1
    given = given_between(p, now, now)
    see_defect(m, axes, given.before, given)
    if not (factor_at(m, axes, kinds, given.before) and strike_islands(m, axes, kinds, law, given)):
        return -1
    m.strike_audit[KNOWN] = 0.0
    find_rates(m)
    return 1


@kernel
def _go_on(
    m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], law: LawSpace, p: Prescribed, now: float, size: float
) -> tuple[float, int]:
    """The way to the end of a step, or to where the first gap closes: that time, and iterations, −1 if not solved.

    A gap may be closed there that is open at the end: it closes before.
    """
    until = p.table.times[p.k + 1]
    length = until - p.table.times[p.k]
    for _ in range(m.contacts_kind.size + 1):
        iterations = go(m, axes, kinds, law, p, now, until, False)
        entered = look_inside(m, axes, ENTERS) if iterations >= 0 else -1
        if entered <= 0:
            return until, iterations if entered == 0 else -1
        until = closing_time(m, axes, kinds, law, p, now, until, size, SHORTEST)
        if not until - now > SHORTEST * length:
            return until, 0 if until >= now else -1
    return until, -1


@kernel
def _touch(m: Memory, axes: tuple[int, ...], size: float) -> bool:
    """Whether a rigid contact touches, in a mechanism of a size [m]; all gaps."""
    found = False
    for c in range(m.contacts_kind.size):
        place_vectors(m, axes, c, m.at_r, m.at_arm, m.touch_first)
        m.touch_before[c] = gap_of(m, axes, c, m.touch_first)
        found = found or _touches(m, c, size)
    return found


@kernel
def _touches(m: Memory, c: int, size: float) -> bool:
    """Whether a contact is a rigid one that touches."""
    return m.contacts_rigid[c] and m.touch_before[c] <= TOUCHING * size


@kernel
def _closes(m: Memory, axes: tuple[int, ...], length: float, size: float) -> bool:
    """Whether a contact that touches closes, faster than positions tell in a step of a length."""
    least, terms = 0.0, 0.0
    for c in range(m.contacts_kind.size):
        if _touches(m, c, size):
            least = min(least, m.strike_rates[0, c])
            for i in range(len(axes)):
                terms = max(terms, sized(m, axes, m.at_v, m.at_w, m.at_du, c, i))
    return least < -max(RESTING * terms, RESOLUTION * size / length)


@kernel
def _hold(m: Memory, length: float, size: float, rests: bool) -> None:
    """Let contacts close that touch and do not bounce off (see contact.stepper), or for the rest of a step all."""
    still = max(RESTING * fastest(m), RESOLUTION * size / length)
    for c in range(m.contacts_kind.size):
        holds = rests or m.contacts_restitution[c] == 0.0 or m.strike_rates[0, c] <= still
        m.strike_may_close[c] = CLOSES if holds and _touches(m, c, size) else OPEN


@kernel
def _close_entered(m: Memory) -> None:
    """Let contacts close in whose bodies come."""
    for c in range(m.contacts_kind.size):
        if m.strike_may_close[c] == ENTERS:
            m.strike_may_close[c] = CLOSES


@kernel
def _end(
    m: Memory,
    axes: tuple[int, ...],
    kinds: tuple[int, ...],
    law: LawSpace,
    p: Prescribed,
    begin: float,
    end: float,
    iterations: int,
    alone: bool,
) -> bool:
    """End a way from one time to another one, ``alone`` in its step; False where what settles there is not solved."""
    for c in range(m.contacts_kind.size):
        m.strike_met[c] = 1 if m.strike_may_close[c] == ENTERS else m.strike_met[c]
    share = (end - begin) / (p.table.times[p.k + 1] - p.table.times[p.k])
    if not (
        ask(m, p, begin, end, RATES_AT_END) and record_way(m, axes, kinds, given_between(p, begin, end), share, alone)
    ):
        return False
    if may_close(m) and not is_whole(p, begin, end):
        if not ask(m, p, end, end, AT_TIME):
            return False
        given = given_between(p, end, end)
        see_defect(m, axes, given.after, given)
        return settle_way(m, axes, kinds, law, given, iterations)
    return settle_way(m, axes, kinds, law, given_between(p, begin, end), iterations)


@kernel
def _look_for_many(m: Memory) -> None:
    """Let a run be told where impacts of a group, each solved by itself, take long."""
    met = 0
    for c in range(m.contacts_kind.size):
        met += m.strike_met[c]
    if met >= GROUP:
        m.strike_audit[CROWDED] = 1.0
