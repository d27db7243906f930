"""Steps with rigid contacts chosen by their error: as exact as asked for."""

import numpy as np
import pytest
from contact_runs import sound
from contact_samples import dropped

import rigid
from cases import clearance_crank, flexible_stop, rocking_block
from flexph import GROUND, Checkpoint, Event, connect, hinge, integrate
from flexph.contacts import Plane, Rigid, Sphere, contact
from flexph.methods import Exact

FLAT = {"flat": Event(lambda t, x: float(x["block.rotation"][1]))}


def rocks(rtol, **options):
    """A block that rocks on its corners, and its first impact as an event."""
    mechanism = rocking_block.block_on_ground()
    start, times = rocking_block.leaning(mechanism, 0.5 * rocking_block.ALPHA), [0.0, 0.35]
    run = integrate(mechanism, start, times, method=Exact(tolerance=rtol), events=FLAT, **options)
    sound(run)
    return run


def test_the_time_of_an_impact_is_as_exact_as_the_tolerance():
    exact, tolerances = rocking_block.exact_first_impact(), [1e-4, 1e-5, 1e-6]
    runs = [rocks(rtol) for rtol in tolerances]
    errors = np.array([abs(rocking_block.first_impact(run) - exact) for run in runs])
    assert (errors <= np.array(tolerances)).all()  # [s], of a motion of 0.3 s
    steps = np.array([run.ledger.steps.sum() for run in runs])
    np.testing.assert_allclose(np.log10(steps[1:] / steps[:-1]), 0.5, atol=0.1)  # a scheme of order two


def test_a_ball_bounces_ever_shorter_and_comes_to_rest_in_time():
    """Its flights are parabolas, on which steps have no error: they are as long as the saved times let them be."""
    mechanism, start = dropped(Rigid(restitution=0.5), speed=0.0, height=0.2, gravity=9.81)
    run = integrate(mechanism, start, np.linspace(0.0, 0.8, 9), method=Exact(tolerance=1e-3))
    sound(run)
    fall = np.sqrt(2.0 * 0.2 / 9.81)
    after = run.times - fall
    bounce = 0.5 * 9.81 * fall * after - 0.5 * 9.81 * after**2
    first = (after >= 0.0) & (after <= fall)
    np.testing.assert_allclose(run["ball.centre"][first, 1], 0.1 + bounce[first], rtol=0.0, atol=1e-14)
    rests = run.times > 3.0 * fall
    np.testing.assert_allclose(run["ball.centre"][rests, 1], 0.1, rtol=0.0, atol=1e-14)
    assert run.ledger.steps.max() <= 12


@pytest.mark.parametrize("case, end", [(clearance_crank, 0.0092), (flexible_stop, 0.017)])
def test_what_impacts_take_converges_with_the_tolerance(case, end, monkeypatch):
    """Of joints, and of a body that bends, beside contacts."""
    taken = []
    for tolerance in (1e-2, 1e-3, 1e-4):
        by_tolerance = Exact(tolerance=tolerance)
        monkeypatch.setattr(
            case,
            "integrate",
            lambda m, start, times, by=by_tolerance, **_: integrate(m, start, times[[0, -20, -1]], method=by),
        )
        run = case.run(end=end)
        sound(run)
        taken.append(sum(lost.sum() for name, lost in run.ledger.dissipation.items() if "impact" in name))
    missed = np.abs(np.array(taken[:2]) / taken[2] - 1.0)
    assert missed[1] < 0.5 * missed[0] < 0.02


def test_a_run_that_goes_on_is_the_same_to_the_bit(tmp_path):
    stops = [True]

    def stop(time, x):
        if stops[0] and time > 0.32:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rocks(1e-4, observe=stop, checkpoint=Checkpoint(tmp_path, 0.0))
    stops[0] = False
    goes_on, whole = rocks(1e-4, observe=stop, checkpoint=Checkpoint(tmp_path, 0.0, resume=True)), rocks(1e-4)
    np.testing.assert_array_equal(goes_on.states, whole.states)
    np.testing.assert_array_equal(goes_on.ledger.steps, whole.ledger.steps)


def test_joints_beside_contacts_keep_their_velocities():
    """A pendulum of two links that strikes a wall: its velocity defect stays of the order of a step squared."""
    link = rigid.body(1.0, inertia=0.1, ports={"a": (-0.5, 0.0), "b": (0.5, 0.0)})
    joints = [hinge("one.a", GROUND), hinge("two.a", "one.b")]
    wall = contact(Sphere("two.b", 0.05), Plane(GROUND.at(-0.2, 0.0), (1.0, 0.0)), Rigid(restitution=0.5), name="wall")
    swing = connect({"one": link, "two": link}, [*joints, wall], gravity=(0.0, -9.81))
    start = swing.consistent_state(swing.assemble(guess={"one": (0.5, 0.0, 0.0), "two": (1.5, 0.0, 0.0)}))
    defects, ends = [], []
    for rtol in (1e-2, 1e-3, 1e-4):
        run = integrate(swing, start, np.linspace(0.0, 1.0, 6), method=Exact(tolerance=rtol))
        sound(run)
        assert run.ledger.dissipation["wall: impact"].sum() > 0.1
        defects.append(np.abs(run.ledger.velocity_residual).max())
        ends.append(run.states)
    assert defects[0] > 5.0 * defects[1] > 25.0 * defects[2]
    apart = [np.abs(end - ends[2]).max() for end in ends[:2]]
    assert apart[0] > 3.0 * apart[1]


def test_impacts_at_the_beginning_of_steps_are_refused():
    mechanism, start = dropped(Rigid(restitution=0.5))
    with pytest.raises(ValueError, match=r"contact='steps'.*error that does not fall with their length"):
        integrate(mechanism, start, [0.0, 0.1], method=Exact(tolerance=1e-3, contact="steps"))
