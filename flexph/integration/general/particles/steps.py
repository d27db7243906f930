"""Steps of particles by discrete gradients, secants and the midpoint rule, in compiled loops.

The equations are those of :mod:`flexph.discretisation.pair_equations`, and of
:mod:`flexph.discretisation.own_pair` with the pair of :func:`rigid.point_masses`, for the terms of
:mod:`flexph.systems.particle_terms`; the iteration is that of :mod:`flexph.discretisation.iteration`. Two differences
change the numbers by round-off only: the equations of positions are eliminated before the Jacobian is factored, and
Broyden's updates are kept as factors ``1 + c sᵀ`` of its inverse, so that a correction is one product.
"""

from __future__ import annotations

from typing import Any

import cython

from ....discretisation.iteration import SOLVED
from ....discretisation.pair_equations import FED_BACK, INVARIANTS
from .arrays import OWN_PAIR

if not cython.compiled:
    from math import fabs

    from .arrays import Space
    from .factors import set_correction
    from .newton import solve_step
    from .residual import set_residual
    from .springs import energy, set_invariants

BY_INVARIANTS = cython.declare(cython.Py_ssize_t, INVARIANTS)
BY_SECANTS = cython.declare(cython.Py_ssize_t, OWN_PAIR)
IS_SOLVED = cython.declare(cython.Py_ssize_t, SOLVED)
ACCOUNTED = cython.declare(cython.double, FED_BACK)


def take_steps(arrays: Any, table: int, dim: int, kind: int) -> None:
    """Take one step from each time to the next, up to one that is not solved, with costates of the given kind.

    ``arrays`` is a :class:`Space`, ``table`` the address of the array of their addresses and shapes.
    """
    address = cython.declare(cython.size_t, table)
    dimension = cython.declare(cython.Py_ssize_t, dim)
    gradient = cython.declare(cython.Py_ssize_t, kind)
    if cython.compiled:
        space = cython.declare(Space)
        memcpy(  # type: ignore[name-defined]  # noqa: F821
            cython.address(space), cython.cast(cython.p_void, address), cython.sizeof(Space)
        )
        with cython.nogil:
            take_all(cython.address(space), dimension, gradient)
    else:
        take_all(arrays, dimension, gradient)


def take_all(s, dim, kind):
    """Take the steps of a run as :func:`take_steps`, on the views ``s`` of the arrays."""
    n = s.x.size
    nv = s.weight.size
    s.outcome[0] = 0
    s.outcome[1] = IS_SOLVED
    for k in range(s.times.size - 1):
        h = s.times[k + 1] - s.times[k]
        before = s.energy[0]
        if fabs(s.energy[1] - s.energy[0]) <= ACCOUNTED * s.energy[2]:
            before = s.energy[1]
        if kind in (BY_INVARIANTS, BY_SECANTS):
            set_invariants(s, dim, s.x, s.invariants_before)
        for i in range(n):
            s.trial[i] = s.x[i] + h * (s.differential[i] * s.last_rate[i])
        status = solve_step(s, dim, kind, k, h, before)
        if status != IS_SOLVED:
            s.outcome[1] = status
            return
        if kind == BY_SECANTS:  # one correction past the root: its remainder would add up over many steps
            set_correction(s, s.correction)
            for i in range(n):
                s.trial[i] -= s.size[i] * s.correction[i]
            set_residual(s, dim, kind, k, h, before)
        lost = 0.0
        for i in range(nv):
            lost += s.costate[nv + i] * s.resistive[i]
        exchanged = 0.0
        for i in range(n):
            exchanged += fabs(s.costate[i]) * fabs(s.descriptor_step[i])
        s.dissipated[k] = h * lost
        s.energy[0] = energy(s, dim, s.trial)
        s.energy[1] -= s.dissipated[k]
        s.energy[2] = exchanged
        work = 0.0
        for i in range(s.inputs.size):
            s.outputs[k][i] = s.costate[nv + s.inputs[i]]
            work += s.outputs[k][i] * s.input_values[k][i]
        s.energy[1] += h * work
        for i in range(n):
            s.last_rate[i] = (s.trial[i] - s.x[i]) / h
            s.x[i] = s.trial[i]
            s.states[k][i] = s.trial[i]
        update_sizes(s)
        s.energies[k] = s.energy[0]
        s.iterations[k] = s.outcome[2]
        s.outcome[0] = k + 1


def update_sizes(s):
    """Raise the sizes of the states to their absolute values after a step.

    If one of them is still zero, all are raised to at least 1/1000 of the largest.
    """
    largest_of_all = 0.0
    missing = cython.declare(cython.bint, False)
    for i in range(s.x.size):
        if fabs(s.x[i]) > s.size[i]:
            s.size[i] = fabs(s.x[i])
        if s.size[i] > largest_of_all:
            largest_of_all = s.size[i]
        if s.size[i] == 0.0:
            missing = True
    if missing:
        for i in range(s.x.size):
            if s.size[i] < 1e-3 * largest_of_all:
                s.size[i] = 1e-3 * largest_of_all
