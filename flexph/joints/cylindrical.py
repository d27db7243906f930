"""Cylindrical joint."""

from collections.abc import Sequence

from ..laws.resistive_relations import Relation
from ..numerics.arguments import checked
from .rows.connection import Connection, Form, PortName, across, parallel_axes
from .rows.directions import frame_about, spatial_axes, unit_axes
from .rows.friction import CoulombFriction
from .rows.resistance import friction_of_sliding, friction_of_turning, resists_sliding, resists_turning
from .rows.signs import Rail, Solid


@checked
def cylindrical(
    first: str,
    second: PortName,
    *,
    axis: Sequence[float],
    second_axis: Sequence[float] | None = None,
    turning_friction: Relation | None = None,
    sliding_friction: Relation | None = None,
    friction: CoulombFriction | None = None,
    name: str | None = None,
) -> Connection:
    """Cylindrical joint along and about one axis: ``0 = x₂·(p₁ − p₂) = y₂·(p₁ − p₂) = a₁·x₂ = a₁·y₂``.

    Leaves two relative freedoms. Over a step the constraint force is perpendicular to the mean axis of the second
    section; exchanging the ports therefore changes the motion by the square of the step.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    axis : array_like
        Direction in the axes of the section at the first port.
    second_axis : array_like, optional
        The same direction in the section at the second port, of ``GROUND`` in world axes; the same components by
        default.
    turning_friction : Relation, optional
        Torque [N m] against the relative spin [rad/s] (:func:`flexph.laws.coulomb`, :func:`flexph.laws.viscous`).
    sliding_friction : Relation, optional
        Force [N] against the velocity [m/s] along the axis.
    friction : CoulombFriction, optional
        Dry friction in proportion to the force across the axis, with the radius of the bearing. It opposes the slip
        along and around the axis as one vector: a shaft that turns slides along the axis almost without force.

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """

    given = unit_axes(axis, second_axis)
    turns = friction_of_turning("turning_friction", turning_friction)
    slides = friction_of_sliding("sliding_friction", sliding_friction)
    rubs = friction_of_turning("friction", friction)

    def make(dim: int) -> Form:
        axes = spatial_axes(given, dim, "a cylindrical joint")
        rows = (*across(first, second, frame_about(axes[1])), *parallel_axes(first, second, axes))
        turning, _ = resists_turning(first, second, axes, turns, name="turning")
        sliding, _ = resists_sliding(first, second, axes[1], slides, name="sliding")
        around, bearing = resists_turning(first, second, axes, rubs, pressing=2, name="around")
        if bearing is not None:
            alone = CoulombFriction(bearing.friction.coefficient)
            way, _ = resists_sliding(first, second, axes[1], alone, name="along")
            around = (*around, *way)
        signs = (Rail(second, first, axes[1]), Solid("pin", first, axes[0]))
        return Form(rows, (*turning, *sliding, *around), parallel=(axes,), signs=signs, bearing=bearing)

    return Connection("cylindrical", (first, second), make, label=name)
