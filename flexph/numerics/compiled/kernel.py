"""Compiled functions over numbers and arrays that only compiled ones call; needs numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .linking import inner

F = TypeVar("F", bound=Callable[..., Any])
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
"""Without the counting of references to arrays: it costs more than all else in loops over small ones."""


def kernel(function: F) -> F:
    """A function that only compiled ones call."""
    compiled: F = inner(function, plain=True, **OPTIONS)
    return compiled
