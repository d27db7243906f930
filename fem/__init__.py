"""Finite-element bodies: beams, plates and solids; materials, sections, damping, ties, supports, loads, cuts, boxes."""

from .beams.beam import beam
from .beams.bending import bending
from .beams.elements import PAIRS
from .materials.damping import Damping
from .materials.elastic import Anisotropic, Orthotropic
from .materials.materials import Material, Section
from .meshes.box_mesh import box_mesh
from .plates.plate import plate
from .plates.supports import Support
from .solids.loads import Load
from .solids.section_surfaces import Cut
from .solids.solid import solid
from .solids.ties import Tie

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
