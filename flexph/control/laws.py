"""Dissipative laws, set-valued ones included, that close ports of linear controllers and hold exactly within a step.

A law relates the mean rate s of a step at a port and the force f against it, f s ≥ 0.

Without the law, the system responds to the force by ``s = free − slope f`` with slope ≥ 0. A law that does not fall
with the rate has exactly one point in common with this line, its intersection. With several laws, the *separate
solution* of a law is its intersection with the line that results if the forces of all other laws are constant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..laws.resistive_relations import Relation
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.memo import read_only
from ..numerics.step_failed import StepFailed
from ..systems.linear import LinearPHDAE
from .loops.tolerances import HOLDS, MET, SHORTEST, STEPS

ROOT_STEPS = 200
"""Iterations of the root search; bisection every other time reaches 1e-16 of the first bracket in 110."""
ROUND_OFF = 1e-16


class Law(Protocol):
    """Protocol of a law between rate and force that closes a port of a controller."""

    def intersection(self, free: float, slope: float, before: float) -> tuple[float, float]:
        """Mean rate and force that lie on the law and on the line rate = free − slope · force.

        ``before`` is the rate at the start of the step; states that store no energy do not contribute to it.
        """

    def stiffness(self, rate: float, force: float) -> float:
        """Derivative ∂f/∂s of the force with respect to the rate at a point of the law; infinite if it fixes s."""


@checked
@dataclass(frozen=True)
class DryFriction:
    """Coulomb's law without regularisation: f = T sign(s) in motion, −T ≤ f ≤ T at rest, without creep.

    For a step with the rate Ω₀ at its start and the mean rate s = (Ω₀ + Ω₁)/2, the value s = Ω₀/2, which stops the
    motion at the end of the step, is part of the law where it dissipates:

        f = T for s > Ω₀/2,   0 ≤ f ≤ T at Ω₀/2,   0 between,   −T ≤ f ≤ 0 at s = 0,   −T below,   for Ω₀ ≥ 0,

    and mirrored for Ω₀ < 0. The law never falls with s, so that a step has one solution with f s ≥ 0, and a body at
    rest stays at rest, Ω₁ = 0. The law f = T sign(s) alone would give Ω₁ = −Ω₀ in every step.

    Parameters
    ----------
    level : float
        T, the largest force or torque of friction [N or N m].

    Raises
    ------
    ValueError
        If the level is negative or not finite.
    """

    level: float

    def __post_init__(self) -> None:
        check.not_negative("level", self.level)

    def intersection(self, free: float, slope: float, before: float) -> tuple[float, float]:
        """Mean rate and force that lie on the law and on the line rate = free − slope · force.

        ``before`` is the rate at the start of the step.
        """
        if before < 0.0:
            rate, force = self.intersection(-free, slope, -before)
            return -rate, -force
        most, stop = slope * self.level, 0.5 * before
        if free > stop + most:
            return free - most, self.level
        if free >= stop:
            return stop, (free - stop) / slope if most > 0.0 else 0.0
        if free > 0.0:
            return free, 0.0
        if free >= -most:
            return 0.0, free / slope if most > 0.0 else 0.0
        return free + most, -self.level

    def stiffness(self, rate: float, force: float) -> float:
        """Derivative ∂f/∂s of the force with respect to the rate: infinite if s is fixed, 0 < |f| < T, else 0."""
        return math.inf if 0.0 < abs(force) < self.level else 0.0


@dataclass(frozen=True)
class Smooth:
    """Law f = ρ(s) of a resistive relation ρ between the rate s and the force f."""

    relation: Relation

    def intersection(self, free: float, slope: float, before: float) -> tuple[float, float]:
        """Mean rate and force that lie on the law and on the line rate = free − slope · force.

        If the relation falls there may be several such points; the result is one of them.
        """
        low, high = sorted((0.0, free))  # as s ρ(s) ≥ 0
        rate = 0.5 * free
        for _ in range(ROOT_STEPS):
            force = float(self.relation.force(rate))
            off = rate - free + slope * force
            low, high = (rate, high) if off < 0.0 else (low, rate)
            moved = rate - off / (1.0 + slope * max(float(self.relation.slope(rate)), 0.0))
            following = moved if low < moved < high else 0.5 * (low + high)
            if abs(following - rate) <= ROUND_OFF * abs(rate):
                break
            rate = following
        return rate, force

    def stiffness(self, rate: float, force: float) -> float:
        """Derivative ρ'(s) of the force with respect to the rate."""
        return float(self.relation.slope(rate))


