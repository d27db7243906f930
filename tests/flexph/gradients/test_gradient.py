"""Gradients of runs by the discrete adjoint: against differences of runs, theorems of the energy, and bad input."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from gradient_samples import CASES, TIMES, along, crank, differences, direction_of, pendulum, tumbler

import rigid
from flexph import (
    GROUND,
    ValidityWarning,
    connect,
    drive,
    hinge,
    integrate,
    spring_damper,
    torsion_spring,
)
from flexph.contacts import Box, Capsule, KelvinVoigt, Mesh, Plane, Skin, Sphere, contact
from flexph.gradients import Integral, Last, MeanSquare, Peak, gradient
from flexph.integration.blocks.block_stepper import BlockStepper
from flexph.integration.loops import near_pairs
from flexph.laws import bouc_wen, gas_spring, potential, resistive
from flexph.methods import Exact, Exact4
from flexph.sensors import acceleration, energy, joint_angle, joint_force, joint_torque, position

ROOF = np.array([(0.1, -1.0, 0.05), (0.1, 1.0, 0.05), (-1.0, 0.0, 0.0), (1.2, 0.0, 0.0)]), [(0, 1, 2), (1, 0, 3)]
"""Two triangles that meet at a ridge."""
AGREEMENT = 1e-7
"""Of p dΦ/dp, relative to the largest: sixth-order differences of runs know 1e-8 to 1e-9 of it."""


@pytest.mark.parametrize("make, parameters, quantity", CASES.values(), ids=CASES)
def test_gradients_are_the_differences_of_runs_along_all_parameters(make, parameters, quantity):
    component, direction = 0 if quantity.scalar else 1, direction_of(parameters)
    found = gradient(make, parameters, TIMES, Last(quantity, component)).by
    expected = along(make, parameters, direction, Last(quantity, component))
    largest = max(abs(parameters[name] * value) for name, value in found.items())
    assert abs(sum(change * found[name] for name, change in direction.items()) - expected) < AGREEMENT * largest


@pytest.mark.slow
@pytest.mark.parametrize("make, parameters, quantity", CASES.values(), ids=CASES)
def test_gradients_are_the_differences_of_runs(make, parameters, quantity):
    component = 0 if quantity.scalar else 1
    found = gradient(make, parameters, TIMES, Last(quantity, component))
    expected = {name: differences(make, parameters, name, Last(quantity, component)) for name in parameters}
    largest = max(abs(parameters[name] * value) for name, value in expected.items())
    for name, value in expected.items():
        assert abs(parameters[name] * (found.by[name] - value)) < AGREEMENT * largest, name


def test_gradients_of_compositions_are_the_differences_of_their_runs():
    parameters, times, functional = {"young": 2.1e9, "length": 0.3}, TIMES[:21], MeanSquare(position("b.tip"), 1)
    found = gradient(pendulum, parameters, times, functional, method=Exact4())
    expected = {name: differences(pendulum, parameters, name, functional, times, Exact4()) for name in parameters}
    largest = max(abs(parameters[name] * value) for name, value in expected.items())
    for name, value in expected.items():
        assert abs(parameters[name] * (found.by[name] - value)) < AGREEMENT * largest, name
    with pytest.raises(ValueError, match=r"method must take the steps of times, got Exact\(tolerance=0.001\)"):
        gradient(pendulum, parameters, times, functional, method=Exact(tolerance=1e-3))


def test_many_parameters_take_two_calls_each():
    """A chain of four links: small steps agree with the differences of sixth order of each parameter by itself."""
    parameters = {"young": 2.1e9, "density": 7850.0, "length": 0.3, "speed": 2.0}
    calls = []

    def counted(**own):
        calls.append(own)
        return pendulum(**own)

    functional, times = Last(position("b.tip"), 1), TIMES[:21]
    found = gradient(counted, parameters, times, functional)
    assert len(calls) == 1 + 2 * 4 + 6
    single = {
        name: gradient(lambda **own: pendulum(**{**parameters, **own}), {name: parameters[name]}, times, functional).by
        for name in parameters
    }
    largest = max(abs(parameters[name] * value) for name, value in found.by.items())
    for name, value in found.by.items():
        assert abs(parameters[name] * (value - single[name][name])) < 1e-8 * largest, name


def test_a_noisy_parameter_among_many_is_changed_by_larger_steps():
    """Noise of 1e-11 in a length, which steps of 1e-5 do not bear, and a kink, which none do."""
    parameters, times = {"young": 2.1e9, "density": 7850.0, "length": 0.3}, TIMES[:11]
    functional = Last(position("b.tip"), 1)
    noisy = gradient(
        lambda **own: pendulum(**{**own, "length": own["length"] + 1e-11 * np.sin(1e9 * own["length"])}),
        parameters,
        times,
        functional,
    )
    exact = gradient(pendulum, parameters, times, functional)
    assert noisy.by["length"] == pytest.approx(exact.by["length"], rel=1e-6)
    bent = lambda **own: pendulum(**{**own, "length": own["length"] + abs(own["length"] - 0.3)})  # noqa: E731
    with pytest.raises(ValueError, match=r"'length' does not change .* smoothly"):
        gradient(bent, parameters, times, functional)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_gradients_of_hysteresis_start_from_an_unstrained_spring(exponent):
    """The inner extension is zero at first, where |z|^1.5 has a derivative but its factor |z|^0.5 has none."""

    def swung(stiffness, force, speed):
        law = bouc_wen(stiffness, yield_force=force, exponent=exponent)
        arm = [hinge("arm.root", GROUND), torsion_spring("arm.root", GROUND, law=law, name="spring")]
        mechanism = connect({"arm": rigid.bar(0.5, 2.0)}, arm, gravity=(0.0, -9.81))
        start = mechanism.consistent_state(mechanism.assemble({"arm": 0.3}), velocities={"arm": (0.0, 0.0, speed)})
        return mechanism, start

    parameters, functional = {"stiffness": 40.0, "force": 3.0, "speed": 1.0}, Last(position("arm.tip"), 1)
    found = gradient(swung, parameters, TIMES[:41], functional).by
    expected = {name: differences(swung, parameters, name, functional, TIMES[:41]) for name in parameters}
    largest = max(abs(parameters[name] * value) for name, value in expected.items())
    for name, value in expected.items():
        assert abs(parameters[name] * (found[name] - value)) < AGREEMENT * largest, name


def test_samples_of_a_gradient_do_not_repeat_the_warnings_of_the_run():
    """A blade that hangs on a driven hub starts with the least kinetic energy: one warning for all calls of make."""

    def hung(length, speed):
        bodies = {"hub": rigid.bar(0.3, 1.0), "blade": rigid.bar(length, 2.0)}
        joints = [
            hinge("hub.root", GROUND),
            hinge("hub.tip", "blade.root"),
            drive("hub.root", angle=lambda t: speed * t),
        ]
        mechanism = connect(bodies, joints)
        return mechanism, mechanism.consistent_state(mechanism.assemble({"hub": 0.0, "blade": 0.2}))

    with pytest.warns(UserWarning, match="least kinetic energy") as said:
        gradient(hung, {"length": 0.4, "speed": 2.0}, TIMES[:5], Last(position("blade.tip"), 1))
    assert sum("least kinetic energy" in str(each.message) for each in said) == 1


@pytest.mark.parametrize("functional", [Integral(position("b.tip"), 1), MeanSquare(position("b.tip"), 1, target=0.1)])
def test_functionals_over_the_whole_run(functional):
    parameters, times = {"young": 2.1e9, "length": 0.3}, TIMES[:21]
    direction, found = direction_of(parameters), gradient(pendulum, parameters, times, functional).by
    expected = along(pendulum, parameters, direction, functional, times)
    largest = max(abs(parameters[name] * value) for name, value in found.items())
    assert abs(sum(change * found[name] for name, change in direction.items()) - expected) < AGREEMENT * largest


def test_the_energy_at_the_end_has_the_gradient_of_the_energy_at_the_start():
    """Of a conservative mechanism, by all that changes its start: a_k = ∇H(x_k) on the tangent of the constraints."""
    speeds = {"speed": 2.0}
    found = gradient(pendulum, speeds, TIMES, Last(energy("total")))
    size = 0.1
    ends = [
        integrate(*pendulum(speed=2.0 + by), [0.0, 1e-3], progress=False).measured(energy("total"))[0]
        for by in (size, -size)
    ]
    assert found.by["speed"] == pytest.approx((ends[0] - ends[1]) / (2.0 * size), rel=1e-8)


@pytest.mark.parametrize(
    "make, parameters, functional",
    [
        (crank, {"speed": 20.0, "stiffness": 50.0}, Last(joint_angle("rod.tip", "rocker.root"))),
        (tumbler, {"density": 80.0}, Peak(position("beam.tip"), component=2, margin=1e-4)),
    ],
)
def test_checkpoints_give_the_same_bits(make, parameters, functional):
    """Of 100 steps four segments of 30, from whose starts with their history the steps are taken again."""
    times = np.linspace(0.0, 0.05, 101)
    whole, parts = (gradient(make, parameters, times, functional, checkpoints=own) for own in (False, True))
    assert len(parts.solution.times) == 5
    assert (whole.value, whole.by, whole.defect) == (parts.value, parts.by, parts.defect)
    for port, own in whole.by_input.items():
        assert np.array_equal(own, parts.by_input[port])


def test_checkpoints_take_each_segment_once_more_but_for_the_last(monkeypatch):
    """Of 80 steps segments of 27, 27 and 26; the last one is held when the sweep begins there."""
    taken, segment = [], BlockStepper.segment

    def counted(blocks, start, table):
        taken.append(len(table.times) - 1)
        return segment(blocks, start, table)

    monkeypatch.setattr(BlockStepper, "segment", counted)
    gradient(pendulum, {"speed": 2.0}, TIMES[:81], Last(position("b.tip"), 1), checkpoints=True)
    assert taken == [27, 27, 26, 27, 27]


def test_checkpoints_are_refused_where_all_states_are_needed():
    speed, times = {"speed": 2.0}, TIMES[:21]
    with pytest.raises(ValueError, match="no states for a functional of all times"):
        gradient(pendulum, speed, times, MeanSquare(position("b.tip"), 1), checkpoints=True)
    with pytest.raises(ValueError, match="Peak with margin 1 depends on 21 of 21: use a smaller margin"):
        gradient(pendulum, speed, times, Peak(position("b.tip"), 1, margin=1.0), checkpoints=True)
    with pytest.raises(ValueError, match=r"checkpoints=True does not support Exact4\(\)"):
        gradient(pendulum, speed, times, Last(position("b.tip"), 1), method=Exact4(), checkpoints=True)
    with pytest.raises(ValueError, match="checkpoints=True does not support the force"):
        gradient(crank, {"speed": 20.0}, times, Last(joint_force("drive crank.root–GROUND")), checkpoints=True)


def test_derivatives_by_inputs_are_those_of_each_step():
    """The work of a brake in steps: the derivative by its size is the sum over steps of that by each input."""
    found = gradient(crank, {"torque_size": 0.2}, TIMES, Last(joint_angle("rod.tip", "rocker.root")))
    middles = 0.5 * (TIMES[1:] + TIMES[:-1])
    shape = np.where(middles < 0.05, 1.0, np.where(middles < 0.1, -1.0, 0.5))
    assert shape @ found.by_input["brake"][:, 0] == pytest.approx(found.by["torque_size"], rel=1e-8)


@pytest.mark.parametrize(
    "make, joint, parameters",
    [
        (crank, "crank.root", {"speed": 20.0, "stiffness": 50.0}),
        (tumbler, "beam.tip", {"density": 80.0, "young": 2e9}),
    ],
)
def test_gradients_of_joint_forces_are_the_differences_of_runs(make, joint, parameters):
    """Of the mean square of a force by the multipliers of the steps, which runs keep, too."""
    mechanism = make()[0]
    name = next(c.name for c in mechanism.connections if c.rows and (joint in c.name or joint in map(str, c.ports)))
    times = TIMES[:41]
    found = gradient(make, parameters, times, MeanSquare(joint_force(name), 1))

    def force(own):
        made = make(**own)
        run = integrate(*made[:2], times, inputs=made[2] if len(made) == 3 else None, progress=False)
        middles = replace(run, multipliers=run.stage_multipliers).reaction(name)
        return MeanSquare(joint_force(name), 1).value(middles.times, middles.force[:, 1])

    by = {}
    for key, value in parameters.items():
        changes = [
            force({**parameters, key: value * (1.0 + k * 1e-3)}) - force({**parameters, key: value * (1.0 - k * 1e-3)})
            for k in (1, 2, 3)
        ]
        by[key] = np.array([45.0, -9.0, 1.0]) @ changes / 60e-3
    for key, value in parameters.items():
        assert abs(value * found.by[key] - by[key]) < 1e-6 * max(map(abs, by.values())), key


def ball(law, density=1000.0, speed=0.4):
    """A ball that falls to the ground and bounces."""
    ground = Plane(GROUND.at(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0))
    bodies = {"ball": rigid.sphere(0.1, density=density)}
    mechanism = connect(bodies, [contact("ball.centre", ground, law)], gravity=(0.0, 0.0, -9.81))
    pose = mechanism.assemble({"ball": (0.0, 0.0, 0.05)})
    return mechanism, mechanism.consistent_state(pose, velocities={"ball": ((speed, 0.0, 0.0), (0.0, 0.5, 0.0))})


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("component", [0, 2])
def test_gradients_through_compliant_contacts_are_the_differences_of_runs(friction, component):
    """Bounces of a ball that slips and sticks; differences so small that the same steps touch, stick and slip."""

    def bouncing(stiffness, density, speed):
        return ball(KelvinVoigt(stiffness, damping=5.0, friction=friction), density, speed)

    parameters, functional = (
        {"stiffness": 1e4, "density": 1000.0, "speed": 0.4},
        Last(position("ball.centre"), component),
    )
    times = np.linspace(0.0, 0.3, 301)
    with pytest.warns(ValidityWarning, match="closes at 0.1") as told:
        found = gradient(bouncing, parameters, times, functional)
    assert ("begins to" in str(told[0].message)) == (friction > 0.0)
    expected = {name: differences(bouncing, parameters, name, functional, times, step=1e-5) for name in parameters}
    largest = max(abs(parameters[name] * value) for name, value in expected.items())
    for name, value in expected.items():
        assert abs(parameters[name] * (found.by[name] - value)) < AGREEMENT * largest, name


@pytest.mark.parametrize(
    "shapes",
    [
        lambda size: (Sphere("ball.centre", 0.1), Box(GROUND.at(0.0, 0.0, -0.1), (0.1, 0.5, size))),
        lambda size: (Sphere("ball.centre", 0.1), Mesh(GROUND.at(0.0, 0.0, 0.05 - size), ROOF)),
        lambda size: (
            Capsule("ball.centre", 0.1, size, axis=(1.0, 0.0, 0.0)),
            Capsule(GROUND.at(0.0, 0.0, -0.1), 1.0, 0.1, axis=(0.0, 1.0, 0.0)),
        ),
    ],
    ids=["over the edge of a box", "over the ridge of a mesh", "capsules"],
)
def test_gradients_through_contacts_with_surfaces_are_the_differences_of_runs(shapes):
    """A ball, and a capsule, that bounce over an edge: the size of a surface is a parameter, too."""

    def bouncing(stiffness, size, speed):
        law = KelvinVoigt(stiffness, damping=5.0)
        mechanism = connect(
            {"ball": rigid.sphere(0.1, density=1000.0)}, [contact(*shapes(size), law)], gravity=(0.0, 0.0, -9.81)
        )
        pose = mechanism.assemble({"ball": (0.07, 0.0, 0.12)})
        start = mechanism.consistent_state(pose, velocities={"ball": ((speed, 0.0, 0.0), (0.0, 0.5, 0.0))})
        return mechanism, start

    parameters, times = {"stiffness": 1e4, "size": 0.1, "speed": 0.4}, np.linspace(0.0, 0.25, 251)
    functional = Last(position("ball.centre"), 2)
    with pytest.warns(ValidityWarning, match="closes at"):
        found = gradient(bouncing, parameters, times, functional)
    expected = {name: differences(bouncing, parameters, name, functional, times, step=1e-5) for name in parameters}
    largest = max(abs(parameters[name] * value) for name, value in expected.items())
    for name, value in expected.items():
        assert abs(parameters[name] * (found.by[name] - value)) < AGREEMENT * largest, name


@pytest.mark.parametrize("friction", [{}, {"friction": 0.3, "slip_velocity": 0.05}], ids=["smooth", "rubbing"])
def test_gradients_through_faces_that_deform_are_the_differences_of_runs(friction):
    """A ball on a sheet of points and springs, which it rides over the edge of two faces; its radius is one, too."""

    def riding(stiffness, speed, mass, spring, radius):
        places = np.array([(0.3 * i, 0.3 * j, 0.02 * i * j) for i in range(3) for j in range(3)])
        cells = [cell for a in (0, 1, 3, 4) for cell in ((a, a + 3, a + 1), (a + 3, a + 4, a + 1))]
        sides = sorted({tuple(sorted((cell[i], cell[i - 1]))) for cell in cells for i in range(3)})
        bodies = {f"n{k}": rigid.point(mass, 3) for k in range(9)}
        bodies["ball"] = rigid.sphere(0.1, density=300.0)
        joints = [spring_damper(f"n{a}.point", f"n{b}.point", stiffness=spring, name=f"{a} {b}") for a, b in sides]
        law, skin = KelvinVoigt(stiffness, damping=5.0, **friction), Skin([f"n{k}.point" for k in range(9)], cells)
        joints.append(contact(Sphere("ball.centre", radius), skin, law, name="touch"))
        mechanism = connect(bodies, joints)
        pose = mechanism.assemble({f"n{k}": place for k, place in enumerate(places)} | {"ball": (0.26, 0.4, 0.13)})
        velocities = {"ball": ((2.0, 0.2, -speed), (1.0, 0.5, 0.2))}
        return mechanism, mechanism.consistent_state(pose, velocities=velocities)

    parameters = {"stiffness": 2e3, "speed": 1.0, "mass": 0.2, "spring": 300.0, "radius": 0.1}
    times, functional = np.linspace(0.0, 0.08, 81), Last(position("ball.centre"), 2)
    run = integrate(*riding(**parameters), times)
    x = 0.5 * (run["ball.centre"][1:, 0] + run["ball.centre"][:-1, 0])[run.contact("touch").normal.ravel() > 0.0]
    assert x.min() < 0.285 and x.max() > 0.325  # the edge is at 0.3 m
    with pytest.warns(ValidityWarning, match="closes at"):
        found = gradient(riding, parameters, times, functional)
    expected = {name: differences(riding, parameters, name, functional, times, step=1e-5) for name in parameters}
    largest = max(abs(parameters[name] * value) for name, value in expected.items())
    for name, value in expected.items():
        assert abs(parameters[name] * (found.by[name] - value)) < AGREEMENT * largest, name


def test_gradients_through_surfaces_do_not_depend_on_lists_of_near_ones(monkeypatch):
    """Backward sweeps take all gaps between boxes and balls, of which runs list the near ones."""

    def thrown(stiffness, speed):
        law, names = KelvinVoigt(stiffness, damping=5.0), ("low", "high")
        boxes = [Box(f"{name}.centre", (0.2, 0.2, 0.2)) for name in names]
        floor = Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
        joints = [contact(boxes, floor, law, name="floor"), contact(*boxes, law, name="boxes")]
        cube = rigid.body(1.0, inertia=(7e-3,) * 3, ports={"centre": (0.0, 0.0, 0.0)})
        mechanism = connect(dict.fromkeys(names, cube), joints, gravity=(0.0, 0.0, -9.81))
        pose = mechanism.assemble({name: (0.02 * k, 0.0, 0.11 + 0.21 * k) for k, name in enumerate(names)})
        return mechanism, mechanism.consistent_state(pose, velocities={"high": ((0.0, 0.0, speed), (0.2, 0.1, 0.0))})

    found = []
    for listed in (10, 1000):
        monkeypatch.setattr(near_pairs, "LISTED", listed)
        with pytest.warns(ValidityWarning, match="closes at"):
            own = gradient(
                thrown, {"stiffness": 1e4, "speed": -0.5}, np.linspace(0.0, 0.05, 26), Last(position("high.centre"), 2)
            )
        found.append(own.by)
    assert found[0] == found[1] and abs(found[0]["speed"]) > 1e-3


@pytest.mark.parametrize(
    "law",
    [
        lambda size: {"law": gas_spring(size, column=1.0)},
        lambda size: {"law": potential(lambda x: size * x**4, lambda x: 4.0 * size * x**3)},
        lambda size: {"stiffness": 5.0, "damping": resistive(lambda v: size * np.tanh(v))},
    ],
)
def test_parameters_of_functions_in_python_are_refused(law):
    """Their values are no constants of the loops; parameters that leave the function as it is have gradients."""

    def made(size, mass):
        spring = spring_damper("bar.tip", GROUND.at(0.5, 0.4), **law(size))
        mechanism = connect({"bar": rigid.bar(0.5, mass)}, [hinge("bar.root", GROUND), spring], gravity=(0.0, -9.81))
        return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.3)}))

    functional = Last(position("bar.tip"), 1)
    with pytest.raises(ValueError, match="'size' changes a law that is a function in Python"):
        gradient(made, {"size": 5.0, "mass": 1.0}, TIMES, functional)
    own = partial(made, 5.0)
    found = gradient(lambda mass: own(mass), {"mass": 1.0}, TIMES, functional)
    expected = differences(lambda mass: own(mass), {"mass": 1.0}, "mass", functional)
    assert found.by["mass"] == pytest.approx(expected, rel=1e-6)


def test_what_has_no_adjoint_is_refused_by_name():
    height = Last(position("a.tip"), 1)
    with pytest.raises(ValueError, match=r"sensor of states, rate of the rate of .* one of runs"):
        gradient(pendulum, {"length": 0.3}, TIMES, Last(acceleration("a.tip")))
    with pytest.raises(ValueError, match=r"has gradients in runs by Exact\(\) only"):
        gradient(pendulum, {"length": 0.3}, TIMES, Last(joint_torque("a.root – b.root")), method=Exact4())
    with pytest.raises(ValueError, match="component must be below 2"):
        gradient(pendulum, {"length": 0.3}, TIMES, Last(position("a.tip"), 2))
    with pytest.raises(ValueError, match="make must return a mechanism and its start"):
        gradient(lambda length: length, {"length": 0.3}, TIMES, height)
    with pytest.raises(ValueError, match=r"'length' does not change .* smoothly"):
        gradient(lambda length: pendulum(length=0.3 + 0.01 * (length > 0.3)), {"length": 0.3}, TIMES, height)
