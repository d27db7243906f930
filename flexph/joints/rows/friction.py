"""Dry friction of joints in proportion to the joint force, as a set-valued law."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from ...laws.resistive_relations import Factor, check_factor
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...units.arguments import quantities


@quantities(radius="m")
@checked
@dataclass(frozen=True)
class CoulombFriction:
    """Dry friction in proportion to the joint force: ``|T| ≤ μ|λ|``, and ``T = −μ|λ| s/|s|`` where it slips.

    T is the friction force, λ the joint force in the step (the multipliers of the joint) and s the slip velocity. In a
    bearing of radius r, s is r times the relative spin, so that the torque is at most μ r |λ|. Below this bound the
    joint sticks and does not creep. The dissipated energy is never negative; the ledger shows it under the name of the
    joint.

    Parameters
    ----------
    coefficient : float
        Coefficient of friction μ.
    radius : float, optional
        Radius r of the bearing [m], for joints that turn.
    factor : callable or "input", optional
        Factor of the coefficient, at least 0, as a function of time [s], for instance of a brake. A step uses the mean
        of its values at both ends. With ``"input"`` the joint is an external port of one component u under its name,
        the factor is 1 + u, and a :class:`flexph.control.Sampled` or ``inputs`` of :func:`flexph.integrate` set u ≥ −1.

    Raises
    ------
    ValueError
        For a coefficient or a radius that is not positive.

    Examples
    --------
    A disc on a shaft of 1 cm loses 0.1 · 2 kg · 9.81 m/s² · 0.01 m in each radian:

    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge, integrate
    >>> from flexph.joints import CoulombFriction
    >>> disc = rigid.body(2.0, inertia=0.04, ports={"centre": (0.0, 0.0)})
    >>> bearing = hinge("disc.centre", GROUND, friction=CoulombFriction(0.1, radius=0.01))
    >>> mechanism = connect({"disc": disc}, [bearing], gravity=(0.0, -9.81))
    >>> start = mechanism.consistent_state(mechanism.assemble(), velocities={"disc": (0.0, 0.0, 3.0)})
    >>> run = integrate(mechanism, start, np.linspace(0.0, 0.1, 41))
    >>> round(float(run["disc.spin"][-1, 0]), 5)  # 3 − 0.1 · 2 · 9.81 · 0.01/0.04 · 0.1
    2.95095
    """

    coefficient: float
    _: KW_ONLY
    radius: float | None = None
    factor: Factor | None = None
    remedy: ClassVar[str] = "CoulombFriction(coefficient, radius=...)"

    def __post_init__(self) -> None:
        check.not_negative("coefficient", self.coefficient, "")
        if self.radius is not None:
            check.positive("radius", self.radius, "m")
        check_factor("factor", self.factor)

    def __str__(self) -> str:
        radius = "" if self.radius is None else f", radius={self.radius:.9g}"
        timed = "" if self.factor is None else ", factor='input'" if self.factor == "input" else ", factor=function"
        return f"CoulombFriction({self.coefficient:.9g}{radius}{timed})"


@dataclass(frozen=True)
class Bearing:
    """Sliding faces of a joint with dry friction, pressed together by the force of the joint.

    The multipliers of the first ``pressing`` rows are the components of this force [N]. The slips are the measures of
    the joint that have a ``lever`` or, if ``along_curve``, the motion of its port along the curve.
    """

    friction: CoulombFriction
    pressing: int
    along_curve: bool = False
