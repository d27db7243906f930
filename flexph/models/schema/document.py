"""Sections at the top level of a model file, with the kinds of entries that installed packages register."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, Field, create_model

from .bodies import BODIES, Reduced
from .connections import Connection
from .entry import Entry, one_of
from .fields import RESERVED, Acceleration, wrong
from .functions import DialEntry
from .runs import Run, Start
from .studies import Optimisation, Study

GROUP = "flexph.model_files"
"""Entry-point group under which packages register :class:`Kinds`."""


class Kinds(NamedTuple):
    """Kinds of bodies, materials and cross sections that a package adds to model files.

    Parameters
    ----------
    bodies : tuple of type
        Kinds of bodies.
    materials : tuple of type
        Kinds of materials.
    sections : tuple of type
        Kinds of cross sections.
    parts : tuple of type
        Kinds of entries that occur only within entries of these kinds.
    """

    bodies: tuple[type[Entry], ...] = ()
    materials: tuple[type[Entry], ...] = ()
    sections: tuple[type[Entry], ...] = ()
    parts: tuple[type[Entry], ...] = ()
    """Kinds of values within bodies, for example their damping."""


def _folder(name: str) -> str:
    if name.lower() in RESERVED:
        raise wrong(f"got {name!r}, which every run writes itself: use another name")
    return name


FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,60}$"), AfterValidator(_folder)]


class Document(Entry):
    """A mechanism with its runs, studies and optimisations.

    All numbers are in SI units or have a unit.
    """

    flexph: Literal[1] = 1
    description: str = ""
    gravity: list[Acceleration] = None
    dials: dict[str, DialEntry] = Field(default_factory=dict)
    connections: list[Connection] = Field(default_factory=list)
    start: Start = Field(default_factory=Start)
    runs: dict[FileName, Run] = Field(default_factory=dict)
    studies: dict[FileName, Study] = Field(default_factory=dict)
    optimisations: dict[FileName, Optimisation] = Field(default_factory=dict)


@cache
def all_kinds() -> Kinds:
    """Kinds of bodies, materials and cross sections of all installed packages."""
    kinds = [Kinds(bodies=BODIES), *(entry.load() for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name))]
    return Kinds(*(tuple(kind for one in kinds for kind in one[i]) for i in range(len(Kinds._fields))))


@cache
def document_type() -> type[Document]:
    """Pydantic model of a file, with the kinds of all installed packages."""
    bodies, materials, sections, _ = all_kinds()
    body = one_of(bodies)
    Reduced.model_rebuild(_types_namespace={"Any_body": body})
    named: dict[str, Any] = {
        "bodies": (Annotated[dict[str, body], Field(min_length=1)], ...),
        "materials": (dict[str, one_of(materials, materials[0])], Field(default_factory=dict)),
        "sections": (dict[str, one_of(sections, sections[0])], Field(default_factory=dict)),
    }
    return create_model("ModelFile", __base__=Document, __doc__=Document.__doc__, **named)


def model_schema() -> dict[str, Any]:
    """JSON schema of model files, for editors and other programs.

    Returns
    -------
    dict[str, Any]
        JSON schema as plain values.
    """
    model: type[BaseModel] = document_type()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
