"""Threads of the libraries for linear algebra: small matrices pay for them and gain nothing.

OpenBLAS shares products from 64 × 64 on among its threads. Waiting for each other takes them longer than such a
product, and a hundred times longer where other processes are at work. NumPy and SciPy bring an OpenBLAS each.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import Lock, get_ident
from typing import Any

from threadpoolctl import ThreadpoolController

LARGE = 1000
"""Unknowns of dense matrices from which on more than one thread may be faster."""


class _OneThread(AbstractContextManager[None]):
    """The limit of a process: that of the Python thread which asks for it first, until its outermost block ends.

    Numbers of threads belong to the process. What another Python thread sees meanwhile is the limit, and if it set that
    again at its end, the limit would stay.
    """

    def __init__(self) -> None:
        import scipy.linalg  # noqa: F401 - a controller knows the libraries that are loaded

        self.controller, self.lock = ThreadpoolController().select(user_api="blas"), Lock()
        self.owner, self.depth = 0, 0
        self.limit: Any = None

    def __enter__(self) -> None:
        with self.lock:
            self.owner = self.owner or get_ident()
            if self.owner != get_ident():
                return
            self.depth += 1
            if self.depth == 1 and any(library.num_threads > 1 for library in self.controller.lib_controllers):
                self.limit = self.controller.limit(limits=1)
                self.limit.__enter__()

    def __exit__(self, *error: Any) -> None:
        with self.lock:
            if self.owner != get_ident():
                return
            self.depth -= 1
            if self.depth == 0:
                self.owner, limit, self.limit = 0, self.limit, None
                if limit is not None:
                    limit.__exit__(*error)


@cache
def _of_process() -> _OneThread:
    return _OneThread()


def one_thread(unknowns: int = 0) -> AbstractContextManager[None]:
    """One thread for linear algebra of so many unknowns; from a thousand on, what the user has set holds."""
    return _of_process() if unknowns < LARGE else nullcontext()
