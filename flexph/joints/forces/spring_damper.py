"""Linear and torsional spring-dampers."""

from collections.abc import Callable, Sequence

from ...laws.elastic_laws import ElasticLaw
from ...laws.resistive_relations import Relation, ScheduledRelation, damping_of
from ...laws.spring_law import SpringLaw, check_at_rest, check_law
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...units.arguments import quantities
from ..rows.connection import Connection, Form, Input, Measure, planar_or_about
from ..rows.signs import Solid, Strand
from ..rows.vectors import Ground, PortName, Product, along, between, fitting, unit, unit_axes


@quantities(damping="N*s/m", length="m", stiffness="N/m")
@checked
def spring_damper(
    first: str,
    second: PortName,
    *,
    stiffness: float = 0.0,
    law: SpringLaw | None = None,
    damping: float | Relation | ScheduledRelation = 0.0,
    length: float | Callable[[float], float] | None = None,
    direction: Sequence[float] | None = None,
    name: str | None = None,
) -> Connection:
    """Massless spring and damper between two points: tension k(ℓ − ℓ₀) + c ℓ̇ with ℓ = |p₁ − p₂|.

    The spring force e is a state with compliance 1/k and energy ½ e²/k. With a direction d of the second section,
    ℓ = d·(p₁ − p₂) is the signed displacement of a joint that slides.

    With an elastic law the force is V'(ℓ − ℓ₀) and the extension ℓ − ℓ₀ is the state, with the energy V.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a position of the ground, ``GROUND.at(x, y)``.
    stiffness : float
        k [N/m].
    law : ElasticLaw, HysteresisLaw or ForceLaw, optional
        Law in place of the stiffness, see :mod:`flexph.laws`.
    damping : float, Relation or ScheduledRelation
        c [N s/m], or a :class:`flexph.laws.Relation` ρ(ℓ̇), with a factor of time if it is ``scheduled``, or set by an
        input if it is ``controlled``.
    length : float or function, optional
        Free length ℓ₀ [m], by default that of the assembled pose. A function of time makes the element an actuator: the
        damper acts on ℓ̇ − ℓ̇₀, and the ledger shows the work of ℓ₀(t) under the name of the element.
    direction : array_like, optional
        d in the section at the second port, for ``GROUND`` in world axes; ℓ₀ may then be negative.
    name : str, optional
        Name of the element; by default its kind and its ports.

    Returns
    -------
    Connection
        The force element, for :func:`flexph.connect`.

    Raises
    ------
    ValueError
        Unless stiffness or damping is positive or a law is given, for a stiffness with a law, for a law of a distance
        without a length, and for GROUND without a position.

    Examples
    --------
    >>> from flexph import GROUND, spring_damper
    >>> spring = spring_damper("rod.tip", GROUND.at(0.0, 1.0), stiffness=100.0, length=0.5)
    >>> spring.name
    'spring rod.tip–GROUND at (0.0, 1.0)'

    A spring that hardens, with F = 100 x + 10 000 x³:

    >>> from flexph.laws import polynomial
    >>> hardening = spring_damper("rod.tip", GROUND.at(0.0, 1.0), law=polynomial(100.0, 0.0, 1e4), length=0.5)
    """
    if isinstance(second, Ground) and second.position is None:
        raise ValueError(
            "second is GROUND without a position, but a spring to the ground needs one: use GROUND.at(x, y)"
        )
    if length is None:
        check_at_rest("law", law, "give length=0, as the law is one of the distance")
    gap, rates, signs = between(first, second), check_rates(stiffness, damping, law), (Strand("coil", first, second),)
    if direction is None:
        free = length if callable(length) or length is None else check.not_negative("length", length, "m")
        form = Form(measures=(Measure("length", (Product(gap, gap),), *rates, free, law=law),), signs=signs)
        return Connection("spring", (first, second), label=name, form=form, input=_port(first, law))
    given = length if callable(length) or length is None else check.number("length", length)
    line = unit("direction", direction)

    def make(dim: int) -> Form:
        way = Product(gap, along(second, fitting("direction", line, dim)))
        return Form(measures=(Measure("component", (way,), *rates, given, law=law),), signs=signs)

    return Connection("spring", (first, second), make, label=name, input=_port(first, law))


