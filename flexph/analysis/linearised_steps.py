"""Linearised steps of a mechanism: derivatives of the end of a step with respect to its start.

They are central differences of steps along free motions, the variations of positions and velocities that joints allow.

Differences are of fourth order. A step is solved to round-off ε, so that a displacement of 1e-3 of the size of the
mechanism gives derivatives to about 1e-12. Steps are polynomial equations except for the laws of springs, dampers
and drives; where these are too nonlinear for such a displacement, a shorter one is used. Joints are
closed at the start of a step: a displacement along a variation opens them by an amount of second order, and a
correction closes them.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ..integration.blocks.block_stepper import BlockStepper
from ..integration.loops.memory.structures import GaussTable, Table
from ..integration.schemes.scheme import EvaluatedState, StepStart
from ..kernels.gradient import Velocities, flatten
from ..kernels.state import Configuration, derive, displacement_sizes, lever
from ..mechanisms.model.constraints import constraint_gap, rates_at
from ..mechanisms.model.constraints import moved as corrected
from ..mechanisms.model.state import flat
from ..mechanisms.poses.neighbours import SHARES, WEIGHTS, Variations, moved, tangent_of
from ..numerics.arrays import Array, dense
from ..numerics.rotations import cross

REACHES, FINER = (1e-3, 3e-5, 1e-6), 0.3
"""REACHES are displacements for the differences, tried in turn, relative to the mechanism's size, or turns [rad]. FINER
is a factor of the displacement with which each is checked."""
LINEAR = 1e-7
"""Difference between the variation for a sum of starts and the sum of the variations, relative to these, up to which a
step counts as linear."""
CORRECTIONS, INDEPENDENT = 4, 1e-10
"""Largest number of corrections that close joints, and the relative singular value of their constraints below which
they count as dependent. A correction multiplies the gap by about the displacement, relative to the mechanism's size."""
CLOSED = 1e-15
"""Size of a correction, relative to the size of the mechanism, after which the gaps of joints are round-off."""


class _Step(NamedTuple):
    """Step that is linearised: its start, its end and its time table.

    ``closing`` (n_v, g) are displacements that change one constraint each, by which joints are closed.
    """

    start: StepStart
    end: StepStart
    table: Table | GaussTable
    closing: Array


class LinearisedSteps:
    """Derivatives of the ends of steps with respect to their starts, for a block stepper.

    ``pace`` [1/s] is the ratio of velocities to displacements of comparable size.
    """

    def __init__(self, blocks: BlockStepper, pace: float) -> None:
        self.blocks, self.arrays = blocks, blocks.scheme.arrays
        sizes = displacement_sizes(self.arrays, lever(self.arrays))
        self.sizes = Variations(sizes, sizes * pace)

    def step(self, start: StepStart, time: float, given: Variations) -> tuple[StepStart, Variations]:
        """Take a step to a time [s]; return its end, and its variations for the variations ``given`` of the start.

        The displacements REACHES are tried from the largest on, until the step is linear: the variation of the end for
        the sum of all given variations, by a smaller displacement, must be the sum of the variations of the end. Raises
        StepFailed, and ArithmeticError if the step is not linear for any displacement.
        """
        table = self.blocks.table(np.array([start.time, time]))
        end = self.blocks.step(start, time, table).end
        step = _Step(start, end, table, self._closing_displacements(start))
        columns = list(zip(*(part.T for part in given), strict=True))
        whole = tuple(np.sum(part, axis=1) for part in given)
        for reach in REACHES:
            ends = [self._end_variation(step, *pair, reach=reach) for pair in columns]
            other = self._end_variation(step, *whole, reach=FINER * reach)
            if self._is_sum(ends, other):
                displaced, faster = (np.array(part).reshape(len(ends), -1).T for part in zip(*ends, strict=True))
                return end, Variations(displaced, faster)
        raise ArithmeticError(f"the linearised step to t = {time} s did not settle: use shorter steps")

    def _is_sum(self, ends: list[Variations], other: Variations) -> bool:
        """True if the sum of the variations ``ends`` equals ``other``, the variation for the sum of the starts."""
        sums = [np.sum(part, axis=0) for part in zip(*ends, strict=True)]
        largest = [np.abs(part).max(axis=0, initial=0.0) for part in zip(*ends, strict=True)]
        apart = max(np.abs((x - y) / s).max() for x, y, s in zip(sums, other, self.sizes, strict=True))
        size = max(np.abs(x / s).max() for x, s in zip(largest, self.sizes, strict=True))
        return bool(apart <= LINEAR * size)

    def _closing_displacements(self, start: StepStart) -> Array:
        """Smallest displacements (n_v, g) at the start of a step, each of which changes one of g constraints by one."""
        blocks, place = self.blocks, start.state.place
        scaled = dense(rates_at(blocks.mechanism, place, blocks.scheme.table, start.time)[0]) * self.sizes.displaced
        return self.sizes.displaced[:, None] * np.linalg.pinv(scaled, rcond=INDEPENDENT)

    def _end_variation(self, step: _Step, displaced: Array, faster: Array, *, reach: float) -> Variations:
        """Variation of the end of a step for one variation of its start, by differences of fourth order.

        The variation of the start has the displacements ``displaced`` (n_v,) and the velocity changes ``faster``
        (n_v,); ``reach`` is the largest displacement, relative to the size of the mechanism.
        """
        start, end = step.start, step.end
        a, size = self.arrays, max(np.abs(x / s).max() for x, s in zip((displaced, faster), self.sizes, strict=True))
        if not size > 0.0:
            return Variations(displaced, faster)
        share, direction = reach / size, tangent_of(a, start.state.c, displaced, faster)
        ends = [
            self._end(step, self._with_closed_joints(step, moved(start.state.c, direction, share * s))) for s in SHARES
        ]
        rates = Configuration(
            *(sum(w / share * x for w, x in zip(WEIGHTS, parts, strict=True)) for parts in zip(*ends, strict=True))
        )
        back = np.einsum("bji,bjk->bik", end.state.c.R, rates.R)  # [θ]×
        turn = 0.5 * np.einsum("bij,sij->bs", back, cross(a.dim))
        moving, speeding = Velocities(rates.r, turn, rates.u), Velocities(rates.v, rates.omega, rates.du)
        return Variations(flatten(a, moving), flatten(a, speeding))

    def _with_closed_joints(self, step: _Step, c: Configuration) -> Configuration:
        """Configuration corrected so that the joints are closed."""
        if step.closing.size:
            for _ in range(CORRECTIONS):
                gap = constraint_gap(self.blocks.mechanism, c, self.blocks.scheme.table, step.start.time)
                correction = step.closing @ gap
                c = corrected(self.blocks.mechanism, c, -correction)
                if np.abs(correction / self.sizes.displaced).max() <= CLOSED:
                    break
        return c

    def _end(self, step: _Step, c: Configuration) -> Configuration:
        """Configuration at the end of the step if it begins at c.

        The iteration starts from the prediction of the undisplaced step.
        """
        x, start = flat(self.blocks.mechanism, c), step.start
        state = EvaluatedState(x, (c, partial(derive, self.arrays)), start.state.defect)
        return self.blocks.step(start._replace(state=state), step.end.time, step.table).end.state.c
