"""Finite-element bodies (``fem.beam``, ``fem.bending``) and ``fem.Material``, ``fem.Section``, ``fem.Damping``."""

from .beam import beam
from .bending import bending
from .damping import Damping
from .elements import PAIRS
from .section import Material, Section

__all__ = ["PAIRS", "Damping", "Material", "Section", "beam", "bending"]
