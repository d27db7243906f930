"""Upright wheel that rolls without slip."""

from collections.abc import Sequence

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...units.arguments import quantities
from ..rows.connection import Connection, Form, PortName
from ..rows.directions import fitting, unit
from ..rows.signs import Solid
from ..rows.vectors import GROUND
from .ground_plane import given_normal, on_ground, on_surface, plane
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
    """Upright wheel, or ball, that rolls without slip; the port is its centre, on the body that spins.

    In two dimensions, seen from above, it does not slip along its axle, ``0 = (R a)·ṗ``; its rolling is not part of the
    motion, and no radius is given.

    In space the point below the centre does not slip on the plane through the ground's position with the unit normal n,
    ``0 = t·(ṗ + Ω × (−r n))`` for both tangents t, and with ``height`` the centre stays at ``n·p = r``. Other joints
    must hold the axle parallel to the plane, so that no axis is given (a disc that may tilt is ``rolling_disc``); a
    ball needs none. On a vehicle with four wheels one height is redundant, and on a common axle one of the sideways
    rows: set ``height=False`` where the vehicle holds the height, or let ``redundant="least_norm"`` share the forces.
    Multipliers are the forces of the ground on the wheel [N].

    The plane may belong to a body that keeps its normal, as a turntable or a carriage: p and Ω are then relative to
    that body, which takes the reaction. A run ends where the body tilts.

    Parameters
    ----------
    port : str
        Centre of the wheel, on the body that spins.
    ground : str or Ground
        Position of the plane on which it rolls, of the ground, in space also a port of a body.
    radius : float, optional
        Radius r [m], in space only.
    axis : array_like, optional
        Axle a in the axes of the section, in two dimensions only; by default (0, 1).
    normal : array_like, optional
        Unit normal n of the plane in space, in the section of a body the same as in the world; by default z.
    height : bool
        True if the wheel holds the height of its centre.

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """
    floor, upward = on_surface(port, ground), given_normal(normal)
    across = None if axis is None else unit("axis", axis)
    size = None if radius is None else check.positive("radius", radius, "m")

    def make(dim: int) -> Form:
        if dim == 2:
            if size is not None or upward is not None:
                raise ValueError(
                    "a wheel in the plane is seen from above and takes no radius and no normal: leave them out"
                )
            axle = fitting("axis", across or (0.0, 1.0), 2)
            return Form(
                (no_motion_along(port, on_ground("wheel", port, floor), axle),), signs=(Solid("wheel", port, axle),)
            )
        if across is not None:
            raise ValueError("a wheel takes no axis in space, where other joints hold its axle parallel to the ground")
        if size is None:
            raise ValueError("a wheel needs radius=... [m] in space")
        on = plane(port, floor, upward, dim)
        rows = (*on.rolling(size), on.level(size)) if height else on.rolling(size)
        return Form(rows, signs=(Solid("ball", port),))

    return Connection("wheel", (port, floor), make, label=name)
