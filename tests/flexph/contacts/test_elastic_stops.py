"""Stops by elastic laws: the law of both limits, the balance over impacts, closed forms, turns, and model files."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, connect, hinge, integrate, revolute, slider, torsion_spring
from flexph.contacts import KelvinVoigt, stop
from flexph.laws import backlash, bilinear, gravitation, polynomial, potential, table
from flexph.laws.limits import beyond
from flexph.methods import Decaying, Exact, Exact4
from flexph.models import load_model, write_model

PLACE = GROUND.at(0.0, 0.0)
LAWS = {
    "linear": polynomial(2e3),
    "cubic": polynomial(2e3, 0.0, 1e6),
    "bilinear": bilinear(2e3, second=8e3, beyond=0.01),
    "with play": backlash(2e3, play=0.02),
    "table": table([0.0, 0.01, 0.02], [0.0, 20.0, 100.0]),
    "user": potential(lambda x: 1e3 * x * x, lambda x: 2e3 * x, lambda x: 2e3),
    "without slope": potential(lambda x: 1e3 * x * x, lambda x: 2e3 * x),
}


def cart(law, lower=-0.1, upper=0.2):
    """A mass on a line between two stops."""
    return connect(
        {"mass": rigid.point(2.0)},
        [
            slider("mass.point", PLACE, turning=True),
            stop("mass.point", PLACE, law, lower=lower, upper=upper, along_axis=(1.0, 0.0), name="ends"),
        ],
    )


def thrown(mechanism, speed):
    pose = mechanism.assemble({"mass": (0.0, 0.0, 0.0)})
    return mechanism.consistent_state(pose, velocities={"mass": (speed, 0.0, 0.0)})


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("lower, upper", [(-0.1, 0.2), (-np.inf, 0.2), (-0.1, np.inf), (0.3, 0.4)])
def test_the_law_of_both_limits(law, lower, upper):
    q, both = np.linspace(-0.3, 0.6, 181), beyond(law, lower, upper)
    above, below = np.maximum(q - upper, 0.0), np.maximum(lower - q, 0.0)
    force = np.where(above > 0.0, law.force(above), 0.0) - np.where(below > 0.0, law.force(below), 0.0)
    np.testing.assert_allclose(both.force(q), force, atol=1e-9)
    np.testing.assert_allclose(both.energy(q), law.energy(above) + law.energy(below) - 2 * law.energy(0.0), atol=1e-9)


@pytest.mark.covering
@pytest.mark.parametrize("method", [Exact(), Exact4(), Decaying(radius=0.5)], ids=["exact", "exact4", "decaying"])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_impacts_keep_the_energy(law, method):
    mechanism = cart(law)
    run = integrate(mechanism, thrown(mechanism, 1.0), np.linspace(0.0, 5.0, 501), method=method)
    assert run.ledger.largest_residual <= 1e-13
    assert run.ledger.energy["stored ends"].max() > 0.1 * 1.0


def test_a_mass_between_linear_stops_has_its_period():
    """T = 2 (upper − lower)/v + 2π√(m/k)."""
    mass, k, speed = 2.0, 2e3, 1.5
    mechanism, period = cart(polynomial(k)), 2.0 * 0.3 / speed + 2.0 * np.pi * np.sqrt(mass / k)
    run = integrate(mechanism, thrown(mechanism, speed), np.linspace(0.0, period, 4001))
    assert run.position("mass.point")[-1, 0] == pytest.approx(0.0, abs=2e-6)
    assert run.velocity("mass.point")[-1, 0] == pytest.approx(speed, rel=1e-9)


def test_a_linear_law_is_the_contact_law():
    """Of a spring without damping, to the order of the steps."""
    times, ends = np.linspace(0.0, 1.0, 20001), []
    for law in (polynomial(2e3), KelvinVoigt(2e3)):
        mechanism = cart(law)
        ends.append(integrate(mechanism, thrown(mechanism, 1.0), times).position("mass.point")[-1, 0])
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)


def test_stops_of_an_angle_count_turns():
    """A bar wound by three turns against a spring, whose stop is at two and a half."""
    mechanism = connect(
        {"bar": rigid.bar(0.4, 1.0)},
        [
            hinge("bar.root", PLACE),
            torsion_spring("bar.root", PLACE, stiffness=0.5, angle=0.0),
            stop("bar.root", PLACE, polynomial(50.0), upper=5.0 * np.pi, name="end"),
        ],
    )
    inertia, speed = 1.0 * 0.4**2 / 3.0, 60.0
    start = mechanism.consistent_state(mechanism.assemble({"bar": 0.0}), velocities={"bar": (0.0, 0.0, speed)})
    run = integrate(mechanism, start, np.linspace(0.0, 1.5, 6001))
    stored, wound = (
        run.ledger.energy["stored end"],
        run.ledger.energy["stored torsion spring bar.root–GROUND at (0.0, 0.0)"],
    )
    # at rest at the angle a: ½·0.5 a² + ½·50 (a − 5π)² = ½ J ω²
    roots = np.roots([50.5, -2.0 * 50.0 * 5.0 * np.pi, 50.0 * 25.0 * np.pi**2 - inertia * speed**2])
    most = float(roots.real.max())
    assert stored.max() == pytest.approx(25.0 * (most - 5.0 * np.pi) ** 2, rel=1e-4)
    assert wound[stored.argmax()] == pytest.approx(0.25 * most**2, rel=1e-4)
    assert run.ledger.largest_residual <= 1e-11  # of 96 J


def test_stops_of_free_bodies_in_a_turned_world():
    """Two boxes on a hinge with stops: both momenta and the energy are kept, and nothing depends on the orientation."""
    box = rigid.box((0.4, 0.2, 0.1), density=100.0, ports={"root": (-0.2, 0, 0), "tip": (0.2, 0, 0)})
    ends = stop(
        "b.root", "a.tip", polynomial(40.0, 0.0, 100.0), lower=-0.4, upper=0.7, axis=(0.0, 0.0, 1.0), name="ends"
    )
    mechanism = connect({"a": box, "b": box}, [revolute("b.root", "a.tip", axis=(0.0, 0.0, 1.0)), ends])
    stored = []
    for turns in ((0.0, 0.0, 0.0), (0.3, -2.0, 1.1)):
        R = Rotation.from_rotvec(turns).as_matrix()
        pose = mechanism.assemble({"a": (np.zeros(3), R), "b": (R @ np.array([0.4, 0.0, 0.0]), R)})
        spin, moved = R @ np.array([0.0, 0.0, 10.0]), R @ np.array([0.0, 0.3 * 0.2 * 10.0 + 0.2 * 10.0, 0.0])
        start = mechanism.consistent_state(pose, velocities={"a": (0.0 * spin, 0.3 * spin), "b": (moved, spin)})
        run = integrate(mechanism, start, np.linspace(0.0, 2.0, 401))
        assert run.ledger.largest_residual <= 1e-13
        for momentum in (run.linear_momentum(), run.angular_momentum()):
            np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-13)
        stored.append(run.ledger.energy["stored ends"])
    assert stored[0].max() > 0.05
    np.testing.assert_allclose(*stored, atol=1e-10)


def test_small_motions_and_rest_on_a_stop():
    """A weight on a stop: k δ + k₃ δ³ = m g, ω² = (k + 3k₃δ²)/m."""
    k, cubic, mass, g = 1e3, 1e6, 2.0, 9.81
    mechanism = connect(
        {"mass": rigid.point(mass)},
        [
            slider("mass.point", PLACE, direction=(0.0, 1.0), turning=True),
            stop("mass.point", PLACE, polynomial(k, 0.0, cubic), lower=0.0, along_axis=(0.0, 1.0)),
        ],
        gravity=(0.0, -g),
    )
    rest = mechanism.equilibrium(mechanism.assemble({"mass": (0.0, -0.001, 0.0)}))
    roots = np.roots([cubic, 0.0, k, -mass * g])
    sunk = float(roots[np.isreal(roots)].real[0])
    assert mechanism.position(rest, "mass.point")[1] == pytest.approx(-sunk, rel=1e-10)
    assert mechanism.spectrum(rest).frequencies[0] == pytest.approx(
        np.sqrt((k + 3.0 * cubic * sunk**2) / mass), rel=1e-8
    )


def test_stops_are_written_to_model_files(tmp_path):
    write_model(tmp_path / "model.yaml", cart(bilinear(2e3, second=8e3, beyond=0.01)))
    again = load_model(tmp_path / "model.yaml").mechanism
    (law,) = [m.law for c in again.connections for m in c.form.measures]
    assert law.force([-0.12, 0.0, 0.25]).tolist() == pytest.approx([-100.0, 0.0, 340.0])


def test_wrong_laws_are_refused():
    with pytest.raises(ValueError, match=r"law must.*ContactLaw.*elastic law.*polynomial\(k\)"):
        stop("mass.point", PLACE, 3.0, upper=1.0)
    with pytest.raises(ValueError, match=r"law must have a force at the extension 0.*beyond a limit"):
        stop("mass.point", PLACE, gravitation(1.0), upper=1.0)
