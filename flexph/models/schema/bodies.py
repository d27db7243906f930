"""Bodies of model files that no package of elements makes: reduced ones, and those of other programs' matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from flexph.bodies.body import Body
from flexph.bodies.foreign.from_matrices import body_from_matrices, body_from_modes
from flexph.bodies.reduced_body import reduce_body

from .entry import Builder, Entry
from .fields import File, Inertia, Mass, Number, Rate, Spin, Time, by_shape


class LumpedMass(Entry):
    """A mass and a rotary inertia at a port."""

    port: str
    mass: Mass = 0.0
    inertia: Inertia = 0.0


class BodyEntry(Entry):
    """A body, on which ``masses`` may be lumped."""

    aside: ClassVar = frozenset({"kind", "masses"})
    masses: list[LumpedMass] = Field(default_factory=list)

    def build(self, builder: Builder) -> Body:
        """The body with its masses."""
        body: Body = super().build(builder)
        for i, lumped in enumerate(self.masses):
            with builder.at("masses", i).refusals(lumped):
                body = body.with_mass(lumped.port, lumped.mass, lumped.inertia)
        return body


class Reduced(BodyEntry):
    """A body in the span of a few deformations, see :func:`flexph.bodies.reduce_body`."""

    makes: ClassVar = staticmethod(reduce_body)
    kind: Literal["reduced"]
    body: Any_body  # type: ignore[name-defined]  # noqa: F821 - the union of all kinds, which is known when all packages are
    modes: int = None
    derivatives: int = 0
    static: list[str] = Field(default_factory=list)
    inertia: bool = False


Nodes = int | str | list[int]


class Foreign(BodyEntry):
    """A body of the matrices of another program, see :func:`flexph.bodies.body_from_matrices`."""

    makes: ClassVar = staticmethod(body_from_matrices)
    kind: Literal["foreign"]
    mass: File
    stiffness: File
    nodes: File
    ports: dict[str, Nodes]
    mapping: File = None
    shapes: File = None
    modes: int = 0
    static: list[str] = Field(default_factory=list)
    fixed: str | list[int] = Field(default_factory=list)
    damping: File = None
    mass_damping: Rate = 0.0
    stiffness_damping: Time = 0.0


class ForeignModes(BodyEntry):
    """A body of the modes of another program, see :func:`flexph.bodies.body_from_modes`."""

    makes: ClassVar = staticmethod(body_from_modes)
    kind: Literal["foreign_modes"]
    shapes: File
    frequencies: list[Spin]
    nodes: File
    masses_of_nodes: Annotated[list[Mass], Field(min_length=1)]
    ports: dict[str, Nodes]
    ratios: by_shape("a damping ratio, or a list of them", scalar=Number, sequence=list[Number]) = 0.0

    @classmethod
    def written(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Settings of the arguments of a call."""
        return {("masses_of_nodes" if name == "masses" else name): value for name, value in given.items()}

    def arguments(self, builder: Builder) -> dict[str, Any]:
        """``masses`` of the function are those of the nodes; the name is that of lumped ones here."""
        given = super().arguments(builder)
        return {("masses" if name == "masses_of_nodes" else name): value for name, value in given.items()}


BODIES = (Reduced, Foreign, ForeignModes)
