"""The rooms of the packages: which imports which, how many modules each holds, and that no circle of files is left.

Three seconds, as all modules are parsed, and their imports followed to the modules that define the names.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest
from source_statements import imported

ROOT = Path(__file__).parents[1]
PACKAGES = ("flexph", "fem", "rigid")
LARGEST, LARGEST_ROOT = 15, 6
"""Modules of a folder, and of the three at the top."""


@cache
def modules() -> dict[str, Path]:
    """Files of the packages by the names of their modules."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def imports(module: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules that a file imports, wherever in its text: local imports and those for types, too."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for dots, own, names in imported(path):
        if own is None:
            yield from names
            continue
        origin = resolve_name("." * dots + own, package)
        yield from (f"{origin}.{name}" if f"{origin}.{name}" in known else origin for name in names)


@cache
def arrows() -> dict[str, set[str]]:
    """What each module imports of these packages."""
    known = modules()
    return {name: {o for o in imports(name, path, known) if o in known} - {name} for name, path in known.items()}


def room_of(module: str) -> str:
    """The folder that a module lies in; a package lies in itself."""
    return module if modules()[module].name == "__init__.py" else module.rpartition(".")[0]


@cache
def rooms() -> dict[str, set[str]]:
    """The other rooms that the modules of each room import."""
    of = {module: room_of(module) for module in modules()}
    found: dict[str, set[str]] = {room: set() for room in of.values()}
    for module, targets in arrows().items():
        found[of[module]] |= {of[target] for target in targets} - {of[module]}
    return found


@pytest.mark.parametrize("graph", [arrows, rooms])
def test_no_circle_of_imports(graph):
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


@pytest.mark.parametrize("room", sorted({room_of(module) for module in modules()} - set(PACKAGES)))
def test_a_room_says_what_it_imports(room):
    """The paragraph ``Imports: …`` of its docstring names just the rooms that its modules import."""
    text = " ".join((ast.get_docstring(ast.parse(modules()[room].read_text(encoding="utf-8"))) or "").split())
    listed = text.partition("Imports: ")[2].removesuffix(".")
    own = f"{room.partition('.')[0]}." if room.startswith("flexph.") else ""
    given = set() if listed == "no other room" else set(listed.split(", "))
    assert given == {name.removeprefix(own) for name in rooms()[room]}


def test_no_room_is_crowded():
    held = Counter(room_of(name) for name, path in modules().items() if path.name != "__init__.py")
    crowded = {room: n for room, n in held.items() if n > (LARGEST_ROOT if room in PACKAGES else LARGEST)}
    assert not crowded
