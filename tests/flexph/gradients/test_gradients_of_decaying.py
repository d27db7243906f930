"""Gradients of runs by Decaying(): differences of runs, the pairing, the exact scheme as a limit, and refusals."""

import numpy as np
import pytest
from gradient_samples import along, bucket, crank, differences, direction_of, links, pendulum, rod, thrown, tumbler

import rigid
from flexph import GROUND, connect, hinge, torque
from flexph.contacts import KelvinVoigt, Plane, Sphere, contact
from flexph.gradients import Last, gradient
from flexph.gradients.runs.kept_steps import Piece, whole_run
from flexph.gradients.runs.problems import in_loops, problem_of
from flexph.gradients.runs.sweeps import steps_of_piece
from flexph.integration.loops.memory.memory import address_of
from flexph.integration.loops.recorded.backward import BACK_DECAYING
from flexph.integration.loops.recorded.decayed import decayed_of
from flexph.integration.loops.recorded.entry import forget, sweep
from flexph.methods import Decaying, Exact
from flexph.sensors import joint_angle, position


def pushed(mass, size):
    """A bar on a hinge with a motor, and no drive."""
    joints = [hinge("bar.root", GROUND), torque("bar.root", name="motor")]
    mechanism = connect({"bar": rigid.bar(0.4, mass)}, joints, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.2)}))
    return mechanism, start, {"motor": lambda t: size * np.sin(50.0 * t)}


TIMES = np.linspace(0.0, 0.04, 41)
METHOD = Decaying(0.6)
AGREEMENT = 1e-8
"""Of p dΦ/dp, relative to the largest: what sixth-order differences of runs know."""
CASES = {
    "links": (links, {"first": 0.01, "second": 0.012}, Last(position("b.tip"), 1)),
    "pendulum": (
        pendulum,
        {"young": 2.1e9, "density": 7850.0, "length": 0.3, "speed": 2.0},
        Last(position("b.tip"), 1),
    ),
    "crank": (
        crank,
        {"speed": 20.0, "stiffness": 50.0, "torque_size": 0.2},
        Last(joint_angle("rod.tip", "rocker.root")),
    ),
    "one input": (pushed, {"mass": 1.0, "size": 2.0}, Last(joint_angle("bar.root"))),  # and no rates: constant rows
    "tumbler": (tumbler, {"density": 80.0, "young": 2e9, "free": 0.2}, Last(position("beam.tip"), 2)),
}


@pytest.mark.parametrize("make, parameters, functional", CASES.values(), ids=CASES)
def test_gradients_are_the_differences_of_runs_along_all_parameters(make, parameters, functional):
    """Plane and space, drives, inputs, springs and damping; equal bending stiffnesses have modes of any direction."""
    direction = direction_of(parameters)
    found = gradient(make, parameters, TIMES, functional, method=METHOD)
    size = max(abs(value * found.by[name]) for name, value in parameters.items())
    total = sum(found.by[name] * change for name, change in direction.items())
    expected = along(make, parameters, direction, functional, TIMES, method=METHOD)
    assert total == pytest.approx(expected, abs=AGREEMENT * size)
    assert found.defect <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("make, parameters, functional", CASES.values(), ids=CASES)
def test_gradients_are_those_of_each_parameter(make, parameters, functional):
    found = gradient(make, parameters, TIMES, functional, method=METHOD)
    size = max(abs(value * found.by[name]) for name, value in parameters.items())
    for name, value in parameters.items():
        expected = value * differences(make, parameters, name, functional, TIMES, method=METHOD)
        assert value * found.by[name] == pytest.approx(expected, abs=AGREEMENT * size)


