"""Field types: numbers with units, points, ports, names of other entries and of files."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Any

from pydantic import Discriminator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, Tag
from pydantic_core import PydanticCustomError, core_schema

from flexph.joints.rows.vectors import GROUND

from ...units.quantities import read_quantity
from ...units.words import nearest, shown

RESERVED = ("solution.h5", "ledger.csv", "forces.csv", "frequencies.csv", "summary.json", "report.html")
RESERVED += ("unfinished.h5", "unfinished", "checkpoint")
"""Files that every run writes, besides the outputs of a model file; scenes begin with ``scene``."""
LONGEST_NAME = 100
"""Longest name of a result file or folder in bytes; systems allow 255, some of which temporary names need."""
TAG = "arm "
"""Prefix of the tags of unions; no path in a file begins with it."""


def wrong(text: str) -> PydanticCustomError:
    """Pydantic error with the given text."""
    return PydanticCustomError("model_file", "{text}", {"text": text})


@dataclass(frozen=True, eq=False)
class Reads:
    """Annotation of a field whose value the function ``read`` converts from the data.

    ``schema`` is its JSON schema.
    """

    read: Callable[[Any], Any]
    schema: tuple[tuple[str, Any], ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, core: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> Any:
        return dict(self.schema)

    def _read(self, given: Any) -> Any:
        try:
            return self.read(given)
        except ValueError as error:
            raise error if isinstance(error, PydanticCustomError) else wrong(str(error)) from None


def quantity(*units: str) -> Any:
    """Field type of a number with one of the given units, converted to SI units."""
    schema = (("type", ["number", "string"]), ("description", " or ".join(f"[{unit}]" for unit in units if unit)))
    return Annotated[float, Reads(lambda given: read_quantity(given, *units), schema)]


Length, Mass, Angle, Time = quantity("m"), quantity("kg"), quantity("rad"), quantity("s")
Number, Stress, Density, Inertia = quantity(""), quantity("Pa"), quantity("kg/m^3"), quantity("kg*m^2")
Area, SecondMoment = quantity("m^2"), quantity("m^4")
Velocity, Spin, Acceleration = quantity("m/s"), quantity("rad/s"), quantity("m/s^2")
Force, Stiffness, Torsional = quantity("N"), quantity("N/m"), quantity("N*m/rad")
LineDensity, Bending = quantity("kg/m"), quantity("N*m^2")
Rate, Forces, Rates = quantity("1/s"), quantity("N", "N*m"), quantity("m/s", "rad/s")
Point = list[Length]
Direction = list[Number]
Matrix = list[list[Number]]


def by_shape(words: str, *, scalar: Any = None, mapping: Any = None, sequence: Any = None) -> Any:
    """Union of field types, one for each form of the value: ``scalar`` for a number or text, ``mapping``, ``sequence``.

    ``words`` describe the right values in error messages.
    """
    arms = {"scalar": scalar, "mapping": mapping, "sequence": sequence}
    given = {name: arm for name, arm in arms.items() if arm is not None}

    def shape(value: Any) -> str | None:
        name = "mapping" if isinstance(value, dict) else "sequence" if isinstance(value, list) else "scalar"
        return f"{TAG}{name}" if name in given and value is not None else None

    union: Any = None
    for name, arm in given.items():
        tagged = Annotated[arm, Tag(f"{TAG}{name}")]
        union = tagged if union is None else union | tagged
    return Annotated[union, Discriminator(shape, custom_error_type="model_file", custom_error_message=f"write {words}")]


class Buildable(ABC):
    """Base of the values in a file that are replaced by the result of their ``build``."""

    @abstractmethod
    def build(self, builder: Any) -> Any:
        """Build the value; ``builder`` is a :class:`flexph.models.schema.entry.Builder`."""


@dataclass(frozen=True)
class Reference(Buildable):
    """Reference to an entry of another section by its name."""

    section: str
    name: str

    def build(self, builder: Any) -> Any:
        """Build the entry with this name in the other section; return its value."""
        return builder.named(self.section, self.name)


def name_in(section: str) -> Any:
    """Field type of the name of an entry in another section, which is replaced by the value built from the entry."""

    def read(given: Any) -> Reference:
        if not isinstance(given, str):
            raise ValueError(f"got {shown(given)}: write the name of an entry of {section!r}")
        return Reference(section, given)

    return Annotated[Any, Reads(read, (("type", "string"), ("description", f"a name in {section!r}")))]


@dataclass(frozen=True)
class InputFile(Buildable):
    """Input file, relative to the model file."""

    name: str

    def build(self, builder: Any) -> Any:
        """Path of the file. Raises Misfit if it does not exist, or lies outside the folder of an untrusted model."""
        path = builder.folder / self.name
        if not (builder.trust or path.resolve().is_relative_to(builder.folder.resolve())):
            raise builder.misfit(f"{self.name!r} leads out of the folder of the model: move it there, or give --trust")
        if not path.is_file():
            there = [p.name for p in path.parent.iterdir() if p.is_file()] if path.parent.is_dir() else []
            raise builder.misfit(f"no file {self.name!r} in {path.parent}: {nearest(path.name, there)}")
        return path


def relative(given: Any) -> str:
    """Check the name of a file relative to the model's folder; return it unchanged.

    Raises ValueError for an absolute path, and for a value that is no name.
    """
    right = "write the name of a file, relative to the model file"
    if not isinstance(given, str) or not given.strip() or "\0" in given or len(given) > 1000:
        raise ValueError(f"got {shown(given)}: {right}")
    if PurePosixPath(given).is_absolute() or PureWindowsPath(given).drive or given.startswith(("/", "\\", "~")):
        raise ValueError(f"got {shown(given)}, an absolute path: {right}")
    return given


def _result(given: Any) -> str:
    name = relative(given)
    if ".." in PurePosixPath(name).parts or "\\" in name:
        raise ValueError(f"got {shown(given)}: results stay in their folder, write a name such as 'motion.csv'")
    parts = PurePosixPath(name).parts
    if not parts or parts[0].lower() in RESERVED or re.fullmatch(r"scene\b.*\.vtkhdf", parts[-1].lower()):
        raise ValueError(f"got {shown(given)}, which every run writes itself: use another name")
    if max(len(part.encode()) for part in parts) > LONGEST_NAME or not name.isprintable():
        raise ValueError(f"got {shown(given)}: write a name of at most {LONGEST_NAME} letters")
    return name


def _table(given: Any) -> str:
    name = _result(given)
    if not name.lower().endswith(".csv"):
        raise ValueError(f"got {shown(given)}: a table is comma-separated values, write a name that ends in .csv")
    return name


def _deck(given: Any) -> str:
    name = _result(given)
    if not name.lower().endswith(".inp"):
        raise ValueError(f"got {shown(given)}: a deck is read by Abaqus and CalculiX, write a name that ends in .inp")
    return name


Name = Annotated[str, Field(min_length=1)]
File = Annotated[Any, Reads(lambda given: InputFile(relative(given)), (("type", "string"), ("description", "a file")))]
TableName = Annotated[str, Reads(_table, (("type", "string"), ("description", "a file of the results, .csv")))]
DeckName = Annotated[str, Reads(_deck, (("type", "string"), ("description", "a deck of the results, .inp")))]
ResultName = Annotated[str, Reads(_result, (("type", "string"), ("description", "a file of the results")))]


def _port(given: Any) -> str:
    if not isinstance(given, str) or given.count(".") != 1 or "" in given.split("."):
        raise ValueError(f"got {shown(given)}: write a port as 'body.port'")
    return given


def _ground(given: Any) -> Any:
    if given == "ground":
        return GROUND
    if isinstance(given, dict):
        if list(given) != ["ground"] or not isinstance(given["ground"], list):
            raise ValueError(f"got {shown(given)}: write a place of the ground as {{ground: [10 mm, 0]}}")
        return GROUND.at(*(read_quantity(x, "m") for x in given["ground"]))
    raise ValueError(f"got {shown(given)}: write ground, or {{ground: [x, y]}}")


def _end(given: Any) -> Any:
    try:
        return _port(given) if isinstance(given, str) and given != "ground" else _ground(given)
    except ValueError as error:
        raise ValueError(f"{str(error).removesuffix(', or {ground: [x, y]}')}, ground, or {{ground: [x, y]}}") from None


_PLACE = {"type": "object", "properties": {"ground": {"type": "array"}}, "additionalProperties": False}
Port = Annotated[str, Reads(_port, (("type", "string"), ("description", "body.port")))]
Ground = Annotated[Any, Reads(_ground, (("anyOf", [{"const": "ground"}, _PLACE]),))]
End = Annotated[Any, Reads(_end, (("anyOf", [{"type": "string"}, _PLACE]),))]