@dataclass(frozen=True)
class Limit:
    """Law of a resistance above a limit of the rate: f = resistance · (|s| − limit) · sign(s), zero for |s| < limit."""

    limit: float
    resistance: float

    def intersection(self, free: float, slope: float, before: float) -> tuple[float, float]:
        """Mean rate and force that lie on the law and on the line rate = free − slope · force."""
        over = max(abs(free) - self.limit, 0.0) / (1.0 + slope * self.resistance)
        if over == 0.0:
            return free, 0.0
        return math.copysign(self.limit + over, free), math.copysign(self.resistance * over, free)

    def stiffness(self, rate: float, force: float) -> float:
        """Derivative ∂f/∂s of the force with respect to the rate: the resistance above the limit, zero below."""
        return self.resistance if force != 0.0 else 0.0


class Line(NamedTuple):
    """Linear response of a system in a step at the ports that m laws close: ``rates = free − slopes · forces``.

    ``before`` (m,) are the rates at the start of the step. ``off`` (m,) are the rates of a trial minus those of the
    separate solutions of the laws, times HOLDS for laws that prescribe the rate there. ``power`` (m,) is the
    dissipation of each law at its separate solution.
    """

    free: Array
    slopes: Array
    before: Array
    off: Array
    power: Array

    @classmethod
    def nothing(cls) -> Line:
        """Line of a system without laws, with empty arrays."""
        none = np.zeros(0)
        return cls(none, np.zeros((0, 0)), none, none, none)

    @classmethod
    def through(cls, laws: Sequence[Law], tried: tuple[Array, Array], left: Array, before: Array) -> Line:
        """Line through the rates and forces of a trial, ``tried``.

        ``left`` (m, 1 + m) are the rates of the trial, and the derivatives of the rates with respect to the forces,
        after elimination of all other unknowns. ``before`` (m,) are the rates at the start of the step.
        """
        (rates, forces), slopes = tried, -left[:, 1:]
        diagonal = np.maximum(np.diag(slopes), 0.0)
        points = zip(laws, rates + diagonal * forces, diagonal, before, strict=True)
        near = np.array([law.intersection(float(f), float(s), float(b)) for law, f, s, b in points])
        held = np.isinf([law.stiffness(*point) for law, point in zip(laws, near.tolist(), strict=True)])
        off = np.where(held, HOLDS, 1.0) * (rates - near[:, 0])
        return cls(left[:, 0] + slopes @ forces, slopes, before, off, near[:, 0] * near[:, 1])

    def forces_of(self, laws: Sequence[Law], guess: Array) -> Array:
        """Forces (m,) at which rates and forces lie on all laws and on this line; raises StepFailed if not found."""
        return meet_all(laws, self, guess)[1] if laws else guess


def meet_all(laws: Sequence[Law], line: Line, guess: Array) -> tuple[Array, Array]:
    """Rates and forces (m,) that lie on all laws and on the line; raises StepFailed if they are not found.

    Newton's method with a line search, with the tangent of each law at its separate solution. With gyroscopic slopes,
    such as those of current and spin of a motor, full steps would cycle.
    """
    forces, point = guess, _solve_separately(laws, line, guess)
    for _ in range(STEPS):
        off, terms = line.free - line.slopes @ point.forces - point.rates, np.abs(line.slopes) @ np.abs(point.forces)
        left = float(np.abs(off).max(initial=0.0))
        if left <= MET * float(np.max(np.abs(line.free) + terms)) or len(laws) == 1:
            return point.rates, point.forces
        step, share, before = _newton_step(laws, line, point) - forces, 1.0, point.apart
        while share > SHORTEST:
            point = _solve_separately(laws, line, forces + share * step)
            if point.apart < before:
                break
            share *= 0.5
        forces = forces + share * step
    raise StepFailed("the forces of friction and limits in controllers did not converge", STEPS, left)


class _Point(NamedTuple):
    """Rates and forces of the separate solutions of all laws.

    ``apart`` is the distance of these forces from those for which the laws were solved, weighted by √slope.
    """

    rates: Array
    forces: Array
    apart: float


def _solve_separately(laws: Sequence[Law], line: Line, forces: Array) -> _Point:
    """Separate solution of each law, with the given forces (m,) at the ports of all other laws."""
    slopes = np.maximum(np.diag(line.slopes), 0.0)
    free = line.free - line.slopes @ forces + slopes * forces
    lines = zip(laws, free.tolist(), slopes.tolist(), line.before.tolist(), strict=True)
    rates, alone = np.array([law.intersection(*values) for law, *values in lines]).T
    return _Point(rates, alone, float(np.linalg.norm(np.sqrt(slopes) * (forces - alone))))


