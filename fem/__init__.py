"""Finite-element bodies: ``fem.beam`` with ``fem.Material``, ``fem.Section`` and ``fem.Damping``."""

from .beam import beam
from .elements import PAIRS
from .section import Damping, Material, Section

__all__ = ["PAIRS", "Damping", "Material", "Section", "beam"]
