"""Finite-element bodies: ``fem.beam`` and ``fem.bending`` with ``fem.Material``, ``fem.Section`` and ``fem.Damping``."""

from .beam import beam
from .bending import bending
from .damping import Damping
from .elements import PAIRS
from .section import Material, Section

__all__ = ["PAIRS", "Damping", "Material", "Section", "beam", "bending"]
