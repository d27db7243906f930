"""Materials, cross sections and finite-element bodies in model files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from flexph.models.schema.bodies import BodyEntry
from flexph.models.schema.document import Kinds
from flexph.models.schema.entry import Entry, one_of
from flexph.models.schema.fields import (
    Area,
    Bending,
    Density,
    Direction,
    File,
    Force,
    Length,
    LineDensity,
    Matrix,
    Number,
    Point,
    Rate,
    SecondMoment,
    Stress,
    Time,
    by_shape,
    name_in,
)
from flexph.models.schema.functions import FORMULA, as_function, formula_of, mapping_of
from flexph.models.schema.laws import SectionLaws

from .beams.beam import beam
from .materials.damping import Damping
from .materials.elastic import Anisotropic, Orthotropic
from .materials.hyperelastic import MooneyRivlin, NeoHooke
from .materials.materials import Material, Section
from .meshes.solid_mesh import box_mesh
from .plates.plate import plate
from .plates.supports import Support
from .refinement.criteria import Refinement
from .rods.cable import cable
from .rods.flow import Flow
from .rods.rod import rod
from .solids.loads import Load
from .solids.section_surfaces import Cut
from .solids.solid import solid
from .solids.ties import Tie


class NeoHookeEntry(Entry):
    """Entry of a compressible neo-Hooke law, see :func:`fem.NeoHooke`."""

    makes: ClassVar = NeoHooke
    kind: Literal["neo_hooke"]
    mu: Stress
    lam: Stress


class MooneyRivlinEntry(Entry):
    """Entry of a compressible Mooney-Rivlin law, see :func:`fem.MooneyRivlin`."""

    makes: ClassVar = MooneyRivlin
    kind: Literal["mooney_rivlin"]
    c1: Stress
    c2: Stress
    bulk: Stress


Law: Any = one_of((NeoHookeEntry, MooneyRivlinEntry))


Word = Annotated[str, Field(min_length=1)]
Region = Word | int | list[int]
Three = Annotated[list[Stress], Field(min_length=3, max_length=3)]


class IsotropicEntry(Entry):
    """Entry of a linear elastic, isotropic material, see :class:`fem.Material`."""

    makes: ClassVar = Material
    kind: Literal["isotropic"] = "isotropic"
    young: Stress
    density: Density
    poisson: Number = None
    shear: Stress = None


class OrthotropicEntry(Entry):
    """Entry of a material with three planes of symmetry, see :class:`fem.Orthotropic`."""

    makes: ClassVar = Orthotropic
    kind: Literal["orthotropic"]
    young: Three
    poisson: Annotated[list[Number], Field(min_length=3, max_length=3)]
    shear: Three
    density: Density
    axes: Matrix = None

    def arguments(self, builder: Any) -> dict[str, Any]:
        """Arguments of :class:`fem.Orthotropic` from the entry: lists of moduli become tuples."""
        given = super().arguments(builder)
        return {name: tuple(value) if name in ("young", "poisson", "shear") else value for name, value in given.items()}


class AnisotropicEntry(Entry):
    """Entry of an elastic material of any symmetry, by its stiffness (6, 6), see :class:`fem.Anisotropic`."""

    makes: ClassVar = Anisotropic
    kind: Literal["anisotropic"]
    stiffness: list[list[Stress]]
    density: Density
    axes: Matrix = None


class SectionEntry(Entry):
    """Entry of a cross section: a circle, a tube, a rectangle, or its constants, see :class:`fem.Section`."""

    makes: ClassVar = Section
    kind: Literal["section"] = "section"
    diameter: Length = None
    inner_diameter: Length = None
    width: Length = None
    height: Length = None
    area: Area = 0.0
    second_moment: SecondMoment = 0.0
    second_moment_y: SecondMoment = None
    torsion_constant: SecondMoment = None
    polar_moment: SecondMoment = None
    fibre: Length = None
    fibre_z: Length = None

    @classmethod
    def written(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Attributes of a section to write in a model file: its dimensions or, without any, its constants."""
        shape = [name for name in ("diameter", "inner_diameter", "width", "height") if given.get(name)]
        return {name: given[name] for name in shape or given}


