"""Checks of states before and within runs.

Positions and velocities must satisfy the constraints, contacts need normals, and constraints may have to be
independent. The smallest energies that a run can resolve in double precision follow from its consistent start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ...kernels.convergence.rules import unresolved_energy
from ...kernels.convergence.tolerances import RESOLUTION, ROUND_OFF
from ...kernels.state import (
    Configuration,
    Derived,
    constraint_sizes,
    coordinate_size,
    derive,
    energies,
    larger_coordinate,
    node_size,
)
from ...linear.elimination import explain_redundant, null_space
from ...numerics.arrays import Array, dense
from ...numerics.memo import Memo, once
from .constraints import CONSISTENT, angle_rows, gap_of, rate_doubt, rate_scale, rates_under, velocities_of
from .geometry_checks import check_curves, check_discs, check_gaps, check_lengths, check_rotations
from .model import extent
from .references import controlled_factors
from .state import State, configuration
from .time_table import Prescribed, TimeTable, table_of

if TYPE_CHECKING:
    from ...systems.inputs import Forcing
    from .model import Model


FEW = 400
"""Number of rows of a sparse G up to which G Gᵀ is formed as a dense matrix."""
REGULAR = 1e-4
"""Least singular value of rows of length 1 above which they are independent: its square exceeds round-off by far."""


@dataclass(frozen=True, eq=False)
class Checked(Memo):
    """State that passed :func:`check_consistent`, with its constraint matrix (g, n_v) and derived quantities.

    ``prescribed`` are the values of the drives at which it was checked.
    """

    mechanism: Model
    matrix: Any
    c: Configuration
    d: Derived
    prescribed: Prescribed

    @once
    def is_regular(self) -> bool:
        """True if the constraint matrix clearly has full rank; False also if this was not decided."""
        return has_full_rank(self.matrix)


class _CheckedGeometry:
    """State whose rotations, lengths, discs, curves and gaps passed their checks, which do not depend on drives."""

    def __init__(self, mechanism: Model, state: State) -> None:
        self.mechanism, self.state, a = mechanism, state, mechanism.network.arrays
        self.c = configuration(mechanism, state.x)
        check_rotations(mechanism, self.c.R)
        self.d = derive(a, self.c)
        check_lengths(mechanism, self.d.product)
        check_discs(mechanism, self.d.product)
        check_curves(mechanism, self.d.on_curves)
        check_gaps(mechanism, self.c, self.d)
        self._last: tuple[bool, Checked] | None = None

    def against(self, prescribed: Prescribed, *, velocities: bool) -> Checked:
        """Check that the constraints hold for given values of drives, and their rates, too, if ``velocities`` is true.

        The last result is returned again for the same values. Raises ValueError for a constraint that is violated.
        """
        last = self._last
        if last and last[0] >= velocities:
            earlier = last[1].prescribed
            if earlier is prescribed or all(map(np.array_equal, earlier, prescribed)):
                return last[1]
        checked = self._checked(prescribed, velocities=velocities)
        self._last = velocities, checked
        return checked

    def _checked(self, prescribed: Prescribed, *, velocities: bool) -> Checked:
        mechanism, (c, d), time = self.mechanism, (self.c, self.d), self.state.time
        if not mechanism.layout.multipliers:
            return Checked(mechanism, sparse.csr_array((0, mechanism.layout.velocities)), c, d, prescribed)
        a, (coefficient, offset, *rates) = mechanism.network.arrays, prescribed[:4]
        gap, sizes = gap_of(a, d.product, coefficient, offset), constraint_sizes(a, d.vector)
        angles = mechanism.once(angle_rows)
        gap[angles.rows] = angles.angle_errors(d.product, coefficient)
        _report(mechanism, gap, sizes, what="position", time=time, unit="m")
        G, b = rates_under(mechanism, (c, d), coefficient, (rates[0], rates[1]))
        if velocities:
            v = velocities_of(mechanism, c)
            scale, doubt = rate_scale(a, (G, b), v, sizes), rate_doubt(a, d, prescribed[4:])
            size = (scale + 1e-2 / CONSISTENT * doubt) * sizes
            _report(mechanism, G @ v - b, size, what="velocity", time=time, unit="m/s")
        return Checked(mechanism, G, c, d, prescribed)


class _LastChecked:
    """Cache with the last state of a mechanism whose geometry was checked.

    The start of a run is checked when it is made and again when the run begins.
    """

    def __init__(self, mechanism: Model) -> None:
        self.mechanism = mechanism
        self.last: _CheckedGeometry | None = None

    def of(self, state: State) -> _CheckedGeometry:
        """Geometry of a state after its checks, from the cache if the state is the last one."""
        last = self.last
        if last is None or last.state is not state:
            last = self.last = _CheckedGeometry(self.mechanism, state)
        return last


def check_consistent(
    mechanism: Model, state: State, *, velocities: bool = True, table: TimeTable | None = None
) -> Checked:
    """Raise ValueError, naming the constraint and its defect, unless g(q) = 0 and G v = b hold.

    Returns the checked state.

    b are the rates of drives. ``table`` is the result of :func:`start_table`, if already computed. Drives are evaluated
    at each call; results that do not depend on them are cached for the last state.
    """
    table = table or start_table(mechanism, state)
    place = mechanism.once(_LastChecked).of(state)
    # inside a run, velocities satisfy the constraints in the mean of each step only
    return place.against(table.prescribed(state.time), velocities=velocities and not state.memory.size)


def start_table(mechanism: Model, state: State, forcing: Forcing | None = None) -> TimeTable:
    """Time table for a run from a state, in which inputs ``forcing`` may set factors of laws and masses.

    Raises ValueError for a wrong number of entries in the state or its multipliers.
    """
    if state.x.shape != (mechanism.layout.size,):
        raise ValueError(f"the state must have {mechanism.layout.size} entries, got {state.x.size}")
    rows = mechanism.layout.multipliers
    if state.multipliers.shape != (rows,):
        raise ValueError(f"the multipliers of the state must have {rows} entries, got {state.multipliers.size}")
    if mechanism.once(controlled_factors):
        return TimeTable(mechanism, state.anchors, forcing)
    return table_of(mechanism, state.anchors)


def refuse_redundant(at: Checked, remedy: str = "allow redundant='least_norm'") -> None:
    """Raise ValueError, naming the constraints, if some are redundant at a state: the multipliers are not unique.

    ``remedy`` is the last advice in the message.
    """
    listed = "" if at.is_regular else explain_redundancy(at.mechanism, at.matrix)
    if listed:
        raise ValueError(
            f"{listed}. The joint forces would not be unique at this pose: remove a constraint, free one direction, or "
            f"{remedy}"
        )


def explain_redundancy(mechanism: Model, G: Any) -> str:
    """Text on each redundant constraint and the constraints that imply it.

    The text is empty if the constraint matrix G has full rank.
    """
    if has_full_rank(G):
        return ""
    _, redundant = null_space(G, mechanism.constraint_names)
    return "; ".join(explain_redundant(names) for names in redundant)


def has_full_rank(G: Any) -> bool:
    """True if G, dense or with few rows, clearly has full rank; False also if this was not decided.

    The criterion is the smallest singular value of the normalised rows, whose square is an eigenvalue of G Gᵀ. It
    bounds the diagonal entries of a pivoted QR from below.
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


