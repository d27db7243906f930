"""Hydraulic cylinders: discrete gradients, the stiffness of the oil, steady speed, balance and momenta."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, force, integrate, slider
from flexph.control import Continuous, hydraulic_cylinder
from flexph.sensors import position, velocity

A1, A2, DEAD, BETA = 2e-3, 1.2e-3, 2e-5, 1.4e9
SIZES = {"areas": (A1, A2), "length": 0.7, "stroke": 0.5, "rated_flow": 5e-4, "relief": 1.5e7}


def lift(mass=500.0, gravity=(0.0, 0.0)):
    rail = slider("load.point", GROUND.at(0.0, 0.0), direction=(0.0, 1.0), turning=True)
    mechanism = connect({"load": rigid.point(mass)}, [rail, force("load.point", name="rod")], gravity=gravity)
    return mechanism, mechanism.consistent_state(mechanism.assemble({"load": (0.0, 0.9, 0.0)}))


def jack(system, **inputs):
    return {"jack": Continuous(system=system, ports={"rod": "rod"}, inputs=inputs)}


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-7])
def test_efforts_are_a_discrete_gradient_along_the_line(size):
    system, rng = hydraulic_cylinder((0.3, 0.4, 0.7), pressures=(3e6, 1e6), **SIZES), np.random.default_rng(1)
    scale = np.concatenate([1e-2 * system.sample[:3], [0.05, 0.05, 0.05, 0.5]])
    x0, x1 = system.sample + size * scale * rng.uniform(-1, 1, (2, 7))
    z = system.means["z"](x0, x1)
    assert z @ (x1 - x0) == pytest.approx(system.H(x1) - system.H(x0), rel=1e-9, abs=1e-10)
    assert np.abs(np.cross(z[3:6], x0[3:6] + x1[3:6])).max() < 1e-12 * np.abs(z[3:6]).max()
    assert np.linalg.eigvalsh(system.means["R"](x0, x1)).min() > -1e-20


def test_a_closed_valve_leaves_the_spring_of_the_oil():
    """ω² = β (A₁²/V₁ + A₂²/V₂)/m (Merritt, sec. 6.2), for a small push."""
    mechanism, start = lift()
    system = hydraulic_cylinder((0.0, 0.9), **SIZES)
    stiffness = BETA * (A1**2 / (DEAD + 0.2 * A1) + A2**2 / (DEAD + 0.3 * A2))
    omega = np.sqrt(stiffness / 500.0)
    start = mechanism.consistent_state(mechanism.assemble({"load": (0.0, 0.9, 0.0)}), velocities={"load": (0.0, 1e-4)})
    times = np.linspace(0.0, 2.0 * np.pi / omega, 201)
    run = integrate(mechanism, start, times, controllers=jack(system))
    wanted = 1e-4 / omega * np.sin(omega * times)
    apart = run.measured(position("load.point"))[:, 1] - 0.9 - wanted
    assert np.abs(apart).max() < 2e-3 * 1e-4 / omega  # of second order in the step, and in the change of volume
    assert run.ledger.largest_residual < 1e-11


def test_the_steady_speed_is_that_of_both_edges():
    """v = C y √(p_s/(A₁² + A₂³/A₁)) without a load (Merritt, sec. 6.4): C y √(p_s − p₁) = A₁ v and C y √p₂ = A₂ v."""
    mechanism, start = lift(mass=20.0)
    pressure, opening = 1.5e7, 0.1
    flow = 5e-4 / np.sqrt(3.5e6) * opening
    speed = flow * np.sqrt(pressure / (A1**2 + A2**3 / A1))
    p2 = (A2 * speed / flow) ** 2
    system = hydraulic_cylinder((0.0, 0.9), pressures=(p2 * A2 / A1, p2), transition=1e2, overload=1e-8, **SIZES)
    run = integrate(mechanism, start, np.linspace(0.0, 0.3, 151), controllers=jack(system, pump=6e-4, valve=opening))
    assert run.measured(velocity("load.point"))[-40:, 1].mean() == pytest.approx(
        speed, rel=0.015
    )  # fluid is 1 % denser
    assert run.ledger.largest_residual < 1e-11
    assert run.ledger.work["jack: pump"].sum() > run.ledger.dissipation["jack"].sum() > 0.0
    assert run.ledger.work["jack: valve"].sum() == pytest.approx(10.0 * 0.1**2 * 0.3, rel=0.1)  # of the coil


@pytest.mark.parametrize("h", [1e-4, 2e-2])
def test_two_free_bodies_keep_both_momenta_at_any_step(h):
    """A cylinder between points of two bodies that turn in space: momenta and balance, with an open valve."""
    ends = {"one": (0.3, 0.1, 0.0), "two": (-0.2, 0.0, 0.1)}
    bodies = {n: rigid.body(40.0, inertia=(2.0, 3.0, 4.0), ports={"end": place}) for n, place in ends.items()}
    mechanism = connect(bodies, [force("one.end", name="rod"), force("two.end", name="foot")])
    pose = mechanism.assemble({"one": (1.0, 0.0, 0.0), "two": (0.0, 0.1, 0.2)})
    spin = {"one": ((0.1, 0.2, 0.0), (0.0, 0.3, -0.2)), "two": ((0.0, -0.1, 0.1), (0.2, 0.0, 0.1))}
    start = mechanism.consistent_state(pose, velocities=spin)
    vector = mechanism.position(start, "one.end") - mechanism.position(start, "two.end")
    sizes = SIZES | {"length": 1.2, "stroke": 1.0}
    system = hydraulic_cylinder(tuple(vector), pressures=(2e5, 1e5), **sizes)
    given = Continuous(system=system, ports={"rod": "rod", "foot": "foot"}, inputs={"pump": 1e-4, "valve": 0.3})
    run = integrate(mechanism, start, h * np.arange(6), controllers={"jack": given})
    assert run.ledger.largest_residual < 1e-11
    turned = run.angular_momentum()
    size = 1.5e7 * A1 * run.times[-1]  # largest impulse of the rod [N s], over a lever of about 1 m
    assert np.abs(turned - turned[0]).max() < 1e-13 * (1.0 + size)
    moved = 40.0 * (run["one.velocity"] + run["two.velocity"])
    assert np.abs(moved - moved[0]).max() < 1e-13 * (1.0 + size)


@pytest.mark.parametrize(
    "given, words",
    [
        ({"vector": (0.0, 0.5)}, "vector must be 0.7 m to 1.2 m long"),
        ({"vector": (1.0,)}, "2 components in the plane or 3"),
        ({"areas": (1e-3, 0.0)}, "areas must be positive"),
        ({"bulk_modulus": -1.0}, "bulk_modulus must be positive"),
        ({"leakage": -1.0}, "leakage must not be negative"),
        ({"bulk_modulus": 1e6}, "must be below bulk_modulus"),
    ],
)
def test_wrong_cylinders_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        hydraulic_cylinder(**({"vector": (0.0, 0.9)} | SIZES | given))
