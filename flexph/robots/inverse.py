"""Inverse kinematics by damped least squares within limits, from several starts.

Y. Nakamura, H. Hanafusa, Inverse kinematic solutions with singularity robustness for robot manipulator control,
J. Dyn. Sys. Meas. Control 108 (1986) 163-171.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..numerics.arrays import Array
from .inverse_loops import searched_loop
from .joint_space import JointSpace
from .targets import MET, REACHED, Target, Trial, trial

ROUNDS, ROUND = 10, 20
"""Largest number of rounds of a search, and of steps in a round; a round that does not halve the distance is the last.
"""
LEAST_DECREASE, UNIMPROVED = 1e-6, 8
"""Least relative decrease of the distance that counts, and number of successive starts without one after which a search
ends."""
LONGEST = 1.0
"""Largest change of a coordinate in a step, in rad or levers of the mechanism."""
LEAST, MOST, FIRST = 1e-16, 1e8, 1e-6
"""Least, largest and first damping, relative to the square of the Jacobian's largest singular value."""


def reached(space: JointSpace, target: Target, *, start: Array, ends: tuple[Array, Array], attempts: int) -> Array:
    """Coordinates (n,) within limits at which a port reaches its target, found by at most ``attempts`` searches.

    ``start`` (n,) is where the first search begins, ``ends`` are the lower and upper limits (n,). Raises ValueError
    with the smallest distance reached.
    """
    best, unimproved = None, 0
    for first in _starts(space, start, ends, attempts):
        trial = _searched(space, target, first, ends) if space.is_open else searched_loop(space, target, first, ends)
        if trial is None:
            continue
        if trial.distance <= MET * space.length:
            return trial.q
        unimproved = (
            unimproved + 1 if best is not None and trial.distance > (1.0 - LEAST_DECREASE) * best.distance else 0
        )
        best = trial if best is None or trial.distance < best.distance else best
        if unimproved == UNIMPROVED:
            break
    raise ValueError(_out_of_reach(space, target, best, attempts))


def _out_of_reach(space: JointSpace, target: Target, best: Trial | None, attempts: int) -> str:
    if best is None:
        return f"the target of {target.port!r} is out of reach: no pose was found from {attempts} starts"
    apart, dim = [], 0
    if target.position is not None:
        dim = target.position.size
        apart.append(f"{np.linalg.norm(best.missing[:dim]):.4g} m")
    if target.rotation is not None:
        apart.append(f"{np.linalg.norm(best.missing[dim:]) / space.length:.4g} rad")
    return (
        f"the target of {target.port!r} is out of reach: the nearest place found is {' and '.join(apart)} from it, at "
        f"{space.shown(best.q)}"
    )


def _starts(space: JointSpace, start: Array, ends: tuple[Array, Array], attempts: int) -> Iterator[Array]:
    """Yield the coordinates (n,) at which searches begin, at most ``attempts``, within the limits ``ends``.

    They are ``start``, home, and for an open chain random ones, which are equal in all calls.
    """
    lower, upper = ends
    yield np.clip(start, lower, upper)
    rng = np.random.default_rng(0)
    reach = np.where(space.turning, np.pi, 2.0 * space.length)
    least = np.where(np.isfinite(lower), lower, np.minimum(space.origin, upper) - reach)
    most = np.where(np.isfinite(upper), upper, np.maximum(space.origin, lower) + reach)
    if attempts > 1:
        yield np.clip(space.origin, lower, upper)
    for _ in range(attempts - 2 if space.is_open else 0):
        yield rng.uniform(least, most)


def _searched(space: JointSpace, target: Target, first: Array, ends: tuple[Array, Array]) -> Trial:
    """Trial nearest to the target in a search from the coordinates ``first``, within the limits ``ends``.

    The damping grows if a step does not reduce the distance.
    """
    here, damping = _trial(space, target, first), FIRST
    for _ in range(ROUNDS):
        before = here.distance
        for _ in range(ROUND):
            if here.distance <= REACHED * space.length or damping > MOST:
                return here
            after = _trial(space, target, _stepped(space, here, damping, ends))
            if after.distance < here.distance:
                here, damping = after, max(0.1 * damping, LEAST)
            else:
                damping *= 10.0
        if here.distance > 0.5 * before:
            break
    return here


def _stepped(space: JointSpace, here: Trial, damping: float, ends: tuple[Array, Array]) -> Array:
    """Coordinates (n,) after a damped least-squares step from the trial ``here`` towards the target, within ``ends``.

    Coordinates at a limit that the step would exceed are not changed. ``damping`` is relative to the largest squared
    singular value of the Jacobian.
    """
    units, (lower, upper) = space.units, ends
    free = np.ones(here.q.size, dtype=bool)
    step = np.zeros(here.q.size)
    for _ in range(here.q.size):
        J = here.jacobian[:, free] * units[free]
        if not J.size:
            return here.q
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        gain = s / (s**2 + damping * max(float(s[0]) ** 2, 1e-300)) if s[0] > 0.0 else 0.0 * s
        step[:] = 0.0
        step[free] = units[free] * (Vt.T @ (gain * (U.T @ here.missing)))
        beyond = free & (((here.q <= lower) & (step < 0.0)) | ((here.q >= upper) & (step > 0.0)))
        if not beyond.any():
            break
        free &= ~beyond
    longest = float(np.abs(step / units).max(initial=0.0))
    if longest > LONGEST:
        step *= LONGEST / longest
    return np.clip(here.q + step, lower, upper)


def _trial(space: JointSpace, target: Target, q: Array) -> Trial:
    """Trial of an open chain at the coordinates ``q``."""
    return trial(space, target, q, space.chain.place(space.chain.joints(q), target.body, target.at_home))
