"""Export of mechanisms as model files, from the recorded calls that created their bodies and connections."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from io import StringIO
from os.path import relpath
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from ruamel.yaml import YAML
from scipy.spatial.transform import Rotation

from flexph.files.durable import refuse_suffix, staged
from flexph.joints.rows.connection import Connection
from flexph.joints.rows.vectors import Ground
from flexph.laws import ElasticLaw, ForceLaw, HysteresisLaw
from flexph.laws.creep_laws import CreepLaw
from flexph.laws.resistive_relations import Relation, ScheduledRelation
from flexph.mechanisms.mechanism import Mechanism
from flexph.numerics.arguments import checked
from flexph.numerics.memo import OmittedArgument, Recipe
from flexph.robots.motions import Motion

from .reading.expressions import Expression
from .schema.connections import CONNECTIONS, LAWS, SHAPES
from .schema.document import all_kinds
from .schema.entry import Entry, kind_of
from .schema.functions import Components, CoulombFriction, Turned
from .schema.laws import LAWS as SPRING_LAWS
from .schema.motions import written_motion

FILES = ("mesh", "mass", "stiffness", "nodes", "mapping", "shapes", "damping", "file")
"""Settings whose texts are file names; the ``mass`` of all other kinds of bodies is a number."""


@checked
def to_model(mechanism: Mechanism, *, folder: Path | None = None) -> dict[str, Any]:
    """Data of a model file for a mechanism: bodies, materials, sections, connections and gravity, in SI units.

    The file contains the public calls that created the mechanism, with values, files and formulas.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism to export.
    folder : Path, optional
        Folder relative to which file paths are written; by default paths are unchanged.

    Returns
    -------
    dict[str, Any]
        Plain values, the content of a model file.

    Raises
    ------
    ValueError
        If a file cannot contain a part: functions without an import path, meshes and matrices in memory, bodies and
        mechanisms that were changed after their creation. The error names the path and the reason.
    """
    call = mechanism.__dict__.get("_call")
    if call is None:
        raise ValueError(
            "mechanism was derived from another one, not created by flexph.connect: connect its bodies again"
        )
    writer = _Writer(folder)
    bodies = {name: writer.body(body.recipe, f"bodies.{name}") for name, body in mechanism.bodies.items()}
    given = dict(zip(("bodies", "connections"), call[1], strict=False)) | dict(call[2])
    connections = [writer.connection(c, f"connections[{i}]") for i, c in enumerate(given["connections"])]
    gravity = {"gravity": mechanism.gravity.tolist()} if np.any(mechanism.gravity) else {}
    return {**gravity, **{k: v for k, v in writer.named.items() if v}, "bodies": bodies, "connections": connections}


@checked
def write_model(path: Path, mechanism: Mechanism) -> None:
    """Write a mechanism as a model file, see :func:`to_model`.

    Parameters
    ----------
    path : Path
        File to write.
    mechanism : Mechanism
        Mechanism to export.
    """
    refuse_suffix("a model file", path, (".yaml", ".yml"))
    text, yaml = StringIO(), YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.sort_base_mapping_type_on_output = None, False  # type: ignore[assignment]
    yaml.width = 120
    yaml.dump(to_model(mechanism, folder=Path(path).parent), text)
    with staged(path) as part:
        part.write_text(text.getvalue(), encoding="utf-8")


@dataclass
class _Writer:
    """Converter of recorded calls to the data of a model file.

    Equal materials and sections share one name.
    """

    folder: PurePath | None = None
    named: dict[str, dict[str, Any]] = field(default_factory=lambda: {"materials": {}, "sections": {}})
    known: list[tuple[Any, str]] = field(default_factory=list)

    def body(self, recipe: Recipe | OmittedArgument | None, path: str) -> dict[str, Any]:
        """Entry of a body, from the call that created it.

        ``path`` names it in errors. Raises ValueError if the call was not recorded or has no kind of entry.
        """
        if not isinstance(recipe, Recipe):
            raise ValueError(f"{path} cannot be written: the call that created this body was not recorded")
        given = dict(recipe.arguments)
        if recipe.function.endswith("Body.with_mass"):
            entry = self.body(given.pop("self"), path)
            return entry | {"masses": [*entry.get("masses", []), self.values(given, path)]}
        if recipe.function.endswith("Body.with_mass_factor"):
            entry = self.body(given.pop("self"), path)
            return entry | {"mass_factor": self.value(given["factor"], f"{path}.mass_factor")}
        kinds = {_name(makes): kind for kind in all_kinds().bodies for makes in (kind.makes, *kind.others)}
        if recipe.function not in kinds:
            raise ValueError(f"{path} cannot be written: model files have no {recipe.function}")
        return self.entry(kinds[recipe.function], given, path)

    def connection(self, connection: Connection, path: str) -> dict[str, Any]:
        """Entry of a joint or force element, from the call that created it.

        ``path`` names it in errors.
        """
        call = connection.__dict__.get("_call")
        kinds = {_name(kind.makes): kind for kind in CONNECTIONS}
        kind = None if call is None else kinds.get(_name(call[0]))
        if call is None or kind is None:
            raise ValueError(f"{path} ({connection.name}) cannot be written: no function known to model files made it")
        names = list(kind.model_fields)[1:]
        return self.entry(kind, dict(zip(names, call[1], strict=False)) | dict(call[2]), path)

    def entry(self, kind: type[Entry], given: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Entry of a kind from the arguments ``given`` of a recorded call.

        ``path`` names it in errors.
        """
        settings = {name: value for name, value in kind.written(given).items() if value is not None}
        for name in settings.keys() - kind.model_fields.keys():
            raise ValueError(f"{path}.{name} cannot be written: a file has no {name} of kind {kind_of(kind)}")
        named = {name: Path(v) if name in FILES and isinstance(v, str) else v for name, v in settings.items()}
        return {"kind": kind_of(kind), **self.values(named, path)}

    def file(self, path: PurePath) -> str:
        """File path relative to the folder of the model file, or unchanged if the folder is unknown."""
        return PurePath(path if self.folder is None else relpath(path, self.folder)).as_posix()

    def values(self, given: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Arguments by name, converted to plain data, without those that are None."""
        return {name: self.value(v, f"{path}.{name}") for name, v in given.items() if v is not None}

    def value(self, value: Any, path: str) -> Any:
        """Plain data of a model file for a value.

        ``path`` names it in errors. Raises ValueError for a type that a file cannot contain.
        """
        match value:
            case OmittedArgument(kind=kind):
                raise ValueError(f"{path} cannot be written: {kind} in memory; save it to a file and give its path")
            case np.generic() | np.ndarray():
                return value.tolist()
            case bool() | int() | float() | str():
                return value
            case PurePath():
                return self.file(value)
            case Mapping():
                return self.values(value, path)
            case list() | tuple():
                return [self.value(item, f"{path}[{i}]") for i, item in enumerate(value)]
            case Recipe():
                return self.body(value, path)
            case Ground(position=place):
                return "ground" if place is None else {"ground": list(place)}
            case Rotation():
                return value.as_matrix().tolist()
            case ScheduledRelation(relation=relation, factor="input"):
                return {"kind": "controlled", "law": self.value(relation, f"{path}.law")}
            case ScheduledRelation(relation=relation, factor=factor):
                parts = self.value(relation, f"{path}.law"), self.value(factor, f"{path}.factor")
                return {"kind": "scheduled", "law": parts[0], "factor": parts[1]}
            case Relation():
                return _relation(value, lambda f: self.value(f, f"{path}.function"))
            case CreepLaw():
                return _creep(value)
            case Expression(text=text, factor=factor):
                return text if factor == 1.0 else f"{factor!r}*({text})"
            case Motion():
                return self.motion(value, path)
            case Components(functions=functions):
                return [self.value(f, f"{path}[{i}]") for i, f in enumerate(functions)]
            case ElasticLaw() | ForceLaw() | HysteresisLaw():
                return self.law(value, path)
            case Turned(axis=axis, angle=angle):
                return {"axis": list(axis), "angle": self.value(angle, path)}
        return self.other(value, path)

    def motion(self, motion: Motion, path: str) -> dict[str, Any]:
        """Plain data of the entry for a motion.

        ``path`` names it in errors.
        """
        try:
            return written_motion(motion)
        except ValueError as error:
            raise ValueError(f"{path} cannot be written: {error}") from None

    def law(self, law: Any, path: str) -> dict[str, Any]:
        """Plain data of the entry for the law of a spring.

        ``path`` names it in errors.
        """
        call = law.__dict__.get("_call")
        if call is None:
            raise ValueError(f"{path} cannot be written: no function of flexph.laws made {law}")
        function, given, named = call
        if function.__name__ == "polynomial":
            return {"kind": "polynomial", "coefficients": [float(k) for k in given]}
        kind = {_name(kind.makes): kind for kind in SPRING_LAWS}[_name(function)]
        names = list(kind.model_fields)[1:]
        return self.entry(kind, dict(zip(names, given, strict=False)) | dict(named), path)

    def other(self, value: Any, path: str) -> Any:
        """Plain data of a value: name of a material or section, entry of a known type, or import path of a function."""
        for section in ("materials", "sections"):
            for kind in getattr(all_kinds(), section):
                if type(value) is kind.makes:
                    return self.name_of(section, kind, value, path)
        if any(type(value) is kind.makes for kind in all_kinds().parts):
            return self.values(dict(_changed(value)), path)
        described: tuple[type[Entry], ...] = (*SHAPES, *LAWS, CoulombFriction)
        for item in described:
            if type(value) is item.makes:
                return {"kind": kind_of(item), **self.values(dict(_changed(value)), path)}
        if callable(value):
            return {"function": _import_path(value, path)}
        raise ValueError(f"{path} cannot be written: a file cannot hold {type(value).__name__}")

    def name_of(self, section: str, kind: type[Entry], value: Any, path: str) -> str:
        """Add a value to a section of the file, materials or sections, unless an equal one is there; return its name.

        The added entry is of the type ``kind``; ``path`` names it in errors.
        """
        for other, name in self.known:
            if other is value or (type(other) is type(value) and kind_of(kind) != "anisotropic" and other == value):
                return name
        entries = self.named[section]
        name = f"{section.removesuffix('s')}{len(entries) + 1}"
        entries[name] = self.entry(kind, dict(_changed(value)), path)
        self.known.append((value, name))
        return name


def _name(makes: Any) -> str:
    return f"{makes.__module__}.{makes.__qualname__}"


def _changed(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each field of a dataclass instance that differs from the field's default."""
    for entry in fields(value):
        given = getattr(value, entry.name)
        if isinstance(given, np.ndarray) or given != entry.default:
            yield entry.name, given


PARAMETERS = {
    "viscous": ("coefficient",),
    "quadratic": ("coefficient",),
    "coulomb": ("force", "speed", "static", "stribeck", "viscous"),
}
"""Names of the parameters of resistive relations."""


def _relation(relation: Relation, written: Callable[[Any], Any]) -> dict[str, Any]:
    if relation.kind == "general":
        functions = {"function": relation.function, "derivative": relation.derivative}
        return {"kind": "resistive", **{name: written(f) for name, f in functions.items() if f is not None}}
    return {"kind": relation.kind, **dict(zip(PARAMETERS[relation.kind], relation.parameters, strict=True))}


def _creep(law: CreepLaw) -> dict[str, Any]:
    longitudinal, lateral, limit, shape, curvature, least, coupled, turning = law.parameters
    given: dict[str, Any] = {"longitudinal": longitudinal, "lateral": lateral}
    if limit < math.inf:
        given["friction" if law.by_load else "limit"] = limit
    if law.kind == "magic":
        return {"kind": "magic_formula", **given, "shape": shape, "curvature": curvature, "least_speed": least}
    spin = {"lateral_spin": coupled, "spin": turning} if law.spins else {}
    return {"kind": "creep", **given, **spin, "saturation": law.kind, "least_speed": least}


def _import_path(function: Any, path: str) -> str:
    name, module = getattr(function, "__qualname__", ""), getattr(function, "__module__", "")
    if not name or not module or "." in name or "<" in name or module == "__main__":
        what = name or type(function).__name__
        raise ValueError(f"{path} cannot be written: {what} has no import path; use a formula, or def it in a module")
    return f"{module}:{name}"
