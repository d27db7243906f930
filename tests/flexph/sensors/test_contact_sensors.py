"""Gaps, states and forces of contacts as sensors read them: of states, over runs, in controllers and events."""

import math

import numpy as np
import pytest
from exact_scheme.contacts import press
from exact_scheme.kinematics import Ends

import rigid
from flexph import GROUND, Checkpoint, Event, connect, force, integrate, slider
from flexph.contacts import Hertz, KelvinVoigt, Plane, Rigid, contact
from flexph.control import Sampled, StateFeedback
from flexph.kernels.contacts.gap_arrays import no_contacts
from flexph.kernels.contacts.laws import forces_at
from flexph.methods import Exact
from flexph.sensors import friction_force, gap, normal_force, touches, velocity

GRAVITY, FRICTION, SLOPE = 9.81, 0.3, 0.2
SOFT = KelvinVoigt(1e4, damping=50.0)
WALL = {"force": normal_force("wall"), "gap": gap("wall"), "touches": touches("wall"), "rate": velocity("finger.tip")}


def on_slope(law, *, height=0.0, speed=0.0):
    """A point of 1 kg that slides on a plane whose normal is y, under the weight of a slope."""
    body = {"point": rigid.body(1.0, inertia=1.0, ports={"centre": (0.0, 0.0)})}
    pull = GRAVITY * np.array([math.sin(math.atan(SLOPE)), -math.cos(math.atan(SLOPE))])
    touch = contact("point.centre", Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="floor")
    mechanism = connect(body, [touch], gravity=tuple(pull))
    pose = mechanism.assemble(guess={"point": (0.0, height, 0.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"point": (speed, 0.0, 0.0)}), pull


def finger(law):
    """What a force pushes along x against a wall, 0.2 mm away."""
    body = {"finger": rigid.body(0.5, inertia=0.01, ports={"centre": (0.0, 0.0), "tip": (0.05, 0.0)})}
    touch = contact("finger.tip", Plane(GROUND.at(0.0502, 0.0), (-1.0, 0.0)), law, name="wall")
    rail = slider("finger.centre", GROUND, direction=(1.0, 0.0))
    mechanism = connect(body, [rail, force("finger.centre", name="push"), touch])
    return mechanism, mechanism.consistent_state(mechanism.assemble({"finger": (0.0, 0.0, 0.0)}))


def pressing(aim, seen, *, gain=0.5):
    """The law of a finger that comes near, then integrates the error of its force."""

    def law(time, see, held):
        seen.append((see["force"], see["gap"][0], see["touches"][0]))
        held += gain * (aim - see["force"]) if see["touches"][0] else 0.0
        return {"push": (1.0 + held - 10.0 * see["rate"][0], 0.0)}, held

    return Sampled(function=law, period=2e-3, sensors=WALL, memory=0.0)


@pytest.mark.parametrize("seed", range(5))
def test_forces_at_an_instant_are_those_over_short_steps(seed):
    random, count = np.random.default_rng(seed), 40
    numbers = {name: random.uniform(0.1, 2.0, count) for name in ("stiffness", "loss", "damping")}
    c = no_contacts(2)._replace(exponent=random.choice([1.0, 1.5], count), **numbers)
    begin, rate = random.normal(size=count), random.normal(size=count)
    force = forces_at(c, begin, rate)
    over = lambda h: [press(c, k, h, Ends(begin[k], begin[k] + h * rate[k])) for k in range(count)]  # noqa: E731
    errors = [over(h) - force for h in (1e-4, 5e-5)]
    pushing = errors[1] != 0.0
    np.testing.assert_allclose(np.log2(errors[0][pushing] / errors[1][pushing]), 1.0, atol=0.1)
    assert pushing.sum() > 5 and np.abs(errors[0]).max() < 2e-3
    assert (force[begin > 0.0] == 0.0).all() and force.min() == 0.0


@pytest.mark.parametrize(("slip_velocity", "order"), [(None, 1.0), (0.3, 2.0)])
def test_means_of_forces_of_states_are_those_of_steps(slip_velocity, order):
    """To second order; the force of an anchor that slips alternates about the friction."""
    law, errors = Hertz(1e5, loss=0.5, friction=FRICTION, slip_velocity=slip_velocity), []
    for steps in (12, 24):
        mechanism, start, _ = on_slope(law, height=-1e-3, speed=0.5)
        run = integrate(mechanism, start, np.linspace(0.0, 6e-3, steps + 1))
        late, mean = slice(steps // 2, None), run.contact("floor")  # once it slides
        for quantity, over in ((normal_force, mean.normal), (friction_force, mean.friction)):
            read = run.measured(quantity("floor"))
            errors.append(np.abs(0.5 * (read[1:] + read[:-1]) - over)[late].max())
    np.testing.assert_allclose(np.log2(np.divide(errors[:2], errors[2:])), [2.0, order], atol=0.1)
    assert errors[2] < 1e-3 and errors[3] < 3e-2


def test_what_is_read_of_a_state_is_what_the_solution_tells():
    mechanism, start, _ = on_slope(SOFT, height=1e-4)
    quantity, seen = normal_force("floor"), []
    times = np.linspace(0.0, 0.015, 16)
    run = integrate(mechanism, start, times, observe=lambda t, x: seen.append(x.measured(quantity)))
    told = run.contact("floor")
    np.testing.assert_array_equal(run.measured(gap("floor")), told.gap)
    np.testing.assert_array_equal(run.measured(touches("floor")), told.touches)
    np.testing.assert_array_equal(run.measured(quantity), seen)
    assert told.touches.any() and not told.touches.all()


@pytest.mark.parametrize(
    ("way", "restitution"),
    [("events", 0.0), ("steps", 0.0), ("steps", 0.3), pytest.param("events", 0.3, marks=pytest.mark.slow)],
)
def test_rigid_contacts_have_the_force_of_the_last_step_without_impulses(way, restitution):
    mechanism, start, pull = on_slope(Rigid(restitution=restitution, friction=FRICTION), height=1e-4)
    read, quantities = [], {"normal": normal_force("floor"), "friction": friction_force("floor")}
    weigh = Sampled(
        function=lambda time, see: read.append((see["normal"], see["friction"])) or {}, period=2e-3, sensors=quantities
    )
    times = np.linspace(0.0, 0.02, 21)
    run = integrate(mechanism, start, times, method=Exact(contact=way), controllers={"weigh": weigh})
    normal, friction = np.transpose(read)
    assert normal[0] == friction[0] == 0.0  # nothing is known of the start
    assert normal.max() < -pull[1] * (1.0 + 1e-9) and (friction <= FRICTION * normal * (1.0 + 1e-9)).all()
    np.testing.assert_allclose(read[-1], [-pull[1], pull[0]], rtol=1e-9)  # it rests
    impulses = run.ledger.impulses
    forces = (impulses["floor: normal"] - impulses["floor: normal at impacts"]) / np.diff(times)
    np.testing.assert_allclose(normal[1:], forces[1:-1:2], rtol=1e-9, atol=1e-9)
    assert run.contact("floor").normal.max() > 3.0 * normal.max()  # which has the impulses
    measured = run.measured(quantities["normal"])
    np.testing.assert_allclose(measured[-1], -pull[1], rtol=1e-9)
    assert measured[1:-1].max() < -pull[1] * (1.0 + 1e-9)  # nothing presses more than its weight but at impacts


@pytest.mark.parametrize(
    ("law", "gain", "end"),
    [
        (Rigid(), 0.5, 0.05),
        pytest.param(Rigid(restitution=0.3), 0.5, 0.1, marks=pytest.mark.slow),
        pytest.param(SOFT, 0.03, 0.8, marks=pytest.mark.slow),
    ],
)
def test_a_finger_presses_on_a_wall_with_the_force_that_is_asked(law, gain, end):
    (mechanism, start), seen = finger(law), []
    times = np.arange(0.0, end + 1e-9, 2e-3)
    run = integrate(mechanism, start, times, controllers={"grip": pressing(5.0, seen, gain=gain)})
    forces, gaps, closed = np.transpose(seen)
    assert forces[-1] == pytest.approx(5.0, rel=1e-3) and closed[-1]
    assert (forces[: int(np.argmax(closed))] == 0.0).all() and gaps[0] == pytest.approx(2e-4)
    np.testing.assert_array_equal(gaps, run.measured(WALL["gap"])[:-1, 0])
    assert np.abs(run.ledger.residual).max() < 1e-12


@pytest.mark.slow
def test_a_run_goes_on_with_the_force_of_the_last_step(tmp_path):
    (mechanism, start), loops = finger(Rigid()), {"grip": pressing(5.0, [])}
    times = np.linspace(0.0, 0.036, 19)
    whole = integrate(mechanism, start, times, controllers=loops)

    def watch(time, state):
        if time > 0.025 and not list(tmp_path.glob("ended")):
            (tmp_path / "ended").touch()
            raise KeyboardInterrupt

    kept = {"controllers": loops, "observe": watch}
    with pytest.raises(KeyboardInterrupt):
        integrate(mechanism, start, times, checkpoint=Checkpoint(tmp_path / "run"), **kept)
    again = integrate(mechanism, start, times, checkpoint=Checkpoint(tmp_path / "run", resume=True), **kept)
    np.testing.assert_array_equal(again.states, whole.states)
    assert whole.measured(WALL["force"])[-1] > 2.0


def test_events_end_a_run_where_something_touches_or_is_pressed():
    mechanism, start = finger(KelvinVoigt(1e4))
    stops = {"gap": lambda t, x: x.measured(WALL["gap"]), "force": lambda t, x: x.measured(WALL["force"]) - 1.5}
    runs = {
        name: integrate(
            mechanism, start, np.linspace(0.0, 0.03, 16), inputs={"push": (1.0, 0.0)},
            events={"stop": Event(stop, terminal=True)},
        )
        for name, stop in stops.items()
    }  # fmt: skip
    assert runs["gap"].times[-1] == pytest.approx(math.sqrt(2.0 * 2e-4 * 0.5 / 1.0), rel=1e-9)
    assert runs["force"].measured(WALL["force"])[-1] == pytest.approx(1.5, rel=1e-9)


def test_feedback_within_the_step_reads_compliant_forces():
    mechanism, start = finger(SOFT)
    sensors = {name: WALL[name] for name in ("force", "rate")}
    feedback = StateFeedback(
        function=lambda time, y: (5.0 - 0.5 * y[0] - 10.0 * y[1], 0.0), sensors=sensors, ports=["push"]
    )
    run = integrate(mechanism, start, np.linspace(0.0, 0.03, 16), controllers={"soft": feedback})
    read, rate = run.measured(WALL["force"]), run.measured(WALL["rate"])[:, 0]
    mean = [0.5 * (own[1:] + own[:-1]) for own in (read, rate)]
    np.testing.assert_allclose(run.controls["push"][:, 0], 5.0 - 0.5 * mean[0] - 10.0 * mean[1], atol=1e-9)
    assert read.max() > 1.0 and run.ledger.largest_residual < 1e-12


def test_forces_that_are_not_known_are_refused_by_name():
    mechanism, start = finger(Rigid())
    times = [0.0, 0.01]
    with pytest.raises(ValueError, match=r"'wall',.*rigid contact, exists.*steps only.* read.*Sampled"):
        integrate(mechanism, start, times, events={"press": lambda t, x: x.measured(WALL["force"])})
    law = {"function": lambda t, y: (0.0, -y[0]), "ports": ["push"]}
    pushed = {name: StateFeedback(**law, sensors={name: WALL[name]}) for name in ("force", "gap")}
    with pytest.raises(ValueError, match=r"controller 'soft': sensor 'force': .* over steps"):
        integrate(mechanism, start, times, controllers={"soft": pushed["force"]})
    assert integrate(mechanism, start, times, controllers={"soft": pushed["gap"]}).ledger.largest_residual < 1e-12
    for quantity in (gap("wal"), normal_force("wal")):
        wrong = Sampled(function=lambda t, see: {}, period=0.01, sensors={"it": quantity})
        with pytest.raises(ValueError, match=r"controller 'it'.*no contact 'wal': there are 'wall'"):
            integrate(mechanism, start, times, controllers={"it": wrong})
