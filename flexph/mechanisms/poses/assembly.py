"""Assembly of a mechanism: the undeformed pose nearest to a guess that closes all joints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...bodies.body import Body
from ...joints.rows.vectors import Ground
from ...numerics import checks as check
from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ..model.constraints import move
from ..model.geometry_checks import check_curves
from ..model.placement import Placement, read_placements
from ..model.state import Pose
from .closure import CLOSED, OPEN, Closure, Placed, explain_open

if TYPE_CHECKING:
    from ..model.model import Model

PRINTED = 2e-8
"""Gap between fixed bodies, relative to the size of the mechanism, that placements printed with nine digits may leave:
each number is off by at most 5e-9 of itself, and a gap is a difference of two positions r + R x of two terms each."""


def assemble(mechanism: Model, fixed: Mapping[str, Placement], guess: Mapping[str, Placement], time: float) -> Pose:
    """Implementation of :meth:`flexph.Mechanism.assemble`."""
    check.number("time", time)
    one_fixed, one_guess = ({name: [place] for name, place in given.items()} for given in (fixed, guess))
    centres, rotations, free = (array[0] for array in places_of(mechanism, one_fixed, one_guess, 1))
    centres_only = free & ~np.isin(np.arange(free.size), _columns(mechanism)[1])
    closure, at = Closure(mechanism, time), (centres, rotations)
    at = closure.closed(at, centres_only)  # positions first: they are linear
    at = closure.closed(closure.closed(at, free, guided=True), free)
    size = closure.here(at).size
    if fixed and 1e2 * CLOSED < closure.open_by(at, size) <= PRINTED:
        moved = closure.closed(at, np.ones_like(free))
        if max(np.abs(moved[0] - at[0]).max() / size, np.abs(moved[1] - at[1]).max()) <= 10.0 * PRINTED:
            at = moved
    pose = _pose(closure, at, size)
    check_curves(mechanism, closure.here(at).on_curves)
    return pose


def warn_of_unplaced(mechanism: Model, placed: Iterable[str]) -> None:
    """Warn of bodies without a placement that no joint, force or contact connects to the ground or to a placed body."""
    neighbours: dict[str, list[str]] = {name: [] for name in mechanism.bodies}
    held = [name for name in placed if name in neighbours]
    for c in mechanism.connections:
        if (c.rows or not c.is_load) and c.kind != "sensor":
            owners = c.owners
            for other in owners[1:]:
                neighbours[owners[0]].append(other)
                neighbours[other].append(owners[0])
            held += owners if any(isinstance(port, Ground) for port in c.ports) else []
    single, reached = next(iter(neighbours)), _reached(neighbours, held)
    lost = [name for name in neighbours if name not in reached]
    if not lost or len(_reached(neighbours, [single])) == len(neighbours):
        return
    listed = f"{', '.join(map(repr, lost[:3]))}{f' and {len(lost) - 3} others' if len(lost) > 3 else ''}"
    warn(
        f"{listed} {'is' if len(lost) == 1 else 'are'} connected to neither the ground nor a placed body, and "
        f"{'starts' if len(lost) == 1 else 'start'} at the origin, free to move: add a joint, or give a place by "
        f"fixed={{{lost[0]!r}: ...}} or guess={{{lost[0]!r}: ...}}"
    )


def _reached(neighbours: Mapping[str, Sequence[str]], starts: Sequence[str]) -> set[str]:
    """Names that can be reached from the names ``starts`` over their neighbours, the starts included."""
    reached, ahead = set(starts), list(starts)
    while ahead:
        new = [name for name in neighbours[ahead.pop()] if name not in reached]
        reached.update(new)
        ahead += new
    return reached


def moved_pose(mechanism: Model, pose: Pose, step: Array) -> Pose:
    """Pose with joints closed again after rigid increments of the bodies.

    ``step`` has translations [m] and rotations [rad]; drives are at time 0. Raises ValueError if the joints do not
    close.
    """
    closure, at = Closure(mechanism, 0.0), move(mechanism, pose.centres, pose.rotations, step)
    at = closure.closed(at, np.ones(step.size, dtype=bool))
    return _pose(closure, at, closure.here(at).size)


def _pose(closure: Closure, at: Placed, size: float) -> Pose:
    """Pose with given centres and rotations, anchored there; raises ValueError if a joint is still open.

    ``size`` [m] is that of the mechanism.
    """
    if closure.open_by(at, size) > OPEN:
        raise ValueError(explain_open(closure, at, size))
    return Pose(*at, closure.here(at).stated, tuple(closure.mechanism.frames))


def places_of(
    mechanism: Model, fixed: Mapping[str, Sequence[Placement]], guess: Mapping[str, Sequence[Placement]], count: int
) -> tuple[Array, Array, Array]:
    """Centres of mass and rotations of all frames with which ``count`` assemblies start, and a mask of free velocities.

    The mask (count, velocities) is False for velocities of ``fixed`` bodies, which must not move. Bodies that are
    neither ``fixed`` nor in ``guess`` start at the origin.
    """
    twice = set(fixed) & set(guess)
    if twice:
        raise ValueError(f"a body is given in fixed= or in guess=, not in both: {sorted(twice)}")
    for name in (*fixed, *guess):
        check.lookup("body", name, mechanism.bodies)
    cv, cw = _columns(mechanism)
    free = np.ones((count, cv.size + int((cw >= 0).sum())), dtype=bool)
    dim = mechanism.layout.dim
    unturned = np.broadcast_to(np.eye(dim), (count, dim, dim))
    centres, rotations = [], []
    for i, (name, body) in enumerate(mechanism.bodies.items()):
        given = fixed.get(name, guess.get(name, [np.eye(3) if dim == 3 else 0.0] * count))
        placed, position, turned = read_placements(name, given, dim)
        frame_centres = body.inertia.centre[None] if isinstance(body, Body) else body.centres
        R = turned if body.turns else unturned
        turning = len(frame_centres) if isinstance(body, Body) else body.turning
        rotations += [R] * turning + [unturned] * (len(frame_centres) - turning)
        centres.append(position[:, None] + frame_centres @ R.transpose(0, 2, 1))
        if name in fixed:
            free[:, cw[i][cw[i] >= 0]] = False
            free[np.ix_(placed, cv[i])] = False
    return np.concatenate(centres, axis=1), np.stack(rotations, axis=1), free


def _columns(mechanism: Model) -> tuple[Array, Array]:
    """Indices of the velocities (b, d) and spins (b, s) of all bodies in the vector of a rigid motion."""
    rigid = mechanism.rigid_motion
    return mechanism.network.arrays.columns[:2] if rigid is None else (rigid.centres, rigid.spins)
