"""Laws with hysteresis: forces that depend on the path of an extension, with a stored energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import PickledByCall
from ..units.arguments import quantities


@dataclass(frozen=True)
class HysteresisLaw(PickledByCall):
    """Force ``F = k z`` of an inner extension z that follows the slip of a spring or joint; stored energy ½ k z².

    Laws with hysteresis are made by :func:`bouc_wen` and :func:`bristle`, which adds viscous terms to F. A spring with
    such a law has z as its state, zero at the start. Over a step with the slip Δs, an increment of the extension s, z
    follows from the solution of its differential equation (see :func:`bouc_wen` for exponents other than 1), and F is
    the mean of k z along the slip: F Δs = Δ(½ k z²) + loss, loss ≥ 0.

    Parameters
    ----------
    kind : {"bouc_wen", "bristle"}
        Equation of z.
    parameters : tuple of float
        k and the further parameters of the kind.
    name : str
        Name of the function that made the law, with its arguments, for messages.
    """

    kind: Literal["bouc_wen", "bristle"]
    parameters: tuple[float, ...]
    name: str

    @property
    def stiffness(self) -> float:
        """Stiffness k [N/m or N m/rad]."""
        return self.parameters[0]

    def along(self, slips: Array, start: float = 0.0) -> Array:
        """Inner extensions z (n + 1,) during a slow motion with the successive slips (n,), for plots and comparisons.

        ``start`` is z before the first slip. The equation of z is integrated numerically here, whereas steps of runs
        use its solution.
        """
        z = [start]
        for slip in check.array("slips", np.atleast_1d(slips), (None,)).tolist():
            sign = 1.0 if slip >= 0.0 else -1.0
            rate = lambda _, y, sign=sign: sign * self._slope(float(y[0]), sign)  # noqa: E731
            path = scipy.integrate.solve_ivp(rate, (0.0, abs(slip)), [z[-1]], rtol=1e-10, atol=1e-12 * self._size)
            z.append(float(path.y[0, -1]))
        return np.array(z)

    def _slope(self, z: float, sign: float) -> float:
        """Derivative dz/ds of the inner extension with respect to the slip, at z, during a slow slip in a direction.

        ``sign`` is 1 or −1, the direction.
        """
        if self.kind == "bristle":
            return 1.0 - sign * self.stiffness * z / self.parameters[3]
        _, beta, gamma, exponent = self.parameters
        return 1.0 - (beta * np.sign(z * sign) + gamma) * abs(z) ** exponent

    @property
    def _size(self) -> float:
        """Magnitude that the inner extension z approaches during a long slow slip in one direction."""
        if self.kind == "bristle":
            return self.parameters[3] / self.stiffness
        _, beta, gamma, exponent = self.parameters
        return float((beta + gamma) ** (-1.0 / exponent))

    def __str__(self) -> str:
        return self.name


@quantities(stiffness=("N/m", "N*m/rad"), yield_force=("N", "N*m"))
@checked
def bouc_wen(stiffness: float, *, yield_force: float, exponent: float = 1.0, shape: float = 0.5) -> HysteresisLaw:
    """Make the law of Bouc and Wen: ``dz/ds = 1 − (β sgn(z ds) + γ)|z|ⁿ``, F = k z.

    With ``β + γ = (k/F_y)ⁿ`` the force tends to F_y. A step uses the exact solution of this equation for n = 1; for
    other exponents the equation is integrated by the midpoint rule in eight parts, with the same energy balance.
    Hardening needs a plain spring in parallel.

    Parameters
    ----------
    stiffness : float
        Initial stiffness k > 0 [N/m or N m/rad].
    yield_force : float
        F_y > 0 [N or N m].
    exponent : float
        n ≥ 1: the larger, the sharper the change from elastic to yielding.
    shape : float
        β/(β + γ) ≥ ½: with ½ it unloads with the stiffness k, with larger values more softly.

    Returns
    -------
    HysteresisLaw
        For ``law=`` of springs.

    Raises
    ------
    ValueError
        For a shape below ½, with which it would generate energy.
    """
    k, force = check.positive("stiffness", stiffness), check.positive("yield_force", yield_force)
    n, share = check.positive("exponent", exponent), check.number("shape", shape)
    if n < 1.0:
        raise ValueError(f"exponent must be at least 1, got {n}")
    if share < 0.5:
        raise ValueError(f"shape must be at least 0.5, else the law generates energy, got {share}")
    both = (k / force) ** n
    name = f"bouc_wen({k:.9g}, yield_force={force:.9g}, exponent={n:.9g}, shape={share:.9g})"
    return HysteresisLaw("bouc_wen", (k, share * both, (1.0 - share) * both, n), name)


@quantities(
    damping=("N*s/m", "N*m*s/rad"),
    force=("N", "N*m"),
    static=("N", "N*m"),
    stiffness=("N/m", "N*m/rad"),
    stribeck=("m/s", "rad/s"),
    viscous=("N*s/m", "N*m*s/rad"),
)
@checked
def bristle(
    force: float,
    *,
    stiffness: float,
    damping: float = 0.0,
    static: float | None = None,
    stribeck: float | None = None,
    viscous: float = 0.0,
) -> HysteresisLaw:
    """Make the bristle law of friction (LuGre): ``ż = v − σ₀|v| z/g(v)``, ``F = σ₀z + σ₁ż + σ₂v``.

    ``g = F_c + (F_s − F_c) e^{−(v/v_s)²}``. A joint with this law sticks elastically and slips at the force g. The
    bristle damping is limited to 4g/|v|, above which the law would not be passive.

    Parameters
    ----------
    force : float
        F_c > 0, the friction at high speed [N or N m].
    stiffness : float
        σ₀ > 0 of the bristles [N/m or N m/rad].
    damping : float
        σ₁ ≥ 0 of the bristles [N s/m or N m s/rad].
    static : float, optional
        F_s near rest [N or N m], F_c by default.
    stribeck : float, optional
        v_s > 0 [m/s or rad/s]; needed where F_s differs from F_c.
    viscous : float
        σ₂ ≥ 0 [N s/m or N m s/rad].

    Returns
    -------
    HysteresisLaw
        For ``law=`` of springs; a torsion spring with it is the friction of a hinge.

    Raises
    ------
    ValueError
        For a force, a stiffness or a speed that is not positive, and for ``static`` without ``stribeck``.

    Notes
    -----
    C. Canudas de Wit, H. Olsson, K. J. Åström, P. Lischinsky, A new model for control of systems with friction, IEEE
    Trans. Automat. Contr. 40 (1995) 419-425.
    """
    sliding, k = check.positive("force", force), check.positive("stiffness", stiffness)
    at_rest = sliding if static is None else check.positive("static", static)
    if at_rest != sliding and stribeck is None:
        raise ValueError("stribeck is needed where static differs from force")
    falling = 1.0 if stribeck is None else check.positive("stribeck", stribeck)
    rest = check.not_negative("damping", damping), check.not_negative("viscous", viscous)
    arguments = {"damping": rest[0], "static": at_rest, "stribeck": falling, "viscous": rest[1]}
    others = ", ".join(f"{word}={value:.9g}" for word, value in arguments.items())
    name = f"bristle({sliding:.9g}, stiffness={k:.9g}, {others})"
    return HysteresisLaw("bristle", (k, rest[0], rest[1], at_rest, sliding, falling), name)
