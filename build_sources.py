"""Sources of compiled loops: which modules are loops, and second modules over complex systems, made for the build.

Some functions of mechanics solve real systems and, for Gauss collocation, complex ones (see gauss/scheme.py in
flexph/integration/loops). Their declarations speak of ``Number``, ``AnyVec``, ``AnyMat`` and ``AnyMemory``, which a
``.pxd`` cimports as double and its views. Of a module ``x.py`` with such functions this makes ``x_complex.py`` and its
``.pxd`` with these functions alone, in which the same names are those of complex numbers. Where loops run uncompiled
the first module serves both. Complex systems never decay: branches ``if decay > 0`` are left out.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent
PACKAGE = "flexph"
IMPORT = re.compile(r"^import cython$", re.MULTILINE)
"""What every module of loops does, for it names types where it runs uncompiled."""
SUFFIX = "_complex"
ANY = re.compile(r"\b(Number|AnyVec|AnyMat|AnyTen|AnyMemory)\b")
DECLARATION = re.compile(r"^cp?def [^\n=]*?\b(\w+)\([^\n]*\) noexcept nogil$", re.MULTILINE)
CIMPORT = re.compile(r"from (\S+) cimport (.*)$")
COMPLEX = {
    "Number": "ComplexNumber as Number",
    "Vec as AnyVec": "CVec as AnyVec",
    "Mat as AnyMat": "CMat as AnyMat",
    "Ten as AnyTen": "CTen as AnyTen",
}
LEFT_OUT = "decay > 0"


def loops(root: Path = ROOT) -> list[Path]:
    """Find the modules of loops: their ``.py``, relative to the root."""
    declared = (path.with_suffix(".py") for path in (root / PACKAGE).rglob("*.pxd"))
    found = (path for path in declared if path.exists() and IMPORT.search(path.read_text(encoding="utf-8")))
    return sorted(path.relative_to(root) for path in found)


def sources(root: Path = ROOT) -> list[Path]:
    """Find all files on which compiled loops depend, relative to the root."""
    declarations = (path for suffix in ("pxd", "hpp") for path in (root / PACKAGE).rglob(f"*.{suffix}"))
    return sorted({*loops(root), *(path.relative_to(root) for path in declarations)})


def general_functions(declarations: str) -> dict[str, str]:
    """Find the functions over numbers of any kind in the text of a ``.pxd``, with their declarations."""
    found = ((match[1], match[0]) for match in DECLARATION.finditer(declarations))
    return {name: line for name, line in found if ANY.search(line)}


def complex_modules(root: Path = ROOT) -> dict[Path, str]:
    """Texts of the second modules of a source tree by their paths relative to the root."""
    given = {path: path.read_text(encoding="utf-8") for path in sorted((root / PACKAGE).rglob("*.pxd"))}
    given = {path: text for path, text in given.items() if not path.stem.endswith(SUFFIX)}
    general = {_dotted(root, path): general_functions(text) for path, text in given.items()}
    made = {}
    for path, text in given.items():
        own = general[_dotted(root, path)]
        if own:
            source = _source(path.with_suffix(".py").read_text(encoding="utf-8"), set(own))
            second = path.relative_to(root).with_name(f"{path.stem}{SUFFIX}.py")
            made[second] = source
            made[second.with_suffix(".pxd")] = _declarations(text, source, _dotted(root, path), general)
    return made


def _dotted(root: Path, path: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts)


def _source(text: str, names: set[str]) -> str:
    """The module with these functions alone, without branches that are left out."""
    tree, left_out = ast.parse(text), set()
    for node in ast.walk(tree):
        other = isinstance(node, ast.FunctionDef) and node.name not in names
        if other or (isinstance(node, ast.If) and not node.orelse and ast.unparse(node.test).startswith(LEFT_OUT)):
            left_out |= set(range(node.lineno - 1, node.end_lineno or node.lineno))
    return "\n".join(line for i, line in enumerate(text.split("\n")) if i not in left_out)


def _declarations(text: str, source: str, module: str, general: dict[str, dict[str, str]]) -> str:
    """Its ``.pxd``: general functions of other modules are those of their second modules."""
    own, lines = general[module], []
    used = source[source.index("\ndef ") :] + "".join(own.values())
    for line in text.split("\n"):
        match = CIMPORT.match(line)
        if match is None:
            declared = DECLARATION.match(line)
            if declared is None or declared[1] in own:
                lines.append(line)
            continue
        place, items = match[1], match[2].split(", ")
        if match[2] in COMPLEX:
            lines.append(f"from {place} cimport {COMPLEX[match[2]]}")
            continue
        if match[2] == "Memory as AnyMemory":
            lines.append(f"from {place.removesuffix('.memory')}.paired cimport ComplexMemory as AnyMemory")
            continue
        others = general.get(_absolute(module, place), {})
        items = [item for item in items if re.search(rf"\b{item.split(' as ')[-1]}\b", used)]
        for suffix, chosen in (("", [i for i in items if i.split(" as ")[0] not in others]),
                               (SUFFIX, [i for i in items if i.split(" as ")[0] in others])):  # fmt: skip
            if chosen:
                lines.append(f"from {place}{suffix} cimport {', '.join(chosen)}")
    return "\n".join(lines)


def _absolute(module: str, place: str) -> str:
    """A module that is named relative to another one."""
    name = place.lstrip(".")
    dots = len(place) - len(name)
    return ".".join([*module.split(".")[:-dots], name]) if dots else place
