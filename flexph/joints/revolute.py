"""Revolute joint: a hinge in space under its kinematic name."""

from collections.abc import Sequence

from ..laws.resistive_relations import Relation
from ..numerics.arguments import checked
from .hinge import pin
from .rows.connection import Connection, PortName
from .rows.directions import Axes, spatial_axes, unit_axes
from .rows.friction import CoulombFriction


@checked
def revolute(
    first: str,
    second: PortName,
    *,
    axis: Sequence[float],
    second_axis: Sequence[float] | None = None,
    friction: Relation | CoulombFriction | None = None,
    name: str | None = None,
) -> Connection:
    """Revolute joint with one common point and axis: ``0 = p₁ − p₂``, ``0 = a₁·x₂ = a₁·y₂``; one relative freedom.

    The directions x₂, y₂ are perpendicular to the axis in the second section.

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
    friction : Relation or CoulombFriction, optional
        Torque [N m] against the relative spin [rad/s] (:func:`flexph.laws.coulomb`,
        :func:`flexph.laws.viscous`), or dry friction in proportion to the force of the joint
        (:class:`flexph.joints.CoulombFriction`, with the radius of the bearing).

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.

    Raises
    ------
    ValueError
        For ``GROUND`` as the first port; on connecting, if the mechanism is planar.

    See Also
    --------
    hinge : The same joint, also in the plane.
    weld : Rigid connection, also called a fixed joint.

    Examples
    --------
    A bar that turns about the vertical has one freedom:

    >>> import rigid
    >>> from flexph import GROUND, connect, revolute
    >>> door = rigid.box((0.8, 0.04, 2.0), density=600.0, ports={"hinge": (-0.4, 0.0, 0.0)})
    >>> mechanism = connect({"door": door}, [revolute("door.hinge", GROUND, axis=(0.0, 0.0, 1.0))])
    >>> "freedoms 1" in mechanism.describe()
    True
    """
    given = unit_axes(axis, second_axis)

    def axes_in(dim: int) -> Axes:
        return spatial_axes(given, dim, "a revolute joint", instead="hinge(first, second)")

    return pin("revolute", first, second, axes=axes_in, friction=friction, name=name)
