"""Creep of rolling wheels: forces of contact patches against small slips, saturated by friction; tyres."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..units.arguments import quantities

KINDS = ("hyperbolic", "cubic", "magic")
"""Kinds of saturation."""
NEAR = 1e-4
"""Slip x up to which the Magic Formula is approximated by its series."""


@dataclass(frozen=True)
class CreepLaw:
    """Force of a rolling wheel against its slip velocity s = (along, across) and its spin, at a rolling speed V.

        F = −p q(x)/V,    p = C s,    x = |(p₁, p₂)|/(V μN),    V not below the least speed

    with C = diag(c₁, c₂), q(0) = 1 and x q(x) ≤ 1, so that F is −c_i s_i/V for small slips and at most μN. A law with
    spin has a third slip, the angular velocity about the normal, and a third force, a moment, with C₃₃ = c₃ and
    C₂₃ = −C₃₂ = c₂₃. The power −Σ c_i s_i² q/V is never positive. Creep laws are made by
    :func:`creep` and :func:`magic_formula`.

    A law that depends on the wheel load N contains μ only, and :meth:`under` gives the law with the limit μN for a
    load; its force is zero if N is zero.

    Parameters
    ----------
    kind : {"hyperbolic", "cubic", "magic"}
        Kind of saturation q.
    parameters : tuple of float
        c₁, c₂ [N], μN [N], shape, curvature, least speed [m/s], c₂₃ [N m], c₃ [N m²].
    by_load : bool
        True if the third parameter is μ, and the wheel load N is computed by the element.
    """

    kind: Literal["hyperbolic", "cubic", "magic"]
    parameters: tuple[float, ...]
    by_load: bool = False
    remedy: ClassVar[str] = "e.g. creep(longitudinal=..., lateral=..., limit=...)"
    function: ClassVar[None] = None
    derivative: ClassVar[None] = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS or len(self.parameters) != 8:
            raise ValueError(f"a CreepLaw has a kind of {KINDS} and eight parameters, {self.remedy}, got {self!r}")

    def __str__(self) -> str:
        return f"{self.kind} creep{self.parameters}{' of the load' if self.by_load else ''}"

    @property
    def spins(self) -> bool:
        """True if the law has spin: a third component of slip, and a moment."""
        return any(self.parameters[6:])

    def under(self, load: float) -> CreepLaw:
        """Law at a wheel load N [N], with the limit μN.

        A law whose limit does not depend on the load is returned as it is.
        """
        if not self.by_load:
            return self
        along, across, friction, *others = self.parameters
        return CreepLaw(self.kind, (along, across, friction * max(load, 0.0), *others))

    def stiffness(self, size: int) -> Array:
        """Matrix C (k, k) of the linear forces, over the first k = ``size`` components of slip."""
        along, across, *_, coupled, turning = self.parameters
        C = np.diag([along, across, turning])
        C[1, 2], C[2, 1] = coupled, -coupled
        return C[:size, :size]

    def force(self, slip: Array, travel: float) -> Array:
        """Force (k,) [N] against the components of slip (k,) [m/s], the first along, at a rolling speed [m/s].

        A third component is a moment [N m] against spin [rad/s].
        """
        speed = max(abs(travel), self.parameters[5])
        pushed = self.stiffness(slip.size) @ slip
        if self.parameters[2] == 0.0:
            return np.zeros_like(pushed)
        ratio, _ = self.ratio(float(np.linalg.norm(pushed[:2])) / (speed * self.parameters[2]))
        force: Array = -pushed * ratio / speed
        return force

    def slopes(self, slip: Array, travel: float) -> Array:
        """Derivatives (k, k + 1) of the force (k,) with respect to the k components of slip, then the rolling speed."""
        _, _, limit, _, _, least, *_ = self.parameters
        stiffness, speed = self.stiffness(slip.size), max(abs(travel), least)
        pushed = stiffness @ slip
        size = float(np.linalg.norm(pushed[:2]))
        if limit == 0.0:
            return np.zeros((slip.size, slip.size + 1))
        x = size / (speed * limit)
        ratio, slope = self.ratio(x)
        by_slip = -stiffness * ratio / speed
        if size > 0.0:
            by_slip = by_slip - np.outer(pushed, pushed[:2] @ stiffness[:2]) * slope / (size * speed**2 * limit)
        by_speed = (
            pushed * (ratio + slope * x) / speed**2 * (math.copysign(1.0, travel) if abs(travel) > least else 0.0)
        )
        return np.column_stack([by_slip, by_speed])

    def ratio(self, x: float) -> tuple[float, float]:
        """Saturation q(x) of this law, and its derivative with respect to x."""
        if self.kind == "hyperbolic":
            return 1.0 / (1.0 + x), -1.0 / (1.0 + x) ** 2
        if self.kind == "cubic":
            return (1.0 - x / 3.0 + x * x / 27.0, 2.0 * x / 27.0 - 1.0 / 3.0) if x < 3.0 else (1.0 / x, -1.0 / x**2)
        _, _, _, shape, curvature, *_ = self.parameters
        return magic_ratio(x, shape, curvature)


def magic_ratio(x: float, shape: float, curvature: float) -> tuple[float, float]:
    """Saturation q(x) of the Magic Formula, and its derivative with respect to x.

    It is sin(C atan(Bx − E(Bx − atan Bx)))/x with B C = 1, C = ``shape`` and E = ``curvature``.
    """
    if x < NEAR:
        bend = (curvature + 1.0) / (3.0 * shape**2) + 1.0 / 6.0
        return 1.0 - bend * x * x, -2.0 * bend * x
    y = x / shape
    u = (1.0 - curvature) * y + curvature * math.atan(y)
    angle = shape * math.atan(u)
    ratio = math.sin(angle) / x
    steep = math.cos(angle) / (1.0 + u * u) * (1.0 - curvature + curvature / (1.0 + y * y))
    return ratio, (steep - ratio) / x


def _checked_parameters(
    longitudinal: float, lateral: float | None, bounds: tuple[float | None, float | None], least_speed: float
) -> tuple[float, ...]:
    """Parameters c₁, c₂, μN or μ, and the least speed of a creep law, after their checks.

    ``bounds`` are μN and μ, of which one may be given; the third parameter is infinite without both.
    """
    limit, friction = bounds
    along = check.not_negative("longitudinal", longitudinal)
    across = along if lateral is None else check.not_negative("lateral", lateral)
    if limit is not None and friction is not None:
        raise ValueError(f"give limit=μN or friction=μ, not both: got limit={limit} and friction={friction}")
    bound = math.inf if limit is None else check.positive("limit", limit)
    bound = bound if friction is None else check.positive("friction", friction, "")
    return along, across, bound, check.positive("least_speed", least_speed)


@quantities(longitudinal="N", lateral="N", limit="N", lateral_spin="N*m", spin="N*m^2", least_speed="m/s")
@checked
def creep(
    *,
    longitudinal: float,
    lateral: float | None = None,
    limit: float | None = None,
    friction: float | None = None,
    lateral_spin: float = 0.0,
    spin: float = 0.0,
    saturation: Literal["cubic", "hyperbolic"] = "cubic",
    least_speed: float = 1e-3,
) -> CreepLaw:
    """Linear creep of a rolling wheel (Kalker), saturated by friction.

    With creepages ξ_i = s_i/V of a wheel that rolls with the speed V, and x = |(f₁ξ₁, f₂ξ₂)|/μN,

        F_i = −f_i ξ_i q(x),   q = 1 − x/3 + x²/27 up to x = 3, where the wheel slides with μN (cubic),
                               q = 1/(1 + x) (hyperbolic)

    The cubic law is that of Vermeulen and Johnson for wheels on rails, and that of the brush model of a tyre whose
    bristles have a stiffness c per length and a contact length 2a, f = 2ca². At rest and up to the least speed, V is
    replaced by this speed.

    With the spin creepage φ = ω_n/V, the turning about the normal, the linear forces and the moment are

        F₂ = −f₂ξ₂ − f₂₃φ,   M = f₂₃ξ₂ − f₃₃φ

    and all are reduced by the same q(x), x = |(f₁ξ₁, f₂ξ₂ + f₂₃φ)|/μN. The terms of f₂₃ do no work, whatever q is.

    Parameters
    ----------
    longitudinal : float
        f₁ [N], along the rolling direction: the force per unit creepage.
    lateral : float, optional
        f₂ [N], across it (for a tyre the cornering stiffness [N/rad]); f₁ by default.
    limit : float, optional
        μN [N], the friction of the wheel load; none by default: linear creep.
    friction : float, optional
        μ, in place of ``limit``: N is the force that holds the wheel over its ``ground=``.
    lateral_spin : float
        f₂₃ [N m], the lateral force per unit spin creepage, and the moment per unit lateral creepage.
    spin : float
        f₃₃ [N m²], the moment per unit spin creepage.
    saturation : {"cubic", "hyperbolic"}
        Kind of q.
    least_speed : float
        Least rolling speed V [m/s]; a smaller one resists slip at rest more, but is stiffer.

    Returns
    -------
    CreepLaw
        Law for ``friction=`` of :func:`flexph.joints.slipping_wheel` and :func:`flexph.joints.railway_wheel`.

    Notes
    -----
    J. J. Kalker, Three-Dimensional Elastic Bodies in Rolling Contact (1990), sec. 2.2; P. J. Vermeulen, K. L. Johnson,
    J. Appl. Mech. 31 (1964) 338; H. B. Pacejka, Tire and Vehicle Dynamics (3rd ed. 2012), sec. 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph.laws import creep
    >>> tyre = creep(longitudinal=8e4, lateral=5e4, limit=3e3)
    >>> tyre.force(np.array([0.0, 0.1]), 10.0).round(1)  # a slip angle of 0.01 rad
    array([  -0. , -472.7])
    """
    along, across, bound, least = _checked_parameters(longitudinal, lateral, (limit, friction), least_speed)
    check.choice("saturation", saturation, KINDS[:2])
    turning = check.not_negative("lateral_spin", lateral_spin), check.not_negative("spin", spin)
    return CreepLaw(saturation, (along, across, bound, 1.0, 0.0, least, *turning), friction is not None)


@quantities(longitudinal="N", lateral="N", limit="N", least_speed="m/s")
@checked
def magic_formula(
    *,
    longitudinal: float,
    lateral: float | None = None,
    limit: float | None = None,
    friction: float | None = None,
    shape: float = 1.3,
    curvature: float = 0.0,
    least_speed: float = 1e-3,
) -> CreepLaw:
    """Magic Formula of a tyre with given coefficients, for combined slip.

    With theoretical slips σ_i = s_i/V, stiffnesses c_i and x = |(c₁σ₁, c₂σ₂)|/D,

        F_i = −c_i σ_i m(x)/x,   m = sin(C atan(Bx − E(Bx − atan Bx))),   B = 1/C

    so that pure slip has the slope c_i and the peak D = μN, and combined slips share D. A shape C above 1 lets the
    force fall beyond its peak.

    Parameters
    ----------
    longitudinal : float
        c₁ = BCD along the rolling direction [N].
    lateral : float, optional
        c₂, the cornering stiffness [N/rad]; c₁ by default.
    limit : float, optional
        Peak D = μN [N].
    friction : float, optional
        μ, in place of ``limit``: N is the force that holds the wheel over its ``ground=``.
    shape : float
        C, above 0 and at most 2, so that no slip gains energy.
    curvature : float
        E, at most 1.
    least_speed : float
        Least rolling speed V [m/s].

    Returns
    -------
    CreepLaw
        Law for ``friction=`` of :func:`flexph.joints.slipping_wheel`.

    Notes
    -----
    H. B. Pacejka, Tire and Vehicle Dynamics (3rd ed. 2012), eq. (4.6), and sec. 4.3.1 on similarity.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph.laws import magic_formula
    >>> tyre = magic_formula(longitudinal=8e4, lateral=5e4, limit=3e3, shape=1.3)
    >>> tyre.force(np.array([0.0, 5.0]), 10.0).round(1)  # far beyond the peak
    array([   -0. , -2891.3])
    """
    if limit is None and friction is None:
        raise ValueError("a magic_formula needs its peak: limit=μN [N], or friction=μ")
    along, across, bound, least = _checked_parameters(longitudinal, lateral, (limit, friction), least_speed)
    if not 0.0 < check.number("shape", shape) <= 2.0:
        raise ValueError(f"shape must be above 0 and at most 2, got {shape}")
    if check.number("curvature", curvature) > 1.0:
        raise ValueError(f"curvature must be at most 1, got {curvature}")
    parameters = along, across, bound, float(shape), float(curvature), least, 0.0, 0.0
    return CreepLaw("magic", parameters, friction is not None)
