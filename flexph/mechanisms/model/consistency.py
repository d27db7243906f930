"""Checks of states of a mechanism: positions, velocities, contacts, and independence of its constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ...contacts.levels import gaps_at, near_at
from ...joints.rows.connection import measures
from ...joints.rows.laws import Angle
from ...kernels.constraint_sizes import constraint_sizes
from ...kernels.contacts.gap_arrays import AXIAL, DISTANCE
from ...kernels.rates.curves import Curve
from ...kernels.rates.on_curves import OnCurve
from ...kernels.state import Configuration, Derived, derive
from ...linear.elimination import explain_redundant, null_space
from ...numerics.arrays import Array, dense
from ...numerics.memo import Memo, once
from .state import State, configuration
from .time_table import TimeTable, law_products, law_terms, laws

if TYPE_CHECKING:
    from .model import Model
from .constraints import CONSISTENT, gap_of, rate_scale, rates_under, velocities_of

FEW = 400
"""Rows of a sparse G up to which their products are looked at densely."""

CONCENTRIC = 1e-12
"""Distance of centres over the sum of the radii up to which spheres have no direction from one to the other."""
REGULAR = 1e-4
"""Singular value of constraint rows of length 1 above which they are independent: its square is far above round-off."""


class Prescribed(NamedTuple):
    """What time prescribes at a time: coefficients of the terms, offsets of the rows, and the rates of both."""

    coefficient: Array
    offset: Array
    coefficient_rate: Array
    offset_rate: Array


@dataclass(frozen=True, eq=False)
class Checked(Memo):
    """A consistent state of a mechanism: its constraint matrix (g, n_v), its arrays, and what follows from them.

    ``prescribed`` are the values of drives against which it was checked.
    """

    mechanism: Model
    matrix: Any
    c: Configuration
    d: Derived
    prescribed: Prescribed

    @once
    def is_regular(self) -> bool:
        """Whether its constraints are independent by far."""
        return _is_regular(self.matrix)


class _Place:
    """A state as a place of a mechanism: its rotations, lengths, contacts and gaps are checked, whatever drives do."""

    def __init__(self, mechanism: Model, state: State) -> None:
        self.mechanism, self.state, a = mechanism, state, mechanism.network.arrays
        self.c = configuration(mechanism, state.x)
        _check_rotations(mechanism, self.c.R)
        self.d = derive(a, self.c)
        _check_lengths(mechanism, self.d.product)
        _check_contacts(mechanism, self.d.product)
        check_curves(mechanism, self.d.on_curves)
        _check_gaps(mechanism, self.c, self.d)
        self._last: tuple[bool, Checked] | None = None

    def against(self, prescribed: Prescribed, *, velocities: bool) -> Checked:
        """The state as it keeps its constraints under values of drives; looked at again where these are others."""
        last = self._last
        if last and last[0] >= velocities and all(map(np.array_equal, last[1].prescribed, prescribed)):
            return last[1]
        checked = self._checked(prescribed, velocities=velocities)
        self._last = velocities, checked
        return checked

    def _checked(self, prescribed: Prescribed, *, velocities: bool) -> Checked:
        mechanism, (c, d), time = self.mechanism, (self.c, self.d), self.state.time
        if not mechanism.layout.multipliers:
            return Checked(mechanism, sparse.csr_array((0, mechanism.layout.velocities)), c, d, prescribed)
        a, (coefficient, offset, *rates) = mechanism.network.arrays, prescribed
        gap, sizes = gap_of(a, d.product, coefficient, offset), constraint_sizes(a, d.vector)
        angles = mechanism.once(angle_rows)
        gap[angles.rows] = angles.apart(d.product, coefficient)
        _report(mechanism, gap, sizes, what="position", time=time, unit="m")
        G, b = rates_under(mechanism, (c, d), coefficient, (rates[0], rates[1]))
        if velocities:
            v = velocities_of(mechanism, c)
            size = rate_scale(a, (G, b), v, sizes) * sizes
            _report(mechanism, G @ v - b, size, what="velocity", time=time, unit="m/s")
        return Checked(mechanism, G, c, d, prescribed)


class _LastPlace:
    """The state that was looked at last: a start is checked where it is made, and where a run begins."""

    def __init__(self, mechanism: Model) -> None:
        self.mechanism = mechanism
        self.last: _Place | None = None

    def of(self, state: State) -> _Place:
        """A state, which never changes."""
        last = self.last
        if last is None or last.state is not state:
            last = self.last = _Place(self.mechanism, state)
        return last


def check_consistent(
    mechanism: Model, state: State, *, velocities: bool = True, table: TimeTable | None = None
) -> Checked:
    """Raise ValueError, naming the constraint and its defect, unless g(q) = 0 and G v = ∂g/∂t hold.

    ``table`` is that of :func:`start_table`, where it is at hand. Drives are asked each time, what does not depend on
    them is kept of the last state.
    """
    table = table or start_table(mechanism, state)
    place = mechanism.once(_LastPlace).of(state)
    coefficient, offset = table.at(state.time)
    prescribed = Prescribed(coefficient, offset, *table.rates(state.time))
    # inside a run, velocities keep the constraints in the mean of each step
    return place.against(prescribed, velocities=velocities and not state.memory.size)


class AngleRows(NamedTuple):
    """Rows of angles with a stated value: which of all, their products s and c, and the first of their terms.

    A row s cos θ − c sin θ is the sine of what an angle lacks, and zero half a turn off, too.
    """

    rows: Array
    sine: Array
    cosine: Array
    term: Array

    def apart(self, product: Array, coefficient: Array) -> Array:
        """How far angles of products (..., p) are from what they must be, (..., k) [rad], within half a turn."""
        s, c = product[..., self.sine], product[..., self.cosine]
        cosine, sine = coefficient[self.term], -coefficient[self.term + 1]  # of what they must be
        return np.arctan2(s * cosine - c * sine, c * cosine + s * sine)


def angle_rows(mechanism: Model) -> AngleRows:
    """Those of a mechanism."""
    rows = [i for i, law in enumerate(laws(mechanism)) if isinstance(law, Angle) and law.value is not None]
    own = np.array([law_products(mechanism)[i] for i in rows], dtype=int).reshape(-1, 2)
    terms = law_terms(mechanism)
    first = np.array([terms[i].start for i in rows], dtype=int)
    return AngleRows(np.array(rows, dtype=int), own[:, 0], own[:, 1], first)


def start_table(mechanism: Model, state: State) -> TimeTable:
    """What time prescribes from a state on; raises ValueError where the state is none of the mechanism."""
    if state.x.shape != (mechanism.layout.size,):
        raise ValueError(f"the state must have {mechanism.layout.size} entries, got {state.x.size}")
    rows = mechanism.layout.multipliers
    if state.multipliers.shape != (rows,):
        raise ValueError(f"the multipliers of the state must have {rows} entries, got {state.multipliers.size}")
    return TimeTable(mechanism, state.anchors)


def _check_lengths(mechanism: Model, product: Array) -> None:
    squares = product[mechanism.network.arrays.springs.length_product]
    for (name, _), square in zip(measures(mechanism.connections), squares, strict=False):
        if square <= 0.0:
            raise ValueError(f"{name} has no length at this pose, and so no direction")


def _check_contacts(mechanism: Model, product: Array) -> None:
    t = mechanism.network.arrays.rolling
    for row, height, least in zip(t.positive_row, product[t.positive], t.least, strict=True):
        if height <= least:
            raise ValueError(
                f"{mechanism.constraint_names[row]}: the disc must stand on the ground, its centre above it, got a "
                f"height of {height:.3g} m: a disc that lies flat has no point of contact; guess its height in "
                "mechanism.assemble(...)"
            )


def check_curves(mechanism: Model, on_curves: Sequence[OnCurve]) -> None:
    """Raise ValueError where a port is beyond an end of its curve."""
    for curve, at in zip(mechanism.network.arrays.curves, on_curves, strict=True):
        if curve.is_beyond(at.places[1]):
            raise ValueError(
                f"{port_on(mechanism, curve)} must be on its curve, s = {curve.knots[0]:g} to {curve.knots[-1]:g}, got "
                f"s = {at.places[1]:.3g}: guess a place on it in mechanism.assemble(...)"
            )


def port_on(mechanism: Model, curve: Curve) -> str:
    """The port that slides on a curve and its joint, in words."""
    name = mechanism.constraint_names[curve.rows[0]].partition(":")[0]
    joint = next(c for c in mechanism.connections if c.name == name)
    return f"the port {joint.ports[0]!r} of {name!r}"


def _check_gaps(mechanism: Model, c: Configuration, d: Derived) -> None:
    if not mechanism.network.arrays.contacts.number:
        return
    a = near_at(mechanism.network.arrays, (c, d))
    contacts = a.contacts
    outer = np.isin(contacts.kind, (DISTANCE, AXIAL)) & (contacts.sign > 0.0)
    gaps = gaps_at(a, c, d).before
    same = np.flatnonzero(outer & (gaps <= -(1.0 - CONCENTRIC) * contacts.offset))
    if same.size:
        names = [connection.name for connection in mechanism.connections if connection.touches]
        raise ValueError(
            f"{names[contacts.owner[same[0]]]}: both bodies have the same centre, and no direction leads out of the "
            "contact: begin with the bodies side by side"
        )


def _check_rotations(mechanism: Model, R: Array) -> None:
    defect = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(mechanism.layout.dim)).max(axis=(1, 2))
    worst = int(np.argmax(defect))
    if defect[worst] > CONSISTENT:
        name = list(mechanism.frames)[worst]
        raise ValueError(f"the rotation of {name!r} must be a rotation: |RᵀR − 1| = {defect[worst]:.0e}")
    mirrored = np.flatnonzero(np.linalg.det(R) < 0.0)
    if mirrored.size:
        name = list(mechanism.frames)[mirrored[0]]
        raise ValueError(f"the rotation of {name!r} must be a rotation: its determinant is −1, a reflection")


def refuse_redundant(at: Checked, remedy: str = "allow redundant='least_norm'") -> None:
    """Raise ValueError, naming the constraints, unless G has full rank: the multipliers would not be unique."""
    listed = "" if at.is_regular else explain_redundancy(at.mechanism, at.matrix)
    if listed:
        raise ValueError(
            f"{listed}. The joint forces would not be unique at this pose: remove a constraint, free one direction, or "
            f"{remedy}"
        )


def explain_redundancy(mechanism: Model, G: Any) -> str:
    """The redundant constraints and what they follow from, in words; empty where G has full rank."""
    if _is_regular(G):
        return ""
    _, redundant = null_space(G, mechanism.constraint_names)
    return "; ".join(explain_redundant(names) for names in redundant)


def _is_regular(G: Any) -> bool:
    """Whether G, dense or of few rows, has full rank by far: then no diagonal entry of a pivoted QR is small.

    They are at least the smallest singular value of the rows over their lengths, whose square is an eigenvalue here.
    """
    if not G.shape[0]:
        return True
    if not G.shape[1] or (sparse.issparse(G) and G.shape[0] > FEW):
        return False
    gram = dense(G @ G.T)
    size = np.sqrt(np.where(gram.diagonal() > 0.0, gram.diagonal(), 1.0))
    return bool(np.linalg.eigvalsh(gram / np.outer(size, size))[0] > REGULAR**2)


def _unit_of(mechanism: Model, row: int, unit: str) -> str:
    rows = [r for c in mechanism.connections for r in c.rows]
    return unit.replace("m", "rad", 1) if rows[row].unit == "N m" else unit


def _report(mechanism: Model, defect: Array, size: Array, *, what: str, time: float, unit: str) -> None:
    excess = np.abs(defect) - 1e2 * CONSISTENT * size
    worst = int(np.argmax(excess))
    if excess[worst] > 0.0:
        raise ValueError(
            f"inconsistent initial {what} at t = {time} s: {mechanism.constraint_names[worst]} is violated by "
            f"{abs(defect[worst]):.3g} {_unit_of(mechanism, worst, unit)}; use mechanism.assemble(...) and "
            "mechanism.consistent_state(...)"
        )
