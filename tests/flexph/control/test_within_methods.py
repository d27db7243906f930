"""Feedback and controllers within the steps of all methods: the readings that it is of, the balance, orders."""

from functools import partial

import numpy as np
import pytest

import rigid
from flexph import (
    GROUND,
    PHDAE,
    Checkpoint,
    Event,
    InputError,
    IntegrationInterrupted,
    connect,
    force,
    hinge,
    integrate,
    torque,
    torsion_spring,
)
from flexph.contacts import Plane, Rigid, Sphere, contact
from flexph.control import Continuous, Sampled, StateFeedback, port_spring
from flexph.joints import CoulombFriction
from flexph.methods import Decaying, Exact, Exact4, ExactGauss
from flexph.sensors import joint_angle, joint_rate, position, velocity

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
SAME = 1e-9
"""Of two iterations that end at round-off, over steps under inputs that they agree on to 1e-12 of these."""
TIMES = np.linspace(0.0, 0.4, 41)
ARM = {"angle": joint_angle("arm.root"), "rate": joint_rate("arm.root")}
BALL = {"place": position("ball.centre"), "speed": velocity("ball.centre")}


def pendulum(*, friction=None, spring=None):
    """An arm that hangs out from a hinge with a motor and perhaps a spring."""
    parts = [hinge("arm.root", GROUND.at(0.0, 0.0), friction=friction), torque("arm.root", name="motor")]
    mechanism = connect({"arm": rigid.bar(1.0, 2.0)}, parts + ([spring] if spring else []), gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"arm": (0.0, 0.0, 0.0)}))


BOUNCE = Rigid(restitution=0.5, friction=0.2)


def bouncing(law=BOUNCE):
    """A ball with a motor that falls onto a floor and is pushed along it."""
    floor = contact(Sphere("ball.centre", 0.1), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="floor")
    body = rigid.body(0.5, inertia=2e-3, ports={"centre": (0.0, 0.0)})
    mechanism = connect({"ball": body}, [floor, force("ball.centre", name="push")], gravity=(0.0, -9.81))
    start = mechanism.assemble(guess={"ball": (0.0, 0.15, 0.0)})
    return mechanism, mechanism.consistent_state(start, velocities={"ball": (0.3, 0.0, 1.0)})


def turned(t, y):
    return 40.0 * (0.5 * np.sin(3.0 * t) - y[0]) + 8.0 * (1.5 * np.cos(3.0 * t) - np.tanh(y[1]))


def pushed(t, y):
    return 2.0 * np.tanh(0.5 * np.cos(9.0 * t) - y[2]), 3.0 * (0.12 - y[1]) - 0.4 * y[3] ** 3


TURN = StateFeedback(function=turned, sensors=ARM, ports=["motor"])
PUSH = StateFeedback(function=pushed, sensors=BALL, ports=["push"])
RUBS = CoulombFriction(0.4, radius=0.05)
CASES = {
    "decaying": (pendulum, Decaying(0.4), TURN),
    "friction": (partial(pendulum, friction=RUBS), Exact(), TURN),
    "events": (bouncing, Exact(), PUSH),
    "steps": (bouncing, Exact(contact="steps"), PUSH),
    "plastic": (partial(bouncing, Rigid(friction=0.3)), Exact(), PUSH),
}


def run(made, method, *, times=TIMES, **controllers):
    mechanism, start = made
    return integrate(mechanism, start, times, method=method, controllers=controllers)


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("name", CASES)
def test_feedback_is_of_means_and_keeps_the_balance(name):
    make, method, loop = CASES[name]
    made, times = make(), TIMES[:17]  # the ball strikes in the eleventh step
    solution = run(made, method, times=times, law=loop)
    assert solution.ledger.largest_residual < 1e-12 * max(solution.ledger.scale, 1.0)
    seen = np.hstack([solution.measured(own).reshape(times.size, -1) for own in loop.sensors.values()])
    means, middle = 0.5 * (seen[1:] + seen[:-1]), 0.5 * (times[1:] + times[:-1])
    given = np.array([np.ravel(loop.function(*at)) for at in zip(middle, means, strict=True)])
    port = loop.ports[0]
    np.testing.assert_allclose(solution.controls[port], given, rtol=0.0, atol=1e-9 * np.abs(given).max())
    np.testing.assert_array_equal(solution.ledger.controllers["law"], solution.ledger.work[port])
    if "ball" in made[0].bodies:
        assert solution.ledger.complementarity_residual.max() < 1e-9
        assert solution.ledger.dissipation["floor: impact"].sum() > 0.0 or name == "plastic"
    if name == "friction":
        assert solution.ledger.complementarity_residual.max() < 1e-10


