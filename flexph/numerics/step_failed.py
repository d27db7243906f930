"""The failure of a time step, and of what acts in it."""

from __future__ import annotations


class StepFailed(ArithmeticError):
    """A step that has no solution in reach; carries the number of iterations and the last relative correction.

    ``span`` are the times of the step or substep, where they are known.
    """

    def __init__(self, reason: str, iterations: int, defect: float) -> None:
        super().__init__(reason)
        self.iterations, self.defect = iterations, defect
        self.span: tuple[float, float] | None = None


class TimedError(ValueError):
    """An error of what a user gave that says itself at what time it was."""


class MotionEnded(StepFailed):
    """A step in which the motion comes to where its model ends, after a ``share`` of the step; no fault of the solver.

    ``advice`` says what to do.
    """

    def __init__(self, reason: str, iterations: int, *, share: float = 1.0, advice: str) -> None:
        super().__init__(reason, iterations, 0.0)
        self.share, self.advice = share, advice
