"""Locks and releases of joints within a run: losses in closed form, balance, momenta, and errors."""

import math

import numpy as np
import pytest

import fem
import rigid
from flexph import (
    GROUND,
    Checkpoint,
    Event,
    InputError,
    Solution,
    ValidityWarning,
    connect,
    cylindrical,
    drive,
    hinge,
    integrate,
    slider,
    spherical,
    spring_damper,
    torsion_spring,
    universal,
    weld,
)
from flexph.changes import lock, release, with_changes
from flexph.contacts import Plane, Rigid, contact
from flexph.control import Sampled
from flexph.joints import CoulombFriction, torque
from flexph.mechanisms.poses.passage import state_after_passage
from flexph.methods import Decaying, Exact, Exact4, ExactGauss
from flexph.results import static_solution
from flexph.sensors import joint_angle, joint_rate, offset

TIMES = np.linspace(0.0, 2.0, 41)
METHODS = [Exact(), Exact4(), ExactGauss(), Decaying(radius=0.7), Exact(tolerance=1e-6)]
ROUND_OFF = 1e-13
"""Bound of errors of sums of some 50 numbers of the size of one, with room for other processors."""


def pair(*more):
    """Two free bars with a hinge and a spring between them, moving."""
    bars = {"a": rigid.bar(1.0, 2.0), "b": rigid.bar(0.7, 1.5)}
    spring = torsion_spring("a.tip", "b.root", stiffness=3.0, angle=0.0, name="spring")
    mechanism = connect(bars, [hinge("a.tip", "b.root", name="hinge"), spring, *more])
    pose = mechanism.assemble({"a": (0.0, 0.0, 0.3)}, guess={"b": (1.0, 0.3, 0.9)})
    return mechanism, mechanism.consistent_state(pose, velocities={"a": (0.1, 0.2, 1.0)}, joints="free")


def balance(run):
    """Largest |ΔH − work + dissipation| between saved times."""
    ledger = run.ledger
    return float(np.abs(np.diff(ledger.total_energy) - ledger.total_work + ledger.total_dissipation).max())


