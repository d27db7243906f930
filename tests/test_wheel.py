"""The wheel holds everything, and the command line works from it, away from the checkout.

Ten seconds, as a wheel is built and installed, and each answer comes from a Python process of its own.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("flexph", "fem", "rigid", "cases")


def can_build() -> bool:
    """Whether pip and a setuptools that reads SPDX licences are here; the `test` extra brings both."""
    if not all(importlib.util.find_spec(name) for name in ("pip", "setuptools")):
        return False
    return int(version("setuptools").partition(".")[0]) >= 77


pytestmark = pytest.mark.skipif(not can_build(), reason="needs pip and setuptools>=77, see the test extra")


def python(*args, cwd, **environment):
    """Run this Python in a folder, and return what it prints."""
    command = [sys.executable, *map(str, args)]
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | environment
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy of the sources, because a build leaves files beside them; without compiled loops."""
    copy = tmp_path_factory.mktemp("sources")
    for name in ("pyproject.toml", "setup.py", "build_sources.py", "build_loops.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for room in ROOMS:
        ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "built.json")
        shutil.copytree(ROOT / room, copy / room, ignore=ignored)
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    python("-m", "pip", "wheel", *offline, "--wheel-dir", "dist", ".", cwd=copy, FLEXPH_LOOPS="none")
    (path,) = (copy / "dist").glob("flexph-*.whl")
    return path


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """Install the wheel into a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    offline = ("--no-deps", "--no-index", "--disable-pip-version-check")
    python("-m", "pip", "install", *offline, "--no-compile", "--target", folder, wheel, cwd=folder)
    return folder


def test_the_wheel_holds_every_module_and_nothing_else(wheel):
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".py")}
    assert packed == {path.relative_to(ROOT).as_posix() for room in ROOMS for path in (ROOT / room).rglob("*.py")}


def test_the_wheel_carries_declarations_of_loops_and_no_build_of_others(wheel):
    """What compiles loops again stands beside them; what an installation in the checkout has compiled does not."""
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith((".pxd", ".hpp", ".so", ".pyd"))}
    sources = {path for suffix in ("pxd", "hpp") for path in (ROOT / "flexph").rglob(f"*.{suffix}")}
    assert packed == {path.relative_to(ROOT).as_posix() for path in sources} != set()


@pytest.mark.parametrize("room", ROOMS)
def test_the_wheel_announces_its_types(wheel, room):
    assert f"{room}/py.typed" in zipfile.ZipFile(wheel).namelist()


def test_the_wheel_carries_the_meshes_and_their_scripts(wheel):
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("cases/meshes/")}
    assert packed == {path.relative_to(ROOT).as_posix() for path in (ROOT / "cases" / "meshes").iterdir()} != set()


def test_the_wheel_carries_the_model_files(wheel):
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("flexph/models/examples/")}
    folder = ROOT / "flexph" / "models"
    assert packed == {path.relative_to(ROOT).as_posix() for path in (folder / "examples").iterdir()} != set()


def test_the_rooms_are_imported_from_the_wheel(site, tmp_path):
    source = f"import {', '.join(ROOMS)}; print({', '.join(f'{room}.__file__' for room in ROOMS)}, sep='\\n')"
    places = python("-c", source, cwd=tmp_path, PYTHONPATH=str(site)).split()
    assert places == [str(site / room / "__init__.py") for room in ROOMS]


@pytest.mark.parametrize("by", ["module", "script"])
def test_the_command_line_lists_both_cases(site, tmp_path, by):
    if by == "script" and os.name != "posix":
        pytest.skip("elsewhere the script is a program, not a Python file")
    command = ["-m", "flexph"] if by == "module" else [site / "bin" / "flexph"]
    listed = python(*command, "list", cwd=tmp_path, PYTHONPATH=str(site))
    for name in ("crank-slider", "four-bar"):
        (line,) = (line for line in listed.splitlines() if line.strip(" │┃|").split()[:1] == [name])
        assert "not installed" not in line  # in place of a description, if the case cannot be imported
