"""Rolling disc: a thin disc that is free to tilt and does not slip."""

from collections.abc import Sequence

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...units.arguments import quantities
from ..rows.connection import Connection, Form, PortName, Row
from ..rows.directions import fitting, unit
from ..rows.rate_laws import Contact, Rolling
from ..rows.signs import Solid
from ..rows.vectors import GROUND, Direction, Ground, Product, Vector, Weighed, along
from .ground_plane import Plane, given_normal, on_surface, plane, rolling_names


@quantities(radius="m")
@checked
def rolling_disc(
    port: str,
    ground: PortName = GROUND,
    *,
    radius: float,
    axis: Sequence[float] | None = None,
    normal: Sequence[float] | None = None,
    name: str | None = None,
) -> Connection:
    """Thin disc that rolls without slip on the ground and is free to tilt; the port is its centre.

    In space let e = R ``axis`` be the axis of the disc in the world and s = |n × e|. The disc touches the ground at
    ``−r u`` from its centre, ``u = (n − (n·e) e)/s``, at the height ``n·p = r s``. The contact does not slip along
    either tangent t:

        0 = s t·(ṗ + Ω × (−r u)) = (n·p/r) t·ṗ − r (n × t)·Ω + r (n·e) t·ė,    0 = ½((n·p)²/r + r (n·e)² − r),

    These are polynomials with exact increments, so that the height does not drift; the multipliers times s are the
    forces of the ground [N]. A disc that lies flat, s = 0, has no contact point: such a start is refused, and a run
    ends there. In two dimensions, seen from the side: ``0 = t·ṗ + r ω`` with t the normal turned by −90°, ``n·p = r``;
    there the plane may be that of a moving body, with p and ω relative to it.

    Parameters
    ----------
    port : str
        Centre of the disc; the section there must not turn relative to its body.
    ground : str or Ground
        Position of the plane on which it rolls: a place of the ground, in two dimensions also a port of a body.
    radius : float
        Radius r [m].
    axis : array_like, optional
        Axis of the disc in the axes of the section; in space only.
    normal : array_like, optional
        Unit normal n of the ground, or in the section of the body; by default y in the plane and z in space.

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """
    floor, size, upward = (
        on_surface(port, ground),
        check.positive("radius", radius, "m"),
        given_normal(normal),
    )
    across = None if axis is None else unit("axis", axis)

    def make(dim: int) -> Form:
        on = plane(port, floor, upward, dim)
        if dim == 2:
            if across is not None:
                raise ValueError(
                    "a rolling_disc takes no axis in the plane, where it is seen from the side: leave axis= out"
                )
            return Form((*on.rolling(size), on.level(size)), signs=(Solid("wheel", port, radius=size),))
        if not isinstance(floor, Ground):
            raise ValueError(f"a rolling_disc that may tilt rolls on GROUND, got {floor!r}: a wheel rolls on a body")
        if across is None:
            raise ValueError("a rolling_disc needs axis=(x, y, z) in space, in the axes of the port's section")
        direction = fitting("axis", across, 3)
        return Form(_tilting(on, direction, size), signs=(Solid("wheel", port, direction, radius=size),))

    return Connection("rolling_disc", (port, floor), make, label=name)


def _tilting(on: Plane, axis: Direction, radius: float) -> tuple[Row, ...]:
    turned = along(on.port, axis)
    tilt = Product(turned, Vector(fixed=on.normal))
    rows = [Row("height", Contact(on.height, tilt, radius))]
    for name, t in zip(rolling_names(3), on.tangents, strict=True):
        moved = Weighed(on.place(t), on.height, 1.0 / radius)
        leaned = Weighed(Product(turned, Vector(fixed=t)), tilt, radius)
        rows.append(Row(name, Rolling((moved, leaned), (on.turn(t, radius),))))
    return tuple(rows)
