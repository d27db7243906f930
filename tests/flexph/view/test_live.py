"""Runs with a page: its protocol by HTTP, orders, sliders and their record, and that runs stay as they are."""

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from queue import Queue

import numpy as np
import pytest
from live_runs import LONG, Client, followed, pendulum

import rigid
from flexph import GROUND, PHDAE, Simulator, connect, hinge, integrate, spring_damper
from flexph.changes import release
from flexph.control import Sampled
from flexph.laws import controlled
from flexph.methods import Decaying, Exact, ExactGauss, Gauss
from flexph.results import Solution
from flexph.sensors import joint_angle
from flexph.systems import PiecewiseConstant
from flexph.view import Dial, Live
from flexph.view.live.frames import MechanismDrawing

BRAKE = Sampled(function=lambda t, y: {"motor": -y["angle"]}, period=0.01, sensors={"angle": joint_angle("rod.root")})


def test_frames_show_states_of_the_run():
    mechanism, start = pendulum(flexible=True)
    with followed(mechanism, start, LONG, live={"pace": 1.0}) as (page, result):
        assert page.ask("/")[1].startswith(b"<!doctype html>")
        raw = page.ask("/scene")[1]
        head = json.loads(raw[4 : 4 + int.from_bytes(raw[:4], "little")])
        assert [part["name"] for part in head["parts"]] == ["rod", "pin", "ground"]
        seen = [page.frame() for _ in range(4)]
        assert page.order("end")[0] == 204
        assert page.until(lambda head: head["state"] == "ended")["time"] < 100.0
        run = result.result(timeout=20)
    assert isinstance(run, Solution) and 1.0 < run.times.size < LONG.size
    times = [head["time"] for head, _ in seen]
    assert times == sorted(set(times))
    drawing = MechanismDrawing(mechanism)
    drawing.scene(start.x, 0.0)  # signs have the size of the start
    for told, numbers in seen:
        row = int(np.searchsorted(run.times, told["time"]))
        want = drawing.frame(run.states[row], told["time"], scalable=False)
        assert np.frombuffer(numbers, "<f4") == pytest.approx(np.frombuffer(want, "<f4"), abs=1e-5)  # single precision
        stored = run.ledger.total_energy[row] - run.ledger.total_energy[0]
        assert told["account"] == pytest.approx([stored, 0.0, 0.0], abs=1e-12 * run.ledger.scale)


def test_pause_holds_step_advances_by_one_and_end_returns_the_solution():
    mechanism, start = pendulum()
    with followed(mechanism, start, LONG, live={"paused": True}) as (page, result):
        held = page.until(lambda head: head["state"] == "paused")
        assert held["steps"] == 0
        time.sleep(0.15)
        for k in (1, 2, 3):
            page.order("step")
            assert page.until(lambda head: head["time"] > held["time"])["steps"] == k
        page.order("continue")
        moved = page.until(lambda head: head["state"] == "running" and head["steps"] > 3)
        page.order("pause")
        held = page.until(lambda head: head["state"] == "paused" and head["time"] >= moved["time"])
        time.sleep(0.15)
        page.order("step")
        assert page.until(lambda head: head["steps"] > held["steps"])["steps"] == held["steps"] + 1
        page.order("end")
        run = result.result(timeout=20)
    assert run.times.size == held["steps"] + 2
    assert np.array_equal(run.states, integrate(mechanism, start, run.times).states)


@pytest.mark.parametrize(
    "method, save_every", [(Exact(), 1), (Exact(), 7), (ExactGauss(2), 1), (Decaying(radius=0.5), 1)]
)
def test_a_slider_sets_an_input_whose_record_repeats_the_run(method, save_every):
    mechanism, start = pendulum()
    given, bounds = {"motor": 1.0}, {"motor": (-5.0, 5.0), "wind[1]": (-9.0, 9.0)}
    options = {"method": method, "save_every": save_every}
    live = {"paused": True, "sliders": bounds}
    with followed(mechanism, start, LONG, inputs=given, live=live, **options) as (page, result):
        assert page.until(lambda head: head["state"] == "paused")["values"] == [1.0, 0.0]
        for steps, name, value in ((2, "motor", 2.0), (4, "wind[1]", -4.0), (6, "motor", 3.0)):
            for _ in range(2):
                page.order("step")
            page.until(lambda head, steps=steps: head["steps"] == steps)
            assert page.order("slider", name=name, value=value)[0] == 204
        page.order("continue")
        assert page.until(lambda head: head["steps"] > 50)["values"] == [3.0, -4.0]
        page.order("end")
        run = result.result(timeout=20)
    assert run.sliders["motor"].values[[0, -1]].tolist() == [[1.0], [3.0]]
    assert run.sliders["wind"].values[-1].tolist() == [0.0, -4.0]
    assert run.ledger.largest_residual < 1e-11
    assert abs(run.ledger.work["motor"]).sum() > 0.0 and abs(run.ledger.work["wind"]).sum() > 0.0
    times = LONG[: int(run.ledger.steps.sum()) + 1]
    again = integrate(mechanism, start, times, inputs=run.sliders, **options)
    assert np.array_equal(run.states, again.states)
    if save_every == 1:
        torques = run.sliders["motor"].at_times(run.multiplier_times)[:, 0]
        turned = np.diff(run.measured(joint_angle("rod.root")))
        assert run.ledger.work["motor"] == pytest.approx(torques * turned, abs=1e-6 * run.ledger.scale)


