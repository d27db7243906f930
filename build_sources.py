"""Sources of compiled loops: which modules are loops, and the one module of each folder that Cython is given.

Each folder with loops becomes one extension module, ``compiled``: what Cython and a compiler do once for each module
takes more time than the loops. :func:`joined_modules` writes its source, in which a name ``f`` of a module ``x.py`` is
``x__f``; flexph/numerics/loops/built.py imports ``x`` from there.

Some functions of mechanics solve real systems and, for Gauss collocation, complex ones (see gauss/scheme.py in
flexph/integration/loops). Their declarations speak of ``Number``, ``AnyVec``, ``AnyMat`` and ``AnyMemory``, which a
``.pxd`` cimports as double and its views; each is there a second time, as ``x_complex__f``, over complex numbers. Where
loops run uncompiled the first serves both. Complex systems never decay: branches ``if decay > 0`` are left out.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parent
PACKAGE = "flexph"
JOINED = "compiled"
"""Name of the extension module of a folder."""
SUFFIX = "_complex"
"""What second functions have in their names, as modules from which gauss cimports them."""
IMPORT = re.compile(r"^import cython$", re.MULTILINE)
"""What every module of loops does, for it names types where it runs uncompiled."""
CIMPORT = re.compile(r"^from (\S+) cimport (?:\(([^)]*)\)|([^\n(]*))$", re.MULTILINE)
DECLARATION = re.compile(r"^cp?def [^\n=]*?\b(\w+)\([^\n]*\) noexcept nogil$", re.MULTILINE)
NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
ANY = re.compile(r"\b(Number|AnyVec|AnyMat|AnyTen|AnyMemory)\b")
COMPLEX = {
    "Number": "ComplexNumber",
    "AnyVec": "CVec",
    "AnyMat": "CMat",
    "AnyTen": "CTen",
    "AnyMemory": "ComplexMemory",
}
LEFT_OUT = "decay > 0"
UNCOMPILED = "not cython.compiled"


def loops(root: Path = ROOT) -> list[Path]:
    """Find the modules of loops: their ``.py``, relative to the root."""
    declared = (path.with_suffix(".py") for path in (root / PACKAGE).rglob("*.pxd"))
    found = (path for path in declared if path.exists() and IMPORT.search(path.read_text(encoding="utf-8")))
    return sorted(path.relative_to(root) for path in found if path.stem != JOINED)


def sources(root: Path = ROOT) -> list[Path]:
    """Find all files on which compiled loops depend, relative to the root."""
    declarations = (path for suffix in ("pxd", "hpp") for path in (root / PACKAGE).rglob(f"*.{suffix}"))
    return sorted({*loops(root), *(path.relative_to(root) for path in declarations if path.stem != JOINED)})


@dataclass(frozen=True)
class Module:
    """A module of loops: dotted name, text of its ``.py`` and of its ``.pxd``."""

    name: str
    source: str
    declared: str

    @property
    def folder(self) -> str:
        """Dotted name of its folder."""
        return self.name.rpartition(".")[0]

    @cached_property
    def body(self) -> list[ast.stmt]:
        """Statements of the module."""
        return ast.parse(self.source).body

    @cached_property
    def own(self) -> set[str]:
        """Names of functions and constants, and what is imported by Python."""
        names = {node.name for node in self.body if isinstance(node, ast.FunctionDef)}
        for node in self.body:
            if isinstance(node, ast.Assign):
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, ast.Import | ast.ImportFrom):
                names |= {alias.asname or alias.name for alias in node.names}
        return names - {"cython"}

    @cached_property
    def general(self) -> set[str]:
        """Names of functions over numbers of any kind."""
        return {match[1] for match in DECLARATION.finditer(self.declared) if ANY.search(match[0])}

    def joined(self, name: str, second: bool) -> str:
        """A name in the module of the folder."""
        stem = self.name.rpartition(".")[2]
        return f"{stem}{SUFFIX * (second and name in self.general)}__{name}" if name in self.own else name


def joined_modules(root: Path = ROOT) -> dict[Path, str]:
    """Texts of the modules that Cython is given, by their paths relative to the root."""
    modules = {}
    for path in loops(root):
        name = ".".join(path.with_suffix("").parts)
        declared = (root / path).with_suffix(".pxd").read_text(encoding="utf-8")
        modules[name] = Module(name, (root / path).read_text(encoding="utf-8"), declared)
    texts = {}
    for folder in sorted({module.folder for module in modules.values()}):
        statements, cimports, declarations = ["import cython"], set(), []
        for module in (module for module in modules.values() if module.folder == folder):
            for second in (False, True)[: 1 + bool(module.general)]:
                names, lines = _names(module, second, modules)
                statements += _statements(module, second, names)
                cimports |= lines
                declarations.append(_declarations(module, second, names))
        path = Path(*folder.split("."), f"{JOINED}.py")
        texts[path] = "\n".join(statements) + "\n"
        texts[path.with_suffix(".pxd")] = "\n".join([*sorted(cimports), *declarations])
    return texts


def _names(module: Module, second: bool, modules: dict[str, Module]) -> tuple[dict[str, str], set[str]]:
    """Names that change, and what is cimported."""
    names = {name: module.joined(name, second) for name in module.own}
    lines = set()
    for place, several, items in CIMPORT.findall(module.declared):
        other = modules.get(_absolute(module.name, place.removesuffix(SUFFIX)))
        for item in filter(None, (item.strip() for item in (several or items).split(","))):
            name, _, alias = item.partition(" as ")
            given, at = name, place
            if second and (alias or name) in COMPLEX:
                given, at = COMPLEX[alias or name], place.replace(".memory.memory", ".memory.paired")
            if other is not None:
                given, at = (
                    other.joined(name, second or place.endswith(SUFFIX)),
                    place[: place.rindex(".") + 1] + JOINED,
                )
            names[alias or name] = given
            if other is None or other.folder != module.folder:
                lines.add(f"from {at} cimport {given}")
    return {name: given for name, given in names.items() if name != given}, lines


def _absolute(module: str, place: str) -> str:
    """A module that is named relative to another one."""
    name = place.lstrip(".")
    dots = len(place) - len(name)
    return ".".join([*module.split(".")[:-dots], name]) if dots else place


def _declarations(module: Module, second: bool, names: dict[str, str]) -> str:
    """Declarations with the names of the joined module; a second time, those of general functions."""
    text = CIMPORT.sub("", module.declared)
    if second:
        text = "\n".join(match[0] for match in DECLARATION.finditer(text) if match[1] in module.general)
    return NAME.sub(lambda word: names.get(word[0], word[0]), text).strip()


def _statements(module: Module, second: bool, names: dict[str, str]) -> list[str]:
    """Statements with the names of the joined module; a second time, those of general functions."""
    made = []
    for node in ast.parse(module.source).body:
        if isinstance(node, ast.FunctionDef):
            if not second or node.name in module.general:
                made.append(_Renamed(names, second).visit(node))
        elif second or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            continue
        elif isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [ast.alias(a.name, names[a.asname or a.name]) for a in node.names if a.name != "cython"]
            made += [node] * bool(node.names)
        elif isinstance(node, ast.Assign):
            made.append(_Renamed(names, second).visit(node))
        elif not isinstance(node, ast.Expr) and not (isinstance(node, ast.If) and ast.unparse(node.test) == UNCOMPILED):
            raise ValueError(f"{module.name}: loops have imports, constants and functions, no {ast.unparse(node)!r}")
    return [ast.unparse(node) for node in made]


class _Renamed(ast.NodeTransformer):
    """Statements with other names, but for those of a function's own variables, and without annotations."""

    def __init__(self, names: dict[str, str], second: bool) -> None:
        self.names, self.second = names, second

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Keep the names of arguments and local variables."""
        inner = list(ast.walk(node))
        local = {item.arg for item in inner if isinstance(item, ast.arg)}
        local |= {item.id for item in inner if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
        of_module, self.names = self.names, {old: new for old, new in self.names.items() if old not in local}
        self.generic_visit(node)
        self.names = of_module
        node.name, node.returns = self.names[node.name], None
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Leave out what Cython does not read."""
        return ast.arg(node.arg)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Change a name of the module."""
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        """Leave out of second functions what complex systems never do."""
        if self.second and not node.orelse and ast.unparse(node.test).startswith(LEFT_OUT):
            return None
        return self.generic_visit(node)
