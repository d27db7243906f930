"""Finite-element bodies (``fem.beam``, ``fem.bending``, ``fem.solid``), their materials, sections, ties and loads."""

from .beam import beam
from .bending import bending
from .box_mesh import box_mesh
from .damping import Damping
from .elastic import Anisotropic, Orthotropic
from .elements import PAIRS
from .section import Material, Section
from .solid import solid
from .solid_loads import Load
from .solid_ties import Tie

__all__ = [
    "PAIRS",
    "Anisotropic",
    "Damping",
    "Load",
    "Material",
    "Orthotropic",
    "Section",
    "Tie",
    "beam",
    "bending",
    "box_mesh",
    "solid",
]