class DampingEntry(Entry):
    """Entry of structural damping, see :class:`fem.Damping`."""

    makes: ClassVar = Damping
    mass: Rate = 0.0
    stiffness: Time = 0.0
    ratios: list[Number] = Field(default_factory=list)

    def arguments(self, builder: Any) -> dict[str, Any]:
        """Arguments of :class:`fem.Damping` from the entry: the list of ratios becomes a tuple."""
        given = super().arguments(builder)
        return given | ({"ratios": tuple(given["ratios"])} if "ratios" in given else {})


class BeamEntry(BodyEntry):
    """Entry of an Euler-Bernoulli beam with the ports root and tip, see :func:`fem.beam`."""

    makes: ClassVar = staticmethod(beam)
    kind: Literal["beam"]
    length: Length
    material: name_in("materials")
    section: name_in("sections")
    elements: Annotated[int, Field(ge=1, le=1_000_000)]
    dim: Literal[2, 3] = 2
    reference: Literal["cantilever", "simply_supported", "mean_axis"] = "cantilever"
    pair: Literal["compatible", "quadratic", "hermite", "paper"] = "compatible"
    strain: Literal["linear", "von_karman"] = "linear"
    momenta: Literal["full", "constant"] = "full"
    stations: dict[str, Length] = Field(default_factory=dict)
    damping: DampingEntry = Field(default_factory=DampingEntry)
    split: Annotated[int, Field(ge=1, le=1_000_000)] = 1


class FlowEntry(Entry):
    """Entry of a fluid that flows through a rod or cable, see :class:`fem.Flow`."""

    makes: ClassVar = Flow
    mass_per_length: LineDensity
    speed: by_shape(FORMULA, scalar=formula_of("m/s"), mapping=mapping_of("m/s"))

    def arguments(self, builder: Any) -> dict[str, Any]:
        """Arguments of :class:`fem.Flow` from the entry; a speed that depends on time becomes a function."""
        given = super().arguments(builder)
        speed = given["speed"]
        return given | {"speed": speed if isinstance(speed, int | float) else as_function(speed)}


class RodEntry(BodyEntry):
    """Entry of a straight, geometrically exact rod with the ports root and tip, see :func:`fem.rod`."""

    makes: ClassVar = staticmethod(rod)
    kind: Literal["rod"]
    length: Length
    material: name_in("materials")
    section: name_in("sections")
    elements: Annotated[int, Field(ge=1, le=1_000_000)]
    order: Literal[1, 2, 3] = 2
    dim: Literal[2, 3] = 3
    ports: dict[str, Length] = Field(default_factory=dict)
    shear_factors: Annotated[list[Number], Field(min_length=2, max_length=2)] = None
    damping: DampingEntry = Field(default_factory=DampingEntry)
    laws: SectionLaws = Field(default_factory=dict)
    flow: FlowEntry = None


class CableEntry(BodyEntry):
    """Entry of a straight cable with the ports root and tip, see :func:`fem.cable`."""

    makes: ClassVar = staticmethod(cable)
    kind: Literal["cable"]
    length: Length
    mass_per_length: LineDensity
    axial: Force
    bending: Bending
    elements: Annotated[int, Field(ge=1, le=1_000_000)]
    dim: Literal[2, 3] = 3
    ports: dict[str, Length] = Field(default_factory=dict)
    damping: DampingEntry = Field(default_factory=DampingEntry)
    laws: SectionLaws = Field(default_factory=dict)
    flow: FlowEntry = None


class BoxMesh(Entry):
    """Entry of a box (three lengths) or a rectangle (two) of equal cells, see :func:`fem.box_mesh`."""

    makes: ClassVar = staticmethod(box_mesh)
    lengths: Point
    counts: list[Annotated[int, Field(ge=1, le=10_000)]]
    simplices: bool = False


class TieEntry(Entry):
    """Entry of a tie, which makes a region of a mesh a port, see :class:`fem.Tie`."""

    makes: ClassVar = Tie
    region: Region
    how: Literal["rigid", "mean"] = None
    at: Point = None
    weights: list[Number] = None


class LoadEntry(Entry):
    """Entry of a load on a region of a mesh, see :class:`fem.Load`."""

    makes: ClassVar = Load
    region: Region
    on: Literal["surface", "volume"] = None
    uniform: bool = True
    along: Direction = None


class CutEntry(Entry):
    """Entry of a surface through a body at which section forces are computed, see :class:`fem.Cut`."""

    makes: ClassVar = Cut
    region: Region
    normal: Direction = None


