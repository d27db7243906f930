"""Weld (rigid connection, fixed joint) and distance joint (massless rod)."""

from typing import Any

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.rotations import rotation_matrix
from ..units.arguments import quantities
from .rows.connection import (
    Connection,
    Form,
    Row,
    angle_row,
    coincidence,
    relative_angle,
    same_rotation,
)
from .rows.laws import Length
from .rows.signs import Solid, Strand
from .rows.vectors import Ground, PortName, Product, axis, between


@quantities(angle="rad")
@checked
def weld(
    first: str, second: PortName, *, angle: float | None = None, rotation: Any = None, name: str | None = None
) -> Connection:
    """Rigid connection (fixed joint): both ports at one point and at a constant relative rotation.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    angle : float, optional
        In the plane, angle from the second section to the first [rad]; by default that of the assembled pose.
    rotation : array_like or Rotation, optional
        In space R₂ᵀR₁, a matrix (3, 3) or a ``scipy.spatial.transform.Rotation``; by default that of the assembled
        pose.
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`; it leaves no relative freedom.

    See Also
    --------
    hinge : Joint that leaves one rotation free.
    revolute : Hinge in space under its kinematic name.

    Examples
    --------
    >>> import fem
    >>> from flexph import GROUND, connect, weld
    >>> steel, strip = fem.Material(young=2.1e11, density=7850.0), fem.Section(width=0.02, height=0.002)
    >>> cantilever = connect({"beam": fem.beam(0.5, steel, strip, elements=4)}, [weld("beam.root", GROUND)])
    >>> cantilever.constraint_names
    ('weld beam.root–GROUND: x', 'weld beam.root–GROUND: y', 'weld beam.root–GROUND: angle')
    """
    value = None if angle is None else check.number("angle", angle)
    relative = None if rotation is None else rotation_matrix("rotation", rotation).T

    def make(dim: int) -> Form:
        rows, signs = coincidence(first, second, dim), (Solid("block", first),)
        if dim == 2:
            if relative is not None:
                raise ValueError("a weld in the plane takes angle=, not rotation=")
            return Form((*rows, angle_row(relative_angle(first, second, 2), value)), signs=signs)
        if value is not None:
            raise ValueError("a weld in space takes rotation=, not angle=")
        stated = None if relative is None else tuple(tuple(row) for row in relative.tolist())
        axes = () if stated is None else tuple((axis(i, 3), row) for i, row in enumerate(stated))
        return Form((*rows, *same_rotation(first, second, stated)), parallel=axes, signs=signs)

    return Connection("weld", (first, second), make, label=name)


@quantities(length="m")
@checked
def distance(first: str, second: PortName, *, length: float | None = None, name: str | None = None) -> Connection:
    """Massless rod that holds two ports at a fixed distance: ``0 = (|p₁ − p₂|²/L − L)/2``.

    The multiplier is the tension of the rod [N].

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a position ``GROUND.at(x, y)``; the bare ``GROUND`` is refused.
    length : float, optional
        Distance [m]; by default that of the assembled pose.
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """
    if isinstance(second, Ground) and second.position is None:
        raise ValueError(
            "second is GROUND without a position, but a distance to the ground needs one: use GROUND.at(x, y)"
        )
    gap = between(first, second)
    value = None if length is None else check.positive("length", length, "m")
    form = Form((Row("length", Length(Product(gap, gap), value)),), signs=(Strand("rod", first, second),))
    return Connection("distance", (first, second), form=form, label=name)
