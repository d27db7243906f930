"""Equilibrium with contacts: gaps g ≥ 0, normal forces N ≥ 0, N = 0 where g > 0, friction |T| ≤ μN where it is needed.

Soft springs in place of rigid contacts show which of them close. These become constraints. Then contacts that pull are
released, and open ones with penetration are closed, one after the other, until all conditions hold. Points that touch
in the pose are held there by friction, up to its bound. Others come to an equilibrium without friction, which is one
for any friction; if there is none, friction holds them along the tangents where they are in the pose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from ..contacts.levels import gaps_at
from ..joints.rows.connection import Connection, measures
from ..kernels.state import Configuration, derive
from ..numerics.arrays import Array, dense
from ..systems.inputs import Forcing, Input
from .model.consistency import explain_redundancy
from .model.constraints import rates_at, spring_extensions
from .model.model import extent
from .model.state import Pose, State, at_rest, configuration, flat
from .model.time_table import Anchors, anchor, table_of
from .poses.closure import Closure
from .poses.passage import carried, copied_state
from .statics.balance import problem
from .statics.balanced_state import balance_at
from .statics.equilibrium import equilibrium
from .statics.stability import is_minimum, warn_if_unstable
from .statics.steady_rotation import steady_rotation
from .substitutes import Touch, touches_of

Mechanism = Any
"""A :class:`flexph.Mechanism`, which imports this module."""
SOFT = 1e3, 1e2, 10.0
"""Stiffnesses of springs that stand for rigid contacts, relative to weight and loads per size of the mechanism, each
tried if the one before finds no equilibrium."""
PULLS = 1e-9
"""Negative normal force, relative to the largest one, up to which a contact does not count as pulling."""
ENTERED = 1e-9
"""Penetration (negative gap), relative to the size of the mechanism, up to which a contact counts as just closed."""
PLACED = 1e-6
"""Gap in the pose, relative to the size of the mechanism, up to which a contact begins closed."""
CHANGES = 100
"""Largest number of contacts that are closed or released one by one."""
WAYS = 128
"""Number of directions in which friction in space is bounded, by polygons within its circle: to 3e-4."""
FRICTION = ": friction: "
"""Text that follows the name of a contact in the names of the rows and springs that hold it along its tangents."""
MOST, DIGITS = 1e6, 1e-5
"""Largest factor of the coefficients of friction that is tried, and the relative error of the least one."""
SLIPS = 1e-6
"""Relative excess of friction above its bound that counts as none: forces balance to as much."""


def equilibrium_with_contacts(
    mechanism: Mechanism, pose: Pose, inputs: Mapping[str, Input], *, time: float, redundant: str
) -> State:
    """Equilibrium near a pose with contacts, see :meth:`flexph.Mechanism.equilibrium`."""
    made, state = rest(mechanism, pose, inputs, time=time)
    warn_if_unstable(made, state, inputs)
    whole = handed_back(mechanism, made, state)
    multipliers = whole.multipliers
    if redundant == "refuse" and multipliers.size:
        c = configuration(mechanism, whole.x)
        place, table = (c, derive(mechanism.network.arrays, c)), table_of(mechanism, whole.anchors)
        if names := explain_redundancy(mechanism, rates_at(mechanism, place, table, time)[0]):
            raise ValueError(f"{names}. The joint forces are not unique: take redundant='least_norm'")
    return whole


def handed_back(mechanism: Mechanism, made: Mechanism, state: State) -> State:
    """State of a mechanism with contacts, from that of one whose closed contacts are joints and springs."""
    whole = _with_anchors(mechanism, copied_state(made, mechanism, state), _friction_forces(made, state))
    own = dict(zip(made.constraint_names, state.multipliers, strict=True))
    multipliers = np.array([own[name] for name in mechanism.constraint_names])
    return replace(whole, multipliers=multipliers, joint_forces=True)


def _friction_forces(made: Mechanism, state: State) -> dict[str, Array]:
    """Friction (d,) in world axes by the names of compliant contacts, from the springs that hold them."""
    a, tensions = made.network.arrays, _tensions(made, state)
    tangents = derive(a, configuration(made, state.x)).vector[a.pairs[1][a.springs.component_product]]
    components = [name for name, measure in measures(made.connections) if measure.kind == "component"]
    forces: dict[str, Array] = {}
    for name, tangent in zip(components, tangents, strict=True):
        contact, is_friction, _ = name.partition(FRICTION)
        if is_friction:
            forces[contact] = forces.get(contact, 0.0) + tensions[name] * tangent
    return forces


def _tensions(made: Mechanism, state: State) -> dict[str, float]:
    """Tensions of all springs by name."""
    c, springs = configuration(made, state.x), made.network.arrays.springs
    tension = springs.tensions(spring_extensions(made, c, table_of(made, state.anchors), state.time), state.time)
    return dict(zip((name for name, _ in measures(made.connections)), tension.tolist(), strict=True))


def _with_anchors(mechanism: Mechanism, state: State, forces: Mapping[str, Array]) -> State:
    """State whose anchors of compliant contacts have given forces."""
    contacts, c = mechanism.network.arrays.contacts, configuration(mechanism, state.x)
    spring, dim = c.spring.copy(), mechanism.layout.dim
    for touch, first in zip(touches_of(mechanism, "mechanism.equilibrium"), contacts.anchor.tolist(), strict=True):
        if touch.name in forces and first >= 0:
            spring[first : first + dim] = forces[touch.name]
    return replace(state, x=flat(mechanism, c._replace(spring=spring)))


def closed_at(mechanism: Mechanism, state: State, inputs: Mapping[str, Input]) -> tuple[Mechanism, State]:
    """Mechanism whose closed contacts are joints and springs, and its state; points on planes stick by friction."""
    c = configuration(mechanism, state.x)
    pose = Pose(c.r, c.R, state.anchors, tuple(mechanism.bodies))
    search = Search(mechanism, pose, inputs, state.time, c)
    closed = search.closed_in_pose()[0]
    return search.settled(
        [t for t in search.touches if t.has_tangents and (t.name in closed or not t.is_rigid)], in_place=True
    )


def rest(mechanism: Mechanism, pose: Pose, inputs: Mapping[str, Input], *, time: float) -> tuple[Mechanism, State]:
    """Equilibrium near a pose, of a mechanism whose closed contacts are joints and springs.

    Raises ArithmeticError if there is none, ValueError for contacts that cannot rest.
    """
    search = Search(mechanism, pose, inputs, time)
    held = [touch for touch in search.touches if touch.friction > 0.0]
    slipped: ArithmeticError | None = None
    if held and search.begins_closed(held):
        try:
            return search.settled(held, in_place=True)
        except ArithmeticError as error:
            slipped = error
    try:
        made, state = search.settled(held=())
        if slipped is not None and not search.is_stable(made, state):
            raise slipped  # what slips does not come to such a place
        return made, state
    except ArithmeticError as error:
        if not held:
            raise
        if slipped is not None:
            raise slipped from error
        if round_ := [touch.name for touch in held if not touch.has_tangents]:
            raise ArithmeticError(
                "no equilibrium was found without friction, and friction holds points on planes only, not "
                f"{', '.join(map(repr, round_))}: hold the bodies by a joint, or integrate to the rest"
            ) from None
        return search.settled(held=held)


def _friction_of(multipliers: Mapping[str, float], touch: Touch) -> list[float]:
    """Friction of a contact along its tangents."""
    return [force for name, force in multipliers.items() if name.startswith(f"{touch.name}{FRICTION}")]


class Slips(ArithmeticError):
    """Friction that would exceed its bound."""


class Search:
    """Search for the equilibrium of a mechanism with contacts from a pose, or from the configuration ``start``."""

    def __init__(
        self,
        mechanism: Mechanism,
        pose: Pose,
        inputs: Mapping[str, Input],
        time: float,
        start: Configuration | None = None,
    ) -> None:
        self.mechanism, self.pose, self.inputs, self.time = mechanism, pose, inputs, time
        self.start = at_rest(mechanism, pose.centres, pose.rotations) if start is None else start
        self.touches = touches_of(mechanism, "mechanism.equilibrium")
        self.size = extent(mechanism, pose.centres, pose.rotations)
        self.rigid = [touch for touch in self.touches if touch.is_rigid]
        self.stays = False  # whether nothing gives way, so that the pose itself is the equilibrium, if there is one
        self.explains = True  # how much friction lacks where it does not hold
        self._tried: set[str] = set()  # contacts without a gap that were closed once
        self._others = [c for c in mechanism.connections if not c.touches]
        self._springs = [touch.spring() for touch in self.touches if not touch.is_rigid]

    def is_stable(self, made: Mechanism, state: State) -> bool:
        """True for a minimum of the energy."""
        steady = steady_rotation(made, None, None)
        given = problem(made, state.anchors, self.time, inputs=self.inputs, steady=steady)
        return is_minimum(given, configuration(made, state.x))

    def moved(self, made: Mechanism, state: State) -> float:
        """Largest displacement from the start over the size, or turn [rad]."""
        c = configuration(made, state.x)
        apart = np.linalg.norm(c.r - self.start.r, axis=1).max(initial=0.0) / self.size
        return float(max(apart, np.abs(c.R - self.start.R).max(initial=0.0)))

    def pressing(self, made: Mechanism, state: State) -> dict[str, float]:
        """Normal forces of the closed rigid contacts, and of the compliant ones."""
        return self._normal(made, state) | self._pressing(_tensions(made, state))

    def whole(self, made: Mechanism, state: State) -> State:
        """State of the mechanism with its contacts."""
        return handed_back(self.mechanism, made, state)

    def closed_in_pose(self) -> tuple[set[str], Pose]:
        """Names of the rigid contacts that are closed in the pose, and the pose."""
        gaps = self._gaps(self.start)
        return {touch.name for touch in self.rigid if gaps[touch.name] <= PLACED * self.size}, self.pose

    def begins_closed(self, held: Sequence[Touch]) -> bool:
        """True if contacts that friction may hold are closed in the pose, and are points on planes."""
        gaps = self._gaps(self.start)
        return all(t.has_tangents and abs(gaps[t.name]) <= PLACED * self.size for t in held)

    def settled(self, held: Sequence[Touch], *, in_place: bool = False) -> tuple[Mechanism, State]:
        """Equilibrium by closing and releasing rigid contacts; ``held`` are held along their tangents by friction.

        ``in_place``: contacts that are closed in the pose stay so or open, and no others close.
        """
        self._tried = set()
        closed, pose = self.closed_in_pose() if in_place or not self.rigid else self._pressed(held)
        for _ in range(CHANGES):
            made, state = self._balanced(pose, [touch for touch in self.rigid if touch.name in closed], held)
            c = configuration(made, state.x)
            change = self._wrong(made, state, c, closed)
            if in_place and change is not None and change not in closed:
                raise ArithmeticError(f"no equilibrium was found: from the pose {change!r} comes to be entered")
            if change is None and (more := self._touching(c, closed)):
                closed |= more
                pose = self._pose(c)
                continue
            if change is None:
                return made, self._within_cones(made, state, [t for t in held if not t.is_rigid or t.name in closed])
            closed ^= {change}
            pose = self._pose(c)
        raise ArithmeticError(f"no equilibrium was found: contacts close and open in turn, at last {change!r}")

    def _pressed(self, held: Sequence[Touch]) -> tuple[set[str], Pose]:
        """Names of the rigid contacts that soft springs in their place close, and the pose of these springs.

        Newton's method may cycle between touching and not; softer springs, which reach further, then find the way.
        """
        mechanism, dim = self.mechanism, self.mechanism.layout.dim
        loads = Forcing(mechanism.network.input_slices, self.inputs, dim).at(self.time)
        weight = float(np.linalg.norm(mechanism.network.arrays.weight, axis=1).sum() + np.abs(loads).sum()) or 1.0
        failed: ArithmeticError | None = None
        for softness in SOFT:
            k = softness * weight / self.size
            soft = [
                touch.spring(touch.one_sided(k * self.size**2 if touch.gap.kind == "angle" else k))
                for touch in self.rigid
            ]
            soft += [touch.sprung(k, dim) for touch in held if touch.is_rigid]
            try:
                made, state = self._equilibrium(self.pose, soft, [touch for touch in held if not touch.is_rigid])
            except ArithmeticError as error:
                failed = failed or error
                continue
            c = configuration(made, state.x)
            gaps = self._gaps(c)
            return {touch.name for touch in self.rigid if gaps[touch.name] < 0.0}, self._pose(c)
        assert failed is not None
        raise failed

    def _balanced(self, pose: Pose, closed: Sequence[Touch], held: Sequence[Touch]) -> tuple[Mechanism, State]:
        names = {touch.name for touch in closed}
        holding = [touch for touch in held if not touch.is_rigid or touch.name in names]
        return self._equilibrium(pose, [touch.row() for touch in closed], holding)

    def _equilibrium(
        self, pose: Pose, contacts: Sequence[Connection], held: Sequence[Touch]
    ) -> tuple[Mechanism, State]:
        """Equilibrium of the mechanism with other contacts, and points that are held where they are in the pose."""
        dim = self.mechanism.layout.dim
        rows = [touch.held(dim) if touch.is_rigid else touch.sprung(touch.holding, dim) for touch in held]
        made = self.mechanism.replace(joints=[*self._others, *self._springs, *contacts, *rows])
        anchors = carried(self.mechanism, made, self.pose.anchors, self._anchors(made))
        at = pose.centres, pose.rotations
        if made.rigid_motion is None:  # nodes of rods find their way by load steps
            free = np.ones(made.layout.velocities - made.layout.flexible, dtype=bool)
            at = Closure(made, self.time).closed(at, free)
        if self.stays:
            given = problem(made, anchors, self.time, inputs=self.inputs, steady=steady_rotation(made, None, None))
            if not balance_at(given, at_rest(made, *at)).holds(given):
                raise ArithmeticError("forces do not balance in the pose")
        placed = Pose(*at, anchors, self.pose.bodies)
        return made, equilibrium(
            made, placed, self.inputs, spin=None, about=None, time=self.time, redundant="least_norm"
        )

    def _pose(self, c: Configuration) -> Pose:
        return Pose(c.r, c.R, self.pose.anchors, self.pose.bodies)

    def _anchors(self, made: Mechanism) -> Anchors:
        """Anchors of a mechanism at the start."""
        return anchor(made, derive(made.network.arrays, self.start).product)

    def _gaps(self, c: Configuration) -> dict[str, float]:
        """Gaps of all contacts by name."""
        a = self.mechanism.network.arrays
        gaps = gaps_at(a, c, derive(a, c)).before
        return dict(zip((touch.name for touch in self.touches), gaps.tolist(), strict=True))

    def _wrong(self, made: Mechanism, state: State, c: Configuration, closed: set[str]) -> str | None:
        """Contact that pulls most or, if none does, that penetrates most; None if all conditions hold."""
        forces = self._normal(made, state)
        largest = max(map(abs, forces.values()), default=0.0)
        pulling = {name: force for name, force in forces.items() if force < -PULLS * largest}
        if pulling:
            return min(pulling, key=lambda name: pulling[name])
        gaps = self._gaps(c)
        entered = {t.name: gaps[t.name] for t in self.rigid if t.name not in closed}
        entered = {name: gap for name, gap in entered.items() if gap < -ENTERED * self.size}
        return min(entered, key=lambda name: entered[name]) if entered else None

    def _touching(self, c: Configuration, closed: set[str]) -> set[str]:
        """Open rigid contacts without a gap, each once: they carry their share if none of the contacts pulls then."""
        gaps = self._gaps(c)
        found = {t.name for t in self.rigid if t.name not in closed and abs(gaps[t.name]) <= ENTERED * self.size}
        found, self._tried = found - self._tried, self._tried | found
        return found

    def _normal(self, made: Mechanism, state: State) -> dict[str, float]:
        """Normal forces of the closed rigid contacts."""
        own = dict(zip(made.constraint_names, state.multipliers.tolist(), strict=True))
        signs = {touch.name: touch.gap.sign for touch in self.rigid}
        return {name: sign * own[f"{name}: normal"] for name, sign in signs.items() if f"{name}: normal" in own}

    def _within_cones(self, made: Mechanism, state: State, held: Sequence[Touch]) -> State:
        """State with contact forces whose friction is within its bounds; raises ArithmeticError if there are none.

        They are those of least norm or, if these exceed a bound, those with the least sum of normal forces.
        """
        own = dict(zip(made.constraint_names, state.multipliers.tolist(), strict=True))
        springs = _tensions(made, state)
        own |= springs
        pressing = self._normal(made, state) | self._pressing(springs)
        needed = {touch.name: float(np.linalg.norm(_friction_of(own, touch))) for touch in held}
        over = [t for t in held if needed[t.name] > (1.0 + SLIPS) * t.friction * pressing[t.name]]
        if not over:
            return state
        rigid, is_rigid = [t for t in held if t.is_rigid], all(t.is_rigid for t in over)
        if is_rigid and (shared := self._shared(made, state, rigid)) is not None:
            return replace(state, multipliers=shared)
        worst = max(over, key=lambda t: needed[t.name] - t.friction * pressing[t.name])
        bound = worst.friction * max(pressing[worst.name], 0.0)
        if not self.explains:
            raise Slips(f"{worst.name!r} slips")
        if is_rigid:
            factor = self._least_factor(made, state, rigid)
        else:
            factor = needed[worst.name] / bound if bound > 0.0 else np.inf
        lack = f"would have to be {factor:.4g} times as large" if factor < MOST else "of no size would hold it"
        raise Slips(f"no equilibrium was found: {worst.name!r} slips; coefficients of friction {lack}")

    def _least_factor(self, made: Mechanism, state: State, held: Sequence[Touch]) -> float:
        """Least factor of all coefficients of friction with which these hold; infinite if there is none."""
        low, high = 0.0, 1.0
        while self._shared(made, state, held, factor=np.exp(high)) is None:
            low, high = high, 2.0 * high
            if high > np.log(MOST):
                return np.inf
        while high - low > DIGITS:
            middle = 0.5 * (low + high)
            low, high = (
                (low, middle) if self._shared(made, state, held, factor=np.exp(middle)) is not None else (middle, high)
            )
        return float(np.exp(high))

    def _shared(self, made: Mechanism, state: State, held: Sequence[Touch], factor: float = 1.0) -> Array | None:
        """Multipliers with the same forces that satisfy all bounds, with the least sum of normal forces.

        They follow from a linear programme with polygons inside the friction cones; None if there are none.
        Coefficients of friction are multiplied by ``factor``.
        """
        c, names = configuration(made, state.x), list(made.constraint_names)
        G = dense(rates_at(made, (c, derive(made.network.arrays, c)), table_of(made, state.anchors), self.time)[0])
        scale = float(np.abs(state.multipliers).max())
        forces, pressing = G.T @ state.multipliers / scale, np.zeros(len(names))
        rows: list[Array] = []
        bounds: list[tuple[float | None, float | None]] = [(None, None)] * len(names)
        for touch in self.rigid:
            if (name := f"{touch.name}: normal") in names:
                bounds[names.index(name)] = (0.0, None) if touch.gap.sign > 0.0 else (None, 0.0)
                pressing[names.index(name)] = touch.gap.sign
        for touch in held:
            own = [k for k, name in enumerate(names) if name.startswith(f"{touch.name}{FRICTION}")]
            for turn in np.arange(WAYS) * 2.0 * np.pi / WAYS if len(own) > 1 else (0.0, np.pi):
                row = np.zeros(len(names))
                row[own] = np.array([np.cos(turn), np.sin(turn)])[: len(own)]
                reach = factor * touch.friction * (np.cos(np.pi / WAYS) if len(own) > 1 else 1.0)
                row[names.index(f"{touch.name}: normal")] -= reach * touch.gap.sign
                rows.append(row)
        options = {"A_ub": np.array(rows), "b_ub": np.full(len(rows), SLIPS), "A_eq": G.T, "b_eq": forces}
        found = scipy.optimize.linprog(pressing, **options, bounds=bounds)
        if found.status != 0:
            return None
        balanced: Array = found.x + np.linalg.lstsq(G.T, forces - G.T @ found.x)[0]  # to round-off
        return scale * balanced

    def _pressing(self, tensions: Mapping[str, float]) -> dict[str, float]:
        """Normal forces of compliant contacts."""
        return {t.name: -t.gap.sign * tensions[t.name] for t in self.touches if not t.is_rigid}
