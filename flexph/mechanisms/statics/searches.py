"""Searches for an equilibrium: Newton's method, minimisation of the energy, and load steps.

At rest, the search is for a minimum of the energy. A steady rotation need not be one: above a critical speed a rotor is
stable by gyroscopic forces, and dampers to the ground have no potential in the rotating frame. There the first choice
is the equilibrium next to the pose, unless small motions about it grow; for linear forces one correction finds it, on
either side of a critical speed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...integration.loops.statics.values import Loads, RestConfiguration, has_static_loops
from ...kernels.continuous import mass_of
from ...kernels.state import Configuration, displacement_sizes
from ...numerics.arrays import Array
from ...numerics.corrections import IterationLimits, IterationResult
from ..model.constraints import constraint_gap, spring_forces
from ..model.model import extent
from ..model.range_of_validity import refuse_turned
from ..model.state import flat
from .balance import (
    Problem,
    coordinates,
    independent_rows,
    moved_by,
    newton_step,
    solve_saddle_point,
    stiffness_at,
    weight_scale,
)
from .balanced_state import Balance, balance_at
from .stability import has_growing_motion, is_minimum

if TYPE_CHECKING:
    from ...integration.loops.statics.at_rest import StaticLoops


SEARCH = IterationLimits(most=100, settled=1e-13, stagnated=1e-9)
"""Limits of corrections, relative to the size of the mechanism: they end at round-off of the positions, or, in
ill-conditioned problems, when they no longer decrease."""
STEP = IterationLimits(most=15, settled=1e-13, stagnated=1e-9, diverged=1e3)
"""Limits of the corrections in a load step."""
NEXT = IterationLimits(most=15, settled=1e-13, stagnated=1e-9, diverged=1e6, growth=0.5)
"""Limits of the corrections for the equilibrium next to a pose: each is at most half the one before."""
NEAR = 1e-6
"""Correction, relative to the size, above which its direction is tested; below, it is round-off."""
FAR = 10.0
"""Displacement, relative to the size, after which a rotating mechanism has no minimum of its energy: it flies apart."""
FAR_AWAY = 100.0
"""Displacement, relative to the size, after which a mechanism that nothing holds does not come to rest."""
UNHELD = 1e-9
"""Share of the work of the forces over a correction that is stored, up to which nothing holds the mechanism."""
AGAINST = 1e-3
"""Cosine between a step and the acceleration, in the metric of the mass, beyond which the step opposes it."""
SHORT = 0.05
"""First correction, relative to the size of the mechanism, where springs have elastic laws, and the largest one where
contacts touch at edges and faces."""
RAISES = 12
HALVINGS = 40
"""Largest number of halvings of a correction beyond which laws of springs have no values."""

Found = IterationResult[Configuration]


class LoadPath(NamedTuple):
    """Result of the search by load steps, and the share of the loads for which it found an equilibrium."""

    end: Found
    share: float


@dataclass
class CorrectionHistory:
    """History of the corrections of a search, which limits and damps the next correction.

    ``doublings`` is the number of successive corrections without stored energy (nothing holds the mechanism); each
    halves the damping. ``reach`` is the largest correction, relative to the size of the mechanism, that is allowed
    where contacts touch or springs have elastic laws. It is halved if a correction opposes the ``last`` one, as in a
    groove, where a body is pushed from side to side, and otherwise increased by half.
    """

    doublings: int = 0
    reach: float = SHORT
    last: Array | None = None

    def limited(self, correction: Array, sizes: Array, most: float) -> Array:
        """Scale a correction down to the present ``reach``, at most ``most``, after updating ``reach``.

        ``sizes`` (n_v,) are the units of displacements.
        """
        way = correction / sizes
        if self.last is not None:
            self.reach = min(most, 1.5 * self.reach if way @ self.last > 0.0 else 0.5 * self.reach)
        self.last = way
        size = float(np.abs(way).max(initial=0.0))
        return correction * min(1.0, min(self.reach, most) / size) if size > 0.0 else correction


@dataclass(frozen=True)
class Searches:
    """Methods that search for an equilibrium from a start configuration, and their order of preference."""

    given: Problem
    start: Configuration

    def in_order(self) -> list[Callable[[], Found]]:
        """Functions that search for an equilibrium, in order of preference.

        The first result that is in balance counts.
        """
        of_nodes = self.given.mechanism.rigid_motion is not None  # nodal bodies bend far: load steps from zero
        if self._turns:
            others = [self.along_loads, self.judged] if of_nodes else [self.judged, self.along_loads]
            return [self.steady, *others, lambda: self.next, self.newton]
        return [self.along_loads, self.judged] if of_nodes else [self.judged, self.along_loads, self.newton]

    @cached_property
    def next(self) -> Found:
        """Result of Newton's method from the start; it fails unless each correction is at most half of the last one."""
        history = CorrectionHistory()
        return NEXT.run(self.start, lambda c: self._moved(self.given, c, newton_step(self.given, c), history))

    def steady(self) -> Found:
        """Result of :attr:`next`, not accepted if small motions about it grow."""
        end = self.next
        return end._replace(settled=end.settled and not has_growing_motion(self.given, end.value))

    def judged(self) -> Found:
        """Search for a minimum of the energy by Newton steps that are damped, so that none opposes the acceleration.

        In a steady rotation, a search that moves far from the start has failed.
        """
        history = CorrectionHistory()

        def corrected(c: Configuration) -> tuple[Configuration, float]:
            end, defect = self._moved(self.given, c, self._damped_step(self.given, c, history, judged=True), history)
            away = self._turns and self._distance(end) > FAR
            return end, np.inf if away or self._is_lost(end, history) else defect

        return SEARCH.run(self.start, corrected)

    def newton(self) -> Found:
        """Search for an equilibrium of any kind, stable or not, by Newton corrections damped by the inertia."""
        return SEARCH.run(self.start, partial(self._corrected, self.given, CorrectionHistory()))

    def balance(self, c: Configuration) -> Balance:
        """Balance of a configuration with the multipliers that leave the least unbalanced force."""
        loops = self._loops
        balanced = None if loops is None else loops.balanced(c, self._loads(self.given))
        return balance_at(self.given, c) if balanced is None else Balance(*balanced)

    def along_loads(self) -> Found:
        """Configuration at the end of the load steps, settled if it is an equilibrium under all loads."""
        return self.followed.end

    @cached_property
    def followed(self) -> LoadPath:
        """Result of load steps from zero to all loads, and the share of the loads reached.

        The equilibria on the way are minima of the energy, except for nodal bodies and in steady rotations.
        """
        mechanism = self.given.mechanism
        of_minima = mechanism.rigid_motion is None and not self._turns

        def under(share: float, c: Configuration) -> Found:
            of, limits = self.given.under(share), STEP if share == 1.0 else replace(STEP, settled=NEAR)
            end = None if self._loops is None else self._by_loops(self._loops, of, limits, c)
            end = limits.run(c, partial(self._corrected, of, CorrectionHistory())) if end is None else end
            return end._replace(settled=end.settled and is_minimum(of, end.value)) if of_minima else end

        def refuse(share: float, c: Configuration) -> None:
            refuse_turned(mechanism, flat(mechanism, c), f"under {100.0 * share:.3g} % of the loads")

        return LoadPath(*follow_loads(self.start, under, refuse))

    @cached_property
    def _loops(self) -> StaticLoops | None:
        mechanism = self.given.mechanism
        if self._turns or not has_static_loops(mechanism):
            return None
        from ...integration.loops.statics.at_rest import (
            StaticLoops,
        )  # imported here, as loops load only where they are used

        return StaticLoops(mechanism, self.given.table)

    def _loads(self, of: Problem) -> Loads:
        return Loads(of.applied, of.share, of.time)

    def _by_loops(self, loops: StaticLoops, of: Problem, limits: IterationLimits, c: Configuration) -> Found | None:
        """Equilibrium by compiled corrections from a configuration.

        None if a correction is not unique, or if the law of a spring has no value after it.
        """
        loads = self._loads(of)

        def corrected(at: RestConfiguration) -> tuple[RestConfiguration, float]:
            after = loops.corrected(at, loads)
            if after is None or not self._has_forces(of, after[0].c):
                return at, np.nan
            return after[0], self._defect(after[1])

        end = limits.run(RestConfiguration(c, np.zeros(of.mechanism.layout.multipliers)), corrected)
        return None if np.isnan(end.defect) else IterationResult(end.value.c, end.defect, end.settled)

    @property
    def _turns(self) -> bool:
        return bool(np.any(self.given.steady.spin))

    @cached_property
    def size(self) -> float:
        """Extent of the mechanism at the start [m]."""
        return extent(self.given.mechanism, self.start.r, self.start.R)

    @cached_property
    def _most(self) -> float:
        """Largest correction, relative to the size, by which no body passes through an edge or a face.

        It is infinite for mechanisms without contacts at edges and faces.
        """
        a = self.given.mechanism.network.arrays
        distances = (*a.springs.distances, *(term for gap in a.closed for term in gap.distances))
        reaches = [0.5 * term.reach / self.size for term in distances if term.reach > 0.0]
        return min([SHORT, *reaches]) if distances or a.closed else np.inf

    @cached_property
    def _sizes(self) -> Array:
        return displacement_sizes(self.given.mechanism.network.arrays, self.size)

    def _moved(
        self, of: Problem, c: Configuration, correction: Array, history: CorrectionHistory
    ) -> tuple[Configuration, float]:
        """Configuration after a correction, and the size of the correction before it is shortened.

        The correction is halved until the laws of all springs have values. Where contacts touch at edges and faces it
        is limited, as the closest points change with the motion; likewise if springs have elastic laws, as one that
        begins to act, such as the next corner of a box over a floor, is not in the stiffness before the correction.
        """
        a, whole = of.mechanism.network.arrays, self._defect(correction)
        if a.springs.distances or a.closed or a.springs.laws:
            correction = history.limited(correction, self._sizes, self._most)
        for halved in range(HALVINGS + 1):
            after = moved_by(of, c, 0.5**halved * correction)
            if self._has_forces(of, after, is_last=halved == HALVINGS):
                break
        return after, whole

    def _has_forces(self, of: Problem, c: Configuration, *, is_last: bool = False) -> bool:
        """True if the laws of all springs have values at a configuration.

        With ``is_last``, raises the error of a law instead of returning False.
        """
        springs = of.mechanism.network.arrays.springs
        if not springs.force_laws and not any(law.functions for law in springs.laws):
            return True
        try:
            spring_forces(of.mechanism, c, of.table, of.time)
        except ValueError:
            if is_last:
                raise
            return False
        return True

    def _defect(self, correction: Array) -> float:
        """Largest entry of a correction (n_v,), relative to the size of the mechanism."""
        return float(np.abs(correction / self._sizes).max(initial=0.0))

    def _distance(self, c: Configuration) -> float:
        """Largest displacement of a centre of mass from the start, divided by the extent of the mechanism."""
        return float(np.abs(c.r - self.start.r).max(initial=0.0)) / self.size

    def _is_lost(self, c: Configuration, history: CorrectionHistory) -> bool:
        """True if a configuration is far from the start and the last correction stored no energy.

        Then nothing holds the mechanism.
        """
        return history.doublings > 0 and self._distance(c) > FAR_AWAY

    def _corrected(self, of: Problem, history: CorrectionHistory, c: Configuration) -> tuple[Configuration, float]:
        of_nodes = of.mechanism.rigid_motion is not None
        step = newton_step(of, c) if of_nodes else self._damped_step(of, c, history, judged=False)
        end, defect = self._moved(of, c, step, history)
        return end, np.inf if self._is_lost(end, history) else defect

    def _damped_step(self, given: Problem, c: Configuration, history: CorrectionHistory, *, judged: bool) -> Array:
        """Newton step towards balance, damped by the inertia while forces are large.

            (K + μM) ξ − Gᵀλ = −ρ,   G ξ = −g,

        ρ are the unbalanced forces and g the gaps. μ is the acceleration divided by the size, zero at balance. It is
        increased if the step would oppose the acceleration, towards an equilibrium that is not a minimum, and halved
        with each successive step in which no energy is stored (``history``).
        """
        a, T = coordinates(given, c)
        M, whole = mass_of(a, c.u), given.mechanism.network.arrays
        G, spread = independent_rows(given, c, T)
        force = T.T @ given.unbalanced(c, np.zeros(spread.shape[0]))
        solution = solve_saddle_point(whole, M, G, np.concatenate([-force, np.zeros(G.shape[0])]))
        acceleration, multipliers = solution[: force.size], solution[force.size :]
        square = float(acceleration @ (M @ acceleration))
        weight = 0.5**history.doublings * np.sqrt(max(square / float(a.mass.sum()), 0.0)) / self.size
        K = stiffness_at(given, c, a, spread @ multipliers)
        gap = constraint_gap(given.mechanism, c, given.table, given.time)
        rhs = np.concatenate([G.T @ multipliers - force, -(spread.T @ gap)])
        for _ in range(RAISES):
            step = solve_saddle_point(whole, K + weight * M, G, rhs, least=weight_scale(whole))[: force.size]
            forward, length = float(step @ (M @ acceleration)), float(step @ (M @ step))
            far = np.abs((T @ step) / self._sizes).max(initial=0.0) > NEAR
            if not judged or not far or forward >= -AGAINST * np.sqrt(length * square):
                break
            weight *= 4.0
        stored, work = float(step @ (K @ step)), float(step @ rhs[: force.size])
        history.doublings = history.doublings + 1 if abs(stored) <= UNHELD * abs(work) else 0
        return T @ step


