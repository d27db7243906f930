"""Description of a mechanism as text; ports, constraints and state layout on request."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ...bodies.nodal_body import FramedBody, NodalBody
from ...joints.rows.connection import Connection, Measure
from ...laws.resistive_relations import Relation
from ...linear.elimination import explain_redundant
from ..model.state import Pose
from ..model.time_table import laws
from .assembly import assemble
from .singularity import rank_at, redundant_nearby, regularity

if TYPE_CHECKING:
    from ..model.model import Model

MOST = 5
"""Number of bodies, dampers and redundant constraints that a summary lists."""


def describe(mechanism: Model, pose: Pose | None = None, *, details: bool = False) -> str:
    """See :meth:`flexph.Mechanism.describe`."""
    dim, count = mechanism.layout.dim, len(mechanism.bodies)
    total = sum(body.mass for body in mechanism.bodies.values())
    lines = [f"{'plane' if dim == 2 else 'space'}, {count} bodies, mass {total:.6g} kg", *_bodies(mechanism)]
    lines += [f"{kind}: {counted}" for kind, counted in _connections(mechanism).items() if counted]
    lines += _some("resists: ", _resistances(mechanism))
    lines += _freedoms(mechanism, pose)
    lines.append(f"state of {mechanism.layout.size} entries")
    if not details:
        return "\n".join([*lines, "with details: ports, constraints, parts of the state"])
    return "\n".join([*lines, *_details(mechanism)])


def _some(heading: str, entries: list[str]) -> list[str]:
    """List the first entries after a heading, one a line, and the number of the others."""
    more = [f"{' ' * len(heading)}and {len(entries) - MOST} more"] if len(entries) > MOST else []
    heads = [heading, *[" " * len(heading)] * MOST]
    return [f"{head}{entry}" for head, entry in zip(heads, entries[:MOST], strict=False)] + more


def _bodies(mechanism: Model) -> list[str]:
    """List all bodies, or the heaviest of many."""
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
    return f"flexible, {body.size} coordinates, {body.stress_size} stresses" if body.size else "rigid"


def _connections(mechanism: Model) -> dict[str, str]:
    """Joints, forces and external ports by kind."""
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
    """Dampers and friction, by connection."""
    entries = ((c, m) for c in mechanism.connections for m in c.form.measures)
    listed = [f"{c.name}{f': {m.name}' if m.name else ''} {_damping(m)}" for c, m in entries if _damping(m)]
    return [*listed, *(f"{c.name} {b.friction}" for c in mechanism.connections if (b := c.form.bearing))]


def _damping(measure: Measure) -> str:
    """Text of the relation of a damper, or of its coefficient [N s/m or N m s]; empty without damping."""
    given = measure.damping
    return str(given) if isinstance(given, Relation) else f"viscous({given:.9g})" if given else ""


def _freedoms(mechanism: Model, pose: Pose | None) -> list[str]:
    """Freedoms and redundant constraints at a pose, with a note if it is singular."""
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
    lines += _some("  ", [explain_redundant(names) for names in rank.redundant])
    if not rank.redundant:
        value = regularity(mechanism, pose)
        return lines if value is None else [*lines, f"  regular: smallest singular value {value:.2g} (0 is singular)"]
    nearby = redundant_nearby(mechanism, pose, rank)
    if nearby is None:
        return lines
    if nearby < len(rank.redundant):
        return [*lines, f"  singular: a little way off redundant are {nearby}; motions may branch here"]
    return [*lines, "  not singular: as many are redundant a little way off"]


def _details(mechanism: Model) -> list[str]:
    """Ports of bodies, constraints of connections, and the layout of the state."""
    lines = ["ports"]
    for name, body in mechanism.bodies.items():
        lines.append(f"  {name}: {', '.join((*body.ports, *(f'{load} (load)' for load in body.loads)))}")
    lines.append("connections")
    lines += [f"  {c.name}: {_rows(c)}" for c in mechanism.connections]
    return [*lines, "state", *(f"  {name}: {s.start}:{s.stop}" for name, s in mechanism.layout.parts.items())]


def _rows(connection: Connection) -> str:
    own = [row.name for row in connection.rows] + (["external port"] if connection.input else [])
    listed = ", ".join(own) or "force element"
    resists = (f"; {m.name} {_damping(m)}".replace(";  ", "; ") for m in connection.form.measures if _damping(m))
    rubs = "" if connection.form.bearing is None else f"; {connection.form.bearing.friction}"
    return listed + "".join(resists) + rubs
