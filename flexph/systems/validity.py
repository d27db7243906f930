"""The warning of results beyond the range of their model."""

from __future__ import annotations


class ValidityWarning(UserWarning):
    """A result has left the range in which the model is valid."""
