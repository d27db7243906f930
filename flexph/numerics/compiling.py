"""Whether kernels are compiled: whether numba (extra ``fast``) is installed, and the time that it would save."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec

AVAILABLE = find_spec("numba") is not None
LONG = 10.0
"""Duration of a run [s] from which on it is worth saying that compiled kernels would shorten it."""

_MANY: ContextVar[bool] = ContextVar("whether more runs of the kind follow", default=False)
log = logging.getLogger("flexph")


@contextmanager
def one_of_many() -> Iterator[None]:
    """Let short runs in the block wait for the compiler, as more of the kind follow, with which they are compared."""
    token = _MANY.set(True)
    try:
        yield
    finally:
        _MANY.reset(token)


def is_one_of_many() -> bool:
    """Whether a run that begins here is one of many."""
    return _MANY.get()


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Says once a process, after a long run without numba, what compiled kernels would bring."""
    clock = time.perf_counter()
    try:
        yield
    finally:
        if not AVAILABLE and time.perf_counter() - clock > LONG:
            _advise(what)


@cache
def _advise(what: str) -> None:
    log.warning("flexph: compiled kernels (pip install 'flexph[fast]') would make %s several times faster", what)
