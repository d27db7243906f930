"""Optimal inputs by direct shooting: closed forms of a mass and of an arm, bounds, limits, parameters, bad input."""

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, force, hinge, slider, spring_damper, torque
from flexph.gradients import Duration, Last, MeanSquare, MultipleShooting, Peak, gradients, optimal_control
from flexph.gradients.shooting_problems.duration import DURATION
from flexph.gradients.shooting_problems.multiple import segmented
from flexph.gradients.shooting_problems.single import Problem
from flexph.sensors import joint_angle, joint_force, joint_rate, offset, position, rate
from flexph.systems.inputs import Table

TIMES = np.linspace(0.0, 1.0, 51)
NODES = np.linspace(0.0, 1.0, 11)
INERTIA, TORQUE = 1.0 * 0.6**2 / 3.0, 0.3
ANGLE, RATE = joint_angle("bar.root"), joint_rate("bar.root")


def bar(stiffness=0.0):
    """A bar on a hinge with a motor, and a spring that pulls it back."""
    joints = [hinge("bar.root", GROUND), torque("bar.root", name="motor")]
    if stiffness:
        joints.append(spring_damper("bar.tip", GROUND.at(0.6, 1.0), stiffness=stiffness, length=1.0))
    mechanism = connect({"bar": rigid.bar(0.6, 1.0)}, joints)
    return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))


def guess(of=lambda t: 0.0 * t):
    return {"motor": (NODES, of(NODES))}


REST = {"angle": (ANGLE, 0.5), "rate": (RATE, 0.0)}


def test_the_least_effort_of_a_rigid_slew_is_that_of_the_closed_form():
    """u = 6 J θ/T² (1 − 2 t/T), which the table has at its nodes; the cost is 12 J² θ²/T³."""
    best = optimal_control(bar, TIMES, guess(), effort={"motor": 2.0}, ends=REST)
    nodes, torques = best.inputs["motor"]
    # steps take the torque in their middle, five of them between two nodes: an error of (1/5)²/24 of it
    np.testing.assert_allclose(torques[:, 0], 6.0 * INERTIA * 0.5 * (1.0 - 2.0 * nodes), atol=1e-3)
    assert best.cost == pytest.approx(2.0 * 12.0 * INERTIA**2 * 0.25, rel=1e-3)
    assert max(abs(error).max() for error in best.end_errors.values()) < 1e-9
    assert best.solution.ledger.largest_residual < 1e-12
    assert best.solution.measured(ANGLE)[-1] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("mass, way, time", [(1e-9, 1e-6, 1e-3), (1.0, 1.0, 1e4), (1e4, 1.0, 1e-2)])
@pytest.mark.parametrize("cost, expected", [(None, 1.0), (MeanSquare, 0.420464)], ids=["ends", "cost"])
@pytest.mark.parametrize("shooting", [None, MultipleShooting(3)], ids=["single", "multiple"])
def test_optima_from_zero_inputs_do_not_depend_on_units(mass, way, time, cost, expected, shooting):
    """In its own units a point mass is the same problem: of 1e-9 kg over 1 µm it began, and ended, at rest.

    With segments it jumped over a part of the way, as gaps of less than 1 µm counted as closed.
    """
    place, count = offset("cart.point", GROUND.at(0.0, 0.0), direction=(1.0, 0.0)), 50
    joints = [slider("cart.point", GROUND.at(0.0, 0.0), turning=True), force("cart.point", name="motor")]
    mechanism = connect({"cart": rigid.point(mass)}, joints)
    start = mechanism.consistent_state(mechanism.assemble({"cart": (0.0, 0.0, 0.0)}))
    effort = (mass * way / time**2) ** -2 / time  # for which ∫ u² dt is 12 from rest to rest
    of = {"effort": {"motor": effort}, "ends": {"place": (place, way), "rate": (rate(place), 0.0)}}
    if cost:
        of = {"effort": {"motor": 1e-2 * effort * way**2}, "cost": MeanSquare(place, target=way)}
    times = np.linspace(0.0, time, count + 1)
    best = optimal_control(
        lambda: (mechanism, start), times, {"motor": (times[::5], np.zeros((11, 2)))}, shooting=shooting, **of
    )
    assert best.cost / (way**2 if cost else 12.0) == pytest.approx(expected, rel=1e-3)  # (1/5)²/50 of the steps
    for name, error in best.end_errors.items():
        assert abs(error[0]) <= 1e-9 * (way if name == "place" else way / time)
    assert max(best.gaps.values(), default=0.0) <= 1e-6


