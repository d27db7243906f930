"""Statements of source texts."""

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements within a node, but not their expressions: five times as fast as `ast.walk`."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        for child in getattr(node, field, ()):
            yield child
            yield from statements(child)


Imported = tuple[int, str | None, tuple[str, ...]]
"""Dots of an import, the module after `from` (None without `from`), and the names."""


@cache
def imported(path: Path) -> tuple[Imported, ...]:
    """All imports of a file, wherever in its text; it is parsed once for all tests."""
    gc.disable()  # a tree has no cycles, and looking for them takes half of the time
    try:
        return tuple(imports_of(path.read_text(encoding="utf-8")))
    finally:
        gc.enable()


def imports_of(source: str) -> Iterator[Imported]:
    """Yield the imports of a text."""
    for node in statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield 0, None, tuple(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", tuple(alias.name for alias in node.names)
