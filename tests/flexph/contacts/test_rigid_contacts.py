"""Rigid contacts: impacts and their energy, resting, friction, and the closed forms of textbook systems."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, IntegrationError, ValidityWarning, connect, drive, hinge, integrate, slider
from flexph.contacts import Cylinder, Hole, Plane, Rigid, Sphere, contact, stop
from flexph.integration.blocks.block_stepper import BlockStepper
from flexph.integration.blocks.in_blocks import blocks_of
from flexph.integration.schemes.of_method import scheme_from
from flexph.methods import Decaying, Exact
from flexph.numerics.step_failed import StepFailed
from flexph.results.validity import warn_of_doubts
from flexph.systems.inputs import Forcing

GRAVITY = 9.81


def floor():
    return Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))


def bouncing(restitution, *, friction=0.0, spin=0.0, gap=1.0):
    ball = rigid.body(1.0, inertia=0.004, ports={"centre": (0.0, 0.0)})
    law = Rigid(restitution=restitution, friction=friction)
    touch = contact(Sphere("ball.centre", 0.1), floor(), law, name="floor")
    mechanism = connect({"ball": ball}, [touch], gravity=(0.0, -GRAVITY))
    pose = mechanism.assemble(guess={"ball": (0.0, 0.1 + gap, 0.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"ball": (0.0, 0.0, spin)})


def sound(solution):
    """The ledger closes, and nothing gives energy."""
    ledger = solution.ledger
    assert np.abs(ledger.residual).max() < 1e-12 * max(ledger.scale, 1e-3)
    assert min(values.min() for values in ledger.dissipation.values()) > -1e-13 * ledger.scale
    assert len(ledger.complementarity_residual) == len(ledger.residual)
    assert ledger.complementarity_residual.max() <= 1e-10


@pytest.mark.parametrize("way", ["events", "steps"])
def test_a_ball_bounces_to_a_quarter_and_comes_to_rest(way):
    mechanism, start = bouncing(0.5, gap=0.01)
    solution = integrate(mechanism, start, np.arange(0.0, 0.16, 1e-3), method=Exact(contact=way))
    height = solution["ball.centre"][:, 1] - 0.1
    assert height.min() >= -1e-12
    sound(solution)
    fall = math.sqrt(0.02 / GRAVITY)
    second = height[(solution.times > fall) & (solution.times < 1.9 * fall)].max()
    assert second == pytest.approx(0.0025, rel={"events": 2e-3, "steps": 0.1}[way])
    moving = solution.times[np.abs(solution["ball.velocity"][:, 1]) > 1e-9].max()
    assert moving == pytest.approx(3.0 * fall, abs={"events": 1.5e-3, "steps": 2e-2}[way])
    assert solution.ledger.total_energy[-1] == pytest.approx(0.1 * GRAVITY, rel=1e-12)
    taken = {name: float(values.sum()) for name, values in solution.ledger.dissipation.items()}
    assert taken["floor: impact"] == pytest.approx(0.01 * GRAVITY, rel={"events": 1e-3, "steps": 0.05}[way])


@pytest.mark.parametrize(("restitution", "steps"), [(1.0, 1), (1.0, 3), (0.9, 2), (0.5, 1)])
def test_a_ball_may_bounce_several_times_within_a_step(restitution, steps):
    """Free flight is exact, so that heights and what impacts take are those of the parabolas between them."""
    mechanism, start = bouncing(restitution)
    end, times = 1.5, np.linspace(0.0, 1.5, steps + 1)
    solution = integrate(mechanism, start, times)
    speed, t, bounces = math.sqrt(2.0 * GRAVITY), math.sqrt(2.0 / GRAVITY), 0
    while t + 2.0 * restitution * speed / GRAVITY < end and bounces < 50:
        speed, bounces = restitution * speed, bounces + 1
        t += 2.0 * speed / GRAVITY
    up, left = restitution * speed, end - t
    height = up * left - 0.5 * GRAVITY * left**2 if bounces < 50 else 0.0
    assert solution["ball.centre"][-1, 1] - 0.1 == pytest.approx(height, abs=1e-9)
    taken = solution.ledger.dissipation["floor: impact"].sum()
    assert taken == pytest.approx(GRAVITY - 0.5 * up**2 if bounces < 50 else GRAVITY, rel=1e-9, abs=1e-9)
    sound(solution)


def test_a_spinning_ball_that_lands_begins_to_roll():
    mechanism, start = bouncing(0.0, friction=2.0, spin=-10.0, gap=1e-3)
    solution = integrate(mechanism, start, np.arange(0.0, 0.1, 2e-3))
    v, spin = solution["ball.velocity"][-1, 0], float(np.ravel(solution["ball.spin"])[-1])
    assert v == pytest.approx(-0.1 * spin, abs=1e-12)
    assert v == pytest.approx(0.004 * 10.0 * 0.1 / (0.004 + 0.01), rel=1e-9)  # about the point of contact L is kept
    sound(solution)


@pytest.mark.parametrize("way", ["events", "steps"])
@pytest.mark.parametrize("gap", [0.0, 1e-3])
def test_five_balls_follow_newton_where_they_touch_and_hand_on_where_they_do_not(way, gap):
    names = [f"ball{i}" for i in range(5)]
    ball = rigid.body(1.0, inertia=0.1, ports={"centre": (0.0, 0.0)})
    pairs = [(Sphere(f"ball{i}.centre", 0.5), Sphere(f"ball{i + 1}.centre", 0.5)) for i in range(4)]
    mechanism = connect(dict.fromkeys(names, ball), [contact(*pair, Rigid(restitution=1.0)) for pair in pairs])
    places = {n: (i * (1.0 + gap) - (0.1 if i == 0 else 0.0), 0.0, 0.0) for i, n in enumerate(names)}
    start = mechanism.consistent_state(mechanism.assemble(guess=places), velocities={"ball0": (1.0, 0.0, 0.0)})
    solution = integrate(mechanism, start, np.linspace(0.0, 0.2, 5), method=Exact(contact=way))
    out = [solution[f"{n}.velocity"][-1, 0] for n in names]
    assert out == pytest.approx([-0.6, 0.4, 0.4, 0.4, 0.4] if gap == 0.0 else [0.0, 0.0, 0.0, 0.0, 1.0], abs=1e-12)
    sound(solution)


@pytest.mark.parametrize("way", ["events", "steps"])
def test_a_drive_that_strikes_does_the_work_of_its_impulse(way):
    wheel = rigid.body(1.0, inertia=1.0, ports={"shaft": (0.0, 0.0), "pin": (0.5, 0.0)})
    block = rigid.body(2.0, inertia=1.0, ports={"face": (0.0, 0.0)})
    touch = contact(Sphere("wheel.pin", 0.1), Plane("block.face", (0.0, -1.0)), Rigid(restitution=0.5), name="face")
    held = [hinge("wheel.shaft", GROUND.at(0.0, 0.0)), drive("wheel.shaft", GROUND, angle=lambda t: 3.0 * t)]
    mechanism = connect({"wheel": wheel, "block": block}, [*held, touch])
    pose = mechanism.assemble(guess={"block": (0.5, 0.1 + 1e-3, 0.0)})
    solution = integrate(mechanism, mechanism.consistent_state(pose), (0.0, 1e-3), method=Exact(contact=way))
    speed = 3.0 * 0.5
    assert solution["block.velocity"][-1, 1] == pytest.approx(1.5 * speed, rel=1e-5)
    lost = 0.5 * 2.0 * speed**2 * (1.0 - 0.5**2)
    assert solution.ledger.dissipation["face: impact"].sum() == pytest.approx(lost, rel=1e-5)
    assert sum(work.sum() for work in solution.ledger.work.values()) == pytest.approx(2.0 * 1.5 * speed**2, rel=1e-5)
    sound(solution)


def sliding(slope, speed, times, way="events"):
    block = rigid.body(1.0, inertia=0.01, ports={"left": (-0.1, -0.05), "right": (0.1, -0.05)})
    touch = contact(["block.left", "block.right"], floor(), Rigid(friction=0.3), name="floor")
    weight = (GRAVITY * math.sin(slope), -GRAVITY * math.cos(slope))
    mechanism = connect({"block": block}, [touch], gravity=weight)
    pose = mechanism.assemble(guess={"block": (0.0, 0.05, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"block": (speed, 0.0, 0.0)})
    return integrate(mechanism, start, times, method=Exact(contact=way))


@pytest.mark.parametrize("way", ["events", "steps"])
def test_a_block_on_a_slope_stops_where_friction_says(way):
    solution = sliding(math.atan(0.15), 0.1, np.arange(0.0, 0.08, 1e-3), way)
    slope = math.atan(0.15)
    stop_at = 0.5 * 0.01 / (GRAVITY * (0.3 * math.cos(slope) - math.sin(slope)))
    assert solution["block.centre"][-1, 0] == pytest.approx(stop_at, abs=1e-6)
    assert np.abs(solution["block.velocity"][-1]).max() < 1e-12
    sound(solution)


@pytest.mark.parametrize("way", ["events", "steps"])
def test_what_lands_on_its_slide_does_not_bounce(way):
    """Without restitution: friction takes μ of what the floor stops, whatever its speed along the floor."""
    body = {"point": rigid.body(1.0, inertia=1.0, ports={"centre": (0.0, 0.0)})}
    mechanism = connect(body, [contact("point.centre", floor(), Rigid(friction=0.3), name="floor")])
    pose = mechanism.assemble(guess={"point": (0.0, 1.05e-3, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"point": (5.0, -1.0, 0.0)})
    solution = integrate(mechanism, start, np.linspace(0.0, 5e-3, 6), method=Exact(contact=way))
    velocity, impulses = solution["point.velocity"], solution.ledger.impulses
    np.testing.assert_allclose(velocity[2:], [[4.7, 0.0]] * 4, atol=1e-12)
    assert impulses["floor: normal"].sum() == pytest.approx(1.0, rel=1e-12)
    assert impulses["floor: friction"].sum() == pytest.approx(0.3, rel=1e-12)
    sound(solution)


def test_a_block_just_below_the_angle_of_friction_does_not_creep():
    solution = sliding(math.atan(0.3 * (1.0 - 1e-9)), 0.0, np.arange(0.0, 0.1, 1e-2))
    assert np.abs(solution["block.centre"][:, 0]).max() < 1e-15


def test_the_rod_of_painleve_jams():
    rod = rigid.body(1.0, inertia=1.0 / 3.0, ports={"tip": (-1.0, 0.0)})
    touch = contact("rod.tip", floor(), Rigid(friction=1.8), name="floor")
    mechanism = connect({"rod": rod}, [touch], gravity=(0.0, -GRAVITY))
    pose = mechanism.assemble(guess={"rod": (math.cos(1.0), math.sin(1.0), 1.0)})
    start = mechanism.consistent_state(pose, velocities={"rod": (-3.0, 0.0, 0.0)})
    solution = integrate(mechanism, start, (0.0, 1e-5))
    spin = float(np.ravel(solution["rod.spin"])[-1])
    assert spin == pytest.approx(2.25 * math.sin(1.0), rel=1e-4)
    assert sum(v.sum() for v in solution.ledger.dissipation.values()) == pytest.approx(2.11027, abs=1e-4)


def test_a_block_rocks_with_the_amplitudes_of_housner():
    b, h = 0.1, 0.4
    block = rigid.body(1.0, inertia=(b * b + h * h) / 3.0, ports={"left": (-b, -h), "right": (b, -h)})
    touch = contact(["block.left", "block.right"], floor(), Rigid(friction=10.0), name="floor")
    mechanism = connect({"block": block}, [touch], gravity=(0.0, -GRAVITY))
    alpha = math.atan2(b, h)
    c, s = math.cos(0.5 * alpha), math.sin(0.5 * alpha)
    pose = mechanism.assemble(guess={"block": (-c * b + s * h, s * b + c * h, -0.5 * alpha)})
    solution = integrate(mechanism, mechanism.consistent_state(pose), np.arange(0.0, 0.66, 1e-2))
    rotation = solution.rotations("block")
    angle = np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])
    assert angle.max() / alpha == pytest.approx(0.3867145, rel=2e-3)
    first = int(np.flatnonzero(solution.ledger.dissipation["floor: impact"] > 1e-9)[0])
    assert solution.times[first] < 0.3123086 < solution.times[first + 1] + 1e-9
    sound(solution)


def test_a_flexible_arm_against_a_rigid_stop_stays_out_of_it():
    steel = fem.Material(young=2e11, density=7800.0)
    arm = fem.beam(0.5, steel, fem.Section(area=25e-6, second_moment=52e-12), elements=2)
    touch = contact("arm.tip", Plane(GROUND.at(0.0, -0.01), (0.0, 1.0)), Rigid(), name="stop")
    mechanism = connect({"arm": arm}, [hinge("arm.root", GROUND), touch], gravity=(0.0, -GRAVITY))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"arm": -1.0})
    solution = integrate(mechanism, start, np.linspace(0.0, 0.06, 61))
    assert solution.position("arm.tip")[:, 1].min() >= -0.01 - 1e-13
    sound(solution)
    with pytest.raises(ValueError, match=r"restitution is not defined at 'arm.tip'"):
        connect({"arm": arm}, [contact("arm.tip", floor(), Rigid(restitution=0.5))])
    with pytest.raises(ValueError, match=r"rigid contacts such as 'stop' need method=Exact\(\)"):
        integrate(mechanism, start, (0.0, 1e-3), method=Decaying())


def test_a_pendulum_between_stops_bounces_with_their_restitution():
    arm = rigid.bar(1.0, 2.0)
    ends = stop("arm.root", GROUND, Rigid(restitution=0.5), lower=-0.2, upper=0.3)
    mechanism = connect({"arm": arm}, [hinge("arm.root", GROUND), ends])
    start = mechanism.consistent_state(mechanism.assemble(guess={"arm": 0.0}), velocities={"arm": 2.0})
    solution = integrate(mechanism, start, np.linspace(0.0, 1.0, 41))
    spins = np.ravel(solution["arm.spin"])
    assert np.unique(np.round(spins, 9)) == pytest.approx([-1.0, 0.5, 2.0])
    sound(solution)


def test_bodies_in_each_other_at_the_start_are_named():
    mechanism, start = bouncing(0.5, gap=-0.01)
    with pytest.raises(ValueError, match=r"floor:.*bodies overlap at the start, by 0\.01 m:"):
        integrate(mechanism, start, (0.0, 0.1))
    ends = stop("arm.root", GROUND, Rigid(), upper=-0.1)
    turned = connect({"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND), ends])
    with pytest.raises(ValueError, match=r"GROUND: upper: .* at the start, by 0\.1 rad:"):
        integrate(turned, turned.consistent_state(turned.assemble(guess={"arm": 0.0})), (0.0, 0.1))
    with pytest.raises(ValueError, match=r"restitution must lie between 0 and 1, got 1\.5"):
        Rigid(restitution=1.5)


def ball_between(mass):
    """A light ball at rest between a wall and a heavy one that comes, all elastic."""
    bodies = {name: rigid.body(m, inertia=0.1, ports={"centre": (0.0, 0.0)}) for name, m in (("a", 1.0), ("b", mass))}
    law, balls = Rigid(restitution=1.0), [Sphere(f"{name}.centre", 0.1) for name in bodies]
    wall = contact(balls[0], Plane(GROUND.at(0.0, 0.0), (1.0, 0.0)), law, name="wall")
    mechanism = connect(bodies, [wall, contact(*balls, law, name="balls")])
    pose = mechanism.assemble(guess={"a": (0.3, 0.0, 0.0), "b": (0.8, 0.0, 0.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"b": (-1.0, 0.0, 0.0)})


@pytest.mark.processor
@pytest.mark.filterwarnings("ignore:contacts with restitution")
@pytest.mark.parametrize(("way", "steps"), [("events", 60), ("steps", 40)])  # by steps the law is not met at 0.45 s
def test_what_impacts_take_is_booked_to_round_off_for_any_ratio_of_masses(way, steps):
    """D of both contacts together is singular to 1e-6: what is booked follows from velocities, not from it."""
    mechanism, start = ball_between(1e6)
    solution = integrate(mechanism, start, 0.01 * np.arange(steps + 1), method=Exact(contact=way))
    assert np.abs(solution.ledger.residual).max() < 1e-13 * solution.ledger.scale  # round-off of some 50 impacts


@pytest.mark.parametrize(
    "shape", [Plane("plate.face", (0.0, -1.0)), Cylinder("plate.face", 0.2), Hole("plate.face", 0.3)]
)
def test_a_sphere_of_the_ground_carries_a_body(shape):
    plate = rigid.body(1.0, inertia=0.1, ports={"face": (0.0, 0.0)})
    touch = contact(Sphere(GROUND.at(0.0, 0.0), 0.1), shape, Rigid(), name="bump")
    mechanism = connect({"plate": plate}, [touch], gravity=(0.0, -GRAVITY))
    height = {Plane: 0.1, Cylinder: 0.3, Hole: -0.2}[type(shape)]
    pose = mechanism.assemble(guess={"plate": (0.0, height + 1e-3, 0.0)})
    solution = integrate(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, 0.02, 21))
    assert solution["plate.centre"][-1, 1] == pytest.approx(height, abs=1e-12)
    assert solution.contact("bump").normal[-1] == pytest.approx(GRAVITY, rel=1e-9)
    sound(solution)


@pytest.mark.parametrize(("balls", "told"), [(12, 1), (5, 0)])
def test_a_run_by_events_is_told_once_where_impacts_of_a_group_take_long(balls, told):
    """Balls that bounce on a floor, each twice or more within a step."""
    names = [f"ball{i}" for i in range(balls)]
    law, body = Rigid(restitution=1.0), rigid.body(1.0, inertia=1e-3, ports={"centre": (0.0, 0.0)})
    touching = contact([Sphere(f"{name}.centre", 0.05) for name in names], floor(), law, name="floor")
    mechanism = connect(dict.fromkeys(names, body), [touching], gravity=(0.0, -GRAVITY))
    heights = 0.01 + 0.005 * np.arange(balls) / balls
    guess = {name: (0.2 * i, 0.05 + heights[i], 0.0) for i, name in enumerate(names)}
    start = mechanism.consistent_state(mechanism.assemble(guess=guess))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        solution = integrate(mechanism, start, np.array([0.0, 0.18, 0.36]))
    assert sum("Exact(contact='steps') is for groups" in str(one.message) for one in said) == told
    energy = GRAVITY * (0.05 * balls + heights.sum())
    assert solution.ledger.total_energy[-1] == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize(("way", "step", "told"), [("steps", 0.1, 1), ("steps", 1e-3, 0), ("events", 0.1, 0)])
def test_a_run_says_that_contacts_with_restitution_closed_without_it(way, step, told):
    """A ball with e = 1 that falls and returns within a step at whose beginning it is at rest ends on the floor."""
    mechanism, start = bouncing(1.0, gap=0.04)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        solution = integrate(mechanism, start, np.arange(0.0, 0.35, step), method=Exact(contact=way))
    assert sum("'floor', closed inelastically and dissipated 0.392 J" in str(one.message) for one in said) == told
    lost = solution.ledger.total_energy[0] - solution.ledger.total_energy[-1]
    assert lost == pytest.approx(0.04 * GRAVITY if told else 0.0, abs=1e-13)


def test_a_run_by_events_says_that_it_has_more_impacts_in_a_step_than_it_takes_one_by_one():
    mechanism, start = ball_between(1e4)
    with pytest.warns(UserWarning, match=r"closed inelastically.*dissipated .* J, their impacts .* shorter steps"):
        solution = integrate(mechanism, start, np.linspace(0.0, 0.6, 61))
    assert solution.ledger.total_energy[-1] < 0.9 * solution.ledger.total_energy[0]


@pytest.mark.parametrize(("longest", "count"), [(1.0, 1), (0.5, 2), (0.3, 4), (0.07, 16), (0.05, 0)])
def test_a_step_that_is_not_solved_is_taken_in_halves(longest, count, monkeypatch):
    """Of a ball that falls freely."""
    mechanism, start = bouncing(0.5, gap=10.0)
    forcing, taken, lengths = Forcing(mechanism.network.input_slices, {}, 2), BlockStepper._taken, []
    blocks = blocks_of(scheme_from(mechanism, start, Exact(contact="steps"), forcing)[0])

    def only_short(own, begin, times, *given):
        if np.ptp(times) > longest:
            return None, 0
        lengths.append(np.ptp(times))
        return taken(own, begin, times, *given)

    monkeypatch.setattr(BlockStepper, "_taken", only_short)
    monkeypatch.setattr(BlockStepper, "failed", lambda own, begin, time: StepFailed("too long", 3, 0.1))
    if not count:
        with pytest.raises(StepFailed, match="too long"):
            blocks.step(blocks.start(start), 1.0)
        return
    result = blocks.step(blocks.start(start), 1.0)
    assert lengths == [1.0 / count] * count and result.end.time == 1.0
    assert result.end.state.c.r[0] == pytest.approx((0.0, 10.1 - 0.5 * GRAVITY), abs=1e-14)


def test_a_run_says_where_the_laws_of_contacts_were_not_met():
    mechanism, start = bouncing(0.5, gap=1e-3)
    run = integrate(mechanism, start, np.linspace(0.0, 0.03, 4))
    missed = replace(run.ledger, complementarity_residual=np.array([0.0, 1e-3, 0.0]))
    with pytest.warns(UserWarning, match=r"residual.*0\.001.*contact velocities.*step.*t = 0\.02 s"):
        warn_of_doubts(replace(run, ledger=missed), 0.01)


def test_what_settles_on_a_table_that_shakes_is_balanced():
    """The rate of a drive that is a function of time is a difference quotient, whose errors of 1e-9 all share."""
    table = rigid.body(5.0, inertia=0.1, ports={"top": (0.0, 0.0)})
    block = rigid.body(1.0, inertia=0.004, ports={"left": (-0.05, -0.05), "right": (0.05, -0.05)})
    along = {"direction": (0.0, 1.0)}
    shakes = drive("table.top", GROUND.at(0.0, 0.0), displacement=lambda t: 0.004 * np.sin(60.0 * t), **along)
    floor, law = Plane("table.top", (0.0, 1.0)), Rigid(restitution=0.3, friction=0.3)
    touch = contact(["block.left", "block.right"], floor, law, name="table")
    joints = [slider("table.top", GROUND, **along), shakes, touch]
    shaker = connect({"table": table, "block": block}, joints, gravity=(0.0, -9.81))
    start = shaker.consistent_state(shaker.assemble({"table": (0.0, 0.0, 0.0)}, guess={"block": (0.0, 0.05, 0.0)}))
    run = integrate(shaker, start, np.linspace(0.0, 0.1, 26))
    assert run.contact("table").touches[-3:].all() and not run.contact("table").touches.all()
    assert np.abs(run.ledger.residual).max() <= 1e-15 * run.ledger.scale


def test_a_law_that_is_not_met_is_told_with_contacts_and_masses():
    """A thousand tons land on a gram."""
    masses = {"low": 1e-3, "high": 1e6}
    ports = {"left": (-0.1, -0.1), "right": (0.1, -0.1), "top": (0.0, 0.1)}
    boxes = {name: rigid.body(mass, inertia=0.01 * mass, ports=ports) for name, mass in masses.items()}
    law, ground = Rigid(friction=0.4), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    floor = contact(["low.left", "low.right"], ground, law, name="floor")
    stack = contact(["high.left", "high.right"], Plane("low.top", (0.0, 1.0)), law, name="stack")
    mechanism = connect(boxes, [floor, stack], gravity=(0.0, -9.81))
    pose = mechanism.assemble(guess={"low": (0.0, 0.1, 0.0), "high": (0.02, 0.305, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"high": (0.2, 0.0, 0.0)})
    words = r"converge, of 'floor', 'stack' between masses of 0\.001 and 1e\+06 kg"
    with pytest.raises(IntegrationError, match=words) as failed:
        integrate(mechanism, start, np.linspace(0.0, 0.1, 11), method=Exact(contact="steps"))
    assert 1 < len(failed.value.solution.times) < 11


def test_a_block_that_hangs_from_its_foot_is_told():
    """Only its two lower corners touch the ground: it tips over and comes to hang."""
    block = rigid.body(1.0, inertia=0.1, ports={"left": (-0.1, -0.5), "right": (0.1, -0.5)})
    ground = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    corners = [Sphere("block.left", 0.0), Sphere("block.right", 0.0)]
    mechanism = connect(
        {"block": block}, [contact(corners, ground, Rigid(friction=0.8), name="floor")], gravity=(0, -9.81)
    )
    start = mechanism.consistent_state(mechanism.assemble({"block": (0.0, 0.5, 0.0)}), velocities={"block": (0, 0, -3)})
    with pytest.warns(ValidityWarning, match="mass of 'block' comes below the plane of 'floor' from t = 1.1"):
        integrate(mechanism, start, np.linspace(0.0, 1.3, 131))
