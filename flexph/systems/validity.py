"""Warning category for results outside the range of validity of a model."""

from __future__ import annotations


class ValidityWarning(UserWarning):
    """Warning of a result outside the range of validity of a model."""
