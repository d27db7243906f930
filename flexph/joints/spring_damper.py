"""Linear and torsional spring-dampers."""

from .. import checks as check
from .connection import Connection, Ground, Measure, PortName, Product, between, relative_angle


def spring_damper(
    first: str,
    second: PortName,
    *,
    stiffness: float = 0.0,
    damping: float = 0.0,
    length: float | None = None,
    name: str | None = None,
) -> Connection:
    """A massless spring and damper between two points: tension k(ℓ − ℓ₀) + c ℓ̇ with ℓ = |p₁ − p₂|.

    stiffness k [N/m], damping c [N s/m], free length ℓ₀ [m] (None: the length at the assembled pose). The spring
    force is a state with compliance 1/k, so that its energy is ½ e²/k.
    """
    if isinstance(second, Ground) and second.position is None:
        raise ValueError("a spring to the ground needs a position: GROUND.at(x, y)")
    gap = between(first, second)
    free = None if length is None else check.not_negative("length", length, "m")
    measure = _measure((Product(gap, gap),), stiffness, damping, free)
    return Connection("spring", (first, second), measure=measure, label=name)


def torsion_spring(
    first: str,
    second: PortName,
    *,
    stiffness: float = 0.0,
    damping: float = 0.0,
    angle: float | None = None,
    name: str | None = None,
) -> Connection:
    """A torsional spring and damper: torque k(α − α₀) + c α̇, α the angle of the first section from the second.

    stiffness k [N m/rad], damping c [N m s/rad], free angle α₀ [rad] (None: the angle at the assembled pose).
    """
    free = None if angle is None else check.number("angle", angle)
    measure = _measure(relative_angle(first, second), stiffness, damping, free)
    return Connection("torsion spring", (first, second), measure=measure, label=name)


def _measure(products: tuple[Product, ...], stiffness: float, damping: float, free: float | None) -> Measure:
    check.not_negative("stiffness", stiffness)
    check.not_negative("damping", damping)
    if stiffness == 0.0 and damping == 0.0:
        raise ValueError("a spring-damper needs stiffness > 0 or damping > 0")
    return Measure(products, stiffness, damping, free)