class SupportEntry(Entry):
    """Entry of a region of a plate that is held to the frame of the body, see :class:`fem.Support`."""

    makes: ClassVar = Support
    region: Region
    how: Literal["clamped", "hinged", "simple"] = "hinged"


def _region_or(entry: Any) -> Any:
    """Type of a value of a model file that is a region of a mesh, or a mapping of the type ``entry``.

    A region is a name or node numbers; the mapping has a region and further options.
    """
    words = f"the name of a region of the mesh, node numbers, or {entry.names()}"
    return by_shape(words, scalar=Word | int, sequence=list[int], mapping=entry)


MeshValue = by_shape("the name of a mesh file, or {lengths: …, counts: …}", scalar=File, mapping=BoxMesh)
MaterialName = name_in("materials")
Materials = by_shape("a material, or one for each region", scalar=MaterialName, mapping=dict[str, MaterialName])
Thickness = by_shape("a thickness, or one for each region", scalar=Length, mapping=dict[str, Length])
Ports, Loads, Cuts = (dict[str, _region_or(entry)] for entry in (TieEntry, LoadEntry, CutEntry))


class RefinementEntry(Entry):
    """Entry of an accuracy up to which a mesh is refined, see :func:`fem.Refinement`."""

    makes: ClassVar = Refinement
    tolerance: Number
    modes: Annotated[int, Field(ge=0, le=1000)] = None
    ports: list[Word] = Field(default_factory=list)
    max_cells: Annotated[int, Field(ge=1, le=10_000_000)] = 100_000
    share: Number = 0.5


class SolidEntry(BodyEntry):
    """Entry of an elastic body that fills a mesh, with linear or finite strain, see :func:`fem.solid`."""

    makes: ClassVar = staticmethod(solid)
    kind: Literal["solid"]
    mesh: MeshValue
    material: Materials = None
    ports: Ports = Field(default_factory=dict)
    reference: str = "mean_axis"
    degree: Literal[1, 2] = None
    plane: Literal["stress", "strain"] = None
    thickness: Length = None
    loads: Loads = Field(default_factory=dict)
    sections: Cuts = Field(default_factory=dict)
    momenta: Literal["full", "constant"] = "full"
    damping: DampingEntry = None
    strain: Literal["linear", "finite"] = "linear"
    law: Law = None
    omit: list[Word] = Field(default_factory=list)
    size: Length = None
    select: Word = None
    unit: Length = None
    max_cells: Annotated[int, Field(ge=1, le=10_000_000)] = None
    temperature: Number = None
    refine: RefinementEntry = None


class PlateEntry(BodyEntry):
    """Entry of a flat plate from a plane mesh, see :func:`fem.plate`."""

    makes: ClassVar = staticmethod(plate)
    kind: Literal["plate"]
    mesh: MeshValue
    material: Materials = None
    thickness: Thickness = None
    theory: Literal["kirchhoff", "reissner_mindlin"] = "kirchhoff"
    ports: Ports = Field(default_factory=dict)
    supports: list[SupportEntry] = Field(default_factory=list)
    reference: str = None
    strain: Literal["linear", "von_karman"] = "linear"
    loads: Loads = Field(default_factory=dict)
    sections: Cuts = Field(default_factory=dict)
    rotary_inertia: bool = True
    shear_correction: Number = 5.0 / 6.0
    momenta: Literal["full", "constant"] = "full"
    damping: DampingEntry = Field(default_factory=DampingEntry)
    omit: list[Word] = Field(default_factory=list)
    size: Length = None
    select: Word = None
    unit: Length = None
    max_cells: Annotated[int, Field(ge=1, le=10_000_000)] = None
    temperature: Number = None
    refine: RefinementEntry = None


KINDS = Kinds(
    bodies=(BeamEntry, RodEntry, CableEntry, SolidEntry, PlateEntry),
    materials=(IsotropicEntry, OrthotropicEntry, AnisotropicEntry),
    sections=(SectionEntry,),
    parts=(
        DampingEntry,
        FlowEntry,
        TieEntry,
        LoadEntry,
        CutEntry,
        SupportEntry,
        RefinementEntry,
        NeoHookeEntry,
        MooneyRivlinEntry,
    ),
)
