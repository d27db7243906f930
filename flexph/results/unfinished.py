"""Exceptions of runs that ended before their last time, with the finished part."""

from __future__ import annotations

import pickle
from typing import Any


class Unfinished(BaseException):
    """Base of exceptions that end a run before its last time; ``solution`` contains the finished steps."""

    def __init__(self, message: str, solution: Any) -> None:
        super().__init__(message)
        self.solution = solution

    def __reduce__(self) -> tuple[Any, ...]:
        """Arguments with which pickle rebuilds the exception; the solution is dropped if it cannot be pickled."""
        try:
            pickle.dumps(self.solution)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            return type(self), (f"{self} (its solution could not be transferred: {error})", None)
        return type(self), (str(self), self.solution)


class IntegrationError(Unfinished, ArithmeticError):
    """Error of a run with a step that could not be solved; ``solution`` contains the finished steps."""


class InputError(Unfinished, ValueError):
    """Error of a run with invalid data in a step, usually from a function of a drive or an input; the cause is chained.

    ``solution`` contains the finished steps.
    """


class IntegrationInterrupted(Unfinished, KeyboardInterrupt):
    """Interruption of a run (Ctrl-C); ``solution`` contains the finished steps."""
