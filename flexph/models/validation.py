"""Errors of pydantic for a model file, translated into problems with lines and remedies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ..units.words import nearest, shown
from .reading.tree import ModelError, Path, Problem, Tree
from .schema.document import Document, document_type

REMEDIES = {
    "int_type": "write a whole number such as 8",
    "int_from_float": "write a whole number such as 8",
    "bool_type": "write true or false",
    "string_type": "write a text",
    "list_type": "write a list such as [1, 2]",
    "dict_type": "write a mapping: a name and a value in each line",
    "too_short": "write at least one entry",
    "string_too_short": "write at least one letter",
    "string_pattern_mismatch": "use letters, digits, - and _ only",
    "greater_than_equal": "write at least {ge}",
    "less_than_equal": "write at most {le}",
}
"""Remedies by kind of error, with the bounds filled in."""


def validated(tree: Tree) -> Document:
    """Sections of a file as checked entries. Raises ModelError with all errors."""
    try:
        return _validated(tree)
    except UnicodeEncodeError as error:
        raise ModelError(tree.name, [Problem((), f"invalid text: {error}")]) from None
    except RecursionError:
        raise ModelError(tree.name, [Problem((), "bodies are nested too deeply in each other")]) from None


def _validated(tree: Tree) -> Document:
    try:
        return document_type().model_validate(tree.data)
    except ValidationError as error:
        problems = [_problem(tree, detail) for detail in error.errors(include_url=False)]
        raise ModelError(tree.name, sorted(dict.fromkeys(problems), key=lambda p: (p.line, p.column))) from None


def _problem(tree: Tree, detail: ErrorDetails) -> Problem:
    path, kind, context = _path(tree.data, detail["loc"]), detail["type"], detail.get("ctx", {})
    name = context.get("name")
    if kind == "missing":
        return tree.problem((*path, detail["loc"][-1]), f"is missing: add '{detail['loc'][-1]}: …'", of_name=True)
    if isinstance(name, str):
        return tree.problem((*path, name), str(context["text"]), of_name=kind == "unknown_name")
    of_name = "[key]" in detail["loc"]
    if kind == "model_file" and "text" in context:
        return tree.problem(path, str(context["text"]), of_name=of_name)
    if kind == "literal_error":
        known = re.findall(r"'([^']*)'|(\d+)", str(context["expected"]))
        words = nearest(detail["input"], ("".join(pair) for pair in known))
        return tree.problem(path, f"got {shown(detail['input'])}: {words}")
    remedy = _remedy(kind, detail["msg"], context)
    return tree.problem(path, f"got {shown(detail['input'])}: {remedy}", of_name=of_name)


def _remedy(kind: str, message: str, context: Mapping[str, Any]) -> str:
    if kind in REMEDIES:
        return REMEDIES[kind].format(**context)
    return message[:1].lower() + message[1:]


def _path(data: Any, location: tuple[str | int, ...]) -> Path:
    """Path in the file's data for the location of a pydantic error.

    The location also has names of types in unions, which do not occur in the data and are left out.
    """
    path: list[str | int] = []
    for part in location:
        known = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
        if part in known:
            data = data[part]
            path.append(part)
    return tuple(path)
