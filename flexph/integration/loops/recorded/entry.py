"""Python entry point of the sweeps over the steps of a run."""

from __future__ import annotations

from typing import Any, TypeAlias

import cython

from .backward import BACK as _BACK
from .backward import BACK_BY_NODES as _BACK_BY_NODES
from .backward import BACK_DECAYING as _BACK_DECAYING

if not cython.compiled:
    from ....numerics.loops.recorded import forget_programs
    from ....numerics.loops.views import bind
    from ..memory.memory import Memory
    from .backward import Backward
    from .collocation import go_back_by_nodes
    from .decayed import Decayed
    from .decaying import go_back_decaying
    from .forward import Forward
    from .nodes import Collocated
    from .sweeps import go_back
    from .tangents import go_forward

    RecordedMemory: TypeAlias = Any

BACK = cython.declare(cython.Py_ssize_t, _BACK)
BACK_BY_NODES = cython.declare(cython.Py_ssize_t, _BACK_BY_NODES)
BACK_DECAYING = cython.declare(cython.Py_ssize_t, _BACK_DECAYING)


def sweep(memory: int, recorded: int, dim: int, kind: int, arrays: Any, steps: tuple[int, int]) -> int:
    """Sweep over ``steps``, the numbers of the first and last one (exclusive); return that of a failed step, or −1.

    ``memory`` and ``recorded`` are addresses of a memory of numbers and of one of recorded numbers. ``arrays`` are the
    arrays of a sweep of the given ``kind``: Backward, Collocated, Decayed or Forward (see backward.py). Programs of
    steps are reused for other steps of the same mechanism, until :func:`forget`.
    """
    m = cython.declare(cython.pointer(Memory))
    r = cython.declare(cython.pointer(RecordedMemory))
    backward = cython.declare(Backward)
    by_nodes = cython.declare(Collocated)
    decayed = cython.declare(Decayed)
    along = cython.declare(Forward)
    which = cython.declare(cython.Py_ssize_t, kind)
    begin_at = cython.declare(cython.Py_ssize_t, steps[0])
    end_at = cython.declare(cython.Py_ssize_t, steps[1])
    axes = cython.declare(cython.Py_ssize_t, dim)
    failed = cython.declare(cython.Py_ssize_t)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory))
    r = cython.cast(cython.pointer(RecordedMemory), cython.cast(cython.Py_ssize_t, recorded))
    if which == BACK:
        bind(backward, arrays)
        with cython.nogil:
            failed = go_back(m, r, axes, backward, begin_at, end_at)
    elif which == BACK_BY_NODES:
        bind(by_nodes, arrays)
        with cython.nogil:
            failed = go_back_by_nodes(m, r, axes, by_nodes, begin_at, end_at)
    elif which == BACK_DECAYING:
        bind(decayed, arrays)
        with cython.nogil:
            failed = go_back_decaying(m, r, axes, decayed, begin_at, end_at)
    else:
        bind(along, arrays)
        with cython.nogil:
            failed = go_forward(m, r, axes, along, begin_at, end_at)
    return failed


def forget() -> None:
    """Delete the programs that steps have recorded."""
    with cython.nogil:
        forget_programs()