def masses():
    """Two blocks in the plane, the first of which moves towards the second."""
    block = {name: rigid.body(m, inertia=1.0, ports={"nose": (0.0, 0.0)}) for name, m in (("a", 2.0), ("b", 3.0))}
    mechanism = connect(block, [])
    pose = mechanism.assemble({"a": (0.0, 0.0, 0.0), "b": (1.0, 0.0, 0.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"a": (1.5, 0.0, 0.0), "b": 0.0})


def test_two_masses_that_dock_lose_the_energy_of_a_plastic_impact():
    mechanism, start = masses()
    dock = lock(weld("a.nose", "b.nose", name="dock"), when=offset("a.nose", "b.nose", (1.0, 0.0)), reaches=0.0)
    run = integrate(mechanism, start, TIMES, changes=[dock])
    reduced = 2.0 * 3.0 / 5.0
    assert run.ledger.dissipation["lock dock"].sum() == pytest.approx(0.5 * reduced * 1.5**2, rel=1e-13)
    assert run.ledger.impulses["dock: x"].sum() == pytest.approx(reduced * 1.5, rel=1e-13)
    assert run.events["lock dock"].times == pytest.approx([1.0 / 1.5], rel=1e-13)
    assert run["b.velocity"][-1] == pytest.approx([0.6, 0.0], rel=1e-13)
    assert balance(run) < ROUND_OFF


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_hinge_that_locks_and_is_released_keeps_the_balance_and_both_momenta(method):
    mechanism, start = pair()
    run = integrate(mechanism, start, TIMES, changes=[lock("hinge", at=0.5), release("hinge", at=1.0)], method=method)
    held = run.measured(joint_angle("a.tip", "b.root"))[(run.times >= 0.5) & (run.times <= 1.0)]
    assert len(run.times) == len(TIMES) and np.ptp(held) < 1e-14
    assert run.ledger.dissipation["lock hinge"].sum() > 0.01
    assert max(balance(run), run.energy_drift(), run.ledger.residual.max()) < ROUND_OFF
    assert np.ptp(run.linear_momentum(), axis=0).max() < ROUND_OFF
    assert np.ptp(run.angular_momentum(), axis=0).max() < ROUND_OFF
    assert np.ptp(run.measured(joint_angle("a.tip", "b.root"))[run.times > 1.0]) > 0.1  # it moves again


def test_reactions_are_those_of_the_joints_while_they_hold():
    """The force of the hinge or its lock is what changes the momentum of the free bar."""
    mechanism, start = pair()
    times = np.linspace(0.0, 2.0, 401)
    changes = [lock("hinge", at=0.5), release("hinge", at=1.0), lock("hinge", at=1.5)]
    run = integrate(mechanism, start, times, changes=changes)
    forces = [run.reaction(name, on="second").force for name in ("hinge", "lock hinge", "lock hinge (2)")]
    middle = run.multiplier_times
    holds = [(middle < 0.5) | ((middle > 1.0) & (middle < 1.5)), (middle > 0.5) & (middle < 1.0), middle > 1.5]
    for force, own in zip(forces, holds, strict=True):
        assert np.abs(force[~own]).max() == 0.0 and np.linalg.norm(force[own], axis=1).min() > 0.0
    gained = 1.5 * np.diff(run["b.velocity"], axis=0) / np.diff(run.times)[:, None]
    mean = lambda x: 0.5 * (x[1:] + x[:-1])  # noqa: E731  # velocities alternate by the second order
    quiet = np.ones(len(middle) - 1, dtype=bool)
    for k in (100, 200, 300):  # steps that begin with an impulse
        quiet[k - 1 : k + 1] = False
    np.testing.assert_allclose(mean(sum(forces))[quiet], mean(gained)[quiet], atol=4e-3)


SPATIAL = [
    hinge("a.p", "b.q", axis=(0.0, 1.0, 0.0), name="j"),
    universal("a.p", "b.q", axis=(1.0, 0.0, 0.0), second_axis=(0.0, 1.0, 0.0), name="j"),
    spherical("a.p", "b.q", name="j"),
    cylindrical("a.p", "b.q", axis=(0.0, 0.0, 1.0), name="j"),
]


@pytest.mark.parametrize("joint", SPATIAL, ids=lambda joint: joint.kind)
def test_joints_of_space_lock_with_both_momenta(joint):
    J = np.diag([0.2, 0.3, 0.4])
    bodies = {
        "a": rigid.body(1.0, inertia=J, ports={"p": (0.5, 0.1, 0.0)}),
        "b": rigid.body(2.0, inertia=2.0 * J, ports={"q": (-0.4, 0.2, 0.3)}),
    }
    mechanism = connect(bodies, [joint])
    start = mechanism.consistent_state(
        mechanism.assemble(guess={"b": (0.9, -0.1, -0.3)} if joint.kind == "spherical" else {}),
        velocities={"a": ((1.0, 2.0, 3.0), (1.0, 2.0, -1.0))},
    )
    changes = [lock("j", at=0.33), release("j", at=0.71)]
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 21), changes=changes)
    assert {0.33, 0.71} <= set(run.times.tolist())
    locked = np.flatnonzero((run.times >= 0.33) & (run.times <= 0.71))
    turn = [run.rotations("a")[k].T @ run.rotations("b")[k] for k in locked]
    assert np.ptp(turn, axis=0).max() < 1e-13
    assert run.ledger.dissipation["lock j"].sum() > 1e-3
    assert max(balance(run), *np.ptp(run.linear_momentum(), axis=0), *np.ptp(run.angular_momentum(), axis=0)) < 1e-12


def test_a_slider_locks_where_it_stands_along_its_rail():
    cart = rigid.body(2.0, inertia=0.1, ports={"p": (0.0, 0.0)})
    mechanism = connect({"cart": cart}, [slider("cart.p", GROUND, name="rail")])
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"cart": (1.5, 0.0, 0.0)})
    run = integrate(mechanism, start, TIMES, changes=[lock("rail", at=0.4)])
    assert run["cart.centre"][-1] == pytest.approx([0.6, 0.0], abs=1e-14)
    assert run.ledger.dissipation["lock rail"].sum() == pytest.approx(0.5 * 2.0 * 1.5**2, rel=1e-14)


