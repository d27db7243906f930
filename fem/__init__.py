"""Finite-element bodies: beams, plates and solids; materials, sections, damping, ties, supports, loads, cuts, boxes."""

from .beam import beam
from .bending import bending
from .box_mesh import box_mesh
from .damping import Damping
from .elastic import Anisotropic, Orthotropic
from .elements import PAIRS
from .plate import plate
from .plate_supports import Support
from .section import Material, Section
from .section_surfaces import Cut
from .solid import solid
from .solid_loads import Load
from .solid_ties import Tie

__all__ = [
    "PAIRS",
    "Anisotropic",
    "Cut",
    "Damping",
    "Load",
    "Material",
    "Orthotropic",
    "Section",
    "Support",
    "Tie",
    "beam",
    "bending",
    "box_mesh",
    "plate",
    "solid",
]
