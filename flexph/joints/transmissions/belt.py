"""Belt over two pulleys that does not slip."""

from collections.abc import Sequence
from dataclasses import replace

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...units.arguments import quantities
from ..rows.connection import Connection, PortName
from ..rows.vectors import GROUND
from .coordinates import Directions
from .gear import gear


@quantities(radii="m")
@checked
def belt(
    first: str,
    second: str,
    carrier: PortName = GROUND,
    *,
    radii: Sequence[float],
    crossed: bool = False,
    axis: Sequence[float] | None = None,
    second_axis: Sequence[float] | None = None,
    carrier_axes: Directions | None = None,
    name: str | None = None,
) -> Connection:
    """Belt over two pulleys, or chain over two sprockets, without slip and stretch: ``0 = r₁ Δθ₁ ∓ r₂ Δθ₂``.

    Both angles are relative to the carrier: a :func:`flexph.gear` with i = ±r₂/r₁.

    Parameters
    ----------
    first, second : str
        Ports ``body.port`` of the pulleys.
    carrier : str or Ground
        Port of the body that carries both.
    radii : sequence of float
        Radii r₁ and r₂ [m], or numbers of teeth.
    crossed : bool
        True for a crossed belt: the pulleys then turn in opposite senses.
    axis, second_axis, carrier_axes : array_like, optional
        In space the axes, as for :func:`flexph.gear`.

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`; its multiplier is the torque on the first pulley [N m].

    Raises
    ------
    ValueError
        For radii that are not positive, and as for :func:`flexph.gear`.
    """
    if len(radii) != 2:
        raise ValueError(f"radii must be two numbers, one for each pulley, got {len(radii)}")
    r1, r2 = (check.positive(f"radii[{k}]", r, "m") for k, r in enumerate(radii))
    ratio = -r2 / r1 if crossed else r2 / r1
    meshed = gear(
        first, second, carrier, ratio=ratio, name=name, axis=axis, second_axis=second_axis, carrier_axes=carrier_axes
    )
    return replace(meshed, kind="belt")
