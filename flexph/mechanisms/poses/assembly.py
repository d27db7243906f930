"""Closing the loops of a mechanism: the undeformed pose nearest to a guess."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.spatial.transform import Rotation

from ...joints.rows.vectors import Ground
from ...kernels.arrays import Arrays, total
from ...kernels.constraint_sizes import lever
from ...kernels.gradient import columns, constraint_matrix
from ...kernels.state import constraint_sums, node_arms, vectors
from ...numerics import checks as check
from ...numerics.arrays import Array
from ..model.constraints import extent, move
from ..model.placement import Placement, read_placement
from ..model.state import Pose, product_values
from ..model.time_table import TimeTable, anchor, laws

if TYPE_CHECKING:
    from ..model.model import Model

MAX_ITERATIONS = 100
ASIDE = (0.36, 0.48, 0.8)
"""Axis of the first body about which opposite directions start to turn: along no axis that joints usually have."""
OPPOSITE = 1e-6
"""|a + b|² of two unit directions below which they point in opposite ways."""
GUIDED = 0.999
"""Reduction of the gap below which guiding directions have done what they can."""
SHALLOW = 1e-3
"""Sine of the angle between a disc and the ground below which its slope is not used."""
PRINTED = 2e-8
"""Gap, relative to the size of the mechanism, that coordinates of nine digits leave between bodies that are fixed: each
is off by 5e-9 of itself at most, and a gap is the difference of two positions r + R x, of two printed terms each."""
OPEN = 1e-9
"""Gap, relative to the size of the mechanism, above which it is open."""
CLOSED = 1e-15
"""Gap, relative to the size of the mechanism, at which Newton stops: round-off. A gap times the joint force would show
in the energy balance of the first step."""


def assemble(mechanism: Model, fixed: Mapping[str, Placement], guess: Mapping[str, Placement], time: float) -> Pose:
    """See :meth:`flexph.Mechanism.assemble`."""
    check.number("time", time)
    centres, rotations, free = _start(mechanism, fixed, guess)
    stated = np.array([law.value is not None for law in laws(mechanism)], dtype=bool)
    _, omega, _ = columns(mechanism.network.arrays)
    centres_only = free & ~np.isin(np.arange(free.size), omega)
    gap = np.zeros(0)
    for active, guided in ((centres_only, False), (free, True), (free, False)):  # positions first: they are linear
        centres, rotations, gap = _close(mechanism, centres, rotations, active, stated, time, guided)
    size = extent(mechanism, centres, rotations)
    units = _units(mechanism, size)[stated]
    if fixed and 1e2 * CLOSED < np.abs(gap / units).max(initial=0.0) <= PRINTED:
        moved, turned, left = _close(mechanism, centres, rotations, np.ones_like(free), stated, time, False)
        if max(np.abs(moved - centres).max() / size, np.abs(turned - rotations).max()) <= 10.0 * PRINTED:
            centres, rotations, gap = moved, turned, left
    if np.abs(gap / units).max(initial=0.0) > OPEN:
        raise ValueError(_explain(mechanism, stated, gap, units))
    arms = node_arms(mechanism.network.arrays, rotations, np.zeros(mechanism.layout.flexible))
    return Pose(centres, rotations, anchor(mechanism, product_values(mechanism, centres, arms)))


def _start(
    mechanism: Model, fixed: Mapping[str, Placement], guess: Mapping[str, Placement]
) -> tuple[Array, Array, Array]:
    """Centres of mass and rotations to start with, and which velocities may change them."""
    twice = set(fixed) & set(guess)
    if twice:
        raise ValueError(f"bodies are either fixed or guessed, got both for {sorted(twice)}")
    for name in (*fixed, *guess):
        check.lookup("body", name, mechanism.bodies)
    cv, cw, _ = columns(mechanism.network.arrays)
    free = np.ones(cv.size + int((cw >= 0).sum()), dtype=bool)
    dim = mechanism.layout.dim
    centres = np.zeros((len(mechanism.bodies), dim))
    rotations = np.tile(np.eye(dim), (len(mechanism.bodies), 1, 1))
    for i, (name, body) in enumerate(mechanism.bodies.items()):
        given = fixed.get(name, guess.get(name, np.eye(3) if dim == 3 else 0.0))
        position, turned = read_placement(name, given, dim)
        rotations[i] = turned if body.turns else np.eye(dim)
        centres[i] = (np.zeros(dim) if position is None else position) + rotations[i] @ body.inertia.centre
        if name in fixed:
            free[cw[i][cw[i] >= 0]] = False
            if position is not None:
                free[cv[i]] = False
    return centres, rotations, free


def _close(
    mechanism: Model,
    centres: Array,
    rotations: Array,
    active: Array,
    stated: Array,
    time: float,
    guided: bool,
) -> tuple[Array, Array, Array]:
    """Gauss-Newton with least-norm corrections over the active velocities; returns the remaining gap.

    Gaps of points count as turns by the largest distance of a joint from a centre of mass.

    ``guided`` lets differences of directions that belong together take part: constraints that are products of
    perpendicular directions do not tell where to turn from 90° away.
    """
    guides = _guides(mechanism, time) if guided else []
    places = _unguided(mechanism)[stated]
    length = lever(mechanism.network.arrays)
    rows, previous = _units(mechanism, length)[stated], np.inf
    settled = CLOSED * max(extent(mechanism, centres, rotations) / length, 1.0)
    for _ in range(MAX_ITERATIONS if guides or not guided else 0):
        gap, matrix = _gap(mechanism, centres, rotations, time)
        gap, matrix = gap[stated] / rows, matrix[stated][:, : active.size] / rows[:, None]
        wanted = -gap
        if guides:
            apart, way, turning = _apart(rotations, columns(mechanism.network.arrays)[1], guides, active.size)
            wanted, matrix = np.concatenate([-gap[places], way]), np.vstack([matrix[places], turning])
            gap = np.concatenate([gap[places], apart])
        now = float(np.linalg.norm(gap))
        if not gap.size or now <= settled or (now < OPEN and now > 0.5 * previous):
            break
        if guides and now > GUIDED * previous:
            break
        previous = now
        step = np.zeros(active.size)
        step[active] = np.linalg.lstsq(matrix[:, active], wanted, rcond=1e-10)[0]
        if np.abs(step).max(initial=0.0) <= settled:
            break
        centres, rotations = move(mechanism, centres, rotations, step)
    return centres, rotations, _gap(mechanism, centres, rotations, time)[0][stated]


def _units(mechanism: Model, size: float) -> Array:
    """What each constraint is measured by: a length [m], or one."""
    return np.where(mechanism.network.arrays.holds_points > 0.0, size, 1.0)


Guide = tuple[int, Array, int | None, Array]
"""Body of the one and of the other (None: the ground), each with a direction in its axes, or with a frame (3, 3)."""


def _guides(mechanism: Model, time: float) -> list[Guide]:
    """Directions that are to be parallel, frames that are to coincide."""
    numbers = {name: i for i, name in enumerate(mechanism.bodies)}
    made: list[Guide] = []
    for c in mechanism.connections:
        first, *others = (None if isinstance(p, Ground) else numbers[p.partition(".")[0]] for p in c.ports)
        pairs = [given(time) if callable(given) else given for given in c.form.parallel]
        assert first is not None
        if len(pairs) == 3:
            a, b = (np.array(side).T for side in zip(*pairs, strict=True))
            made.append((first, a, others[0], b))
        else:
            made += [(first, np.array(a), others[0], np.array(b)) for a, b in pairs]
    return made


def _unguided(mechanism: Model) -> Array:
    """Which constraints are not about the directions of a joint that has guides."""
    return np.array([not (c.form.parallel and r.unit == "N m") for c in mechanism.connections for r in c.rows], bool)


def _apart(rotations: Array, spins: Array, guides: list[Guide], size: int) -> tuple[Array, Array, Array]:
    """Differences of the guides in world axes, the turns that close them, and the matrix of these.

    Frames close by their rotation vector; directions a, b by θ × ½(a + b) = b − a: with the mean direction, the rows of
    a joint have the same rank at every pose; the derivatives themselves would add a freedom that is noise. Opposite
    directions start to turn about an axis of the first body.
    """
    apart, turning = np.zeros(3 * len(guides)), np.zeros((3 * len(guides), size))
    wanted = np.zeros_like(apart)
    for k, (first, a, second, b) in enumerate(guides):
        rows = slice(3 * k, 3 * k + 3)
        there = b if second is None else rotations[second] @ b
        here = rotations[first] @ a
        mean = 0.5 * (here + there)
        if here.ndim == 2:
            wanted[rows] = Rotation.from_matrix(there @ here.T).as_rotvec()
            apart[rows] = -wanted[rows]
        else:
            apart[rows], wanted[rows] = here - there, there - here
            if mean @ mean < OPPOSITE:
                mean, wanted[rows] = here, np.cross(rotations[first] @ np.array(ASIDE), here)
        for body, sign in ((first, 1.0), (second, -1.0)):
            if body is not None and spins[body, 0] >= 0:
                R = rotations[body]
                turning[rows, spins[body]] += sign * (R if here.ndim == 2 else np.cross(R.T, mean).T)
    return apart, wanted, turning


def _gap(mechanism: Model, centres: Array, rotations: Array, time: float) -> tuple[Array, Array]:
    """Constraint values g and their matrix G at an undeformed pose; rows without a stated value are left at zero."""
    a = mechanism.network.arrays
    arms = node_arms(a, rotations, np.zeros(mechanism.layout.flexible))
    vector = vectors(a, centres, arms)
    product = product_values(mechanism, centres, arms)
    stated = anchor(mechanism, product)
    coefficient, offset = TimeTable(mechanism, stated).at(time)
    gap = constraint_sums(a, product, coefficient, offset)
    rows, heights, by = _contact_heights(a, product, offset)
    matrix = constraint_matrix(a, rotations, arms, vector, coefficient, offset.size, by)
    matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    if rows.size:
        gap[rows] = product[a.rolling.positive] - heights
        matrix[rows] *= (2.0 * offset[rows] / by[a.rolling.positive])[:, None]
    return gap, matrix


def _contact_heights(a: Arrays, product: Array, offset: Array) -> tuple[Array, Array, Array]:
    """Rows of discs that tilt, the heights r s at which they touch, and products with these heights in their place.

    0 = ½(Π²/r + r Π_e² − r) has no slope at Π = 0, from where assembly may start: it closes 0 = Π − r s. The slopes
    are those of a disc that does not lie quite flat.
    """
    t, by = a.rolling, product.copy()
    rows, radius = t.positive_row, 2.0 * offset[t.positive_row]
    own = (t.square > 0) & ~np.isin(t.product, t.positive)
    tilt = total(t.row[own], 0.5 * t.weight[own] * product[t.product[own]] ** 2, offset.size)[rows]
    heights = np.sqrt(np.maximum(radius * (radius - 2.0 * tilt), 0.0))
    by[t.positive] = np.maximum(heights, SHALLOW * radius)
    return rows, heights, by


def _explain(mechanism: Model, stated: Array, gap: Array, units: Array) -> str:
    rows = [(c.name, row.unit) for c in mechanism.connections for row in c.rows]
    gap = np.where(np.abs(gap) > OPEN * units, gap, 0.0)
    open_by: dict[str, float] = {}
    for (joint, unit), value in zip((r for r, ok in zip(rows, stated, strict=True) if ok), gap, strict=True):
        key = f"{joint} in angle" if unit == "N m" else joint
        open_by[key] = float(np.hypot(open_by.get(key, 0.0), value))
    worst = [item for item in sorted(open_by.items(), key=lambda item: -item[1])[:3] if item[1] > 0.0]
    listed = ", ".join(f"{k} is open by {v:.3g} {'rad' if k.endswith(' in angle') else 'm'}" for k, v in worst)
    return f"the loop cannot close at this pose: {listed}; change the fixed bodies, the lengths or the guess"