def test_the_drive_of_a_joint_does_the_work_of_its_impulse():
    """A crank at constant speed, on which a bar locks that was at rest: J = m(l + ⅓…) in closed form."""
    crank = {"crank": rigid.bar(0.5, 1.0), "bar": rigid.bar(1.0, 3.0)}
    joints = [hinge("crank.root", GROUND), drive("crank.root", GROUND, angle=lambda t: 2.0 * t, name="motor")]
    mechanism = connect(crank, [*joints, hinge("crank.tip", "bar.root", name="pin")])
    start = mechanism.consistent_state(mechanism.assemble(guess={"bar": 0.4}), velocities={"bar": 0.0})
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 201), changes=[lock("pin", at=0.5)], method=Exact())
    loss, work = run.ledger.dissipation["lock pin"], run.ledger.work["motor"]
    k = int(np.argmax(loss))
    assert run.times[k] == pytest.approx(0.5)
    assert loss[k] > 0.1 and work[k] > 0.1
    assert max(balance(run), run.energy_drift()) < 1e-12
    before, after = run.at(0.495), run.at(0.505)
    assert after.spin("bar") == pytest.approx(2.0, rel=1e-4)  # the second order of a mean velocity
    assert before.spin("bar") < 1.9


def test_a_condition_is_met_to_round_off_and_symmetric_ones_together():
    panels = {"hub": rigid.body(4.0, inertia=1.0, ports={"left": (-0.5, 0.0), "right": (0.5, 0.0)})}
    panels |= {name: rigid.bar(1.0, 1.0) for name in ("port", "star")}
    joints = [hinge("port.root", "hub.left", name="left"), hinge("star.root", "hub.right", name="right")]
    mechanism = connect(panels, joints)
    pose = mechanism.assemble({"hub": (0.0, 0.0, 0.0)}, guess={"port": math.pi - 1.0, "star": 1.0})
    start = mechanism.consistent_state(
        pose, velocities={"hub": (0.0, 0.0, 0.0), "port": (0.0, 0.0, 2.0), "star": (0.0, 0.0, -2.0)}
    )
    changes = [
        lock("left", when=joint_angle("port.root", "hub.left"), reaches=math.pi),
        lock("right", when=joint_angle("star.root", "hub.right"), reaches=0.0),
    ]
    run = integrate(mechanism, start, TIMES, changes=changes, method=Exact())
    times = [float(run.events[name].times[0]) for name in ("lock left", "lock right")]
    assert times[0] == pytest.approx(times[1], abs=1e-12)
    assert run.measured(joint_angle("port.root", "hub.left"))[-1] == pytest.approx(math.pi, abs=1e-12)
    assert run.measured(joint_angle("star.root", "hub.right"))[-1] == pytest.approx(0.0, abs=1e-12)
    assert run.final_mechanism.layout.multipliers == 6
    assert balance(run) < ROUND_OFF


def test_conditions_are_functions_events_and_sensors_that_count_turns():
    disc = rigid.body(1.0, inertia=0.5, ports={"hub": (0.0, 0.0)})
    wheel = connect({"wheel": disc}, [hinge("wheel.hub", GROUND, name="axle")])
    start = wheel.consistent_state(wheel.assemble(), velocities={"wheel": 10.0})
    turned = lock("axle", when=joint_angle("wheel.hub"), reaches=4.0 * math.pi)
    run = integrate(wheel, start, np.linspace(0.0, 2.0, 401), changes=[turned])
    assert run.measured(joint_angle("wheel.hub"))[-1] == pytest.approx(4.0 * math.pi, abs=1e-10)
    for when in (lambda t, x: t - 0.777, Event(lambda t, x: 0.777 - t, direction=-1)):
        run = integrate(wheel, start, TIMES, changes=[lock("axle", when=when)])
        assert run.events["lock axle"].times == pytest.approx([0.777], abs=1e-12)
        assert run.ledger.dissipation["lock axle"].sum() == pytest.approx(0.5 * 0.5 * 100.0, rel=1e-12)


