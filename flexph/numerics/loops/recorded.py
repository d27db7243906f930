"""Names of recorded.hpp for loops that run uncompiled, where there are no recorded numbers."""

from __future__ import annotations

from typing import Any, NoReturn


def _missing(*given: Any) -> NoReturn:
    """Raise TypeError: only compiled loops record their operations."""
    raise TypeError("only compiled loops record their operations")


flat = forget_programs = begin_record = give_one = give = give_some = want = end_record = _missing
run_program = run_new_program = pull = push = push_sizes = operations = doubt = _missing
