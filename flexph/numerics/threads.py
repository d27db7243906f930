"""Limit of linear algebra libraries to one thread for small matrices.

OpenBLAS distributes products from 64 × 64 on among its threads. Their synchronisation takes longer than such a
product, and a hundred times longer if other processes are running. NumPy and SciPy bring an OpenBLAS each.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import Lock, get_ident
from typing import Any

from threadpoolctl import ThreadpoolController

LARGE = 1000
"""Number of unknowns of dense matrices from which on several threads may be faster."""


class _OneThread(AbstractContextManager[None]):
    """Thread limit of the process, held by the first Python thread that asks for it until its outermost block ends.

    The number of threads is a property of the process. Another Python thread would read the limit meanwhile and, if it
    restored that value at its end, make it permanent.
    """

    def __init__(self) -> None:
        import scipy.linalg  # noqa: F401 - the controller finds libraries that are loaded

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
    """Context that limits linear algebra to one thread; from a thousand unknowns on, the user's setting holds."""
    return _of_process() if unknowns < LARGE else nullcontext()