def test_a_spring_that_is_released_loses_its_energy_and_one_that_begins_is_free_of_force():
    mechanism, start = pair()
    latch = spring_damper("a.root", "b.tip", stiffness=50.0, name="tie")
    changes = [lock(latch, at=0.5), release("tie", at=1.2), release("spring", at=1.3)]
    run = integrate(mechanism, start, TIMES, changes=changes)
    stored = run.ledger.energy["stored tie"]
    assert stored[TIMES <= 0.5].max() == 0.0 and stored[TIMES < 1.2].max() > 1e-3
    k = int(np.argmin(np.abs(TIMES - 1.2)))
    assert run.ledger.dissipation["release tie"][k] == pytest.approx(stored[k], rel=1e-12)
    assert run.ledger.dissipation["lock tie"].sum() == pytest.approx(0.0, abs=1e-15)
    assert run.ledger.energy["stored spring"][-1] == 0.0
    momenta = *np.ptp(run.linear_momentum(), axis=0), *np.ptp(run.angular_momentum(), axis=0)
    assert max(balance(run), *momenta) < ROUND_OFF


def test_a_spring_that_begins_with_a_tension_books_its_energy_as_work():
    mechanism, start = masses()
    tie = spring_damper("a.nose", "b.nose", stiffness=8.0, length=0.5, name="tie")
    run = integrate(mechanism, start, TIMES, changes=[lock(tie, at=0.2)])
    assert run.ledger.work["lock tie"].sum() == pytest.approx(0.5 * 8.0 * (0.7 - 0.5) ** 2, rel=1e-12)
    assert balance(run) < ROUND_OFF


def test_a_weld_of_an_arm_is_released_as_a_latch_of_a_flexible_beam():
    steel, strip = fem.Material(young=2.1e11, density=7850.0), fem.Section(width=0.02, height=0.002)
    beams = {"beam": fem.beam(0.5, steel, strip, elements=3), "arm": rigid.bar(0.3, 0.2)}
    mechanism = connect(beams, [weld("beam.root", GROUND), hinge("beam.tip", "arm.root", name="pin")])
    pose = mechanism.assemble({"beam": 0.0}, guess={"arm": 1.0})
    start = mechanism.consistent_state(pose, velocities={"arm": (0.0, 0.0, 2.0)})
    changes = [lock("pin", at=0.1), release("pin", at=0.3)]
    run = integrate(mechanism, start, np.linspace(0.0, 0.4, 201), changes=changes)
    assert run.ledger.dissipation["lock pin"].sum() > 1e-6  # little, as the mass at a node of a mesh is small
    assert balance(run) < 1e-13


def test_dry_friction_rigid_contacts_and_controllers_go_on():
    """A bar that falls on the ground, with a servo at a hinge with friction that locks on the way."""
    bars = {"a": rigid.bar(1.0, 2.0), "b": rigid.bar(0.7, 1.5)}
    joints = [
        hinge("a.root", GROUND, name="base"),
        hinge("a.tip", "b.root", name="elbow", friction=CoulombFriction(0.2, radius=0.02)),
        torque("b.root", against="a.tip", name="servo"),
        contact("b.tip", Plane(GROUND.at(0.0, -0.9), (0.0, 1.0)), Rigid(restitution=0.3), name="floor"),
    ]
    mechanism = connect(bars, joints, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(guess={"a": 0.1, "b": 0.4}), velocities={})
    calls = []

    def law(t, y):
        calls.append(t)
        return {"servo": -0.4 * y["rate"]}

    servo = Sampled(function=law, period=0.05, sensors={"rate": joint_rate("b.root", "a.tip")})
    changes = [lock("elbow", at=0.2), release("elbow", at=0.6)]
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 201), changes=changes, controllers={"servo": servo})
    assert run.ledger.dissipation["lock elbow"].sum() > 0.0
    assert run.ledger.dissipation["elbow"].sum() > 0.0
    assert run.ledger.complementarity_residual.size == len(run.times) - 1
    assert max(balance(run), run.energy_drift()) < 1e-11
    assert calls == pytest.approx(np.arange(0.0, 1.0, 0.05), abs=1e-9)


