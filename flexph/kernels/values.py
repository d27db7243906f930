"""Values of a step: what time prescribes, means, trial states, and factored Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..numerics.arrays import Array
from .contacts.gaps import Touch
from .rates.on_curves import OnCurve
from .rates.slips import Slid
from .springs import Measured
from .state import Configuration, Derived


class Independent(NamedTuple):
    """Independent combinations of redundant constraints: λ = spread μ, and μ = gather λ of such a λ."""

    spread: Any  # (g, r)
    gather: Any  # (r, g)


class Schedule(NamedTuple):
    """Prescribed values of a step: term coefficients at both ends and their means, row offsets, mean inputs.

    ``moved`` is how far the free measures of the spring-dampers move.

    Where constraints are redundant, the multipliers of the step are those of their independent combinations; with
    ``decay`` the step takes energy away. ``stuck`` relations are taken by their tangent at rest, within an
    iteration. ``push`` are the forces of rigid contacts, normal (c,) and along their tangents (t, c), ``rub`` (t, f)
    those of dry friction in joints.
    """

    coefficient_0: Array
    coefficient_1: Array
    coefficient_mean: Array
    offset_0: Array
    offset_1: Array
    inputs: Array
    moved: Array
    independent: Independent | None = None
    decay: Decay | None = None
    stuck: Array | None = None
    push: tuple[Array, Array] | None = None
    rub: Array | None = None

    def multipliers(self, lam: Array) -> Array:
        """Multipliers of all constraints from those of the step."""
        return lam if self.independent is None else self.independent.spread @ lam

    def combined(self, rows: Any) -> Any:
        """Rows of all constraints (values or gradients) to those of the step."""
        return rows if self.independent is None else self.independent.spread.T @ rows


class Means(NamedTuple):
    """The unknowns: mean velocities and multipliers of a step."""

    v: Array
    omega: Array
    du: Array
    lam: Array


class Trial(NamedTuple):
    """Values on the way to a residual, for the Jacobian and for the ledger."""

    end: Configuration
    inverse: Array  # R̄⁻¹ (b, d, d)
    Pu: Array  # inertia products at u₁ and at the mean
    Pmean: Array
    Pdu: Array  # of u̇₁
    slope: Array  # slopes ū
    stress: Array  # σ̃
    arm: Array  # R₁x₁ of the nodes
    lever: Array
    vector: Array
    vector_mean: Array
    product: Array
    product_force: Array  # (p,), force on each product
    measured: Measured  # spring-dampers
    node_force: Array
    force: Array  # on bodies
    world_torque: Array
    torque: Array  # R̄⁻¹ of it, in body axes
    loads: Array  # external inputs in world axes
    gap: Array  # constraint residuals
    rolled: Array  # (g,), what squares, nonholonomic rows and curves add to those of all constraints
    lam: Array  # multipliers of all constraints
    gain: Array  # of the terms of constraints on velocities
    touch: Touch | None = None  # contacts
    slid: Slid | None = None  # friction against slips
    slipped: Array | None = None  # (t, f), slips of bearings
    on_curves: tuple[OnCurve, ...] = ()
    spin: Array | None = None  # ω̄ by which the bodies turn, where it is not the mean of the ends


class Decay(NamedTuple):
    """B (w, w) and ½A (m, m)."""

    mobility: Array
    softening: Array


Solve = Callable[[Means], Means]


class Step(NamedTuple):
    """A step to be solved: where it starts, what follows from that, its length [s], and what holds over it."""

    start: Configuration
    known: Derived
    h: float
    schedule: Schedule


class SingularStep(ArithmeticError):
    """The Jacobian of a step is singular: redundant constraints or a body without inertia."""


class Point(NamedTuple):
    """Where the Jacobian is taken: the step and a trial of it."""

    start: Configuration
    known: Derived
    h: float
    schedule: Schedule
    trial: Trial

    @property
    def spin(self) -> Array:
        """ω̄ by which the bodies turn, (b, s)."""
        own = self.trial.spin
        return 0.5 * (self.start.omega + self.trial.end.omega) if own is None else own