@pytest.mark.parametrize("name", CASES)
def test_loops_and_python_agree(name, by_python):
    """On feedback, and on controllers with states."""
    make, method, loop = CASES[name]
    made, port = make(), loop.ports[0]
    spring = port_spring(30.0, 2.0, width=2) if port == "push" else port_spring(30.0, 2.0)
    for own in (loop, Continuous(system=spring, ports={"spring": port})):
        first = run(made, method, times=TIMES[:17], law=own)
        with by_python():
            second = run(made, method, times=TIMES[:17], law=own)
        np.testing.assert_allclose(first.states, second.states, rtol=0.0, atol=SAME)
        assert second.ledger.largest_residual < 1e-12 * max(second.ledger.scale, 1.0)


def hardening():
    """A spring with a cubic law, which loops do not know."""
    return PHDAE(
        E=np.eye(1), J=np.zeros((1, 1)), B=np.eye(1), z=lambda x: 30.0 * x + 50.0 * x**3,
        H=lambda x: float(15.0 * x[0] ** 2 + 12.5 * x[0] ** 4), sample=np.array([0.2]), ports={"c": slice(0, 1)},
    )  # fmt: skip


@pytest.mark.parametrize("name", ["decaying", "friction"])
def test_controllers_that_loops_do_not_know_keep_the_balance(name):
    make, method, _ = CASES[name]
    solution = run(make(), method, spring=Continuous(system=hardening(), ports={"c": "motor"}))
    assert solution.ledger.largest_residual < 1e-12 * max(solution.ledger.scale, 1.0)
    assert solution.ledger.energy["stored spring"].max() > 0.1
    assert np.diff(solution.ledger.total_energy).max() <= 1e-12 * solution.ledger.scale


@pytest.mark.parametrize("name", ["decaying", "friction", "events", "steps", "tolerance", "friction by tolerance"])
def test_controllers_with_states_keep_the_balance(name):
    if name in ("events", "steps"):
        made, method, port = bouncing(), CASES[name][1], "push"
    else:
        made = pendulum(friction=RUBS if "friction" in name else None)
        method, port = Decaying(0.4) if name == "decaying" else Exact(), "motor"
        method = Exact(tolerance=1e-3) if "tolerance" in name else method
    spring = port_spring(30.0, 2.0, width=2) if port == "push" else port_spring(30.0, 2.0)
    servo = Continuous(system=spring, ports={"spring": port})
    solution = run(made, method, servo=servo)
    assert solution.ledger.largest_residual < 1e-12 * max(solution.ledger.scale, 1.0)
    assert (solution.ledger.dissipation["servo"] >= -1e-15).all() and solution.ledger.dissipation["servo"].sum() > 0.0