def test_friction_changes_by_contacts_that_take_turns():
    """A block that slides on a floor, which is icy from 0.5 s on: its speed falls by μgt."""
    block = rigid.body(1.0, inertia=0.1, ports={"foot": (0.0, 0.0)})
    plane = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    dry, icy = (
        contact("block.foot", plane, Rigid(friction=mu), name=name) for mu, name in ((0.2, "dry"), (0.1, "icy"))
    )
    mechanism = connect({"block": block}, [dry], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"block": (3.0, 0.0, 0.0)})
    changes = [release("dry", at=0.5), lock(icy, at=0.5)]
    run = integrate(mechanism, start, np.linspace(0.0, 3.0, 301), changes=changes)
    speed = run["block.velocity"][:, 0]
    first, later = 3.0 - 0.2 * 9.81 * 0.5, 0.1 * 9.81 * 0.5
    assert speed[50] == pytest.approx(first, rel=1e-12)
    assert speed[50] - speed[100] == pytest.approx(later, rel=1e-12)
    assert speed[-1] == 0.0
    assert balance(run) < ROUND_OFF


def test_the_friction_of_a_hinge_changes_by_hinges_that_take_turns():
    disc = rigid.body(2.0, inertia=0.1, ports={"hub": (0.0, 0.0)})
    worn, greased = (
        hinge("disc.hub", GROUND.at(0.0, 0.0), friction=CoulombFriction(mu, radius=0.01), name=name)
        for mu, name in ((0.3, "worn"), (0.1, "greased"))
    )
    mechanism = connect({"disc": disc}, [worn], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"disc": 1.0})
    changes = [release("worn", at=0.5), lock(greased, at=0.5)]
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 101), changes=changes)
    spin, slows = run.spin("disc").ravel(), 2.0 * 9.81 * 0.01 / 0.1 * 0.5
    # forces of the joint are of second order
    assert spin[50] - 1.0 == pytest.approx(-0.3 * slows, rel=1e-4)
    assert spin[100] - spin[50] == pytest.approx(-0.1 * slows, rel=1e-4)
    assert balance(run) < ROUND_OFF


def test_a_payload_is_caught_and_dropped_with_its_momentum():
    """A cart without forces that catches a payload at rest, and drops it: v = m v₀/(m + M) from then on."""
    bodies = {"cart": rigid.body(3.0, inertia=1.0, ports={"hook": (0.0, 0.0)}), "payload": rigid.point(2.0)}
    mechanism = connect(bodies, [])
    start = mechanism.consistent_state(
        mechanism.assemble({"cart": (0.0, 0.0, 0.0), "payload": (1.0, 0.0, 0.0)}),
        velocities={"cart": (2.0, 0.0, 0.0), "payload": (0.0, 0.0)},
    )
    hook = lock(hinge("payload.point", "cart.hook", name="hook"), when=lambda t, x: x["cart.centre"][0] - 1.0)
    run = integrate(mechanism, start, TIMES, changes=[hook, release("hook", at=1.5)])
    np.testing.assert_allclose(run["cart.velocity"][-1], [1.2, 0.0], atol=1e-14)
    assert run.ledger.dissipation["lock hook"].sum() == pytest.approx(0.5 * 1.2 * 4.0, rel=1e-13)
    assert run.final_mechanism.layout.multipliers == 0


def test_a_file_a_checkpoint_and_a_run_that_goes_on_give_the_same(tmp_path):
    mechanism, start = pair()
    changes = [lock("hinge", when=joint_angle("a.tip", "b.root"), reaches=0.5), release("hinge", at=1.0)]
    whole = integrate(mechanism, start, TIMES, changes=changes, checkpoint=Checkpoint(tmp_path / "kept", resume=True))
    again = integrate(mechanism, start, TIMES, changes=changes, checkpoint=Checkpoint(tmp_path / "kept", resume=True))
    np.testing.assert_array_equal(whole.states, again.states)
    whole.save(tmp_path / "run.h5")
    read = Solution.load(tmp_path / "run.h5", with_changes(mechanism, changes))
    np.testing.assert_array_equal(read.holding, whole.holding)
    with pytest.raises(ValueError, match=r"of a run with changes give flexph\.changes\.with_changes"):
        Solution.load(tmp_path / "run.h5", mechanism)
    np.testing.assert_array_equal(read.ledger.total_dissipation, whole.ledger.total_dissipation)
    later = TIMES[-1] + np.array([0.0, 0.05, 0.1])
    parts = [integrate(r.final_mechanism, r, later) for r in (read, whole)]
    np.testing.assert_array_equal(parts[0].states, parts[1].states)
    joined = whole.followed_by(integrate(whole.final_mechanism, whole.final, later))
    np.testing.assert_array_equal(joined.states, parts[0].states)
    assert len(joined.times) == len(whole.times) + 2


