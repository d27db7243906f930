"""Memory and time of large factorisations, announced in advance, or refused if memory is insufficient."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

LONG = 1.0
"""Duration [s] from which on a factorisation is announced."""
RATE = 1e10
"""Operations per second of one core in a factorisation, for estimates; measured 1.5e10 to 2.2e10."""
MEMORY = Path("/proc/meminfo")

log = logging.getLogger("flexph")


class Cost(NamedTuple):
    """Cost of a factorisation: memory [bytes] and number of arithmetic operations."""

    memory: float
    operations: float


def available_memory() -> float:
    """Memory [bytes] that is available without swapping, as Linux reports it.

    On other systems it is all memory of the machine, or infinite if that is unknown.
    """
    try:
        entries = dict(line.split(":", 1) for line in MEMORY.read_text().splitlines())
        return 1024.0 * float(entries["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return float("inf")


@contextmanager
def announced_cost(unknowns: int, cost: Cost, way: str, advice: str = "") -> Iterator[None]:
    """Context in which a matrix is factored; logs the cost before and the time after, if it takes over LONG seconds.

    ``unknowns`` is the size of the matrix, ``way`` the name of the method, and ``advice`` a text for messages. Raises
    MemoryError if the cost exceeds the available memory.
    """
    free, need = available_memory(), cost.memory
    if need > free:
        raise MemoryError(
            f"factoring a matrix of {unknowns} unknowns by {way} needs about {_size(need)}, {_size(free)} are "
            f"available{advice}; use a coarser mesh or cells of degree 1"
        )
    seconds = cost.operations / RATE
    if seconds >= LONG:
        log.warning(
            "factoring a matrix of %d unknowns by %s: about %s, %.2g s%s", unknowns, way, _size(need), seconds, advice
        )
    clock = time.perf_counter()
    yield
    if seconds >= LONG:
        log.warning("factored in %.1f s", time.perf_counter() - clock)


def _size(memory: float) -> str:
    return f"{memory / 1e9:.2g} GB" if memory > 1e9 else f"{memory / 1e6:.0f} MB"
