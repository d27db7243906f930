"""Values travel between processes: pickled and copied they compute the same bits, or name what stays behind."""

import copy
import math
import pickle

import numpy as np
import pytest
from public_calls import calls, masses, mechanism, oscillator, run

import rigid
from flexph import GROUND, IntegrationError, connect, drive, hinge, integrate
from flexph.circuits import capacitor, circuit, inductor
from flexph.systems import from_linear

TIMES = np.linspace(0.0, 0.02, 3)


def travelled(value):
    return pickle.loads(pickle.dumps(value))


WAYS = pytest.mark.parametrize("way", [travelled, copy.deepcopy, copy.copy])


@WAYS
def test_a_mechanism_with_its_state_integrates_to_the_same_bits(way):
    made, pose, start = mechanism()
    again = integrate(way(made), way(start), TIMES, progress=False)
    np.testing.assert_array_equal(again.states, run().states)
    np.testing.assert_array_equal(way(pose).centres, pose.centres)
    np.testing.assert_array_equal(way(run()).states, run().states)


@WAYS
def test_a_driven_mechanism_travels_with_a_function_of_a_module(way):
    made = connect({"a": rigid.bar(1.0, 1.0)}, [hinge("a.root", GROUND), drive("a.root", angle=math.sin)])
    again = way(made)
    first, second = (m.consistent_state(m.assemble(guess={"a": 0.0})) for m in (made, again))
    np.testing.assert_array_equal(first.x, second.x)


@WAYS
def test_systems_travel_with_functions_of_the_library(way):
    lossy, lc = masses(), circuit({"C": capacitor("a", "gnd", 1.0), "L": inductor("a", "gnd", 2.0)})
    np.testing.assert_array_equal(way(lossy).J, lossy.J)
    assert dict(way(lossy).ports) == dict(lossy.ports)
    for system in (from_linear(lossy), lc.phdae()):
        x = np.linspace(0.5, 1.0, system.size)
        np.testing.assert_array_equal(way(system).z(x), system.z(x))
    bob = rigid.point_masses(
        {"bob": 2.0}, [(0.6, -0.8)], gravity=(0.0, -9.81), rods=[rigid.Rod((0.0, 0.0), "bob", 1.0)]
    )
    x = bob.state([0.6, -0.8], [0.0, 0.0])
    np.testing.assert_array_equal(way(bob.phdae()).z(x), bob.phdae().z(x))


def test_mappings_stay_read_only():
    again = travelled(masses())
    with pytest.raises(TypeError):
        again.ports["new"] = slice(0, 1)


def test_an_error_arrives_with_its_message():
    error = travelled(IntegrationError("no step at t = 1 s", run()))
    assert str(error) == "no step at t = 1 s"
    np.testing.assert_array_equal(error.solution.states, run().states)
    system = oscillator()  # of lambdas
    lost = travelled(IntegrationError("no step", integrate(system, (1.0, 0.0), TIMES, progress=False)))
    assert str(lost).startswith("no step (its solution could not be transferred: ") and lost.solution is None


def test_a_function_that_cannot_travel_is_named():
    joint = drive("crank.root", angle=lambda t: t)
    with pytest.raises(pickle.PicklingError, match=r"angle of drive\('crank.root'\) cannot be pickled: .*lambda"):
        pickle.dumps(joint)
    with pytest.raises(pickle.PicklingError, match=r"z of PHDAE cannot be pickled: .*lambda"):
        pickle.dumps(oscillator())
    assert copy.deepcopy(joint).kind == "drive"


@pytest.mark.parametrize("name", ["fem.beam", "revolute", "LinearPHDAE", "methods.Gauss", "fem.Material", "rigid.Rod"])
def test_values_of_every_kind_travel(name):
    value = calls()[name]()
    assert repr(travelled(value)) == repr(value)