def test_derivatives_by_nodes_are_differences_of_runs():
    table = 0.1 * np.sin(5.0 * NODES)
    mechanism, start = bar(3.0)
    functional = {"f": MeanSquare(ANGLE, target=0.2)}

    def at(values):
        return gradients(lambda: (mechanism, start, {"motor": (NODES, values)}), {}, TIMES, functional)["f"]

    middles = 0.5 * (TIMES[1:] + TIMES[:-1])
    hats = np.stack([np.interp(middles, NODES, row) for row in np.eye(NODES.size)], axis=1)
    own = hats.T @ at(table).by_input["motor"][:, 0]
    for k in (0, 4, 10):
        change = 1e-4 * np.eye(NODES.size)[k]
        expected = (at(table + change).value - at(table - change).value) / 2e-4
        assert own[k] == pytest.approx(expected, rel=1e-7, abs=1e-10)


def test_bounds_and_limits_hold_and_cost_more():
    free = optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends=REST)
    bounds = {"motor": (-0.3, 0.3)}
    held = optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends=REST, bounds=bounds)
    assert np.abs(held.inputs["motor"][1]).max() <= 0.3 + 1e-12 < np.abs(free.inputs["motor"][1]).max()
    assert held.cost > free.cost
    slow = {"speed": (Peak(RATE, margin=0.01), None, 0.7)}
    limited = optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends=REST, limits=slow)
    assert free.solution.measured(RATE).max() > 0.74
    assert 0.68 < limited.solution.measured(RATE).max() <= limited.values["speed"] <= 0.7 + 1e-7
    assert limited.cost > free.cost


def test_inputs_and_a_stiffness_are_optimised_at_once():
    """A spring that does the work makes the torque cheaper; its stiffness goes to the bound where that is best."""
    alone = optimal_control(lambda: bar(1.0), TIMES, guess(), effort={"motor": 1.0}, ends=REST)
    both = optimal_control(
        bar,
        TIMES,
        guess(),
        effort={"motor": 1.0},
        ends=REST,
        parameters={"stiffness": 1.0},
        bounds={"stiffness": (0.5, 5.0)},
    )
    assert both.cost < alone.cost


def test_a_functional_alone_is_a_cost():
    """The smallest mean square of the distance from an angle, with a bounded torque, brings the bar there."""
    best = optimal_control(
        bar,
        TIMES,
        guess(lambda t: 0.1 + 0.0 * t),
        cost=MeanSquare(ANGLE, target=0.2),
        bounds={"motor": (-10.0, 10.0)},
        tolerance=1e-5,
    )
    assert best.cost < 0.1 * 0.2**2


def test_a_limit_may_have_any_name():
    """One that is named as the cost is in the search does not take its place."""
    of = {"cost": MeanSquare(ANGLE, target=0.2), "effort": {"motor": 1e-2}, "ends": {"rate": (RATE, 0.0)}}
    plain, named = (
        optimal_control(bar, TIMES, guess(), limits={name: (Last(ANGLE), None, 0.1)}, **of)
        for name in ("last", "the cost")
    )
    assert named.cost == plain.cost and named.values["the cost"] == plain.values["last"]


