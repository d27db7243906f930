"""The public names: all of them load, and none is loaded before it is asked for."""

import ast
import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STUBS = sorted(path for package in ("flexph", "fem", "rigid") for path in (ROOT / package).rglob("__init__.pyi"))
PACKAGES = [".".join(path.parent.relative_to(ROOT).parts) for path in STUBS]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there(package):
    module = importlib.import_module(package)
    assert module.__all__ == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_the_root_is_small_and_its_help_names_every_namespace():
    flexph = importlib.import_module("flexph")
    namespaces = [name for name in flexph.__all__ if inspect.ismodule(getattr(flexph, name))]
    assert len(flexph.__all__) - len(namespaces) <= 50
    text = inspect.getdoc(flexph)
    assert len(text.splitlines()) <= 22  # twenty below its title
    assert [name for name in namespaces if f"``flexph.{name}``" not in text] == []


@pytest.mark.parametrize("stub", STUBS, ids=PACKAGES)
def test_no_module_bears_the_name_of_a_public_function(stub):
    """Importing that module would replace the function by the module."""
    nodes = [n for n in ast.parse(stub.read_text(encoding="utf-8")).body if isinstance(n, ast.ImportFrom) and n.module]
    public = {alias.name for node in nodes for alias in node.names}
    assert public
    files = {path.stem for path in stub.parent.glob("*.py")} | {
        path.name for path in stub.parent.iterdir() if path.is_dir()
    }
    assert not public & files


@pytest.mark.parametrize("package", ["flexph", "fem", "rigid"])
def test_an_import_of_the_package_loads_no_library(package):
    libraries = {"numpy", "scipy", "skfem", "h5py", "click", "pydantic", "ruamel", "pint"}
    code = f"import {package}, sys; print(*sorted({libraries} & set(sys.modules)))"
    environment = {key: value for key, value in os.environ.items() if key != "EAGER_IMPORT"}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env=environment
    )
    assert run.stdout.split() == []


def test_the_list_of_cases_loads_neither_scipy_nor_a_case():
    code = (
        "import sys; from flexph.cli import main; main(['list'], standalone_mode=False); "
        "unwanted = {'scipy', 'pydantic', 'ruamel', 'pint'}; "
        "print(*sorted(n for n in sys.modules if n in unwanted or n.startswith('cases.')), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "four-bar" in run.stdout
    assert run.stderr.split() == []


def test_every_namespace_that_the_help_names_is_an_attribute():
    code = (
        "import flexph, re; names = re.findall(r'``flexph[.](\\w+)``', flexph.__doc__); "
        "assert len(names) > 20; print(*[n for n in names if not hasattr(flexph, n)])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.split() == []
