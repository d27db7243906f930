"""Changes of contacts along a run, at which derivatives are one-sided, and joints that stick, which have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...mechanisms.mechanism import Mechanism
from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ...numerics.rotations import cayley, from_entries
from ...systems.nonlinear import ValidityWarning

if TYPE_CHECKING:
    from ...results.solution import Solution

SETTLED = 1e-8
"""Difference of displacements and mean velocities times step length, relative to the largest, above which velocities
have settled at an end of a step."""
ROUNDED = 1e-12
"""Round-off of displacements, relative to the largest coordinate."""
TINY = float(np.finfo(float).tiny)
LISTED = 4
"""Number of changes that a warning names."""
SLIPS = 1.0 - 1e-9
"""Friction force, relative to its limit, above which a contact slips."""


def changes_of_contacts(solution: Solution) -> list[tuple[float, str]]:
    """Times after which contacts of a run close, open, begin to slip or to stick, with texts that say so."""
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
    """Coefficients of friction of a contact law at the times, (k,)."""
    factor = getattr(law, "friction_factor", None)
    return law.friction * (np.ones_like(times) if factor is None else np.array([factor(t) for t in times.tolist()]))


def _changes(times: Array, mask: Array, texts: tuple[str, str], where: Array | bool = True) -> list[tuple[float, str]]:
    """Times (k + 1) at which a mask of k steps changes, each with the first text if it becomes true, else the second.

    Only changes are listed for which ``where`` is true.
    """
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


def refuse_sticking(solution: Solution) -> None:
    """Raise ValueError, with name and time, if dry friction of a joint sticks in a step or changes its direction."""
    times, every = solution.times, solution.mechanism.connections
    rubbing = [(c.name, c.form.bearing.friction) for c in every if c.form.bearing is not None]
    if not rubbing:
        return
    for name, law in rubbing:
        bound = law.coefficient * solution.ledger.impulses[f"{name}: pressing"]
        if callable(law.factor):
            factor = np.array([law.factor(time) for time in times.tolist()])
            bound = bound * 0.5 * (factor[1:] + factor[:-1])
        sticks = np.flatnonzero(~(solution.ledger.impulses[f"{name}: friction"] >= SLIPS * bound))
        if sticks.size:
            raise ValueError(
                f"gradients do not support joints that stick, as {name!r} does in the step from "
                f"{times[sticks[0]]:.6g} s: end the run before, use a smooth friction=flexph.laws.coulomb(...), or "
                "differences of runs, flexph.studies.sensitivities"
            )
    settled = np.flatnonzero(_settles(solution.mechanism, times, solution.states))
    if settled.size:
        names = " or ".join(repr(name) for name, _ in rubbing)
        raise ValueError(
            f"gradients do not support dry friction that changes its direction between two steps, as that of {names} "
            f"does at {times[settled[0] + 1]:.6g} s: end the run before, or use differences of runs, "
            "flexph.studies.sensitivities"
        )


def _settles(mechanism: Mechanism, times: Array, states: Array) -> Array:
    """True for each step (N,) whose displacement is not the mean of the velocities at its ends times its length.

    Dry friction has then changed its direction, and the velocities at an end were corrected.
    """
    layout, turning = mechanism.layout, mechanism.network.arrays.turning
    r, rho, u, v, omega, du, *_ = (part.T for part in layout.split(states.T))
    h = np.diff(times)
    missed = np.zeros(len(h))
    for place, rate in ((r, v), (u, du)):
        displacement, moved = np.diff(place, axis=0), 0.5 * h[:, None] * (rate[1:] + rate[:-1])
        size = SETTLED * np.abs(displacement).max(initial=0.0) + ROUNDED * np.abs(place).max(initial=0.0)
        missed = np.maximum(missed, np.abs(displacement - moved).max(axis=1, initial=0.0) / max(size, TINY))
    if turning.size:
        R = from_entries(rho.reshape(len(times), len(turning), -1), layout.dim)
        half = 0.25 * h[:, None, None] * (omega[1:] + omega[:-1]).reshape(len(h), len(turning), -1)
        turned = R[:-1] @ cayley(half, layout.dim)
        size = SETTLED * np.abs(np.diff(R, axis=0)).max() + ROUNDED
        missed = np.maximum(missed, np.abs(R[1:] - turned).max(axis=(1, 2, 3)) / size)
    return missed > 1.0