def test_the_last_frame_shows_the_end_of_the_run_and_steps_do_not_delay_the_next_one():
    mechanism, start = pendulum()
    with followed(mechanism, start, LONG, live={"paused": True}) as (page, result):
        for _ in range(20):
            page.order("step")
        page.until(lambda head: head["steps"] == 20)
        page.order("continue")
        seen = [page.frame()[0]]
        while seen[-1]["state"] != "finished":
            seen.append(page.frame()[0])
        run = result.result(timeout=20)
    assert seen[-1]["steps"] == len(LONG) - 1 and seen[-1]["time"] == run.times[-1]
    assert len({head["steps"] for head in seen}) > 3  # frames between


def test_a_slider_of_a_stiffness_is_booked_and_repeats_the_run():
    """The factor passes to its new value over the next step, whose work is the input's."""
    line = {"direction": (0, 1), "length": 0.0}
    spring = spring_damper("mass.point", GROUND.at(0.0, 0.0), law=controlled(100.0), **line, name="spring")
    mechanism = connect({"mass": rigid.point(1.0)}, [spring], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"mass": (0.0, -1.0, 0.0)}))
    live = {"paused": True, "sliders": {"spring": (-0.5, 2.0)}}
    with followed(mechanism, start, LONG, live=live) as (page, result):
        for k, factor in enumerate((1.0, -0.3)):
            page.order("step")
            page.until(lambda head, steps=k + 1: head["steps"] == steps)
            page.order("slider", name="spring", value=factor)
        page.order("step")
        page.until(lambda head: head["steps"] == 3)
        page.order("end")
        run = result.result(timeout=20)
    stored = 0.5 * 100.0 * run["mass.centre"][1:3, 1] ** 2
    assert run.sliders["spring"].values[:, 0].tolist() == [0.0, 1.0, -0.3]
    assert run.ledger.work["spring"][1:3] == pytest.approx(stored * [1.0, -1.3], rel=0.05)  # it moves by 1 %
    assert run.energy_drift() < 1e-13
    again = integrate(mechanism, start, run.times, inputs=run.sliders)
    assert np.array_equal(again.states, run.states) and again.energy_drift() < 1e-13


def test_a_dial_changes_a_parameter_and_repeats_the_run():
    """The rest length of a spring: its work is in the ledger, and the dial is the function of time of the run."""
    rest, line = Dial(1.0, low=0.5, high=1.5, ramp=0.02), {"direction": (0, 1)}
    spring = spring_damper("mass.point", GROUND.at(0.0, 0.0), stiffness=100.0, length=rest, **line, name="spring")
    mechanism = connect({"mass": rigid.point(1.0)}, [spring], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"mass": (0.0, 0.9, 0.0)}))
    with followed(mechanism, start, LONG, live={"paused": True, "dials": {"rest": rest}}) as (page, result):
        assert page.until(lambda head: head["state"] == "paused")["values"] == [1.0]
        for k, length in enumerate((1.2, 0.7)):
            page.order("step")
            page.until(lambda head, steps=k + 1: head["steps"] == steps)
            assert page.order("slider", name="rest", value=9.0)[0] == 400
            page.order("slider", name="rest", value=length)
        page.order("continue")
        assert page.until(lambda head: head["steps"] > 50)["values"] == [0.7]
        page.order("end")
        run = result.result(timeout=20)
    assert rest.value == 0.7 and rest(0.0) == 1.0 and len(rest.corners) > 3
    assert run.energy_drift() < 1e-12 and abs(run.ledger.work["spring"]).sum() > 1.0
    again = integrate(mechanism, start, run.times)
    assert np.array_equal(again.states, run.states)
    rest.forget(0.0)
    assert rest.value == 1.0 and rest(5.0) == 1.0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"save_every": 3},
        {"method": Exact(tolerance=1e-5), "save_every": 200},
        {"method": Decaying(radius=0.8)},
        {"method": ExactGauss(2)},
        {"inputs": {"motor": lambda t: np.sin(3.0 * t)}},
        {"events": {"down": lambda t, x: x["rod.centre"][1]}},
        {"controllers": {"brake": BRAKE}},
        {"changes": [release("pin", at=0.5)]},
    ],
    ids=lambda options: " ".join(options) or "plain",
)
def test_an_untouched_run_has_the_bits_of_one_without_a_page(options):
    mechanism, start = pendulum()
    times = np.linspace(0.0, 1.0, 1001)
    plain = integrate(mechanism, start, times, **options)
    own = {} if {"inputs", "controllers"} & options.keys() else {"motor": (-1.0, 1.0)}
    with followed(mechanism, start, times, live={"pace": 4.0, "sliders": own}, **options) as (page, result):
        page.until(lambda head: head["state"] == "finished")
        run = result.result(timeout=20)
    for name in ("times", "states", "multipliers"):
        assert np.array_equal(getattr(run, name), getattr(plain, name))
    assert np.array_equal(run.ledger.total_work, plain.ledger.total_work)


