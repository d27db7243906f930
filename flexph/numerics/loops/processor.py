"""Instruction sets of the current processor."""

from __future__ import annotations

import cython

if not cython.compiled:

    def has_avx2() -> bool:
        """False: uncompiled loops use no special instructions. Compiled loops ask the processor instead."""
        return False


def runs_avx2() -> bool:
    """True if the processor and the operating system support AVX2."""
    return has_avx2()
