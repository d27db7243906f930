"""Searches for an equilibrium: Newton's method, a search for a minimum of the energy, and loads that are followed.

At rest what is looked for is a minimum of the energy. In a steady rotation it need not be one: above a critical speed
a rotor rests by gyroscopic forces in the frame that turns, and dampers of the ground have no potential there. There
the equilibrium next to the pose comes first, unless small motions about it grow; it is found in one correction where
forces are linear, on either side of a critical speed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...integration.loops.statics.values import Held, Loads, has_static_loops
from ...kernels.constraint_sizes import displacement_sizes
from ...kernels.continuous import mass_of
from ...kernels.state import Configuration
from ...numerics.arrays import Array
from ...numerics.corrections import Corrected, Corrections
from ..model.constraints import constraint_gap, extent
from ..model.range_of_validity import refuse_turned
from ..model.state import flat
from .balance import Problem, coordinates, independent_rows, moved_by, newton_step, saddle, stiffness_at
from .balanced_state import Balance, balance_at
from .load_steps import follow_loads
from .stability import grows, is_minimum

if TYPE_CHECKING:
    from ...integration.loops.statics.at_rest import StaticLoops

SEARCH = Corrections(most=100, settled=1e-13, stagnated=1e-9)
"""Corrections over the size of the mechanism: round-off of the positions, or, ill-conditioned but at rest, no smaller
than the one before."""
STEP = Corrections(most=15, settled=1e-13, stagnated=1e-9, diverged=1e3)
"""The same of a step of the loads."""
NEXT = Corrections(most=15, settled=1e-13, stagnated=1e-9, diverged=1e6, growth=0.5)
"""The same for the equilibrium next to a pose: each correction is at most half the one before."""
NEAR = 1e-6
"""Correction over the size from which on its direction is judged: below, it is round-off."""
FAR = 10.0
"""Way over the size after which a rotating mechanism has no minimum of its energy: centrifugal forces carry it away."""
AGAINST = 1e-3
"""Cosine of a step with the acceleration, in the metric of the mass, from which on it goes against it."""
RAISES = 12

Found = Corrected[Configuration]


class Followed(NamedTuple):
    """The end of a path of loads, and the share of them that it reached."""

    end: Found
    share: float


@dataclass(frozen=True)
class Searches:
    """Searches for the equilibrium of a problem from a configuration."""

    given: Problem
    start: Configuration

    def in_order(self) -> list[Callable[[], Found]]:
        """The searches one after the other: the first one that settles in balance is right."""
        of_nodes = self.given.mechanism.rigid_motion is not None  # they bend far: loads are followed from nothing
        if self._turns:
            others = [self.along_loads, self.judged] if of_nodes else [self.judged, self.along_loads]
            return [self.steady, *others, lambda: self.next, self.newton]
        return [self.along_loads, self.judged] if of_nodes else [self.judged, self.along_loads, self.newton]

    @cached_property
    def next(self) -> Found:
        """The equilibrium next to the start, by Newton's method where its corrections shrink from the first one on."""
        return NEXT.run(self.start, lambda c: self._moved(self.given, c, newton_step(self.given, c)))

    def steady(self) -> Found:
        """The equilibrium next to the start, unless small motions about it grow."""
        end = self.next
        return end._replace(settled=end.settled and not grows(self.given, end.value))

    def judged(self) -> Found:
        """A minimum of the energy: corrections do not go against the acceleration."""

        def corrected(c: Configuration) -> tuple[Configuration, float]:
            end, defect = self._moved(self.given, c, self._held_back(self.given, c, judged=True))
            away = self._turns and float(np.abs(end.r - self.start.r).max()) > FAR * self._size
            return end, np.inf if away else defect

        return SEARCH.run(self.start, corrected)

    def newton(self) -> Found:
        """An equilibrium of any kind, by corrections that the inertia holds back."""
        return SEARCH.run(self.start, partial(self._corrected, self.given))

    def balance(self, c: Configuration) -> Balance:
        """The joint forces that balance a configuration best."""
        loops = self._loops
        balanced = None if loops is None else loops.balanced(c, self._loads(self.given))
        return balance_at(self.given, c) if balanced is None else Balance(*balanced)

    def along_loads(self) -> Found:
        """The end of the path of loads."""
        return self.followed.end

    @cached_property
    def followed(self) -> Followed:
        """The path of loads from nothing to all of them, of minima of the energy where there is one."""
        mechanism = self.given.mechanism
        of_minima = mechanism.rigid_motion is None and not self._turns

        def under(share: float, c: Configuration) -> Found:
            of, limits = self.given.under(share), STEP if share == 1.0 else replace(STEP, settled=NEAR)
            end = None if self._loops is None else self._by_loops(self._loops, of, limits, c)
            end = limits.run(c, partial(self._corrected, of)) if end is None else end
            return end._replace(settled=end.settled and is_minimum(of, end.value)) if of_minima else end

        def refuse(share: float, c: Configuration) -> None:
            refuse_turned(mechanism, flat(mechanism, c), f"under {100.0 * share:.3g} % of the loads")

        return Followed(*follow_loads(self.start, under, refuse))

    @cached_property
    def _loops(self) -> StaticLoops | None:
        mechanism = self.given.mechanism
        if self._turns or not has_static_loops(mechanism):
            return None
        from ...integration.loops.statics.at_rest import StaticLoops  # loops load where they are used

        return StaticLoops(mechanism, self.given.table)

    def _loads(self, of: Problem) -> Loads:
        return Loads(of.applied, of.share, of.time)

    def _by_loops(self, loops: StaticLoops, of: Problem, limits: Corrections, c: Configuration) -> Found | None:
        """The equilibrium near a configuration by compiled corrections, None where one of them is not unique."""
        loads = self._loads(of)

        def corrected(at: Held) -> tuple[Held, float]:
            after = loops.corrected(at, loads)
            return (at, np.nan) if after is None else (after[0], self._defect(after[1]))

        end = limits.run(Held(c, np.zeros(of.mechanism.layout.multipliers)), corrected)
        return None if np.isnan(end.defect) else Corrected(end.value.c, end.defect, end.settled)

    @property
    def _turns(self) -> bool:
        return bool(np.any(self.given.steady.spin))

    @cached_property
    def _size(self) -> float:
        return extent(self.given.mechanism, self.start.r, self.start.R)

    @cached_property
    def _sizes(self) -> Array:
        return displacement_sizes(self.given.mechanism.network.arrays, self._size)

    def _moved(self, of: Problem, c: Configuration, correction: Array) -> tuple[Configuration, float]:
        return moved_by(of.mechanism, c, correction, of.steady), self._defect(correction)

    def _defect(self, correction: Array) -> float:
        """A correction over the size of the mechanism."""
        return float(np.abs(correction / self._sizes).max(initial=0.0))

    def _corrected(self, of: Problem, c: Configuration) -> tuple[Configuration, float]:
        of_nodes = of.mechanism.rigid_motion is not None
        return self._moved(of, c, newton_step(of, c) if of_nodes else self._held_back(of, c, judged=False))

    def _held_back(self, given: Problem, c: Configuration, *, judged: bool) -> Array:
        """A Newton step towards balance, held back by the inertia where the forces are still large.

            (K + μM) ξ − Gᵀλ = −ρ,   G ξ = −g,

        μ the acceleration over the size, which fades with it; larger where the step would go against the acceleration,
        towards an equilibrium that is not a minimum.
        """
        a, T = coordinates(given, c)
        M, whole = mass_of(a, c.u), given.mechanism.network.arrays
        G, spread = independent_rows(given, c, T)
        force = T.T @ given.unbalanced(c, np.zeros(spread.shape[0]))
        solution = saddle(whole, M, G, np.concatenate([-force, np.zeros(G.shape[0])]))
        acceleration, own = solution[: force.size], solution[force.size :]
        square = float(acceleration @ (M @ acceleration))
        weight = np.sqrt(max(square / float(a.mass.sum()), 0.0)) / self._size
        K = stiffness_at(given, c, a, spread @ own)
        gap = constraint_gap(given.mechanism, c, given.table, given.time)
        rhs = np.concatenate([G.T @ own - force, -(spread.T @ gap)])
        for _ in range(RAISES):
            step = saddle(whole, K + weight * M, G, rhs)[: force.size]
            forward, length = float(step @ (M @ acceleration)), float(step @ (M @ step))
            far = np.abs((T @ step) / self._sizes).max(initial=0.0) > NEAR
            if not judged or not far or forward >= -AGAINST * np.sqrt(length * square):
                break
            weight *= 4.0
        return T @ step
