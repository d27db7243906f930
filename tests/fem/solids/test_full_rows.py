"""Large solids in full with rows of all kinds: with matrices that Python holds, and with those of the loops."""

import numpy as np
import pytest
from solid_meshes import box

import fem
import rigid
from flexph import GROUND, connect, hinge, integrate, spherical
from flexph.contacts import Hertz, Plane, Rigid, Sphere, contact
from flexph.integration.loops import build
from flexph.integration.loops.wide import kept_block
from flexph.joints import CoulombFriction, point_on_curve
from flexph.mechanisms.arrays import network
from flexph.methods import Exact

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning", "ignore::UserWarning")
RUBBER = fem.Material(young=2e6, density=200.0, poisson=0.3)
TIMES = np.linspace(0.0, 0.02, 9)
UP = (0.0, 1.0, 0.0)


def bar(**options):
    ports = {"root": "left", "tip": fem.Tie("right", "mean")}
    ports |= {f"p{k}": fem.Tie(lambda x, k=k: np.abs(x[0] - 0.25 * k) < 1e-9, "mean") for k in (1, 2, 3)}
    return fem.solid(box("tetra10", (4, 1, 1), (1.0, 0.1, 0.1)), RUBBER, ports=ports, reference="root", **options)


def swinging(further=(), bodies=None, **options):
    """A bar on a hinge that falls."""
    joints = [hinge("bar.root", GROUND, axis=UP, **options), *further]
    mechanism = connect(
        {"bar": bar(damping=fem.Damping(mass=0.5)), **(bodies or {})}, joints, gravity=(0.0, 0.0, -9.81)
    )
    pose = mechanism.assemble({"bar": ((0.0, 0.0, 0.0), np.eye(3))})
    return mechanism, mechanism.consistent_state(pose, velocities={"bar": (0.0, 1.0, 0.0)})


def floor(law):
    return contact(Sphere("bar.tip", 0.05), Plane(GROUND.at(0.0, 0.0, -0.055), (0.0, 0.0, 1.0)), law, name="floor")


def bead():
    """A bead on the axis of the bar."""
    places = ["bar.root", "bar.p1", "bar.p2", "bar.p3", "bar.tip"]
    ball = rigid.body(0.05, inertia=(1e-4, 1e-4, 1e-4), ports={"point": (0.0, 0.0, 0.0)})
    return {"further": [point_on_curve("ball.point", places, degree=2)], "bodies": {"ball": ball}}


CASES = {
    "soft contact": lambda: swinging([floor(Hertz(1e5))]),
    "rigid contact": lambda: swinging([floor(Rigid())]),
    "friction of a hinge": lambda: swinging(friction=CoulombFriction(0.1, radius=0.05)),
    "closed loop": lambda: swinging([hinge("bar.root", GROUND, axis=UP, name="again")]),
    "bead": lambda: swinging(**bead()),
    "two bars": lambda: swinging([spherical("bar.tip", "other.root")], {"other": bar()}),
}


@pytest.mark.parametrize("name", CASES)
def test_matrices_that_python_holds_make_the_steps_of_the_loops(monkeypatch, name):
    method = Exact(redundant="least_norm") if name == "closed loop" else Exact()
    mechanism, start = CASES[name]()
    theirs = integrate(mechanism, start, TIMES, method=method)
    assert not mechanism.once(build.constants).inertia.is_asked
    monkeypatch.setattr(build, "cost_of_band", lambda _: np.inf)
    monkeypatch.setattr(network, "DENSE_LIMIT", 0)
    monkeypatch.setattr(kept_block, "LARGE", 0)
    monkeypatch.setattr(kept_block, "SHARE", 1e6)
    mechanism, start = CASES[name]()
    ours = integrate(mechanism, start, TIMES, method=method)
    assert mechanism.once(build.constants).inertia.is_asked
    assert ours.ledger.largest_residual < 1e-12 and ours.ledger.position_residual.max() < 1e-12
    layout = mechanism.layout
    for part in (p for p in layout.parts.values() if p.start < layout.size):
        mine, other = ours.states[:, part], theirs.states[:, part]
        # stresses are known to round-off of the stiffness times that of u: 1e-16 · 2e6 · 1e3
        assert np.abs(mine - other).max(initial=0.0) < 1e-9 * max(1e-3, np.abs(other).max(initial=0.0))
