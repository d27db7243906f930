"""The public names of :mod:`fem`: each is loaded when it is asked for."""

from .beams.beam import beam as beam
from .beams.bending import bending as bending
from .beams.elements import PAIRS as PAIRS
from .materials.damping import Damping as Damping
from .materials.elastic import Anisotropic as Anisotropic
from .materials.elastic import Orthotropic as Orthotropic
from .materials.hyperelastic import MooneyRivlin as MooneyRivlin
from .materials.hyperelastic import NeoHooke as NeoHooke
from .materials.materials import Material as Material
from .materials.materials import Section as Section
from .materials.strain_laws import StoredEnergy as StoredEnergy
from .meshes.solid_mesh import box_mesh as box_mesh
from .meshes.surface_nodes import surface_ports as surface_ports
from .plates.plate import plate as plate
from .plates.supports import Support as Support
from .refinement.criteria import Refinement as Refinement
from .rods.cable import cable as cable
from .rods.flow import Flow as Flow
from .rods.rod import rod as rod
from .rods.section import RodSection as RodSection
from .solids.link import LinkSolid as LinkSolid
from .solids.loads import Load as Load
from .solids.section_surfaces import Cut as Cut
from .solids.solid import solid as solid
from .solids.ties import Tie as Tie
