"""What errors show of what was given, and the nearest of known names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

SHOWN = 60
"""Letters that an error shows of what was given."""
LISTED = 16
"""Names that an error lists of many."""
NEAR = 0.5
"""Likeness of two names, from 0 to 1, from which on one is taken for a misspelling of the other."""


def nearest(given: Any, known: Iterable[str]) -> str:
    """Ending of an error: the nearest of the known names, and what there is."""
    names = sorted({str(name) for name in known})
    lower = {name.lower(): name for name in names}
    near = get_close_matches(str(given).lower(), lower, n=1, cutoff=NEAR)
    hint = f"did you mean {lower[near[0]]!r}? " if near and near[0] != str(given) else ""
    listed = ", ".join(map(repr, names[:LISTED])) + ("…" if len(names) > LISTED else "")
    return f"{hint}there {'is' if len(names) == 1 else 'are'} {listed or 'none'}"


def shown(value: Any) -> str:
    """What was given, as an error shows it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return f"a mapping with {', '.join(map(repr, list(value)[:4]))}" if value else "an empty mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
