"""What may stand in model files: all that the Python functions take, and the JSON schema of them."""

import inspect
import json

import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from fem import cable, rod
from fem import model_files as of_fem
from flexph import models
from flexph.bodies import body_from_matrices, body_from_modes, reduce_body
from flexph.cli import main
from flexph.contacts import __all__ as CONTACTS
from flexph.joints import __all__ as JOINTS
from flexph.models.commands import EXAMPLES, FOLDER
from flexph.models.schema import bodies, connections, functions, laws
from flexph.models.schema.entry import kind_of
from rigid import body
from rigid import model_files as of_rigid

ENTRIES = [
    *connections.CONNECTIONS,
    *bodies.BODIES,
    *of_fem.KINDS.bodies,
    *of_fem.KINDS.materials,
    *of_fem.KINDS.sections,
    *of_rigid.KINDS.bodies,
    *laws.LAWS,
    *(functions.Viscous, functions.Quadratic, functions.Coulomb, functions.Resistive),
    *(of_fem.DampingEntry, of_fem.BoxMesh, of_fem.TieEntry, of_fem.LoadEntry, of_fem.CutEntry, of_fem.SupportEntry),
]
ARRAYS = {
    reduce_body: {"basis"},
    body_from_matrices: {"numbers", "cells", "stresses"},
    body_from_modes: {"cells", "stresses"},
    rod: {"curve"},
    cable: {"curve"},
    body: {"shape"},
}
"""Arguments that are arrays in memory or functions of places and cannot be written."""
RENAMED = {"masses_of_nodes": "masses", "file": "path"}
"""Arguments of other names."""


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)
def test_an_entry_has_the_arguments_of_its_function(entry):
    fields = {RENAMED.get(name, name) for name in set(entry.model_fields) - entry.aside}
    taken = set().union(*(inspect.signature(makes).parameters for makes in (entry.makes, *entry.others)))
    assert fields == taken - ARRAYS.get(entry.makes, set())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)
def test_an_entry_requires_what_its_function_does(entry):
    parameters = inspect.signature(entry.makes).parameters
    for name, field in entry.model_fields.items():
        if name in parameters and name not in entry.aside:
            default = parameters[name].default
            of_all = all(name in inspect.signature(makes).parameters for makes in entry.others)
            assert field.is_required() == (of_all and default is inspect.Parameter.empty), name
            if isinstance(default, str | float | bool) and field.default is not None:
                assert field.default == default, name


def test_all_joints_and_elements_are_there():
    made = {name for name in (*JOINTS, *CONTACTS) if name[0].islower() and not name.startswith("restitution_")}
    assert {kind_of(entry) for entry in connections.CONNECTIONS} == made


def test_the_schema_that_the_command_prints_is_that_of_the_models():
    result = CliRunner().invoke(main, ["show", "--schema"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == models.model_schema()


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_fit_the_schema(name):
    jsonschema = pytest.importorskip("jsonschema")
    data = YAML(typ="safe", pure=True).load(FOLDER / f"{name}.yaml")
    validator = jsonschema.Draft202012Validator(models.model_schema())
    assert validator.is_valid(data)
    assert not validator.is_valid({**data, "bodyes": {}})
