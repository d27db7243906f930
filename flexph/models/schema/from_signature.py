"""Types of entries of model files, created from the signatures of functions and classes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from flexph.joints.rows.friction import CoulombFriction
from flexph.joints.rows.vectors import Ground
from flexph.laws.creep_laws import CreepLaw
from flexph.laws.resistive_relations import Relation, ScheduledRelation
from flexph.laws.spring_law import SpringLaw

from . import fields, functions, laws
from .entry import Entry


def entry_of(makes: Callable[..., Any], *, base: type[Entry] = Entry, **given: Any) -> type[Entry]:
    """Create a type of entry whose fields are the arguments of a function or class, with the same defaults.

    Parameters
    ----------
    makes : callable
        Function or class that makes the value. The ``kind`` of the entry is its name, its description the first line
        of the docstring.
    base : type
        Base class of the entry.
    **given
        Field types, and attributes of the class, that do not follow from the annotations, by name.

    Raises
    ------
    TypeError
        For an argument whose field type follows neither from its annotation nor from ``given``.
    """
    units = getattr(makes.__init__ if isinstance(makes, type) else makes, "units", {})
    hints = get_type_hints(makes.__init__ if isinstance(makes, type) else inspect.unwrap(makes))
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", makes.__name__).lower()
    annotations: dict[str, Any] = {"makes": ClassVar, "kind": Literal[words]}
    namespace: dict[str, Any] = {
        "makes": makes if isinstance(makes, type) else staticmethod(makes),
        "__doc__": (inspect.getdoc(makes) or "").partition("\n")[0],
        "__module__": __name__,
        "__annotations__": annotations,
    }
    for name, parameter in inspect.signature(makes).parameters.items():
        annotations[name] = given[name] if name in given else _field(makes, name, hints[name], units.get(name, ""))
        if parameter.default is not inspect.Parameter.empty:
            plain = isinstance(parameter.default, str | float | bool | int)
            namespace[name] = parameter.default if plain else None
    settings = {name: value for name, value in given.items() if name not in annotations}
    title = "".join(word.capitalize() for word in words.split("_"))
    return type(base)(title, (base,), namespace | settings)


def _field(makes: Any, name: str, hint: Any, unit: str | tuple[str, ...]) -> Any:
    """Field type of the argument ``name`` of the function ``makes``, from its annotation ``hint`` and its unit."""
    if get_origin(hint) is Literal or hint in (bool, int):
        return hint
    parts = frozenset(get_args(hint)) if get_origin(hint) in (Union, UnionType) else frozenset({hint})
    number = fields.quantity(*((unit,) if isinstance(unit, str) else unit))
    words = unit if isinstance(unit, str) else " or ".join(unit)
    one, several = functions.damping(words)
    each = fields.by_shape(functions.EACH, scalar=number, sequence=list[number])
    types: dict[frozenset[Any], Any] = {
        frozenset({str}): fields.Name if name in ("name", "contact") else fields.Port,
        frozenset({str, Ground}): fields.End,
        frozenset({Sequence[str | Ground]}): list[fields.End],
        frozenset({float}): number,
        frozenset({Sequence[float]}): list[number],
        frozenset({Sequence[Sequence[float]]}): fields.Matrix,
        frozenset({float, Sequence[float]}): each,
        frozenset({float, Relation}): one,
        frozenset({float, Relation, Sequence[float | Relation]}): several,
        frozenset({float, Relation, ScheduledRelation}): functions.scheduled_damping(words),
        frozenset({Relation}): functions.Relation,
        frozenset({CreepLaw}): functions.CreepLaw,
        frozenset({Relation, CreepLaw}): functions.Grip,
        frozenset({CoulombFriction}): functions.CoulombFriction,
        frozenset({Relation, CoulombFriction}): functions.Friction,
        frozenset({Relation, ScheduledRelation}): functions.AnyRelation,
        frozenset({Relation, ScheduledRelation, CoulombFriction}): functions.ScheduledFriction,
        frozenset(get_args(SpringLaw)): laws.SpringLaw,
        frozenset({*get_args(SpringLaw), Sequence[SpringLaw | None]}): laws.SpringLaws,
    }
    field = types.get(parts - {NoneType})
    if field is None:
        raise TypeError(f"{name} of {makes.__name__} has the annotation {hint}: give its field type to entry_of")
    return field | None if NoneType in parts and field is fields.Port else field
