"""Inverse kinematics of mechanisms with loops, in which each step moves all bodies and closes the joints."""

from __future__ import annotations

import numpy as np

from ..mechanisms.model.constraints import move
from ..numerics.arrays import Array
from .joint_space import INDEPENDENT, STRIDE, Equations, JointSpace, SingularPose
from .targets import MET, REACHED, Target, Trial, placed, trial

STEPS = 200
"""Largest number of steps from a start."""


def searched_loop(space: JointSpace, target: Target, first: Array, ends: tuple[Array, Array]) -> Trial | None:
    """Trial of a mechanism with loops nearest to the target; None if no pose has the coordinates ``first``.

    Each step v of the rigid motions closes the joints, G v = −g with their gaps g and the Jacobian G, and reaches the
    target, T v = e with the error e of the port and its Jacobian T. Of all such steps it has the least change C v of
    the coordinates. Coordinates beyond one of the limits ``ends`` are set to it.
    """
    try:
        at, _ = space.pose(first)
    except SingularPose:
        return None
    q, held, best = first, np.zeros(first.size, dtype=bool), None
    lower, upper = ends
    for _ in range(STEPS):
        here = space.equations(at)
        q = q + space.differences(q, here.value)
        now = trial(space, target, q, placed(space, target.port, at, np.eye(space.size)))
        open_by = float(np.abs(here.gap / space.sizes[: here.gap.size]).max(initial=0.0))
        beyond = np.maximum(lower - q, q - upper)
        if open_by <= MET and beyond.max() <= MET * space.length and (best is None or now.distance < best.distance):
            if best is not None and now.distance > 0.999 * best.distance and now.distance > MET * space.length:
                return best
            best = now
            if best.distance <= REACHED * space.length:
                return best
        elif best is not None and best.distance <= MET * space.length:
            return best
        held |= beyond > 0.0
        at = move(space.model, *at, _loop_step(space, here, now, held, np.clip(q, lower, upper) - q))
    return best


def _loop_step(space: JointSpace, here: Equations, now: Trial, held: Array, back: Array) -> Array:
    """Step of the rigid motions (n_v,) of :func:`searched_loop` from the trial ``now`` with the equations ``here``.

    Coordinates that have reached a limit, True in ``held`` (n,), change by ``back`` (n,), which returns them to the
    limit. The step is scaled so that no coordinate changes by more than STRIDE of its units.
    """
    count = here.gap.size
    G, C = here.rows[:count] / space.sizes[:count, None], here.rows[count:] / space.units[:, None]
    rows = np.vstack([G, now.jacobian / space.length, C[held]])
    wanted = np.concatenate([-here.gap / space.sizes[:count], now.missing / space.length, (back / space.units)[held]])
    U, s, Vt = np.linalg.svd(rows)
    rank = int(np.count_nonzero(s > INDEPENDENT * s[0]))
    step = Vt[:rank].T @ ((U[:, :rank].T @ wanted) / s[:rank])
    free = Vt[rank:].T
    if free.size:
        step = step - free @ np.linalg.lstsq(C @ free, C @ step, rcond=INDEPENDENT)[0]
    longest = float(np.abs(C @ step).max(initial=0.0))
    return np.asarray(step if longest <= STRIDE else step * (STRIDE / longest))
