"""Base of the entries of a model file, each of which creates a value by a function call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from pathlib import Path as Folder
from typing import Annotated, Any, ClassVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Tag, model_validator
from pydantic_core import PydanticCustomError

from ...units.words import nearest, shown
from ..reading.tree import Misfit, Path
from .fields import TAG, Buildable


@dataclass(frozen=True)
class Builder:
    """Context in which an entry is built: folder of the file, ``path`` of the entry, named entries by section.

    ``trust``: True if Python functions may be imported; ``dim``: dimension of the mechanism, 0 before it is known.
    """

    folder: Folder
    trust: bool = False
    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    path: Path = ()
    dim: int = 0

    def at(self, *path: str | int) -> Builder:
        """Context of an entry or field within this entry, at the given names or indices below it."""
        return replace(self, path=(*self.path, *path))

    def misfit(self, text: str) -> Misfit:
        """Error about this entry, with its path."""
        return Misfit(self.path, text)

    def named(self, section: str, name: str) -> Any:
        """Build the entry ``name`` of a section such as materials; return its value.

        Raises Misfit for an unknown name.
        """
        entries = self.sections.get(section, {})
        if name not in entries:
            raise self.misfit(f"no entry {name!r} in {section!r}: {nearest(name, entries)}")
        return replace(self, path=(section,)).of(entries[name], name)

    def of(self, value: Any, *path: str | int) -> Any:
        """Build all entries in ``value``, also within lists and mappings; return the value with them replaced.

        ``path`` is the path of the field with this value, from the entry on.
        """
        here = self.at(*path)
        if isinstance(value, Buildable):
            return value.build(here)
        if isinstance(value, list):
            return [here.of(item, i) for i, item in enumerate(value)]
        if isinstance(value, dict):
            return {name: here.of(item, name) for name, item in value.items()}
        return value

    @contextmanager
    def refusals(self, entry: Any = None) -> Iterator[None]:
        """Context manager that converts errors to Misfit with the path of this entry.

        If the error names a field of ``entry``, the path is that of the field.
        """
        try:
            yield
        except Misfit:
            raise
        except (ValueError, TypeError, ArithmeticError, OSError, LookupError) as error:
            text = " ".join(str(error).split()) or type(error).__name__
            raise Misfit((*self.path, *_place(text, entry)), text) from error


def _place(text: str, entry: Any) -> Path:
    """Path of the field of ``entry`` that the text of an error names; empty if it names none.

    The text begins with the field, as in "length must be …", or it contains a name in quotes after the singular of a
    field that is a mapping: "station 'middle' …" gives the path of ``middle`` in ``stations``.
    """
    names = () if entry is None else type(entry).model_fields
    first = text.partition(" ")[0].strip(":,")
    if first in names:
        return (first,)
    for word, name in re.findall(r"(\w+) '([^']*)'", text):
        if f"{word}s" in names and name in (getattr(entry, f"{word}s") or {}):
            return (f"{word}s", name)
    return ()


class Entry(BaseModel, Buildable):
    """Base of entries, whose fields are the arguments of the function ``makes``.

    The fields listed in ``aside``, among them ``kind``, are no arguments.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, arbitrary_types_allowed=True)
    makes: ClassVar[Callable[..., Any]]
    others: ClassVar[tuple[Callable[..., Any], ...]] = ()
    """Further functions whose arguments are among the fields."""
    aside: ClassVar[frozenset[str]] = frozenset({"kind"})

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            raise PydanticCustomError("model_file", "{text}", {"text": f"got {shown(given)}: write {cls.names()}"})
        for name in given:
            if name not in cls.model_fields:
                text = f"no such setting: {nearest(name, cls.model_fields)}"
                raise PydanticCustomError("unknown_name", "{text}", {"text": text, "name": name})
        return given

    @classmethod
    def names(cls) -> str:
        """Text that lists the names of the fields."""
        return f"a mapping with some of {', '.join(cls.model_fields)}"

    @classmethod
    def written(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Rename arguments of ``makes`` to the fields of the entry, to write a recorded call into a model file.

        In this base class the arguments are unchanged.
        """
        return given

    def call(self) -> Callable[..., Any]:
        """Function that creates the value of the entry."""
        return type(self).makes

    def arguments(self, builder: Builder) -> dict[str, Any]:
        """Arguments of :meth:`call`: the fields that the file gives, with nested entries built."""
        given = [name for name in type(self).model_fields if name in self.model_fields_set - self.aside]
        return {name: builder.of(getattr(self, name), name) for name in given}

    def build(self, builder: Builder) -> Any:
        """Create the value of the entry by its function.

        Errors of the function become Misfit with the path of the entry.
        """
        with builder.refusals(self):
            return self.call()(**self.arguments(builder))


class InUnit(Entry):
    """Base of entries with a field ``unit`` for the numbers in the fields listed in ``scaled``.

    An empty unit means that the numbers are in SI units.
    """

    scaled: ClassVar[frozenset[str]] = frozenset()
    unit: str = ""

    @model_validator(mode="before")
    @classmethod
    def _refuse_second_unit(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("unit"):
            for name in (field for field in given if field in cls.scaled):
                for text in _texts(given[name]):
                    words = f"got {shown(text)} beside unit: {given['unit']}: write numbers alone, or leave unit out"
                    raise PydanticCustomError("model_file", "{text}", {"text": words, "name": name})
        return given


def _texts(given: Any) -> Iterator[str]:
    """Yield the texts, in a value or in nested lists, that cannot be read as a number."""
    if isinstance(given, list):
        for item in given:
            yield from _texts(item)
    elif isinstance(given, str):
        try:
            float(given)
        except ValueError:
            yield given


def kind_of(entry: type[Entry]) -> str:
    """Value of the field ``kind`` of a type of entries."""
    (kind,) = get_args(entry.model_fields["kind"].annotation)
    return str(kind)


def one_of(kinds: tuple[type[Entry], ...], default: type[Entry] | None = None) -> Any:
    """Union type of several kinds of entries, chosen by ``kind``.

    ``default`` is the kind of an entry without the field ``kind``.
    """
    words = [kind_of(kind) for kind in kinds]
    usual = None if default is None else kind_of(default)

    def word(given: Any) -> str:
        return kind_of(type(given)) if isinstance(given, Entry) else str(given.get("kind", usual))

    def tag(given: Any) -> str:
        return f"{TAG}{word(given)}"

    def refuse(given: Any) -> Any:
        if isinstance(given, Entry):
            return given
        if not isinstance(given, dict):
            text = f"got {shown(given)}: write a mapping with kind: {words[0]}, or another of {', '.join(words)}"
            raise PydanticCustomError("model_file", "{text}", {"text": text})
        if word(given) not in words:
            got = f"got {shown(given['kind'])}" if "kind" in given else "is missing"
            text = f"{got}: {nearest(word(given), words)}"
            raise PydanticCustomError("wrong_kind", "{text}", {"text": text, "name": "kind"})
        return given

    tagged = [Annotated[kind, Tag(f"{TAG}{name}")] for kind, name in zip(kinds, words, strict=True)]
    if len(tagged) == 1:
        return Annotated[kinds[0], BeforeValidator(refuse)]
    return Annotated[reduce(or_, tagged), Discriminator(tag), BeforeValidator(refuse)]