def test_multiple_shooting_finds_the_optimum_of_single_shooting():
    """Each segment begins where the one before ends."""
    mechanism, start = bar()
    own = {"motor": (NODES[::5], np.zeros(3))}
    alone, parted = (
        optimal_control(
            lambda: (mechanism, start),
            TIMES[::5],
            own,
            effort={"motor": 2.0},
            ends=REST,
            shooting=shooting,
            tolerance=1e-10,
        )
        for shooting in (None, MultipleShooting(2))
    )
    # velocities are made consistent between segments: a change by the square of the step of 0.1 s
    assert parted.cost == pytest.approx(alone.cost, rel=2e-4)
    np.testing.assert_allclose(parted.inputs["motor"][1], alone.inputs["motor"][1], atol=1e-3)
    assert list(parted.gaps) == ["gap at 0.5 s"] and max(parted.gaps.values()) < 1e-7
    assert max(abs(own).max() for own in parted.end_errors.values()) < 1e-9
    assert parted.solution.times.tolist() == alone.solution.times.tolist()


def fastest(nodes, make=bar, shooting=None, **options):
    """Slew in the least time, from a guess that is too long."""
    mechanism, start = make()
    table, times = np.linspace(0.0, 1.5, nodes), np.linspace(0.0, 1.5, 5 * nodes - 4)
    given = {"ends": REST, "bounds": {"motor": (-TORQUE, TORQUE)}, "duration": Duration(0.1, 5.0), **options}
    return optimal_control(
        lambda: (mechanism, start), times, {"motor": (table, np.zeros(nodes))}, shooting=shooting, **given
    )


def test_the_fastest_rigid_slew_is_bang_bang():
    """T = 2 √(θ J/τ) for torques that jump; for nodes at distances d, with the jump between two of them, a ramp costs

    θ J/τ = T²/4 − d²/12.
    """
    best = fastest(12)
    nodes, torques = best.inputs["motor"]
    np.testing.assert_allclose(torques[:, 0], TORQUE * np.where(nodes < 0.5 * best.duration, 1.0, -1.0), atol=1e-6)
    bang = 2.0 * np.sqrt(0.5 * INERTIA / TORQUE)
    # five steps between two nodes take the ramp in their middles: d²/12 becomes d²/12 (1 + 1/50)
    assert best.duration == pytest.approx(bang / np.sqrt(1.0 - 1.02 / (3.0 * 11.0**2)), rel=2e-4)
    assert best.cost == best.duration == best.solution.times[-1]
    assert nodes[-1] == pytest.approx(best.duration)
    assert max(abs(error).max() for error in best.end_errors.values()) < 1e-8


def test_the_fastest_slew_takes_longer_with_a_limit_of_its_speed_and_by_effort():
    free = fastest(6)
    slow = fastest(6, limits={"speed": (Peak(RATE, margin=0.01), None, 0.8)})
    assert slow.duration > free.duration and slow.values["speed"] <= 0.8 + 1e-7
    cheap = fastest(6, effort={"motor": 20.0})
    assert cheap.duration > 1.1 * free.duration
    # ∂/∂T of w₁ T + w₂ 12 J² θ²/T³ = 0 for the least effort
    assert cheap.duration == pytest.approx((20.0 * 36.0 * (0.5 * INERTIA) ** 2) ** 0.25, rel=0.01)


def test_the_fastest_slew_by_multiple_shooting_is_that_of_single_shooting():
    alone, parted = (fastest(6, shooting=own) for own in (None, MultipleShooting(2)))
    # velocities are made consistent between segments
    assert parted.duration == pytest.approx(alone.duration, rel=5e-4)
    assert max(parted.gaps.values()) < 1e-6


def chain(length):
    """A driven bar with a flexible one on it."""
    beam = fem.beam(0.3, fem.Material(young=1e8, density=2000.0), fem.Section(width=0.02, height=0.01), elements=1)
    joints = [hinge("bar.root", GROUND), torque("bar.root", name="motor"), hinge("two.root", "bar.tip")]
    mechanism = connect({"bar": rigid.bar(length, 1.0), "two": beam}, joints, gravity=(0.0, -9.81))
    pose = mechanism.assemble({"bar": (0.0, 0.0, 0.0)}, guess={"two": (length, 0.0, 0.3)})
    return mechanism, mechanism.consistent_state(pose)


