"""A mechanism that is advanced step by step: the bits of a run, whatever the lengths of the steps."""

from dataclasses import replace

import numpy as np
import pytest

import rigid
from cases import crank_slider as case
from flexph import GROUND, Simulator, connect, drive, force, hinge, integrate, torque
from flexph.control import Continuous, Sampled, StateFeedback, port_spring
from flexph.methods import Exact, Exact4, ExactGauss
from flexph.sensors import joint_angle, joint_rate

H = 2.0**-16  # times are exact sums
METHODS = [Exact(), ExactGauss(2), Exact4()]


def crank_slider():
    mechanism = case.crank_slider(2, "von_karman")
    return mechanism, mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}))


def motor():
    """A bar on a hinge with a torque at its end."""
    rod = connect({"rod": rigid.bar(1.0, 2.0)}, [hinge("rod.root", GROUND), torque("rod.tip", name="motor")])
    return rod, rod.consistent_state(rod.assemble({"rod": (0.0, 0.0, 0.0)}), velocities={"rod": 0.5})


def assert_equal(state, other):
    for name in ("time", "x", "multipliers", "memory"):
        np.testing.assert_array_equal(getattr(state, name), getattr(other, name))


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_steps_are_those_of_a_run(method):
    mechanism, start = crank_slider()
    simulator = Simulator(mechanism, start, method=method)
    lengths = H * np.array([1, 1, 1, 1, 1, 1, 1, 2, 2, 1, 2, 2, 2, 2])
    for h in lengths:
        simulator.advance(h)
    times = np.append(0.0, np.cumsum(lengths))
    run = integrate(mechanism, start, times, method=method, progress=False)
    assert_equal(simulator.state, run.final)


@pytest.mark.parametrize("method", METHODS[:2], ids=repr)
def test_a_run_and_another_simulator_go_on_from_its_state(method):
    mechanism, start = motor()
    first = Simulator(mechanism, start, method=method)
    for k in range(5):
        first.advance(H, {"motor": float(k)})
    second = Simulator(mechanism, first.state, method=method)
    run = integrate(mechanism, first.state, first.time + H * np.arange(4), method=method, progress=False)
    for _ in range(3):
        second.advance(H)
    assert second.time == 8 * H and first.time == 5 * H
    assert_equal(second.state, run.final)


@pytest.mark.parametrize("method", METHODS[:2], ids=repr)
def test_the_work_of_the_input_is_what_the_energy_gains(method):
    """ΔH = Σ h F·v̄ of a point mass, with the mean of both outputs; forces change from step to step."""
    mass = connect({"mass": rigid.point(2.0)}, [force("mass.point", name="push")])
    start = mass.consistent_state(mass.assemble({"mass": (0.0, 0.0, 0.0)}), velocities={"mass": (0.3, -0.4)})
    simulator, work = Simulator(mass, start, method=method), 0.0
    np.testing.assert_allclose(simulator.outputs["push"], (0.3, -0.4), atol=1e-15)
    for k in range(20):
        before, u = simulator.outputs["push"], np.array([np.sin(k) + 0.3, -1.0])
        simulator.advance(0.01, {"push": u})
        work += 0.01 * u @ (0.5 * (before + simulator.outputs["push"]))
    after = simulator.outputs["push"]
    assert after @ after - 0.5**2 == pytest.approx(work, abs=1e-14)


SEEN = {"angle": joint_angle("rod.root"), "spin": joint_rate("rod.root")}
LOOPS = {
    "sampled": Sampled(
        function=lambda t, see, sum_: ({"motor": 4.0 * (0.5 - see["angle"]) - see["spin"] + sum_}, sum_ + 0.1),
        period=2.5 * H,
        sensors=SEEN,
        memory=0.0,
    ),
    "continuous": Continuous(
        system=port_spring(4.0, 1.0), ports={"spring": "motor"}, references={"spring": lambda t: 8.0 + 50.0 * t}
    ),
    "feedback": StateFeedback(
        function=lambda t, see: np.array([4.0 * (0.5 - see[0]) - see[1]]), ports=["motor"], sensors=SEEN
    ),
}
INPUT = {"motor": 0.3}


@pytest.mark.parametrize("name", LOOPS)
def test_with_controllers_steps_are_those_of_a_run(name):
    """Called within steps, too, at their ends and after the last; states and memories to the bit."""
    mechanism, start = motor()
    loops = {name: LOOPS[name]}
    times = H * np.array([0, 1, 3, 8, 9])
    run = integrate(mechanism, start, times, controllers=loops, inputs=INPUT, progress=False)
    simulator = Simulator(mechanism, start, controllers=loops)
    for time in times[1:]:
        simulator.advance_to(float(time), INPUT)
    assert_equal(simulator.state, run.final)
    known, expected = simulator.state.controllers, run.final.controllers
    assert all(np.array_equal(known[n], expected[n]) or known[n] == expected[n] for n in {**known, **expected})
    assert known.keys() == expected.keys()
    if name != "continuous":  # of which a state does not have what its solution goes on from
        run = integrate(mechanism, run.final, times[-1] + times, controllers=loops, progress=False)
        simulator = Simulator(mechanism, simulator.state, controllers=loops)
        for k in range(1, times.size):
            simulator.advance_to(float(run.times[k]))
        assert_equal(simulator.state, run.final)


