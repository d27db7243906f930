"""Declarations of loops in C beside their sources in Python: structures have the same fields in the same order."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import flexph
from flexph.integration.loops.memory import declaration

ROOT = Path(flexph.__file__).parents[1]
STRUCT = re.compile(r"^cdef struct (\w+):\n((?:    .*\n?)+)", re.MULTILINE)
PLAIN = [path for path in sorted((ROOT / "flexph").rglob("*.pxd")) if "cdef struct" in path.read_text(encoding="utf-8")]


def test_the_memory_is_declared_by_its_fields():
    for path, text in declaration.files().items():
        assert path.read_text(encoding="utf-8") == text, f"run python -m {declaration.__name__}"


@pytest.mark.parametrize("path", [path for path in PLAIN if path.parent.name != "memory"], ids=lambda path: path.stem)
def test_structures_are_named_tuples(path):
    module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    structures = STRUCT.findall(path.read_text(encoding="utf-8"))
    assert structures
    for name, fields in structures:
        names = [line.split()[-1] for line in fields.strip().split("\n") if not line.strip().startswith("#")]
        assert tuple(names) == getattr(module, name)._fields, name


MOST = 6


def test_no_function_of_the_loops_takes_a_long_list():
    """What is handed through is one structure, as the prescribed values of a step (``Given``), not a list of arrays."""
    sources = (path.with_suffix(".py") for path in (ROOT / "flexph").rglob("*.pxd"))
    texts = {path: path.read_text(encoding="utf-8") for path in sources if path.exists()}
    long = {
        f"{path.name}: {node.name}": len(node.args.args)
        for path, text in texts.items()
        for node in ast.walk(ast.parse(text if "\nimport cython\n" in text else ""))
        if isinstance(node, ast.FunctionDef) and len(node.args.posonlyargs + node.args.args) > MOST
    }
    assert long == {}


def is_whole(node):
    """A whole number that is written out."""
    if isinstance(node, ast.UnaryOp):
        return is_whole(node.operand)
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def test_no_entry_is_set_to_a_conditional_whole_number():
    """Cython 3.3 keeps the address of a temporary for ``a[i] = 1 if c else b[j]``: an entry that is anything at all."""
    found = []
    for path in sorted((ROOT / "flexph").rglob("*.pxd")):
        source = path.with_suffix(".py")
        text = source.read_text(encoding="utf-8") if source.exists() else ""
        for node in ast.walk(ast.parse(text if "\nimport cython\n" in text else "")):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp):
                arms = node.value.body, node.value.orelse
                if any(isinstance(target, ast.Subscript) for target in node.targets) and any(map(is_whole, arms)):
                    found.append(f"{source.relative_to(ROOT)}:{node.lineno}")
    assert found == []
