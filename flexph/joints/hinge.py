"""Hinge (revolute joint)."""

from collections.abc import Sequence

from ..numerics.arguments import checked
from ..systems.resistive_relations import Relation
from .rows.connection import Connection, Form, PortName, coincidence, parallel_axes
from .rows.directions import spatial_axes, unit_axes
from .rows.friction import CoulombFriction
from .rows.resistance import friction_of_turning, resists_turning
from .rows.signs import Solid


@checked
def hinge(
    first: str,
    second: PortName,
    *,
    axis: Sequence[float] | None = None,
    second_axis: Sequence[float] | None = None,
    friction: Relation | CoulombFriction | None = None,
    name: str | None = None,
) -> Connection:
    """A joint at one point, free to turn about an axis: ``0 = p₁ − p₂`` ([flex] eq. (41)), in space axes parallel.

    Parameters
    ----------
    first : str
        The port of a body, as ``"body.port"``.
    second : str or Ground
        The port of another body, or ``GROUND``.
    axis : sequence of float, optional
        In space the axis in the first port's section; in the plane there is none to give.
    second_axis : sequence of float, optional
        The axis in the second port's section (in world axes for GROUND); the same components by default.
    friction : Relation or CoulombFriction, optional
        The torque [N m] against the relative spin [rad/s] (:class:`flexph.systems.Relation`), or dry friction in
        proportion to the force of the joint (:class:`flexph.CoulombFriction`, with the radius of the bearing).

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, which leaves one relative freedom.

    Raises
    ------
    ValueError
        For ``GROUND`` as the first port, and, as the mechanism is connected, for an axis in the plane or none in space.

    Examples
    --------
    >>> from flexph import GROUND, hinge
    >>> joint = hinge("rod.root", GROUND)
    >>> [row.name for row in joint.formed(2).rows]
    ['x', 'y']
    >>> [row.name for row in hinge("rod.root", GROUND, axis=(0.0, 0.0, 1.0)).formed(3).rows]
    ['x', 'y', 'z', 'tilt 1', 'tilt 2']
    """

    given, resists = unit_axes(axis, second_axis), friction_of_turning("friction", friction)

    def make(dim: int) -> Form:
        rows = coincidence(first, second, dim)
        if dim == 2:
            if given is not None:
                raise ValueError("a hinge takes no axis in the plane")
            measures, bearing = resists_turning(first, second, None, resists, pressing=dim)
            return Form(rows, measures, signs=(Solid("pin", first),), bearing=bearing)
        axes = spatial_axes(given, dim, "a hinge")
        measures, bearing = resists_turning(first, second, axes, resists, pressing=dim)
        signs = (Solid("pin", first, axes[0]),)
        rows = (*rows, *parallel_axes(first, second, axes))
        return Form(rows, measures, parallel=(axes,), signs=signs, bearing=bearing)

    return Connection("hinge", (first, second), make, label=name)
