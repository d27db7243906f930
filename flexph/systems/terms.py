"""Numerical data of the terms of a system, for precompiled loops."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ..numerics.arrays import Array
from .derivatives import Derivatives


class Terms(ABC):
    """Base of the terms of a :class:`flexph.PHDAE` as numerical data, with which precompiled loops take its steps."""

    @property
    @abstractmethod
    def derivatives(self) -> Derivatives:
        """Derivatives of the functions of the system, without check."""

    @abstractmethod
    def check(self, system: Any, x: Array) -> None:
        """Raise ValueError, naming the function, unless the functions of the system agree with the terms at a state."""
