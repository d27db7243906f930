"""Loops as Python calls them: arrays are bound to views, and the interpreter is let go while loops run."""

from __future__ import annotations

from typing import Any

import cython

if not cython.compiled:
    from ...contacts.loops.island_space import LawSpace
    from ...numerics.loops.views import IVec, bind
    from .gauss.scheme import Scheme
    from .gauss.steps import run_gauss as _run_gauss
    from .memory.memory import Memory
    from .memory.structures import Between, Calls, GaussTable, Parts, Rows, Table
    from .rigid_steps.run import run_strikes as _run_strikes
    from .steps.run import run as _run
    from .steps.run import settle as _settle
    from .steps.run import settle_contacts as _settle_contacts


def run(
    memory: Any,
    dim: int,
    table: Any,
    parts: Any,
    every: int,
    count: int,
    known: int,
    calls: Any,
    rows: Any,
    solved: Any,
) -> None:
    """Take the steps of a table by the exact scheme (see steps.run)."""
    if not cython.compiled:
        _run(memory.fields, dim, table, parts, every, count, known, calls, rows, solved)
        return
    m = cython.declare(cython.pointer(Memory))
    own_table = cython.declare(Table)
    own_parts = cython.declare(Parts)
    own_calls = cython.declare(Calls)
    own_rows = cython.declare(Rows)
    own_solved = cython.declare(IVec)
    axes = cython.declare(cython.Py_ssize_t, dim)
    save_every = cython.declare(cython.Py_ssize_t, every)
    before = cython.declare(cython.Py_ssize_t, count)
    history = cython.declare(cython.Py_ssize_t, known)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory.address))
    bind(own_table, table)
    bind(own_parts, parts)
    bind(own_calls, calls)
    bind(own_rows, rows)
    bind(own_solved, solved)
    with cython.nogil:
        _run(m, axes, own_table, own_parts, save_every, before, history, own_calls, own_rows, own_solved)


def run_strikes(
    memory: Any,
    dim: int,
    kinds: int,
    law: Any,
    by_events: int,
    table: Any,
    between: Any,
    every: int,
    count: int,
    known: int,
    calls: Any,
    rows: Any,
    solved: Any,
) -> None:
    """Take the steps of a table with rigid contacts (see rigid_steps.run)."""
    if not cython.compiled:
        given = memory.fields, dim, kinds, law, by_events, table, between
        _run_strikes(*given, every, count, known, calls, rows, solved)
        return
    m = cython.declare(cython.pointer(Memory))
    own_law = cython.declare(LawSpace)
    own_table = cython.declare(Table)
    own_between = cython.declare(Between)
    own_calls = cython.declare(Calls)
    own_rows = cython.declare(Rows)
    own_solved = cython.declare(IVec)
    axes = cython.declare(cython.Py_ssize_t, dim)
    own_kinds = cython.declare(cython.int, kinds)
    splits = cython.declare(cython.Py_ssize_t, by_events)
    save_every = cython.declare(cython.Py_ssize_t, every)
    before = cython.declare(cython.Py_ssize_t, count)
    history = cython.declare(cython.Py_ssize_t, known)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory.address))
    bind(own_law, law)
    bind(own_table, table)
    bind(own_between, between)
    bind(own_calls, calls)
    bind(own_rows, rows)
    bind(own_solved, solved)
    with cython.nogil:
        _run_strikes(
            m,
            axes,
            own_kinds,
            own_law,
            splits,
            own_table,
            own_between,
            save_every,
            before,
            history,
            own_calls,
            own_rows,
            own_solved,
        )


def run_gauss(
    memory: Any,
    dim: int,
    scheme: Any,
    table: Any,
    every: int,
    count: int,
    known: int,
    calls: Any,
    rows: Any,
    solved: Any,
) -> None:
    """Take the steps of a table by Gauss collocation (see gauss.steps)."""
    if not cython.compiled:
        _run_gauss(memory.fields, dim, scheme, table, every, count, known, calls, rows, solved)
        return
    m = cython.declare(cython.pointer(Memory))
    own_scheme = cython.declare(Scheme)
    own_table = cython.declare(GaussTable)
    own_calls = cython.declare(Calls)
    own_rows = cython.declare(Rows)
    own_solved = cython.declare(IVec)
    axes = cython.declare(cython.Py_ssize_t, dim)
    save_every = cython.declare(cython.Py_ssize_t, every)
    before = cython.declare(cython.Py_ssize_t, count)
    history = cython.declare(cython.Py_ssize_t, known)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory.address))
    bind(own_scheme, scheme)
    bind(own_table, table)
    bind(own_calls, calls)
    bind(own_rows, rows)
    bind(own_solved, solved)
    with cython.nogil:
        _run_gauss(m, axes, own_scheme, own_table, save_every, before, history, own_calls, own_rows, own_solved)


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
