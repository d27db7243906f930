"""Contents of a case from its program: bodies, joints, methods, category, and captions of its pictures.

The functions that its run and its pictures reach are read, not run: what they call of the packages is in the case.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from flexph import Mechanism, methods
from flexph.case import Case

CASES = "cases"
ROOMS = {
    "flexph.joints.forces": "force elements",
    "flexph.joints": "joints",
    "flexph.contacts": "contacts",
    "flexph.circuits": "circuits",
    "flexph.control": "control",
    "flexph.integration.methods": "methods",
    "flexph.linear": "methods",
    "flexph.analysis": "methods",
    "flexph.studies": "methods",
    "fem": "bodies",
    "rigid": "bodies",
}
"""Kinds of what is in a case, by the room of the function that makes it."""
BODIES = {
    "beam", "rod", "cable", "plate", "solid", "body", "box", "cylinder", "sphere", "bar", "point_mass", "disc", "ring",
    "reduce_body", "split",
}  # fmt: skip
"""Functions of rooms of bodies that make one; others make materials, sections and meshes."""
ANALYSES = {
    "modes", "spectrum", "frequency_response", "time_response", "reduce", "reduce_body", "eliminate", "floquet",
    "reduction", "balanced_truncation", "static_solution", "equilibrium", "linearize", "eigenfrequencies",
    "assemble_all", "steady_rotation", "campbell", "integrate", "structure", "casimirs", "periodic_motion", "run_study",
    "optimize",
}  # fmt: skip
"""Functions and methods whose names say what is done."""
WORDS = {"integrate": "time integration", "modes": "modes", "assemble_all": "poses"}
"""Names of some in plain words."""
UNTOLD = {
    "Connection", "Circuit", "Energy", "GeneralMethod", "Compensator", "Plant", "by_name", "drive", "terminals",
    "angles_of", "circuit",
}  # fmt: skip
"""Names that tell nothing of a case."""
CATEGORIES = (
    ("Circuits and machines", {"circuits"}, set()),
    ("Contact and impact", {"contacts"}, set()),
    ("Control", {"control"}, set()),
    ("Rods and cables", set(), {"rod", "cable"}),
    ("Plates and solids", set(), {"plate", "solid"}),
    ("Beams", set(), {"beam"}),
    ("Rigid bodies", {"bodies"}, set()),
)
"""Categories by kinds of what is in a case, or by what it is made of; the first that fits."""
OTHER = "General systems"


class Function(NamedTuple):
    """A function of the cases: its module and its definition."""

    module: ModuleType
    node: ast.FunctionDef


@dataclass(frozen=True)
class Contents:
    """Contents of a case.

    Attributes
    ----------
    parts : mapping
        Names by kind: joints, bodies, methods, …
    captions : mapping
        A sentence by the stem of a picture.
    """

    parts: dict[str, set[str]] = field(default_factory=dict)
    captions: dict[str, str] = field(default_factory=dict)

    @property
    def category(self) -> str:
        """The first category that fits."""
        names = set().union(*self.parts.values()) if self.parts else set()
        fits = (title for title, kinds, made in CATEGORIES if kinds & self.parts.keys() or made & names)
        return next(fits, OTHER)

    @property
    def words(self) -> list[str]:
        """All names, for a search."""
        return sorted({name for names in self.parts.values() for name in names})


def contents_of(case: Case[Any]) -> Contents:
    """The contents of a case, from the functions that its run and its writer reach."""
    module = importlib.import_module(case.run.__module__)
    own = Contents()
    for function in _reached(_definition(module, case.run.__name__)):
        for node in ast.walk(function.node):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                _note(own, function.module, node)
    writer = case.write
    for function in _reached(_definition(importlib.import_module(writer.__module__), writer.__name__)):
        for node in ast.walk(function.node):
            if isinstance(node, ast.Call):
                _caption(own, function, node)
    return own


def _note(own: Contents, module: ModuleType, node: ast.Name | ast.Attribute) -> None:
    """Note what a name stands for."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    value = _value(module, node)
    kind = _kind(value)
    if value is None and isinstance(node, ast.Attribute) and name in ANALYSES and hasattr(Mechanism, name):
        kind = "methods"
    if kind is None or name in UNTOLD or (kind == "bodies" and name not in BODIES):
        return
    if kind == "methods" and not (name in ANALYSES or name in vars(methods)):
        return
    word = WORDS.get(name, name.replace("_", " "))
    own.parts.setdefault(kind, set()).add(word if kind == "methods" else word.lower())


def _kind(value: Any) -> str | None:
    """The kind of a function or class, by the room of its module."""
    if not callable(value):
        return None
    if getattr(value, "__name__", "") == "integrate":
        return "methods"
    module = getattr(value, "__module__", None) or ""
    return next((kind for room, kind in ROOMS.items() if module == room or module.startswith(f"{room}.")), None)


def _value(module: ModuleType, node: ast.AST) -> Any:
    """Object of a dotted name in a module; None if only a run determines it."""
    if isinstance(node, ast.Name):
        return getattr(module, node.id, None)
    if isinstance(node, ast.Attribute):
        owner = _value(module, node.value)
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
    return None


def _reached(start: Function | None) -> Iterator[Function]:
    """A function and those of the cases that it names, and these name, each once."""
    seen, waiting = set(), [start] if start else []
    while waiting:
        function = waiting.pop()
        key = function.module.__name__, function.node.name
        if key in seen:
            continue
        seen.add(key)
        yield function
        for node in ast.walk(function.node):
            value = _value(function.module, node) if isinstance(node, ast.Name | ast.Attribute) else None
            home = getattr(value, "__module__", None) or ""
            if inspect.isfunction(value) and home.partition(".")[0] == CASES:
                target = _definition(importlib.import_module(home), value.__name__)
                waiting += [target] if target else []


def _definition(module: ModuleType, name: str) -> Function | None:
    node = _functions(module.__name__).get(name)
    return Function(module, node) if node else None


@cache
def _functions(module: str) -> dict[str, ast.FunctionDef]:
    """Functions that a module defines at its top."""
    path = Path(inspect.getfile(importlib.import_module(module)))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _caption(own: Contents, function: Function, call: ast.Call) -> None:
    """Caption of the picture that a call writes: the first sentence of the function that draws it."""
    stems = [node.value[:-4] for argument in call.args for node in ast.walk(argument) if _is_picture(node)]
    if not stems:
        return
    drawing = call.func
    if isinstance(drawing, ast.Attribute) and drawing.attr == "save" and call.args:  # plot.save(plot.kind(…), path)
        drawing = call.args[0].func if isinstance(call.args[0], ast.Call) else drawing
    value = _value(function.module, drawing)
    if value is None and function.node.name == "write":  # which writes much else
        return
    text = inspect.getdoc(value) if value is not None else ast.get_docstring(function.node)
    for stem in stems:
        own.captions.setdefault(stem, sentence(text or ""))


def _is_picture(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(".png")


def sentence(text: str) -> str:
    """The first sentence of a docstring as a caption."""
    first = re.split(r"(?<!fig)(?<!sec)(?<!eq)\.\s", " ".join(text.partition("\n\n")[0].split()))[0].rstrip(".")
    first = first.replace("``", "")
    for verb in ("Draw ", "Write ", "Picture of ", "A picture of "):
        first = first.removeprefix(verb)
    return f"{first[:1].upper()}{first[1:]}." if first else ""
