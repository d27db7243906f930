"""Changes of contacts along a run (closing, opening, slipping, sticking), at which derivatives are one-sided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ...systems.nonlinear import ValidityWarning

if TYPE_CHECKING:
    from ...results.solution import Solution

LISTED = 4
"""Number of changes that a warning names."""
SLIPS = 1.0 - 1e-9
"""Friction force, relative to its limit, above which a contact slips."""


def changes_of_contacts(solution: Solution) -> list[tuple[float, str]]:
    """Times of steps in which contacts of a run close, open, begin to slip or to stick, with texts on the change."""
    changes = []
    for connection in solution.mechanism.connections:
        if not connection.touches:
            continue
        name, laws = connection.name, [gap.law for gap in connection.form.gaps]
        normal, friction = (solution.ledger.impulses[f"{name}: {kind}"] for kind in ("normal", "friction"))
        closed = normal != 0.0
        changes += _changes(solution.times, closed, (f"{name!r} closes", f"{name!r} opens"))
        if any(getattr(law, "friction", 0.0) and law.slip_velocity is None for law in laws):
            middles = 0.5 * (solution.times[1:] + solution.times[:-1])
            slips = closed & (friction >= SLIPS * _coefficient(laws[0], middles) * np.abs(normal))
            both = closed[1:] & closed[:-1]
            changes += _changes(solution.times, slips, (f"{name!r} begins to slip", f"{name!r} begins to stick"), both)
    return sorted(changes)


def _coefficient(law: Any, times: Array) -> Array:
    """Coefficient of friction at times."""
    factor = getattr(law, "friction_factor", None)
    return law.friction * (np.ones_like(times) if factor is None else np.array([factor(t) for t in times.tolist()]))


def _changes(times: Array, mask: Array, texts: tuple[str, str], where: Array | bool = True) -> list[tuple[float, str]]:
    """Times at which a mask changes to true or false, with one of two texts."""
    steps = 1 + np.flatnonzero((mask[1:] != mask[:-1]) & where)
    return [(float(times[k]), texts[0] if mask[k] else texts[1]) for k in steps]


def warn_of_changes(solution: Solution) -> None:
    """Warn that derivatives are one-sided because contacts change along the run."""
    changes = changes_of_contacts(solution)
    if changes:
        listed = ", ".join(f"{text} at {time:.6g} s" for time, text in changes[:LISTED])
        more = f" and {len(changes) - LISTED} more" if len(changes) > LISTED else ""
        warn(
            f"contacts change along the run ({listed}{more}): its derivatives are one-sided, and valid for changes of "
            "parameters that do not move these events to other steps",
            ValidityWarning,
        )