@quantities(angle="rad", damping="N*m*s/rad", stiffness="N*m/rad", zero="rad")
@checked
def torsion_spring(
    first: str,
    second: PortName,
    *,
    stiffness: float = 0.0,
    law: SpringLaw | None = None,
    damping: float | Relation | ScheduledRelation = 0.0,
    angle: float | Callable[[float], float] | None = None,
    axis: Sequence[float] | None = None,
    second_axis: Sequence[float] | None = None,
    zero: float = 0.0,
    name: str | None = None,
) -> Connection:
    """Torsional spring and damper: torque k(α − α₀) + c α̇, α the angle from the second section to the first.

    In space the angle is about ``axis`` (see :func:`flexph.hinge`), which a joint must keep parallel in both sections.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    stiffness : float
        k [N m/rad].
    law : ElasticLaw, HysteresisLaw or ForceLaw, optional
        Law V'(α − α₀) in place of the stiffness, see :mod:`flexph.laws`.
    damping : float, Relation or ScheduledRelation
        c [N m s/rad], or a :class:`flexph.laws.Relation` ρ(α̇), with a factor of time if it is ``scheduled``, or set by
        an input if it is ``controlled``.
    angle : float or callable, optional
        Free angle α₀ [rad], by default that of the assembled pose. A function of time makes the element a position
        controller of a joint: torque k(α − α₀) + c(α̇ − α̇₀), whose work the ledger shows under its name.
    axis : array_like, optional
        Direction in the axes of the section at the first port.
    second_axis : array_like, optional
        The same direction in the section at the second port, for ``GROUND`` in world axes; the same components by
        default.
    zero : float
        Offset of the angle [rad], see :func:`flexph.sensors.joint_angle`.
    name : str, optional
        Name of the element; by default its kind and its ports.

    Returns
    -------
    Connection
        The force element, for :func:`flexph.connect`.
    """
    free = angle if callable(angle) or angle is None else check.number("angle", angle)
    rates = check_rates(stiffness, damping, law)
    if angle is None:
        check_at_rest("law", law, "give the free angle")
    axes, origin = unit_axes(axis, second_axis), check.number("zero", zero)

    def make(dim: int) -> Form:
        turn = planar_or_about(first, second, dim, kind="a torsion spring", axes=axes, zero=origin)
        sign = Solid("turn", first, None if axes is None else axes[0])
        return Form(measures=(Measure("angle", turn, *rates, free, law=law),), signs=(sign,))

    return Connection("torsion spring", (first, second), make, label=name, input=_port(first, law))


def _port(first: str, law: SpringLaw | None) -> Input | None:
    """External port of a spring whose stiffness an input sets; None for other springs.

    ``first`` is the first port of the spring.
    """
    return Input("factor", first) if isinstance(law, ElasticLaw) and law.is_controlled else None


def check_rates(
    stiffness: float, damping: float | Relation | ScheduledRelation, law: SpringLaw | None = None
) -> tuple[float, float | Relation | ScheduledRelation]:
    """Stiffness and damping of a spring-damper after their checks.

    Raises ValueError for negative values, for a stiffness together with a law, and if there is neither stiffness,
    damping nor law.
    """
    rates = check.not_negative("stiffness", stiffness), damping_of("damping", damping)
    if check_law("law", law, by_input=True) is not None and rates[0]:
        raise ValueError(f"stiffness and law exclude each other, got stiffness={rates[0]:.6g} and {law}")
    by_input = isinstance(rates[1], ScheduledRelation) and rates[1].factor == "input"
    if by_input and isinstance(law, ElasticLaw) and law.is_controlled:
        raise ValueError("law and damping have one input between them: give only one of them by controlled(...)")
    if rates == (0.0, 0.0) and law is None:
        raise ValueError("a spring-damper needs stiffness > 0, damping > 0 or a law, got none of them")
    return rates
