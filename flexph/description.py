"""A mechanism in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .mechanism import Mechanism


def describe(mechanism: Mechanism) -> str:
    """Bodies, connections, degrees of freedom and the state layout, as plain text."""
    layout = mechanism.layout
    lines = ["bodies"]
    for name, body in mechanism.bodies.items():
        kind = f"flexible, {body.size} coordinates, {body.stress_size} stresses" if body.size else "rigid"
        ports = ", ".join((*body.ports, *(f"{k} (load)" for k in body.loads)))
        lines.append(f"  {name}: {body.mass:.6g} kg, {kind}; ports {ports}")
    lines.append("connections")
    for c in mechanism.connections:
        rows = ", ".join(row.name for row in c.rows) or ("external port" if c.input else "force element")
        lines.append(f"  {c.name}: {rows}")
    lines += [
        f"velocities {layout.velocities}, constraints {layout.multipliers}, "
        f"freedoms at least {layout.velocities - layout.multipliers}",
        f"state of {layout.size} entries",
    ]
    lines += [f"  {name}: {s.start}:{s.stop}" for name, s in layout.parts.items()]
    return "\n".join(lines)
