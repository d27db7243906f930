"""Finite-element bodies: ``fem.beam`` with ``fem.Material``, ``fem.Section`` and ``fem.Damping``."""

from .beam import beam
from .damping import Damping
from .elements import PAIRS
from .section import Material, Section

__all__ = ["PAIRS", "Damping", "Material", "Section", "beam"]
