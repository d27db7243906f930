"""No public function answers a wrong argument by an error of Python or numpy, or by NaN."""

import ast
import importlib
import inspect
import re
import warnings
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hostile import POOL, deliberate, fuzz, mutant, outcome
from hypothesis import given, settings
from hypothesis import strategies as st
from public_calls import calls

ROOT = Path(__file__).parents[2]
STUBS = sorted(path for package in ("flexph", "fem", "rigid") for path in (ROOT / package).rglob("__init__.pyi"))
GIVEN = {
    "PAIRS", "GROUND", "NAMES", "Method", "GeneralMethod", "MechanismMethod", "Library", "Completion",
    "Orientation", "Angles", "Resistance", "Relation", "Connection", "Ground", "Kinds",
}  # fmt: skip
"""Constants and base classes, and values that other functions make."""
RESULTS = {
    "Analysis", "Assessment", "BucklingLoad", "CasimirReport", "CanonicalForm", "Certificate", "Constraint",
    "ConstrainedForm", "ContactHistory",
    "Decomposition", "Echelon", "Eigenmodes", "Elasticity", "Floquet", "FrequencyResponse", "ImpassePoint",
    "Inconsistency", "IndexReport", "Inertia", "InputError", "Integrability", "IntegrationError",
    "Gradient", "IntegrationInterrupted", "KernelForm", "LagrangianSubmanifold", "Ledger", "LimitLoad", "LoadPort",
    "LoadCycles", "LoadSteps", "Mechanism",
    "MechanismDerivative", "ModeChange", "Occurrences", "PassivityReport", "Pose", "Port", "Reaction",
    "ReducedKinematics", "ReducedLinear", "Regularity", "ResistiveRelation", "Resistor", "SectionForces", "SectionMap",
    "Solution", "Source", "Spectrum", "StabilityReport", "StandardForm", "State", "Storage", "StressField",
    "Substructure", "Sweep",
    "Switch", "TensorField", "TimeResponse", "Trajectory", "TwoPort", "View", "Body", "Accelerations", "Split",
    "BodyAxes", "CanonicalSystem", "DampingRatios", "SweptSection",
    "CreepLaw", "ElasticLaw", "ForceLaw", "HysteresisLaw", "ScheduledRelation",
    "Fit", "ModelError", "ModelFile", "PlanarMatrix", "Quaternion", "RotationMatrix", "Angle",
    "FrequencySensitivities", "Optimum", "Sensitivities", "NodalBody", "Buckling", "Quantity", "Field", "Part",
    "Scene", "Shape", "ClosedLoop", "Margins", "Plant", "Robot", "RobotJoint", "Actuator", "Place", "StepAccount",
    "InverseDynamics", "ForwardSensitivities", "OptimalControl", "NormSensitivities", "PoleSensitivities",
    "BucklingSensitivities", "MultiplierSensitivities", "PeakSensitivities",
}  # fmt: skip
"""Values that functions return, which nobody has to make."""
FIELDS = {"at_nodes", "energy_norm", "peak_von_mises", "stress_error", "tensors", "section_forces"}
"""Functions of fields of large bodies; their arguments are checked by the same annotations."""
FILES = {"read_mat", "read_matrix_market", "read_series", "load_reduced", "from_pymor", "to_pymor", "stress_envelope",
         "write_envelope", "write_surface", "read_scene", "html_fragment", "write_html", "write_library",
         "library_script", "write_picture", "write_film", "write_glb", "show", "cylinder_shape", "merged_shapes",
         "write_fmu", "fmu_controller", "read_urdf", "read_sdf", "read_mjcf", "environment",
         "to_torch", "to_jax", "write_load_steps"}  # fmt: skip
"""Readers have fuzzing of their own; pyMOR, torch, JAX and libraries of pictures take seconds to import."""
PICTURES = ("flexph.plot.", "flexph.report.")
"""They take too long to be drawn by the hundred; wrong arguments are in their own tests."""


def _public():
    """Public functions and classes with the names of their packages."""
    for stub in STUBS:
        package = ".".join(stub.parent.relative_to(ROOT).parts)
        for node in ast.walk(ast.parse(stub.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    value = getattr(importlib.import_module(package), alias.name)
                    if callable(value) and not (isinstance(value, type) and issubclass(value, Warning)):
                        yield f"{package}.{alias.name}", alias.name, value


def test_every_public_function_is_in_the_table_and_checks_its_arguments():
    fuzzed = {call.function for call in calls().values()}
    for path, name, value in _public():
        entry = value.__init__ if isinstance(value, type) else value
        if name in GIVEN | RESULTS or not inspect.signature(entry).parameters:
            continue
        assert hasattr(entry, "__wrapped__"), f"{path} is not @checked"
        assert value in fuzzed or name in FIELDS | FILES or path.startswith(PICTURES), (
            f"{path} is not in the table of tests/fuzz/public_calls.py"
        )


@pytest.fixture(scope="module", autouse=True)
def _examples():
    """Run the right calls before wrong ones are timed; each process would do that where tests are collected."""
    calls()


@st.composite
def _places(draw):
    """Names of a call and of one of its arguments."""
    return draw(st.sampled_from(sorted((name, key) for name, call in calls().items() for key in call.arguments)))


@settings(max_examples=5 * settings.default.max_examples)
@given(place=_places(), seed=st.integers(0, 2**32))
def test_a_wrong_argument_is_refused_in_a_sentence(place, seed):
    name, argument = place
    call = calls()[name]
    what, value = mutant(call.arguments[argument], Random(seed))
    assert outcome(call, {argument: value}) in ("refused", "accepted"), f"{name}({argument}={what})"


@pytest.mark.parametrize("what", ["bytes", "datetime64", "timedelta64", "1j", "nan", "array of dates", "True"])
@pytest.mark.parametrize(
    ("name", "argument"),
    [("fem.beam", "length"), ("rigid.bar", "mass"), ("laws.coulomb", "speed"), ("spring_damper", "stiffness"),
     ("circuits.capacitor", "law"), ("Mechanism.assemble", "time"), ("linear.sweep", "values"),
     ("integrate", "times"), ("LinearPHDAE", "E"), ("rigid.point_masses", "positions")],
)  # fmt: skip
def test_what_is_no_number_is_none(name, argument, what):
    assert outcome(calls()[name], {argument: POOL[what]}) == "refused"


def test_errors_of_numpy_are_told_from_sentences():
    with pytest.raises(ValueError) as raw:
        np.ones(2) @ np.ones(3)
    assert not deliberate(raw.value)
    with pytest.raises(ValueError) as said:
        calls()["fem.beam"](length=-1.0)
    assert deliberate(said.value)


NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def _refusal(call, changed):
    """The message of a refused call; empty where it is taken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(**changed)
        except Exception as error:
            return str(error)
    return ""


def test_messages_show_the_shape_of_many_numbers():
    """A hundred numbers in any argument: a message has its sentence, and a few of them at most."""
    many = np.random.default_rng(0).standard_normal(100)
    places = [(name, key) for name, call in sorted(calls().items()) for key in call.arguments]
    for name, key in places:
        for value in (many, many.tolist(), dict(enumerate(many.tolist()))):
            told = _refusal(calls()[name], {key: value})
            assert len(NUMBER.findall(told)) <= 14 and len(told) <= 800, f"{name}({key}): {told}"


def test_random_calls_are_counted():
    outcomes = fuzz(20)
    assert sum(counter.total() for counter in outcomes.values()) == 20
    assert set(outcomes) <= {"refused", "accepted"}