@pytest.mark.parametrize("contact_by", ["events", "steps"])
@pytest.mark.parametrize("kind", ["feedback", "controller"])
def test_steps_in_which_balls_would_pass_each_other_are_divided(kind, contact_by):
    """A ball that moves ten times its size in a step gives all of its speed to another one."""
    ball = rigid.body(1.0, inertia=1e-3, ports={"centre": (0.0, 0.0)})
    hit = contact(Sphere("ball.centre", 0.05), Sphere("other.centre", 0.05), Rigid(restitution=1.0))
    mechanism = connect({"ball": ball, "other": ball}, [hit, force("ball.centre", name="push")])
    pose = mechanism.assemble(guess={"ball": (0.0, 0.0, 0.0), "other": (0.26, 0.0, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"ball": (10.0, 0.0, 0.0)})
    spring = Continuous(system=port_spring(1.0, 0.1, width=2), ports={"spring": "push"})
    loop = StateFeedback(function=lambda t, y: -0.1 * y[2:], sensors=BALL, ports=["push"])
    own = spring if kind == "controller" else loop
    solution = run((mechanism, start), Exact(contact=contact_by), times=0.05 * np.arange(4), law=own)
    assert np.abs(solution["ball.velocity"][-1]).max() < 0.1 and solution["other.velocity"][-1, 0] > 9.9
    assert solution.ledger.largest_residual < 1e-12 * solution.ledger.scale
    if kind == "feedback":
        np.testing.assert_array_equal(solution.ledger.controllers["law"], solution.ledger.work["push"])


def disc():
    """A body that is free in the plane, with a force and a torque on it."""
    ports = [force("disc.centre", name="push"), torque("disc.centre", name="turn")]
    mechanism = connect({"disc": rigid.body(1.5, inertia=0.2, ports={"centre": (0.0, 0.0)})}, ports)
    start = mechanism.assemble({"disc": (0.2, -0.1, 0.3)})
    return mechanism, mechanism.consistent_state(start, velocities={"disc": (1.0, 0.5, 2.0)})


def held(t, y):
    """Forces on a body at y = (x, y, v, w) that depend on all of it."""
    return (*(-20.0 * np.array(y[:2]) ** 3 - 0.5 * np.array(y[2:4]) + np.sin(4.0 * t)), 0.3 * y[0] - 0.1 * y[3])


def test_feedback_at_the_nodes_keeps_the_order_of_collocation():
    sensors = {"place": position("disc.centre"), "speed": velocity("disc.centre")}
    loop = StateFeedback(function=held, sensors=sensors, ports=["push", "turn"])
    made, ends = disc(), []
    for steps in (4, 8, 16, 128):
        solution = run(made, ExactGauss(3), times=np.linspace(0.0, 1.0, steps + 1), law=loop)
        assert solution.ledger.largest_residual < 1e-13
        ends.append(solution.states[-1])
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 6.0, atol=0.5)


def test_feedback_by_collocation_is_the_limit_of_short_steps():
    """Of fourth order, as velocities are that joints hold; steps end at events, which loops take alone, too."""
    made = pendulum()
    fine = [run(made, Exact(), times=np.linspace(0.0, 0.4, 1 + steps), law=TURN).states[-1] for steps in (300, 600)]
    limit = (4.0 * fine[1] - fine[0]) / 3.0  # of steps of second order
    nodes = [run(made, ExactGauss(3), times=np.linspace(0.0, 0.4, 1 + steps), law=TURN) for steps in (6, 12)]
    errors = [np.abs(own.states[-1] - limit).max() for own in nodes]
    assert errors[0] > 12.0 * errors[1] and errors[1] < 2e-6
    ended = ends_far(made, ExactGauss(3))
    assert ended.times[-1] == pytest.approx(ends_far(made, Exact(), 200).times[-1], abs=1e-4)


def ends_far(made, method, steps=20):
    """A run that ends where the arm comes to 0.2 rad."""
    far = Event(lambda t, x: x.measured(ARM["angle"]) - 0.2, terminal=True)
    times = np.linspace(0.0, 0.4, 1 + steps)
    ended = integrate(*made, times, method=method, controllers={"law": TURN}, events={"far": far})
    assert ended.measured(ARM["angle"])[-1] == pytest.approx(0.2, abs=1e-9) and ended.times[-1] < 0.4
    return ended


