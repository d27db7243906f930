"""Prismatic joint."""

from collections.abc import Sequence
from dataclasses import replace

from ..laws.resistive_relations import Relation
from ..numerics.arguments import checked
from .rows.connection import Connection, PortName
from .rows.friction import CoulombFriction
from .slider import slider


@checked
def prismatic(
    port: str,
    rail: PortName,
    *,
    direction: Sequence[float],
    friction: Relation | CoulombFriction | None = None,
    name: str | None = None,
) -> Connection:
    """Prismatic joint: the port moves on a line through the rail port without turning; one relative freedom.

    ``0 = d⊥·(p − p_rail)`` for every d⊥ perpendicular to the direction; the relative rotation stays as assembled.
    Equal to ``slider(..., turning=False)``.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.
    rail : str or Ground
        Port of another body, or a place ``GROUND.at(...)``.
    direction : array_like
        Direction of the line in the section at the rail port, of ``GROUND`` in world axes.
    friction : Relation or CoulombFriction, optional
        See :func:`slider`.

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """
    return replace(slider(port, rail, direction=direction, friction=friction, name=name), kind="prismatic")
