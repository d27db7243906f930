"""Loops as Python calls them: arrays are bound to views, and the interpreter is let go while loops run."""

from __future__ import annotations

from typing import Any

import cython

from .memory.structures import COLLOCATION as _COLLOCATION
from .memory.structures import STRIKES as _STRIKES

if not cython.compiled:
    from ...numerics.loops.views import bind
    from .gauss.scheme import Scheme
    from .gauss.steps import run_gauss
    from .memory.memory import Memory
    from .memory.structures import Course, GaussTable, Table
    from .rigid_steps.run import run_strikes
    from .rigid_steps.striking import Striking
    from .steps.run import run as run_steps
    from .steps.run import settle as _settle
    from .steps.run import settle_contacts as _settle_contacts

STRIKES = cython.declare(cython.Py_ssize_t, _STRIKES)
COLLOCATION = cython.declare(cython.Py_ssize_t, _COLLOCATION)


def run(memory: Any, dim: int, kind: int, own: Any, table: Any, course: Any) -> None:
    """Take the steps of a table by the exact scheme, with strikes or by collocation (see steps.run).

    ``own`` is what steps of a kind are taken with besides, a Striking or a Scheme.
    """
    if not cython.compiled:
        if kind == COLLOCATION:
            run_gauss(memory.fields, dim, own, table, course)
        elif kind == STRIKES:
            run_strikes(memory.fields, dim, own, table, course)
        else:
            run_steps(memory.fields, dim, table, course)
        return
    m = cython.declare(cython.pointer(Memory))
    scheme = cython.declare(Scheme)
    striking = cython.declare(Striking)
    own_table = cython.declare(Table)
    at_nodes = cython.declare(GaussTable)
    own_course = cython.declare(Course)
    axes = cython.declare(cython.Py_ssize_t, dim)
    which = cython.declare(cython.Py_ssize_t, kind)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory.address))
    bind(own_course, course)
    if which == COLLOCATION:
        bind(scheme, own)
        bind(at_nodes, table)
        with cython.nogil:
            run_gauss(m, axes, scheme, at_nodes, own_course)
    elif which == STRIKES:
        bind(striking, own)
        bind(own_table, table)
        with cython.nogil:
            run_strikes(m, axes, striking, own_table, own_course)
    else:
        bind(own_table, table)
        with cython.nogil:
            run_steps(m, axes, own_table, own_course)


def settle(memory: Any, dim: int, contacts: bool) -> None:
    """All that follows from the positions and velocities of ``at``, with the energies of contacts where wanted."""
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
