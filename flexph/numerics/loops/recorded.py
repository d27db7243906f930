"""Names of recorded.hpp for loops that run uncompiled, where there are no recorded numbers."""

from __future__ import annotations

from typing import Any, NoReturn


def _missing(*given: Any) -> NoReturn:
    """Raise TypeError: only compiled loops record their operations."""
    raise TypeError("only compiled loops record their operations")


begin_record = choose = weigh_chosen = sweep_chosen = _missing
place = place_some = set_adjoints = weigh = sweep = adjoints = add_adjoints = operations = doubt = _missing
