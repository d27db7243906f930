"""Prismatic joint."""

from collections.abc import Sequence
from dataclasses import replace

from ..numerics.arguments import checked
from ..systems.resistive_relations import Relation
from .rows.connection import Connection, PortName
from .slider import slider


@checked
def prismatic(port: str, rail: PortName, *, direction: Sequence[float], friction: Relation | None = None) -> Connection:
    """The port moves on a line through the rail port without turning; one relative freedom.

    ``0 = d⊥·(p − p_rail)`` for every d⊥ across the direction, which is fixed in the rail's section (world axes for
    GROUND); the relative rotation stays as assembled. The same as ``slider(..., turning=False)``, with its
    ``friction``.
    """
    return replace(slider(port, rail, direction=direction, friction=friction), kind="prismatic")