class Resolution(NamedTuple):
    """Energies [J] below which the energy balance of a run cannot be resolved in double precision.

    ``unresolved``: energy of bodies that move by the round-off of their positions in the shortest step. ``weight``:
    work of the weights along the extent of the mechanism, Σ m|g| L; as H = 0 is at an arbitrary height, the round-off
    of heights is that of lengths.
    """

    unresolved: float
    weight: float


def resolution(mechanism: Model, states: Array, lengths: Array, *, weight: float | None = None) -> Resolution:
    """Energies below which the balance of a run is round-off, from its states (k + 1, n) and step lengths (k,) [s].

    ``weight`` is :func:`work_of_weights` at the first state, if already computed.
    """
    a = mechanism.network.arrays
    size = larger_coordinate(states[:, : mechanism.layout.position_sizes[0]], mechanism.once(_node_size))
    weight = _work_of_weights(mechanism, configuration(mechanism, states[0])) if weight is None else weight
    shortest = float(
        f"{np.abs(lengths).min(initial=np.inf):.3g}"
    )  # rounded, so that a continued run has the same value
    m, J, k, k_phi = a.resolution.tolist()
    return Resolution(unresolved_energy(m, J, k, k_phi, size, shortest), weight)


def _node_size(mechanism: Model) -> float:
    return node_size(mechanism.network.arrays)


def work_of_weights(at: Checked) -> float:
    """Work [J] of the weights along a displacement by the size of the mechanism, as scale of energies."""
    return at.once(_weight_at)


def _weight_at(at: Checked) -> float:
    return _work_of_weights(at.mechanism, at.c)


def shortest_step(at: Checked) -> float:
    """Length [s] of a step from a consistent state below which round-off of positions hides the motion.

    Velocities are resolved to δ size/h in a step h, with δ = RESOLUTION. This error has more energy than the state and
    the work of its weights, E, if h < δ √((Σ m size² + Σ tr J)/2E), with masses m and rotational inertias J of the
    bodies. Kinetic energy counts only if it exceeds the round-off of the elastic energy, as rates of drives are
    differences. Without kinetic energy and weights, E is the elastic energy; without any energy all steps are long
    enough.
    """
    return at.once(_shortest_step)


def _shortest_step(at: Checked) -> float:
    a = at.mechanism.network.arrays
    size = coordinate_size(a, at.c.r)
    inertia, elastic = (float(a.resolution[k] * size**2 + a.resolution[k + 1]) for k in (0, 2))
    energy = work_of_weights(at)
    if elastic > 0.0:
        kinetic = float(energies(a, at.c, at.d)["kinetic"].sum())
        energy += kinetic * (kinetic > ROUND_OFF * elastic)
    energy = energy or elastic
    return RESOLUTION * math.sqrt(0.5 * inertia / energy) if energy > 0.0 else 0.0


def _work_of_weights(mechanism: Model, c: Configuration) -> float:
    a = mechanism.network.arrays
    return float(np.linalg.norm(a.weight, axis=1).sum()) * extent(mechanism, c.r, c.R)
