"""Threads of loops: how many a run may have, and two parts of a computation at once (see threads.hpp)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

LIMIT = "OMP_NUM_THREADS"
"""Environment variable that limits the number of threads of numerical libraries."""


def allowed_threads() -> int:
    """Number of threads that a run may use: OMP_NUM_THREADS, or else the number of processors of this process."""
    given = os.environ.get(LIMIT, "").partition(",")[0].strip()
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_both(task: Callable[[Any], None], first: Any, second: Any, apart: bool) -> None:
    """Call ``task`` for ``first`` and for ``second``, in compiled loops by two threads at once if ``apart`` is True."""
    task(first)
    task(second)
