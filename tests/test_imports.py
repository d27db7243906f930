"""The arrows between the rooms: cases → fem, rigid → flexph.

Two seconds, as all modules are parsed.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec, resolve_name
from pathlib import Path

import pytest
from source_statements import imported, imports_of

ROOT = Path(__file__).parents[1]

TESTS = ("tests", *(path.stem for path in (ROOT / "tests").glob("*.py")))
FORBIDDEN = {
    "flexph": (*TESTS, "fem", "rigid", "cases", "skfem", "meshio"),
    "fem": (*TESTS, "rigid", "cases", "flexph.integration", "flexph.joints", "flexph.mechanisms.mechanism"),
    "rigid": (*TESTS, "fem", "cases", "skfem", "meshio"),
    "cases": (*TESTS, "skfem"),
}
EXCEPTIONS = {("flexph.export", "meshio"), ("flexph.meshes", "meshio"), ("rigid.bodies.solid", "meshio")}


def within(name: str, package: str) -> bool:
    """Whether a dotted name is the package or lies in it."""
    return f"{name}.".startswith(f"{package}.")


def imports(module: str, source: str | Path, *, is_package: bool = False) -> Iterator[str]:
    """Yield the full name of everything that a module imports, wherever in its text or file."""
    package = module if is_package else module.rpartition(".")[0]
    for dots, own, names in imported(source) if isinstance(source, Path) else imports_of(source):
        origin = "" if own is None else f"{resolve_name('.' * dots + own, package)}."
        yield from (f"{origin}{name}" for name in names)


def exports(package: str, source: str | Path) -> dict[str, str]:
    """Return origins of the names that a package passes on: `flexph.joints.hinge` for `flexph.hinge`."""
    return {
        f"{package}.{name.rpartition('.')[2]}": name
        for name in imports(package, source, is_package=True)
        if within(name, package)
    }


def broken(module: str, names: Iterator[str], passed_on: Mapping[str, str]) -> list[str]:
    """Return the arrows that the imports of a module break."""
    return [
        f"{module} imports {name}"
        for name in names
        for origin in {name, passed_on.get(name, name)}
        for package in FORBIDDEN[module.partition(".")[0]]
        if within(origin, package)
        and not any(within(module, place) and within(origin, what) for place, what in EXCEPTIONS)
    ]


def modules() -> dict[str, Path]:
    """Return the files of all rooms by the names of their modules."""
    paths = [path.relative_to(ROOT) for room in FORBIDDEN for path in sorted((ROOT / room).rglob("*.py"))]
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__"): ROOT / path for path in paths}


def test_no_arrow_is_broken():
    files = modules()
    passed_on = {}
    for module, path in files.items():
        if path.name == "__init__.py":
            passed_on |= exports(module, path)
    defects = []
    for module, path in files.items():
        names = imports(module, path, is_package=path.name == "__init__.py")
        defects += broken(module, names, passed_on)
    assert not defects, "\n".join(defects)


@pytest.mark.parametrize("room", FORBIDDEN)
def test_every_room_was_walked(room):
    # A walk through an empty house finds no defects.
    assert room in modules()


PASSED_ON = exports(
    "flexph", "from flexph.joints import hinge\nfrom .integration import *\nfrom .system import PHDAE\n"
)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("flexph.system", "import fem"),
        ("flexph.system", "import numpy, cases.four_bar"),
        ("flexph.system", "def late():\n    from rigid.bodies import body"),
        ("flexph.system", "if TYPE_CHECKING:\n    import fem as mesh"),
        ("flexph.system", "import skfem.helpers"),
        ("flexph.system", "import meshio"),
        ("flexph.exporting", "import meshio"),
        ("flexph.export", "import skfem"),
        ("fem.beam", "from flexph.integration.integrate import integrate"),
        ("fem.beam", "from flexph import joints"),
        ("fem.beam", "from flexph import hinge"),
        ("fem.beam", "import rigid"),
        ("rigid.bodies", "import meshio"),
        ("rigid.bodies", "from fem import beam"),
        ("cases.four_bar", "import skfem"),
        ("cases.four_bar", "from tests.samples.exact_beams import frequency"),
        ("cases.four_bar", "import test_imports"),
    ],
)
def test_a_broken_arrow_is_found(module, source):
    assert len(broken(module, imports(module, source), PASSED_ON)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("flexph.system", "import numpy as np\nfrom flexph.joints import hinge"),
        (
            "flexph.system",
            "from . import fem\nfrom .cases import find",
        ),  # modules of flexph that share a name
        ("flexph.system", "import femto, caseslib"),
        ("flexph.export", "import meshio"),
        ("flexph.export.vtk", "def write():\n    from meshio import Mesh"),
        ("fem.beam", "import skfem, meshio\nfrom flexph import PHDAE\nfrom .section import Section"),
        ("rigid.bodies", "from flexph.bodies.body import Body"),
        ("cases.four_bar", "import fem, rigid\nfrom flexph import hinge, connect"),
    ],
)
def test_a_whole_arrow_is_accepted(module, source):
    assert broken(module, imports(module, source), PASSED_ON) == []


@pytest.mark.parametrize("path", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda path: path.stem)
def test_benchmarks_import_what_is_there(path):
    """They are not run by the tests, and import within functions."""
    for name in imports("benchmark", path.read_text(encoding="utf-8")):
        package, _, last = name.rpartition(".")
        if package.partition(".")[0] in FORBIDDEN:
            try:
                module = import_module(package)
            except ModuleNotFoundError as error:
                if str(error.name).partition(".")[0] in FORBIDDEN:
                    raise
                pytest.skip(f"{package} needs {error.name}")
            assert hasattr(module, last) or find_spec(name)
