"""Data of a step: prescribed values, mean velocities, trial states, and factored Jacobians."""

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
    """Independent combinations of redundant constraints: λ = spread μ and, for such λ, μ = gather λ."""

    spread: Any  # (g, r)
    gather: Any  # (r, g)


class Schedule(NamedTuple):
    """Prescribed values of a step: coefficients of terms, row offsets, and mean inputs.

    ``moved``: change of the free lengths and angles of spring-dampers. With redundant constraints, the multipliers of
    the step are those of their independent combinations. ``decay``: matrices of the numerical dissipation; ``stuck``:
    relations replaced by their tangent at rest within an iteration; ``push``: forces of rigid contacts, normal (c,) and
    tangential (t, c); ``rub`` (t, f): dry friction in joints.
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
        """Multipliers of all constraints from those of the independent combinations."""
        return lam if self.independent is None else self.independent.spread @ lam

    def combined(self, rows: Any) -> Any:
        """Rows (values or gradients) of the independent combinations from those of all constraints."""
        return rows if self.independent is None else self.independent.spread.T @ rows


class Means(NamedTuple):
    """The unknowns: mean velocities and multipliers of a step."""

    v: Array
    omega: Array
    du: Array
    lam: Array


class Trial(NamedTuple):
    """A trial end of a step, with intermediate values of the residual for the Jacobian and for the energy balance."""

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
    rolled: Array  # (g,), part of squares, nonholonomic rows and curves in all constraints
    lam: Array  # multipliers of all constraints
    gain: Array  # of the terms of constraints on velocities
    touch: Touch | None = None  # contacts
    slid: Slid | None = None  # friction against slips
    slipped: Array | None = None  # (t, f), slips of bearings
    on_curves: tuple[OnCurve, ...] = ()
    spin: Array | None = None  # ω̄ by which the bodies turn, if it is not the mean of the ends


class Decay(NamedTuple):
    """Matrices B (w, w) and ½A (m, m) of the decaying scheme (see :mod:`flexph.kernels.decay`)."""

    mobility: Array
    softening: Array


Solve = Callable[[Means], Means]


class Step(NamedTuple):
    """A step to be solved: start state, derived quantities, step size [s], and prescribed values."""

    start: Configuration
    known: Derived
    h: float
    schedule: Schedule


class SingularStep(ArithmeticError):
    """Error for a singular Jacobian of a step, by redundant constraints or a body without inertia."""


class Point(NamedTuple):
    """Point of linearisation: a step and a trial end of it."""

    start: Configuration
    known: Derived
    h: float
    schedule: Schedule
    trial: Trial

    @property
    def spin(self) -> Array:
        """Mean spins ω̄ of the rotations over the step, (b, s)."""
        own = self.trial.spin
        return 0.5 * (self.start.omega + self.trial.end.omega) if own is None else own
