"""Settings that replace values of a model file: ``bodies.rod.elements=8``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..units.words import nearest
from .reading.tree import ModelError, Path, Problem, Tree, read_text


def parse_setting(text: str) -> tuple[str, Any]:
    """Path and value of a setting from its text, ``path=value``.

    The value is parsed as YAML. Raises ModelError.
    """
    path, equals, value = text.partition("=")
    if not (path.strip() and equals and value.strip()):
        raise ModelError("--set", [Problem((), f"got {text[:60]!r}: write a path and a value, bodies.rod.elements=8")])
    return path.strip(), read_text(value, f"--set {path.strip()}").data


def with_settings(tree: Tree, settings: Mapping[str, Any]) -> Tree:
    """Parsed file with replaced values at some paths. Raises ModelError for a path that does not exist."""
    data = tree.data
    for text, value in settings.items():
        data = _replaced(data, _parts(text), value, (), tree.name)
    return replace(tree, data=data)


def setting_at(tree: Tree, path: str) -> Any:
    """Value of a parsed file at a path; None if the file does not give it."""
    data = tree.data
    for part in _parts(path):
        if isinstance(data, list) and part.isdecimal() and int(part) < len(data):
            data = data[int(part)]
        else:
            data = data.get(part) if isinstance(data, dict) else None
    return data


def _parts(path: str) -> list[str]:
    """Names and indices of a path: ``connections[2].first`` gives ``connections``, ``2`` and ``first``."""
    return [part for part in re.split(r"\.|\[(\d+)\]", path) if part]


def _replaced(data: Any, parts: list[str], value: Any, path: Path, name: str) -> Any:
    if not parts:
        return value
    first, *rest = parts
    if isinstance(data, list) and first.isdecimal() and int(first) < len(data):
        i = int(first)
        return [*data[:i], _replaced(data[i], rest, value, (*path, i), name), *data[i + 1 :]]
    if isinstance(data, dict) and (first in data or not rest):
        return {**data, first: _replaced(data.get(first), rest, value, (*path, first), name)}
    known = data if isinstance(data, dict) else map(str, range(len(data) if isinstance(data, list) else 0))
    raise ModelError(name, [Problem((*path, first), f"no such setting: {nearest(first, known)}")])