def test_derivatives_of_segments_and_gaps_are_their_differences():
    """Along an arbitrary direction of all unknowns: nodes, a length, the duration, and the states between segments."""
    table = Table(NODES, np.sin(5.0 * NODES)[:, None], "motor")
    ends, cost = {"tip": (position("two.tip"), (0.0, 0.0))}, MeanSquare(ANGLE, target=0.3)
    parameters, duration = {"length": 0.6, DURATION: 0.4}, Duration(0.1, 1.0)
    base = Problem(chain, TIMES[:21], {"motor": table}, parameters, cost, {"motor": 0.3}, ends, {}, duration)
    problem, random = segmented(base, MultipleShooting(2)), np.random.default_rng(0)
    x = np.append(base.joined({"motor": table.values}, parameters), np.zeros(problem.count - base.count))
    x += 1e-5 * random.standard_normal(x.size)  # stiff axial deformations allow no more
    way, step = 1e-2 * random.standard_normal(x.size), 3e-4
    here, moved = problem.evaluated(x), {k: problem.evaluated(x + k * step * way) for k in (-2, -1, 1, 2)}

    def slope(of):
        return (8.0 * (of(moved[1]) - of(moved[-1])) - (of(moved[2]) - of(moved[-2]))) / (12.0 * step)

    for name, by in here.slopes.items():
        assert by @ way == pytest.approx(slope(lambda own, name=name: own.values[name]), rel=1e-8)
    for name, (_, by) in here.gaps.items():
        expected = slope(lambda own, name=name: own.gaps[name][0])
        # states are differentiated by their coordinates in steps of 1e-5
        np.testing.assert_allclose(by @ way, expected, rtol=0.0, atol=1e-7 * np.abs(expected).max())
    efforts = {k: problem.efforts(x + k * step * way)[0] for k in moved}
    own = (8.0 * (efforts[1] - efforts[-1]) - (efforts[2] - efforts[-2])) / (12.0 * step)
    assert problem.efforts(x)[1] @ way == pytest.approx(own, rel=1e-8)


@pytest.mark.slow
def test_an_unstable_swing_up_needs_multiple_shooting():
    """A bar goes up soon and stands there: its motion grows by e^(5.4 t), and single shooting does not converge."""
    up, down = 0.5 * np.pi, -0.5 * np.pi
    joints = [hinge("bar.root", GROUND), torque("bar.root", name="motor")]
    mechanism = connect({"bar": rigid.bar(0.5, 1.0)}, joints, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": down}))

    def raised(time):
        velocities = {"bar": np.pi if time < 1.0 else 0.0}
        pose = mechanism.assemble({"bar": down + np.pi * min(time, 1.0)})
        return mechanism.consistent_state(pose, velocities=velocities, time=time)

    times, nodes = np.linspace(0.0, 3.0, 46), np.linspace(0.0, 3.0, 13)

    def searched(shooting):
        return optimal_control(
            lambda: (mechanism, start),
            times,
            {"motor": (nodes, np.zeros(13))},
            cost=MeanSquare(ANGLE, target=up),
            effort={"motor": 0.01},
            ends={"angle": (ANGLE, up), "rate": (RATE, 0.0)},
            bounds={"motor": (-6.0, 6.0)},
            shooting=shooting,
            tolerance=1e-6,
        )

    with pytest.raises(ArithmeticError, match="did not converge"):
        searched(None)
    found = searched(MultipleShooting(6, raised))
    assert max(found.gaps.values()) < 1e-3  # 1e3 of the tolerance
    angles = found.solution.measured(ANGLE)
    assert np.abs(angles[23:] - up).max() < 0.3  # it stands from the half of the time on
    assert angles[-1] == pytest.approx(up, abs=1e-3)


def test_segments_and_their_guess_are_checked():
    with pytest.raises(ValueError, match="segments must be at least 2, got 1"):
        MultipleShooting(1)
    with pytest.raises(ValueError, match="segments must be at most 50, the number of steps, got 60"):
        optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends=REST, shooting=MultipleShooting(60))
    with pytest.raises(ValueError, match=r"guess must return a state of the mechanism, at 0\.02 s it returned 0\.02"):
        optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends=REST, shooting=MultipleShooting(3, abs))
    forced = {"force": (joint_force("bar.root"), (0.0, 0.0))}
    with pytest.raises(ValueError, match="functional must have a smooth sensor of states"):
        optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends=forced, shooting=MultipleShooting(3))