def test_a_run_goes_on_with_other_joints():
    mechanism, start = pair()
    run = integrate(mechanism, start, TIMES[:11])
    other = mechanism.replace(joints=[*mechanism.connections, weld("b.tip", GROUND, name="wall")])
    both = integrate(other, run, TIMES[10:21], changes=[release("wall", at=0.75)])
    assert both.times == pytest.approx(TIMES[:21])
    assert both.ledger.dissipation["change of joints"].sum() > 0.01
    assert both.final_mechanism.layout.multipliers == 2
    assert balance(both) < ROUND_OFF
    with pytest.raises(ValueError, match="same bodies"):
        integrate(masses()[0], run, TIMES[10:21])


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_velocities_after_a_lock_are_the_nearest_of_those_that_it_allows(turn):
    """Two routes: the impulses of the joints, and the least change in kinetic energy; in any position of the world."""
    mechanism, _ = pair()
    c, s = math.cos(turn), math.sin(turn)
    placed = {"a": (0.0, 0.0, 0.3 + turn)}, {"b": (c, s, 0.9 + turn)}
    speeds = {"a": (0.1 * c - 0.2 * s, 0.1 * s + 0.2 * c, 1.0)}
    state = mechanism.consistent_state(mechanism.assemble(placed[0], guess=placed[1]), velocities=speeds, joints="free")
    welded = mechanism.replace(joints=[weld("a.tip", "b.root"), *mechanism.connections[1:]])
    after, booking = state_after_passage(mechanism, welded, state, "lock")
    run = static_solution(mechanism, state)
    given = {name: (*run.velocity(f"{name}.root")[0], float(run.spin(name).ravel()[0])) for name in ("a", "b")}
    with pytest.warns(UserWarning, match="the nearest admissible ones"):
        nearest = welded.consistent_state(welded.assemble(placed[0], guess=placed[1]), velocities=given)
    motion = mechanism.layout.parts_of_motion
    np.testing.assert_allclose(after.x[motion], nearest.x[motion], atol=1e-13)
    assert booking.loss["lock"] > 0.1
    assert booking.residual < 1e-15


def test_a_lock_in_a_closed_loop_may_be_redundant():
    bars = {name: rigid.bar(length, 1.0) for name, length in (("crank", 0.3), ("coupler", 1.0), ("rocker", 0.8))}
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        hinge("crank.tip", "coupler.root", name="pin"),
        hinge("coupler.tip", "rocker.tip", name="other"),
        hinge("rocker.root", GROUND.at(1.0, 0.0)),
    ]
    mechanism = connect(bars, joints)
    pose = mechanism.assemble({"crank": 1.0}, guess={"rocker": 1.5, "coupler": 0.5})
    start = mechanism.consistent_state(pose, velocities={"crank": 3.0})
    changes = [lock("pin", at=0.2), lock("other", at=0.4)]
    with pytest.raises(ValueError, match="would not be unique"):
        integrate(mechanism, start, TIMES, changes=changes)
    run = integrate(mechanism, start, TIMES, changes=changes, method=Exact(redundant="least_norm"))
    assert run.ledger.total_energy[-1] == pytest.approx(0.0, abs=1e-15)
    assert balance(run) < ROUND_OFF


def test_observers_and_events_are_called_once_and_runs_may_end_early():
    mechanism, start = pair()
    seen = []
    run = integrate(
        mechanism,
        start,
        TIMES,
        changes=[lock("hinge", at=0.5), release("hinge", at=1.0)],
        observe=lambda t, x: seen.append(t) or t,
        events={"end": Event(lambda t, x: t - 1.51, terminal=True)},
        save_every=5,
    )
    assert run.times[-1] == pytest.approx(1.51) and len(seen) == len(set(seen))
    np.testing.assert_array_equal(run.observations, run.times)
    assert run.events["end"].times.size == 1


