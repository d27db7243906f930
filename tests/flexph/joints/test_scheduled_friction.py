"""Friction by a schedule: its loss, the scheme by hand, momenta, files, and what is refused."""

import math

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, hinge, integrate, spring_damper, torsion_spring
from flexph.analysis import floquet
from flexph.joints import drive, point_on_curve
from flexph.laws import coulomb, quadratic, resistive, scheduled, viscous
from flexph.methods import Decaying, Exact, Exact4, ExactGauss
from flexph.models import load_model, write_model
from flexph.results import Solution

TIMES = np.linspace(0.0, 1.0, 51)
RUB = coulomb(3.0, speed=0.2, static=4.0, viscous=0.1)
FILE = """
bodies:
  mass: {kind: point, mass: 1 kg}
connections:
  - kind: spring_damper
    first: mass.point
    second: {ground: [0, 0]}
    damping:
      kind: scheduled
      law: {kind: coulomb, force: 3 N, speed: 0.2 m/s, static: 4 N, viscous: 0.1}
      factor: 1 + t
    direction: [1, 0]
    length: 0 m
    name: brake
"""


def mass(damping, velocity=2.0, **options):
    brake = spring_damper(
        "mass.point", GROUND.at(0.0, 0.0), damping=damping, direction=(1.0, 0.0), length=0.0, name="brake", **options
    )
    mechanism = connect({"mass": rigid.point(1.0)}, [brake])
    pose = mechanism.assemble({"mass": (0.1, 0.0, 0.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"mass": (velocity, 0.0, 0.0)})


def swell(t):
    return 1.0 + np.sin(5.0 * t)


def test_the_factor_is_the_mean_of_each_step():
    """Of a viscous drag: v₁ (1 + ½hc̄) = v₀ (1 − ½hc̄), c̄ the mean of the coefficients at both ends."""
    run = integrate(*mass(scheduled(viscous(0.7), swell)), TIMES)
    v, h, speeds = 2.0, 0.02, [2.0]
    for t in TIMES[:-1]:
        c = 0.35 * (swell(t) + swell(t + h))
        v *= (1.0 - 0.5 * h * c) / (1.0 + 0.5 * h * c)
        speeds.append(v)
    np.testing.assert_allclose(run.linear_momentum()[:, 0], speeds, rtol=1e-13)
    lost = 0.5 * (speeds[0] ** 2 - speeds[-1] ** 2)
    assert run.ledger.dissipation["brake"].sum() == pytest.approx(lost, rel=1e-13)


@pytest.mark.parametrize("method", [Exact(), Decaying(radius=0.7), Exact(tolerance=1e-4)], ids=str)
@pytest.mark.parametrize(
    "relation", [RUB, quadratic(0.8), resistive(lambda s: s**3 + s)], ids=["coulomb", "quadratic", "own"]
)
def test_only_the_loss_changes(method, relation):
    """A spring pulls the mass: H falls by the losses alone, none of which is negative, as without a schedule."""
    mechanism, start = mass(scheduled(relation, swell), stiffness=40.0)
    run = integrate(mechanism, start, TIMES, method=method)
    assert run.ledger.largest_residual < 1e-14 * run.ledger.scale
    assert (run.ledger.dissipation["brake"] >= 0.0).all() and run.ledger.dissipation["brake"].sum() > 0.1
    assert not run.ledger.work
    one = [
        integrate(*mass(own, stiffness=40.0), TIMES, method=method)
        for own in (relation, scheduled(relation, lambda t: 1.0))
    ]
    # round-off: with functions of time Python chooses the steps of a tolerance, whose times the loops round otherwise
    np.testing.assert_allclose(one[0].states, one[1].states, rtol=0.0, atol=1e-12 if method.tolerance else 0.0)
    assert np.abs(run.states[-1] - one[0].states[-1]).max() > 1e-3


def test_without_friction_from_a_time_on():
    """A brake that is let off: the speed stays from then on."""
    run = integrate(*mass(scheduled(RUB, lambda t: float(t < 0.095))), TIMES)
    speeds = run.linear_momentum()[:, 0]
    assert speeds[5] < 1.8 and np.ptp(speeds[6:]) == 0.0


def test_both_momenta_stay():
    bodies = {name: rigid.bar(1.0, 2.0) for name in "ab"}
    parts = [hinge("a.tip", "b.root"), torsion_spring("a.tip", "b.root", damping=scheduled(RUB, swell), name="pin")]
    mechanism = connect(bodies, parts)
    pose = mechanism.assemble({"a": 0.0}, guess={"b": (1.0, 0.3, 0.7)})
    start = mechanism.consistent_state(pose, velocities={"a": (1.0, 0.5, 3.0)}, joints="free")
    run = integrate(mechanism, start, TIMES)
    assert run.ledger.dissipation["pin"].sum() > 1e-2 and run.ledger.largest_residual < 1e-13
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.ptp(momentum, axis=0).max() < 1e-13


def test_a_file_has_friction_by_a_schedule(tmp_path):
    (tmp_path / "model.yaml").write_text(FILE)
    first = load_model(tmp_path / "model.yaml").mechanism
    write_model(tmp_path / "again.yaml", first)
    runs = []
    for read in (first, load_model(tmp_path / "again.yaml").mechanism, mass(scheduled(RUB, lambda t: 1.0 + t))[0]):
        pose = read.assemble({"mass": (0.1, 0.0, 0.0)})
        runs.append(integrate(read, read.consistent_state(pose, velocities={"mass": (2.0, 0.0, 0.0)}), TIMES))
    for run in runs[:2]:
        np.testing.assert_allclose(run.states, runs[2].states, rtol=0.0, atol=1e-15)


def test_the_description_and_saved_runs_name_the_schedule(tmp_path):
    mechanism, start = mass(scheduled(RUB, swell))
    assert "scheduled(coulomb(3, speed=0.2" in str(mechanism.describe())
    run = integrate(mechanism, start, TIMES[:3])
    run.save(tmp_path / "run.h5")
    np.testing.assert_array_equal(Solution.load(tmp_path / "run.h5", mechanism).states, run.states)
    with pytest.raises(ValueError, match="mechanism"):
        Solution.load(tmp_path / "run.h5", mass(scheduled(RUB, lambda t: 1.0))[0])


def test_what_has_no_schedule_of_friction_is_refused():
    given = scheduled(RUB, swell)
    mechanism, start = mass(given, stiffness=40.0)
    negative = mass(scheduled(RUB, lambda t: 1.0 - 2.0 * t))
    for call, message in (
        (lambda: integrate(*negative, TIMES), r"schedule of its friction at t = 0.5\d* s must be at least 0, got -"),
        (lambda: integrate(*mass(scheduled(RUB, lambda t: "much")), TIMES), "must be a number, got 'much'"),
        (lambda: integrate(mechanism, start, TIMES, method=Exact4()), "'brake' may dissipate"),
        (lambda: integrate(mechanism, start, TIMES, method=ExactGauss()), "friction laws"),
        (lambda: mechanism.spectrum(start), "no friction that depends on time"),
        (lambda: mechanism.linearize(start), "no friction that depends on time"),
        (lambda: mechanism.phdae(start), "no friction that depends on time"),
        (lambda: floquet(mechanism, start, period=1.0), "no friction that depends on time"),
        (lambda: scheduled(RUB, 2.0), "factor must be a function"),
        (lambda: point_on_curve("a.tip", ["b.root", "b.tip"], friction=given), "friction must be a Relation"),
        (lambda: drive("a.tip", "b.root", angle=math.sin, damping=given), "damping must be"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