FIRST = 0.25
"""Share of the loads in the first step."""
LEAST = 1e-4
"""Share of the loads in the shortest step; below, the path has reached a limit point."""
TURN = 1.2
"""Rotation of a frame in a step [rad] above which the step may have changed to another branch."""
GROWTH = 1.5
MOST = 40
"""Largest number of halved steps: near a limit point each advances by less than the one before."""


def follow_loads(
    start: Configuration,
    under: Callable[[float, Configuration], IterationResult[Configuration]],
    refuse: Callable[[float, Configuration], None],
) -> tuple[IterationResult[Configuration], float]:
    """Equilibrium under all loads, reached by increasing them step by step, and the share of the loads reached.

    ``under`` finds the equilibrium under a share of the loads near a configuration. A step is halved if it is not found
    or a frame turns by more than ``TURN``. ``refuse`` raises ArithmeticError if an equilibrium is outside the model.
    """
    at, share, step, halved = start, 0.0, FIRST, 0
    while step >= LEAST and halved < MOST:
        wanted = min(1.0, share + step)
        end = under(wanted, at)
        if not end.settled or _turn(at.R, end.value.R) > TURN:
            step, halved = 0.5 * step, halved + 1
            continue
        refuse(wanted, end.value)
        at, share, step = end.value, wanted, GROWTH * step
        if share == 1.0:
            return end, share
    return IterationResult(at, np.inf, False), share


def _turn(before: np.ndarray, after: np.ndarray) -> float:
    """Largest rotation of a frame between two configurations [rad], from their rotations (b, d, d)."""
    trace = np.einsum("bij,bij->b", before, after)
    cosine = 0.5 * (trace - 1.0) if before.shape[-1] == 3 else 0.5 * trace
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)).max(initial=0.0))
