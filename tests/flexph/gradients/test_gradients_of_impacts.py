"""Gradients of runs with impacts: closed forms, theorems, differences of runs and of jumps, and what is refused."""

from functools import partial

import numpy as np
import pytest
from gradient_samples import along, bouncing, direction_of, knocking, tapping

import rigid
from flexph import GROUND, connect, spring_damper
from flexph.contacts import KelvinVoigt, Plane, Rigid, Sphere, contact
from flexph.gradients import Last, MeanSquare, Responses, forward_sensitivities, gradient
from flexph.gradients.runs.impacts import jump_back, solved
from flexph.gradients.runs.problems import problem_of
from flexph.gradients.runs.struck_runs import StruckRun, struck_run
from flexph.laws import force_law
from flexph.methods import Exact, Exact4
from flexph.sensors import energy, joint_force, position

FALL = {"height": 0.3, "gravity": 9.81, "restitution": 0.8}
TIMES = np.linspace(0.0, 0.7, 71)
AGREEMENT = 1e-7
"""Of p dΦ/dp, relative to the largest: differences of runs by small steps, so that impacts stay in their steps."""
BOTH = [
    (tapping, {"speed": 6.0, "load": 0.2, "restitution": 0.7, "height": -0.05}, Last(position("arm.tip"), 1), 0.19),
    (
        knocking,
        {"density": 80.0, "young": 2e9, "restitution": 0.7, "height": -0.12, "radius": 0.02},
        Last(position("box.centre"), 1),
        0.26,
    ),
]


def height_after(time, height, gravity, restitution):
    """Height of a ball of 0.1 m between its second and third impact."""
    fall = np.sqrt(2.0 * (height - 0.1) / gravity)
    speed = gravity * fall * restitution
    left = time - fall - 2.0 * speed / gravity
    return 0.1 + restitution * speed * left - 0.5 * gravity * left**2


def test_a_bouncing_ball_has_the_gradient_of_its_closed_form():
    """Steps in free flight are exact, as are the times of impacts: to 1e-10, as known by differences of data."""
    found = gradient(bouncing, FALL, TIMES, Last(position("bar.middle"), 1))
    assert found.value == pytest.approx(height_after(0.7, **FALL), abs=1e-12)
    for name, value in FALL.items():
        expected = height_after(0.7, **{**FALL, name: value + 1e-30j}).imag / 1e-30
        assert found.by[name] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("make, parameters, functional, end", BOTH, ids=["tapping", "knocking"])
def test_gradients_through_impacts_are_the_differences_of_runs(make, parameters, functional, end):
    """Two to three impacts, with a drive and a table of torques, or in space."""
    times, direction = np.linspace(0.0, end, 1 + round(end / 0.002)), direction_of(parameters)
    found = gradient(make, parameters, times, functional)
    expected = along(make, parameters, direction, functional, times, step=1e-5)
    size = max(abs(value * found.by[name]) for name, value in parameters.items())
    assert sum(found.by[name] * change for name, change in direction.items()) == pytest.approx(
        expected, abs=AGREEMENT * size
    )
    assert found.defect <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("make, parameters, functional, end", BOTH, ids=["tapping", "knocking"])
def test_gradients_through_impacts_are_those_of_each_parameter(make, parameters, functional, end):
    times = np.linspace(0.0, end, 1 + round(end / 0.002))
    found = gradient(make, parameters, times, functional)
    size = max(abs(value * found.by[name]) for name, value in parameters.items())
    for name, value in parameters.items():
        expected = along(make, parameters, {name: value}, functional, times, step=1e-5)
        assert value * found.by[name] == pytest.approx(expected, abs=AGREEMENT * size)


def lifted(height, mass):
    """A bar that falls flat against a spring with a force of time, and bounces on its middle."""
    law = force_law(lambda x, v, t: 5.0 * np.sin(30.0 * t) - x)
    spring = spring_damper("bar.middle", GROUND.at(0.0, 2.0), law=law)
    floor = contact(Sphere("bar.middle", 0.1), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), Rigid(restitution=0.8))
    mechanism = connect({"bar": rigid.bar(0.3, mass)}, [spring, floor], gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, height, 0.0)}))


def test_forces_of_time_act_at_the_times_of_impacts():
    """The middles of the steps before and after an impact move with its time."""
    parameters, height = {"height": 0.3, "mass": 1.0}, Last(position("bar.middle"), 1)
    found, direction = gradient(lifted, parameters, TIMES[:41], height), direction_of(parameters)
    expected = along(lifted, parameters, direction, height, TIMES[:41], step=1e-5)
    size = max(abs(value * found.by[name]) for name, value in parameters.items())
    assert sum(found.by[name] * change for name, change in direction.items()) == pytest.approx(
        expected, abs=AGREEMENT * size
    )


def test_the_energy_after_elastic_impacts_has_the_gradient_of_the_energy_at_the_start():
    """With e = 1 a_k = ∇H(x_k) on both sides of each impact, but for the velocity defect of joints that impacts end.

    Its energy is 1e-7 of the whole.
    """
    radius = {"density": 80.0, "young": 2e9}
    make, times = partial(knocking, restitution=1.0), np.linspace(0.0, 0.2, 101)
    found = gradient(make, radius, times, Last(energy("total")))
    expected = along(make, radius, {"density": 80.0}, Last(energy("total")), times[:2])
    assert 80.0 * found.by["density"] == pytest.approx(expected, rel=1e-7)
    assert abs(2e9 * found.by["young"]) <= 1e-5 * abs(80.0 * found.by["density"])