def refused():
    """Changes and the messages of their errors."""
    dock = weld("a.nose", "b.nose", name="dock")
    yield [lock(dock, at=0.25)], "lock dock at t = 0.25 s: dock: x is off by 0.625 m"
    yield [lock("dock", at=0.25)], "no joint 'dock'"
    yield [release("dock", at=0.25)], "no joint 'dock'"
    yield [lock(dock, at=5.0)], "outside of the run"
    yield [lock(dock, at=0.6), release("dock", at=0.5)], "in the order of their times"
    yield [lock(weld("a.nose", "b.tail"), at=0.5)], "no port 'b.tail'"
    yield lock(dock, at=0.5), "changes must be a list"
    far = lock(dock, when=lambda t, x: t - 5.0)
    yield [far, release("dock", at=0.5)], "has not happened yet"
    yield [release("dock", at=0.1), lock(dock, at=0.5)], "no joint 'dock'"


@pytest.mark.parametrize(("changes", "message"), list(refused()))
def test_bad_changes_are_refused(changes, message):
    mechanism, start = masses()
    with pytest.raises(ValueError, match=message) as caught:
        integrate(mechanism, start, TIMES, changes=changes)
    if isinstance(caught.value, InputError):
        assert caught.value.solution.times[-1] == pytest.approx(0.25 if "0.25" in message else 0.5)


def test_what_cannot_lock_is_refused_by_name():
    mechanism, start = pair(torque("a.root", name="motor"))
    for changes, message in (
        ([lock("spring", at=0.5)], "must name a joint between two ports: 'hinge'"),
        ([lock("hinge", at=0.5), lock("hinge", at=0.6)], "locked already"),
        ([release("hinge", at=0.5), lock("hinge", at=0.6)], "released before"),
        ([release("hinge", at=0.5), release("hinge", at=0.6)], "a release earlier in the list removes it"),
        ([release("motor", at=0.5)], "external port"),
    ):
        with pytest.raises(ValueError, match=message):
            integrate(mechanism, start, TIMES, changes=changes)
    points = connect({"a": rigid.point(1.0), "b": rigid.point(1.0)}, [hinge("a.point", "b.point", name="pin")])
    at = points.consistent_state(points.assemble())
    with pytest.raises(ValueError, match="points without directions"):
        integrate(points, at, TIMES, changes=[lock("pin", at=0.5)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs either"),
        ({"at": 0.1, "when": joint_angle("a.tip"), "reaches": 0.0}, "needs either"),
        ({"when": joint_angle("a.tip")}, "reaches= must be given if"),
        ({"at": 0.1, "reaches": 1.0}, "if when= is a sensor, and only then"),
        ({"when": 3}, "must be a function"),
        ({"at": "1 m"}, "length"),
    ],
)
def test_changes_check_themselves(arguments, message):
    for make in (lock, release):
        with pytest.raises(ValueError, match=message):
            make("hinge", **arguments)


def test_a_lock_of_what_a_drive_moves_is_refused_with_the_run_before_it():
    joints = [hinge("bar.root", GROUND, name="root"), drive("bar.root", angle=lambda t: 0.3 * t, name="motor")]
    driven = connect({"bar": rigid.bar(1.0, 2.0)}, joints)
    start, times = driven.consistent_state(driven.assemble({"bar": 0.0})), np.linspace(0.0, 1.0, 11)
    with pytest.raises(InputError, match=r"'motor'.*release") as error:
        integrate(driven, start, times, changes=[lock("root", at=0.5)])
    assert error.value.solution.times[-1] == 0.5
    run = integrate(driven, start, times, changes=[release("motor", at=0.5), lock("root", at=0.5)])
    assert run.measured(joint_angle("bar.root", GROUND))[[5, -1]] == pytest.approx(0.15, abs=ROUND_OFF)
    assert run.energy_drift() < ROUND_OFF


