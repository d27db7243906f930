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
RECORDED = "_recorded"
"""What modules of functions over recorded numbers have in their names where they are cimported."""
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
    def statements(self) -> dict[str, ast.stmt]:
        """Functions and constants by their names."""
        functions: dict[str, ast.stmt] = {node.name: node for node in self.body if isinstance(node, ast.FunctionDef)}
        constants = (node for node in self.body if isinstance(node, ast.Assign))
        return functions | {target.id: node for node in constants for target in node.targets}

    @cached_property
    def cimported(self) -> dict[str, tuple[str, str]]:
        """Modules and names there of what is cimported, by the names here."""
        own = {}
        for place, several, items in CIMPORT.findall(self.declared):
            for item in filter(None, (item.strip() for item in (several or items).split(","))):
                name, _, alias = item.partition(" as ")
                own[alias or name] = _absolute(self.name, place), name
        return own

    def import_of(self, name: str, alias: str) -> str:
        """Statement that imports a name which the module imports by Python, under an alias."""
        for node in self.body:
            for one in node.names if isinstance(node, ast.ImportFrom) else ():
                if (one.asname or one.name) == name:
                    place = _absolute(self.name, "." * node.level + (node.module or ""))
                    return f"from {place} import {one.name} as {alias}"
        raise ValueError(f"{self.name}: {name} is not imported")

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
        statements, cimports, declarations, recording = ["import cython"], set(), [], Recording(modules)
        for module in (module for module in modules.values() if module.folder == folder):
            for second in (False, True)[: 1 + bool(module.general)]:
                names, lines = _names(module, second, modules, recording)
                statements += _statements(module, second, names)
                cimports |= lines
                declarations.append(_declarations(module, second, names))
        if recording.reached:
            statements[1:1] = recording.statements()
            declarations.insert(0, recording.declarations())
            cimports |= recording.cimports
        path = Path(*folder.split("."), f"{JOINED}.py")
        texts[path] = "\n".join(statements) + "\n"
        texts[path.with_suffix(".pxd")] = "\n".join([*sorted(cimports), *declarations])
    return texts


def _names(
    module: Module, second: bool, modules: dict[str, Module], recording: Recording
) -> tuple[dict[str, str], set[str]]:
    """Names that change, and what is cimported."""
    names = {name: module.joined(name, second) for name in module.own}
    lines = set()
    for place, several, items in CIMPORT.findall(module.declared):
        of = _absolute(module.name, place.removesuffix(SUFFIX).removesuffix(RECORDED))
        other = modules.get(of)
        for item in filter(None, (item.strip() for item in (several or items).split(","))):
            name, _, alias = item.partition(" as ")
            given, at = name, place
            if place.endswith(RECORDED) and other is not None:
                names[alias or name] = recording.reach(of, name)
                continue
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


