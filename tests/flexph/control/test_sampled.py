"""Sampled controllers, sensors and springs whose reference moves."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import rigid
from flexph import (
    GROUND,
    Checkpoint,
    InputError,
    IntegrationError,
    IntegrationInterrupted,
    Simulator,
    Solution,
    connect,
    hinge,
    integrate,
    torque,
    torsion_spring,
)
from flexph.control import Sampled, StateFeedback
from flexph.control.control_loops import ControlLoops
from flexph.integration.with_controllers import sampled_steps
from flexph.methods import DiscreteGradient, Exact, ExactGauss
from flexph.sensors import distance, joint_angle, joint_force, joint_rate, position, velocity

STIFF, DAMPED, TARGET = 40.0, 8.0, 0.5
SENSORS = {"angle": joint_angle("arm.root"), "rate": joint_rate("arm.root")}


def pendulum(*actuators):
    arm = {"arm": rigid.bar(1.0, 2.0)}
    return connect(arm, [hinge("arm.root", GROUND.at(0.0, 0.0)), *actuators], gravity=(0.0, -9.81))


def start_of(mechanism):
    return mechanism.consistent_state(mechanism.assemble({"arm": (0.0, 0.0, 0.0)}))


def hold(time, see):
    return {"motor": STIFF * (TARGET - see["angle"]) - DAMPED * see["rate"]}


MOTOR = pendulum(torque("arm.root", name="motor"))


def controlled(period, times, *, function=hold, method=None, **options):
    loop = Sampled(function=function, period=period, sensors=SENSORS)
    return integrate(MOTOR, start_of(MOTOR), times, method=method, controllers={"hold": loop}, **options)


def test_the_limit_of_short_periods_is_the_spring_of_first_order():
    times = np.linspace(0.0, 0.2, 41)
    spring = pendulum(
        torsion_spring("arm.root", GROUND, stiffness=STIFF, damping=DAMPED, angle=lambda t: TARGET, name="motor")
    )
    angle = integrate(spring, start_of(spring), np.linspace(0.0, 0.2, 321))
    errors = [
        abs(controlled(period, times).measured(SENSORS["angle"])[-1] - angle.measured(SENSORS["angle"])[-1])
        for period in (0.02, 0.01, 0.005)
    ]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 1.0, atol=0.2)
    assert errors[-1] < 2e-2 * TARGET


@pytest.mark.parametrize("save_every", [1, 3])
def test_steps_end_where_a_controller_is_called(save_every):
    called = []
    times = np.linspace(0.0, 0.1, 8)  # no multiple of the period

    def note(time, see):
        called.append(time)
        return hold(time, see)

    run = controlled(0.01, times, function=note, save_every=save_every)
    np.testing.assert_allclose(called, 0.01 * np.arange(10), atol=1e-15)
    np.testing.assert_array_equal(run.times, np.unique(np.append(times[::save_every], times[-1])))
    assert run.ledger.largest_residual < 1e-13


def integrating(time, see, memory):
    """A memory of an integral, of the turns of the angle, and of arrays, texts and None."""
    total = memory["total"] + 0.03 * (TARGET - see["angle"])
    note = {
        "total": total,
        "calls": memory["calls"] + 1,
        "last": np.array([time, see["angle"]]),
        "name": "é",
        "no": None,
    }
    return {"motor": 300.0 * total + 0.1 * see["force"][0]}, note


@pytest.mark.parametrize("stop", [25, 26])  # between two calls, and at one
def test_a_run_from_the_end_of_another_is_one_run(stop, tmp_path):
    """Memories, what is held, when the next call is, turns of angles and the last step are in the final state."""
    times, joint = np.linspace(0.0, 0.4, 41), MOTOR.connections[0].name
    sensors = {**SENSORS, "force": joint_force(joint)}
    loop = Sampled(function=integrating, period=0.02, sensors=sensors, memory={"total": 0.0, "calls": 0})

    def over(start, times):
        return integrate(MOTOR, start, times, controllers={"law": loop})

    spinning = MOTOR.consistent_state(MOTOR.assemble({"arm": (0.0, 0.0, 0.0)}), velocities={"arm": 18.0})
    whole, first = over(spinning, times), over(spinning, times[: stop + 1])
    assert abs(whole.measured(SENSORS["angle"])[stop]) > np.pi
    first.save(tmp_path / "run.h5")
    read = Solution.load(tmp_path / "run.h5", MOTOR)
    for state in (first.final, read.final, pickle.loads(pickle.dumps(first.final))):
        later = over(state, times[stop:])
        np.testing.assert_array_equal(first.followed_by(later).states, whole.states)
        np.testing.assert_array_equal(first.followed_by(later).controls["motor"], whole.controls["motor"])
        assert later.controller_memories["law"]["memory"]["calls"] == 20
    anew = over(replace(read.final, controllers={}), times[stop:])
    assert anew.controller_memories["law"]["memory"]["calls"] == (40 - stop + 1) // 2
    with pytest.raises(ValueError, match="state of controller 'law' must come from a run"):
        over(replace(read.final, controllers={"law": np.zeros(1)}), times[stop:])


def test_another_period_begins_where_the_next_call_would_have_been():
    times, called = np.linspace(0.0, 0.1, 11), []
    first = controlled(0.02, times[:6])

    def note(time, see):
        called.append(time)
        return hold(time, see)

    loop = Sampled(function=note, period=0.01, sensors=SENSORS)
    run = integrate(MOTOR, first.final, times[5:], controllers={"hold": loop})
    np.testing.assert_allclose(called, [0.06, 0.07, 0.08, 0.09], rtol=1e-12)
    assert run.controls["motor"][0] == first.controls["motor"][-1]


def test_a_memory_is_returned_and_the_inputs_are_those_of_the_call():
    loop = Sampled(
        function=lambda time, see, count: ({"motor": float(count)}, count + 1), period=0.05, sensors={}, memory=0
    )
    seen = []
    integrate(
        MOTOR, start_of(MOTOR), np.linspace(0.0, 0.2, 5), controllers={"count": loop},
        observe=lambda t, x: seen.append(t),
    )  # fmt: skip
    assert len(seen) == 5


def counted(function, start, times, name="count", memory=None, **options):
    """A run of a controller that remembers an array."""
    memory = {"calls": np.zeros(1)} if memory is None else memory
    loop = (
        function
        if isinstance(function, Sampled)
        else Sampled(function=function, period=0.05, sensors={}, memory=memory)
    )
    return integrate(MOTOR, start, times, controllers={name: loop}, **options)


def in_place(time, see, memory):
    memory["calls"] += 1.0
    return {"motor": 0.1 * memory["calls"][0]}, memory


def test_a_memory_that_is_changed_in_place_is_a_copy():
    """The same calls give the same runs, from the controller as given and from one final state."""
    given, times = np.zeros(1), np.linspace(0.0, 0.4, 9)
    loop = Sampled(function=in_place, period=0.05, sensors={}, memory={"calls": given})
    first, again = (counted(loop, start_of(MOTOR), times) for _ in range(2))
    np.testing.assert_array_equal(first.states, again.states)
    assert (given[0], loop.memory["calls"][0]) == (0.0, 0.0)
    half = counted(loop, start_of(MOTOR), times[:5])
    later = [counted(loop, half.final, times[4:]) for _ in range(2)]
    for run in later:
        np.testing.assert_array_equal(half.followed_by(run).states, first.states)
    assert half.final.controllers["count"]["memory"]["calls"][0] == 4.0

    own = {"calls": np.zeros(1)}  # which the function keeps
    kept = counted(lambda time, see, memory: in_place(time, see, own), start_of(MOTOR), times[:5])
    counted(lambda time, see, memory: in_place(time, see, own), kept.final, times[4:])
    assert own["calls"][0] == 8.0 and kept.final.controllers["count"]["memory"]["calls"][0] == 4.0


def test_a_start_whose_controllers_are_not_there_is_refused():
    times = np.linspace(0.0, 0.2, 5)
    start = counted(in_place, start_of(MOTOR), times[:3]).final
    with pytest.raises(ValueError, match=r"memory.*controller 'count',.*no controller .*:.*'coutn'; to"):
        counted(in_place, start, times[2:], name="coutn")
    for method in (Exact(), DiscreteGradient()):
        with pytest.raises(ValueError, match=r"there are none; .*replace\(start, controllers={}\)"):
            integrate(MOTOR, start, times[2:], method=method)
    counted(in_place, replace(start, controllers={}), times[2:], name="coutn")


@pytest.mark.parametrize(
    "wrong", [object(), {"a": [{1, 2}]}, np.array(["a"]), {object(): 1.0}], ids=["object", "set", "texts", "names"]
)
def test_a_memory_that_cannot_be_kept_is_refused_when_it_is_returned(wrong, tmp_path):
    def function(time, see, memory):
        return {"motor": 0.1}, wrong if time > 0.12 else memory

    with pytest.raises(ValueError, match="memory cannot be stored: stored values must be"):
        Sampled(function=function, period=0.05, sensors={}, memory=wrong)
    times = np.linspace(0.0, 0.4, 9)
    with pytest.raises(InputError, match=r"the memory.*controller 'count'.*t = 0.15 s cannot be stored") as caught:
        counted(function, start_of(MOTOR), times, checkpoint=Checkpoint(tmp_path / "kept", every=0.0))
    assert caught.value.solution.times.size == 4
    caught.value.solution.save(tmp_path / "run.h5")


@pytest.mark.parametrize("options", [{}, {"events": {"never": lambda t, x: 1.0}}])
def test_what_controllers_held_and_gave_is_in_the_solution(options, tmp_path):
    times = np.linspace(0.0, 0.1, 11)
    run = controlled(0.01, times, save_every=2, **options)
    fine = controlled(0.01, times, **options)
    angle, rate = (fine.measured(SENSORS[name]) for name in ("angle", "rate"))
    torques = STIFF * (TARGET - angle[:-1]) - DAMPED * rate[:-1]
    np.testing.assert_allclose(fine.controls["motor"][:, 0], torques, rtol=1e-12)
    np.testing.assert_array_equal(run.controls["motor"], fine.controls["motor"][1::2])
    np.testing.assert_allclose(fine.ledger.controllers["hold"], torques * np.diff(angle), rtol=1e-3)
    np.testing.assert_array_equal(fine.ledger.controllers["hold"], fine.ledger.work["motor"])
    run.save(tmp_path / "run.h5")
    np.testing.assert_array_equal(Solution.load(tmp_path / "run.h5", MOTOR).controls["motor"], run.controls["motor"])
    coupled = run.followed_by(integrate(MOTOR, replace(run.final, controllers={}), (0.1, 0.2)))
    np.testing.assert_array_equal(coupled.controls["motor"][-1], 0.0)


def test_the_work_of_a_reference_is_in_the_ledger():
    mechanism = pendulum(
        torsion_spring("arm.root", GROUND, stiffness=50.0, damping=2.0, angle=lambda t: 0.5 * np.sin(3.0 * t), name="m")
    )
    run = integrate(mechanism, start_of(mechanism), np.linspace(0.0, 2.0, 41))
    assert run.ledger.largest_residual < 1e-13
    assert abs(run.ledger.work["m"][-1]) > 1e-2
    collocated = integrate(mechanism, start_of(mechanism), np.linspace(0.0, 2.0, 41), method=ExactGauss())
    fine = integrate(mechanism, start_of(mechanism), np.linspace(0.0, 2.0, 2001))
    assert collocated.ledger.largest_residual < 1e-13
    assert collocated.ledger.work["m"].sum() == pytest.approx(fine.ledger.work["m"].sum(), rel=1e-4)  # second order
    with pytest.raises(ValueError, match=r"reference moves|moving reference"):
        mechanism.phdae(start_of(mechanism))


def test_angles_count_turns_and_rates_are_those_of_measures():
    mechanism = connect({"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND.at(0.0, 0.0))])
    pose = mechanism.assemble({"arm": (0.0, 0.0, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"arm": 10.0})
    run = integrate(mechanism, start, np.linspace(0.0, 2.0, 201))
    np.testing.assert_allclose(run.measured(joint_angle("arm.root"))[-1], 20.0, rtol=1e-2)  # of second order in h ω
    np.testing.assert_allclose(run.measured(joint_rate("arm.root")), 10.0, rtol=1e-12)
    np.testing.assert_allclose(run.measured(position("arm.tip")), run.position("arm.tip"), atol=1e-14)
    np.testing.assert_allclose(run.measured(velocity("arm.tip")), run.velocity("arm.tip"), atol=1e-12)
    np.testing.assert_allclose(run.measured(distance("arm.tip", GROUND.at(0.0, 0.0))), 1.0, rtol=1e-13)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda t, see: {"motor": float("nan")}, "controller 'hold' at t = 0 s: the input of 'motor' must be finite"),
        (lambda t, see: {"motor": (1.0, 2.0)}, "must have 1 number, got 2"),
        (lambda t, see: {"moter": 1.0}, "no external port 'moter'"),
        (lambda t, see: 1.0, "controller 'hold' at t = 0 s must return a mapping"),
        (lambda t, see: see["angel"], "raised KeyError at t = 0 s: 'angel'; its readings are 'angle', 'rate'"),
    ],
)
def test_wrong_answers_are_named_and_finished_steps_kept(function, told):
    with pytest.raises(InputError, match=told) as caught:
        controlled(0.01, np.linspace(0.0, 0.1, 11), function=function)
    assert caught.value.solution.times.size == 1
    assert str(caught.value).count("t = ") == 1


@pytest.mark.parametrize("period", [1e-18, 1e-300])
def test_more_calls_than_memory_holds_are_refused(period):
    with pytest.raises(InputError, match=rf"controller 'hold': a period of {period:g} s is .* more than memory holds"):
        controlled(period, np.linspace(0.0, 0.1, 11))


def test_what_cannot_have_controllers_says_so():
    loop = Sampled(function=hold, period=0.01, sensors=SENSORS)
    given = (MOTOR, start_of(MOTOR), (0.0, 0.1))
    with pytest.raises(ValueError, match="tolerance"):
        integrate(*given, method=Exact(tolerance=1e-3), controllers={"hold": loop})
    with pytest.raises(ValueError, match="controllers need a mechanism"):
        integrate(*given, method=DiscreteGradient(), controllers={"hold": loop})
    with pytest.raises(ValueError, match="must be a Quantity"):
        Sampled(function=hold, period=0.01, sensors={"angle": 1.0})


def test_steps_in_which_events_are_looked_for_are_the_same():
    times = np.linspace(0.0, 0.3, 91)
    plain, watched = controlled(0.01, times), controlled(0.01, times, events={"never": lambda t, x: 1.0})
    np.testing.assert_array_equal(watched.states, plain.states)
    assert plain.ledger.largest_residual < 1e-13


def spun(start, times):
    """A sampled controller of numbers and arrays beside a feedback that is called and held."""
    mechanism = pendulum(torque("arm.root", name="motor"), torque("arm.tip", name="other"))

    def law(time, see, count):
        assert type(see["angle"]) is float and see["tip"].shape == (2,)
        return {"motor": 0.1 * see["angle"] - 0.2 * see["tip"][1] * see["speed"][0]}, count + 1

    read = {"tip": position("arm.tip"), "angle": joint_angle("arm.root"), "speed": velocity("arm.tip")}
    other = {"rate": joint_rate("arm.root")}
    loops = {
        "law": Sampled(function=law, period=0.02, sensors=read, memory=0),
        "other": StateFeedback(function=lambda t, y: -0.3 * y[0], sensors=other, ports=["other"], period=0.03),
    }
    if start is None:
        start = mechanism.consistent_state(mechanism.assemble({"arm": (0.0, 0.0, 0.0)}), velocities={"arm": 18.0})
    return integrate(mechanism, start, times, controllers=loops)


def test_loops_read_what_python_reads_and_go_on_to_the_bit(monkeypatch):
    """Turns of angles, arrays in their place, memories, and compiled functions beside those of Python."""
    times = np.linspace(0.0, 0.6, 61)
    whole = spun(None, times)
    with monkeypatch.context() as patch:
        patch.setattr(ControlLoops, "are_read_compiled", False)
        plain = spun(None, times)
    assert whole.measured(SENSORS["angle"])[-1] > 2.0 * np.pi
    np.testing.assert_allclose(whole.states, plain.states, atol=1e-11)  # round-off of 60 steps
    np.testing.assert_allclose(whole.controls["motor"], plain.controls["motor"], atol=1e-11)
    for stop in (30, 31):
        first = spun(None, times[: stop + 1])
        later = spun(first.final, times[stop:])
        np.testing.assert_array_equal(first.followed_by(later).states, whole.states)
        assert later.controller_memories["law"]["memory"] == 30


def test_feedback_that_is_held_and_a_port_that_is_set_already():
    twice = {
        name: StateFeedback(function=lambda t, y: y[0], sensors={"a": SENSORS["angle"]}, ports=["motor"], period=0.01)
        for name in ("one", "two")
    }
    with pytest.raises(InputError, match=r"'motor' is set by more than one controller.*'one', 'two'"):
        integrate(MOTOR, start_of(MOTOR), (0.0, 0.1), controllers=twice)


def test_a_port_that_is_set_later_by_two_is_told_with_the_time(monkeypatch):
    def late(time, see):
        return {"motor": 1.0} if time > 0.045 else {}

    loops = {
        name: Sampled(function=function, period=0.01, sensors={}) for name, function in (("a", hold_none), ("b", late))
    }
    for few in (0, 16):  # up to which number of steps Python reads the sensors
        monkeypatch.setattr(sampled_steps, "FEW", few)
        with pytest.raises(InputError, match=r"than one controller at t = 0.05 s: 'a', 'b'") as caught:
            integrate(MOTOR, start_of(MOTOR), np.linspace(0, 0.1, 11), controllers=loops)
        assert caught.value.solution.times.size == 6


def test_a_controller_may_run_the_mechanism_itself():
    """As predictive control does: runs within runs, of the same mechanism, leave each other alone to the bit."""
    times = np.linspace(0.0, 0.3, 31)

    def foresees(time, see):
        ahead = Sampled(function=hold, period=0.01, sensors=SENSORS)
        integrate(MOTOR, start_of(MOTOR), times[:20], controllers={"hold": ahead})
        Simulator(MOTOR, start_of(MOTOR)).advance(0.01, {"motor": 3.0})
        return hold(time, see)

    plain, nested = (controlled(0.05, times, function=f) for f in (hold, foresees))
    np.testing.assert_array_equal(nested.states, plain.states)


def hold_none(time, see):
    return {"motor": 0.0}


def test_a_memory_may_become_none():
    """It is handed on as it is: no memory is that which is not given at the start."""
    seen = []

    def function(time, see, memory):
        seen.append(memory)
        return {"motor": 0.0}, None

    counted(function, start_of(MOTOR), np.linspace(0.0, 0.2, 5), memory=1.0)
    assert seen == [1.0, None, None, None]


def test_what_ends_a_call_leaves_the_finished_steps():
    times = np.linspace(0.0, 0.1, 101)
    whole = controlled(1e-3, times)

    def ends_with(error):
        def function(time, see):
            if time > 0.0495:
                raise error
            return hold(time, see)

        return function

    for error, seen in ((KeyboardInterrupt(), IntegrationInterrupted), (TypeError("no"), InputError)):
        with pytest.raises(seen) as caught:
            controlled(1e-3, times, function=ends_with(error))
        np.testing.assert_array_equal(caught.value.solution.states, whole.states[:51])
    with pytest.raises(GeneratorExit):  # not taken for the end of what calls it
        controlled(1e-3, times, function=ends_with(GeneratorExit()))


def test_joint_forces_are_read_of_the_last_step():
    joint, seen = MOTOR.connections[0].name, []

    def note(time, see):
        seen.append(see["force"].copy())
        return {"motor": -0.1 * see["force"][1]}

    def held(function):
        return {"weigh": Sampled(function=function, period=0.02, sensors={"force": joint_force(joint)})}

    times = np.linspace(0.0, 0.2, 21)
    run = integrate(MOTOR, start_of(MOTOR), times, controllers=held(note))
    np.testing.assert_array_equal(seen[0], 0.0)  # the start has none
    np.testing.assert_allclose(seen[1:], run.reaction(joint).force[1::2][: len(seen) - 1], atol=1e-9)
    np.testing.assert_array_equal(run.controls["motor"][2::2, 0], -0.1 * np.array(seen)[1:10, 1])
    with pytest.raises(ValueError, match="no joint 'axle'"):
        wrong = Sampled(function=note, period=0.02, sensors={"force": joint_force("axle")})
        integrate(MOTOR, start_of(MOTOR), times, controllers={"weigh": wrong})


@pytest.mark.parametrize("within", [False, True])
def test_an_input_beyond_all_numbers_is_told_with_its_controller_where_a_step_fails(within):
    bar = rigid.body(1.0, inertia=0.01, ports={"pin": (0.0, 0.5)})
    joints = [hinge("bar.pin", GROUND.at(0.0, 0.0)), torque("bar.pin", name="motor")]
    pendulum = connect({"bar": bar}, joints, gravity=(0.0, -9.81))
    start = pendulum.consistent_state(pendulum.assemble({"bar": (0.0, -0.5, 0.0)}))
    huge, see = lambda t: 1e300 if t > 0.002 else 0.0, {"turn": joint_angle("bar.pin")}
    servo = StateFeedback(function=lambda t, x: np.array([huge(t)]), sensors=see, ports=["motor"])
    held = Sampled(function=lambda t, x: {"motor": huge(t)}, period=1e-3, sensors=see)
    times = np.linspace(0.0, 0.005, 6)
    with pytest.raises(IntegrationError, match=r"the input.*controller 'servo'.*'motor'.*size 1e\+300"):
        integrate(pendulum, start, times, controllers={"servo": servo if within else held})
    with pytest.raises(IntegrationError, match=r"motion; the input at 'motor' is of size 1e\+300 there; try"):
        integrate(pendulum, start, times, inputs={"motor": huge})
