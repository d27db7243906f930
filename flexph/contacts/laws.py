"""Contact laws: compliant ones with a potential of the gap, and rigid ones with restitution and friction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from ..laws.resistive_relations import Factor, check_factor
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..units.arguments import quantities
from .restitution import restitution_damping, restitution_loss


class ContactLaw:
    """Base class of contact laws."""

    remedy: ClassVar[str] = "use contacts.Hertz(...), KelvinVoigt(...) or Rigid(...)"


class Compliant(ContactLaw):
    """Base class of compliant laws, with a force that depends on the penetration depth."""

    stiffness: float
    friction: float
    tangential_stiffness: float | None
    slip_velocity: float | None
    friction_factor: Factor | None

    @property
    def holding(self) -> float:
        """Stiffness of the anchor of a sticking contact [N/m]; 0 without an anchor."""
        if not self.friction or self.slip_velocity is not None:
            return 0.0
        return self._own_holding if self.tangential_stiffness is None else self.tangential_stiffness

    @property
    def _own_holding(self) -> float:
        return self.stiffness


def _check_compliant(law: Compliant) -> None:
    check.positive("stiffness", law.stiffness)
    check.not_negative("friction", law.friction, "")
    for name, unit in (("tangential_stiffness", "N/m"), ("slip_velocity", "m/s")):
        if getattr(law, name) is not None:
            check.positive(name, getattr(law, name), unit)
    if law.tangential_stiffness is not None and law.slip_velocity is not None:
        raise ValueError("tangential_stiffness and slip_velocity are two models of friction: give only one of them")
    check_factor("friction_factor", law.friction_factor)
    if law.friction_factor is not None and law.friction == 0.0:
        raise ValueError("friction_factor is a factor of friction=μ, which must be positive, got 0")


def _set_damping(law: Compliant, name: str, given: tuple[str, str], formula: Callable[[float, float], float]) -> None:
    """Set the damping ``name`` of a law from its coefficient of restitution and another argument, if they are given.

    ``given`` are the names of these arguments, ``formula`` maps their values to the damping. Raises ValueError if only
    one of them is given, or another damping, too.
    """
    first, second = (getattr(law, argument) for argument in given)
    if first is None and second is None:
        return
    if first is None or second is None:
        raise ValueError(
            f"{given[0]} and {given[1]} must both be given, got {given[0]}={first} and {given[1]}={second}"
        )
    value = formula(first, second)
    if getattr(law, name) not in (0.0, value):
        raise ValueError(f"give either {name} or {given[0]} and {given[1]}, got {name}={getattr(law, name)} too")
    object.__setattr__(law, name, value)


@quantities(loss="s/m", slip_velocity="m/s", speed="m/s", tangential_stiffness="N/m")
@checked
@dataclass(frozen=True)
class Hertz(Compliant):
    """Hertzian contact of round bodies with damping (Hunt and Crossley); potential V = ⅖ K δ^{5/2} of the depth δ.

        F = K δ^{3/2} (1 + c δ̇),  F ≥ 0

    Over a step the force is the exact discrete gradient −ΔV/Δg, so that the energy balance holds for any step size; the
    dissipation is never negative. The coefficient of restitution e of a head-on impact with velocity v follows from cv
    − ln(1 + cv) = −cev − ln(1 − cev): e = 0.748 for cv = 0.5 (K. H. Hunt, F. R. E. Crossley, J. Appl. Mech. 42 (1975)
    440).

    Parameters
    ----------
    stiffness : float
        K [N/m^{3/2}]; for two spheres 4/3 E* √R, where 1/R is the sum of their curvatures and 1/E* that of (1 − ν²)/E.
    loss : float
        c [s/m].
    friction : float
        Coefficient μ of Coulomb friction. A sticking contact is held by an anchor, a spring that slips with the contact
        when its force would exceed μF. Its energy belongs to that of the contact; slip only dissipates energy.
    tangential_stiffness : float, optional
        Stiffness of the anchor [N/m]; by default the stiffness of the contact at 1 N, 3/2 K^⅔ (1 N)^⅓.
    slip_velocity : float, optional
        Use a smooth law −μ F s/√(s² + slip_velocity²) of the slip s [m/s] in place of the anchor; bodies that should
        stick then creep with less than this velocity.
    friction_factor : callable or "input", optional
        Factor of μ, at least 0, as a function of time [s]. A step uses the mean of its values at both ends. With
        ``"input"`` the contact is an external port of one component u ≥ −1 under its name, which a
        :class:`flexph.control.Sampled` or ``inputs`` set, and the factor is 1 + u.
    restitution, speed : float, optional
        Set the loss c so that a head-on impact with this ``speed`` [m/s] has this coefficient of restitution, see
        :func:`restitution_loss`.

    Raises
    ------
    ValueError
        For a stiffness that is not positive, a negative loss or friction, both models of friction at once, a friction
        factor without friction, and a restitution without a speed or together with a loss.
    """

    stiffness: float
    _: KW_ONLY
    loss: float = 0.0
    friction: float = 0.0
    tangential_stiffness: float | None = None
    slip_velocity: float | None = None
    friction_factor: Factor | None = None
    restitution: float | None = None
    speed: float | None = None

    def __post_init__(self) -> None:
        _check_compliant(self)
        check.not_negative("loss", self.loss, "s/m")
        _set_damping(self, "loss", ("restitution", "speed"), restitution_loss)

    @property
    def _own_holding(self) -> float:
        return float(1.5 * self.stiffness ** (2.0 / 3.0))


@quantities(
    damping=("N*s/m", "N*m*s/rad"),
    mass="kg",
    slip_velocity="m/s",
    stiffness=("N/m", "N*m/rad"),
    tangential_stiffness="N/m",
)
@checked
@dataclass(frozen=True)
class KelvinVoigt(Compliant):
    """Spring and damper in contact: force F = k δ + d δ̇ ≥ 0 at the depth δ, with potential V = ½kδ².

    Parameters
    ----------
    stiffness : float
        k [N/m]; for stops of angles [N m/rad].
    damping : float
        d [N s/m].
    friction, tangential_stiffness, slip_velocity, friction_factor
        See :class:`Hertz`; the default stiffness of the anchor is that of the contact.
    restitution, mass : float, optional
        Set the damping d so that head-on impacts of a mass [kg] have this coefficient of restitution, see
        :func:`restitution_damping`.

    Raises
    ------
    ValueError
        For a stiffness that is not positive, a negative damping or friction, both models of friction at once, a
        friction factor without friction, and a restitution without a mass or together with a damping.
    """

    stiffness: float
    _: KW_ONLY
    damping: float = 0.0
    friction: float = 0.0
    tangential_stiffness: float | None = None
    slip_velocity: float | None = None
    friction_factor: Factor | None = None
    restitution: float | None = None
    mass: float | None = None

    def __post_init__(self) -> None:
        _check_compliant(self)
        check.not_negative("damping", self.damping, "N s/m")
        _set_damping(self, "damping", ("restitution", "mass"), lambda e, m: restitution_damping(e, self.stiffness, m))


@checked
@dataclass(frozen=True)
class Rigid(ContactLaw):
    """A unilateral constraint: 0 ≤ g ⟂ Λ ≥ 0, with Newton's restitution and Coulomb friction as a set-valued law.

        γ⁺ = −e γ⁻ at an impact,  |Λ_T| ≤ μ Λ_N,  Λ_T = −μ Λ_N s/|s| in slip

    g is the gap, γ its rate before (⁻) and after (⁺) the impact, s the slip; the impulse Λ has the normal part Λ_N and
    the tangential part Λ_T. Friction and restitution together can create energy. Then only that fraction of the impulse
    is applied that creates none.

    Parameters
    ----------
    restitution : float
        e from 0 (plastic) to 1.
    friction : float
        μ.

    Raises
    ------
    ValueError
        For a restitution outside of 0 to 1.
    """

    _: KW_ONLY
    restitution: float = 0.0
    friction: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= check.number("restitution", self.restitution) <= 1.0:
            raise ValueError(f"restitution must lie between 0 and 1, got {self.restitution}")
        check.not_negative("friction", self.friction, "")
