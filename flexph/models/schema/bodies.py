"""Bodies of model files without finite elements: reduced ones, and those from matrices of other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from flexph.bodies.body import Body
from flexph.bodies.foreign.from_matrices import body_from_matrices
from flexph.bodies.foreign.from_modes import body_from_modes
from flexph.bodies.reduced_body import reduce_body
from flexph.bodies.reduced_file import load_reduced

from .entry import Builder, Entry
from .fields import File, Inertia, Length, Mass, Number, Rate, Spin, Time, by_shape, wrong
from .functions import FactorOrInput, as_function


class LumpedMass(Entry):
    """A lumped mass and rotary inertia at a port."""

    port: str
    mass: Mass = 0.0
    inertia: Inertia = 0.0


class BodyEntry(Entry):
    """A body with optional lumped ``masses``, and a ``mass_factor`` (:meth:`flexph.Body.with_mass_factor`)."""

    aside: ClassVar = frozenset({"kind", "masses", "mass_factor"})
    masses: list[LumpedMass] = Field(default_factory=list)
    mass_factor: FactorOrInput = None

    def build(self, builder: Builder) -> Body:
        """Build the body, add its lumped masses, and multiply its mass by ``mass_factor``."""
        body: Body = super().build(builder)
        for i, lumped in enumerate(self.masses):
            with builder.at("masses", i).refusals(lumped):
                body = body.with_mass(lumped.port, lumped.mass, lumped.inertia)
        if self.mass_factor is not None:
            with builder.at("mass_factor").refusals(self):
                body = body.with_mass_factor(as_function(builder.of(self.mass_factor, "mass_factor")))
        return body


class Reduced(BodyEntry):
    """A body reduced to a few modes, see :func:`flexph.bodies.reduce_body`, or a reduced body read from a ``file``."""

    makes: ClassVar = staticmethod(reduce_body)
    others: ClassVar = (load_reduced,)
    kind: Literal["reduced"]
    body: Any_body = None  # type: ignore[name-defined]  # noqa: F821 - all kinds, known when all packages are
    file: File = None
    modes: int = None
    derivatives: int = 0
    static: list[str] = Field(default_factory=list)
    inertia: bool = False

    @model_validator(mode="after")
    def _refuse_both(self) -> Reduced:
        given = [name for name in type(self).model_fields if name in self.model_fields_set - self.aside]
        if ("body" in given) == ("file" in given):
            raise wrong("write either body: the body to reduce, or file: one that flexph reduce has written")
        if "file" in given and len(given) > 1:
            others = ", ".join(name for name in given if name != "file")
            raise wrong(f"leave out {others}: the body of file is reduced already")
        return self

    @classmethod
    def written(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Rename arguments of a call to fields of the entry written for it: ``path`` becomes ``file``."""
        return {("file" if name == "path" else name): value for name, value in given.items()}

    def call(self) -> Callable[..., Any]:
        """Function that creates the body: reduction of a given body, or reading of a file."""
        return load_reduced if "file" in self.model_fields_set else reduce_body

    def arguments(self, builder: Builder) -> dict[str, Any]:
        """Arguments of :meth:`call`, with the nested body built.

        The field ``file`` becomes the argument ``path``.
        """
        return {("path" if name == "file" else name): value for name, value in super().arguments(builder).items()}


Nodes = int | str | list[int]


class Foreign(BodyEntry):
    """A body from matrices of another program, see :func:`flexph.bodies.body_from_matrices`."""

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
    unit: Length = 1.0


class ForeignModes(BodyEntry):
    """A body from modes of another program, see :func:`flexph.bodies.body_from_modes`."""

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
        """Rename arguments of a call to fields of the entry written for it: ``masses`` becomes ``masses_of_nodes``."""
        return {("masses_of_nodes" if name == "masses" else name): value for name, value in given.items()}

    def arguments(self, builder: Builder) -> dict[str, Any]:
        """Arguments of :func:`flexph.bodies.body_from_modes`: ``masses`` are those of the field ``masses_of_nodes``.

        The entry's own field ``masses`` has lumped masses, as for every body, and is no argument.
        """
        given = super().arguments(builder)
        return {("masses" if name == "masses_of_nodes" else name): value for name, value in given.items()}


BODIES = (Reduced, Foreign, ForeignModes)
