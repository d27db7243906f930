"""Exceptions of time steps."""

from __future__ import annotations


class StepFailed(ArithmeticError):
    """Error of a time step that failed, with the number of iterations and the last relative correction.

    ``span`` are the times of the step or substep, if known.
    """

    def __init__(self, reason: str, iterations: int, defect: float) -> None:
        super().__init__(reason)
        self.iterations, self.defect = iterations, defect
        self.span: tuple[float, float] | None = None


class TimedError(ValueError):
    """Error in a function of the user or of a controller, whose message already names the time."""


class MotionEnded(StepFailed):
    """Error of a motion that left the range of a model within a step, which is no failure of the solver.

    ``share`` is the fraction of the step until then, ``advice`` tells what to do.
    """

    def __init__(self, reason: str, iterations: int, *, share: float = 1.0, advice: str) -> None:
        super().__init__(reason, iterations, 0.0)
        self.share, self.advice = share, advice
