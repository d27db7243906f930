"""Contacts over a run: gaps, closed or open, and forces whose impulses are what momenta change by."""

import numpy as np
import pytest

from cases import bouncing_ball
from flexph import GROUND, Event, connect, integrate
from flexph.contacts import Hertz, Plane, Rigid, Sphere, contact
from flexph.results import Solution
from rigid import body


def falling(law):
    ball = body(2.0, inertia=0.01, ports={"centre": (0.0, 0.0)})
    touch = contact(Sphere("ball.centre", 0.1), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="floor")
    mechanism = connect({"ball": ball}, [touch], gravity=(0.0, -9.81))
    pose = mechanism.assemble(guess={"ball": (0.0, 0.15, 0.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"ball": (0.5, 0.0, 0.0)})


@pytest.mark.parametrize("law", [Hertz(1e6, friction=0.2), Rigid(restitution=0.5, friction=0.2)])
def test_impulses_are_what_momenta_change_by(law, tmp_path):
    mechanism, start = falling(law)
    solution = integrate(mechanism, start, np.linspace(0.0, 0.16, 81), save_every=4)
    floor, h = solution.contact("floor"), np.diff(solution.times)
    up = 2.0 * np.diff(solution["ball.velocity"][:, 1]) + 2.0 * 9.81 * h
    np.testing.assert_allclose(floor.normal * h, up, atol=1e-12)
    aside = -2.0 * np.diff(solution["ball.velocity"][:, 0])
    more = 1e-9 if isinstance(law, Rigid) else 5e-3  # of sizes: an anchor pulls back at the end
    assert aside.sum() > 0.1 and 1.0 - 1e-9 <= (floor.friction * h).sum() / aside.sum() <= 1.0 + more
    np.testing.assert_allclose(floor.gap[:, 0], solution["ball.centre"][:, 1] - 0.1, atol=1e-15)
    np.testing.assert_array_equal(floor.touches, floor.gap <= 1e-11)
    solution.save(tmp_path / "run.h5")
    again = Solution.load(tmp_path / "run.h5", mechanism).contact("floor")
    np.testing.assert_array_equal(again.normal, floor.normal)


def test_a_ball_that_rests_presses_by_its_weight():
    solution = bouncing_ball.run(height=0.01, step=5e-3, end=0.2)
    floor = solution.contact("floor")
    assert floor.touches[-1, 0] and not floor.touches[0, 0]
    assert floor.normal[-1] == pytest.approx(9.81, rel=1e-9) and floor.friction.max() == 0.0
    with pytest.raises(ValueError, match="no contact 'flor': there are 'floor'"):
        solution.contact("flor")


def test_events_and_observers_ask_for_gaps():
    mechanism, start = falling(Rigid(restitution=0.5))
    near = Event(lambda t, x: float(x.gaps("floor")[0]) - 0.02, terminal=True)
    solution = integrate(
        mechanism, start, np.linspace(0.0, 0.1, 21), events={"near": near}, observe=lambda t, x: x.gaps("floor")[0]
    )
    assert solution.events["near"].times[0] == pytest.approx(np.sqrt(2.0 * 0.03 / 9.81), rel=1e-9)
    np.testing.assert_allclose(solution.observations.ravel(), solution.contact("floor").gap[:, 0], atol=1e-15)