def test_a_radius_of_one_is_the_exact_scheme():
    """Two routes: its steps lose nothing, and the sweep has three times the unknowns."""
    make, parameters, functional = CASES["pendulum"]
    decaying = gradient(make, parameters, TIMES[:21], functional, method=Decaying(1.0))
    exact = gradient(make, parameters, TIMES[:21], functional, method=Exact())
    assert decaying.value == pytest.approx(exact.value, rel=1e-12)
    size = max(abs(value * exact.by[name]) for name, value in parameters.items())
    for name, value in parameters.items():
        assert value * decaying.by[name] == pytest.approx(value * exact.by[name], abs=1e-9 * size)


def test_the_pairing_of_adjoint_and_tangent_stays():
    """⟨a_k, δx_k⟩ is the same at every k, for a change of the start; differences of runs know δx_k to 1e-8."""
    problem = problem_of(pendulum, {}, TIMES, method=METHOD)
    run = whole_run(problem, progress=False)
    states = in_loops(problem.mechanism, run.solution.states)
    by_state = np.zeros_like(states)
    by_state[-1] = np.random.default_rng(0).standard_normal(states.shape[1])
    given = *steps_of_piece(problem, Piece(0, run.solution.states, run.solution.stage_multipliers)), by_state

    def at(speed):
        own = problem_of(lambda: pendulum(speed=speed), {}, TIMES, method=METHOD)
        return in_loops(own.mechanism, whole_run(own, progress=False).solution.states)

    weights = {1: 45.0, 2: -9.0, 3: 1.0}
    moved = sum(w * (at(2.0 + 1e-2 * k) - at(2.0 - 1e-2 * k)) for k, w in weights.items()) / 0.6
    pairs = []
    for first in (0, 13, 27, 40):
        of, addresses = decayed_of(problem.memory, problem.table, given, np.zeros(0, dtype=np.int64), problem.decay())
        forget()
        dim = problem.mechanism.layout.dim
        assert sweep(problem.memory.address, address_of(addresses), dim, BACK_DECAYING, of, (first, 40)) == -1
        pairs.append(of.run.carried @ moved[first])
    forget()
    assert pairs == pytest.approx([pairs[-1]] * 4, abs=1e-7 * np.abs(by_state[-1] * moved[-1]).sum())


def test_times_that_depend_on_parameters_are_refused():
    with pytest.raises(ValueError, match="at fixed times"):
        gradient(
            lambda **_: pendulum(), {"end": 0.4}, lambda end: end * TIMES, Last(position("b.tip"), 1), method=METHOD
        )


def touching(stiffness=1e4):
    """A bar that falls on a compliant floor."""
    floor = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    soft = contact(Sphere("bar.middle", 0.1), floor, KelvinVoigt(stiffness), name="floor")
    mechanism = connect({"bar": rigid.bar(0.3, 1.0)}, [soft], gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.2, 0.0)}))


@pytest.mark.parametrize(
    "make, parameter, message",
    [
        (rod, {"young": 1e8}, "supports no body of nodes made by fem.rod"),
        (thrown, {"length": 0.4}, "CoulombFriction of joints such as 'rail' needs"),
        (bucket, {"rate": 1.5}, "do not support masses that change"),
        (touching, {"stiffness": 1e4}, "do not support contacts"),
    ],
)
def test_other_bodies_and_joints_are_refused_by_name(make, parameter, message):
    ports = {"rod": "rod.tip", "thrown": "rod.tip", "bucket": "box.centre", "touching": "bar.middle"}
    functional = Last(position(ports[make.__name__]), 1)
    with pytest.raises(ValueError, match=message):
        gradient(make, parameter, TIMES, functional, method=METHOD)


def test_steps_of_several_lengths_and_tolerances_are_refused():
    make, parameters, functional = CASES["links"]
    with pytest.raises(ValueError, match="steps of several lengths"):
        gradient(make, parameters, [0.0, 0.001, 0.003], functional, method=METHOD)
    with pytest.raises(ValueError, match="leave its tolerance out"):
        gradient(make, parameters, TIMES, functional, method=Decaying(0.6, tolerance=1e-4))
