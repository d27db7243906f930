"""Distance joint (massless rod)."""

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..units.arguments import quantities
from .rows.connection import Connection, Form, Row
from .rows.laws import Length
from .rows.signs import Strand
from .rows.vectors import Ground, PortName, Product, between


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
            "second is GROUND without a position, but a distance to the ground needs one: take GROUND.at(x, y)"
        )
    gap = between(first, second)
    value = None if length is None else check.positive("length", length, "m")
    form = Form((Row("length", Length(Product(gap, gap), value)),), signs=(Strand("rod", first, second),))
    return Connection("distance", (first, second), form=form, label=name)
