"""Runs that ended before their last time, with what they had finished."""

from __future__ import annotations

from typing import Any


class Unfinished(BaseException):
    """A run that ended before its last time; ``solution`` holds the finished steps."""

    def __init__(self, message: str, solution: Any) -> None:
        super().__init__(message)
        self.solution = solution


class IntegrationError(Unfinished, ArithmeticError):
    """A step could not be solved; ``solution`` holds the finished steps."""


class InputError(Unfinished, ValueError):
    """A step failed by an error other than its solution, as a rule in a drive or an input; the cause is chained.

    ``solution`` holds the finished steps.
    """


class IntegrationInterrupted(Unfinished, KeyboardInterrupt):
    """The run was interrupted (Ctrl-C); ``solution`` holds the finished steps."""