def _local_names(node: ast.FunctionDef) -> set[str]:
    """Names of arguments and local variables of a function."""
    inner = list(ast.walk(node))
    stored = {item.id for item in inner if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
    return stored | {item.arg for item in inner if isinstance(item, ast.arg)}


class _Renamed(ast.NodeTransformer):
    """Statements with other names, but for those of a function's own variables, and without annotations."""

    def __init__(self, names: dict[str, str], second: bool) -> None:
        self.names, self.second = names, second

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Keep the names of arguments and local variables."""
        local = _local_names(node)
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


RECORDED_TYPES = {
    **{"double": "Recorded", "Vec": "RVec", "Mat": "RMat", "Ten": "RTen", "Memory": "RecordedMemory"},
    **{"Number": "Recorded", "AnyVec": "RVec", "AnyMat": "RMat", "AnyTen": "RTen", "AnyMemory": "RecordedMemory"},
    **{name: f"Recorded{name}" for name in ("Deformed", "Given", "Momenta", "Scheme", "Surfaces")},
    "AtNodes": "RecordedNodes",
}
COMMON = {"copy", "fill", "entries", "part", "average", "most", "fewest", "distance", "padded", "stored", "call_one"}
COMMON |= {"IVec", "IMat", "ITen"}
"""Functions of views for numbers of any kind, and views of whole numbers."""
VIEWS = f"{PACKAGE}.numerics.loops.views"
NUMBERS = f"{PACKAGE}.numerics.loops.recorded"
FOREIGN = (VIEWS, f"{PACKAGE}.numerics.loops.functions", "libc.math")
"""Modules whose functions of real numbers have namesakes for recorded ones, in ``NUMBERS``."""
RECORDED_MEMORY = f"{PACKAGE}.integration.loops.memory.recorded"
RECORDED_NODES = f"{PACKAGE}.integration.loops.recorded.nodes"
"""Module with the scheme of Gauss collocation over recorded numbers, and with what is given for a step or its nodes."""
RECORDED_SURFACES = f"{PACKAGE}.integration.loops.recorded.surfaces"
"""Module with the data of surfaces as recorded numbers."""
STAGE = f"{PACKAGE}.integration.loops.memory.memory", "stage"
"""Function that has a namesake ``recorded`` for memories of recorded numbers."""
PLAIN = {"INFINITY", "NAN", "M_PI"}
NEVER_RECORDED = {f"{of} > 0" for kind in ("decay", "friction") for of in (kind, f"kinds.{kind}")}
"""Conditions of branches that functions over recorded numbers do not have; they have what stands behind ``else``."""


class Recording:
    """Functions over recorded numbers (see recorded.hpp), with all that they call, for the module of a folder.

    ``f`` of a module ``a/x.py`` is ``a_x_recorded__f``. A ``.pxd`` cimports it from ``..a.x_recorded``; its statements
    are those of the loops, over other types.
    """

    def __init__(self, modules: dict[str, Module]) -> None:
        self.modules = modules
        self.reached: dict[tuple[str, str], ast.stmt] = {}
        self.cimports: set[str] = set()

    def reach(self, module: str, name: str) -> str:
        """Take a function or a constant of a module, and what it uses; return its name."""
        if (module, name) not in self.reached:
            statement = ast.parse(ast.unparse(self.modules[module].statements[name])).body[0]
            node = self.reached[module, name] = _Pruned().visit(statement)
            for used in {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}:
                of, own = self._source(module, used)
                if of in self.modules and own in self.modules[of].statements:
                    self.reach(of, own)
        return self._unique(module, name)

    def _unique(self, module: str, name: str) -> str:
        return f"{'_'.join(module.split('.')[-2:])}{RECORDED}__{name}"

    def _source(self, module: str, used: str) -> tuple[str, str]:
        """Module where a name of a module is defined, and its name there."""
        return self.modules[module].cimported.get(used, (module, used))

    def name_of(self, module: str, used: str) -> str:
        """Name in the joined module of what a name stands for in a module."""
        of, own = self._source(module, used)
        if (of, own) in self.reached:
            return self._unique(of, own)
        if own in RECORDED_TYPES and (used in RECORDED_TYPES or of in (VIEWS, RECORDED_MEMORY)):
            return RECORDED_TYPES[own]
        if of == module:
            return used
        if (of, own) == STAGE:
            self.cimports.add(f"from {RECORDED_MEMORY} cimport recorded as recorded__stage")
            return "recorded__stage"
        if of in FOREIGN and own not in COMMON | PLAIN:
            self.cimports.add(f"from {NUMBERS} cimport {own} as recorded__{own}")
            return f"recorded__{own}"
        self.cimports.add(f"from {of} cimport {own}")
        return own

    def is_real(self, module: str, name: str) -> bool:
        """True for the name of a constant that is a real number."""
        node = self.reached.get(self._source(module, name))
        return isinstance(node, ast.Assign) and ast.unparse(node).partition("cython.declare(")[2].startswith(
            "cython.double"
        )

    def statements(self) -> list[str]:
        """Statements of all functions and constants; constants are imported from Python where they are defined."""
        made = []
        for (module, name), node in self.reached.items():
            one = ast.parse(ast.unparse(node)).body[0]
            if isinstance(one, ast.Assign):
                one.targets = [ast.Name(self._unique(module, name), ast.Store())]
                for own in {item.id for item in ast.walk(one.value) if isinstance(item, ast.Name)} - {"cython"}:
                    made.append(self.modules[module].import_of(own, f"{self._unique(module, name)}_of"))
                    one = _Replaced(own, f"{self._unique(module, name)}_of").visit(one)
            else:
                one = _Recorded(self, module).visit(one)
            made.append(ast.unparse(one))
        return made

    def declarations(self) -> str:
        """Declarations of all functions and constants, and of types that they name."""
        made = []
        for (module, name), node in self.reached.items():
            if isinstance(node, ast.Assign):
                kind = ast.unparse(node.value.args[0]).removeprefix("cython.")
                made.append(f"cdef {kind} {self._unique(module, name)}")
            else:
                lines = DECLARATION.finditer(self.modules[module].declared)
                line = next((match[0] for match in lines if match[1] == name), None)
                if line is None:
                    raise ValueError(f"function {name} of {module} has no declaration in the .pxd file of this module")
                made.append(NAME.sub(lambda word, of=module: self._declared(of, word[0]), line))
        types = ", ".join(("Recorded", "RVec", "RMat", "RTen"))
        self.cimports.add(f"from {NUMBERS} cimport {types}")
        self.cimports.add(f"from {RECORDED_MEMORY} cimport RecordedMemory")
        for own in ("Deformed", "Given", "Momenta", "Nodes", "Scheme"):
            self.cimports.add(f"from {RECORDED_NODES} cimport Recorded{own}")
        self.cimports.add(f"from {RECORDED_SURFACES} cimport RecordedSurfaces")
        return "\n".join(made)

    def _declared(self, module: str, word: str) -> str:
        module_or_type = word in RECORDED_TYPES or self._source(module, word) != (module, word)
        return self.name_of(module, word) if module_or_type or (module, word) in self.reached else word


class _Pruned(ast.NodeTransformer):
    """A function without the branches for what has no gradients."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt] | None:
        """Leave a branch out."""
        self.generic_visit(node)
        return (node.orelse or None) if ast.unparse(node.test) in NEVER_RECORDED else node


class _Replaced(ast.NodeTransformer):
    """A name for another one."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Change the name."""
        return ast.Name(self.new, node.ctx) if node.id == self.old else node


class _Recorded(ast.NodeTransformer):
    """A function over recorded numbers."""

    def __init__(self, recording: Recording, module: str) -> None:
        self.recording, self.module = recording, module
        self.local: set[str] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Keep the names of arguments and local variables, and leave out what Cython does not read."""
        self.local = _local_names(node)
        self.generic_visit(node)
        node.name, node.returns = self.recording.name_of(self.module, node.name), None
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Leave out annotations."""
        return ast.arg(node.arg)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Declare recorded numbers in place of real ones."""
        if ast.unparse(node) == "cython.double":
            return ast.Name("Recorded", ast.Load())
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Let both values of a choice be recorded numbers: Cython takes a literal's type for that of both."""
        for side in ("body", "orelse"):
            value = getattr(node, side)
            is_constant = isinstance(value, ast.Name) and self.recording.is_real(self.module, value.id)
            visited = self.visit(value)
            literal = value.operand if isinstance(value, ast.UnaryOp) else value  # −1.0 has a sign
            if is_constant or (isinstance(literal, ast.Constant) and isinstance(literal.value, float)):
                visited = ast.parse(f"cython.cast(Recorded, {ast.unparse(visited)})", mode="eval").body
            setattr(node, side, visited)
        node.test = self.visit(node.test)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Change a name of the module."""
        if node.id in self.local or node.id in BUILT_IN:
            return node
        return ast.Name(self.recording.name_of(self.module, node.id), node.ctx)


BUILT_IN = {"cython", "range", "abs", "int", "float", "bool", "True", "False"}