def test_what_cannot_be_optimised_is_said():
    with pytest.raises(ValueError, match="cost, effort or a duration with a weight must be given, got none"):
        optimal_control(bar, TIMES, guess(), ends=REST)
    with pytest.raises(ValueError, match="ends, limits or cost must be given"):
        optimal_control(bar, TIMES, guess(), effort={"motor": 1.0})
    with pytest.raises(ValueError, match="longest must be above shortest, got 2 and 1 s"):
        Duration(2.0, 1.0)
    with pytest.raises(ValueError, match="times must last from 2 to 3 s, the bounds of duration, got 1 s"):
        optimal_control(bar, TIMES, guess(), ends=REST, duration=Duration(2.0, 3.0))
    with pytest.raises(ValueError, match=r"inputs\['motor'\] must cover 0.0 to 1.0 s"):
        optimal_control(bar, TIMES, {"motor": ([0.0, 0.5], [0.0, 0.0])}, effort={"motor": 1.0}, ends=REST)
    with pytest.raises(ValueError, match=r"inputs\['motor'\] must be a table"):
        optimal_control(bar, TIMES, {"motor": 1.0}, effort={"motor": 1.0}, ends=REST)
    with pytest.raises(ValueError, match="no input 'brake'"):
        optimal_control(bar, TIMES, guess(), effort={"brake": 1.0}, ends=REST)
    with pytest.raises(ValueError, match="component must be below 1"):
        optimal_control(bar, TIMES, guess(), cost=Last(ANGLE, 1))
    with pytest.raises(ValueError, match=r"bounds\['motor'\] must have the lower value first, got 1 and -1"):
        optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends=REST, bounds={"motor": (1.0, -1.0)})
    with pytest.raises(ValueError, match=r"limits\['angle'\] must have the lower value first"):
        optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, limits={"angle": (Last(ANGLE), 2.0, 1.0)})
    with pytest.raises(ValueError, match=r"effort\['motor'\] must not be negative"):
        optimal_control(bar, TIMES, guess(), effort={"motor": -1.0}, ends=REST)
    with pytest.raises(ValueError, match=r"ends\['tip'\] must have 2 values for position of bar.tip, got 1"):
        optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends={"tip": (position("bar.tip"), 0.5)})
    with pytest.raises(ArithmeticError, match=r"did not converge.*largest relative violation"):
        optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends=REST, bounds={"motor": (-0.01, 0.01)}, most=4)


def test_conditions_that_exclude_or_repeat_each_other_are_named():
    def searched(**own):
        return optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, **{"ends": REST, **own})

    with pytest.raises(ArithmeticError, match="'end 0 of angle' and 'end 0 of other' cannot be met together"):
        searched(ends={**REST, "other": (ANGLE, 0.7)})
    with pytest.raises(ArithmeticError, match="'end 0 of angle' and 'end 0 of same' depend on each other"):
        searched(ends={**REST, "same": (ANGLE, 0.5)})
    with pytest.raises(ArithmeticError, match="'end 0 of angle' and 'limit of low' cannot be met together"):
        searched(limits={"low": (Last(ANGLE), None, 0.2)}, most=5)
