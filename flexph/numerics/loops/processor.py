"""Instructions of the processor that a program runs on."""

from __future__ import annotations

import cython

if not cython.compiled:

    def has_avx2() -> bool:
        """False: sources run on every processor."""
        return False


def runs_avx2() -> bool:
    """True if the processor and its system have AVX2."""
    return has_avx2()
