"""Runs that ended before their last time, with what they had finished."""

from __future__ import annotations

import pickle
from typing import Any


class Unfinished(BaseException):
    """A run that ended before its last time; ``solution`` holds the finished steps."""

    def __init__(self, message: str, solution: Any) -> None:
        super().__init__(message)
        self.solution = solution

    def __reduce__(self) -> tuple[Any, ...]:
        """What is pickled: the message arrives even where the solution, by a function of its system, cannot travel."""
        try:
            pickle.dumps(self.solution)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            return type(self), (f"{self} (its solution stayed behind: {error})", None)
        return type(self), (str(self), self.solution)


class IntegrationError(Unfinished, ArithmeticError):
    """A step could not be solved; ``solution`` holds the finished steps."""


class InputError(Unfinished, ValueError):
    """A step failed by an error other than its solution, as a rule in a drive or an input; the cause is chained.

    ``solution`` holds the finished steps.
    """


class IntegrationInterrupted(Unfinished, KeyboardInterrupt):
    """The run was interrupted (Ctrl-C); ``solution`` holds the finished steps."""
