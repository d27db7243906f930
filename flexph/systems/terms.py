"""Terms that the package knows: what a system is made of, beside its functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ..numerics.arrays import Array
from .derivatives import Derivatives


class Terms(ABC):
    """Terms of a :class:`flexph.PHDAE` by numbers, from which loops that are compiled ahead of time take its steps."""

    @property
    @abstractmethod
    def derivatives(self) -> Derivatives:
        """Derivatives of the functions of the system, which need no check."""

    @abstractmethod
    def check(self, system: Any, x: Array) -> None:
        """Raise ValueError, naming the function, unless those of the system are those of the terms at a state."""
