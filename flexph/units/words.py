"""Parts of error messages: given values, and the nearest known names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

SHOWN = 60
"""Number of letters of a value that an error shows."""
LISTED = 16
"""Number of names that an error lists."""
NEAR = 0.5
"""Similarity of two names, from 0 to 1, above which one counts as a misspelling of the other."""
SYNONYMS = {
    "fixed": "weld",
    "rigid": "weld",
    "clamp": "weld",
    "pin": "hinge",
    "ball": "spherical",
    "translational": "prismatic",
    "continuous": "revolute",
}
"""Names of joints in other programs."""


def nearest(given: Any, known: Iterable[str]) -> str:
    """End of an error message: the nearest of the known names, and a list of all."""
    names = sorted({str(name) for name in known})
    lower = {name.lower(): name for name in names}
    synonym = SYNONYMS.get(str(given).lower())
    near = [synonym] if synonym in lower else get_close_matches(str(given).lower(), lower, n=1, cutoff=NEAR)
    hint = f"did you mean {lower[near[0]]!r}? " if near and near[0] != str(given) else ""
    listed = ", ".join(map(repr, names[:LISTED])) + ("…" if len(names) > LISTED else "")
    return f"{hint}there {'is' if len(names) == 1 else 'are'} {listed or 'none'}"


def shown(value: Any) -> str:
    """Text of a value for an error message, shortened if it is long."""
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


def weighted_sum(weights: Mapping[str, float]) -> str:
    """Text of a weighted sum: ``mass + 0.1 energy``."""
    return " + ".join(name if weight == 1.0 else f"{weight:g} {name}" for name, weight in weights.items())