def struck(make, times):
    """Run with its impacts, of a mechanism without parameters."""
    problem = problem_of(make, {}, times, strikes=True)
    run = struck_run(problem, progress=False)
    assert isinstance(run, StruckRun)
    return run


@pytest.mark.parametrize("make", [tapping, knocking])
def test_adjoint_and_tangent_of_a_jump_pair_to_the_same_number(make):
    """The jump is a rational function of the state: steps of sixth order know 1e-9 of its derivative."""
    run = struck(make, np.linspace(0.0, 0.16, 81))
    impact, rng = run.impacts[0], np.random.default_rng(0)
    after, change = rng.normal(size=(2, impact.before.size))
    layout = run.problem.mechanism.layout
    change[: sum(part.size for part in layout.split(change)[:2])] = 0.0  # rotations stay rotations
    jump = jump_back(run.problem, impact, after)

    def at(by):
        return solved(run.problem, impact.before + by * change, impact.contact, impact.time)[2]

    moved = sum(w * (at(1e-4 * k) - at(-1e-4 * k)) for k, w in {1: 45.0, 2: -9.0, 3: 1.0}.items()) / 0.006
    pairs = after * moved
    assert jump.adjoint @ change == pytest.approx(pairs.sum(), abs=1e-9 * np.abs(pairs).sum())


def test_impacts_are_found_in_the_steps_of_the_run():
    """Falls of √(2 h/g), flights of 2 e v/g; the run has its own times, the inputs those of the parts of steps."""
    run = struck(bouncing, TIMES)
    fall = np.sqrt(0.4 / 9.81)
    expected = fall + 2.0 * fall * np.cumsum([0.0, 0.8])
    assert [own.time for own in run.impacts] == pytest.approx(expected.tolist(), abs=1e-12)
    assert len(run.problem.table.times) == len(TIMES) + 2
    assert np.array_equal(run.problem.table.times[run.numbers(np.arange(len(TIMES)))], TIMES)


def test_responses_of_runs_with_impacts_take_the_adjoint():
    quantity = MeanSquare(position("bar.middle"), 1)
    run = Responses(bouncing, TIMES, {"mean": quantity})
    values, by = run.derivatives(**FALL)
    found = gradient(bouncing, FALL, TIMES, quantity)
    assert (values["mean"], by["mean"]) == (found.value, found.by)
    few = Responses(lambda height: bouncing(height), TIMES, {"mean": quantity}).derivatives(height=0.3)[1]
    assert few["mean"]["height"] == pytest.approx(found.by["height"], rel=1e-8)


def falling(speed=0.0, *, law, twins=False, compliant=False):
    """One or two balls that fall on a plane."""
    body = rigid.body(1.0, inertia=0.004, ports={"centre": (0.0, 0.0)})
    names = ["one", "two"] if twins else ["one"]
    floor = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    joints = [contact(Sphere(f"{name}.centre", 0.1), floor, law, name=f"floor of {name}") for name in names]
    if compliant:
        joints.append(contact(Sphere("one.centre", 0.05), floor, KelvinVoigt(1e4), name="soft"))
    mechanism = connect(dict.fromkeys(names, body), joints, gravity=(0.0, -9.81))
    pose = mechanism.assemble({name: (k, 0.2, 0.0) for k, name in enumerate(names)})
    return mechanism, mechanism.consistent_state(pose, velocities={name: (0.1, -speed, 0.0) for name in names})


@pytest.mark.parametrize(
    "given, message",
    [
        ({"law": Rigid()}, "stay closed, as 'floor of one' does from 0.142784 s"),
        ({"law": Rigid(restitution=0.1)}, "stay closed, as 'floor of one' does from 0.17"),
        ({"law": Rigid(restitution=0.5, friction=0.2)}, "with friction, as of 'floor of one' at 0.142784 s"),
        (
            {"law": Rigid(restitution=0.5), "twins": True},
            "at the same time: 'floor of one' and 'floor of two'",
        ),
        ({"law": Rigid(restitution=0.5), "compliant": True}, "rigid contacts beside compliant ones"),
    ],
)
def test_other_impacts_are_refused_with_their_times(given, message):
    make = partial(falling, **given)
    with pytest.raises(ValueError, match=message):
        gradient(lambda speed: make(speed), {"speed": 0.0}, np.linspace(0.0, 0.3, 31), Last(position("one.centre"), 1))


def test_runs_with_impacts_refuse_what_does_not_know_them():
    height = Last(position("bar.middle"), 1)
    for given, message in (
        ({"method": Exact(contact="steps")}, "strike at the beginning of steps"),
        ({"method": Exact4()}, r"rigid contacts"),
        ({"checkpoints": True}, "impacts of rigid contacts in forward derivatives, multiple shooting and checkpoints"),
    ):
        with pytest.raises(ValueError, match=message):
            gradient(bouncing, FALL, TIMES, height, **given)
    with pytest.raises(ValueError, match="impacts of rigid contacts in forward derivatives"):
        forward_sensitivities(bouncing, FALL, TIMES, {"height": position("bar.middle")})
    with pytest.raises(ValueError, match="strikes at an end of a step"):
        gradient(bouncing, FALL, [0.0, np.sqrt(0.4 / 9.81) + 1e-12, 0.3], height)
    with pytest.raises(ValueError, match="at fixed times"):
        gradient(bouncing, FALL, lambda **_: TIMES, height)
    tip = Last(joint_force("rod.tip – arm.root"), 1)
    with pytest.raises(ValueError, match="has no gradients in runs with impacts"):
        gradient(tapping, {"load": 0.2}, np.linspace(0.0, 0.12, 61), tip)
