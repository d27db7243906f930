"""The step in which some rigid contacts may close (see contact.closing).

Newton's method with the Jacobians of the bodies by themselves: what the turning of a contact of two balls does from one
to the other is left to further iterations, each of which takes some hundredth of what is missed. Matrices stay from the
third one on.
"""

from __future__ import annotations

import math

from ....contacts.compiled.island_space import Island, LawSpace
from ....contacts.compiled.newton import TINY
from ....kernels.resolution import POSITIONAL
from ....kernels.tolerances import NEWTON
from ....numerics.compiled.kernel import kernel
from ..loops.motion import copy_field
from ..loops.rolling import has_fallen
from ..memory.memory import Memory
from ..steps.iterate import coordinate_size, is_open
from .bearings import friction_of, is_bearing, size_slips
from .bodies import are_apart, weigh_step
from .coupled import answer_members, begin_coupled, factor_coupled, go_ahead, relations_stick
from .given import Given
from .islands import changed, find_islands, missed_by, push, sized
from .law import prepare
from .pressed import solve_pressed
from .records import CLOSED, FREE, TOLD, judge
from .rows import answer, fill
from .trial import ITERATIONS, RENEWED, SETTLED, STAGNATED, balance_bodies, correct, evaluate, velocity_scale

STALLED, POLISHED = 8, 10
"""Iterations after which those without gain are given up, and of the velocities with the impulses that were found."""
COARSE, FAST = 1e-13, 1e-2
"""Changes that positions do not tell from none, and from which on matrices do not stay."""
WEIGHT, STIFFER, STIFFEST = 1e-6, 100.0, 1e-2
"""Weight on what changes, over the largest entry of D, what it grows by where changes do not end, and the largest."""
AFAR, SOLVED, LAW, REDUNDANT = 1e-2, 3e-13, 1e-12, 1e-11
"""Defects of the complementarity on the way, at the end of the iteration, of a law that is met, and at last of one that
cannot be, as gaps of more contacts of free bodies than needed disagree by round-off. NumPy takes others."""
NEAR = 1e-4
"""Change up to which iterates may be solutions that are not unique, so that each is judged by itself."""
SLOW, STEADY, FURTHEST = 0.8, 0.05, 50.0
"""Change over the last one from which on it is slow, the difference of two such ratios that are the same, and how far
is gone at once over a change."""
TRIES, LIGHTER = 3, 1e-3
"""How often the iteration goes on where that is not met, and the weight over the last one then."""
RESTING = 1e-9
"""Velocities of what rests at the start of a step over the largest in it."""


@kernel
def close(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], law: LawSpace, given: Given) -> int:
    """Solve the step from mean velocities and impulses; the iterations, or −1 where it is not solved."""
    h, islands = given.h, find_islands(m, m.strike_may_close)
    if not are_apart(m) and m.strike_begin[islands] * len(axes) > m.strike_response.shape[0]:
        return -1
    if not are_apart(m) and not begin_coupled(m, axes, kinds, given):
        return -1
    scale = velocity_scale(m, h)
    coarse, weight = COARSE * m.joints_lengths[0] / (h * scale), WEIGHT
    size, previous, least, since, ratio = math.inf, math.inf, math.inf, 0, 0.0
    tries, wanders = 0, False
    for iteration in range(1, ITERATIONS + 1):
        renews = iteration <= RENEWED or size > FAST
        defect = _linearised(m, axes, kinds, law, given, islands, (weight, iteration == 1, renews))
        if not defect <= AFAR:
            return -1
        size, previous = correct(m, scale), size
        if not are_apart(m) and m.joints_resisting.size > 0 and relations_stick(m, axes, kinds, given):
            size = least = math.inf
            continue
        expected = size if iteration == 1 else size * min(1.0, size / previous)
        ends = size <= SETTLED or (expected <= SETTLED and defect <= SOLVED)
        wanders = wanders or size > 0.5 * previous
        if wanders and not ends and size <= NEAR:
            if _missed(m, axes, kinds, given, scale) <= LAW:
                return iteration
            ratio = _go_further(m, size / previous, ratio)
        if size > 0.5 * previous and not ends:
            ends = size <= max(STAGNATED, coarse) and weight >= STIFFEST
            if size <= AFAR:  # what nearly redundant impulses change goes on
                weight, since = min(STIFFER * weight, STIFFEST), iteration
        if ends:
            missed = _missed(m, axes, kinds, given, scale)
            if missed <= LAW or (tries == TRIES and are_apart(m) and missed <= REDUNDANT):
                return iteration
            if tries == TRIES:
                return -1
            tries, weight, since, size = tries + 1, LIGHTER * weight, iteration, math.inf
        if size < 0.5 * least:
            least, since = size, iteration
        if iteration - since >= STALLED:
            return -1
    return -1


@kernel
def _linearised(
    m: Memory,
    axes: tuple[int, ...],
    kinds: tuple[int, ...],
    law: LawSpace,
    given: Given,
    islands: int,
    at: tuple[float, bool, bool],
) -> float:
    """Impulses that obey their laws as linearised, and what all that changes; their worst defect.

    ``at`` says the weight on what changes, whether the iteration begins, and whether matrices are made anew.
    """
    weight, begins, renews = at
    evaluate(m, axes, kinds, given)
    if renews and not _renew(m, axes, kinds, given):
        return math.inf
    law.made[1] = 0 if renews else law.made[1]
    balance_bodies(m, axes, kinds, given.h)
    if renews and not are_apart(m):
        answer_members(m, axes, kinds, m.strike_begin[islands], given.h)
    if are_apart(m):
        copy_field(m.strike_impulse, m.strike_given)
    defect = _obey(m, axes, kinds, law, islands, weight, begins)
    if not are_apart(m):
        go_ahead(m, axes, given.h)
    return defect