def _newton_step(laws: Sequence[Law], line: Line, point: _Point) -> Array:
    """Forces (m,) at which the line intersects the tangents of all laws at ``point``.

    If the system is singular they are the forces of ``point``.
    """
    pairs = zip(laws, point.rates.tolist(), point.forces.tolist(), strict=True)
    stiff = np.array([law.stiffness(rate, force) for law, rate, force in pairs])
    held = np.isinf(stiff)
    soft = np.where(held, 0.0, stiff)
    # ds = 0 for vertical laws, df = ρ' ds for all others
    left = np.where(held[:, None], line.slopes, soft[:, None] * line.slopes + np.eye(held.size))
    off = line.free - line.slopes @ point.forces - point.rates
    try:
        return np.asarray(point.forces + np.linalg.solve(left, np.where(held, off, soft * off)))
    except np.linalg.LinAlgError:
        return point.forces


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Terminated:
    """Linear system whose last ports are closed by laws between the rate at a port and the force against it.

        E ẋ = (J − R) x + B u − B_f f,  s = B_fᵀ x,  f = ρ(s)

    with the rates s and the forces f of the closed ports. In the steps of :class:`flexph.control.Continuous` the laws
    hold for the means of a step, coupled with the mechanism at the other ports: dry friction is one implicit equation
    of the step and holds without creep.

    Parameters
    ----------
    system : LinearPHDAE
        System with all its ports; the closed ones are the last.
    laws : dict
        A :class:`flexph.laws.Relation` or a :class:`DryFriction` by port of one component.

    Raises
    ------
    ValueError
        If the system has no such port, the port is wider than one or not among the last, the value is no law, or dry
        friction acts at a state that stores no energy and so has no rate at the start of a step.

    Examples
    --------
    A sliding mass with a port for a rope:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.control import DryFriction, Terminated
    >>> ports = {"rope": slice(0, 1), "ground": slice(1, 2)}
    >>> mass = LinearPHDAE(E=[[2.0]], J=[[0.0]], R=[[0.0]], B=[[1.0, 1.0]], ports=ports)
    >>> list(Terminated(system=mass, laws={"ground": DryFriction(5.0)}).ports)
    ['rope']
    """

    system: LinearPHDAE
    laws: Mapping[str, Any]

    def __post_init__(self) -> None:
        ports, count = self.system.ports, len(self.laws)
        inputs = sum(part.stop - part.start for part in ports.values())
        for port, law in self.laws.items():
            part = check.lookup("port", port, ports, "the system")
            if part.stop - part.start != 1 or part.start < inputs - count:
                raise ValueError(f"laws are for ports of one component behind all others, got {port!r}")
            if not isinstance(law, Relation | DryFriction | Limit):
                raise ValueError(f"the law of {port!r} must be a Relation or a DryFriction, got {check.shown(law)}")
            column = dense(self.system.B)[:, part.start]
            if isinstance(law, DryFriction) and np.any(column[~dense(self.system.E).any(axis=1)]):
                raise ValueError(f"dry friction needs an inertia, got {port!r} at a state that stores no energy")
        object.__setattr__(self, "laws", read_only(self.laws))

    @property
    def ports(self) -> dict[str, slice]:
        """Slices of the inputs of the ports that no law closes, by name."""
        return {name: part for name, part in self.system.ports.items() if name not in self.laws}

    def linearised(self) -> LinearPHDAE:
        """Linear system for small motions about rest, with limits inactive and slopes of relations at rest as damping.

        Raises ValueError for dry friction, which sticks at rest and has no linear model.
        """
        system, R = self.system, self.system.R
        for port, law in self.laws.items():
            if isinstance(law, DryFriction) and law.level > 0.0:
                raise ValueError(f"dry friction at {port!r} sticks at rest and has no linear model: omit it")
            if isinstance(law, Relation):
                b = system.inputs(port)
                R = R + float(law.slope(0.0)) * (b @ b.T)
        columns = system.B.shape[1] - len(self.laws)
        return replace(system, R=R, B=system.B[:, :columns], ports=self.ports)

    @property
    def size(self) -> int:
        """Number of states."""
        return self.system.size

    @property
    def acting(self) -> tuple[Law, ...]:
        """Laws that close ports, in the order of their inputs."""
        order = sorted(self.laws, key=lambda port: self.system.ports[port].start)
        return tuple(Smooth(law) if isinstance(law, Relation) else law for law in (self.laws[port] for port in order))

    @property
    def closed(self) -> Array:
        """Columns of B closed by laws, (n, m)."""
        return np.asarray(dense(self.system.B)[:, self.system.B.shape[1] - len(self.laws) :])
