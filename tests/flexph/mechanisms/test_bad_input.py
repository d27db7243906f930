"""Whatever does not fit is refused at the door, with words that say what would."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

import fem
import rigid
from flexph import (
    GROUND,
    ValidityWarning,
    connect,
    distance,
    distributed_load,
    drive,
    eigenfrequencies,
    force,
    hinge,
    integrate,
    slider,
    spring_damper,
    torque,
    torsion_spring,
    weld,
)
from flexph.contacts import Hertz, Plane, Rigid, Sphere, contact
from flexph.mechanisms.model.state import State
from flexph.methods import by_name

NAN = math.nan
STEEL = fem.Material(young=2e11, density=7800.0)
ROUND = fem.Section(diameter=6e-3)
ORIGIN = GROUND.at(0.0, 0.0)
BAR = rigid.bar(1.0, 1.0)
BEAM = fem.beam(0.3, STEEL, ROUND, elements=2)
POINT = rigid.point(1.0)


def refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def pendulum(*connections, body=BAR, **options):
    return connect({"bar": body}, [hinge("bar.root", ORIGIN), *connections], **options)


def start_of(mechanism):
    return mechanism.consistent_state(mechanism.assemble())


def run(mechanism, times=(0.0, 0.1), **options):
    return integrate(mechanism, start_of(mechanism), times, **options)


# --- bodies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rigid.point(0.0), "mass must be positive, got 0.0 kg"),
        (lambda: rigid.point(-1.0), "mass must be positive, got -1.0 kg"),
        (lambda: rigid.point(NAN), "mass must be finite, got nan"),
        (lambda: rigid.bar(0.0, 1.0), "length must be positive, got 0.0 m"),
        (lambda: rigid.bar(1.0, -2.0), "mass must be positive, got -2.0 kg"),
        (lambda: rigid.bar(1.0, 1.0, inertia=0.0), "inertia must be positive, got 0.0 kg m²"),
        (lambda: rigid.body(1.0, inertia=-1.0, ports={}), "inertia must be positive, got -1.0 kg m²"),
        (
            lambda: rigid.body(1.0, inertia=1.0, ports={"a": (0.0, NAN)}),
            r"ports\['a'\] must be finite, got NaN or infinity",
        ),
        (
            lambda: rigid.body(1.0, inertia=1.0, ports={"a": (0.0, 0.0, 0.0)}),
            r"port 'a' must have shape \(2,\), got \(3",
        ),
        (lambda: fem.beam(-0.3, STEEL, ROUND, elements=2), "length must be positive, got -0.3 m"),
        (lambda: fem.beam(0.3, STEEL, ROUND, elements=0), "elements must be at least 1, got 0"),
        (lambda: fem.beam(0.3, STEEL, ROUND, elements=1.5), "elements must be a whole number, got 1.5"),
        (lambda: fem.beam(0.3, STEEL, ROUND, elements=2, momenta="all"), "momenta must be one of 'full', 'constant'"),
        (lambda: BAR.with_mass("tip", -1.0), "mass must not be negative, got -1.0 kg"),
        (lambda: BAR.with_mass("tp", 1.0), "no port 'tp': .*'root', 'middle', 'tip'"),
        (lambda: POINT.with_mass("point", 0.0, 1.0), "inertia cannot be lumped at port 'point'.*rotation"),
    ],
)
def test_wrong_bodies_are_refused(make, message):
    refused(make, message)


# --- connections ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: drive("bar.root"), "drive takes one of angle="),
        (
            lambda: drive("bar.root", angle=math.sin, position=lambda t: (t, t)),
            "drive takes one of angle=",
        ),
        (lambda: drive("bar.root", angle=3.0), r"angle must be a function, got 3\.0"),
        (lambda: drive("bar.root", position=(1.0, 2.0)), r"position must be a function, got \(1\.0, 2\.0\)"),
        (lambda: drive("bar.root", "b.tip", position=lambda t: (t, t)), "the reference must be GROUND"),
        (lambda: distance("bar.root", GROUND), r"a distance to the ground needs one: use GROUND.at\(x, y\)"),
        (lambda: distance("bar.root", "b.tip", length=0.0), "length must be positive, got 0.0 m"),
        (lambda: distance("bar.root", "b.tip", length=NAN), "length must be finite, got nan"),
        (lambda: spring_damper("bar.root", GROUND, stiffness=1.0), "a spring to the ground needs one"),
        (lambda: spring_damper("bar.root", ORIGIN), "needs stiffness > 0.* damping > 0"),
        (lambda: spring_damper("bar.root", ORIGIN, stiffness=-1.0), "stiffness must not be negative, got -1.0"),
        (lambda: spring_damper("bar.root", ORIGIN, damping=-1.0), "damping must not be negative, got -1.0"),
        (lambda: spring_damper("bar.root", ORIGIN, stiffness=NAN), "stiffness must be finite, got nan"),
        (
            lambda: spring_damper("bar.root", ORIGIN, stiffness=1.0, length=-1.0),
            "length must not be negative, got -1.0",
        ),
        (lambda: torsion_spring("bar.root", GROUND), "needs stiffness > 0.* damping > 0"),
        (lambda: torsion_spring("bar.root", GROUND, stiffness=1.0, angle=NAN), "angle must be finite, got nan"),
        (lambda: weld("bar.root", GROUND, angle=math.inf), "angle must be finite, got inf"),
        (lambda: slider("bar.root", GROUND, direction=(0.0, 0.0)), "direction must not be zero"),
        (lambda: slider("bar.root", GROUND, direction=(NAN, 0.0)), "direction must be finite"),
        (
            lambda: slider("bar.root", GROUND, direction=(1.0,)),
            r"direction must have 2 components in the plane or 3 in space, got 1",
        ),
        (lambda: GROUND.at(0.0, NAN), "ground position must be finite, got nan"),
    ],
)
def test_wrong_connections_are_refused(make, message):
    refused(make, message)


GROUND_FIRST = {
    "force": lambda: force(GROUND),
    "hinge": lambda: hinge(GROUND, "bar.root"),
    "weld": lambda: weld(GROUND, "bar.root"),
    "slider": lambda: slider(GROUND, "bar.root"),
    "distance": lambda: distance(ORIGIN, "bar.root"),
    "spring": lambda: spring_damper(ORIGIN, "bar.root", stiffness=1.0),
    "torsion spring": lambda: torsion_spring(GROUND, "bar.root", stiffness=1.0),
    "drive": lambda: drive(GROUND, "bar.root", angle=math.sin),
    "driven point": lambda: drive(GROUND, position=lambda t: (t, t)),
}


@pytest.mark.parametrize("name", GROUND_FIRST)
def test_ground_comes_second(name):
    refused(GROUND_FIRST[name], r"(first|port) must be a text, got Ground")


# --- mechanisms -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("connections", "message"),
    [
        ([hinge("crank.tp", GROUND)], "no port 'crank.tp': crank has 'root', 'middle', 'tip'"),
        ([hinge("crank", GROUND)], "no port 'crank': crank has 'root', 'middle', 'tip'"),
        ([hinge("crank.root", "rod.tipp")], "no port 'rod.tipp': rod has 'root', 'tip'"),
        ([hinge("crnk.tip", GROUND)], "no body 'crnk': there are 'crank', 'rod', 'bob'"),
        ([hinge("rod.load", GROUND)], "no port 'rod.load': rod has 'root', 'tip'"),
        ([force("rod.load")], "no port 'rod.load': rod has 'root', 'tip'"),
        ([distributed_load("rod.tip")], "no load port 'tip': rod has 'load'"),
        ([distributed_load("crank.load")], "no load port 'load': crank has none"),
        ([force("crnk.tip")], "no body 'crnk'"),
        ([torque("bob.point")], "port 'bob.point' .*point mass, which has no rotation"),
        (
            [slider("bob.point", GROUND)],
            r"port 'bob.point': a point mass has no direction: .* slider\(..., turning=True",
        ),
        ([weld("crank.root", "bob.point")], "port 'bob.point': a point mass has no direction"),
        ([drive("bob.point", angle=math.sin)], "port 'bob.point': a point mass has no direction"),
        ([hinge("crank.root", "crank.root")], "hinge joins port 'crank.root' to itself"),
        ([hinge("crank.root", GROUND)] * 2, "connection given twice: hinge crank.root–GROUND"),
        ([force("rod.tip"), force("rod.tip")], "connection given twice: force rod.tip"),
        ([force("rod.tip", name="push"), torque("rod.tip", name="push")], "connection given twice: push"),
        (["hinge"], r"connections\[0\] must be a Connection, got str"),
        ([hinge("crank.root", GROUND.at(1.0))], "position"),
        ([hinge("crank.root", GROUND.at(0.0, 0.0, 0.0))], "position"),
    ],
)
def test_connections_of_a_mechanism(connections, message):
    refused(lambda: connect({"crank": BAR, "rod": BEAM, "bob": POINT}, connections), message)


def test_accounts_with_one_name():
    """A rigid contact has an account of its impacts, whose name no other may have."""
    floor = Plane(ORIGIN, normal=(0.0, 1.0))
    laws = {"floor": Rigid(), "floor: impact": Hertz(1e6)}
    touching = [contact(Sphere("bob.point", 0.1), floor, law, name=name) for name, law in laws.items()]
    refused(lambda: connect({"bob": POINT}, touching), "2 accounts of energy have the name 'floor: impact'")
    damper = spring_damper("rod.tip", ORIGIN, damping=1.0, name="rod")
    rod = fem.beam(0.3, STEEL, ROUND, elements=2, damping=fem.Damping(stiffness=1e-3))
    refused(lambda: connect({"rod": rod}, [damper]), "2 accounts of energy have the name 'rod'")


@pytest.mark.parametrize(
    ("bodies", "gravity", "message"),
    [
        ({}, None, "bodies must not be empty"),
        ({"le.ft": BAR}, None, "must not be empty or contain a dot, got 'le.ft'"),
        ({"": BAR}, None, "the name of a body must be a text .*not empty or '.', got ''"),
        ({"bar": 3.0}, None, "'bar'"),
        ({"bar": BAR}, (0.0, NAN), "gravity must be finite"),
        ({"bar": BAR}, 9.81, r"gravity must be a list of numbers, got 9\.81"),
        ({"bar": BAR}, (0.0, 0.0, -9.81), r"gravity must have shape \(2,\), got \(3"),
    ],
)
def test_bodies_and_gravity_of_a_mechanism(bodies, gravity, message):
    refused(lambda: connect(bodies, [], gravity=gravity), message)


# --- poses and starts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fixed": {"br": 0.0}}, "no body 'br': there are 'bar'"),
        ({"fixed": {"bar": 0.0}, "guess": {"bar": 0.0}}, "not in both: .'bar'."),
        ({"fixed": {"bar": NAN}}, "angle of 'bar' must be finite, got nan"),
        ({"guess": {"bar": (0.0, math.inf, 0.0)}}, "pose of 'bar' must be finite"),
        ({"guess": {"bar": (0.0, 1.0)}}, r"pose of 'bar' must have shape \(3,\), got \(2"),
        ({"guess": {"bar": "up"}}, "angle of 'bar' must be a number, got 'up'"),
    ],
)
def test_wrong_poses_are_refused(given, message):
    refused(lambda: pendulum().assemble(**given), message)


def two_bars(width):
    joints = [hinge("a.root", ORIGIN), hinge("a.tip", "b.root"), hinge("b.tip", GROUND.at(width, 0.0))]
    return connect({"a": BAR, "b": BAR}, joints)


def test_loops_that_cannot_close():
    """Two bars of 1 m over 3 m: one metre is missing, a third of it at each hinge."""
    refused(
        lambda: two_bars(3.0).assemble({"a": 0.0}),
        r"the loop cannot close at this pose: .*hinge b.tip–GROUND at \(3.0, 0.0\) is open by 0.333 m.*change the",
    )
    # the tip of the first bar is 2.3 m from the second's hinge: 1.3 m are missing, shared by its two hinges
    refused(lambda: two_bars(1.3).assemble({"a": (0.0, 0.0, math.pi)}), "hinge a.tip–b.root is open by 0.65 m")
    refused(lambda: pendulum().assemble({"bar": (0.0, 0.5, 0.0)}), r"hinge bar.root–GROUND at .* is open by 0.5 m")


def test_angles_that_cannot_be_met():
    for turn in (weld("bar.tip", GROUND, angle=0.5), drive("bar.root", angle=lambda t: 0.5)):
        refused(lambda turn=turn: pendulum(turn).assemble({"bar": 0.0}), f"{turn.kind} .* in angle is open by 0.5 rad")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"velocities": {"br": 1.0}}, "no body 'br': there are 'bar'"),
        ({"velocities": {"bar": NAN}}, "spin of 'bar' must be finite, got nan"),
        ({"velocities": {"bar": (1.0, 2.0)}}, r"velocity of 'bar' must have shape \(3,\), got \(2"),
        ({"elastic": "static"}, "elastic must be one of 'undeformed', 'quasi_static', got 'static'"),
        ({"time": NAN}, "time must be finite, got nan"),
    ],
)
def test_wrong_starts_are_refused(options, message):
    mechanism = pendulum()
    refused(lambda: mechanism.consistent_state(mechanism.assemble(), **options), message)


def test_drives_that_contradict_each_other():
    turns = [drive("bar.root", angle=lambda t: t), drive("bar.tip", angle=lambda t: 2.0 * t)]
    refused(lambda: start_of(pendulum(*turns)), "no velocity satisfies all constraints: drive .*contradict the joints")


def test_drives_without_a_rate():
    refused(lambda: start_of(pendulum(drive("bar.root", angle=math.cbrt))), "no derivative at t = 0.0")


# --- states and times -------------------------------------------------------------------------------------------------


def changed(part, change):
    """A pendulum and a state of it in which one part is changed by hand."""
    mechanism = pendulum()
    state = start_of(mechanism)
    x = state.x.copy()
    x[mechanism.layout.parts[part]] = change(x[mechanism.layout.parts[part]])
    return mechanism, replace(state, x=x)


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        (
            "bar.velocity",
            lambda v: np.add(v, [1.0, 0.0]),
            "inconsistent initial velocity at t = 0.0 s: hinge .*: x .* by 1 m/s",
        ),
        ("bar.spin", lambda w: w + 2.0, "inconsistent initial velocity at t = 0.0 s: hinge .*: y is violated by 1 m/s"),
        (
            "bar.centre",
            lambda r: np.add(r, [0.0, 0.1]),
            "inconsistent initial position .*: y is violated by 0.1 m; use",
        ),
        ("bar.rotation", lambda R: 1.5 * R, "position|rotation"),
    ],
)
def test_inconsistent_states_are_refused(part, change, message):
    mechanism, state = changed(part, change)
    refused(lambda: integrate(mechanism, state, [0.0, 0.1]), message)


def test_rotations_of_free_bodies_must_be_rotations():
    mechanism = connect({"bar": BAR}, [])
    state = start_of(mechanism)
    x = state.x.copy()
    x[mechanism.layout.parts["bar.rotation"]] = (1.0, 0.5)
    refused(lambda: integrate(mechanism, replace(state, x=x), [0.0, 0.1]), "rotation")


def test_states_must_be_finite_and_fit():
    mechanism = pendulum()
    state = start_of(mechanism)
    refused(lambda: replace(state, x=NAN * state.x), "x of a state must be finite")
    refused(lambda: replace(state, multipliers=state.multipliers + math.inf), "multipliers of a state must be finite")
    refused(lambda: integrate(mechanism, replace(state, x=state.x[1:]), [0.0, 1.0]), "state must have 7 entries, got 6")
    other = connect({"bar": BAR, "bob": POINT}, [])
    refused(lambda: integrate(other, state, [0.0, 1.0]), "the state must have 11 entries, got 7")
    short = replace(state, multipliers=state.multipliers[1:])
    refused(lambda: integrate(mechanism, short, [0.0, 1.0]), "multipliers")


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([0.0, 0.1, 0.05], "times must ascend: step 1 from 0.1 s to 0.05 s is -0.05 s"),
        ([0.0, 0.1, 0.1], "times must ascend: step 1 from 0.1 s to 0.1 s is 0 s"),
        ([0.0, -0.1], "times must ascend: step 0"),
        ([0.0, NAN], "times must be finite"),
        ([0.0, 0.1, 0.1 + 3e-17], "times must be at least 5.6e-17 s apart, which times in double precision resolve"),
        ([0.0], "times must have at least two entries, got 1"),
        ([[0.0, 1.0]], "times must have shape"),
        ([1.0, 2.0], "times must begin at the time of the start, 0.0 s, got 1.0 s"),
    ],
)
def test_wrong_times_are_refused(times, message):
    refused(lambda: run(pendulum(), times), message)


def test_steps_that_positions_do_not_resolve():
    """Below 1e-14 √(L/g) velocities are lost in the round-off of positions; a bar without forces has no such time."""
    falling = pendulum(gravity=(0.0, -9.81))
    refused(lambda: run(falling, [0.0, 1e-18]), "apart, which positions in double precision resolve: step 0 from 0.0 s")
    refused(lambda: run(falling, [0.0, 1e-18], method=by_name("gauss4")), "apart, which positions in double precision")
    assert run(falling, [0.0, 1e-13]).times[-1] == run(pendulum(), [0.0, 1e-13]).times[-1] == 1e-13


def test_velocities_that_contradict_a_joint_are_told():
    """A bar given (0, v) at its root and the spin ω turns about the hinge with ω + 3 v/2L."""
    bar = pendulum()
    with pytest.warns(UserWarning, match=r"changed.*'bar'.*.*3 rad/s; they break hinge bar.root–.*: y.*2$"):
        start = bar.consistent_state(bar.assemble(), velocities={"bar": (0.0, 2.0, 3.0)})
    turned = bar.consistent_state(bar.assemble(), velocities={"bar": (0.0, 0.0, 3.0)})
    assert start.x[-1] == pytest.approx(6.0, abs=1e-14)
    assert turned.x[-1] == pytest.approx(3.0, abs=1e-14)


def test_times_that_begin_a_round_off_beside_the_start():
    """0.1 + 0.2 s is not 0.3 s: the run begins at the start, and takes the same steps."""
    mechanism = pendulum()
    start = replace(start_of(mechanism), time=0.3)
    for method in ("exact", "gauss4"):
        runs = [
            integrate(mechanism, start, [first, 0.4, 0.5], method=by_name(method))
            for first in (0.3, 0.1 + 0.2, 0.3 - 1e-12)
        ]
        for made in runs:
            assert made.times[0] == 0.3 and np.array_equal(made.states, runs[0].states)
    refused(lambda: integrate(mechanism, start, [0.3 + 1e-9, 0.4]), "times must begin at the time of the start, 0.3 s")


def test_wrong_intervals_of_saving_are_refused():
    refused(lambda: run(pendulum(), save_every=0), "save_every must be at least 1, got 0")
    refused(lambda: run(pendulum(), save_every=1.5), "save_every must be a whole number, got 1.5")


# --- inputs and drives ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"force bar.tp": (0.0, 1.0)}, "no external port 'force bar.tp': there are 'force bar.tip', 'torque bar.tip'"),
        ({"force bar.tip": 1.0}, r"input 'force bar.tip' must have 2 entries, got shape \(\)"),
        ({"force bar.tip": (0.0, 0.0, 1.0)}, r"input 'force bar.tip' must have 2 entries, got shape \(3,\)"),
        ({"torque bar.tip": lambda t: (0.0, 1.0)}, r"input 'torque bar.tip' must have 1 entries, got shape \(2,\)"),
        ({"load bar.load": (1.0, 2.0, 3.0)}, r"input 'load bar.load' must have 4 entries, got shape \(3,\)"),
        ({"load bar.load": 1.0}, r"input 'load bar.load' must have 4 entries, got shape \(\)"),
        (
            {"force bar.tip": (0.0, NAN)},
            r"inputs\['force bar\.tip'\] must be finite",
        ),
        ({"torque bar.tip": lambda t: math.inf}, "input 'torque bar.tip' at t = 0.05 s must be finite"),
        (
            {"torque bar.tip": lambda t: None},
            "input 'torque bar.tip'",
        ),
        ({"torque bar.tip": "strong"}, r"inputs\['torque bar.tip'\] must be a function"),
    ],
)
def test_wrong_inputs_are_refused(inputs, message):
    mechanism = pendulum(force("bar.tip"), torque("bar.tip"), distributed_load("bar.load"), body=BEAM)
    refused(lambda: run(mechanism, inputs=inputs), message)


def test_a_mechanism_without_inputs_says_so():
    refused(lambda: run(pendulum(), inputs={"push": 1.0}), "no external port 'push': there are none")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t: NAN, "drive bar.root–GROUND: angle: the prescribed value at t = 0.0 s must be finite, got nan"),
        (lambda t: NAN if t > 0.05 else 0.0, "the prescribed value at t = 0.1 s must be finite, got nan"),
        (lambda t: None, "drive bar.root–GROUND: angle"),
        (lambda t: "left", "drive bar.root–GROUND: angle"),
        (lambda t: (0.0, 1.0), "drive bar.root–GROUND: angle"),
    ],
)
def test_wrong_driven_angles_are_refused(function, message):
    mechanism = pendulum(drive("bar.root", angle=function))
    refused(lambda: integrate(mechanism, start_of(mechanism), [0.0, 0.1]), message)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t: (0.0, NAN), "drive bar.root–GROUND: y: the prescribed value at t = 0.0 s must be finite, got nan"),
        (lambda t: 0.0, "drive bar.root–GROUND|position"),
        (lambda t: (0.0,), "drive bar.root–GROUND|position"),
        (lambda t: (0.0, 0.0, 0.0), "drive bar.root–GROUND|position"),
    ],
)
def test_wrong_driven_positions_are_refused(function, message):
    mechanism = connect({"bar": BAR}, [drive("bar.root", position=function)])
    refused(lambda: start_of(mechanism), message)


# --- redundant joints and the range of the model ----------------------------------------------------------------------


def test_redundant_joints_are_named():
    twice = [hinge("a.root", ORIGIN), weld("a.tip", "b.root"), hinge("b.root", "a.tip")]
    mechanism = connect({"a": BAR, "b": BAR}, twice)
    refused(lambda: run(mechanism), "redundant constraint: '(weld a.tip–b.root|hinge b.root–a.tip): [xy]' follows from")


def soft_beam(young):
    """A clamped beam under a tip force."""
    rod = fem.beam(1.0, fem.Material(young=young, density=100.0), fem.Section(width=0.1, height=0.05), elements=2)
    mechanism = connect({"rod": rod}, [weld("rod.root", GROUND), force("rod.tip")])
    return lambda: run(mechanism, np.linspace(0.0, 2.0, 41), inputs={"force rod.tip": (0.0, 1.0)})


def test_a_section_that_turns_far_is_warned_of():
    """The static slope under the tip force F is F L²/(2 EI) = 0.48 rad, about twice of it in the swing."""
    with pytest.warns(ValidityWarning, match=r"a section.*'rod' turns.*\S+ rad .*off.*about \d+ %.*t = \S+ s on"):
        soft_beam(1e6)()


def test_a_section_that_turns_little_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        soft_beam(1e7)()


def test_a_spring_needs_a_length():
    spring = spring_damper("bar.tip", GROUND.at(1.0, 0.0), stiffness=10.0)
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0)), spring])
    refused(lambda: mechanism.consistent_state(mechanism.assemble({"bar": 0.0})), "zero length at this pose")


def test_the_wrong_noun_is_answered_with_the_verb_that_makes_the_right_one():
    mechanism = pendulum()
    refused(lambda: integrate(mechanism, mechanism.assemble(), [0.0, 1.0]), "start must be a State, see mechanism")
    whole = rigid.free_body(1.0, inertia=0.1)
    refused(
        lambda: integrate(whole, np.zeros(6), [0.0, 1.0]),
        r"SwitchingPHDAE, got MultibodySystem; of a rigid\.MultibodySystem use system\.phdae\(\)$",
    )
    refused(
        lambda: connect({"a": whole}, []),
        r"bodies\['a'\] must be a Body, made by fem or rigid, .* got MultibodySystem",
    )
    refused(lambda: eigenfrequencies(mechanism), "system must be a LinearPHDAE, see mechanism.linearize")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("0", [0.0], []), "time must be a number, got '0'"),
        ((NAN, [0.0], []), "time must be finite"),
        ((0.0, ["x"], []), "x of a state must be numbers"),
        ((0.0, [NAN], []), "x of a state must be finite"),
        ((0.0, [[0.0]], []), "x of a state must have shape"),
    ],
)
def test_states_of_other_values_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        State(*given, anchors=None)


@pytest.mark.parametrize(
    ("ports", "message"),
    [
        ({"centre": (0.2, 0.0)}, r"a\.centre names the centre of mass of 'a' in its states.* 0\.2 m away"),
        ({"velocity": (0.0, 0.0)}, r"a\.velocity names a part of the states of 'a': give the port another name"),
    ],
)
def test_ports_do_not_bear_the_names_of_parts_of_states(ports, message):
    with pytest.raises(ValueError, match=message):
        connect({"a": rigid.body(1.0, inertia=0.1, ports=ports)}, [])


def test_a_motion_in_the_plane_is_no_pair():
    mechanism = connect({"a": rigid.body(1.0, inertia=0.1, ports={"centre": (0.0, 0.0)})}, [])
    with pytest.raises(ValueError, match=r"velocity.*'a' must.*\(v_x, v_y, spin\).*spin.*plane"):
        mechanism.consistent_state(
            mechanism.assemble(guess={"a": (0.0, 0.0, 0.0)}), velocities={"a": ((2.0, 0.0), 1.0)}
        )
