"""Equilibrium with contacts: gaps g ≥ 0, normal forces N ≥ 0, N = 0 where g > 0, friction |T| ≤ μN where it is needed.

Soft springs in place of rigid contacts show which of them close. These become constraints. Then contacts that pull are
released, and open ones with penetration are closed, one after the other, until all conditions hold. Points that touch
in the pose are held there by friction, up to its bound; a pose in which they slip is refused. Points that touch later
have an equilibrium without friction, which is one for any coefficient of friction; if there is none, friction holds
them where they are in the pose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..kernels.state import Configuration, derive
from ..numerics.arrays import Array
from ..systems.inputs import Input
from .contact_equilibrium import ContactEquilibrium, SlipError
from .contact_search import PLACED, SOFT, Search, pressing_force
from .faces_at_rest import Feature, compare_gaps, has_surfaces, on_faces
from .model.consistency import explain_redundancy
from .model.constraints import rates_at
from .model.model import extent
from .model.state import Pose, State, at_rest, configuration
from .model.time_table import table_of
from .skins_at_rest import (
    carrying_sets,
    changed_sets,
    has_skins,
    nearest_faces,
    numbers,
    separate_contacts,
    tied_contacts,
    tied_sets,
)
from .statics.stability import warn_if_unstable

Mechanism = Any
"""A :class:`flexph.Mechanism`, whose module imports this one."""
CHANGES = 20
"""Largest number of changes of the faces that balls touch on surfaces."""
CLOSED = 1e-9
"""Gap at an equilibrium, relative to the size of the mechanism, up to which a surface counts as touched."""
NEARBY, NEAREST = 0.2, 20
"""Gap, relative to the size of the mechanism, and number of surfaces that stay themselves if their faces fail."""


def equilibrium_with_contacts(
    mechanism: Mechanism, pose: Pose, inputs: Mapping[str, Input], *, time: float, redundant: str
) -> State:
    """Equilibrium near a pose with contacts, see :meth:`flexph.Mechanism.equilibrium`."""
    result = rest(mechanism, pose, inputs, time=time)
    warn_if_unstable(result.mechanism, result.state, inputs)
    whole = result.with_contacts(mechanism)
    multipliers = whole.multipliers
    if redundant == "refuse" and multipliers.size:
        c = configuration(mechanism, whole.x)
        place, table = (c, derive(mechanism.network.arrays, c)), table_of(mechanism, whole.anchors)
        if names := explain_redundancy(mechanism, rates_at(mechanism, place, table, time)[0]):
            raise ValueError(f"{names}. The joint forces are not unique: use redundant='least_norm'")
    return whole


def closed_at(mechanism: Mechanism, state: State, inputs: Mapping[str, Input]) -> tuple[Mechanism, State]:
    """Mechanism with joints and springs in place of the closed contacts of an equilibrium, and its state.

    Points that touch planes with friction stick.
    """
    c = configuration(mechanism, state.x)
    pose = Pose(c.r, c.R, state.anchors, tuple(mechanism.bodies))
    if has_skins(mechanism):
        size = extent(mechanism, c.r, c.R)
        mechanism = tied_contacts(mechanism, tied_sets(mechanism, c, size, CLOSED * size))
    if has_surfaces(mechanism):
        mechanism, _ = on_faces(mechanism, c, _touched_edges(mechanism, c, extent(mechanism, c.r, c.R)))
    search = Search(mechanism, pose, inputs, state.time, c)
    closed = search.closed_in_pose()[0]
    held = [t for t in search.touches if t.has_tangents and (t.name in closed or not t.is_rigid)]
    result = search.settled(held, in_place=True)
    return result.mechanism, result.state


def rest(mechanism: Mechanism, pose: Pose, inputs: Mapping[str, Input], *, time: float) -> ContactEquilibrium:
    """Find an equilibrium near a pose, by a mechanism that has a joint or spring in place of each closed contact.

    A contact with a surface is replaced by contacts with those of its faces that the body touches. Raises
    ArithmeticError if there is no equilibrium, ValueError for contacts that equilibria do not support.
    """
    if not has_skins(mechanism):
        return _rest_on_surfaces(mechanism, pose, inputs, time=time)
    size = extent(mechanism, pose.centres, pose.rotations)
    c, bent = at_rest(mechanism, pose.centres, pose.rotations), None
    soft = SOFT[0] * pressing_force(mechanism, inputs, time, size) / size
    for _ in range(CHANGES):  # each face alone, which shows where the balls come to rest
        sets = numbers(nearest_faces(mechanism, c))
        result = _rest_on_surfaces(separate_contacts(mechanism, sets, soft), pose, inputs, time=time, bent=bent)
        c = result.configuration
        pose, bent = Pose(c.r, c.R, pose.anchors, pose.bodies), c.u
        if sets == numbers(nearest_faces(mechanism, c)):
            break
    sets = carrying_sets(mechanism, result, size)
    for _ in range(CHANGES):
        local = tied_contacts(mechanism, sets)
        result = _rest_on_surfaces(local, pose, inputs, time=time, bent=bent, on_faces=True)
        c = result.configuration
        pose, bent = Pose(c.r, c.R, pose.anchors, pose.bodies), c.u
        before, sets = sets, changed_sets(mechanism, result, sets, CLOSED * size, size)
        if sets == before:
            return result
    raise ArithmeticError(
        "no equilibrium was found: balls pass from face to face of a skin; integrate a damped run until they rest"
    )


def _rest_on_surfaces(
    mechanism: Mechanism, pose: Pose, inputs: Mapping[str, Input], *, time: float, **options: Any
) -> ContactEquilibrium:
    """Equilibrium near a pose, with surfaces replaced by their closest faces until the gaps of both agree.

    ``options`` are those of :func:`_rest`.
    """
    if not has_surfaces(mechanism):
        return _rest(mechanism, pose, inputs, time=time, **options)
    size = extent(mechanism, pose.centres, pose.rotations)
    c = at_rest(mechanism, pose.centres, pose.rotations)
    exact = _nearby([feature if feature.edge else None for feature in on_faces(mechanism, c)[1]], size)
    exact |= _touched_edges(mechanism, c, size)
    failed: ArithmeticError | None = None
    for _ in range(CHANGES):
        local, features = on_faces(mechanism, c, exact)
        try:
            result = _rest(local, pose, inputs, time=time, in_pose=True, **options)
        except ArithmeticError as error:
            failed = failed or error
            if exact.issuperset(more := _nearby(features, size)):
                raise failed from None
            exact |= more  # a ball may pass from face to face before it rests, or lie on several
            continue
        c = result.configuration
        agreement = compare_gaps(mechanism, local, c, CLOSED * size)
        if agreement.holds:
            return result
        exact |= agreement.edges
        pose = Pose(c.r, c.R, pose.anchors, pose.bodies)
    raise ArithmeticError(
        "no equilibrium was found: bodies pass from face to face of a surface; integrate a damped run until it rests"
    )


def _touched_edges(mechanism: Mechanism, c: Configuration, size: float) -> set[int]:
    """Numbers of the surfaces that bodies touch at edges or on several faces."""
    features = on_faces(mechanism, c)[1]
    return {k for k, feature in enumerate(features) if feature.edge and feature.gap <= PLACED * size}


def _nearby(features: Sequence[Feature | None], size: float) -> set[int]:
    """Numbers of the ``NEAREST`` closest surfaces other than boxes, with gaps up to ``NEARBY`` times ``size``."""
    others = ((feature.gap, k) for k, feature in enumerate(features) if feature is not None and not feature.is_box)
    near = sorted((gap, k) for gap, k in others if gap <= NEARBY * size)
    return {k for _, k in near[:NEAREST]}


def _rest(
    mechanism: Mechanism,
    pose: Pose,
    inputs: Mapping[str, Input],
    *,
    time: float,
    in_pose: bool = False,
    bent: Array | None = None,
    on_faces: bool = False,
) -> ContactEquilibrium:
    """Equilibrium near a pose of a mechanism whose contacts are not with surfaces (boxes, capsules, meshes).

    With ``in_pose``, friction holds only contacts that touch in the pose.
    """
    search = Search(mechanism, pose, inputs, time, bent=bent, on_faces=on_faces)
    rough = [touch for touch in search.touches if touch.friction > 0.0]
    held = [touch for touch in rough if search.begins_closed([touch])] if in_pose else rough
    not_in_pose: ArithmeticError | None = None
    if held and search.begins_closed(held):
        try:
            return search.settled(held, in_place=True)
        except SlipError:
            raise
        except ArithmeticError as error:
            not_in_pose = error
    try:
        result = search.settled(held=())
        if not_in_pose is not None and not search.is_stable(result):
            raise not_in_pose  # bodies that leave their pose do not come to rest in an unstable equilibrium
        return result
    except ArithmeticError as error:
        if not_in_pose is not None:
            raise search.cause(not_in_pose) from error
        if round_ := [touch.name for touch in rough if not touch.has_tangents]:
            raise ArithmeticError(
                "no equilibrium was found without friction, and friction holds points on planes only, not "
                f"{', '.join(map(repr, round_))}: hold the bodies by a joint, or integrate with damping until they rest"
            ) from error
        if not held:
            raise search.cause(error) from error
        return search.settled(held=held)
