"""Python entry points of the loops: they bind arrays to views, and long loops run without the interpreter lock."""

from __future__ import annotations

from typing import Any

import cython

from .memory.structures import COLLOCATION as _COLLOCATION
from .memory.structures import STRIKES as _STRIKES

if not cython.compiled:
    from ...numerics.loops.views import bind
    from .decay.step import prepare
    from .gauss.scheme import Scheme
    from .gauss.steps import run_gauss
    from .memory.memory import Memory
    from .memory.striking import Striking
    from .memory.structures import Course, GaussTable, Given, Kinds, Table
    from .rigid_steps.run import run_strikes
    from .steps.newton import begin as _begin
    from .steps.newton import evaluate as _evaluate
    from .steps.newton import factor_step, solve_step
    from .steps.run import run as run_steps
    from .steps.run import settle as _settle
    from .steps.run import settle_contacts as _settle_contacts
    from .terms.masses import set_changing_masses

STRIKES = cython.declare(cython.Py_ssize_t, _STRIKES)
COLLOCATION = cython.declare(cython.Py_ssize_t, _COLLOCATION)


def run(memory: Any, dim: int, kind: int, options: Any, table: Any, course: Any) -> None:
    """Take the steps of a table, by the exact scheme with or without impacts or by Gauss collocation (see steps.run).

    ``kind`` selects one of the three. ``options`` has the options of steps with impacts (a Striking) or of
    collocation (a Scheme), ``course`` the callbacks and the arrays for results.
    """
    if not cython.compiled:
        if kind == COLLOCATION:
            run_gauss(memory.fields, dim, options, table, course)
        elif kind == STRIKES:
            run_strikes(memory.fields, dim, options, table, course)
        else:
            run_steps(memory.fields, dim, table, course)
        return
    m = cython.declare(cython.pointer(Memory))
    scheme = cython.declare(Scheme)
    striking = cython.declare(Striking)
    bound_table = cython.declare(Table)
    at_nodes = cython.declare(GaussTable)
    bound_course = cython.declare(Course)
    axes = cython.declare(cython.Py_ssize_t, dim)
    which = cython.declare(cython.Py_ssize_t, kind)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory.address))
    bind(bound_course, course)
    if which == COLLOCATION:
        bind(scheme, options)
        bind(at_nodes, table)
        with cython.nogil:
            run_gauss(m, axes, scheme, at_nodes, bound_course)
    elif which == STRIKES:
        bind(striking, options)
        bind(bound_table, table)
        with cython.nogil:
            run_strikes(m, axes, striking, bound_table, bound_course)
    else:
        bind(bound_table, table)
        with cython.nogil:
            run_steps(m, axes, bound_table, bound_course)


def settle(memory: Any, dim: int, contacts: bool) -> None:
    """Compute momenta, vectors and energies of the present state (``at``), including contacts if ``contacts``."""
    if not cython.compiled:
        _settle(memory.fields, dim)
        if contacts:
            _settle_contacts(memory.fields, dim)
        return
    m = cython.declare(cython.pointer(Memory))
    axes = cython.declare(cython.Py_ssize_t, dim)
    touch = cython.declare(cython.bint, contacts)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory.address))
    with cython.nogil:
        _settle(m, axes)
        if touch:
            _settle_contacts(m, axes)


def begin(memory: Any, dim: int, kinds: Any, h: float) -> None:
    """Prepare a step of length h [s] from the present state (``at``), before iterates are evaluated."""
    if not cython.compiled:
        if kinds.decay > 0:
            prepare(memory.fields, dim, h)
        set_changing_masses(memory.fields, 0.5)
        _begin(memory.fields, dim, kinds)
        return
    m = cython.declare(cython.pointer(Memory))
    kinds_view = cython.declare(Kinds)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory.address))
    bind(kinds_view, kinds)
    if kinds_view.decay > 0:
        prepare(m, dim, h)
    set_changing_masses(m, 0.5)
    _begin(m, dim, kinds_view)


def evaluate(memory: Any, dim: int, kinds: Any, given: Any) -> None:
    """Evaluate a step at the iterate ``x``: write its residual into ``defect`` and its end state into ``end``.

    All three are fields of the memory. ``given`` are the length of the step and its prescribed quantities.
    """
    if not cython.compiled:
        _evaluate(memory.fields, dim, kinds, given)
        return
    m = cython.declare(cython.pointer(Memory))
    kinds_view = cython.declare(Kinds)
    over = cython.declare(Given)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory.address))
    bind(kinds_view, kinds)
    bind(over, given)
    _evaluate(m, dim, kinds_view, over)


def factor(memory: Any, dim: int, kinds: Any, given: Any) -> bool:
    """Factor the Jacobian of the residual at the iterate that was evaluated last; False if it is singular."""
    if not cython.compiled:
        return factor_step(memory.fields, dim, kinds, given)
    m = cython.declare(cython.pointer(Memory))
    kinds_view = cython.declare(Kinds)
    over = cython.declare(Given)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory.address))
    bind(kinds_view, kinds)
    bind(over, given)
    return factor_step(m, dim, kinds_view, over)


def solve(memory: Any, dim: int, kinds: Any, h: float) -> None:
    """Solve with the factored Jacobian: write the solution for the right-hand side ``defect`` into ``correction``.

    Both are fields of the memory.
    """
    if not cython.compiled:
        solve_step(memory.fields, dim, kinds, h)
        return
    m = cython.declare(cython.pointer(Memory))
    kinds_view = cython.declare(Kinds)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory.address))
    bind(kinds_view, kinds)
    solve_step(m, dim, kinds_view, h)
