"""Closure of the constraints of an undeformed pose by Gauss-Newton steps of least norm.

Far from closure, guides (directions to be made parallel) replace rows that do not determine the sense of rotation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy
from scipy import sparse

from ...bodies.ports import find_port
from ...joints.rows.vectors import Ground
from ...kernels.arrays import Arrays, total
from ...kernels.contacts.distances import closed_gaps
from ...kernels.gradient import constraint_matrix, scale_rows
from ...kernels.rates.on_curves import all_at_state, curve_gaps
from ...kernels.state import constraint_sums, lever, node_arms, products, vectors
from ...numerics.arrays import Array, dense, dense_blocks, sparse_blocks
from ...numerics.corrections import IterationLimits
from ...numerics.factors.singular_systems import nearest_change
from ..model.constraints import AngleRows, angle_rows, move
from ..model.model import extent
from ..model.time_table import TimeTable, anchor, laws

if TYPE_CHECKING:
    from ..model.model import Model


TURNING_AXIS = (0.36, 0.48, 0.8)
"""Axis of the first body about which opposite directions start to turn; joint axes rarely coincide with it."""
OPPOSITE = 1e-6
"""Value of |a + b|² below which two unit directions count as opposite."""

Guide = tuple[int, Array, int | None, Array]
"""First body and its direction or frame (3, 3), second body (None: the ground) and its direction or frame."""

Block = tuple[int, int, Array]
"""First row and column of a block of a matrix, and its entries."""


def guides(mechanism: Model, time: float) -> list[Guide]:
    """Directions of two bodies each that joints make parallel, and frames that joints make coincide.

    A drive that prescribes an orientation does so at the ``time`` [s].
    """
    listed: list[Guide] = []
    for c in mechanism.connections:
        if not c.form.parallel:
            continue
        first, *others = (None if isinstance(p, Ground) else find_port(p, mechanism.bodies)[0] for p in c.ports)
        pairs = [given(time) if callable(given) else given for given in c.form.parallel]
        assert first is not None
        if len(pairs) == 3:
            a, b = (np.array(side).T for side in zip(*pairs, strict=True))
            listed.append((first, a, others[0], b))
        else:
            listed += [(first, np.array(a), others[0], np.array(b)) for a, b in pairs]
    return listed


def is_unguided(mechanism: Model) -> Array:
    """True for each constraint row except rows that constrain directions in a joint with guides, (g,)."""
    return np.array([not (c.form.parallel and r.unit == "N m") for c in mechanism.connections for r in c.rows], bool)


def differences(rotations: Array, spins: Array, guides: list[Guide]) -> tuple[Array, Array, list[Block]]:
    """Errors of the guides, the changes that remove them, and the matrix of these changes as blocks over the spins.

    Errors are in world axes. Frames close by their rotation vector. Directions a, b close by θ × ½(a + b) = b − a, in
    the two components perpendicular to the mean. With the mean direction the rows of a joint have the same rank at
    every pose; exact derivatives would add a spurious freedom. Opposite directions start to turn about an axis of the
    first body.
    """
    errors, wanted, turning, row = [np.zeros(0)], [np.zeros(0)], [], 0
    for first, a, second, b in guides:
        there = b if second is None else rotations[second] @ b
        here = rotations[first] @ a
        mean = 0.5 * (here + there)
        if here.ndim == 2:
            projection, turn = np.eye(3), scipy.spatial.transform.Rotation.from_matrix(there @ here.T).as_rotvec()
            errors.append(-turn)
        else:
            turn = there - here
            if mean @ mean < OPPOSITE:
                mean, turn = here, np.cross(rotations[first] @ np.array(TURNING_AXIS), here)
            projection = _perpendicular(mean)
            errors.append(here - there)
        wanted.append(projection @ turn)
        for body, sign in ((first, 1.0), (second, -1.0)):
            if body is not None and spins[body, 0] >= 0:
                R = rotations[body]
                block = sign * (R if here.ndim == 2 else np.cross(R.T, mean).T)
                turning.append((row, int(spins[body, 0]), projection @ block))
        row += len(projection)
    return np.concatenate(errors), np.concatenate(wanted), turning


def by_angle(angles: AngleRows, gap: Array, product: Array, coefficient: Array) -> Array:
    """Coefficients for which the rows of prescribed angles are the derivatives of the angles themselves.

    Also writes the errors of these angles into ``gap`` (in place). Newton's method then reaches a prescribed angle in
    the plane by the smaller rotation, and does not end half a turn away.
    """
    if not angles.rows.size:
        return coefficient
    gap[angles.rows] = angles.angle_errors(product, coefficient)
    turned = coefficient.copy()
    turned[angles.term], turned[angles.term + 1] = product[angles.cosine], -product[angles.sine]
    return turned


def _perpendicular(direction: Array) -> Array:
    """Two unit vectors perpendicular to a direction and to each other, (2, 3)."""
    first = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    pair = np.array([first, np.cross(direction, first)])
    unit: Array = pair / np.linalg.norm(pair, axis=1)[:, None]
    return unit


MAX_ITERATIONS = 100
GUIDED = 0.999
"""Ratio of successive gaps above which guiding directions no longer help."""
SHALLOW = 1e-3
"""Sine of the angle between a disc and the ground below which its slope is not used."""
OPEN = 1e-9
"""Gap, relative to the size of the mechanism, above which a joint counts as open."""
CLOSED = 1e-15
"""Gap, relative to the size of the mechanism, at which Newton's method stops: round-off. A larger gap times the joint
force would show in the energy balance of the first step."""


Placed = tuple[Array, Array]
"""Centres of mass (b, d) and rotations (b, d, d)."""


class _Equations(NamedTuple):
    """Linear equations of a step that closes the constraints at the pose ``at``: matrix · step = wanted.

    ``gap`` (k,) are the gaps r, ``wanted`` (k,) the changes that close them, and ``matrix()`` computes the matrix (k,
    n).
    """

    at: Placed
    gap: Array
    wanted: Array
    matrix: Callable[[], Any]

    @property
    def defect(self) -> float:
        """Norm ‖r‖ of the gaps r in the constraints."""
        return float(np.linalg.norm(self.gap))


class Closure:
    """Method that moves undeformed bodies until the constraints with a prescribed value hold at a time.

    Gaps between points are divided by a length of the mechanism, gaps between directions are not.
    """

    def __init__(self, mechanism: Model, time: float) -> None:
        self.mechanism, self.time = mechanism, time
        self.stated = np.array([law.value is not None for law in laws(mechanism)], dtype=bool)
        self.length = lever(mechanism.network.arrays)
        self.guides, self.rigid = guides(mechanism, time), mechanism.rigid_motion
        self._last: _PoseValues | None = None

    def here(self, at: Placed) -> _PoseValues:
        """Values and matrix of the constraints at a pose; those of the last pose are cached."""
        if self._last is None or self._last.at is not at:
            self._last = _PoseValues(self.mechanism, at, self.time)
        return self._last

    def units(self, size: float) -> Array:
        """Units of the constraints with a prescribed value: ``size`` [m] for those that hold points, 1 for others."""
        return np.where(self.mechanism.network.arrays.holds_points > 0.0, size, 1.0)[self.stated]

    def gap(self, at: Placed) -> Array:
        """Gaps of the constraints with a prescribed value, in [m] or without unit."""
        return self.here(at).gap[self.stated]

    def open_by(self, at: Placed, size: float) -> float:
        """Largest gap of a constraint, divided by the ``size`` [m] of the mechanism if the gap is a length."""
        return float(np.abs(self.gap(at) / self.units(size)).max(initial=0.0))

    def closed(self, at: Placed, active: Array, *, guided: bool = False) -> Placed:
        """Close the constraints by Gauss-Newton steps of least norm; returns the centres and rotations at the end.

        Only velocities that are ``active`` (a mask) change. ``guided`` replaces the direction constraints of joints by
        differences of directions that must coincide: for an error of 90° or more, constraints a·b = 0 do not tell which
        way to turn.
        """
        if guided and not self.guides:
            return at
        settled = CLOSED * max(self.here(at).size / self.length, 1.0)
        limits = IterationLimits(MAX_ITERATIONS, settled, np.inf if guided else OPEN, slow=GUIDED if guided else 0.5)

        def corrected(here: _Equations) -> tuple[_Equations, float]:
            step = np.zeros(active.size)
            step[active] = _least_step(here.matrix()[:, active], here.wanted)
            if np.abs(step).max(initial=0.0) <= settled:
                return here, 0.0
            moved = move(self.mechanism, *here.at, step) if self.rigid is None else self.rigid.moved(*here.at, step)
            after = self._equations(moved, active.size, guided)
            return after, after.defect

        start = self._equations(at, active.size, guided)
        return at if start.defect <= settled else limits.run(start, corrected).value.at

    def _equations(self, at: Placed, size: int, guided: bool) -> _Equations:
        here = self.here(at)
        gap = here.gap[self.stated] / self.units(self.length)
        if not guided:
            return _Equations(at, gap, -gap, lambda: self._matrix(here, size)[0])
        is_stated = is_unguided(self.mechanism)[self.stated]
        errors, rotation, blocks = differences(at[1], self.mechanism.network.arrays.columns[1], self.guides)

        def matrix() -> Any:
            rows, directions = self._matrix(here, size)
            shape = rotation.size, size if directions is None else len(directions)
            if sparse.issparse(rows):
                return sparse.vstack([rows[is_stated], sparse_blocks(shape, blocks)]).tocsr()
            turning = dense_blocks(shape, blocks)
            return np.vstack([rows[is_stated], turning if directions is None else turning @ directions])

        return _Equations(
            at, np.concatenate([gap[is_stated], errors]), np.concatenate([-gap[is_stated], rotation]), matrix
        )

    def _matrix(self, here: _PoseValues, size: int) -> tuple[Any, Array | None]:
        """Derivative of the gaps, relative to a length, with respect to the velocities or to rigid motions of bodies.

        The second value has the rigid motions as columns, (n_v, columns); it is None if the derivative is with respect
        to the velocities.
        """
        directions = None if self.rigid is None else self.rigid.frame_velocities(*here.at)
        columns, rows = size if directions is None else len(directions), self.units(self.length)
        matrix = scale_rows(here.matrix[self.stated][:, :columns], 1.0 / rows)
        return (matrix if directions is None else matrix @ directions), directions


class _PoseValues:
    """Constraint values g and matrix G of a mechanism at an undeformed pose and a time.

    Rows without a prescribed value are zero, as they are anchored in this pose.
    """

    def __init__(self, mechanism: Model, at: Placed, time: float) -> None:
        self.mechanism, self.at, a = mechanism, at, mechanism.network.arrays
        centres, rotations = at
        self._arms = node_arms(a, rotations, np.zeros(mechanism.layout.flexible))
        self._vectors = vectors(a, centres, self._arms)
        product = products(a, self._vectors)
        self.stated = anchor(mechanism, product)
        self._coefficient, self._offset = TimeTable(mechanism, self.stated).at(time)
        self.gap = constraint_sums(a, product, self._coefficient, self._offset)
        self._rows, self._heights, heights, self._by = _contact_heights(a, product, self._offset)
        if self._rows.size:
            self.gap[self._rows] = product[self._heights] - heights
        self.on_curves = all_at_state(a.curves, product)
        self.gap += curve_gaps(a.curves, self.on_curves, self.gap.size)
        self.gap += closed_gaps(a.closed, product, self.gap.size)
        if a.dim == 2:
            self._coefficient = by_angle(mechanism.once(angle_rows), self.gap, product, self._coefficient)

    @cached_property
    def matrix(self) -> Any:
        """Constraint matrix G (g, n_v), dense or sparse as the arrays."""
        a, rows, by = self.mechanism.network.arrays, self._rows, self._by
        G = constraint_matrix(a, self.at[1], self._coefficient, arm=self._arms, vector=self._vectors, by=by)
        if not rows.size:
            return G
        gains = np.ones(G.shape[0])
        gains[rows] = 2.0 * self._offset[rows] / by[self._heights]
        return scale_rows(G, gains)

    @cached_property
    def size(self) -> float:
        """Extent of the mechanism in the pose where closure starts [m]."""
        return extent(self.mechanism, *self.at)


def _least_step(matrix: Any, wanted: Array) -> Array:
    """Step with the least ‖matrix · step − wanted‖, and of least norm if it is not unique."""
    if sparse.issparse(matrix):
        step = nearest_change(sparse.eye_array(matrix.shape[1]), matrix, wanted)
        if step is not None:
            return step
    return np.linalg.lstsq(dense(matrix), wanted, rcond=1e-10)[0]


def _contact_heights(a: Arrays, product: Array, offset: Array) -> tuple[Array, Array, Array, Array]:
    """Constraint rows of discs on the ground, with the heights of their centres above it at contact.

    Returns the rows, the indices of the products that are heights, the heights r s (r radius, s sine of the tilt), and
    the products with these heights in place of the actual ones. 0 = ½(Π²/r + r Π_e² − r) has zero slope at Π = 0, where
    assembly may start; assembly therefore closes 0 = Π − r s, with the slopes of a disc that does not lie quite flat.
    """
    t = a.rolling
    discs = t.free[t.positive_row] == 0  # the others are normals of moving bodies
    rows, positive = t.positive_row[discs], t.positive[discs]
    if not rows.size:
        return rows, positive, np.zeros(0), product
    by, radius = product.copy(), 2.0 * offset[rows]
    is_square = (t.square > 0) & ~np.isin(t.product, positive)
    tilt = total(t.row[is_square], 0.5 * t.weight[is_square] * product[t.product[is_square]] ** 2, offset.size)[rows]
    heights = np.sqrt(np.maximum(radius * (radius - 2.0 * tilt), 0.0))
    by[positive] = np.maximum(heights, SHALLOW * radius)
    return rows, positive, heights, by


def explain_open(closure: Closure, at: Placed, size: float) -> str:
    """Text for a message that names the joints that stay open at a pose, with their gaps."""
    gap = closure.gap(at)
    gap = np.where(np.abs(gap) > OPEN * closure.units(size), gap, 0.0)
    rows = [(c.name, row.unit) for c in closure.mechanism.connections for row in c.rows]
    open_by: dict[str, float] = {}
    for (joint, unit), value in zip(compress(rows, closure.stated), gap, strict=True):
        key = f"{joint} in angle" if unit == "N m" else joint
        open_by[key] = float(np.hypot(open_by.get(key, 0.0), value))
    worst = [item for item in sorted(open_by.items(), key=lambda item: -item[1])[:3] if item[1] > 0.0]
    listed = ", ".join(f"{k} is open by {v:.3g} {'rad' if k.endswith(' in angle') else 'm'}" for k, v in worst)
    return f"the loop cannot close at this pose: {listed}; change the fixed bodies, the lengths or the guess"