def test_memories_that_a_simulator_would_lose_are_refused():
    mechanism, start = motor()
    loops = {"sampled": LOOPS["sampled"]}
    simulator = Simulator(mechanism, start, controllers=loops)
    simulator.advance(4 * H)
    for other in (
        lambda: Simulator(mechanism, simulator.state),
        lambda: Simulator(mechanism, start).restore(simulator.state),
    ):
        with pytest.raises(ValueError, match="the start carries the memory of controller 'sampled'"):
            other()


def test_controllers_stay_where_they_were_if_they_fail():
    """In a step of which a part is done, too: its time, its memory and when it is called next."""
    mechanism, start = motor()
    broken = []

    def count(time, see, calls):
        if broken and calls == 3:
            raise RuntimeError("no reading")
        return {"motor": 1.0}, calls + 1

    loops = {"count": Sampled(function=count, period=H, sensors={}, memory=0)}
    simulator = Simulator(mechanism, start, controllers=loops)
    simulator.advance(H)
    broken.append(True)
    with pytest.raises(ValueError, match=r"raised RuntimeError at t = .*: no reading"):
        simulator.advance(4 * H)
    assert (simulator.time, simulator.state.controllers["count"]["memory"]) == (H, 1)
    broken.clear()
    simulator.advance(4 * H)
    assert (simulator.time, simulator.state.controllers["count"]["memory"]) == (5 * H, 5)


def test_the_output_of_a_torque_is_the_spin():
    mechanism, start = motor()
    assert Simulator(mechanism, start).outputs["motor"] == pytest.approx(0.5, abs=1e-15)


@pytest.mark.parametrize("method", METHODS[:2], ids=repr)
def test_a_step_that_fails_leaves_everything_as_it_was(method):
    mechanism, start = crank_slider()
    simulator, other = (Simulator(mechanism, start, method=method) for _ in range(2))
    for _ in range(4):
        simulator.advance(H)
        other.advance(H)
    with pytest.raises(ArithmeticError, match="could not be solved"):
        simulator.advance(0.5)
    for _ in range(3):
        simulator.advance(H)
        other.advance(H)
    assert_equal(simulator.state, other.state)


def test_a_drive_is_asked_for_times_that_are_reached_where_it_ends():
    def angle(t):
        if t > 20 * H:
            raise RuntimeError("beyond its end")
        return t

    rod = connect({"rod": rigid.bar(1.0, 2.0)}, [hinge("rod.root", GROUND), drive("rod.root", GROUND, angle=angle)])
    simulator = Simulator(rod, rod.consistent_state(rod.assemble({"rod": (0.0, 0.0, 0.0)})))
    for _ in range(20):
        simulator.advance(H)
    assert simulator.time == 20 * H
    with pytest.raises(ValueError, match="beyond its end"):
        simulator.advance(H)
    assert simulator.time == 20 * H


def test_what_no_single_step_can_have_is_refused():
    mechanism, start = motor()
    with pytest.raises(ValueError, match="leave its tolerance out"):
        Simulator(mechanism, start, method=Exact(tolerance=1e-6))
    simulator = Simulator(mechanism, start)
    with pytest.raises(ValueError, match="h must be"):
        simulator.advance(0.0)
    with pytest.raises(ValueError, match="motor"):
        simulator.advance(H, {"brake": 1.0})


@pytest.mark.parametrize("h", [1e-16, 1e-18, 1e300])
def test_steps_that_numbers_do_not_resolve_are_refused(h):
    """Of 1e-16 s the next time is not another one; of more, squares overflow."""
    mechanism, start = motor()
    simulator = Simulator(mechanism, replace(start, time=1.0))
    with pytest.raises(ValueError, match=r"h must be .* s to 1e\+75 s at t = 1 s, got"):
        simulator.advance(h)
    assert simulator.time == 1.0


def test_values_of_a_kind_are_named_in_the_plural():
    mechanism, start = motor()
    with pytest.raises(ValueError, match="sensors must be a dict of names with Quantities, got"):
        Simulator(mechanism, start, sensors=["angle"])
    kinds = "a Sampled, a Continuous or a StateFeedback"
    with pytest.raises(ValueError, match=f"controllers must be a dict of names with entries that are {kinds}, got"):
        integrate(mechanism, start, [0.0, 1.0], controllers=["pd"])