def test_a_joint_that_an_earlier_run_locked_is_released_by_its_own_mechanism():
    """The mechanism at the end of that run has the lock in place of the joint, whose release would drop both."""
    arm = connect({"arm": rigid.bar(1.0, 3.0)}, [hinge("arm.root", GROUND, name="pivot")])
    start = arm.consistent_state(arm.assemble({"arm": 0.0}), velocities={"arm": 2.0})
    run = integrate(arm, start, np.linspace(0.0, 0.5, 11), changes=[lock("pivot", at=0.3)])
    for name in ("pivot", "lock pivot"):
        with pytest.raises(ValueError, match=r"a lock in place of 'pivot'.*continue with the mechanism of that run"):
            integrate(run.final_mechanism, run, np.linspace(0.5, 1.0, 11), changes=[release(name, at=0.7)])


def test_changes_that_do_not_happen_are_told():
    arm = connect({"arm": rigid.bar(1.0, 3.0)}, [hinge("arm.root", GROUND, name="pivot")])
    start = arm.consistent_state(arm.assemble({"arm": 0.0}), velocities={"arm": 1.0})
    for angle in (0.0, 2.0):  # that of the start, and one that is not reached
        latch = lock("pivot", when=joint_angle("arm.root"), reaches=angle)
        with pytest.warns(ValidityWarning, match="lock pivot did not happen"):
            integrate(arm, start, np.linspace(0.0, 1.0, 11), changes=[latch])


def swinging():
    arm = connect({"arm": rigid.bar(1.0, 3.0)}, [hinge("arm.root", GROUND, name="pivot")])
    return arm, arm.consistent_state(arm.assemble({"arm": 0.0}), velocities={"arm": 2.0})


def lacking(*given):
    raise KeyError("lost")


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (lacking, "event 'lock pivot' raised KeyError: 'lost'"),
        (lambda t, x: "high", "event 'lock pivot' must be a number, got 'high'"),
        (lambda t, x: np.zeros(2), "event 'lock pivot' must be a number"),
        (lambda t, x: math.nan, "event 'lock pivot' must be finite"),
        (lambda t, x: 1.0 if t < 0.3 else math.nan, "t = 0.3 s: event 'lock pivot' must be finite"),
    ],
)
def test_conditions_that_are_no_numbers_are_refused_by_name(condition, message):
    arm, start = swinging()
    with pytest.raises(ValueError, match=message):
        integrate(arm, start, np.linspace(0.0, 1.0, 11), changes=[lock("pivot", when=condition)])


def test_readings_of_sensors_have_their_units():
    latch = lock("pivot", when=joint_angle("arm.root"), reaches="90 deg")
    assert latch.reaches == pytest.approx(math.pi / 2, rel=1e-15)
    for reading, message in (("1 m", "measures a length: write an angle"), ("fast", "reaches must be a number")):
        with pytest.raises(ValueError, match=message):
            lock("pivot", when=joint_angle("arm.root"), reaches=reading)


def test_a_hinge_that_was_caught_is_locked_later():
    """Two bars that a hinge joins at one end from 0.2 s on are one body from 0.5 s on."""
    bars = {"a": rigid.bar(1.0, 2.0), "b": rigid.bar(1.0, 2.0)}
    free = connect(bars, [])
    thrown = free.consistent_state(
        free.assemble({"a": (0.5, 0.0, 0.0), "b": (1.5, 0.0, 0.0)}),
        velocities={"a": (0.0, 0.5, 1.0), "b": (0.0, 0.5, -1.0)},
    )
    catch = lock(hinge("a.tip", "b.root", name="catch"), at=0.0)
    run = integrate(free, thrown, np.linspace(0.0, 1.0, 41), changes=[catch, lock("catch", at=0.5)])
    turn = run["b.rotation"] @ np.array([1.0, 0.0]) - run["a.rotation"] @ np.array([1.0, 0.0])
    assert np.ptp(turn[run.times <= 0.5]) > 0.1
    assert run.ledger.dissipation["lock catch (2)"].sum() > 0.1
    assert run.final_mechanism.connections[-1].name == "lock catch (2)"
    relative = run["a.spin"] - run["b.spin"]
    assert np.abs(relative[run.times > 0.55]).max() < 1e-12
    assert max(balance(run), *np.ptp(run.linear_momentum(), axis=0), np.ptp(run.angular_momentum())) < 1e-12
