"""Pages of the reference: every public name, from the stubs that list them."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGES = ("flexph", "fem", "rigid")


@dataclass(frozen=True)
class PublicName:
    """A public name: its namespace and its value."""

    namespace: str
    name: str
    value: Any

    @property
    def full(self) -> str:
        """Its dotted name."""
        return f"{self.namespace}.{self.name}"

    @property
    def real(self) -> str:
        """The dotted name of the object where it is defined; of data its public one."""
        module, name = getattr(self.value, "__module__", None), getattr(self.value, "__qualname__", None)
        return f"{module}.{name}" if module and name else self.full


def namespaces() -> list[str]:
    """Packages with stubs, and modules that these list as public."""
    packages = [
        ".".join(stub.parent.relative_to(ROOT).parts)
        for package in PACKAGES
        for stub in sorted((ROOT / package).rglob("__init__.pyi"))
    ]
    modules = [
        f"{package}.{name}"
        for package in packages
        for name in importlib.import_module(package).__all__
        if isinstance(getattr(importlib.import_module(package), name), ModuleType)
    ]
    return sorted({*packages, *modules}, key=lambda name: (PACKAGES.index(name.split(".")[0]), name))


@cache
def public_names() -> dict[str, PublicName]:
    """Public names by their dotted names."""
    found = {}
    for namespace in namespaces():
        module = importlib.import_module(namespace)
        for name in module.__all__:
            value = getattr(module, name)
            if not isinstance(value, ModuleType):
                found[f"{namespace}.{name}"] = PublicName(namespace, name, value)
    return found


@cache
def homes() -> dict[str, str]:
    """The dotted name under which an object is documented, by that where it is defined: the shortest public one."""
    shortest: dict[str, str] = {}
    for public in sorted(public_names().values(), key=lambda public: (public.full.count("."), public.full)):
        shortest.setdefault(public.real, public.full)
    return shortest


def pages() -> dict[str, str]:
    """Pages of reStructuredText by name: one for each namespace, and the index."""
    written = {namespace: _page(namespace) for namespace in namespaces()}
    return written | {"index": _index(list(written))}


def _index(names: list[str]) -> str:
    listed = "\n".join(f"   {name}" for name in names)
    return (
        f"{_heading('Reference')}\nEvery public name, page by page. What is also public\n"
        f"under a shorter name is described there.\n\n.. toctree::\n   :maxdepth: 1\n\n{listed}\n"
    )


def _page(namespace: str) -> str:
    module = importlib.import_module(namespace)
    told = (inspect.getdoc(module) or "").partition("\nImports:")[0].strip()
    own = [public for public in public_names().values() if public.namespace == namespace]
    here = [public for public in own if homes()[public.real] == public.full]
    there = [public for public in own if homes()[public.real] != public.full]
    also = ", ".join(f":py:obj:`{public.name} <{homes()[public.real]}>`" for public in there)
    summaries = "\n".join(
        f"   * - :py:obj:`{public.name} <{public.full}>`\n     - {_summary(public)}" for public in here
    )
    parts = [
        f"{_heading(namespace)}\n.. py:module:: {namespace}\n\n{told}",
        f"Also here: {also}." if also else "",
        f".. list-table::\n   :widths: 30 70\n\n{summaries}" if here else "",
        *(_entry(public) for public in here),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _heading(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n"


def _summary(public: PublicName) -> str:
    if not (inspect.isclass(public.value) or inspect.isroutine(public.value)):
        return "A value."
    lines = (inspect.getdoc(public.value) or "").split("\n\n")[0].splitlines()
    return bars(" ".join(line.strip() for line in lines)) or "\\ "


def bars(text: str) -> str:
    """Text with its bars escaped, except those between backticks."""
    return "".join(
        part if part.startswith("`") else part.replace("|", "\\|") for part in re.split(r"(`+[^`]*`+)", text)
    )


def _entry(public: PublicName) -> str:
    if inspect.isclass(public.value):
        inherited = (
            "" if issubclass(public.value, BaseException) else "\n   :inherited-members: object, Generic, NamedTuple"
        )
        return f".. autoclass:: {public.full}\n   :members:{inherited}"
    if inspect.isroutine(public.value):
        return f".. autofunction:: {public.full}"
    return f".. autodata:: {public.full}\n   :no-value:"
