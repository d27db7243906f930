"""Description of a mechanism as text, with its ports, constraints and layout on request, and singular poses."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ...bodies.nodal_body import FramedBody, NodalBody
from ...joints.rows.connection import Connection, Measure
from ...kernels.state import displacement_sizes, lever
from ...linear.elimination import explain_redundant, null_space
from ...numerics.arrays import Array
from ..model.constraints import constraint_rates
from ..model.state import Pose, at_rest
from ..model.time_table import TimeTable, laws
from .assembly import assemble, moved_pose

if TYPE_CHECKING:
    from ..model.model import Model


NEARBY = 1e-2
"""Rotation [rad], or displacement relative to the size of the joints, to the pose used for comparison: far above the
gaps of a closed pose (1e-15) and their square roots, far below common joint motions."""
LARGEST = 1000
"""Number of constraints up to which singular values are computed, as they need a dense matrix."""


class Rank(NamedTuple):
    """Result of :func:`rank_at`: redundant constraints, degrees of freedom and admissible velocities at a pose.

    ``redundant`` lists, for each redundant constraint, its name and the names of those that imply it. ``basis`` (v, f)
    spans the admissible velocities.
    """

    redundant: list[list[str]]
    freedoms: int
    basis: Any


def rank_at(mechanism: Model, pose: Pose) -> Rank:
    """Redundant constraints of a mechanism at a pose, the number of its freedoms and a basis of them.

    Drives count as locked.
    """
    G = _rates(mechanism, pose)
    if not G.shape[0]:
        return Rank([], G.shape[1], sparse.eye_array(G.shape[1]))
    basis, redundant = null_space(G, mechanism.constraint_names)
    return Rank(redundant, G.shape[1] - G.shape[0] + len(redundant), basis)


def redundant_nearby(mechanism: Model, pose: Pose, rank: Rank) -> int | None:
    """Number of redundant constraints at a pose nearby, reached by a small displacement along the freedoms.

    None if there is no such pose. If there are fewer redundant constraints than at the given pose, that one is
    singular.
    """
    rigid = mechanism.layout.velocities - mechanism.layout.flexible
    directions = rank.basis.toarray()[:rigid]
    if mechanism.rigid_motion is not None or not np.abs(directions).max(initial=0.0) > 0.0:
        return None
    a = mechanism.network.arrays
    step = directions @ np.random.default_rng(0).standard_normal(
        directions.shape[1]
    )  # a generic direction among the freedoms
    step *= NEARBY / np.abs(step / displacement_sizes(a, lever(a))[:rigid] * lever(a)).max()
    try:
        return len(rank_at(mechanism, moved_pose(mechanism, pose, step)).redundant)
    except ValueError:  # the joints do not close there
        return None


def regularity(mechanism: Model, pose: Pose) -> float | None:
    """Smallest singular value of the constraint matrix at a pose, its rows scaled to length one; 0 at a singular pose.

    Velocities are scaled as displacements of the joints. None without constraints, or with more than ``LARGEST`` of
    them.
    """
    a = mechanism.network.arrays
    if not 0 < mechanism.layout.multipliers <= LARGEST:
        return None
    G = _rates(mechanism, pose) * (displacement_sizes(a, lever(a)) / lever(a))[None, :]
    gram: Array = (G @ G.T).toarray()
    size = np.sqrt(np.where(gram.diagonal() > 0.0, gram.diagonal(), 1.0))
    return float(np.sqrt(max(np.linalg.eigvalsh(gram / np.outer(size, size))[0], 0.0)))


def _rates(mechanism: Model, pose: Pose) -> Any:
    """Matrix G (g, v) of the constraints on velocities at a pose at rest, sparse."""
    c = at_rest(mechanism, pose.centres, pose.rotations)
    return constraint_rates(mechanism, c, TimeTable(mechanism, pose.anchors), 0.0)[0]


MOST = 5
"""Number of bodies, dampers and redundant constraints that a summary lists."""


def describe(mechanism: Model, pose: Pose | None = None, *, details: bool = False) -> str:
    """Implementation of :meth:`flexph.Mechanism.describe`."""
    dim, count = mechanism.layout.dim, len(mechanism.bodies)
    total = sum(body.mass for body in mechanism.bodies.values())
    lines = [f"{'plane' if dim == 2 else 'space'}, {count} bodies, mass {total:.6g} kg", *_bodies(mechanism)]
    lines += [f"{kind}: {counted}" for kind, counted in _connections(mechanism).items() if counted]
    lines += _first_lines("resists: ", _resistances(mechanism))
    lines += _freedoms(mechanism, pose)
    lines.append(f"state of {mechanism.layout.size} entries")
    if not details:
        return "\n".join([*lines, "with details: ports, constraints, parts of the state"])
    return "\n".join([*lines, *_details(mechanism)])


def _first_lines(heading: str, entries: list[str]) -> list[str]:
    """Lines that list the first few entries after a heading, and the number of further entries."""
    more = [f"{' ' * len(heading)}and {len(entries) - MOST} more"] if len(entries) > MOST else []
    heads = [heading, *[" " * len(heading)] * MOST]
    return [f"{head}{entry}" for head, entry in zip(heads, entries[:MOST], strict=False)] + more


def _bodies(mechanism: Model) -> list[str]:
    """Lines with name, mass and kind of all bodies, or of the heaviest ones if there are many."""
    named = list(mechanism.bodies.items())
    if len(named) > MOST:
        heaviest = sorted(range(len(named)), key=lambda i: -named[i][1].mass)[:MOST]
        named = [named[i] for i in sorted(heaviest)]
    lines = [f"  {name}: {body.mass:.6g} kg, {_kind(body)}" for name, body in named]
    rest = len(mechanism.bodies) - len(named)
    return lines + ([f"  and {rest} lighter ones"] if rest else [])


def _kind(body: Any) -> str:
    if isinstance(body, FramedBody):
        kind = "nodes" if isinstance(body, NodalBody) else f"frames, {body.size} coordinates"
        return f"{len(body.frames)} {kind}, {body.stress_size} stresses"
    if body.mass_factor is not None:
        return "rigid, times a factor " + ("that is an input" if body.mass_factor == "input" else "of time")
    return f"flexible, {body.size} coordinates, {body.stress_size} stresses" if body.size else "rigid"


def _connections(mechanism: Model) -> dict[str, str]:
    """Joints and forces, counted by kind, and names of external ports, as texts by heading."""
    joints = Counter(c.kind for c in mechanism.connections if c.rows)
    forces = Counter(c.kind for c in mechanism.connections if not c.rows and not c.is_load)
    listed = [f"{number} {kind}" for kind, number in forces.items()]
    if np.any(mechanism.gravity):
        listed.insert(0, f"gravity ({', '.join(f'{g:.6g}' for g in mechanism.gravity)}) m/s²")
    return {
        "joints": ", ".join(f"{number} {kind}" for kind, number in joints.items()),
        "forces": ", ".join(listed),
        "external ports": ", ".join(mechanism.input_names),
    }


def _resistances(mechanism: Model) -> list[str]:
    """Texts that name each connection with a damper or friction, and its law."""
    entries = ((c, m) for c in mechanism.connections for m in c.form.measures)
    listed = [f"{c.name}{f': {m.name}' if m.name else ''} {_damping(m)}" for c, m in entries if _damping(m)]
    return [*listed, *(f"{c.name} {b.friction}" for c in mechanism.connections if (b := c.form.bearing))]


def _damping(measure: Measure) -> str:
    """Text of the relation of a damper, or of its coefficient [N s/m or N m s]; empty without damping."""
    given = measure.damping
    if measure.relation is not None:
        return str(given)
    return f"viscous({given:.9g})" if given else ""


def _freedoms(mechanism: Model, pose: Pose | None) -> list[str]:
    """Lines with the freedoms and redundant constraints at a pose, and a note if the pose is singular.

    By default the pose is the one assembled without a guess.
    """
    velocities, rows = mechanism.layout.velocities, mechanism.layout.multipliers
    free = sum(not law.holonomic for law in laws(mechanism))
    count = f"velocities {velocities}, constraints {rows}" + (f" ({free} nonholonomic)" if free else "")
    where = "at the given pose"
    if pose is None:
        try:
            pose, where = assemble(mechanism, {}, {}, 0.0), "at the pose assembled without a guess"
        except ValueError:
            return [f"{count}, freedoms at least {max(velocities - rows, 0)}; redundancies: give describe(pose) a pose"]
    rank = rank_at(mechanism, pose)
    lines = [f"{count}, redundant {len(rank.redundant)}, freedoms {rank.freedoms} {where}"]
    if not rank.freedoms:
        lines.append("  no freedoms: only drives move it (contradictory constraints lock a mechanism, too)")
    lines += _first_lines("  ", [explain_redundant(names) for names in rank.redundant])
    if not rank.redundant:
        value = regularity(mechanism, pose)
        return lines if value is None else [*lines, f"  regular: smallest singular value {value:.2g} (0 is singular)"]
    nearby = redundant_nearby(mechanism, pose, rank)
    if nearby is None:
        return lines
    if nearby < len(rank.redundant):
        return [*lines, f"  singular: at a nearby pose {nearby} are redundant; motions may branch here"]
    return [*lines, "  not singular: equally many are redundant at a nearby pose"]


def _details(mechanism: Model) -> list[str]:
    """Lines with the ports of all bodies, the constraints of all connections, and the slices of the state."""
    lines = ["ports"]
    for name, body in mechanism.bodies.items():
        lines.append(f"  {name}: {', '.join((*body.ports, *(f'{load} (load)' for load in body.loads)))}")
    lines.append("connections")
    lines += [f"  {c.name}: {_rows(c)}" for c in mechanism.connections]
    return [*lines, "state", *(f"  {name}: {s.start}:{s.stop}" for name, s in mechanism.layout.parts.items())]


def _rows(connection: Connection) -> str:
    parts = [row.name for row in connection.rows] + (["external port"] if connection.input else [])
    listed = ", ".join(parts) or "force element"
    resists = (f"; {m.name} {_damping(m)}".replace(";  ", "; ") for m in connection.form.measures if _damping(m))
    rubs = "" if connection.form.bearing is None else f"; {connection.form.bearing.friction}"
    return listed + "".join(resists) + rubs
