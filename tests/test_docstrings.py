"""The examples of docstrings: they run, and sections of parameters name what a function takes."""

import dataclasses
import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("flexph", "fem", "rigid")


def modules(text: str) -> Iterator[Any]:
    """The modules of the packages in whose files a text stands."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.name != "__main__.py" and text in path.read_text(encoding="utf-8"):
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                yield importlib.import_module(name.removesuffix(".__init__"))


def described() -> dict[str, Any]:
    """Functions with a section of parameters, by their full names."""
    found = {}
    for module in modules("Parameters\n"):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and "Parameters\n---" in (inspect.getdoc(function) or ""):
                found[f"{module.__name__}.{name}"] = function
    return found


EXAMPLES = {
    test.name: test
    for module in modules(">>> ")
    for test in doctest.DocTestFinder(exclude_empty=True).find(module)
    if test.examples
}
DESCRIBED = described()


def public() -> dict[str, Any]:
    """Functions and classes that the stubs list, by the shortest of their public names."""
    found: dict[Any, str] = {}
    for package in PACKAGES:
        for stub in sorted((ROOT / package).rglob("__init__.pyi"), key=lambda path: len(path.parts)):
            name = ".".join(stub.parent.relative_to(ROOT).parts)
            module = importlib.import_module(name)
            for value in (getattr(module, entry) for entry in module.__all__):
                if inspect.isroutine(value) or inspect.isclass(value):
                    found.setdefault(value, f"{name}.{value.__name__}")
    return {name: value for value, name in found.items()}


def fields(kind: type) -> list[str]:
    """What a class holds, or what it is made of."""
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    return [] if issubclass(kind, BaseException) else list(inspect.signature(kind).parameters)


def heads(section: str) -> list[str]:
    """Names of the entries of a section."""
    lines = [line.partition(" :")[0] for line in section.splitlines() if line and not line.startswith(" ")]
    return [name.strip().lstrip("*") for line in lines for name in line.split(",")]


def sections(text: str) -> dict[str, str]:
    """The sections of a docstring by their names."""
    return dict(re.findall(r"\n\n(\w+(?: \w+)?)\n---+\n(.*?)(?=\n\n\w+(?: \w+)?\n---+\n|\Z)", text, re.DOTALL))


PUBLIC = public()
FUNCTIONS = sorted(name for name, value in PUBLIC.items() if not inspect.isclass(value))
CLASSES = sorted(name for name, value in PUBLIC.items() if inspect.isclass(value))
VERBS = (
    *("eliminate", "reduce", "modes", "eigenfrequencies", "poles", "frequency_response", "step_response", "zeros"),
    *("damping_ratios", "standard_form", "join", "constrain", "transformer", "gyrator", "compose", "circuit"),
    *("integrate", "analyze", "hinge", "drive", "spring_damper", "connect", "revolute", "weld", "force"),
    *("beam", "bending", "plate", "solid", "box_mesh", "body", "bar", "free_body", "pivoted_body", "point_masses"),
)
"""Main verbs: each has an example and sections."""


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_runs(name):
    """What it prints is what the docstring shows."""
    printed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    failed = runner.run(EXAMPLES[name], out=printed.append, clear_globs=False).failed
    assert not failed, "".join(printed)


def test_a_section_of_parameters_names_them_all():
    """The names before the colons are those of the signature, in their order."""
    listed, expected = {}, {}
    for name, described in DESCRIBED.items():
        text = inspect.getdoc(described).partition("Parameters\n----------\n")[2]
        listed[name] = heads(re.split(r"\n\w+\n---+\n", text)[0])
        expected[name] = list(inspect.signature(described).parameters)
    assert len(listed) > 200 and listed == expected


def test_public_functions_have_sections():
    """A summary, every parameter and error in words, and what comes back."""
    assert len(FUNCTIONS) > 100
    for name in FUNCTIONS:
        assert_sections(name)


def assert_sections(name):
    signature, text = inspect.signature(PUBLIC[name]), inspect.getdoc(PUBLIC[name]) or ""
    parts = sections(text)
    assert text.split("\n")[0].strip(), name
    needed = {"Parameters"} if signature.parameters else set()
    if signature.return_annotation not in (None, "None"):
        needed |= {"Returns"}
    known = {"Parameters", "Returns", "Yields", "Raises", "Warns", "See Also", "Notes", "Examples"}
    assert needed <= set(parts) <= known, name
    for section in ("Parameters", "Raises"):
        entries = re.split(r"\n(?=\S)", parts.get(section, ""))
        assert all("\n    " in entry for entry in entries if entry), f"{name}: {section}: nothing is said of one"


def test_public_classes_say_what_they_hold():
    """Parameters, of what users make, or attributes, of results: each of them, in their order."""
    listed = {}
    for name in CLASSES:
        parts = sections(inspect.getdoc(PUBLIC[name]) or "")
        listed[name] = heads(parts.get("Parameters") or parts.get("Attributes") or "")
    assert len(listed) > 100 and listed == {name: fields(PUBLIC[name]) for name in CLASSES}


@pytest.mark.parametrize("verb", VERBS)
def test_main_verbs_have_an_example_and_sections(verb):
    own = [name for name in EXAMPLES if name.rpartition(".")[2] == verb and name in DESCRIBED]
    (name,) = [name for name in own if not name.startswith("flexph.plot.")]  # pictures bear the names of what they show
    assert "\nReturns\n-------\n" in inspect.getdoc(DESCRIBED[name])


@pytest.mark.parametrize("name", ["LinearPHDAE", "PHDAE", "Simulator"])
def test_main_classes_have_an_example(name):
    assert any(example.endswith(f".{name}") for example in EXAMPLES)