@kernel
def _go_further(m: Memory, ratio: float, before: float) -> float:
    """Let impulses go on to where changes lead of which each is the last one times the same ratio; the next ratio.

    Velocities follow. Changes are slow where impulses are so nearly redundant that what matrices leave out is more than
    what they have of them.
    """
    if not are_apart(m) or not (SLOW < ratio < 1.0 and abs(ratio - before) <= STEADY):
        return ratio
    further = min(ratio / (1.0 - ratio), FURTHEST)
    for i in range(m.strike_impulse.shape[0]):
        for c in range(m.strike_impulse.shape[1]):
            m.strike_impulse[i, c] += further * (m.strike_impulse[i, c] - m.strike_given[i, c])
    return 0.0


@kernel
def _renew(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], given: Given) -> bool:
    """Matrices of the bodies, and rows of the contacts; False where joints are dependent."""
    if not are_apart(m):
        if not factor_coupled(m, axes, kinds, given):
            return False
    else:
        weigh_step(m, axes, given.h)
    for c in range(m.contacts_kind.size):
        if m.strike_may_close[c] > 0:
            fill(m, axes, c, given.h)
            if are_apart(m):
                answer(m, axes, c)
    return True


@kernel
def _rests(m: Memory, scale: float) -> bool:
    """Whether nothing moves at the start of a step."""
    for b in range(m.inertia_mass.size):
        for a in range(m.at_v.shape[1]):
            if abs(m.at_v[b, a]) > RESTING * scale:
                return False
    return True


@kernel
def _obey(
    m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], law: LawSpace, islands: int, weight: float, begins: bool
) -> float:
    """Impulses that obey their laws after the step of the iteration, whose change they add to; their worst defect."""
    scale, worst, free = TINY, 0.0, 0.0
    for k in range(m.strike_begin[islands]):
        c = m.strike_member[k]
        for i in range(len(axes)):
            scale = max(scale, sized(m, axes, m.x_v, m.x_w, m.x_du, c, i))
            if i > 0 or not is_bearing(m, c):
                rubs = i == 0 or friction_of(m, c) > 0.0
                free = max(free, abs(m.strike_rates[i, c] + changed(m, m.strike_change, c, i)) if rubs else 0.0)
    if len(kinds) > 0:
        scale = max(scale, size_slips(m, axes, m.x_v, m.x_w, m.x_du))
    if begins:
        m.strike_audit[FREE] = free
    scale = max(scale, free, m.strike_audit[FREE])
    rests = begins and _rests(m, scale)
    for i in range(islands):
        island = prepare(m, axes, law, (m.strike_begin[i], m.strike_begin[i + 1]), scale, True)
        if island.contacts == 0:
            return math.inf
        worst = max(worst, _obey_island(m, kinds, law, island, weight, rests))
    return worst


@kernel
def _obey_island(m: Memory, kinds: tuple[int, ...], law: LawSpace, island: Island, weight: float, rests: bool) -> float:
    """The impulses of an island; their defect."""
    count = island.contacts
    for i in range(island.rows):
        for k in range(count):
            c, at = m.strike_member[island.first + k], i * count + k
            law.x[at] = law.given[at] = m.strike_impulse[i, c]
            law.b[at] = m.strike_rates[i, c] + changed(m, m.strike_change, c, i)
    defect = solve_pressed(m, kinds, law, island, weight, rests)
    for i in range(island.rows):
        for k in range(count):
            c, own = m.strike_member[island.first + k], law.x[i * count + k]
            push(m, island.first + k, i, own - m.strike_impulse[i, c])
            m.strike_impulse[i, c] = own
    return defect


@kernel
def _missed(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], given: Given, scale: float) -> float:
    """What the velocities with the impulses that were found miss of their laws over the scale; inf where joints open.

    It is kept as that of the step.
    """
    h = given.h
    for _ in range(POLISHED):
        evaluate(m, axes, kinds, given)
        balance_bodies(m, axes, kinds, h)
        if correct(m, scale) <= SETTLED:
            break
    evaluate(m, axes, kinds, given)
    if not are_apart(m) and (is_open(m, NEWTON.closed) or has_fallen(m)):
        return math.inf
    missed, scale = 0.0, max(m.strike_audit[FREE], TINY)
    for c in range(m.contacts_kind.size):
        if m.strike_may_close[c] > 0:
            missed = max(missed, missed_by(m, axes, c))
            for i in range(len(axes)):
                scale = max(scale, sized(m, axes, m.x_v, m.x_w, m.x_du, c, i))
    if len(kinds) > 0:
        scale = max(scale, size_slips(m, axes, m.x_v, m.x_w, m.x_du))
        for c in range(m.contacts_kind.size, m.strike_may_close.size):
            missed = max(missed, missed_by(m, axes, c))
            scale = max(scale, m.strike_own[0, c] * m.strike_impulse[0, c])
    told = POSITIONAL * coordinate_size(m) / h
    judge(m, 0.0, scale)
    m.strike_audit[CLOSED], m.strike_audit[TOLD] = missed, told
    return missed / max(scale, told) if missed == missed else math.inf
