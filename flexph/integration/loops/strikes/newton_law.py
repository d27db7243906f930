"""Newton's impact law with Coulomb friction for islands of contacts that share bodies, without energy gain.

``law`` is the work space of the law of one island: ``law.x`` are its impulses, ``law.y`` its rates before the impact.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array
from ..memory.codes import IMPACT as _IMPACT
from ..memory.codes import LAWLESS as _LAWLESS
from ..memory.codes import TOO_MANY as _TOO_MANY

if not cython.compiled:
    from math import sqrt

    from ....contacts.loops.island_space import Island, LawSpace
    from ....numerics.loops.views import fill, larger, part, smaller
    from ..memory.memory import Memory
    from ..memory.striking import Striking
    from ..memory.structures import Given
    from ..steps.impulse import hold_joints, work_of_joints
    from ..steps.rows import refuse
    from .bearings import begin_slips, is_bearing, mark_bearings, record_struck, scale_pressing, size_slips, write_slips
    from .bodies import are_apart
    from .coupled import set_responses
    from .islands import add_impulse, find_islands, rate_size
    from .law import prepare
    from .marks import CLOSES
    from .pressing import move_rates, solve_pressed
    from .records import (
        begin_part,
        end_part,
        friction_impulse,
        record_defect,
        record_impulses,
        record_loss,
        record_surface,
        set_velocity_defect,
    )
    from .rows import rate, rate_after

TOO_MANY = cython.declare(cython.Py_ssize_t, _TOO_MANY)
LAWLESS = cython.declare(cython.Py_ssize_t, _LAWLESS)
IMPACT = cython.declare(cython.Py_ssize_t, _IMPACT)


WEIGHT = cython.declare(cython.double, 1e-9)
HEAVIER = cython.declare(cython.double, 1e6)
HEAVIEST = cython.declare(cython.double, 1e-3)
SOLVED = cython.declare(cython.double, 1e-12)
ROUGH = cython.declare(cython.double, 1e-10)
"""Proximal weight divided by the largest entry of D, its growth factor while the law is not solved, and its limit;
defect of a solved law, and defect above which an impact is not solved."""


def solve_impacts_of_islands(m: Memory, dim: int, s: Striking, given: Given) -> bool:
    """Solve the impacts of the contacts marked as closing, with touching ones coupled to them; False if one fails.

    All bearings are included, as the impulses of the joints during the impact press them.
    """
    if s.kinds > 0:
        mark_bearings(m, CLOSES)
        scale_pressing(m, 0.0)
        for i in range(m.strike_impulse.shape[0]):
            fill(part(m.strike_given[i], m.contacts_kind.size, m.strike_given[i].shape[0]), 0.0)
            fill(part(m.strike_impulse[i], m.contacts_kind.size, m.strike_impulse[i].shape[0]), 0.0)
    islands = find_islands(m, m.strike_may_close)
    if not begin_impulses(m, dim, s.kinds, m.strike_begin[islands]):
        return False
    scale = scale_of(m, dim, s.kinds, m.strike_begin[islands])
    for i in range(islands):
        island = prepare(m, dim, s.law, (m.strike_begin[i], m.strike_begin[i + 1]), scale, False)
        if island.contacts == 0 or not _solve_impact(m, dim, s, island):
            return False
    end_impulses(m, dim, s.kinds, given.before, given, False)
    return True


def begin_impulses(m: Memory, dim: int, kinds: int, members: int) -> bool:
    """Set the changes of velocities to zero; for coupled bodies first remove the velocity defect of the joints.

    For coupled bodies the responses to impulses are computed, too, for which the matrices must have been factored.
    Returns False if there are more contacts than responses that the memory can hold.
    """
    begin_part(m)
    if not are_apart(m):
        if members * dim > m.strike_response.shape[0]:
            return refuse(m, TOO_MANY, 0)
        if kinds > 0:
            begin_slips(m, dim)
        set_responses(m, dim, kinds, members, 0.0)
        m.run_flow[m.run_flow.size - 1] += hold_joints(m, dim, kinds > 1, m.strike_held)
        for i in range(m.strike_held.size):
            m.strike_held[i] = -m.strike_held[i]
    if kinds > 0:
        write_slips(m, dim, m.rub_slip)
    fill(m.strike_slide, 0.0)
    fill(m.strike_change, 0.0)
    fill(m.strike_bend, 0.0)
    return True


def end_impulses(m: Memory, dim: int, kinds: int, coefficient: Array, given: Given, settles: bool) -> None:
    """Add the changes of velocities by an impact or settling to the present state ``at``, and record the losses.

    ``settles`` is True for settling.
    """
    add_changes(m)
    if not are_apart(m):
        work_of_joints(m, m.strike_held, 1.0, given.coefficient_rate, given.offset_rate)
        set_velocity_defect(m, dim, coefficient, given)
    if kinds > 0:
        record_struck(m, dim, settles)
    end_part(m, dim)


def scale_of(m: Memory, dim: int, kinds: int, members: int) -> float:
    """Scale of the rates: the largest sum of the absolute values of the terms of a rate.

    Rates of the first ``members`` members of islands are considered, and slip rates of bearings if ``kinds`` > 0.
    """
    scale = 1e-300
    for k in range(members):
        for i in range(dim):
            scale = larger(scale, rate_size(m, m.at_v, m.at_w, m.at_du, m.strike_member[k], i))
    if kinds > 0:
        scale = larger(scale, size_slips(m, dim, m.at_v, m.at_w, m.at_du))
    return scale


def add_changes(m: Memory) -> None:
    """Add the changes by impulses to the velocities of the present state ``at``."""
    d = m.at_v.shape[1]
    for b in range(m.inertia_mass.size):
        for a in range(d):
            m.at_v[b][a] += m.strike_change[b][a]
        for a in range(m.at_w.shape[1]):
            m.at_w[b][a] += m.strike_change[b][d + a]
    for i in range(m.strike_bend.size):
        m.at_du[i] += m.strike_bend[i]


def _solve_impact(m: Memory, dim: int, s: Striking, island: Island) -> bool:
    """Solve the impact of an island for its impulses; False if its law is not solved."""
    size = island.rows * island.contacts
    for i in range(island.rows):
        for k in range(island.contacts):
            s.law.y[i * island.contacts + k] = rate(m, m.strike_member[island.first + k], i)
    _set_first_rates(m, s.law, island, True)
    defect = solve_near(m, s, island)
    move_rates(m, s, island, s.law.x, s.law.moved)
    if energy_change(s.law, size) > 0.0:
        for i in range(size):
            s.law.kept[i] = s.law.x[i]
        _set_first_rates(m, s.law, island, False)
        defect = larger(defect, solve_near(m, s, island))
        _limit_energy(m, s, island)
    if not defect <= ROUGH:
        return refuse(m, LAWLESS, 0)
    record_defect(m, defect * island.scale, island.scale)
    _record(m, dim, s.law, island)
    return True


def solve_near(m: Memory, s: Striking, island: Island) -> float:
    """Solve for the impulses of an island near those in ``law.x``; return the defect.

    The proximal weight grows until the law is solved. If no weight is large enough, weights are adapted from step to
    step. Impulses of nearly redundant contacts may then be far from the given ones: eight contacts between two boxes
    may slip a little.
    """
    weight = WEIGHT
    defect = solve_pressed(m, s, island, WEIGHT, False)
    while defect > SOLVED and weight < HEAVIEST:
        weight *= HEAVIER
        defect = solve_pressed(m, s, island, weight, False)
    if not defect <= ROUGH:
        defect = solve_pressed(m, s, island, 0.0, False)
    return defect


def _set_first_rates(m: Memory, law: LawSpace, island: Island, elastic: bool) -> None:
    """Set the rates without impulses in the law of an island, with restitution if ``elastic``; set impulses to zero."""
    for i in range(island.rows * island.contacts):
        law.b[i] = law.y[i]
        law.x[i] = 0.0
        law.given[i] = 0.0
    for k in range(island.contacts if elastic else 0):
        c = m.strike_member[island.first + k]
        law.b[k] += 0.0 if is_bearing(m, c) else m.contacts_restitution[c] * smaller(law.y[k], 0.0)


def energy_change(law: LawSpace, size: int) -> float:
    """Change of the kinetic energy [J] by the impulses ``law.x``.

    ``law.y`` are the rates before them, ``law.moved`` the changes of the rates, both of this ``size``.
    """
    total = 0.0
    for i in range(size):
        total += law.x[i] * (law.y[i] + 0.5 * law.moved[i])
    return total


def _limit_energy(m: Memory, s: Striking, island: Island) -> None:
    """Move the impulses ``law.x`` towards ``law.kept``, as far as no energy is created.

    ``law.x`` are the impulses of the impact without restitution, ``law.kept`` those with restitution.
    """
    size = island.rows * island.contacts
    move_rates(m, s, island, s.law.x, s.law.moved)
    at_rest = energy_change(s.law, size)
    for i in range(size):
        s.law.kept[i] -= s.law.x[i]
    slope = 0.0
    curve = 0.0
    for i in range(size):
        slope += s.law.kept[i] * (s.law.y[i] + s.law.moved[i])
    move_rates(m, s, island, s.law.kept, s.law.moved)
    for i in range(size):
        curve += 0.5 * s.law.kept[i] * s.law.moved[i]
    share = 1.0
    if at_rest + slope + curve > 0.0:
        root = slope * slope - 4.0 * curve * smaller(at_rest, 0.0)
        share = smaller(larger((-slope + sqrt(root)) / (2.0 * curve), 0.0), 1.0) if curve > 0.0 else 0.0
    for i in range(size):
        s.law.x[i] += share * s.law.kept[i]


def add_impulse_changes(m: Memory, law: LawSpace, island: Island) -> None:
    """Add the changes of velocities that the impulses of an island cause."""
    for k in range(island.contacts):
        for i in range(island.rows):
            add_impulse(m, island.first + k, i, law.x[i * island.contacts + k])


def _record(m: Memory, dim: int, law: LawSpace, island: Island) -> None:
    """Apply the impulses of an island, and record them and their losses."""
    add_impulse_changes(m, law, island)
    count = island.contacts
    r = island.rows
    for k in range(count):
        c = m.strike_member[island.first + k]
        lost = 0.0
        for i in range(dim):
            m.strike_impulse[i][c] = law.x[i * count + k] if i < r else 0.0
        if is_bearing(m, c):
            continue
        for i in range(r):  # from the new velocities, as D Λ may have lost digits
            lost -= law.x[i * count + k] * 0.5 * (law.y[i * count + k] + rate_after(m, c, i))
            record_surface(m, c, i, law.x[i * count + k])
        record_impulses(m, c, law.x[k], friction_impulse(m, dim, c), True)
        record_loss(m, c, IMPACT, lost)
