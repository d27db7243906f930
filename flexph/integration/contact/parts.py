"""Parts of a step with rigid contacts: impacts and free ways between them, and the step that they make."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

import numpy as np

from ...kernels.resolution import rate_of_positions
from ...kernels.values import Means, Schedule
from ...numerics.arrays import Array
from ...numerics.step_failed import MotionEnded, StepFailed
from ..exact.advance import SolvedStep
from ..exact.step import StepResult, StepStart

HALVINGS = 2
"""How often a step is halved that is not solved: other contacts close together in its halves."""


class Part(NamedTuple):
    """A part of a step: where it ends, its length, what was booked, and the balance that is missing.

    ``closed`` are the gaps that could close in it, with their ``impulses``; ``closing`` says which of them were open at
    its start. ``missed`` is the defect of the complementarity in it and ``scale`` what that is relative to [m/s];
    ``means`` are its mean velocities and multipliers where contacts could close, ``middle`` the multipliers at its
    middle where none could, and ``gaps`` those of the rigid contacts at its end where they are known; ``solved`` is the
    solution by NumPy, with what time prescribed.
    """

    end: StepStart
    length: float
    stage: Array
    flows: Array
    residuals: Array
    iterations: int
    impulses: Array
    closed: Array
    closing: Array
    missed: float = 0.0
    scale: float = 0.0
    means: Means | None = None
    middle: Array | None = None
    gaps: Array | None = None
    solved: SolvedStep | None = None
    schedule: Schedule | None = None


class Flight(Protocol):
    """Ways by compiled loops on which some rigid contacts may close, by their numbers; None where these solve none."""

    def part(self, start: StepStart, time: float, closed: Array) -> Part | None:
        """The way from a start to a time [s], with the gaps at its end."""

    def gaps(self, start: StepStart, time: float, closed: Array) -> Array | None:
        """Gaps of all rigid contacts at its end."""


def solved(
    parts: Callable[[StepStart, float], list[Part]], start: StepStart, time: float, halvings: int = HALVINGS
) -> list[Part]:
    """The parts of a step from a start to a time; of one that is not solved those of its halves."""
    try:
        return parts(start, time)
    except MotionEnded:
        raise
    except StepFailed as error:
        if not halvings:
            raise
        with suppress(StepFailed):
            first = solved(parts, start, 0.5 * (start.time + time), halvings - 1)
            return [*first, *solved(parts, first[-1].end, time, halvings - 1)]
        raise error


def joined(start: StepStart, parts: list[Part], size: float) -> StepResult:
    """Parts of a step as one; coordinates have a size [m]."""
    end, h = parts[-1].end, sum(part.length for part in parts)
    stage = sum((part.length / h * part.stage for part in parts), np.zeros_like(parts[0].stage))
    residuals = np.max([part.residuals for part in parts], axis=0)
    residuals[0], residuals[2] = sum(part.residuals[0] for part in parts), parts[-1].residuals[2]
    scale = max(1e-300, *(part.scale for part in parts))
    told = [rate_of_positions(size, part.length) if part.length else 0.0 for part in parts]
    middle = None if any(part.length for part in parts[1:]) else parts[0].middle
    return StepResult(
        end=end,
        middle=0.5 * (start.time + end.time),
        stage=stage,
        multipliers=stage if middle is None else middle,
        flows=np.sum([part.flows for part in parts], axis=0),
        residuals=residuals,
        counts=np.array([sum(part.iterations for part in parts), 1.0, 0.0]),
        complementarity=max(part.missed / max(scale, own) for part, own in zip(parts, told, strict=True)),
    )