@pytest.mark.parametrize("friction", [None, RUBS])
def test_a_tolerance_is_met_under_feedback(friction):
    made = pendulum(friction=friction)
    fine = run(made, Exact(), times=np.linspace(0.0, 0.4, 1601), law=TURN).states[-1]
    errors, steps = [], []
    for tolerance in (1e-3, 1e-4, 1e-5):
        solution = run(made, Exact(tolerance=tolerance), times=[0.0, 0.2, 0.4], law=TURN)
        assert solution.ledger.largest_residual < 1e-12
        np.testing.assert_array_equal(solution.ledger.controllers["law"], solution.ledger.work["motor"])
        errors.append(np.abs(solution.states[-1] - fine).max())
        steps.append(solution.ledger.steps.sum())
    assert errors[0] < 2e-2 and errors[2] < 2e-4  # of velocities of 2 m/s
    assert errors[2] < errors[0] / 10.0 and steps[2] > 3.0 * steps[0]


@pytest.mark.parametrize("kind", ["feedback", "controller"])
def test_pairs_that_loops_choose_are_those_that_python_chooses(kind):
    """As where events are looked for; rejected pairs leave controllers where they were."""
    servo = Continuous(system=port_spring(30.0, 2.0), ports={"spring": "motor"})
    made, loops = pendulum(), {"law": TURN if kind == "feedback" else servo}
    own = partial(integrate, *made, [0.0, 0.2, 0.4], method=Exact(tolerance=1e-5), controllers=loops)
    runs = own(), own(events={"never": lambda t, x: 1.0})
    assert runs[0].ledger.rejected.sum() == runs[1].ledger.rejected.sum() > 0
    assert runs[0].ledger.steps.sum() == runs[1].ledger.steps.sum()
    np.testing.assert_allclose(runs[0].states, runs[1].states, rtol=0.0, atol=1e-8)
    for name, energy in runs[0].ledger.energy.items():
        np.testing.assert_allclose(energy, runs[1].ledger.energy[name], rtol=0.0, atol=1e-8)
    for name, lost in runs[0].ledger.dissipation.items():
        np.testing.assert_allclose(lost, runs[1].ledger.dissipation[name], rtol=0.0, atol=1e-8)


def test_a_tolerance_is_met_with_rigid_contacts_under_feedback():
    made = bouncing()
    fine = run(made, Exact(), times=np.linspace(0.0, 0.4, 801), law=PUSH).states[-1]
    near, far_off = (run(made, Exact(tolerance=tol), times=[0.0, 0.4], law=PUSH) for tol in (1e-5, 1e-3))
    for solution in (near, far_off):
        assert solution.ledger.largest_residual < 1e-12
    errors = [np.abs(solution.states[-1] - fine).max() for solution in (near, far_off)]
    assert errors[0] < 1e-3 and errors[0] < errors[1]


def test_a_run_under_a_tolerance_goes_on_from_its_checkpoint_and_ends_at_events(tmp_path):
    made, method, file = pendulum(), Exact(tolerance=1e-4), tmp_path / "run"
    own = partial(integrate, *made, TIMES[::8], method=method, controllers={"law": TURN})
    whole = own()

    def watch(time, state):
        if time > 0.2 and not list(tmp_path.glob("ended")):
            (tmp_path / "ended").touch()
            raise KeyboardInterrupt

    with pytest.raises(IntegrationInterrupted):
        own(checkpoint=Checkpoint(file, 1e-9), observe=watch)
    again = own(checkpoint=Checkpoint(file, 1e-9, resume=True), observe=watch)
    np.testing.assert_array_equal(again.states, whole.states)
    ended = ends_far(made, method)
    later = integrate(made[0], ended.final, [ended.times[-1], 0.4], method=method, controllers={"law": TURN})
    np.testing.assert_allclose(later.states[-1], whole.states[-1], atol=1e-3)


@pytest.mark.parametrize("method", [Exact(tolerance=1e-4), ExactGauss(2), Decaying(0.4)])
def test_errors_of_functions_end_a_run(method):
    def ends(t, y):
        return 1.0 / 0.0 if t > 0.3 else turned(t, y)

    loop = StateFeedback(function=ends, sensors=ARM, ports=["motor"])
    with pytest.raises(InputError, match=r"'law' raised ZeroDivisionError at t = 0\.3") as caught:
        run(pendulum(), method, law=loop)
    assert 0.28 < caught.value.solution.times[-1] <= 0.3