def test_requests_without_the_token_and_wrong_orders_are_refused():
    mechanism, start = pendulum()
    live = {"pace": 1.0, "sliders": {"motor": (-5.0, 5.0)}}
    with followed(mechanism, start, LONG, live=live) as (page, result):
        assert page.line.sock is None or page.line.sock.getpeername()[0] == "127.0.0.1"
        for path in ("/", "/scene", "/frame", "/order"):
            for token in ("", "wrong", page.token[:-1]):
                assert page.ask(path, token=token)[0] == 403
        assert page.ask("/", headers={"Host": "example.org"})[0] == 403
        assert page.ask("/order", "POST", "{}", token="wrong")[0] == 403
        assert page.ask("/secret")[0] == 404
        assert page.ask("/frame", after="first")[0] == 400
        assert page.ask("/order", "POST", b"x" * 5000)[0] == 413
        for body in ("[]", "{", '{"order": "stop"}', '{"order": "pause", "at": 1}'):
            assert page.ask("/order", "POST", body)[0] == 400
        status, said = page.order("slider", name="motr", value=1.0)
        assert status == 400 and b"no slider 'motr': there are 'motor'" in said
        for value, told in ((6.0, b"must be -5 to 5, got 6"), ("much", b"value of slider 'motor'"), (None, b"slider")):
            status, said = page.order("slider", name="motor", value=value)
            assert status == 400 and told in said
        assert page.order("pace", value=-1.0)[0] == 400
        page.order("end")
        assert result.result(timeout=20).sliders["motor"].times.tolist() == [0.0]


def test_a_page_shows_the_error_of_its_run():
    mechanism, start = pendulum()

    def motor(time):
        if time > 0.5:
            raise RuntimeError("the motor burns")
        return 0.0

    with followed(mechanism, start, LONG, inputs={"motor": motor}, live={"pace": 5.0}) as (page, result):
        last = page.until(lambda head: head["state"] == "failed")
        with pytest.raises(ValueError, match="the motor burns") as error:
            result.result(timeout=20)
    assert "the motor burns" in last["message"]
    assert error.value.solution.times[-1] == pytest.approx(0.5, abs=2e-3)


def test_a_run_goes_on_without_its_page():
    mechanism, start = pendulum()
    with followed(mechanism, start, np.linspace(0.0, 1.0, 1001), live={"pace": 2.0}) as (page, result):
        page.frame()
        page.line.close()
        assert result.result(timeout=20).times[-1] == 1.0


def test_the_pace_bounds_the_speed_and_can_be_changed():
    mechanism, start = pendulum()
    with followed(mechanism, start, LONG, live={"pace": 0.5}) as (page, result):
        first = page.frame()[0]
        last = page.until(lambda head: head["time"] > 0.2)
        assert last["time"] - first["time"] <= 0.5 * (last["clock"] - first["clock"]) + 0.1
        page.order("pace", value=None)
        page.until(lambda head: head["time"] > 10.0)
        page.order("end")
        result.result(timeout=20)


def test_without_a_browser_the_address_is_told(monkeypatch, capfd):
    mechanism, start = pendulum()
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 11), live=True)
    assert run.times[-1] == 0.1
    assert "can be followed at http://127.0.0.1:" in capfd.readouterr().err


def test_in_a_notebook_the_page_stands_in_a_frame(monkeypatch):
    shown = []
    monkeypatch.setattr("flexph.view.live.live.in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", shown.append)
    run = integrate(*pendulum(), np.linspace(0.0, 0.1, 11), live=Live(wait=0.0))
    (frame,) = shown
    assert run.times[-1] == 0.1 and frame.src.startswith("http://127.0.0.1:") and "token=" in frame.src


def refusal(match, **options):
    mechanism, start = pendulum()
    live = Live(browser=False, **options.pop("live", {}))
    with pytest.raises(ValueError, match=match):
        integrate(mechanism, start, np.linspace(0.0, 0.1, 11), live=live, **options)


