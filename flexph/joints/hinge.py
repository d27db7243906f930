"""Hinge: a revolute joint of the plane or of space."""

from collections.abc import Callable, Sequence

from ..laws.resistive_relations import Relation
from ..numerics.arguments import checked
from .rows.connection import Connection, Form, PortName, coincidence, parallel_axes
from .rows.directions import Axes, spatial_axes, unit_axes
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
    """Hinge: a joint at one point that leaves one rotation free, ``0 = p₁ − p₂`` ([flex] eq. (41)).

    In space its axes in both sections stay parallel, too.

    Parameters
    ----------
    first : str
        The port of a body, as ``"body.port"``.
    second : str or Ground
        The port of another body, or ``GROUND``.
    axis : sequence of float, optional
        Axis in the section at the first port, in space only; in the plane leave it out.
    second_axis : sequence of float, optional
        The same axis in the section at the second port (world axes for GROUND); by default the same components.
    friction : Relation or CoulombFriction, optional
        The torque [N m] against the relative spin [rad/s] (:class:`flexph.laws.Relation`), or dry friction in
        proportion to the force of the joint (:class:`flexph.joints.CoulombFriction`, with the radius of the bearing).

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`; it leaves one relative freedom.

    Raises
    ------
    ValueError
        For ``GROUND`` as the first port; on connecting the mechanism, for an axis in the plane or none in space.

    See Also
    --------
    revolute : The same joint under its kinematic name, in space only.
    weld : Rigid connection, also called a fixed joint.

    Examples
    --------
    >>> from flexph import GROUND, hinge
    >>> joint = hinge("rod.root", GROUND)
    >>> [row.name for row in joint.formed(2).rows]
    ['x', 'y']
    >>> [row.name for row in hinge("rod.root", GROUND, axis=(0.0, 0.0, 1.0)).formed(3).rows]
    ['x', 'y', 'z', 'tilt 1', 'tilt 2']
    """

    def axes_in(dim: int) -> Axes | None:
        if dim == 2 and axis is not None:
            raise ValueError("a hinge takes no axis in the plane, where it turns about the normal: leave axis= out")
        return None if dim == 2 else spatial_axes(unit_axes(axis, second_axis), dim, "a hinge")

    unit_axes(axis, second_axis)
    return pin("hinge", first, second, axes=axes_in, friction=friction, name=name)


def pin(
    kind: str,
    first: str,
    second: PortName,
    *,
    axes: Callable[[int], Axes | None],
    friction: Relation | CoulombFriction | None,
    name: str | None,
) -> Connection:
    """Joint at one point that turns about ``axes(dim)``: the common form of hinges and revolute joints."""
    resists = friction_of_turning("friction", friction)

    def make(dim: int) -> Form:
        about, rows = axes(dim), coincidence(first, second, dim)
        measures, bearing = resists_turning(first, second, about, resists, pressing=dim)
        if about is None:
            return Form(rows, measures, signs=(Solid("pin", first),), bearing=bearing)
        signs = (Solid("pin", first, about[0]),)
        rows = (*rows, *parallel_axes(first, second, about))
        return Form(rows, measures, parallel=(about,), signs=signs, bearing=bearing)

    return Connection(kind, (first, second), make, label=name)
