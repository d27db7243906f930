"""Rods and cables among joints, springs, bodies and loads that follow them: the balance closes to round-off."""

import numpy as np
import pytest
from rod_samples import SLENDER, between_bodies, cantilever, triangle

import fem
import rigid
from flexph import GROUND, connect, distributed_load, force, integrate, spherical, spring_damper, torque, weld
from flexph.integration.loops.build import constants
from flexph.methods import Exact, Exact4

TIMES = np.linspace(0.0, 0.3, 7)
ROPE = {"mass_per_length": 0.3, "axial": 1e4, "bending": 0.1}


def flying(order):
    """The flying rod with a lumped mass off its axis, which shifts a node from its centre of mass."""
    rod = fem.rod(10.0, None, SLENDER, elements=2, order=order, ports={"box": (5.0, (0.0, 0.3, 0.0))}).with_mass(
        "box", 2.0
    )
    mechanism = connect({"rod": rod}, [force("rod.root", name="F"), torque("rod.root", name="M")])
    loads = {
        "F": lambda t: np.array([0.1 * triangle(t), 0.0, 0.0]),
        "M": lambda t: np.array([0.0, 0.5, 1.0]) * triangle(t),
    }
    return mechanism, mechanism.consistent_state(mechanism.assemble()), loads


def hoop():
    """A quarter of a hoop, damped, that is welded to the ground and swings under a load on its length."""
    curve = lambda s: ((np.sin(s), 0.0, 1.0 - np.cos(s)), quarter(s))  # noqa: E731
    body = fem.rod(0.5 * np.pi, None, SLENDER, elements=3, curve=curve, damping=fem.Damping(stiffness=1e-3))
    joints = [weld("rod.root", GROUND.at(0.0, 0.0, 0.0)), distributed_load("rod.load", name="wind")]
    mechanism = connect({"rod": body}, joints, gravity=(0.0, 0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble()), {"wind": np.tile([0.0, 30.0, 5.0], 7)}


def quarter(s):
    """The frame of the hoop with d₁ along it."""
    return np.array([[np.cos(s), 0.0, -np.sin(s)], [0.0, 1.0, 0.0], [np.sin(s), 0.0, np.cos(s)]])


def two_bodies():
    """A damped rod between two rigid bodies, one of which is thrown."""
    mechanism = between_bodies(damping=1e-3)
    thrown = {"hub": ((1.0, 0.0, 0.5), (0.3, 2.0, 1.0))}
    return mechanism, mechanism.consistent_state(mechanism.assemble(), velocities=thrown), {}


def followed():
    """A damped rod that is held at its root, under a force, a torque and a load that turn with its sections."""
    rod = fem.rod(10.0, None, SLENDER, elements=3, ports={"mid": 4.0}, damping=fem.Damping(stiffness=1e-3))
    loads = [
        force("rod.tip", axes="section", name="F"),
        torque("rod.tip", against="rod.mid", axes="section", name="M"),
        distributed_load("rod.load", axes="body", name="q"),
    ]
    mechanism = connect({"rod": rod}, [weld("rod.root", GROUND.at(0.0, 0.0, 0.0)), *loads])
    inputs = {"F": [5.0, 20.0, 10.0], "M": [30.0, 60.0, 90.0], "q": [0.0, 3.0, 5.0]}
    return mechanism, mechanism.consistent_state(mechanism.assemble()), inputs


def ropes():
    """Two ropes, one behind the other, with a ball, and a force within an element."""
    rope = fem.cable(2.0, **ROPE, elements=3, ports={"within": 0.9}, damping=fem.Damping(stiffness=1e-3))
    joints = [
        spherical("a.root", GROUND.at(0.0, 0.0, 0.0)),
        spherical("a.tip", "b.root"),
        spherical("b.tip", "ball.point"),
        force("b.within", name="F"),
    ]
    mechanism = connect({"a": rope, "b": rope, "ball": rigid.point(0.5, 3)}, joints, gravity=(0.0, 0.0, -9.81))
    pose = mechanism.assemble({"a": ((0.0, 0.0, 0.0), np.eye(3))})
    return mechanism, mechanism.consistent_state(pose), {"F": [0.0, 1.0, 0.0]}


def threaded():
    """Two ropes that are held and joined within their elements, by a joint, a ball and a spring."""
    options = ROPE | {"bending": 1.0, "damping": fem.Damping(stiffness=1e-3)}
    rope = fem.cable(2.0, **options, elements=6, ports={"within": 0.9, "far": 1.7})
    joints = [
        spherical("a.within", GROUND.at(0.9, 0.0, 0.0)),
        spherical("a.far", "b.within"),
        spherical("b.far", "ball.point"),
        spring_damper("a.tip", "b.far", stiffness=20.0, damping=0.1),
    ]
    mechanism = connect({"a": rope, "b": rope, "ball": rigid.point(0.5, 3)}, joints, gravity=(0.0, 0.0, -9.81))
    pose = mechanism.assemble({"a": ((0.0, 0.0, 0.0), np.eye(3)), "b": ((0.8, 0.0, 0.0), np.eye(3))})
    return mechanism, mechanism.consistent_state(pose), {}


CASES = {
    "rod of order 1": (lambda: flying(1), Exact()),
    "rod of order 2": (lambda: flying(2), Exact()),
    "rod of order 3": (lambda: flying(3), Exact()),
    "hoop": (hoop, Exact()),
    "between bodies": (two_bodies, Exact()),
    "loads that follow": (followed, Exact()),
    "ropes": (ropes, Exact()),
    "ropes held within elements": (threaded, Exact()),
    "rod of order 2, order 4 in time": (lambda: flying(2), Exact4()),
    "least norm": (two_bodies, Exact(redundant="least_norm")),
}


@pytest.mark.parametrize(("make", "method"), CASES.values(), ids=CASES)
def test_the_balance_closes(make, method):
    mechanism, start, loads = make()
    ledger = integrate(mechanism, start, TIMES, inputs=loads, method=method).ledger
    assert np.abs(ledger.residual).max() <= 1e-13 * max(np.abs(e).max() for e in ledger.energy.values())
    assert ledger.position_residual.max(initial=0.0) < 1e-13
    assert all(lost.min() >= 0.0 for lost in ledger.dissipation.values())


def test_a_long_rod_costs_as_much_an_element_as_a_short_one():
    """Unknowns of neighbours stand beside each other in the border: its band is as wide as an element is."""
    widths = [cantilever(SLENDER, elements=n)[0].once(constants).border.size[1] for n in (3, 24)]
    assert widths[0] == widths[1] <= 24
