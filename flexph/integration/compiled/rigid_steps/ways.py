"""The way to the end of a step, or of a part of it, on which marked contacts hold or close."""

from __future__ import annotations

from ....contacts.compiled.island_space import LawSpace
from ....kernels.contacts.gaps import TOUCHING
from ....numerics.compiled.kernel import kernel
from ..memory.memory import Memory
from ..steps.history import guess
from ..steps.iterate import coordinate_size
from ..strikes.bearings import mark_bearings
from ..strikes.bodies import are_apart
from ..strikes.closing import close
from ..strikes.given import OVER_PART, Given, Prescribed, ask, given_between
from ..strikes.marks import CLOSES, look_inside, may_close
from ..strikes.records import CLOSED, KNOWN
from ..strikes.trial import fly

CLOSINGS = 20
"""See contact.stepper."""


@kernel
def begin_way(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """The first iterate of a way, without impulses, and which gaps are open at its start."""
    size = coordinate_size(m)
    guess(m, axes, h, int(m.strike_audit[KNOWN]))
    m.strike_impulse[:] = 0.0
    m.strike_audit[CLOSED] = 0.0
    mark_bearings(m, CLOSES)
    for c in range(m.contacts_kind.size):
        m.strike_opens[c] = 1 if m.touch_before[c] > TOUCHING * size else 0


@kernel
def take_way(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], law: LawSpace, given: Given) -> int:
    """The way from an iterate on which marked contacts may close; its iterations, −1 where it is not solved."""
    if not are_apart(m) and not may_close(m) and m.bearings_friction.size == 0:
        return fly(m, axes, kinds, given)
    return close(m, axes, kinds, law, given)


@kernel
def close_all(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], law: LawSpace, given: Given) -> int:
    """The same with all contacts that close on it, which are marked, too."""
    for _ in range(CLOSINGS):
        iterations = take_way(m, axes, kinds, law, given)
        if iterations < 0:
            return -1
        inside = look_inside(m, axes, CLOSES)
        if inside < 0:
            return -1
        if inside == 0:
            return iterations
    return -1


@kernel
def go(
    m: Memory,
    axes: tuple[int, ...],
    kinds: tuple[int, ...],
    law: LawSpace,
    p: Prescribed,
    begin: float,
    end: float,
    closes: bool,
) -> int:
    """The way from a time to another one, from where the last steps lead; with all contacts that it closes, or not."""
    if not ask(m, p, begin, end, OVER_PART):
        return -1
    given = given_between(p, begin, end)
    begin_way(m, axes, given.h)
    if closes:
        return close_all(m, axes, kinds, law, given)
    return take_way(m, axes, kinds, law, given)