def test_what_a_run_with_a_page_refuses(tmp_path):
    for bounds, told in (
        ({"motr": (0.0, 1.0)}, "no slider 'motr': there are 'motor', 'wind.0.', 'wind.1.'"),
        ({"wind": (0.0, 1.0)}, "slider 'wind' must name one entry of the input: 'wind.0.', 'wind.1.'"),
        ({"motor": (1.0, 1.0)}, "bounds of slider 'motor' must ascend"),
    ):
        refusal(told, live={"sliders": bounds})
    motor = {"sliders": {"motor": (0.0, 1.0)}}
    refusal("must include the value that its input begins with, 2", live=motor, inputs={"motor": 2.0})
    refusal("input 'motor' of a slider must be constant", live=motor, inputs={"motor": np.sin})
    refusal("sliders cannot be combined with a checkpoint", live=motor, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="live must be True, False or a"):
        integrate(*pendulum(), np.linspace(0.0, 0.1, 11), live="page")
    refusal("live runs need a mechanism and Exact", method=Gauss(2))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        refusal(f"port {taken.getsockname()[1]} of 127.0.0.1 cannot be used", live={"port": taken.getsockname()[1]})
    for wrong in ({"rate": 0.0}, {"pace": -1.0}, {"wait": -1.0}, {"display": "film"}, {"port": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Live(**wrong)
    bare = connect({"rod": replace(rigid.bar(1.0, 2.0), view=None)}, [hinge("rod.root", GROUND)])
    with pytest.raises(ValueError, match="none of whose bodies can be drawn"):
        integrate(bare, bare.consistent_state(bare.assemble({"rod": (0.0, 0.0, 0.0)})), [0.0, 0.1], live=True)
    system = PHDAE(E=np.eye(1), J=np.zeros((1, 1)), z=lambda x: x, H=lambda x: x @ x / 2, sample=np.ones(1))
    with pytest.raises(ValueError, match="live runs need a mechanism"):
        integrate(system, [1.0], [0.0, 0.1], live=True)


def test_the_record_of_sliders_is_saved(tmp_path):
    mechanism, start = pendulum()
    with followed(mechanism, start, LONG, live={"paused": True, "sliders": {"wind[0]": (0.0, 5.0)}}) as (page, result):
        page.order("step")
        page.order("slider", name="wind[0]", value=2.5)
        page.order("step")
        page.until(lambda head: head["steps"] == 2)
        page.order("end")
        run = result.result(timeout=20)
    run.save(tmp_path / "run.h5")
    record = Solution.load(tmp_path / "run.h5", mechanism).sliders["wind"]
    assert isinstance(record, PiecewiseConstant)
    assert np.array_equal(record.times, run.sliders["wind"].times)
    assert np.array_equal(record.values, run.sliders["wind"].values)
    later = integrate(mechanism, run, run.times[-1] + 0.001 * np.arange(3), inputs={"wind": (2.5, 0.0)})
    assert np.array_equal(later.sliders["wind"].values, record.values)


def test_a_simulator_is_followed_and_steered():
    """A loop of the user waits while the page pauses, takes the input of a slider, and sees that the page ends it."""
    (mechanism, start), addresses = pendulum(), Queue()
    simulator, given = Simulator(mechanism, start), []

    def loop():
        live = Live(paused=True, sliders={"motor": (-5.0, 5.0)}, browser=addresses.put)
        with simulator.live(live, until=100.0) as steps:
            while not steps.ended:
                given.append(float(steps.inputs["motor"][0]))
                steps.advance(1e-3, {"wind": (0.0, 0.5)})
            return steps.count

    with ThreadPoolExecutor() as pool:
        count, page = pool.submit(loop), Client(addresses.get(timeout=20))
        page.until(lambda head: head["state"] == "paused" and head["steps"] == 0)
        page.order("step")
        page.until(lambda head: head["steps"] == 1)
        page.order("slider", name="motor", value=2.0)
        page.order("continue")
        head = page.until(lambda head: head["steps"] > 50)
        page.order("end")
        assert count.result(timeout=20) == len(given) > 50
        page.line.close()
    assert given[0] == 0.0 and given[-1] == 2.0
    stored, work, dissipated = head["account"]
    assert stored == pytest.approx(work, rel=1e-10) and dissipated == 0.0
    again = Simulator(mechanism, start)
    for torque in given:
        again.advance(1e-3, {"motor": torque, "wind": (0.0, 0.5)})
    assert np.array_equal(again.state.x, simulator.state.x)
    with pytest.raises(ValueError, match="until must be after the present time"):
        simulator.live(until=0.0)
    with pytest.raises(ValueError, match=r"live must be True or a flexph\.view\.Live"):
        simulator.live(3, until=1e3)
