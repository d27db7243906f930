"""A mechanism in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...bodies.nodal_body import NodalBody
from ...joints.rows.connection import Measure
from ...linear.elimination import explain_redundant, null_space
from ...systems.resistive_relations import Relation
from ..model.constraints import constraint_rates
from ..model.state import Pose, at_rest
from ..model.time_table import TimeTable, laws
from .assembly import assemble

if TYPE_CHECKING:
    from ..model.model import Model


def describe(mechanism: Model, pose: Pose | None = None) -> str:
    """Bodies, connections, degrees of freedom, redundancies at a pose and the state layout, as plain text."""
    layout = mechanism.layout
    lines = [f"{'plane' if layout.dim == 2 else 'space'}, {len(mechanism.bodies)} bodies"]
    for name, body in mechanism.bodies.items():
        kind = f"flexible, {body.size} coordinates, {body.stress_size} stresses" if body.size else "rigid"
        if isinstance(body, NodalBody):
            kind = f"{len(body.frames)} nodes, {body.stress_size} stresses"
        ports = ", ".join((*body.ports, *(f"{k} (load)" for k in body.loads)))
        lines.append(f"  {name}: {body.mass:.6g} kg, {kind}; ports {ports}")
    lines.append("connections")
    for c in mechanism.connections:
        rows = ", ".join(row.name for row in c.rows) or ("external port" if c.input else "force element")
        resists = (f"; {m.name} {_damping(m)}".replace(";  ", "; ") for m in c.form.measures if _damping(m))
        lines.append(f"  {c.name}: {rows}{''.join(resists)}")
    lines += _freedoms(mechanism, pose)
    lines.append(f"state of {layout.size} entries")
    lines += [f"  {name}: {s.start}:{s.stop}" for name, s in layout.parts.items()]
    return "\n".join(lines)


def _damping(measure: Measure) -> str:
    """The relation of a damper, a coefficient [N s/m or N m s] as one; empty where there is none."""
    given = measure.damping
    return str(given) if isinstance(given, Relation) else f"viscous({given:.9g})" if given else ""


def _freedoms(mechanism: Model, pose: Pose | None) -> list[str]:
    velocities, rows = mechanism.layout.velocities, mechanism.layout.multipliers
    free = sum(not law.holonomic for law in laws(mechanism))
    count = f"velocities {velocities}, constraints {rows}" + (f" ({free} nonholonomic)" if free else "")
    where = "at the given pose"
    if pose is None:
        try:
            pose, where = assemble(mechanism, {}, {}, 0.0), "at the pose assembled without a guess"
        except ValueError:
            return [f"{count}, freedoms at least {max(velocities - rows, 0)}; redundancies: give describe(pose) a pose"]
    c = at_rest(mechanism, pose.centres, pose.rotations)
    G = constraint_rates(mechanism, c, TimeTable(mechanism, pose.anchors), 0.0)[0]
    redundant = null_space(G, mechanism.constraint_names)[1] if rows else []
    freedoms = velocities - rows + len(redundant)
    lines = [f"{count}, redundant {len(redundant)}, freedoms {freedoms} {where}"]
    return lines + [f"  {explain_redundant(names)}" for names in redundant]
