"""Search for the contacts that are closed in an equilibrium."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..contacts.levels import gaps_at
from ..joints.rows.connection import Connection
from ..kernels.state import Configuration, derive
from ..numerics.arrays import Array
from ..systems.inputs import Forcing, Input
from .contact_equilibrium import ContactEquilibrium
from .model.model import extent
from .model.state import Pose, at_rest
from .model.time_table import Anchors, anchor
from .poses.closure import Closure
from .poses.passage import carried
from .statics.balance import problem
from .statics.balanced_state import balance_at
from .statics.equilibrium import UnheldError, equilibrium
from .statics.stability import is_minimum
from .statics.steady_rotation import steady_rotation
from .substitutes import Touch, touches_of

Mechanism = Any
"""A :class:`flexph.Mechanism`, whose module imports this one."""
SOFT = 1e3, 1e2, 10.0
"""Stiffnesses of springs that replace rigid contacts, relative to the pressing force per size of the mechanism, each
tried if the one before finds no equilibrium."""
PULLS = 1e-9
"""Negative normal force, relative to the largest one, up to which a contact does not count as pulling."""
ENTERED = 1e-9
"""Penetration (negative gap), relative to the size of the mechanism, up to which a contact counts as just closed."""
PLACED = 1e-6
"""Gap in the pose, relative to the size of the mechanism, up to which a contact starts the search closed."""
CHANGES = 100
"""Largest number of contacts that are closed or released one by one."""


class OpenError(ArithmeticError):
    """Error of an equilibrium that needs a pulling force at a contact; such a contact opens."""

    def __init__(self, contact: str, pull: float) -> None:
        self.contact = contact
        super().__init__(f"no equilibrium was found: {contact!r} opens, as it would have to pull with {pull:.4g} N")


class Search:
    """Search for the equilibrium of a mechanism with contacts near a pose.

    It starts from the configuration ``start``, by default the pose at rest, with bodies deformed by the coordinates
    ``bent`` (n,). ``keeps_pose`` is used for limit loads: if all bodies and contacts are rigid and there are no
    springs, forces must balance in the pose itself, and messages do not say by how much the friction is too small.
    With ``on_faces`` all given faces of skins are closed, even if they pull.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        pose: Pose,
        inputs: Mapping[str, Input],
        time: float,
        start: Configuration | None = None,
        *,
        keeps_pose: bool = False,
        bent: Array | None = None,
        on_faces: bool = False,
    ) -> None:
        self.mechanism, self.pose, self.inputs, self.time = mechanism, pose, inputs, time
        self.start = at_rest(mechanism, pose.centres, pose.rotations) if start is None else start
        self.touches = touches_of(mechanism, "mechanism.equilibrium")
        self.size = extent(mechanism, pose.centres, pose.rotations)
        self.rigid = [touch for touch in self.touches if touch.is_rigid]
        self._explains = not keeps_pose
        self._bent, self._on_faces = bent, on_faces
        self._faces = {touch.name for touch in self.rigid if on_faces and touch.gap.kind == "face"}
        self._stays = keeps_pose and _is_stiff(mechanism) and len(self.rigid) == len(self.touches)
        self._tried: set[str] = set()  # contacts without a gap that were closed once
        self._others = [c for c in mechanism.connections if not c.touches]
        self._springs = [t.spring() for t in self.touches if not t.is_rigid]

    def is_stable(self, result: ContactEquilibrium) -> bool:
        """True if an equilibrium with its closed contacts replaced by joints is a minimum of the energy."""
        resting, anchors = result.mechanism, result.state.anchors
        steady = steady_rotation(resting, None, None)
        given = problem(resting, anchors, self.time, inputs=self.inputs, steady=steady)
        return is_minimum(given, result.configuration)

    def moved(self, result: ContactEquilibrium) -> float:
        """Distance of an equilibrium from the start of the search, without unit.

        It is the largest displacement of a body divided by the size of the mechanism, or the largest change of a
        rotation entry if that is larger.
        """
        c = result.configuration
        apart = np.linalg.norm(c.r - self.start.r, axis=1).max(initial=0.0) / self.size
        return float(max(apart, np.abs(c.R - self.start.R).max(initial=0.0)))

    def closed_in_pose(self) -> tuple[set[str], Pose]:
        """Names of the rigid contacts whose gaps are closed at the start of the search, and the given pose."""
        gaps = self._gaps(self.start)
        return {touch.name for touch in self.rigid if gaps[touch.name] <= PLACED * self.size}, self.pose

    def begins_closed(self, held: Sequence[Touch]) -> bool:
        """True if each of the contacts ``held`` is a point on a plane and closed at the start of the search."""
        gaps = self._gaps(self.start)
        return all(t.has_tangents and abs(gaps[t.name]) <= PLACED * self.size for t in held)

    def settled(self, held: Sequence[Touch], *, in_place: bool = False) -> ContactEquilibrium:
        """Find the equilibrium by closing and releasing rigid contacts, one after the other, until all conditions hold.

        The contacts ``held`` do not slide: friction holds them along their tangents. With ``in_place``, the contacts
        that are closed in the pose start closed and may open, but no others close. Raises OpenError if a contact would
        have to pull, SlipError if friction would exceed its bound, and ArithmeticError if no equilibrium is found.
        """
        self._tried = set()
        closed, pose = self.closed_in_pose() if in_place or not self.rigid or self._on_faces else self._pressed(held)
        closed |= self._faces
        opened: tuple[str, float] | None = None
        for _ in range(CHANGES):
            try:
                result = self._balanced(pose, [touch for touch in self.rigid if touch.name in closed], held)
            except ArithmeticError as error:
                if opened is None:
                    raise
                raise OpenError(*opened) from error
            change, pull = self._wrong(result, closed)
            if in_place and change is not None and change not in closed:
                raise ArithmeticError(
                    f"no equilibrium was found: loads would make the bodies of {change!r} penetrate, which is open in "
                    "the pose"
                )
            if change is None and (more := self._touching(result.configuration, closed)):
                closed |= more
                pose = self._pose(result.configuration)
                continue
            if change is None:
                holding = [t for t in held if not t.is_rigid or t.name in closed]
                return result.within_cones(holding, explains=self._explains)
            opened = (change, pull) if opened is None and pull else opened
            closed ^= {change}
            pose = self._pose(result.configuration)
        raise ArithmeticError(f"no equilibrium was found: contacts open and close alternately, {change!r} last")

    def cause(self, error: ArithmeticError) -> ArithmeticError:
        """Error that explains why there is no equilibrium with all contacts of the pose closed.

        It is OpenError, with the contact that would have to pull most, or the given error if none would.
        """
        gaps = self._gaps(self.start)
        closed = [t for t in self.touches if gaps[t.name] <= PLACED * self.size]
        open_ones = [t.spring() for t in self.touches if not t.is_rigid and t not in closed]
        try:
            result = self._equilibrium(self.pose, [*open_ones, *(t.row() for t in closed)], (), springs=())
        except ArithmeticError:
            return error
        change, pull = self._wrong(result, {t.name for t in closed})
        return OpenError(change, pull) if change is not None and pull else error

    def _pressed(self, held: Sequence[Touch]) -> tuple[set[str], Pose]:
        """Names of the rigid contacts that touch when soft springs replace them, and the pose at rest on these springs.

        Newton's method may cycle between open and closed contacts; softer springs, which act further, converge. Rims
        that touch in the pose stay closed, as springs cannot measure their gaps. Springs also hold the points ``held``.
        """
        dim, pressing = self.mechanism.layout.dim, pressing_force(self.mechanism, self.inputs, self.time, self.size)
        rims = self.closed_in_pose()[0] & {touch.name for touch in self.rigid if touch.is_rim}
        failed: ArithmeticError | None = None
        for softness in SOFT:
            k = softness * pressing / self.size
            soft = [
                touch.spring(touch.one_sided(k * self.size**2 if touch.gap.kind == "angle" else k))
                for touch in self.rigid
                if not touch.is_rim
            ]
            soft += [touch.row() for touch in self.rigid if touch.name in rims]
            soft += [touch.tangent_springs(k, dim) for touch in held if touch.is_rigid]
            try:
                c = self._equilibrium(self.pose, soft, [t for t in held if not t.is_rigid]).configuration
            except UnheldError:
                raise  # softer springs would not hold the mechanism either
            except ArithmeticError as error:
                failed = failed or error
                continue
            gaps = self._gaps(c)
            pressed = {touch.name for touch in self.rigid if gaps[touch.name] < 0.0 and not touch.is_rim}
            return pressed | rims, self._pose(c)
        assert failed is not None
        raise failed

    def _balanced(self, pose: Pose, closed: Sequence[Touch], held: Sequence[Touch]) -> ContactEquilibrium:
        names = {touch.name for touch in closed}
        holding = [touch for touch in held if not touch.is_rigid or touch.name in names]
        return self._equilibrium(pose, [touch.row() for touch in closed], holding)

    def _equilibrium(
        self,
        pose: Pose,
        contacts: Sequence[Connection],
        held: Sequence[Touch],
        *,
        springs: Sequence[Connection] | None = None,
    ) -> ContactEquilibrium:
        """Equilibrium of the mechanism near a pose with other connections in place of its contacts.

        ``contacts`` replace the rigid contacts, and ``springs`` the compliant ones, by default all of them. Constraints
        or springs hold the contacts ``held`` along their tangents.
        """
        dim, springs = self.mechanism.layout.dim, self._springs if springs is None else springs
        rows = [
            touch.tangent_rows(dim) if touch.is_rigid else touch.tangent_springs(touch.holding, dim) for touch in held
        ]
        resting = self.mechanism.replace(joints=[*self._others, *springs, *contacts, *rows])
        anchors = carried(self.mechanism, resting, self.pose.anchors, self._anchors(resting))
        at = pose.centres, pose.rotations
        if resting.rigid_motion is None:  # joints of rods close in the load steps
            free = np.ones(resting.layout.velocities - resting.layout.flexible, dtype=bool)
            at = Closure(resting, self.time).closed(at, free)
        if self._stays:
            given = problem(
                resting, anchors, self.time, inputs=self.inputs, steady=steady_rotation(resting, None, None)
            )
            if not balance_at(given, at_rest(resting, *at)).holds(given):
                raise ArithmeticError("forces do not balance in the pose")
        placed = Pose(*at, anchors, self.pose.bodies)
        options: dict[str, Any] = {"spin": None, "about": None, "redundant": "least_norm", "bent": self._bent}
        state = equilibrium(resting, placed, self.inputs, time=self.time, **options)
        return ContactEquilibrium(self.touches, resting, state)

    def _pose(self, c: Configuration) -> Pose:
        return Pose(c.r, c.R, self.pose.anchors, self.pose.bodies)

    def _anchors(self, resting: Mechanism) -> Anchors:
        """Anchors of the mechanism ``resting``, whose contacts are replaced, measured at the start configuration."""
        return anchor(resting, derive(resting.network.arrays, self.start).product)

    def _gaps(self, c: Configuration) -> dict[str, float]:
        """Gaps [m] of all contacts at a configuration, by the names of the springs or constraints in their place."""
        a = self.mechanism.network.arrays
        gaps = gaps_at(a, c, derive(a, c)).before
        return dict(zip((touch.name for touch in self.touches), gaps.tolist(), strict=True))

    def _wrong(self, result: ContactEquilibrium, closed: set[str]) -> tuple[str | None, float]:
        """Name of the contact that violates the conditions most, and its pull [N]; None if the conditions hold.

        It is the closed one that pulls most or, if none pulls, the open one that penetrates most; the pull is then 0.
        """
        forces = result.normal
        largest = max(map(abs, forces.values()), default=0.0)
        single = [name for name in forces if name not in self._faces]  # sets of faces are changed as a whole
        name = min(single, key=lambda name: forces[name], default=None)
        if name is not None and forces[name] < -PULLS * largest:
            return name, -forces[name]
        gaps = self._gaps(result.configuration)
        entered = {t.name: gaps[t.name] for t in self.rigid if t.name not in closed}
        entered = {name: gap for name, gap in entered.items() if gap < -ENTERED * self.size}
        return min(entered, key=lambda name: entered[name]) if entered else None, 0.0

    def _touching(self, c: Configuration, closed: set[str]) -> set[str]:
        """Names of the rigid contacts not in ``closed`` whose gap is zero. Each is returned only once in a search."""
        gaps = self._gaps(c)
        touching = {t.name for t in self.rigid if t.name not in closed and abs(gaps[t.name]) <= ENTERED * self.size}
        touching, self._tried = touching - self._tried, self._tried | touching
        return touching


def pressing_force(mechanism: Mechanism, inputs: Mapping[str, Input], time: float, size: float) -> float:
    """Scale of the forces [N] that may press contacts: the sum of all weights and loads at a time.

    Without weights and loads it is the force of the springs over the ``size`` [m] of the mechanism, and 1 if nothing
    exerts a force.
    """
    arrays = mechanism.network.arrays
    loads = Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim).at(time)
    weight = float(np.linalg.norm(arrays.weight, axis=1).sum() + np.abs(loads).sum())
    return weight or arrays.springs.scales[0] * size or 1.0


def _is_stiff(mechanism: Mechanism) -> bool:
    """True if all bodies are rigid and there are no springs."""
    return not (mechanism.layout.flexible or mechanism.layout.springs or mechanism.rigid_motion is not None)