def test_what_methods_cannot_have_is_refused_by_name():
    servo = Continuous(system=port_spring(30.0, 2.0), ports={"spring": "motor"})
    called = Sampled(function=lambda t, see: {"motor": 0.0}, period=0.02, sensors={})
    cubic = Continuous(system=hardening(), ports={"c": "motor"})
    made = pendulum()
    for method, loop, told in (
        (Exact4(), TURN, "steps back in time, in which nothing may dissipate, as controller 'own' may"),
        (ExactGauss(2), servo, "does not support the Continuous 'own', which has states"),
        (Exact(tolerance=1e-3), called, "such as 'own', need prescribed steps"),
        (Exact(tolerance=1e-3), cubic, "must be evaluated by the loops, which do not support its system: use Exact()"),
    ):
        with pytest.raises(ValueError, match=told):
            run(made, method, own=loop)


def test_a_spring_and_its_feedback_are_one_motion_by_a_tolerance():
    spring = torsion_spring("arm.root", GROUND, stiffness=40.0, damping=8.0, angle=0.5, name="spring")
    by_law = StateFeedback(function=lambda t, y: 40.0 * (0.5 - y[0]) - 8.0 * y[1], sensors=ARM, ports=["motor"])
    ends = [
        run(made, Exact(tolerance=1e-6), times=[0.0, 0.4], **loops).states[-1]
        for made, loops in ((pendulum(spring=spring), {}), (pendulum(), {"law": by_law}))
    ]
    np.testing.assert_allclose(ends[1], ends[0][:-1], atol=1e-4)


@pytest.mark.parametrize("seed", [0, 10])
def test_steps_of_impacts_are_divided_with_controllers_in_python(seed):
    """Fast balls whose steps of 0.1 s are divided: the coupling did not converge where each of its tries was."""
    draw, n = np.random.default_rng(seed), 4
    bodies = {f"b{i}": rigid.body(draw.uniform(0.5, 2.0), inertia=0.01, ports={"c": (0.0, 0.0)}) for i in range(n)}
    law = lambda: Rigid(friction=draw.choice([0.0, 0.3]), restitution=draw.choice([0.0, 0.5]))  # noqa: E731
    ball = lambda i: Sphere(f"b{i}.c", 0.1)  # noqa: E731
    touching = [contact(ball(i), ball(j), law(), name=f"{i}{j}") for i in range(n) for j in range(i)]
    floor = Plane(GROUND.at(0.0, -1.0), (0.0, 1.0))
    touching += [contact(ball(i), floor, Rigid(friction=0.3), name=f"floor {i}") for i in range(n)]
    mechanism = connect(bodies, [*touching, force("b0.c", name="push")], gravity=(0.0, -9.81))
    off = lambda: draw.uniform(-0.1, 0.1)  # noqa: E731
    pose = mechanism.assemble({f"b{i}": (0.5 * (i % 2) + off(), 0.5 * (i // 2) + off(), 0.0) for i in range(n)})
    start = mechanism.consistent_state(
        pose, velocities={f"b{i}": (*draw.normal(size=2) * 8.0, draw.normal() * 5.0) for i in range(n)}
    )
    k = 30.0
    spring = PHDAE(
        E=np.eye(2), J=np.zeros((2, 2)), B=np.eye(2), z=lambda x: k * x + 50.0 * x**3,
        H=lambda x: float(0.5 * k * x @ x + 12.5 * (x**4).sum()), sample=np.array([0.2, 0.1]), ports={"c": slice(0, 2)},
    )  # fmt: skip
    own = Continuous(system=spring, ports={"c": "push"})
    solution = integrate(
        mechanism, start, np.arange(0.0, 0.401, 0.1), method=Exact(contact="steps"), controllers={"spring": own}
    )
    assert solution.ledger.steps.max() > 1
    assert solution.ledger.largest_residual < 1e-12
