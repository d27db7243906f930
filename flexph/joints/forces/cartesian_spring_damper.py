"""Cartesian spring-damper: springs and dampers along axes fixed in the world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...laws.resistive_relations import Relation
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.rotations import rotation, rotation_matrix
from ...units.arguments import quantities
from ..rows.axis_rates import component_measures, damping_of_axes, stiffness_of_axes
from ..rows.connection import Connection, Form
from ..rows.signs import Strand
from ..rows.vectors import Direction, Ground, PortName, Vector, axis, between, body_port


@quantities(damping="N*s/m", offset="m", stiffness="N/m")
@checked
def cartesian_spring_damper(
    first: str,
    second: PortName,
    *,
    stiffness: float | Sequence[float] = 0.0,
    damping: float | Relation | Sequence[float | Relation] = 0.0,
    offset: Sequence[float] | None = None,
    axes: Any = None,
    name: str | None = None,
) -> Connection:
    """Springs and dampers between two points along three (in the plane two) directions e_i fixed in the world.

        f = −Σ (k_i (d_i − d₀_i) + c_i ḋ_i) e_i,  d_i = e_i·(p₁ − p₂),  V = ½ Σ k_i (d_i − d₀_i)²

    acts on the first point and −f on the second one. The d_i are products of two world vectors, so that the energy
    balance is exact at any step size. For axes that turn with a body see :func:`flexph.joints.bushing`.

    Forces that do not point along p₁ − p₂ change the angular momentum: those of dampers, unequal k and an offset.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    stiffness : float or array_like
        k [N/m], one for all directions or one for each.
    damping : float, Relation or a sequence of both
        c [N s/m] in the same way, or relations ρ(ḋ_i).
    offset : array_like, optional
        d₀ [m], components along the e_i; by default those of the assembled pose.
    axes : array_like or Rotation, optional
        The rotation whose columns are the e_i, a matrix (3, 3) or a scipy Rotation, in the plane an angle [rad]; by
        default the world axes.
    name : str, optional
        Name of the element; by default its kind and its ports.

    Returns
    -------
    Connection
        The force element, for :func:`flexph.connect`.

    Raises
    ------
    ValueError
        Unless a stiffness or a damping is positive, and for an offset from GROUND without a position.
    """
    body_port(first)
    if offset is not None and isinstance(second, Ground) and second.position is None:
        raise ValueError(
            "second is GROUND without a position, but an offset from the ground needs one: use GROUND.at(x, y)"
        )

    def make(dim: int) -> Form:
        k, c = stiffness_of_axes("stiffness", stiffness, dim), damping_of_axes("damping", damping, dim)
        if not any((*k, *c)):
            raise ValueError("a cartesian spring-damper needs a positive stiffness or damping, all are zero")
        free = None if offset is None else check.array("offset", offset, (dim,)).tolist()
        directions = [Vector(fixed=direction) for direction in _directions(axes, dim)]
        measures = component_measures(between(first, second), directions, k, c, free=free)
        return Form(measures=measures, signs=(Strand("coil", first, second),))

    return Connection("cartesian spring-damper", (first, second), make, label=name)


def _directions(axes: Any, dim: int) -> list[Direction]:
    """Directions e_i in the world: the world's axes, turned by ``axes`` (an angle in the plane, else a matrix)."""
    if axes is None:
        return [axis(i, dim) for i in range(dim)]
    turned = rotation(check.number("axes", axes)) if dim == 2 else rotation_matrix("axes", axes)
    return [tuple(column) for column in turned.T.tolist()]
