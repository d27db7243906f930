"""Files for places where the project may be found: workflows, forms, a recipe, notebooks; none says too much."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
PYTHONS = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
yaml = pytest.importorskip("yaml")


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def workflow(name):
    return read(ROOT / ".github" / "workflows" / f"{name}.yml")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_are_sound(path):
    """They have a trigger, name every permission, and each job has steps that do something, or calls another one."""
    told = read(path)
    assert told["name"] == path.stem and told[True] and "permissions" in told  # YAML takes the word on for a truth
    for job in told["jobs"].values():
        if "uses" in job:
            assert (ROOT / job["uses"]).is_file()
            continue
        assert job["runs-on"] and job["timeout-minutes"] <= 120
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])
        uses = [step["uses"] for step in job["steps"] if "uses" in step]
        assert all(re.fullmatch(r"(actions|pypa)/[\w-]+@(v\d+|release/v1)", own) for own in uses), uses


def test_tests_run_where_the_classifiers_say():
    matrix = workflow("tests")["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["python"] == PYTHONS
    assert {own.partition("-")[0] for own in matrix["os"]} == {"ubuntu", "macos", "windows"}
    said = [step["run"] for step in workflow("tests")["jobs"]["tests"]["steps"] if "run" in step]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(own.removeprefix("python -m ") in readme for own in said), said  # as a new user does


def test_wheels_are_those_of_the_table():
    jobs = workflow("wheels")["jobs"]
    systems = jobs["wheel"]["strategy"]["matrix"]["os"]
    assert {own.partition("-")[0] for own in systems} == {"ubuntu", "macos", "windows"}
    assert any("cibuildwheel" in step.get("run", "") for step in jobs["wheel"]["steps"])
    assert PYPROJECT["tool"]["cibuildwheel"]["build"] == f"cp{PYTHONS[0].replace('.', '')}-*"


def test_a_release_needs_no_password():
    told = workflow("release")
    assert told[True] == {"push": {"tags": ["v*"]}}
    publish = told["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"} and publish["environment"] == "pypi"
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    (check,) = [step["run"] for step in told["jobs"]["version"]["steps"] if "run" in step]
    version = re.search(r'__version__ = "(.*)"', (ROOT / "flexph/__init__.py").read_text(encoding="utf-8"))[1]
    if sys.platform != "win32":
        for tag, status in ((f"v{version}", 0), ("v99.0", 1)):
            env = {"GITHUB_REF_NAME": tag, "PATH": "/usr/bin:/bin"}
            done = subprocess.run(["bash", "-c", check], cwd=ROOT, env=env, check=False)
            assert done.returncode == status


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_ask_what_they_name(path):
    told = read(path)
    if path.stem == "config":
        assert told["blank_issues_enabled"] is True
        return
    assert told["name"] and told["description"]
    kinds = {"textarea", "input", "dropdown", "checkboxes", "markdown"}
    assert {entry["type"] for entry in told["body"]} <= kinds
    assert any(entry.get("validations", {}).get("required") for entry in told["body"])


def test_the_recipe_needs_what_the_package_needs():
    recipe = read(ROOT / "conda" / "recipe.yaml")
    run = {entry.replace(" ", "") for entry in recipe["requirements"]["run"]} - {"python"}
    assert run == {entry.replace(" ", "") for entry in PROJECT["dependencies"]}
    host = {entry.replace(" ", "") for entry in recipe["requirements"]["host"]} - {"python", "pip"}
    assert host == set(PYPROJECT["build-system"]["requires"])
    assert f'"{recipe["context"]["version"]}"' in (ROOT / "flexph/__init__.py").read_text(encoding="utf-8")
    assert all((ROOT / path).is_file() for path in recipe["about"]["license_file"])
    assert recipe["about"]["license"] == PROJECT["license"]
    assert set(recipe["about"]["license_file"]) == set(PROJECT["license-files"])


def test_binder_takes_what_tutorials_need():
    (package, *_) = (ROOT / ".binder" / "requirements.txt").read_text(encoding="utf-8").split()
    extras = set(re.fullmatch(r"\.\[(.*)\]", package)[1].split(","))
    assert extras <= set(PROJECT["optional-dependencies"])
    assert (ROOT / ".binder" / "postBuild").read_text(encoding="utf-8").startswith("#!/bin/sh\n")


def launch():
    """The extension of the site with the buttons."""
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location("launch_of_flexph", ROOT / "docs" / "_ext" / "launch.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_buttons_follow_the_address():
    own = launch()
    assert own.buttons("", "1-pendulum") == {} and own.buttons("https://example.org/flexph", "1-pendulum") == {}
    links = own.buttons("https://github.com/someone/flexph", "1-pendulum")
    assert all("/someone/flexph/" in link and link.endswith("1-pendulum.ipynb") for link in links.values())
    page = own.with_buttons("---\nx: 1\n---\n\n# Title\n\nWords.\n", links)
    assert page.index("# Title") < page.index("[Open in Binder](") < page.index("Words.")
    tutorials = [path.stem for path in (ROOT / "docs" / "tutorials").glob("[0-9]*.md")]
    assert tutorials and all(own.TUTORIAL.fullmatch(f"tutorials/{name}") for name in tutorials)


def test_notebooks_install_from_the_address():
    pytest.importorskip("jupytext")
    made = launch().notebook(ROOT / "docs" / "tutorials" / "1-pendulum.md", "https://github.com/someone/flexph")
    first, *cells = made.cells
    assert first.source.endswith('git+https://github.com/someone/flexph"') and first.cell_type == "code"
    assert any("fem.beam(" in cell.source for cell in cells if cell.cell_type == "code")


def test_addresses_stand_in_one_place():
    """What is no address of another project stands in pyproject.toml alone, which is empty as long as there is none."""
    address = PROJECT["urls"].get("Repository", "")
    pages = [*ROOT.glob("*.md"), *(ROOT / ".github").rglob("*.*"), ROOT / "conda/recipe.yaml", ROOT / "CITATION.cff"]
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert not (address and address in text), f"{path.name} repeats the address"
        if not address:
            assert not re.search(r"pip install [\"']?flexph[\"']?(\s|$)", text), f"{path.name} installs from an index"
            assert "pypi.org/project/flexph" not in text and "anaconda.org" not in text


def test_the_changelog_is_a_page():
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60 and max(map(len, lines)) <= 160
