"""Wheel: upright, rolling without slip."""

from collections.abc import Sequence

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...units.arguments import quantities
from ..rows.connection import Connection, Form, PortName
from ..rows.directions import fitting, unit
from ..rows.signs import Solid
from ..rows.vectors import GROUND
from .ground_plane import given_normal, on_ground, plane
from .knife_edge import no_motion_along


@quantities(radius="m")
@checked
def wheel(
    port: str,
    ground: PortName = GROUND,
    *,
    radius: float | None = None,
    axis: Sequence[float] | None = None,
    normal: Sequence[float] | None = None,
    height: bool = True,
    name: str | None = None,
) -> Connection:
    """An upright wheel that rolls on the ground without slip; the port is its centre, on the body that spins.

    In the plane, seen from above, it does not slip along its axle, ``0 = (R a)·ṗ``; its rolling is not part of the
    motion, so there is no radius to give.

    In space the point below the centre does not slip on the plane through the ground's position with the unit normal n,
    ``0 = t·(ṗ + Ω × (−r n))`` for both tangents t, and with ``height`` the centre stays at ``n·p = r``. The axle must
    be held parallel to the plane by other joints (a disc that may tilt is ``rolling_disc``), so no axis is given. Of a
    vehicle with four wheels one height, and on a common axle one of the sideways rows, follow from the others: leave
    ``height`` away where the vehicle holds it, or let ``redundant="least_norm"`` share the forces. Multipliers are the
    forces of the ground on the wheel [N].

    Parameters
    ----------
    port : str
        The centre of the wheel, on the body that spins.
    ground : str or Ground
        A place of the plane on which it rolls.
    radius : float, optional
        r [m], in space.
    axis : array_like, optional
        The axle a in the plane, in the axes of the section; by default (0, 1).
    normal : array_like, optional
        Unit normal n of the ground in space; by default z.
    height : bool
        Whether the wheel holds the height of its centre.

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """
    floor, upward = on_ground("wheel", port, ground), given_normal(normal)
    across = None if axis is None else unit("axis", axis)
    size = None if radius is None else check.positive("radius", radius, "m")

    def make(dim: int) -> Form:
        if dim == 2:
            if size is not None or upward is not None:
                raise ValueError("a wheel of the plane is seen from above: it takes no radius and no normal")
            axle = fitting("axis", across or (0.0, 1.0), 2)
            return Form((no_motion_along(port, floor, axle),), signs=(Solid("wheel", port, axle),))
        if across is not None:
            raise ValueError("a wheel takes no axis in space: other joints hold its axle, parallel to the ground")
        if size is None:
            raise ValueError("a wheel needs radius=... [m] in space")
        on = plane(port, floor, upward, dim)
        rows = (*on.rolling(size), on.level(size)) if height else on.rolling(size)
        return Form(rows, signs=(Solid("ball", port),))

    return Connection("wheel", (port, floor), make, label=name)
