"""Damping of compliant contact laws by the coefficient of restitution of a head-on impact."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import scipy

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..units.arguments import quantities

Formula = Literal["exact", "hunt_crossley", "lankarani_nikravesh", "herbert_mcwhannell", "flores"]
FORMULAS: dict[str, Callable[[float], float]] = {
    "hunt_crossley": lambda e: 1.5 * (1.0 - e),
    "lankarani_nikravesh": lambda e: 0.75 * (1.0 - e * e),
    "herbert_mcwhannell": lambda e: 6.0 * (1.0 - e) / ((2.0 * e - 1.0) ** 2 + 3.0),
    "flores": lambda e: 1.6 * (1.0 - e) / e,
}
"""Published approximations of c v."""
NEAR_ONE = 1e-4
"""1 − e below which c v is the first term of its series; the next one is 1e-4 of it."""


def _check_coefficient(restitution: float) -> float:
    e = check.number("restitution", restitution)
    if not 0.0 < e <= 1.0:
        raise ValueError(
            f"restitution must lie between 0 (exclusive) and 1, got {e}: with e = 0 no finite damping ends an impact "
            "at rest; use contacts.Rigid(restitution=0)"
        )
    return e


@quantities(speed="m/s")
@checked
def restitution_loss(restitution: float, speed: float, *, formula: Formula = "exact") -> float:
    """Loss c of :class:`Hertz` with which a head-on impact of a velocity has a coefficient of restitution e.

    By default c solves the relation of the law itself, whatever the masses,

        c v − ln(1 + c v) = −c e v − ln(1 − c e v)

    Published formulas approximate it: ``hunt_crossley`` c = 3(1 − e)/2v (K. H. Hunt, F. R. E. Crossley, J. Appl. Mech.
    42 (1975) 440), ``lankarani_nikravesh`` c = 3(1 − e²)/4v (H. M. Lankarani, P. E. Nikravesh, J. Mech. Des. 112 (1990)
    369), both for e near 1; ``herbert_mcwhannell`` c = 6(1 − e)/(((2e − 1)² + 3)v) (R. G. Herbert, D. C. McWhannell, J.
    Eng. Ind. 99 (1977) 236); ``flores`` c = 8(1 − e)/5ev (P. Flores et al., Multibody Syst. Dyn. 25 (2011) 357).

    Parameters
    ----------
    restitution : float
        e, above 0 and up to 1.
    speed : float
        Approach velocity v [m/s]. At other velocities e differs: with Hertz's law it falls with the velocity.
    formula : str
        ``"exact"`` or one of the published ones, for comparison with other programs.

    Returns
    -------
    float
        c [s/m].

    Raises
    ------
    ValueError
        For a restitution of 0 or less or above 1, and a speed that is not positive.

    Examples
    --------
    >>> from flexph.contacts import restitution_loss
    >>> round(restitution_loss(0.74843493, 1.0), 6), round(restitution_loss(0.7, 1.0, formula="hunt_crossley"), 6)
    (0.5, 0.45)
    """
    e, v = _check_coefficient(restitution), check.positive("speed", speed, "m/s")
    if formula != "exact":
        return FORMULAS[formula](e) / v
    if 1.0 - e < NEAR_ONE:
        return FORMULAS["hunt_crossley"](e) / v

    def defect(t: float) -> float:
        """Residual of the exact relation between c v and e, as a function of t = −ln(1 − c e v)."""
        w = -math.expm1(-t)
        return w / e - math.log1p(w / e) + w - t

    least = 1e-3 * e * FORMULAS["hunt_crossley"](e)
    return -math.expm1(-float(scipy.optimize.brentq(defect, least, 2.0 + 1.0 / e, xtol=1e-14 * least, rtol=1e-14))) / (
        e * v
    )


@quantities(stiffness="N/m", mass="kg")
@checked
def restitution_damping(restitution: float, stiffness: float, mass: float) -> float:
    """Damping d of :class:`KelvinVoigt` with which head-on impacts of a mass have a coefficient of restitution e.

    With the damping ratio ζ = d/2√(km) the contact ends where its force vanishes, not where the depth does,

        e = exp(−2 arccos(ζ) ζ/√(1 − ζ²)),  for ζ > 1  exp(−2 arcosh(ζ) ζ/√(ζ² − 1))

    at every velocity (T. Schwager, T. Pöschel, Granular Matter 9 (2007) 465).

    Parameters
    ----------
    restitution : float
        e, above 0 and up to 1.
    stiffness : float
        k [N/m].
    mass : float
        Mass of the body, of two free bodies m₁m₂/(m₁ + m₂) [kg].

    Returns
    -------
    float
        d [N s/m].

    Raises
    ------
    ValueError
        For a restitution of 0 or less or above 1, and a stiffness or mass that is not positive.

    Examples
    --------
    >>> import math
    >>> from flexph.contacts import restitution_damping
    >>> round(restitution_damping(math.exp(-2.0), 1e4, 1.0), 6)  # critical damping, 2√(km)
    200.0
    """
    e = _check_coefficient(restitution)
    k, m = check.positive("stiffness", stiffness, "N/m"), check.positive("mass", mass, "kg")
    ratio = 0.0
    if e < 1.0:
        ratio = scipy.optimize.brentq(lambda z: _exponent(z) + math.log(e), 0.0, 1.0 + 1.0 / e, rtol=1e-14)
    return 2.0 * float(ratio) * math.sqrt(k * m)


def _exponent(ratio: float) -> float:
    """Exponent −ln e at a damping ratio, with the coefficient of restitution e of :func:`restitution_damping`."""
    if abs(ratio - 1.0) < 1e-6:
        return 2.0 + 4.0 / 3.0 * (ratio - 1.0)
    root = math.sqrt(abs(1.0 - ratio * ratio))
    angle = math.acos(ratio) if ratio < 1.0 else math.acosh(ratio)
    return 2.0 * angle * ratio / root
