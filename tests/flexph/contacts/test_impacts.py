"""Impacts of many contacts at once: Newton's law with Coulomb's, as far as no energy comes from it."""

import numpy as np
import pytest
from contact_laws import impact_between
from contact_samples import ball

import rigid
from flexph import GROUND, connect, hinge, integrate
from flexph.contacts import Plane, Rigid, Sphere, contact, mutual_contact
from flexph.methods import Exact

PLACES = [(0.0, 0.1), (0.2, 0.1), (0.1, 0.1 + 0.1 * 3.0**0.5), (-0.2, 0.1), (0.3, 0.1 + 0.1 * 3.0**0.5)]
"""Of discs of 0.1 m that touch each other and the floor."""


def cluster(rng, dim, *, joined=False):
    """Balls that touch each other and a floor, thrown at it and at each other without weight."""
    count = int(rng.integers(1, len(PLACES) + 1))
    names, middle = [f"ball{i}" for i in range(count)], (0.0,) * (dim - 2)
    masses = 10.0 ** rng.uniform(-0.5, 0.5, count)
    bodies = {
        name: rigid.body(
            m,
            inertia=0.004 * m if dim == 2 else 0.004 * m * np.eye(3),
            ports={"centre": (0.0,) * dim},
        )
        for name, m in zip(names, masses, strict=True)
    }
    law = lambda: Rigid(restitution=rng.uniform(0.1, 1.0), friction=rng.choice([0.0, 0.3, 0.9]))  # noqa: E731
    spheres = [Sphere(f"{name}.centre", 0.1) for name in names]
    touching = [contact(spheres, Plane(GROUND.at(*(0.0,) * dim), (*(0.0,) * (dim - 1), 1.0)), law(), name="floor")]
    if count > 1:
        touching.append(mutual_contact(spheres, law(), name="balls"))
    places = [(x, *middle, z) for x, z in PLACES[:count]]
    if joined:
        touching.append(hinge("ball0.centre", GROUND.at(*places[0])))
    mechanism = connect(bodies, touching)
    moved = rng.normal(size=(count, dim)) - np.eye(dim)[-1]
    moved[: int(joined)] = 0.0
    if dim == 2:
        pose = mechanism.assemble(guess={n: (*p, 0.0) for n, p in zip(names, places, strict=True)})
        thrown = {n: (*v, rng.normal(0.0, 5.0)) for n, v in zip(names, moved, strict=True)}
    else:
        pose = mechanism.assemble(guess=dict(zip(names, places, strict=True)))
        thrown = {n: (tuple(v), tuple(rng.normal(0.0, 5.0, 3))) for n, v in zip(names, moved, strict=True)}
    return mechanism, mechanism.consistent_state(pose, velocities=thrown)


@pytest.mark.parametrize(("dim", "joined"), [(2, False), (2, True), (3, False)])
def test_impacts_obey_newton_and_coulomb_as_far_as_they_gain_nothing(dim, joined):
    """Where Newton's law with friction would create energy, an impact goes towards it until none is lost."""
    limited = 0
    for seed in range(12):
        mechanism, start = cluster(np.random.default_rng(seed), dim, joined=joined)
        run = integrate(mechanism, start, [0.0, 1e-6], method=Exact(contact="steps"))
        impact, ledger = impact_between(run), run.ledger
        assert impact.by_cones < 1e-12, seed
        if impact.rebound.min() < -1e-10:
            limited += 1
            assert abs(impact.gain) < 1e-13, seed
        else:
            assert impact.by_newton < 1e-12 and impact.gain < 1e-14, seed
        lost = sum(values.sum() for name, values in ledger.dissipation.items() if "impact" in name)
        before, after = ledger.kind("kinetic")
        assert lost == pytest.approx(before - after, abs=1e-13 * before)
        assert np.abs(ledger.residual).max() <= 1e-14 * ledger.scale
    assert 0 < limited < 5


@pytest.mark.parametrize("way", ["events", "steps"])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_ball_with_spin_strikes_by_the_closed_form(way, restitution):
    """Λ_N = (1 + e) m v; friction μΛ_N turns and brakes it, or it leaves without slip."""
    for speed, friction in ((5.0, 0.3), (0.2, 0.9)):
        law, floor = Rigid(restitution=restitution, friction=friction), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
        touch = contact(Sphere("ball.centre", 0.1), floor, law)
        mechanism = connect({"ball": ball()}, [touch])
        pose = mechanism.assemble(guess={"ball": (0.0, 0.1, 0.0)})
        start = mechanism.consistent_state(pose, velocities={"ball": (speed, -1.0, 2.0)})
        run = integrate(mechanism, start, [0.0, 1e-3, 2e-3], method=Exact(contact=way))
        slip = speed + 0.1 * 2.0  # of the lowest point
        by_slip = -slip / (1.0 + 0.1**2 / 0.004)  # impulse without which it slips
        along = max(by_slip, -friction * (1.0 + restitution))
        expected = speed + along, restitution, 2.0 + 0.1 * along / 0.004
        found = *run["ball.velocity"][-1], float(np.ravel(run["ball.spin"])[-1])
        assert found == pytest.approx(expected, abs=1e-11)
