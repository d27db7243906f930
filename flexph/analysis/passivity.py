"""Passivity of a system: J skew, R ⪰ 0 and H bounded from below ([survey] sec. 2.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..numerics import checks as check
from ..numerics.arrays import Array, dense
from ..numerics.subspaces import null_space
from ..systems.nonlinear import Constant
from .view import SystemView

QUADRATIC = 1e-6
"""Relative change of the Hessian of H between states up to which H counts as quadratic, and the eigenvalue of the
scaled Hessian up to which H is flat in a direction."""
FLAT = 1e-9
"""Magnitude of a negative eigenvalue of R, relative to the largest one, up to which it is round-off."""


@dataclass(frozen=True)
class PassivityReport:
    """Passivity certificate: ``dH/dt = yᵀu − zᵀRz ≤ yᵀu``, and H bounded from below.

    Attributes
    ----------
    skew_defect : float
        Largest ‖J + Jᵀ‖/‖J‖ at the probes.
    lowest_resistance : float
        Ratio of the lowest eigenvalue of R to the largest, the least at the probes.
    dissipative : bool
        True if R is not zero.
    bounded : {"yes", "no", "undecided"}
        Whether H is bounded from below on all states; decided for quadratic H and linear constraints.
    bounded_on_constraints : {"yes", "no", "undecided"}
        Whether H is bounded from below on the states that satisfy the algebraic equations.
    reason : str
        Reason for the decision.
    """

    skew_defect: float
    lowest_resistance: float
    dissipative: bool
    bounded: Literal["yes", "no", "undecided"]
    bounded_on_constraints: Literal["yes", "no", "undecided"]
    reason: str

    @property
    def passive(self) -> Literal["yes", "no", "undecided"]:
        """Passivity: "no" if J is not skew or R is not ⪰ 0, otherwise the answer of ``bounded_on_constraints``."""
        if self.skew_defect > check.ROUND_OFF or self.lowest_resistance < -FLAT:
            return "no"
        return self.bounded_on_constraints

    def __str__(self) -> str:
        loss = "dissipates" if self.dissipative else "no dissipation"
        lines = [f"passive: {self.passive}"]
        lines.append(f"J skew to {self.skew_defect:.0e}; R {loss}, lowest eigenvalue over largest "
                     f"{self.lowest_resistance:.0e}")  # fmt: skip
        lines.append(f"H bounded from below: {self.bounded}; where the algebraic equations hold: "
                     f"{self.bounded_on_constraints} ({self.reason})")  # fmt: skip
        return "\n".join(lines)


def passivity_report(view: SystemView, constraints: Array) -> PassivityReport:
    """Passivity of a system at the probes of a view, see :class:`PassivityReport`.

    ``constraints`` (k, r) are the derivatives of the algebraic equations with respect to the differential states.
    """
    system, skew, lowest, loss = view.system, 0.0, 0.0, False
    constant = isinstance(system.J, Constant) and isinstance(system.R, Constant)
    for x in view.probes[:1] if constant else view.probes:
        J, R = dense(system.J(x)), dense(system.R(x))
        skew = max(skew, check.norm(J + J.T) / max(check.norm(J), 1e-300))
        values = np.linalg.eigvalsh(0.5 * (R + R.T))
        loss = loss or bool(np.abs(values).max(initial=0.0) > 0.0)
        lowest = min(lowest, float(values.min(initial=0.0) / max(np.abs(values).max(initial=0.0), 1e-300)))
    bounded, inside, reason = _bounds(view, constraints)
    return PassivityReport(skew, lowest, loss, bounded, inside, reason)


Decision = tuple[Literal["yes", "no", "undecided"], Literal["yes", "no", "undecided"], str]


def _bounds(view: SystemView, constraints: Array) -> Decision:
    hessians = [view.hessian(x) for x in view.probes]
    size = np.abs(hessians[0]).max(initial=0.0)
    if any(np.abs(h - hessians[0]).max(initial=0.0) > QUADRATIC * max(size, 1e-300) for h in hessians[1:]):
        lowest = min(float(view.system.H(x)) for x in view.probes)
        return "undecided", "undecided", f"H is not quadratic; lowest value at the probes {lowest:.6g}"
    everywhere = _quadratic_bound(view, hessians[0], np.eye(len(hessians[0])))
    words = "H is quadratic" + ("" if everywhere else ", indefinite or with a slope along a flat direction")
    if everywhere:
        return "yes", "yes", words + " and positive semi-definite up to its slope"
    if not view.is_constant or not len(constraints):
        return "no", "no" if not len(constraints) else "undecided", words
    inside = _quadratic_bound(view, hessians[0], null_space(constraints))
    return "no", "yes" if inside else "no", words + "; the constraints are linear"


def _quadratic_bound(view: SystemView, hessian: Array, directions: Array) -> bool:
    """True if the quadratic H with this Hessian is bounded from below on the subspace spanned by ``directions``.

    The linear part of H follows from its gradient at the state.
    """
    inner = directions.T @ hessian @ directions
    gradient, x = view.gradient(view.x), view.V1.T @ view.x
    b = directions.T @ (gradient - hessian @ x)
    terms = np.abs(directions.T) @ (np.abs(gradient) + np.abs(hessian) @ np.abs(x))
    diagonal = np.abs(np.diag(inner))
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(scale[:, None] * inner * scale)
    if values.min(initial=0.0) < -QUADRATIC:
        return False
    flat = vectors[:, values <= QUADRATIC]
    slope, sizes = np.abs(flat.T @ (scale * b)).max(initial=0.0), np.abs(scale * terms)
    return bool(slope <= QUADRATIC * sizes.max(initial=0.0))
