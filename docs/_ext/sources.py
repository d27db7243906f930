"""Functions that pages refer to by the role ``source``: each leads to the reference, or to a page with its lines."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from reference import homes

ROLE = re.compile(r"\{source\}`([^`]+)`")


def found(target: str) -> tuple[str, str, Any]:
    """Module, name in it and object of a dotted name; raises ValueError if there is none, or it is a module."""
    parts = target.split(".")
    for split in range(len(parts) - 1, 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:split]))
            value = _in_loops(module, parts[split]) if len(parts) - split == 1 else None
            if value is None:
                value = module
                for part in parts[split:]:
                    value = getattr(value, part)
        except (ImportError, AttributeError):
            continue
        if isinstance(value, ModuleType):
            raise ValueError(f"a module, where one of its functions was meant: {target}")
        return ".".join(parts[:split]), ".".join(parts[split:]), value
    raise ValueError(f"no such name: {target}")


def _in_loops(module: ModuleType, name: str) -> Any:
    """The text of a function of compiled loops, which Python does not see; None of other modules."""
    path = _path(module)
    text = path.read_text(encoding="utf-8") if path.suffix == ".py" else ""
    if "\nimport cython\n" not in text:
        return None
    return next((n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == name), None)


def _path(module: ModuleType) -> Path:
    """The source of a module, which stands in its folder where that is compiled."""
    path = Path(module.__file__ or "")
    folder, _, stem = module.__name__.rpartition(".")
    return path if path.suffix == ".py" else Path(*importlib.import_module(folder).__path__, f"{stem}.py")


def public_home(target: str) -> str | None:
    """The name under which the reference describes a function, class or method; None if it is not public."""
    module, name, value = found(target)
    real = f"{getattr(value, '__module__', module)}.{getattr(value, '__qualname__', name)}"
    owner, _, member = real.rpartition(".")
    return homes().get(real) or (f"{homes()[owner]}.{member}" if owner in homes() else None)


def label(target: str) -> str:
    """The label of a function on its page of lines."""
    return "source-" + re.sub(r"[^a-z0-9]+", "-", target.lower()).strip("-")


def targets(docs: Path) -> set[str]:
    """Targets of all references in the pages."""
    return {target for page in docs.rglob("*.md") for target in ROLE.findall(page.read_text(encoding="utf-8"))}


def pages(docs: Path) -> dict[str, str]:
    """Pages with the lines of functions that the reference does not describe, by module; and their index."""
    lines: dict[str, set[tuple[str, str]]] = {}
    for target in targets(docs):
        if public_home(target) is None:
            module, name, _ = found(target)
            lines.setdefault(module, set()).add((name, target))
    written = {module: _page(module, sorted(names)) for module, names in sorted(lines.items())}
    toctree = "\n".join(written)
    return written | {
        "index": "# Sources\n\nThis page lists the functions of the theory that are not public.\n\n"
        f"```{{toctree}}\n{toctree}\n```\n"
    }


def _page(module: str, names: list[tuple[str, str]]) -> str:
    path = "../../" + str(_path(importlib.import_module(module)).relative_to(Path(__file__).parents[2]))
    parts = [
        f"({label(target)})=\n\n## {name}\n\n```{{literalinclude}} {path}\n:pyobject: {name}\n:language: python\n```"
        for name, target in names
    ]
    return "\n\n".join([f"# {module}", *parts]) + "\n"
